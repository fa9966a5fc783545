//! Chance that a seed decides: the same seed gives the same numbers on every machine.

/// The generator splitmix64 (Steele, Lea, Flood 2014): 64 bits of state, every value once in its period.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// A sequence of its own for each pair of a seed and a purpose.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        let mut rng = Self(seed ^ purpose.wrapping_mul(0xd134_2543_de82_ef95));
        rng.next();
        rng
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform, at least 0 and less than 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Less than `n`; 0 for 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// The time to the next of events that occur independently, `rate` of them per unit of time.
    pub(crate) fn waiting_time(&mut self, rate: f64) -> f64 {
        -libm::log(1.0 - self.unit()) / rate
    }

    /// An index, with a probability in proportion to the differences of these ascending sums.
    pub(crate) fn weighted(&mut self, sums: &[f64]) -> usize {
        let at = self.unit() * sums.last().copied().unwrap_or(0.0);
        sums.partition_point(|&s| s <= at).min(sums.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_and_repeat() {
        let [mut a, mut b] = [Rng::new(7, 1), Rng::new(7, 1)];
        assert!((0..1000).all(|_| a.next() == b.next()));
        assert_ne!(Rng::new(7, 2).next(), Rng::new(7, 1).next());
        let mean = (0..10_000).map(|_| a.waiting_time(4.0)).sum::<f64>() / 10_000.0;
        assert!((mean - 0.25).abs() < 0.01, "{mean}");
        let mut hits = [0; 3];
        (0..9000).for_each(|_| hits[a.weighted(&[1.0, 1.0, 3.0])] += 1);
        assert!(hits[1] == 0 && hits[2] > 5700 && hits[2] < 6300, "{hits:?}");
        assert!((0..1000).all(|_| a.below(3) < 3) && a.below(0) == 0);
    }
}
