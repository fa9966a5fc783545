//! The gamma function and its incomplete integral.

use std::f64::consts::PI;

/// Terms of a series or a continued fraction, at most; arguments of a million need some thousands.
pub(super) const MOST_TERMS: usize = 200_000;
/// In place of zero in a continued fraction.
pub(super) const TINY: f64 = 1e-300;
const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// TMath::Gamma: infinite at zero and at negative whole numbers.
pub(crate) fn gamma(x: f64) -> f64 {
    if x <= 0.0 && x == x.floor() { f64::INFINITY } else { libm::tgamma(x) }
}

/// `ln(1+u)-u`, without the cancellation for small `u`.
pub(super) fn log1p_rest(u: f64) -> f64 {
    if !(-0.5..=1.0).contains(&u) {
        return u.ln_1p() - u;
    }
    let r = u / (2.0 + u);
    let square = r * r;
    let (mut power, mut sum, mut odd) = (square, 0.0, 3.0);
    while power / odd > f64::EPSILON * 1e-2 * (sum + f64::MIN_POSITIVE) {
        sum += power / odd;
        power *= square;
        odd += 2.0;
    }
    r * (2.0 * sum - u)
}

/// What Stirling's formula for the logarithm of `a!` leaves.
pub(super) fn stirling_rest(a: f64) -> f64 {
    if a < 10.0 {
        return libm::lgamma(a + 1.0) - (a + 0.5) * a.ln() + a - HALF_LN_TWO_PI;
    }
    let s = 1.0 / (a * a);
    let inner = 1.0 / 1188.0 - s * (691.0 / 360_360.0 - s / 156.0);
    (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s * inner)))) / a
}

/// `x^a e^-x / Γ(a+1)`.
pub(super) fn poisson_density(a: f64, x: f64) -> f64 {
    if x.is_infinite() {
        return 0.0;
    }
    if a < 10.0 {
        let power = if a == 0.0 { 0.0 } else { a * x.ln() };
        return (power - x).exp() / libm::tgamma(a + 1.0);
    }
    let u = (x - a) / a;
    let exponent = if (-0.5..=1.0).contains(&u) { a * log1p_rest(u) } else { a * (x / a).ln() - (x - a) };
    (exponent - stirling_rest(a)).exp() / (2.0 * PI * a).sqrt()
}

/// The regularised integrals of the gamma function from 0 to `x` and from `x` on.
pub(super) fn gamma_integrals(a: f64, x: f64) -> (f64, f64) {
    if a.is_nan() || x.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    if x.is_infinite() {
        return (1.0, 0.0);
    }
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0, 1.0, a);
        for _ in 0..MOST_TERMS {
            n += 1.0;
            term *= x / n;
            sum += term;
            if term < sum * f64::EPSILON * 0.1 {
                break;
            }
        }
        let below = poisson_density(a, x) * sum;
        return (below, 1.0 - below);
    }
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for i in 1..MOST_TERMS {
        let i = i as f64;
        let an = -i * (i - a);
        b += 2.0;
        d = 1.0 / nonzero(an * d + b);
        c = nonzero(b + an / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    let above = poisson_density(a, x) * a * fraction;
    (1.0 - above, above)
}

pub(super) fn nonzero(x: f64) -> f64 {
    if x.abs() < TINY { TINY } else { x }
}

/// TMath::Gamma of two arguments.
pub(crate) fn incomplete_gamma(a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() {
        f64::NAN
    } else if a <= 0.0 {
        1.0
    } else if x <= 0.0 {
        0.0
    } else {
        gamma_integrals(a, x).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_of_whole_numbers_are_sums() {
        for n in [1usize, 2, 5, 20, 60] {
            for x in [0.01, 0.5, 3.0, 19.0, 40.0, 80.0] {
                // no more than n-1 events
                let sum: f64 = (0..n).map(|k| poisson_density(k as f64, x)).sum();
                let above = gamma_integrals(n as f64, x).1;
                assert!((above - sum).abs() <= 2e-14 * sum, "{n} {x}: {above} {sum}");
            }
        }
    }

    #[test]
    fn the_rest_of_the_logarithm() {
        assert_eq!(log1p_rest(0.0), 0.0);
        assert!((log1p_rest(1e-5) / (-5e-11 + 1e-15 / 3.0) - 1.0).abs() < 1e-10);
        assert!((log1p_rest(0.9) - (1.9f64.ln() - 0.9)).abs() < 1e-15);
    }
}
