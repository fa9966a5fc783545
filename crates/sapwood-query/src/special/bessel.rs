//! Bessel functions that libm has not: I and K. They fall or grow without cancellation, so that sums of positive terms
//! give all digits.

/// Above this, the expansion for large arguments is exact.
const LARGE: f64 = 30.0;

/// I of order `n` by its series or, for large arguments, by the expansion.
fn modified_first(n: i32, x: f64) -> f64 {
    let order = f64::from(n);
    if x > 720.0 {
        return f64::INFINITY;
    }
    if x > LARGE.max(2.0 * order * order) {
        let (mut term, mut sum, mut k) = (1.0f64, 1.0f64, 1.0f64);
        loop {
            let odd = 2.0 * k - 1.0;
            let next = term * -(4.0 * order * order - odd * odd) / (k * 8.0 * x);
            if next.abs() < f64::EPSILON * 0.1 * sum.abs() || next.abs() > term.abs() {
                break;
            }
            term = next;
            sum += term;
            k += 1.0;
        }
        // e^x is divided so that it does not overflow first
        let half = (0.5 * x).exp();
        return half * (half * sum / (2.0 * std::f64::consts::PI * x).sqrt());
    }
    let quarter = 0.25 * x * x;
    let mut first = 1.0;
    for i in 1..=n {
        first *= 0.5 * x / f64::from(i);
    }
    let (mut term, mut sum, mut k) = (1.0, 1.0, 1.0);
    while term > sum * f64::EPSILON * 0.1 {
        term *= quarter / (k * (k + order));
        sum += term;
        k += 1.0;
    }
    first * sum
}

/// TMath::BesselI0.
pub(crate) fn bessel_i0(x: f64) -> f64 {
    if x.is_nan() { x } else { modified_first(0, x.abs()) }
}

/// TMath::BesselI1.
pub(crate) fn bessel_i1(x: f64) -> f64 {
    if x.is_nan() || x == 0.0 { x } else { modified_first(1, x.abs()).copysign(x) }
}

/// TMath::BesselI: 0 for a negative order.
pub(crate) fn bessel_i(n: i32, x: f64) -> f64 {
    match n {
        ..0 => 0.0,
        0 => bessel_i0(x),
        1 => bessel_i1(x),
        _ if x.is_nan() || x == 0.0 => x.abs(),
        // the terms before are products of so many numbers
        _ if n > 10_000 => 0.0,
        _ if x < 0.0 && n % 2 == 1 => -modified_first(n, -x),
        _ => modified_first(n, x.abs()),
    }
}

/// K of order 0 or 1 by its integral of a hyperbolic cosine, for which the trapezoidal rule is exact.
fn modified_second(order: f64, x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x <= 0.0 || x.is_infinite() {
        return 0.0;
    }
    // finer where the integrand is narrow
    let step = f64::min(0.2, 0.6 / x.sqrt());
    let mut sum = 0.5;
    let mut i = 1.0;
    loop {
        let t = i * step;
        // cosh t - 1 without cancellation
        let half = (0.5 * t).sinh();
        let fall = 2.0 * x * half * half;
        let grow = order * t;
        if fall - grow > 45.0 {
            break;
        }
        sum += 0.5 * ((grow - fall).exp() + (-grow - fall).exp());
        i += 1.0;
    }
    sum * step * (-x).exp()
}

/// TMath::BesselK0: 0 where it is not defined.
pub(crate) fn bessel_k0(x: f64) -> f64 {
    modified_second(0.0, x)
}

/// TMath::BesselK1: 0 where it is not defined.
pub(crate) fn bessel_k1(x: f64) -> f64 {
    modified_second(1.0, x)
}

/// TMath::BesselK: 0 where it is not defined.
pub(crate) fn bessel_k(n: i32, x: f64) -> f64 {
    if n < 0 || x <= 0.0 {
        return 0.0;
    }
    // the steps below would go on to any order
    if x.is_nan() {
        return x;
    }
    let (mut below, mut this) = (bessel_k0(x), bessel_k1(x));
    if n == 0 {
        return below;
    }
    for i in 1..n {
        (below, this) = (this, below + 2.0 * f64::from(i) / x * this);
        if this.is_infinite() || this == 0.0 {
            break;
        }
    }
    this
}

/// TMath::BesselY0.
pub(crate) fn bessel_y0(x: f64) -> f64 {
    if x < 0.0 { f64::NAN } else { libm::y0(x) }
}

/// TMath::BesselY1.
pub(crate) fn bessel_y1(x: f64) -> f64 {
    if x <= 0.0 { f64::NAN } else { libm::y1(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wronskian_holds() {
        for x in [1e-3, 0.1, 1.0, 2.0, 10.0, 29.0, 31.0, 100.0, 300.0] {
            let w = bessel_i0(x) * bessel_k1(x) + bessel_i1(x) * bessel_k0(x);
            assert!((w * x - 1.0).abs() < 1e-14, "{x}: {w}");
            let next = bessel_i0(x) - 2.0 / x * bessel_i1(x);
            assert!((bessel_i(2, x) - next).abs() < 1e-14 * bessel_i0(x), "{x}");
        }
        assert_eq!(bessel_i(3, -1.0), -bessel_i(3, 1.0));
    }

    #[test]
    fn the_second_kind_ends_at_once_for_any_order_of_nothing() {
        // two thousand million steps for each value before
        for _ in 0..1000 {
            assert!(bessel_k(i32::MAX, f64::NAN).is_nan());
        }
        assert_eq!(bessel_k(i32::MAX, 1e300), 0.0);
        assert_eq!(bessel_k(i32::MAX, 5e-324), f64::INFINITY);
    }
}
