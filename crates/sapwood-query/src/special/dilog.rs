//! The real part of the dilogarithm.

use std::f64::consts::PI;

/// The series, for arguments up to a half.
fn series(x: f64) -> f64 {
    let (mut power, mut sum, mut k) = (x, 0.0f64, 1.0f64);
    while power.abs() > f64::EPSILON * 0.1 * sum.abs() && power != 0.0 {
        sum += power / (k * k);
        power *= x;
        k += 1.0;
    }
    sum
}

/// TMath::DiLog.
pub(crate) fn dilog(x: f64) -> f64 {
    const SIXTH: f64 = PI * PI / 6.0;
    if x.is_nan() {
        x
    } else if x.is_infinite() {
        f64::NEG_INFINITY
    } else if x == 1.0 {
        SIXTH
    } else if x > 2.0 {
        2.0 * SIXTH - 0.5 * x.ln().powi(2) - series(1.0 / x)
    } else if x > 1.0 {
        // both 1/x and 1-1/x are at most one, and one of them at most a half
        let log = x.ln();
        SIXTH + series(1.0 - 1.0 / x) - log * (0.5 * log + ((x - 1.0) / x).ln())
    } else if x > 0.5 {
        SIXTH - x.ln() * (-x).ln_1p() - series(1.0 - x)
    } else if x >= -0.5 {
        series(x)
    } else if x >= -1.0 {
        -series(x / (x - 1.0)) - 0.5 * (-x).ln_1p().powi(2)
    } else {
        -SIXTH - 0.5 * (-x).ln().powi(2) - dilog(1.0 / x)
    }
}
