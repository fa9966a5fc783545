//! sapwood-codec
