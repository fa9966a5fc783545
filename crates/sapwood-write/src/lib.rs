//! sapwood-write
