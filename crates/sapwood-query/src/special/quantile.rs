//! Quantiles: the inverse of integrals, by Newton's steps inside a bracket.

use super::beta::incomplete_beta;
use super::distribution::student;
use super::error::normal_quantile;
use super::gamma::{gamma_integrals, poisson_density};

/// The zero of a rising function with this slope between two numbers, from a guess on.
fn solve(mut low: f64, mut high: f64, guess: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut x = guess.clamp(low, high);
    for _ in 0..200 {
        let (value, slope) = f(x);
        if value == 0.0 {
            return x;
        }
        if value < 0.0 {
            low = x
        } else {
            high = x
        }
        let next = x - value / slope;
        let middle = if low > 0.0 && high / low > 4.0 { (low * high).sqrt() } else { 0.5 * (low + high) };
        let next = if next > low && next < high { next } else { middle };
        if (next - x).abs() <= 2e-16 * x.abs() || next == x {
            return next;
        }
        x = next;
    }
    x
}

/// TMath::ChisquareQuantile: 0 outside of its domain.
pub(crate) fn chi2_quantile(p: f64, ndf: f64) -> f64 {
    if p.is_nan() || ndf.is_nan() {
        return f64::NAN;
    }
    if ndf <= 0.0 || p <= 0.0 || p >= 1.0 {
        return 0.0;
    }
    let a = 0.5 * ndf;
    let rest = 2.0 / (9.0 * ndf);
    let cube = 1.0 - rest + normal_quantile(p) * rest.sqrt();
    let near_zero = (p.ln() + libm::lgamma(a + 1.0)) / a;
    let guess = if cube > 0.2 { a * cube.powi(3) } else { near_zero.exp() };
    let x = solve(f64::MIN_POSITIVE, a + 2000.0 + 100.0 * a.sqrt(), guess, |x| {
        let (below, above) = gamma_integrals(a, x);
        let off = if p < 0.5 { below - p } else { (1.0 - p) - above };
        (off, poisson_density(a, x) * a / x)
    });
    2.0 * x
}

/// TMath::StudentQuantile: 0 outside of its domain.
pub(crate) fn student_quantile(p: f64, ndf: f64, lower: bool) -> f64 {
    if p.is_nan() || ndf.is_nan() {
        return f64::NAN;
    }
    if ndf < 1.0 || p <= 0.0 || p >= 1.0 {
        return 0.0;
    }
    // the tail that is asked for, and on which side it is
    let (tail, above) = if p > 0.5 { (1.0 - p, lower) } else { (p, !lower) };
    if tail == 0.5 {
        return 0.0;
    }
    let guess = -normal_quantile(tail);
    let t = solve(0.0, 1e300, guess, |t| {
        let value = 0.5 * incomplete_beta(ndf / (ndf + t * t), 0.5 * ndf, 0.5);
        (tail - value, student(t, ndf))
    });
    if above { t } else { -t }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::{chi2_probability, student_integral};

    #[test]
    fn quantiles_lead_back() {
        for p in [1e-6, 0.01, 0.3, 0.5, 0.7, 0.99] {
            for n in [1, 2, 5, 40, 300] {
                let chi2 = chi2_quantile(p, f64::from(n));
                assert!((1.0 - chi2_probability(chi2, n) - p).abs() < 1e-13, "{p} {n}: {chi2}");
                let t = student_quantile(p, f64::from(n), true);
                assert!((student_integral(t, f64::from(n)) / p - 1.0).abs() < 1e-12, "{p} {n}: {t}");
            }
        }
    }
}
