//! Baskets after the last header of their tree, which does not list them.

use crate::key::Key;
use crate::tree::BasketHead;
use sapwood_span::Span;

/// How many baskets no header lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orphans {
    /// How many.
    pub baskets: u64,
    /// Their bytes in the file.
    pub bytes: u64,
}

impl Orphans {
    /// A text saying that they are lost.
    pub fn lost(&self, tree: &str) -> String {
        let Self { baskets, bytes } = self;
        let (s, were, them) = if *baskets == 1 { ("", "was", "it") } else { ("s", "were", "them") };
        format!(
            "{baskets} basket{s} ({bytes} bytes) of tree {tree} {were} written after the last saved header, which does not list {them}"
        )
    }
}

/// The label of a basket that no header lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrphanBasket {
    /// The name of its branch, without parent branches.
    pub branch: Box<str>,
    /// Its number within the branch: ROOT uses the lower 16 bits of it as the cycle.
    pub cycle: u16,
    /// Its entries.
    pub entries: u32,
    /// Its record.
    pub span: Span,
}

impl OrphanBasket {
    /// From the first bytes of a record; none when it is not a basket.
    pub(crate) fn read(key: &Key, record: &[u8]) -> Option<Self> {
        let (head, _) = BasketHead::read_label(record).ok()?;
        let (branch, cycle) = (key.name.as_str().into(), key.cycle as u16);
        Some(Self { branch, cycle, entries: head.entries, span: key.span })
    }
}
