//! Rounding and whole numbers by additions and comparisons only, which the compiler makes SIMD instructions of: the
//! library's functions are a call for each value on processors without SSE 4.1, for which we compile.
//!
//! Each gives the same bits as the function of the standard library or of [`crate::number`] that it stands for.

/// Doubles from here on have no fraction.
const WHOLE: f64 = 4_503_599_627_370_496.0;
/// Beyond this, integers of 64 bits end.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
/// Below this, what [`to_bits`] and [`small_remainder`] compute is exact.
pub(crate) const SMALL: f64 = WHOLE / 2.0;

/// To the nearest whole number, halves to the even one, without its sign.
fn nearest(positive: f64) -> f64 {
    (positive + WHOLE) - WHOLE
}

/// `result` where `x` may have a fraction; what has none (and NaN) stays as it is.
fn unless_whole(x: f64, result: f64) -> f64 {
    if x.abs() < WHOLE { result } else { x }
}

/// [`f64::trunc`]
pub(crate) fn trunc(x: f64) -> f64 {
    let size = x.abs();
    let near = nearest(size);
    unless_whole(x, (near - if near > size { 1.0 } else { 0.0 }).copysign(x))
}

/// [`f64::floor`]
pub(crate) fn floor(x: f64) -> f64 {
    let near = nearest(x.abs()).copysign(x);
    unless_whole(x, (near - if near > x { 1.0 } else { 0.0 }).copysign(x))
}

/// [`f64::ceil`]
pub(crate) fn ceil(x: f64) -> f64 {
    -floor(-x)
}

/// [`f64::round_ties_even`]
pub(crate) fn round_ties_even(x: f64) -> f64 {
    unless_whole(x, nearest(x.abs()).copysign(x))
}

/// [`f64::round`]: halves away from zero.
pub(crate) fn round(x: f64) -> f64 {
    let whole = trunc(x);
    let more = if (x - whole).abs() >= 0.5 { 1.0f64.copysign(x) } else { 0.0f64.copysign(x) };
    unless_whole(x, whole + more)
}

/// [`crate::number::to_i64`] as a double.
pub(crate) fn to_whole(x: f64) -> f64 {
    // no -0 among integers
    let whole = trunc(x) + 0.0;
    if x.abs() < TWO_TO_63 { whole } else { -TWO_TO_63 }
}

/// The whole number of a double from 0 up to [`SMALL`].
pub(crate) fn to_bits(x: f64) -> u64 {
    (trunc(x) + WHOLE).to_bits() ^ WHOLE.to_bits()
}

/// The double of a whole number below 2^52.
pub(crate) fn from_bits(bits: u64) -> f64 {
    f64::from_bits(bits | WHOLE.to_bits()) - WHOLE
}

/// [`crate::number::remainder`] for numbers below [`SMALL`]: their quotient is never rounded up to a whole number.
pub(crate) fn small_remainder(a: f64, b: f64) -> f64 {
    let (a, b) = (trunc(a) + 0.0, trunc(b));
    if b == 0.0 { f64::NAN } else { a - trunc(a / b) * b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{remainder, to_i64, to_u64};
    use proptest::prelude::*;

    /// Any double, and those near whole numbers, halves and the limits.
    fn numbers() -> impl Strategy<Value = f64> {
        let near = (-40i64..40, 0usize..8, -3i64..=3).prop_map(|(whole, scale, step)| {
            let scale = [0.5, 1.0, 1e3, WHOLE / 4.0, SMALL, WHOLE, TWO_TO_63, 2.0 * TWO_TO_63][scale];
            let x = whole as f64 * scale;
            f64::from_bits((x.to_bits() as i64).saturating_add(step) as u64)
        });
        let special =
            prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, -5e-324]);
        prop_oneof![any::<u64>().prop_map(f64::from_bits), near, special, -1e6..1e6]
    }

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn rounding_is_that_of_the_library(x in numbers()) {
            prop_assert!(same(trunc(x), x.trunc()));
            prop_assert!(same(floor(x), x.floor()));
            prop_assert!(same(ceil(x), x.ceil()));
            prop_assert!(same(round(x), x.round()));
            prop_assert!(same(round_ties_even(x), x.round_ties_even()));
            prop_assert!(same(to_whole(x), to_i64(x) as f64));
        }

        #[test]
        fn whole_numbers_are_those_of_integers(a in numbers(), b in numbers()) {
            if a.abs() < SMALL && b.abs() < SMALL {
                prop_assert!(same(small_remainder(a, b), remainder(a, b)), "{a} {b}");
                let (x, y) = (a.abs(), b.abs());
                prop_assert!(same(from_bits(to_bits(x) & to_bits(y)), (to_u64(x) & to_u64(y)) as f64));
                prop_assert!(same(from_bits(to_bits(x) | to_bits(y)), (to_u64(x) | to_u64(y)) as f64));
            }
        }
    }
}
