//! The functions and constants of TMath that give a number, and the angles of TVector2.
//!
//! Arguments that C++ gives a default may be left out: such a function stands here once for each number of arguments.
//! Missing are those that want an array or a string, and `Vavilov`, whose approximation in ROOT is right to per cents only.

use crate::kernel::{Function, four, one, three, two};
use crate::number::{to_i64, truth};
use crate::rounding;
use crate::special as f;
use crate::special::to_i32;
use std::f64::consts::{E, FRAC_PI_2, LN_2, LN_10, LOG10_E, PI, SQRT_2};

/// What takes arguments.
pub(crate) static FUNCTIONS: &[Function] = &[
    one!("TMath::Abs", |x| x.abs()),
    one!("TMath::Sq", |x| x * x),
    one!("TMath::Sqrt", |x| x.sqrt()),
    one!("TMath::Exp", |x| x.exp()),
    one!("TMath::Log", |x| x.ln()),
    one!("TMath::Log10", |x| x.log10()),
    one!("TMath::Log2", |x| x.log2()),
    one!("TMath::Sin", |x| x.sin()),
    one!("TMath::Cos", |x| x.cos()),
    one!("TMath::Tan", |x| x.tan()),
    one!("TMath::ASin", |x| x.asin()),
    one!("TMath::ACos", |x| x.acos()),
    one!("TMath::ATan", |x| x.atan()),
    two!("TMath::ATan2", |y, x| atan2(y, x)),
    one!("TMath::SinH", |x| x.sinh()),
    one!("TMath::CosH", |x| x.cosh()),
    one!("TMath::TanH", |x| x.tanh()),
    one!("TMath::ASinH", |x| libm::asinh(x)),
    one!("TMath::ACosH", |x| libm::acosh(x)),
    one!("TMath::ATanH", |x| libm::atanh(x)),
    two!("TMath::Power", |x, y| x.powf(y)),
    two!("TMath::Hypot", |x, y| x.hypot(y)),
    two!("TMath::Min", |x, y| if x <= y { x } else { y }),
    two!("TMath::Max", |x, y| if x >= y { x } else { y }),
    two!("TMath::Sign", |x, y| x.copysign(y)),
    three!("TMath::Range", |lo, hi, x| if x < lo {
        lo
    } else if x > hi {
        hi
    } else {
        x
    }),
    one!("TMath::Nint", |x| rounding::round_ties_even(x)),
    one!("TMath::Floor", |x| rounding::floor(x)),
    one!("TMath::Ceil", |x| rounding::ceil(x)),
    one!("TMath::FloorNint", |x| rounding::floor(x)),
    one!("TMath::CeilNint", |x| rounding::ceil(x)),
    one!("TMath::Odd", |x| truth(to_i64(x) & 1 != 0)),
    one!("TMath::Even", |x| truth(to_i64(x) & 1 == 0)),
    one!("TMath::Erf", |x| libm::erf(x)),
    one!("TMath::Erfc", |x| libm::erfc(x)),
    one!("TMath::LnGamma", |x| libm::lgamma(x)),
    one!("TMath::IsNaN", |x| truth(x.is_nan())),
    one!("TMath::Finite", |x| truth(x.is_finite())),
    one!("TMath::SignBit", |x| truth(x.is_sign_negative())),
    one!("TMath::NextPrime", |x| f::next_prime(x)),
    one!("TMath::Factorial", |x| f::factorial(to_i32(x))),
    two!("TMath::Ldexp", |x, y| libm::scalbn(x, to_i32(y))),
    two!("TMath::Binomial", |n, k| f::binomial(to_i32(n), to_i32(k))),
    three!("TMath::BinomialI", |p, n, k| f::binomial_tail(p, to_i32(n), to_i32(k))),
    three!("TMath::AreEqualAbs", |x, y, z| truth(f::close_by(x, y, z))),
    three!("TMath::AreEqualRel", |x, y, z| truth(f::close_by_ratio(x, y, z))),
    // Special functions.
    one!("TMath::ErfInverse", |x| f::erf_inverse(x)),
    one!("TMath::ErfcInverse", |x| f::erfc_inverse(x)),
    one!("TMath::Freq", |x| f::freq(x)),
    one!("TMath::NormQuantile", |p| f::normal_quantile(p)),
    one!("TMath::Gamma", |x| f::gamma(x)),
    two!("TMath::Gamma", |a, x| f::incomplete_gamma(a, x)),
    two!("TMath::Beta", |p, q| f::beta(p, q)),
    three!("TMath::BetaCf", |x, a, b| f::beta_fraction(x, a, b)),
    three!("TMath::BetaDist", |x, p, q| f::beta_density(x, p, q)),
    three!("TMath::BetaDistI", |x, p, q| f::beta_integral(x, p, q)),
    three!("TMath::BetaIncomplete", |x, a, b| f::incomplete_beta(x, a, b)),
    one!("TMath::DiLog", |x| f::dilog(x)),
    two!("TMath::BesselI", |n, x| f::bessel_i(to_i32(n), x)),
    two!("TMath::BesselK", |n, x| f::bessel_k(to_i32(n), x)),
    one!("TMath::BesselI0", |x| f::bessel_i0(x)),
    one!("TMath::BesselI1", |x| f::bessel_i1(x)),
    one!("TMath::BesselK0", |x| f::bessel_k0(x)),
    one!("TMath::BesselK1", |x| f::bessel_k1(x)),
    one!("TMath::BesselJ0", |x| libm::j0(x)),
    one!("TMath::BesselJ1", |x| libm::j1(x)),
    one!("TMath::BesselY0", |x| f::bessel_y0(x)),
    one!("TMath::BesselY1", |x| f::bessel_y1(x)),
    one!("TMath::StruveH0", |x| f::struve_h0(x)),
    one!("TMath::StruveH1", |x| f::struve_h1(x)),
    one!("TMath::StruveL0", |x| f::struve_l0(x)),
    one!("TMath::StruveL1", |x| f::struve_l1(x)),
    // Distributions.
    one!("TMath::Gaus", |x| f::gauss(x, 0.0, 1.0, false)),
    two!("TMath::Gaus", |x, mean| f::gauss(x, mean, 1.0, false)),
    three!("TMath::Gaus", |x, mean, sigma| f::gauss(x, mean, sigma, false)),
    four!("TMath::Gaus", |x, mean, sigma, norm| f::gauss(x, mean, sigma, norm != 0.0)),
    one!("TMath::Landau", |x| f::landau(x, 0.0, 1.0, false)),
    two!("TMath::Landau", |x, location| f::landau(x, location, 1.0, false)),
    three!("TMath::Landau", |x, location, sigma| f::landau(x, location, sigma, false)),
    four!("TMath::Landau", |x, location, sigma, norm| f::landau(x, location, sigma, norm != 0.0)),
    one!("TMath::LandauI", |x| f::landau_integral(x)),
    one!("TMath::BreitWigner", |x| f::breit_wigner(x, 0.0, 1.0)),
    two!("TMath::BreitWigner", |x, mean| f::breit_wigner(x, mean, 1.0)),
    three!("TMath::BreitWigner", |x, mean, gamma| f::breit_wigner(x, mean, gamma)),
    one!("TMath::BreitWignerRelativistic", |x| f::breit_wigner_relativistic(x, 0.0, 1.0)),
    two!("TMath::BreitWignerRelativistic", |x, median| f::breit_wigner_relativistic(x, median, 1.0)),
    three!("TMath::BreitWignerRelativistic", |x, median, gamma| f::breit_wigner_relativistic(x, median, gamma)),
    one!("TMath::CauchyDist", |x| f::cauchy(x, 0.0, 1.0)),
    two!("TMath::CauchyDist", |x, location| f::cauchy(x, location, 1.0)),
    three!("TMath::CauchyDist", |x, location, scale| f::cauchy(x, location, scale)),
    one!("TMath::LaplaceDist", |x| f::laplace(x, 0.0, 1.0)),
    two!("TMath::LaplaceDist", |x, alpha| f::laplace(x, alpha, 1.0)),
    three!("TMath::LaplaceDist", |x, alpha, beta| f::laplace(x, alpha, beta)),
    one!("TMath::LaplaceDistI", |x| f::laplace_integral(x, 0.0, 1.0)),
    two!("TMath::LaplaceDistI", |x, alpha| f::laplace_integral(x, alpha, 1.0)),
    three!("TMath::LaplaceDistI", |x, alpha, beta| f::laplace_integral(x, alpha, beta)),
    two!("TMath::LogNormal", |x, sigma| f::log_normal(x, sigma, 0.0, 1.0)),
    three!("TMath::LogNormal", |x, sigma, theta| f::log_normal(x, sigma, theta, 1.0)),
    four!("TMath::LogNormal", |x, sigma, theta, m| f::log_normal(x, sigma, theta, m)),
    two!("TMath::GammaDist", |x, gamma| f::gamma_density(x, gamma, 0.0, 1.0)),
    three!("TMath::GammaDist", |x, gamma, mu| f::gamma_density(x, gamma, mu, 1.0)),
    four!("TMath::GammaDist", |x, gamma, mu, beta| f::gamma_density(x, gamma, mu, beta)),
    three!("TMath::Voigt", |x, sigma, lorentz| f::voigt(x, sigma, lorentz)),
    four!("TMath::Voigt", |x, sigma, lorentz, _digits| f::voigt(x, sigma, lorentz)),
    two!("TMath::Poisson", |x, mean| f::poisson(x, mean)),
    two!("TMath::PoissonI", |x, mean| f::poisson_whole(x, mean)),
    two!("TMath::Prob", |chi2, ndf| f::chi2_probability(chi2, to_i32(ndf))),
    two!("TMath::ChisquareQuantile", |p, ndf| f::chi2_quantile(p, ndf)),
    one!("TMath::KolmogorovProb", |z| f::kolmogorov(z)),
    two!("TMath::Student", |t, ndf| f::student(t, ndf)),
    two!("TMath::StudentI", |t, ndf| f::student_integral(t, ndf)),
    two!("TMath::StudentQuantile", |p, ndf| f::student_quantile(p, ndf, true)),
    three!("TMath::StudentQuantile", |p, ndf, lower| f::student_quantile(p, ndf, lower != 0.0)),
    three!("TMath::FDist", |x, n, m| f::fisher(x, n, m)),
    three!("TMath::FDistI", |x, n, m| f::fisher_integral(x, n, m)),
    one!("TVector2::Phi_mpi_pi", |x| f::phi_from_minus_pi(x)),
    one!("TVector2::Phi_0_2pi", |x| f::phi_from_0(x)),
];

