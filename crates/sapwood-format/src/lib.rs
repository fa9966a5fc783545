//! sapwood-format
