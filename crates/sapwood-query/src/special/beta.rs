//! The beta function and its incomplete integral.

use super::gamma::{MOST_TERMS, log1p_rest, nonzero, stirling_rest};
use std::f64::consts::PI;

/// TMath::Beta.
pub(crate) fn beta(p: f64, q: f64) -> f64 {
    (libm::lgamma(p) + libm::lgamma(q) - libm::lgamma(p + q)).exp()
}

/// `x^a (1-x)^b / B(a,b)`.
pub(super) fn beta_factor(x: f64, a: f64, b: f64) -> f64 {
    if a < 10.0 || b < 10.0 {
        let log_beta = if a < 10.0 && b < 10.0 {
            (libm::tgamma(a) * libm::tgamma(b) / libm::tgamma(a + b)).ln()
        } else {
            libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
        };
        return (a * x.ln() + b * (-x).ln_1p() - log_beta).exp();
    }
    let n = a + b;
    let (u, v) = ((n * x - a) / a, (n * (1.0 - x) - b) / b);
    let exponent = a * log1p_rest(u) + b * log1p_rest(v);
    let rest = stirling_rest(n) - stirling_rest(a) - stirling_rest(b);
    (exponent + rest).exp() * (a * b / (2.0 * PI * n)).sqrt()
}

/// The continued fraction of the incomplete beta function: TMath::BetaCf.
pub(crate) fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let (above, below, sum) = (a + 1.0, a - 1.0, a + b);
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - sum * x / above);
    let mut fraction = d;
    for m in 1..MOST_TERMS {
        let m = m as f64;
        let even = m * (b - m) * x / ((below + 2.0 * m) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (sum + m) * x / ((a + 2.0 * m) * (above + 2.0 * m));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON || !fraction.is_finite() {
            break;
        }
    }
    fraction
}

/// TMath::BetaIncomplete: 0 for parameters that are not positive.
pub(crate) fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x.is_nan() || a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a <= 0.0 || b <= 0.0 || x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_factor(1.0 - x, b, a) * beta_fraction(1.0 - x, b, a) / b;
    }
    beta_factor(x, a, b) * beta_fraction(x, a, b) / a
}

/// TMath::BetaDistI: 0 on both sides of its range.
pub(crate) fn beta_integral(x: f64, p: f64, q: f64) -> f64 {
    if x > 1.0 { 0.0 } else { incomplete_beta(x, p, q) }
}

/// TMath::BetaDist.
pub(crate) fn beta_density(x: f64, p: f64, q: f64) -> f64 {
    if x.is_nan() || p.is_nan() || q.is_nan() {
        return f64::NAN;
    }
    if !(0.0..=1.0).contains(&x) || p <= 0.0 || q <= 0.0 {
        return 0.0;
    }
    if x == 0.0 || x == 1.0 {
        let (near, far) = if x == 0.0 { (p, q) } else { (q, p) };
        return if near < 1.0 {
            f64::INFINITY
        } else if near > 1.0 {
            0.0
        } else {
            far
        };
    }
    beta_factor(x, p, q) / (x * (1.0 - x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_that_have_a_formula() {
        for x in [0.001, 0.2, 0.5, 0.7, 0.999] {
            for a in [0.5, 1.0, 3.0, 25.0] {
                let power: f64 = incomplete_beta(x, a, 1.0);
                assert!((power / x.powf(a) - 1.0).abs() < 3e-14, "{x} {a}: {power}");
                let whole = incomplete_beta(x, a, 2.5 * a) + incomplete_beta(1.0 - x, 2.5 * a, a);
                assert!((whole - 1.0).abs() < 1e-14);
            }
        }
    }
}
