use crate::options::OnRequest;
use bytes::Bytes;
use sapwood_plan::CacheSize;
use std::collections::HashMap;

/// How a scan is done, beside what it reads.
pub(super) struct ScanConfig<'a> {
    /// Which columns a cut needs, where there is one.
    pub of_cut: Option<&'a [bool]>,
    /// Records of baskets that are here already, by their position.
    pub known: &'a HashMap<u64, Bytes>,
    pub cache: CacheSize,
    /// Threads that decode.
    pub threads: usize,
    /// Whether an observer listens.
    pub traced: bool,
    /// Told of each request that has ended.
    pub on_request: Option<OnRequest>,
}
