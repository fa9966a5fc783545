use sapwood_span::Span;

/// One basket to fetch: a compressed buffer of one branch (or, for RNTuple, one page of a column).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basket {
    /// The caller's number of the branch; with the cache off, also the order of branches inside an entry.
    pub branch: u32,
    /// The number of the basket inside its branch: used only in log and display text.
    pub index: u32,
    /// Its compressed bytes in the file; never empty.
    pub span: Span,
    /// First entry it holds.
    pub first: u64,
    /// The entry after its last one; greater than `first`.
    pub last: u64,
    /// How many bytes it decompresses to, as far as known: reported in statistics, never used for decisions.
    pub unzipped: u64,
}

/// A basket's index in the list given to [`crate::Planner::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BasketId(pub u32);

impl BasketId {
    /// The same number, as an index into the list given to [`crate::Planner::new`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