const LIGHT: f64 = 2.99792458e8;
const GRAVITY: f64 = 6.67430e-11;
const PLANCK: f64 = 6.62607015e-34;
const BOLTZMANN: f64 = 1.380649e-23;
const AVOGADRO: f64 = 6.02214076e23;

/// What is called without arguments.
pub(crate) static CONSTANTS: &[(&str, f64)] = &[
    ("TMath::Pi", PI),
    ("TMath::TwoPi", 2.0 * PI),
    ("TMath::PiOver2", PI / 2.0),
    ("TMath::PiOver4", PI / 4.0),
    ("TMath::InvPi", 1.0 / PI),
    ("TMath::RadToDeg", 180.0 / PI),
    ("TMath::DegToRad", PI / 180.0),
    ("TMath::Sqrt2", SQRT_2),
    ("TMath::E", E),
    ("TMath::Ln10", LN_10),
    ("TMath::LogE", LOG10_E),
    ("TMath::Ln2", LN_2),
    ("TMath::EulerGamma", 0.577_215_664_901_532_9),
    ("TMath::C", LIGHT),
    ("TMath::Ccgs", 100.0 * LIGHT),
    ("TMath::CUncertainty", 0.0),
    ("TMath::G", GRAVITY),
    ("TMath::Gcgs", GRAVITY * 1000.0),
    ("TMath::GUncertainty", 0.00015e-11),
    ("TMath::GhbarC", 6.70883e-39),
    ("TMath::GhbarCUncertainty", 0.00015e-39),
    ("TMath::Gn", 9.80665),
    ("TMath::GnUncertainty", 0.0),
    ("TMath::H", PLANCK),
    ("TMath::Hcgs", 1.0e7 * PLANCK),
    ("TMath::HUncertainty", 0.0),
    ("TMath::Hbar", 1.054571817e-34),
    ("TMath::Hbarcgs", 1.0e7 * 1.054571817e-34),
    ("TMath::HbarUncertainty", 0.0),
    ("TMath::HC", PLANCK * LIGHT),
    ("TMath::HCcgs", 1.0e7 * PLANCK * (100.0 * LIGHT)),
    ("TMath::K", BOLTZMANN),
    ("TMath::Kcgs", 1.0e7 * BOLTZMANN),
    ("TMath::KUncertainty", 0.0),
    ("TMath::Sigma", 5.670373e-8),
    ("TMath::SigmaUncertainty", 0.0),
    ("TMath::Na", AVOGADRO),
    ("TMath::NaUncertainty", 0.0),
    ("TMath::R", BOLTZMANN * AVOGADRO),
    ("TMath::RUncertainty", 0.0),
    ("TMath::MWair", 28.9644),
    ("TMath::Rgair", 1000.0 * (BOLTZMANN * AVOGADRO) / 28.9644),
    ("TMath::Qe", 1.602176634e-19),
    ("TMath::QeUncertainty", 0.0),
    ("TMath::Infinity", f64::INFINITY),
    ("TMath::QuietNaN", f64::NAN),
    ("TMath::SignalingNaN", f64::NAN),
];

/// TMath::ATan2, which takes no notice of the sign of a zero: 0 for (0, -0), where C has pi.
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    if x != 0.0 {
        y.atan2(x)
    } else if y == 0.0 {
        0.0
    } else if y > 0.0 {
        FRAC_PI_2
    } else {
        -FRAC_PI_2
    }
}
