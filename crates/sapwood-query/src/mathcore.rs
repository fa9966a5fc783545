//! The functions of `ROOT::Math` that are common in expressions: densities and integrals of distributions, angles.
//!
//! Arguments that C++ gives a default may be left out: such a function stands here once for each number of arguments. The
//! others of MathCore and MathMore are missing.

use crate::kernel::{Function, one, three, two};
use crate::special as f;
use std::f64::consts::{PI, SQRT_2};

pub(crate) static FUNCTIONS: &[Function] = &[
    one!("ROOT::Math::erf", |x| libm::erf(x)),
    one!("ROOT::Math::erfc", |x| libm::erfc(x)),
    one!("ROOT::Math::tgamma", |x| libm::tgamma(x)),
    one!("ROOT::Math::lgamma", |x| libm::lgamma(x)),
    one!("ROOT::Math::log1p", |x| x.ln_1p()),
    one!("ROOT::Math::expm1", |x| x.exp_m1()),
    two!("ROOT::Math::beta", |x, y| f::beta(x, y)),
    one!("ROOT::Math::normal_pdf", |x| normal(x, 1.0, 0.0)),
    two!("ROOT::Math::normal_pdf", |x, sigma| normal(x, sigma, 0.0)),
    three!("ROOT::Math::normal_pdf", |x, sigma, x0| normal(x, sigma, x0)),
    one!("ROOT::Math::gaussian_pdf", |x| normal(x, 1.0, 0.0)),
    two!("ROOT::Math::gaussian_pdf", |x, sigma| normal(x, sigma, 0.0)),
    three!("ROOT::Math::gaussian_pdf", |x, sigma, x0| normal(x, sigma, x0)),
    one!("ROOT::Math::normal_cdf", |x| normal_below(x, 1.0, 0.0)),
    two!("ROOT::Math::normal_cdf", |x, sigma| normal_below(x, sigma, 0.0)),
    three!("ROOT::Math::normal_cdf", |x, sigma, x0| normal_below(x, sigma, x0)),
    one!("ROOT::Math::gaussian_cdf", |x| normal_below(x, 1.0, 0.0)),
    two!("ROOT::Math::gaussian_cdf", |x, sigma| normal_below(x, sigma, 0.0)),
    three!("ROOT::Math::gaussian_cdf", |x, sigma, x0| normal_below(x, sigma, x0)),
    one!("ROOT::Math::normal_cdf_c", |x| normal_below(-x, 1.0, 0.0)),
    two!("ROOT::Math::normal_cdf_c", |x, sigma| normal_below(-x, sigma, 0.0)),
    three!("ROOT::Math::normal_cdf_c", |x, sigma, x0| normal_below(x0 - x, sigma, 0.0)),
    two!("ROOT::Math::normal_quantile", |p, sigma| sigma * f::normal_quantile(p)),
    two!("ROOT::Math::exponential_pdf", |x, lambda| exponential(x, lambda)),
    three!("ROOT::Math::exponential_pdf", |x, lambda, x0| exponential(x - x0, lambda)),
    two!("ROOT::Math::exponential_cdf", |x, lambda| exponential_below(x, lambda)),
    three!("ROOT::Math::exponential_cdf", |x, lambda, x0| exponential_below(x - x0, lambda)),
    two!("ROOT::Math::breitwigner_pdf", |x, gamma| f::breit_wigner(x, 0.0, gamma)),
    three!("ROOT::Math::breitwigner_pdf", |x, gamma, x0| f::breit_wigner(x, x0, gamma)),
    two!("ROOT::Math::breitwigner_cdf", |x, gamma| 0.5 + (2.0 * x / gamma).atan() / PI),
    three!("ROOT::Math::breitwigner_cdf", |x, gamma, x0| 0.5 + (2.0 * (x - x0) / gamma).atan() / PI),
    one!("ROOT::Math::VectorUtil::Phi_mpi_pi", |x| f::phi_from_minus_pi(x)),
    one!("ROOT::Math::VectorUtil::Phi_0_2pi", |x| f::phi_from_0(x)),
];

/// The density of a normal distribution.
fn normal(x: f64, sigma: f64, x0: f64) -> f64 {
    let z = (x - x0) / sigma;
    (1.0 / ((2.0 * PI).sqrt() * sigma.abs())) * (-z * z / 2.0).exp()
}

/// Its integral up to x.
fn normal_below(x: f64, sigma: f64, x0: f64) -> f64 {
    0.5 * libm::erfc(-(x - x0) / (sigma * SQRT_2))
}

/// The density of an exponential distribution that begins at 0.
fn exponential(x: f64, lambda: f64) -> f64 {
    if x < 0.0 { 0.0 } else { lambda * (-lambda * x).exp() }
}

/// Its integral up to x.
fn exponential_below(x: f64, lambda: f64) -> f64 {
    if x < 0.0 { 0.0 } else { -(-lambda * x).exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_belong_to_their_densities() {
        let step = 1e-5;
        for x in [-2.0, -0.3, 0.0, 0.7, 3.1] {
            let slope = (normal_below(x + step, 1.5, 0.2) - normal_below(x - step, 1.5, 0.2)) / (2.0 * step);
            assert!((slope - normal(x, 1.5, 0.2)).abs() < 1e-9, "{x}");
        }
        let slope = (exponential_below(1.0 + step, 2.0) - exponential_below(1.0 - step, 2.0)) / (2.0 * step);
        assert!((slope - exponential(1.0, 2.0)).abs() < 1e-9);
        assert_eq!((exponential(-1.0, 2.0), exponential_below(-1.0, 2.0)), (0.0, 0.0));
    }
}
