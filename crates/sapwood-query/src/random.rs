//! `rndm`: random numbers that depend on the entry, the row in it and the place in the expression only, so that threads,
//! batches and files read before do not change them. The sequence is not that of ROOT's generator.

/// The sequence where none is chosen.
pub(crate) const SEED: u64 = 65_539;

/// A number between 0 and 1, both excluded. `place` tells several `rndm` of one query apart.
pub(crate) fn uniform(seed: u64, place: u64, entry: u64, row: u64) -> f64 {
    let state = [seed, place, entry, row].into_iter().fold(0, |state: u64, part| mixed(state ^ mixed(part)));
    // 53 bits and a half
    ((state >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
}

/// Every bit of the result depends on every bit of `x`: the finaliser of SplitMix64.
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_evenly() {
        let mut bins = [0u32; 20];
        let (mut sum, mut product) = (0.0, 0.0);
        for entry in 0..100_000u64 {
            let x = uniform(SEED, 0, entry, 0);
            assert!(x > 0.0 && x < 1.0);
            bins[(x * 20.0) as usize] += 1;
            sum += x;
            product += (x - 0.5) * (uniform(SEED, 0, entry + 1, 0) - 0.5);
        }
        assert!((sum / 1e5 - 0.5).abs() < 4.0 * 0.2887 / 316.0);
        assert!((product / 1e5).abs() < 4.0 / 12.0 / 316.0);
        let chi2: f64 = bins.iter().map(|&n| (f64::from(n) - 5000.0).powi(2) / 5000.0).sum();
        assert!(chi2 < 50.0, "{chi2}");
    }

    #[test]
    fn places_rows_and_seeds_differ() {
        let numbers =
            [uniform(1, 0, 0, 0), uniform(2, 0, 0, 0), uniform(1, 1, 0, 0), uniform(1, 0, 1, 0), uniform(1, 0, 0, 1)];
        for (i, a) in numbers.iter().enumerate() {
            assert!(numbers[..i].iter().all(|b| a != b));
        }
    }
}
