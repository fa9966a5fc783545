//! The inverse of the error function and its kin.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// TMath::Freq: the integral of the normal distribution.
pub(crate) fn freq(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// The inverse of erfc for values up to 1.
fn inverse_complement(q: f64) -> f64 {
    // from the leading terms of the logarithm, then by Halley's steps
    let log = -2.0 * (0.5 * q).ln();
    let mut y = if q > 0.5 {
        0.5 * PI.sqrt() * (1.0 - q)
    } else {
        (0.5 * (log - (log * 2.0 * PI / 2.0).ln().max(0.0)).max(0.1)).sqrt()
    };
    for _ in 0..6 {
        let slope = -2.0 / PI.sqrt() * (-y * y).exp();
        let off = if y < 0.5 { (1.0 - q) - libm::erf(y) } else { libm::erfc(y) - q };
        let step = off / slope;
        let step = step / (1.0 + y * step);
        y -= step;
        if step.abs() <= 1e-16 * y.abs() || !y.is_finite() {
            break;
        }
    }
    y
}

/// TMath::ErfInverse: 0 outside of its domain and at its ends.
pub(crate) fn erf_inverse(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a >= 1.0 {
        return 0.0;
    }
    let y = if a < 0.5 {
        let mut y = 0.5 * PI.sqrt() * a;
        for _ in 0..5 {
            let step = (libm::erf(y) - a) / (2.0 / PI.sqrt() * (-y * y).exp());
            y -= step / (1.0 + y * step);
        }
        y
    } else {
        inverse_complement(1.0 - a)
    };
    y.copysign(x)
}

/// TMath::ErfcInverse: 0 outside of its domain and at its ends.
pub(crate) fn erfc_inverse(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x <= 0.0 || x >= 2.0 {
        return 0.0;
    }
    if x > 1.0 { -inverse_complement(2.0 - x) } else { inverse_complement(x) }
}

/// TMath::NormQuantile: 0 outside of its domain and at its ends.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() {
        return p;
    }
    if p <= 0.0 || p >= 1.0 {
        return 0.0;
    }
    if (p - 0.5).abs() < 0.25 { SQRT_2 * erf_inverse(2.0 * (p - 0.5)) } else { -SQRT_2 * erfc_inverse(2.0 * p) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_lead_back() {
        for p in [1e-300, 1e-100, 1e-20, 1e-5, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999] {
            let q = libm::erfc(erfc_inverse(p));
            // the slope of the logarithm is that of y squared
            let y = erfc_inverse(p);
            assert!((q / p - 1.0).abs() < 1e-15 * (4.0 + 4.0 * y * y), "{p}: {y} {q}");
            assert!((libm::erf(erf_inverse(p)) / p - 1.0).abs() < 1e-14, "{p}");
        }
    }
}
