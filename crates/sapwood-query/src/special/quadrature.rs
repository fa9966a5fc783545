//! Integrals over the positive numbers.

/// The integral of `f(t) e^-(scale·t)` from 0 on, for a function that does not grow like an exponential: the trapezoidal rule
/// after a substitution with which both ends fall doubly exponentially. `f` may have a logarithm at zero.
pub(super) fn laplace_transform(scale: f64, step: f64, f: impl Fn(f64) -> f64) -> f64 {
    let mut sum = 0.0;
    for i in (-4.0 / step) as i32..=(3.8 / step) as i32 {
        let u = f64::from(i) * step;
        let fall = (-u).exp();
        let t = (u - fall).exp();
        sum += t * (1.0 + fall) * (-t).exp() * f(t / scale);
    }
    sum * step / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_that_have_a_formula() {
        for s in [0.5, 2.0, 30.0] {
            assert!((laplace_transform(s, 1.0 / 16.0, |t| t) * s * s - 1.0).abs() < 1e-14);
            let log = laplace_transform(s, 1.0 / 16.0, f64::ln);
            assert!((log * s + s.ln() + 0.577_215_664_901_532_9).abs() < 1e-13);
        }
    }
}
