//! How ROOT turns doubles into integers: as C does on x86-64, also beyond the range.

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// Towards zero; what does not fit (and NaN) is the smallest integer.
pub(crate) fn to_i64(x: f64) -> i64 {
    if (-TWO_TO_63..TWO_TO_63).contains(&x) { x as i64 } else { i64::MIN }
}

/// Towards zero; negative numbers wrap around.
pub(crate) fn to_u64(x: f64) -> u64 {
    if x >= TWO_TO_63 { x as u64 } else { to_i64(x) as u64 }
}

/// C's `%` of the integer parts. By zero ROOT crashes; here it is NaN.
pub(crate) fn remainder(a: f64, b: f64) -> f64 {
    let divisor = to_i64(b);
    if divisor == 0 { f64::NAN } else { to_i64(a).wrapping_rem(divisor) as f64 }
}

/// ROOT's division: by zero it is 0.
pub(crate) fn divide(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// `0` or `1`.
pub(crate) fn truth(b: bool) -> f64 {
    // a choice becomes a mask in SIMD code, a conversion does not
    if b { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_out_of_range_are_as_on_x86() {
        assert_eq!(to_i64(-2.7), -2);
        assert_eq!(to_i64(1e30), i64::MIN);
        assert_eq!(to_i64(f64::NAN), i64::MIN);
        assert_eq!(to_u64(-1.0), u64::MAX);
        assert_eq!(to_u64(1e19), 10_000_000_000_000_000_000);
        assert_eq!(remainder(-7.9, 3.0), -1.0);
        assert!(remainder(1.0, 0.5).is_nan());
        assert_eq!(remainder(-1e30, -1.0), 0.0);
    }
}
