//! sapwood-source
