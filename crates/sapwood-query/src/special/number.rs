//! Functions of TMath on whole numbers, and angles.

use crate::number::to_i64;
use std::f64::consts::PI;

/// As C makes a 32-bit integer of a double on x86-64: what does not fit is the smallest one.
pub(crate) fn to_i32(x: f64) -> i32 {
    if x > -2_147_483_649.0 && x < 2_147_483_648.0 { x as i32 } else { i32::MIN }
}

/// TMath::NextPrime: the least prime number from `x` on.
pub(crate) fn next_prime(x: f64) -> f64 {
    let x = to_i64(x);
    if x <= 2 {
        return 2.0;
    }
    // a trial division of what is larger takes too long
    if x > 1 << 40 {
        return f64::NAN;
    }
    let is_prime = |n: i64| n % 2 != 0 && (3..).step_by(2).take_while(|d| d * d <= n).all(|d| n % d != 0);
    (x..).find(|n| is_prime(*n)).map_or(f64::NAN, |n| n as f64)
}

/// TVector2::Phi_mpi_pi: an angle from -pi to pi.
pub(crate) fn phi_from_minus_pi(x: f64) -> f64 {
    if x.is_nan() || x.is_infinite() || (-PI..PI).contains(&x) {
        return x;
    }
    let turned = x - 2.0 * PI * ((x + PI) / (2.0 * PI)).floor();
    if turned >= PI { turned - 2.0 * PI } else { turned }
}

/// TVector2::Phi_0_2pi: an angle from 0 to two pi.
pub(crate) fn phi_from_0(x: f64) -> f64 {
    if x.is_nan() || x.is_infinite() || (0.0..2.0 * PI).contains(&x) {
        return x;
    }
    let turned = x - 2.0 * PI * (x / (2.0 * PI)).floor();
    if turned >= 2.0 * PI { turned - 2.0 * PI } else { turned }
}

/// TMath::AreEqualAbs.
pub(crate) fn close_by(a: f64, b: f64, epsilon: f64) -> bool {
    a == b || (a - b).abs() < epsilon || (a - b).abs() < f64::MIN_POSITIVE
}

/// TMath::AreEqualRel.
pub(crate) fn close_by_ratio(a: f64, b: f64, ratio: f64) -> bool {
    a == b || (a - b).abs() <= 0.5 * ratio * (a.abs() + b.abs()) || (a - b).abs() < f64::MIN_POSITIVE
}
