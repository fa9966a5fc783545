use sapwood_span::Limits;

/// The size of the tree cache: `TTree::SetCacheSize` in ROOT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CacheSize {
    /// Size 0. Basket by basket, each in its own request, one at a time, only when the consumer waits for it, in the
    /// order in which a loop over entries and branches touches them.
    Off,
    /// As large as [`Request::hold`] allows.
    #[default]
    Auto,
    /// This many compressed bytes (and never more than [`Request::hold`]). Where they do not hold everything, one
    /// request fills the cache while the bytes of the previous one are consumed: twice as much is in pending or held at
    /// most, and there are no more requests than without reading ahead.
    Bytes(u64),
}

/// What the caller requests from the planner, besides the baskets.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The size of the tree cache.
    pub cache: CacheSize,
    /// What the source and its server can do; change it later with [`crate::Event::Limits`].
    pub limits: Limits,
    /// Entries at which clusters begin, ascending; may be empty (files without clusters) and need
    /// not be complete. They say which baskets are needed together.
    pub clusters: Vec<u64>,
    /// Budget in compressed bytes: in pending (with bridged gaps), or arrived and not yet consumed.
    /// Only what the consumer waits for may overdraw it. Zero counts as [`Request::DEFAULT_HOLD`].
    pub hold: u64,
}

impl Request {
    /// The budget when the caller names none: 64 MiB.
    pub const DEFAULT_HOLD: u64 = 64 << 20;
}
