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

    /// An index, with a probability in proportion to its weight.
    pub(crate) fn weighted(&mut self, sums: &Sums) -> usize {
        sums.find(self.unit() * sums.total())
    }
}

/// Ascending sums of weights, from the first on.
#[derive(Default)]
pub(crate) struct Sums {
    sums: Vec<f64>,
    /// For parts of the total that are equally large: where in the sums each begins.
    begins: Vec<u32>,
}

impl Sums {
    pub(crate) fn new(sums: Vec<f64>) -> Self {
        let mut new = Self { sums, begins: Vec::new() };
        let (parts, total) = (new.sums.len(), new.total());
        let begins = (0..parts).map(|i| i as f64 / parts as f64 * total);
        new.begins = begins.map(|at| new.sums.partition_point(|&s| s <= at) as u32).collect();
        new
    }

    pub(crate) fn total(&self) -> f64 {
        self.sums.last().copied().unwrap_or(0.0)
    }

    /// Where this part of the total is: the first of the sums that is larger, or the last one.
    fn find(&self, at: f64) -> usize {
        let sums = &self.sums;
        // a total of 0 has no parts: then this may be infinite
        let part = ((at / self.total() * self.begins.len() as f64) as usize).min(self.begins.len());
        let begin = |part: usize| self.begins.get(part).map_or(sums.len(), |&begin| begin as usize);
        let from = begin(part);
        let found = from + sums.get(from..begin(part + 1)).unwrap_or_default().partition_point(|&s| s <= at);
        // near its bounds, rounding may have chosen the part beside
        let is_behind = |&s: &f64| s > at;
        let is_it = !found.checked_sub(1).and_then(|i| sums.get(i)).is_some_and(is_behind)
            && sums.get(found).is_none_or(is_behind);
        let found = if is_it { found } else { sums.partition_point(|&s| s <= at) };
        found.min(sums.len().saturating_sub(1))
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
        let sums = Sums::new(vec![1.0, 1.0, 3.0]);
        (0..9000).for_each(|_| hits[a.weighted(&sums)] += 1);
        assert!(hits[1] == 0 && hits[2] > 5700 && hits[2] < 6300, "{hits:?}");
        assert!((0..1000).all(|_| a.below(3) < 3) && a.below(0) == 0);
    }

    proptest::proptest! {
        #[test]
        fn parts_are_found_as_in_a_search(weights in proptest::collection::vec(0u8..4, 0..90), at in 0.0f64..1.0, near in 0usize..90) {
            let mut sum = 0.0;
            let sums: Vec<f64> = weights.iter().map(|&w| { sum += f64::from(w) / 3.0; sum }).collect();
            let known = Sums::new(sums.clone());
            let mut all = vec![at * sum];
            // at a bound, and beside it
            for bound in [sums.get(near).copied().unwrap_or(0.0), near as f64 / sums.len().max(1) as f64 * sum] {
                all.extend([bound, f64::from_bits(bound.to_bits() + 1), f64::from_bits(bound.to_bits().saturating_sub(1))]);
            }
            for at in all {
                let plain = sums.partition_point(|&s| s <= at).min(sums.len().saturating_sub(1));
                proptest::prop_assert_eq!(known.find(at), plain);
            }
        }
    }
}
