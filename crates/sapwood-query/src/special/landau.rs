//! Landau's distribution, from its integrals: along the positive axis where it falls slowly, and through the saddle
//! point of the inverse Laplace transform on its steep side.

use super::chebyshev::Table;
use super::quadrature::laplace_transform;
use std::f64::consts::PI;
use std::sync::LazyLock;

/// Where the steep side begins.
const STEEP: f64 = -1.0;
/// From here on tables are in the logarithm.
const TAIL: f64 = 4.0;

/// The integral along the positive axis: of the density, or of what is above `x` when divided by `t`.
fn along_axis(x: f64, f: impl Fn(f64) -> f64) -> f64 {
    // what falls faster than e^-t moves into the function
    let scale = x.max(2.0);
    laplace_transform(scale, 1.0 / 64.0, |t| (-t * t.ln() - (x - scale) * t).exp() * f(t)) / PI
}

/// The integral through the saddle point, without the factor `e^-saddle`. Divided by `s` it is that of the distribution.
fn through_saddle(x: f64, integral: bool) -> f64 {
    let saddle = (-x - 1.0).exp();
    let step = (saddle / 8.0).min(saddle.sqrt() / 3.0);
    let mut sum = 0.0;
    for i in 0..10_000 {
        let y = f64::from(i) * step;
        // s ln s + x s + saddle at s = saddle + iy
        let (log, angle) = (0.5 * (saddle * saddle + y * y).ln(), y.atan2(saddle));
        let real = saddle * log - y * angle + x * saddle + saddle;
        let phase = saddle * angle + y * log + x * y;
        let size = real.exp();
        let value = if integral { size * (phase - angle).cos() * (-log).exp() } else { size * phase.cos() };
        sum += if i == 0 { 0.5 * value } else { value };
        if size < 1e-20 {
            break;
        }
    }
    sum * step / PI
}

fn density_above(x: f64) -> f64 {
    along_axis(x, |t| (PI * t).sin())
}

fn tail_above(x: f64) -> f64 {
    along_axis(x, |t| if t == 0.0 { PI } else { (PI * t).sin() / t })
}

/// A function in three tables.
struct Tables {
    steep: Table,
    middle: Table,
    tail: Table,
}

static DENSITY: LazyLock<Tables> = LazyLock::new(|| Tables {
    steep: Table::new(-8.0, 0.5, 14, |x| through_saddle(x, false)),
    middle: Table::new(STEEP, 0.5, 10, density_above),
    tail: Table::new(TAIL.ln(), 0.5, 32, |log| density_above(log.exp()) * (2.0 * log).exp()),
});

static INTEGRAL: LazyLock<Tables> = LazyLock::new(|| Tables {
    steep: Table::new(-8.0, 0.5, 14, |x| through_saddle(x, true)),
    middle: Table::new(STEEP, 0.5, 10, |x| 1.0 - tail_above(x)),
    tail: Table::new(TAIL.ln(), 0.5, 32, |log| tail_above(log.exp()) * log.exp()),
});

/// The density of the standard distribution.
fn density(x: f64) -> f64 {
    if x < STEEP {
        return DENSITY.steep.at(x).map_or(0.0, |v| v * (-(-x - 1.0).exp()).exp());
    }
    if x < TAIL {
        return DENSITY.middle.at(x).unwrap_or(f64::NAN);
    }
    if x.is_infinite() {
        return 0.0;
    }
    DENSITY.tail.at(x.ln()).map_or_else(|| density_above(x), |v| v / x / x)
}

/// TMath::LandauI.
pub(crate) fn landau_integral(x: f64) -> f64 {
    if x < STEEP {
        return INTEGRAL.steep.at(x).map_or(0.0, |v| v * (-(-x - 1.0).exp()).exp());
    }
    if x < TAIL {
        return INTEGRAL.middle.at(x).unwrap_or(f64::NAN);
    }
    if x.is_infinite() {
        return 1.0;
    }
    if x.is_nan() {
        return x;
    }
    1.0 - INTEGRAL.tail.at(x.ln()).map_or_else(|| tail_above(x), |v| v / x)
}

/// TMath::Landau.
pub(crate) fn landau(x: f64, location: f64, sigma: f64, normalised: bool) -> f64 {
    if sigma <= 0.0 {
        return 0.0;
    }
    let x = (x - location) / sigma;
    if x.is_nan() {
        return x;
    }
    if normalised { density(x) / sigma } else { density(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_is_the_slope_of_the_integral() {
        for x in [-3.0, -1.5, -1.0, -0.5, 0.0, 1.0, 3.0, 4.0, 20.0, 1e4] {
            let h = 1e-4 * f64::max(1.0, x);
            let slope = (landau_integral(x + h) - landau_integral(x - h)) / (2.0 * h);
            assert!((slope / density(x) - 1.0).abs() < 1e-5, "{x}: {slope} {}", density(x));
        }
        assert_eq!(landau_integral(f64::INFINITY), 1.0);
        assert_eq!(density(-40.0), 0.0);
    }

    #[test]
    fn both_integrals_agree_where_they_meet() {
        for x in [-1.5, -1.0, -0.5] {
            let saddle = f64::exp(-x - 1.0);
            let steep = through_saddle(x, false) * (-saddle).exp();
            assert!((steep / density_above(x) - 1.0).abs() < 1e-13, "{x}");
            let steep = through_saddle(x, true) * (-saddle).exp();
            assert!((steep / (1.0 - tail_above(x)) - 1.0).abs() < 1e-12, "{x}");
        }
    }
}
