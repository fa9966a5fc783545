//! Struve functions of order 0 and 1: their series, and for large arguments the distance to Bessel's Y as an integral.

use super::quadrature::laplace_transform;
use std::f64::consts::{FRAC_2_PI, PI};

/// Below this, the alternating series loses two digits at most.
const SMALL: f64 = 5.0;

/// The series; `sign` is that of every second term.
fn series(order: f64, x: f64, sign: f64) -> f64 {
    let quarter = sign * 0.25 * x * x;
    let first = if order == 0.0 { FRAC_2_PI * x } else { FRAC_2_PI * x * x / 3.0 };
    let (mut term, mut sum, mut k) = (1.0f64, 1.0f64, 1.0f64);
    while term.abs() > f64::EPSILON * 0.1 * sum.abs() {
        term *= quarter / ((k + 0.5) * (k + 0.5 + order));
        sum += term;
        k += 1.0;
    }
    first * sum
}

/// TMath::StruveH0, which is odd.
pub(crate) fn struve_h0(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a.is_infinite() {
        return f64::NAN;
    }
    if a < SMALL {
        return series(0.0, x, -1.0);
    }
    let above = laplace_transform(a, 1.0 / 16.0, |t| 1.0 / (1.0 + t * t).sqrt());
    (libm::y0(a) + above * FRAC_2_PI) * x.signum()
}

/// TMath::StruveH1, which is even.
pub(crate) fn struve_h1(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a.is_infinite() {
        return f64::NAN;
    }
    if a < SMALL {
        return series(1.0, a, -1.0);
    }
    let above = laplace_transform(a, 1.0 / 16.0, |t| (1.0 + t * t).sqrt());
    libm::y1(a) + above * 2.0 * a / PI
}

/// TMath::StruveL0, which is odd.
pub(crate) fn struve_l0(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x.abs() > 720.0 {
        f64::INFINITY.copysign(x)
    } else {
        series(0.0, x, 1.0)
    }
}

/// TMath::StruveL1, which is even.
pub(crate) fn struve_l1(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x.abs() > 720.0 {
        f64::INFINITY
    } else {
        series(1.0, x.abs(), 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_and_integral_agree() {
        for x in [5.0, 6.0, 8.0] {
            assert!((series(0.0, x, -1.0) - struve_h0(x)).abs() < 1e-13, "{x}");
            assert!((series(1.0, x, -1.0) - struve_h1(x)).abs() < 1e-13, "{x}");
        }
    }
}
