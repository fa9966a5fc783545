//! sapwood-proxy
