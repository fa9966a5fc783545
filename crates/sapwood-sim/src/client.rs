use sapwood_span::Limits;
use std::time::Duration;

/// When the consumer releases a basket's compressed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Release {
    /// As soon as it is decompressed.
    #[default]
    Inflated,
    /// Only when the batches that use it are complete: against the planner's advice, to test that the scan ends
    /// nevertheless.
    Batch,
}

/// The consumer: decompresses what arrives and requests batch after batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// They decompress baskets; while a batch is analysed, one of several does that.
    pub cores: usize,
    /// Compressed bytes that one core decompresses and decodes per second.
    pub inflate: f64,
    /// Time of a core for each request, and for each range in it: to send it, and to take the reply apart.
    pub per_request: Duration,
    /// See [`per_request`](Self::per_request).
    pub per_range: Duration,
    /// Time between a batch's completion and the request for the next: the analysis.
    pub think: Duration,
    /// The same to evaluate the cut of a batch, if there is one: until then it is not known which baskets of other branches are read.
    pub cut: Duration,
    /// The entries of each batch (first, after the last), in the order of the requests.
    pub batches: Vec<(u64, u64)>,
    /// Decompressed bytes that may wait for batches behind the requested one. If there are so many, only what the requested one needs is
    /// decompressed. Batches must ascend then.
    pub ahead: u64,
    /// When bytes are released.
    pub release: Release,
    /// What requests may hold from the first reply on, if not the same as before.
    pub warm: Option<Limits>,
}

impl Client {
    /// Two cores of 200 MB/s that request consecutive batches of `step` entries.
    pub fn sequential(entries: u64, step: u64) -> Self {
        let step = step.max(1);
        let batches = (0..entries.div_ceil(step)).map(|i| (i * step, ((i + 1) * step).min(entries))).collect();
        Self {
            cores: 2,
            inflate: 200e6,
            per_request: Duration::ZERO,
            per_range: Duration::ZERO,
            think: Duration::ZERO,
            cut: Duration::ZERO,
            batches,
            ahead: u64::MAX,
            release: Release::Inflated,
            warm: None,
        }
    }
}
