//! Numbers in the format of C's `printf`, for text that matches ROOT's.

/// `%g`: six significant digits, no needless zeros.
pub(super) fn general(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    // rounding may carry into the next power of ten, so the exponent is determined after it
    let scientific = format!("{x:.5e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let power: i32 = exponent.parse().unwrap_or(0);
    let trim = |s: &str| {
        if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_owned() } else { s.to_owned() }
    };
    if (-4..6).contains(&power) {
        trim(&format!("{x:.*}", (5 - power).max(0) as usize))
    } else {
        let sign = if power < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), power.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn as_c_writes_them() {
        for (x, text) in [
            (0.945004, "0.945004"),
            (15.480_912, "15.4809"),
            (140.058172, "140.058"),
            (0.0, "0"),
            (100.0, "100"),
            (999_999.6, "1e+06"),
            (0.000_012_3, "1.23e-05"),
            (0.0001, "0.0001"),
            (1234567.0, "1.23457e+06"),
        ] {
            assert_eq!(general(x), text);
        }
    }
}
