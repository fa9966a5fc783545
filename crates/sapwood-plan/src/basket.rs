use sapwood_span::Span;

/// One basket to fetch: a compressed buffer of one branch (or, for RNTuple, one page of a column).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basket {
    /// The caller's number of the branch; with the cache off, also the order of branches inside an entry.
    pub branch: u32,
    /// The number of the basket inside its branch: used in words and logs only.
    pub index: u32,
    /// Its compressed bytes in the file; never empty.
    pub span: Span,
    /// First entry it holds.
    pub first: u64,
    /// The entry behind its last one; greater than `first`.
    pub last: u64,
    /// How many bytes it inflates to, as far as is known: reported in statistics, never decisive.
    pub unzipped: u64,
}

/// A basket's index in the list given to [`crate::Planner::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BasketId(pub u32);

impl BasketId {
    /// The same number, for indexing the list given to [`crate::Planner::new`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
