//! The Voigt profile: the real part of the Faddeeva function, by the trapezoidal rule with the poles that it passes.

use std::f64::consts::PI;

/// Nodes on either side.
const NODES: i32 = 12;
const SQRT_TWO_PI: f64 = 2.506_628_274_631_000_7;

/// Complex numbers, as far as they are needed here.
type Complex = (f64, f64);

fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn over(a: Complex, b: Complex) -> Complex {
    let size = b.0 * b.0 + b.1 * b.1;
    ((a.0 * b.0 + a.1 * b.1) / size, (a.1 * b.0 - a.0 * b.1) / size)
}

fn exp(a: Complex) -> Complex {
    let size = a.0.exp();
    (size * a.1.cos(), size * a.1.sin())
}

/// The real part of `w(x+iy)` for `y > 0`.
fn faddeeva(x: f64, y: f64) -> f64 {
    let x = x.abs();
    if x > 1e8 || y > 1e8 {
        return y / PI.sqrt() / (x * x + y * y);
    }
    let step = (PI / (f64::from(NODES) + 1.0)).sqrt();
    let place = x / step;
    // the nodes that are farther from z
    let on_nodes = (0.25..0.75).contains(&place.fract());
    let z = (x, y);
    let square = times(z, z);
    let mut sum = (0.0, 0.0);
    for n in 0..=NODES {
        let t = step * (f64::from(n) + if on_nodes { 1.0 } else { 0.5 });
        let term = over(((-t * t).exp(), 0.0), (square.0 - t * t, square.1));
        sum = (sum.0 + term.0, sum.1 + term.1);
    }
    // 2ih/π z Σ
    let mut w = times((0.0, 2.0 * step / PI), times(z, sum));
    if on_nodes {
        let middle = over((0.0, step / PI), z);
        w = (w.0 + middle.0, w.1 + middle.1);
    }
    if y < PI / step {
        // 2 e^(-z²) / (1 ∓ e^(-2πiz/h)), divided by its larger part
        let e = exp((-2.0 * PI * y / step, 2.0 * PI * x / step));
        let sign = if on_nodes { -1.0 } else { 1.0 };
        // 1/(1 ± 1/e) = e/(e ± 1)
        let share = over(e, (e.0 + sign, e.1));
        let pole = times(exp((-square.0, -square.1)), share);
        w = (w.0 + 2.0 * pole.0, w.1 + 2.0 * pole.1);
    }
    w.0
}

/// TMath::Voigt.
pub(crate) fn voigt(x: f64, sigma: f64, lorentz: f64) -> f64 {
    if sigma < 0.0 || lorentz < 0.0 || sigma == 0.0 && lorentz == 0.0 {
        return 0.0;
    }
    if x.is_nan() || sigma.is_nan() || lorentz.is_nan() {
        return f64::NAN;
    }
    if x.is_infinite() {
        return 0.0;
    }
    if sigma == 0.0 {
        return lorentz / (2.0 * PI) / (x * x + 0.25 * lorentz * lorentz);
    }
    if lorentz == 0.0 {
        let pull = x / sigma;
        return (-0.5 * pull * pull).exp() / (sigma * SQRT_TWO_PI);
    }
    let scale = sigma * std::f64::consts::SQRT_2;
    faddeeva(x / scale, 0.5 * lorentz / scale) / (sigma * SQRT_TWO_PI)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_the_imaginary_axis_it_is_erfc() {
        for y in [0.01, 0.3, 1.0, 3.0, 5.0, 6.2, 8.0, 20.0] {
            let w = faddeeva(0.0, y);
            let meant = f64::exp(y * y) * libm::erfc(y);
            assert!((w / meant - 1.0).abs() < 3e-14, "{y}: {w} {meant}");
        }
    }

    #[test]
    fn both_sets_of_nodes_agree() {
        let step = (PI / (f64::from(NODES) + 1.0)).sqrt();
        for y in [0.001, 0.1, 1.0, 5.0, 7.0] {
            for n in 0..20 {
                let x = step * (f64::from(n) + 0.25);
                let (a, b) = (faddeeva(x - 1e-13, y), faddeeva(x + 1e-13, y));
                assert!((a / b - 1.0).abs() < 1e-11, "{x} {y}: {a} {b}");
            }
        }
    }
}
