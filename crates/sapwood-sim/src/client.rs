use std::time::Duration;

/// When the consumer lets go of a basket's compressed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Release {
    /// As soon as it is inflated.
    #[default]
    Inflated,
    /// Only when the batches that use it are complete: against the planner's advice, to test that
    /// the scan comes to its end nevertheless.
    Batch,
}

/// The consumer: inflates what arrives and asks for batch after batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// Baskets inflated at the same time.
    pub cores: usize,
    /// Compressed bytes that one core inflates and decodes per second.
    pub inflate: f64,
    /// Time between a batch's completion and the wish for the next: the analysis.
    pub think: Duration,
    /// The entries of each batch (first, behind the last), in the order in which they are wanted.
    pub batches: Vec<(u64, u64)>,
    /// When bytes are let go.
    pub release: Release,
}

impl Client {
    /// Two cores of 200 MB/s that want batches of `step` entries one after another.
    pub fn sequential(entries: u64, step: u64) -> Self {
        let step = step.max(1);
        let batches = (0..entries.div_ceil(step)).map(|i| (i * step, ((i + 1) * step).min(entries))).collect();
        Self { cores: 2, inflate: 200e6, think: Duration::ZERO, batches, release: Release::Inflated }
    }
}
