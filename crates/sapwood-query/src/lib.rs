//! sapwood-query
