//! What a client has decompressed before it requests it.

use sapwood_plan::Basket;

/// Decompressed bytes that wait for batches behind the requested one.
#[derive(Debug)]
pub(crate) struct Ahead {
    most: u64,
    wanted: usize,
    /// The first batch that needs them, and how many.
    waiting: Vec<(usize, u64)>,
    sum: u64,
}

impl Ahead {
    pub(crate) fn new(most: u64) -> Self {
        Self { most, wanted: 0, waiting: Vec::new(), sum: 0 }
    }

    /// A batch is requested: what it needs is not ahead.
    pub(crate) fn want(&mut self, batch: usize) {
        self.wanted = batch;
        self.waiting.retain(|w| w.0 > batch);
        self.sum = self.waiting.iter().map(|w| w.1).sum();
    }

    /// Whether a basket that begins with this entry may be decompressed.
    pub(crate) fn may_decompress(&self, batches: &[(u64, u64)], first: u64) -> bool {
        self.sum < self.most || batch_of(batches, first) <= self.wanted
    }

    /// A basket is decompressed.
    pub(crate) fn enter(&mut self, batches: &[(u64, u64)], basket: &Basket) {
        if self.most == u64::MAX {
            return;
        }
        let batch = batch_of(batches, basket.first);
        if batch > self.wanted {
            self.waiting.push((batch, basket.unzipped));
            self.sum += basket.unzipped;
        }
    }
}

/// The first batch that needs a basket which begins with this entry.
fn batch_of(batches: &[(u64, u64)], first: u64) -> usize {
    batches.partition_point(|batch| batch.1 <= first)
}
