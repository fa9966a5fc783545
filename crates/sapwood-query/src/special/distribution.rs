//! The distributions of TMath.

use super::beta::{beta_factor, incomplete_beta};
use super::gamma::{gamma_integrals, poisson_density};
use std::f64::consts::{PI, SQRT_2};

const SQRT_TWO_PI: f64 = 2.506_628_274_631_000_7;

/// TMath::Gaus: 1 at the mean unless normalised; 1e30 for a sigma of zero, 0 beyond 39 sigma.
pub(crate) fn gauss(x: f64, mean: f64, sigma: f64, normalised: bool) -> f64 {
    if sigma == 0.0 {
        return 1e30;
    }
    let pull = (x - mean) / sigma;
    if pull.abs() > 39.0 {
        return 0.0;
    }
    let value = (-0.5 * pull * pull).exp();
    if normalised { value / (SQRT_TWO_PI * sigma) } else { value }
}

/// TMath::BreitWigner.
pub(crate) fn breit_wigner(x: f64, mean: f64, gamma: f64) -> f64 {
    gamma / ((x - mean) * (x - mean) + gamma * gamma / 4.0) / (2.0 * PI)
}

/// TMath::BreitWignerRelativistic.
pub(crate) fn breit_wigner_relativistic(x: f64, median: f64, gamma: f64) -> f64 {
    let (m, g) = (median * median, gamma * gamma);
    let root = (m * (m + g)).sqrt();
    let factor = 2.0 * SQRT_2 * median * gamma * root / (PI * (m + root).sqrt());
    factor / ((x * x - m) * (x * x - m) + m * g)
}

/// TMath::CauchyDist.
pub(crate) fn cauchy(x: f64, location: f64, scale: f64) -> f64 {
    1.0 / (scale * PI * (1.0 + (x - location) * (x - location) / (scale * scale)))
}

/// TMath::LaplaceDist.
pub(crate) fn laplace(x: f64, alpha: f64, beta: f64) -> f64 {
    (-((x - alpha) / beta).abs()).exp() / (2.0 * beta)
}

/// TMath::LaplaceDistI.
pub(crate) fn laplace_integral(x: f64, alpha: f64, beta: f64) -> f64 {
    let half = 0.5 * (-((x - alpha) / beta).abs()).exp();
    if x <= alpha { half } else { 1.0 - half }
}

/// TMath::LogNormal.
pub(crate) fn log_normal(x: f64, sigma: f64, theta: f64, m: f64) -> f64 {
    if x <= theta || sigma <= 0.0 || m <= 0.0 {
        return 0.0;
    }
    let pull = ((x - theta) / m).ln() / sigma;
    (-0.5 * pull * pull).exp() / ((x - theta) * sigma * SQRT_TWO_PI)
}

/// TMath::GammaDist.
pub(crate) fn gamma_density(x: f64, gamma: f64, mu: f64, beta: f64) -> f64 {
    if x < mu || gamma <= 0.0 || beta <= 0.0 {
        return 0.0;
    }
    let z = (x - mu) / beta;
    if z == 0.0 {
        return if gamma == 1.0 { 1.0 / beta } else { 0.0 };
    }
    poisson_density(gamma - 1.0, z) / beta
}

/// TMath::Poisson.
pub(crate) fn poisson(x: f64, mean: f64) -> f64 {
    if mean < 0.0 || x.is_nan() || mean.is_nan() {
        f64::NAN
    } else if x < 0.0 {
        0.0
    } else if x == 0.0 {
        (-mean).exp()
    } else if mean == 0.0 {
        0.0
    } else {
        poisson_density(x, mean)
    }
}

/// TMath::PoissonI, for whole numbers.
pub(crate) fn poisson_whole(x: f64, mean: f64) -> f64 {
    poisson(f64::from(super::to_i32(x)), mean)
}

/// TMath::Prob.
pub(crate) fn chi2_probability(chi2: f64, ndf: i32) -> f64 {
    if ndf <= 0 {
        0.0
    } else if chi2 <= 0.0 {
        if chi2 < 0.0 { 0.0 } else { 1.0 }
    } else {
        gamma_integrals(0.5 * f64::from(ndf), 0.5 * chi2).1
    }
}

/// TMath::Student.
pub(crate) fn student(t: f64, ndf: f64) -> f64 {
    if ndf < 1.0 {
        return 0.0;
    }
    let half = 0.5 * ndf;
    let fall = -(half + 0.5) * (t * t / ndf).ln_1p();
    if half < 60.0 {
        return libm::tgamma(half + 0.5) / (libm::tgamma(half) * (ndf * PI).sqrt()) * fall.exp();
    }
    (libm::lgamma(half + 0.5) - libm::lgamma(half) + fall).exp() / (ndf * PI).sqrt()
}

/// TMath::StudentI.
pub(crate) fn student_integral(t: f64, ndf: f64) -> f64 {
    let half = 0.5 * incomplete_beta(ndf / (ndf + t * t), 0.5 * ndf, 0.5);
    if t > 0.0 { 1.0 - half } else { half }
}

/// TMath::FDist.
pub(crate) fn fisher(f: f64, n: f64, m: f64) -> f64 {
    if f < 0.0 || n <= 0.0 || m <= 0.0 {
        return 0.0;
    }
    if f == 0.0 {
        return if n == 2.0 {
            1.0
        } else if n < 2.0 {
            f64::INFINITY
        } else {
            0.0
        };
    }
    beta_factor(n * f / (m + n * f), 0.5 * n, 0.5 * m) / f
}

/// TMath::FDistI.
pub(crate) fn fisher_integral(f: f64, n: f64, m: f64) -> f64 {
    if f < 0.0 {
        return 0.0;
    }
    incomplete_beta(n * f / (m + n * f), 0.5 * n, 0.5 * m)
}

/// TMath::KolmogorovProb.
pub(crate) fn kolmogorov(z: f64) -> f64 {
    let u = z.abs();
    if u < 0.2 {
        return 1.0;
    }
    if u.is_nan() || u > 6.8116 {
        return 0.0;
    }
    if u < 1.0 {
        let v = -PI * PI / (8.0 * u * u);
        let sum: f64 = [1.0, 9.0, 25.0, 49.0].iter().map(|k| (k * v).exp()).sum();
        return 1.0 - SQRT_TWO_PI / u * sum;
    }
    let term = |k: f64| (-2.0 * k * k * u * u).exp();
    2.0 * (term(1.0) - term(2.0) + term(3.0) - term(4.0))
}

/// TMath::Factorial.
pub(crate) fn factorial(n: i32) -> f64 {
    (1..=n.min(200)).fold(1.0, |product, i| product * f64::from(i))
}

/// TMath::Binomial.
pub(crate) fn binomial(n: i32, k: i32) -> f64 {
    if n < 0 || k < 0 || n < k {
        return f64::NAN;
    }
    let few = k.min(n - k);
    let mut product = 1.0;
    for i in 1..=few {
        product *= f64::from(n - few + i) / f64::from(i);
        if product.is_infinite() {
            break;
        }
    }
    product
}

/// TMath::BinomialI: the chance of at least `k` of `n`.
pub(crate) fn binomial_tail(p: f64, n: i32, k: i32) -> f64 {
    if k <= 0 {
        1.0
    } else if k > n {
        0.0
    } else if k == n {
        p.powi(n)
    } else {
        incomplete_beta(p, f64::from(k), f64::from(n - k + 1))
    }
}
