//! Baskets that follow behind the last header of their tree, which does not know them.

use crate::key::Key;
use crate::tree::BasketHead;
use sapwood_span::Span;

/// How many baskets no header knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orphans {
    /// How many.
    pub baskets: u64,
    /// Their bytes in the file.
    pub bytes: u64,
}

impl Orphans {
    /// That they are lost, in words.
    pub fn lost(&self, tree: &str) -> String {
        let Self { baskets, bytes } = self;
        format!("{baskets} baskets ({bytes} bytes) of tree {tree} follow its last header, which does not list them")
    }
}

/// What the label of a basket says that no header knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrphanBasket {
    /// The name of its branch, without those above.
    pub branch: Box<str>,
    /// Which of its branch's baskets it is: ROOT gives them the lower 16 bits of that as their cycle.
    pub cycle: u16,
    /// Its entries.
    pub entries: u32,
    /// Its record.
    pub span: Span,
}

impl OrphanBasket {
    /// Out of the first bytes of a record; none when they are no basket's.
    pub(crate) fn read(key: &Key, record: &[u8]) -> Option<Self> {
        let (head, _) = BasketHead::read_label(record).ok()?;
        let (branch, cycle) = (key.name.as_str().into(), key.cycle as u16);
        Some(Self { branch, cycle, entries: head.entries, span: key.span })
    }
}
