/// A small random number generator: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Good enough
/// for sample data, the same everywhere.
pub(super) struct Random(u64);

impl Random {
    /// A generator for one purpose, distinguished from others of the same seed by its name.
    pub(super) fn new(seed: u64, name: &str) -> Self {
        // FNV-1a, to spread the names.
        let hash =
            name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        let mut random = Self(seed ^ hash);
        random.next();
        random
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Uniform between 0 and 1, the latter excluded.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform between two numbers.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// An integer from 0 to `n - 1`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        (self.unit() * n as f64) as u64
    }

    /// True with this probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Falling exponentially from 0 with this mean.
    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// A bell curve: the sum of twelve even numbers, cut at six standard deviations.
    pub(super) fn bell(&mut self, mean: f64, sigma: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.unit()).sum();
        mean + sigma * (sum - 6.0)
    }

    /// A small count: how often in `most` tries something of this probability happens.
    pub(super) fn count(&mut self, most: u32, probability: f64) -> usize {
        (0..most).filter(|_| self.chance(probability)).count()
    }
}
