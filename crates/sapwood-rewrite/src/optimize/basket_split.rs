//! Which branches can be cut between entries, and how their baskets are divided.

use sapwood_column::{Entries, interpret};
use sapwood_format::Streamers;
use sapwood_format::tree::{BasketData, Tree};
use sapwood_span::{Error, Result, Setting};
use std::borrow::Cow;
use std::ops::Range;

/// How the entries of a branch are delimited.
///
/// An object behind a pointer is written with a class tag, and both tags and references to objects count from the
/// beginning of the basket's buffer, label included. Such an entry is only meaningful where it was written. So a branch
/// is cut only when its layout is known and contains no pointers; the baskets of all others stay whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Entries of this many bytes.
    Fixed(usize),
    /// By the table of offsets; entries of one size, where a basket has no table.
    Offsets(Option<usize>),
    /// Not at all, with the reason.
    Whole(String),
}

impl Rule {
    /// For a branch of a tree.
    pub(crate) fn of(tree: &Tree, branch: usize, streamers: &Streamers) -> Self {
        let Some(b) = tree.branches.get(branch) else { return Rule::Whole("it is not listed".to_owned()) };
        let layout = match interpret(tree, branch, streamers) {
            Ok(l) => l,
            Err(e) => return Rule::Whole(e.what().to_owned()),
        };
        if layout.item.holds_pointers() {
            return Rule::Whole("it may contain objects behind pointers".to_owned());
        }
        let size = match layout.entries {
            Entries::One => layout.item.fixed_size().filter(|&n| n > 0),
            _ => None,
        };
        match size {
            Some(size) if b.entry_offset_len == 0 => Rule::Fixed(size),
            size if b.entry_offset_len > 0 => Rule::Offsets(size),
            _ => Rule::Whole("it has no offsets".to_owned()),
        }
    }
}

/// The entries of a decompressed basket.
pub(crate) struct Slices<'a> {
    data: &'a [u8],
    entries: usize,
    offsets: Option<Cow<'a, [u8]>>,
    key_len: u32,
    size: usize,
}

impl<'a> Slices<'a> {
    /// Divides a basket; `payload` is everything decompressed.
    ///
    /// # Errors
    /// `Corrupt` when the rule does not match its bytes, `Unsupported` for entries that were moved before.
    pub(crate) fn new(rule: &Rule, basket: &BasketData<'a>, payload: &'a [u8]) -> Result<Self> {
        let (data, entries) = (basket.data, basket.entries);
        let size = match rule {
            Rule::Fixed(n) | Rule::Offsets(Some(n)) => *n,
            _ => 0,
        };
        let out = Self { data, entries, offsets: basket.offsets.clone(), key_len: basket.key_len, size };
        match &basket.offsets {
            None if size == 0 || size.checked_mul(entries) != Some(data.len()) => Err(Error::corrupt(format!(
                "a basket of {entries} entries has {} bytes, not {size} for each",
                data.len()
            ))),
            None => Ok(out),
            Some(_) => {
                // the offsets may be followed by displacements of moved entries: positions in these count from
                // elsewhere
                let table =
                    payload.get(data.len()..data.len() + 4).map_or(0, |b| b.try_into().map_or(0, u32::from_be_bytes));
                if payload.len() > data.len() + 4 + 4 * table as usize {
                    return Err(Error::unsupported("a basket whose entries have already been moved")
                        .with_remedy("keep the baskets of this branch in one piece")
                        .with_setting(Setting::KeepBranch));
                }
                let mut at = 0;
                for i in 0..=entries {
                    let start = out.start(i);
                    if start < at || start > data.len() {
                        return Err(Error::corrupt(format!("the offset of entry {i} of a basket is byte {start}")));
                    }
                    at = start;
                }
                if entries > 0 && out.start(0) != 0 {
                    return Err(Error::corrupt("the first entry of a basket does not begin where its values do"));
                }
                Ok(out)
            }
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    /// Where an entry begins; after the last: where the values end.
    pub(crate) fn start(&self, i: usize) -> usize {
        match &self.offsets {
            _ if i >= self.entries => self.data.len(),
            None => i * self.size,
            Some(raw) => {
                let o = raw.get(4 * i..4 * i + 4).map_or(0, |b| b.try_into().map_or(0, u32::from_be_bytes));
                o.saturating_sub(self.key_len) as usize
            }
        }
    }

    /// Whether entries have offsets.
    pub(crate) fn has_offsets(&self) -> bool {
        self.offsets.is_some()
    }

    /// The bytes of some entries.
    pub(crate) fn bytes(&self, entries: Range<usize>) -> &'a [u8] {
        self.data.get(self.start(entries.start)..self.start(entries.end)).unwrap_or_default()
    }

    /// How many entries from `from` on, and before `to`, have together at most this many bytes.
    pub(crate) fn fitting(&self, from: usize, to: usize, bytes: usize) -> usize {
        let begin = self.start(from);
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.start(middle) - begin <= bytes {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low - from
    }
}
