//! Special functions and distributions, computed from their definitions: series, continued fractions and quadrature.
//!
//! They give close to all digits of a double. ROOT's approximations are often shorter, so the last digits differ: the
//! Bessel functions of TMath have eight of them, `Landau` eight, `Voigt` as many as are asked for. Outside of a function's
//! domain the result is that of ROOT 6.40.

mod bessel;
mod beta;
mod chebyshev;
mod dilog;
mod distribution;
mod error;
mod gamma;
mod landau;
mod number;
mod quadrature;
mod quantile;
mod struve;
mod voigt;

pub(crate) use bessel::{bessel_i, bessel_i0, bessel_i1, bessel_k, bessel_k0, bessel_k1, bessel_y0, bessel_y1};
pub(crate) use beta::{beta, beta_density, beta_fraction, beta_integral, incomplete_beta};
pub(crate) use dilog::dilog;
pub(crate) use distribution::{
    binomial, binomial_tail, breit_wigner, breit_wigner_relativistic, cauchy, chi2_probability, factorial, fisher,
    fisher_integral, gamma_density, gauss, kolmogorov, laplace, laplace_integral, log_normal, poisson, poisson_whole,
    student, student_integral,
};
pub(crate) use error::{erf_inverse, erfc_inverse, freq, normal_quantile};
pub(crate) use gamma::{gamma, incomplete_gamma};
pub(crate) use landau::{landau, landau_integral};
pub(crate) use number::{close_by, close_by_ratio, next_prime, phi_from_0, phi_from_minus_pi, to_i32};
pub(crate) use quantile::{chi2_quantile, student_quantile};
pub(crate) use struve::{struve_h0, struve_h1, struve_l0, struve_l1};
pub(crate) use voigt::voigt;
