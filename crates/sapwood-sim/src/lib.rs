//! sapwood-sim
