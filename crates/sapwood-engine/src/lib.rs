//! sapwood-engine
