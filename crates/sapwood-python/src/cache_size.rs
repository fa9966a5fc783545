//! The size of the tree cache, as Python gives it.

use sapwood::CacheSize;

/// The planner's cache from its Python form: bytes, 0 for none, `None` for the planner's choice.
pub(crate) fn tree_cache(bytes: Option<u64>) -> CacheSize {
    match bytes {
        None => CacheSize::Auto,
        Some(0) => CacheSize::Off,
        Some(n) => CacheSize::Bytes(n),
    }
}
