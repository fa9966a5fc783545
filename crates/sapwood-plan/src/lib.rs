//! sapwood-plan
