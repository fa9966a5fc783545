//! The functions an expression can call: one kernel per function, run over a block of values.
//!
//! The bare names behave as ROOT's TFormula does, which is not always as libm does (all measured
//! with 6.40): `sqrt` takes the absolute value, `log` and `log10` of what is not positive are 0,
//! `asin`, `acos`, `acosh` and `atanh` outside their domain are 0, `exp` is held at `exp(700)` and
//! is 0 below -700. The `TMath::` names are the plain functions and give NaN or infinity.

use crate::kernel::{Function, one, three, two};
use crate::mathcore;
use crate::number::truth;
use crate::rounding;
use crate::special::{bessel_y0, bessel_y1, to_i32};
use crate::tmath;
use std::f64::consts::PI;

static FUNCTIONS: &[Function] = &[
    // As TFormula has them.
    one!("abs", |x| x.abs()),
    one!("fabs", |x| x.abs()),
    one!("sq", |x| x * x),
    one!("sqrt", |x| x.abs().sqrt()),
    one!("exp", |x| held_exp(x)),
    one!("log", |x| if x > 0.0 { x.ln() } else { 0.0 }),
    one!("log10", |x| if x > 0.0 { x.log10() } else { 0.0 }),
    one!("log2", |x| x.log2()),
    one!("sin", |x| x.sin()),
    one!("cos", |x| x.cos()),
    one!("tan", |x| x.tan()),
    one!("asin", |x| if x.abs() > 1.0 { 0.0 } else { x.asin() }),
    one!("acos", |x| if x.abs() > 1.0 { 0.0 } else { x.acos() }),
    one!("atan", |x| x.atan()),
    two!("atan2", |y, x| tmath::atan2(y, x)),
    one!("sinh", |x| x.sinh()),
    one!("cosh", |x| x.cosh()),
    one!("tanh", |x| x.tanh()),
    one!("asinh", |x| libm::asinh(x)),
    one!("acosh", |x| if x < 1.0 { 0.0 } else { libm::acosh(x) }),
    one!("atanh", |x| if x.abs() > 1.0 { 0.0 } else { libm::atanh(x) }),
    two!("fmod", |x, y| x % y),
    two!("pow", |x, y| x.powf(y)),
    two!("hypot", |x, y| x.hypot(y)),
    two!("min", |x, y| if y < x { y } else { x }),
    two!("max", |x, y| if x < y { y } else { x }),
    one!("sign", |x| if x < 0.0 { -1.0 } else { 1.0 }),
    one!("int", |x| rounding::to_whole(x)),
    one!("ceil", |x| rounding::ceil(x)),
    one!("floor", |x| rounding::floor(x)),
    one!("round", |x| rounding::round(x)),
    one!("trunc", |x| rounding::trunc(x)),
    one!("rint", |x| rounding::round_ties_even(x)),
    one!("cbrt", |x| x.cbrt()),
    one!("exp2", |x| x.exp2()),
    one!("exp10", |x| 10f64.powf(x)),
    one!("expm1", |x| x.exp_m1()),
    one!("log1p", |x| x.ln_1p()),
    one!("erf", |x| libm::erf(x)),
    one!("erfc", |x| libm::erfc(x)),
    one!("tgamma", |x| libm::tgamma(x)),
    one!("lgamma", |x| libm::lgamma(x)),
    two!("copysign", |x, y| x.copysign(y)),
    two!("fdim", |x, y| libm::fdim(x, y)),
    two!("fmin", |x, y| x.min(y)),
    two!("fmax", |x, y| x.max(y)),
    three!("fma", |x, y, z| x.mul_add(y, z)),
    one!("isnan", |x| truth(x.is_nan())),
    one!("isinf", |x| truth(x.is_infinite())),
    one!("isfinite", |x| truth(x.is_finite())),
    one!("isnormal", |x| truth(x.is_normal())),
    one!("signbit", |x| truth(x.is_sign_negative())),
    two!("remainder", |x, y| libm::remainder(x, y)),
    two!("ldexp", |x, y| libm::scalbn(x, to_i32(y))),
    two!("nextafter", |x, y| libm::nextafter(x, y)),
    one!("nearbyint", |x| rounding::round_ties_even(x)),
    one!("lround", |x| rounding::round(x)),
    one!("llround", |x| rounding::round(x)),
    one!("lrint", |x| rounding::round_ties_even(x)),
    one!("logb", |x| exponent(x)),
    one!("j0", |x| libm::j0(x)),
    one!("j1", |x| libm::j1(x)),
    one!("y0", |x| bessel_y0(x)),
    one!("y1", |x| bessel_y1(x)),
    // As C++ has them, where TFormula differs.
    one!("std::sqrt", |x| x.sqrt()),
    one!("std::exp", |x| x.exp()),
    one!("std::log", |x| x.ln()),
    one!("std::log10", |x| x.log10()),
    one!("std::asin", |x| x.asin()),
    one!("std::acos", |x| x.acos()),
    one!("std::acosh", |x| libm::acosh(x)),
    one!("std::atanh", |x| libm::atanh(x)),
    two!("std::atan2", |y, x| y.atan2(x)),
];

/// What ROOT's TFormula makes of `exp`.
fn held_exp(x: f64) -> f64 {
    if x < -700.0 {
        0.0
    } else if x > 700.0 {
        700f64.exp()
    } else {
        x.exp()
    }
}

/// C's `logb`: the exponent of two.
fn exponent(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        libm::frexp(x).1 as f64 - 1.0
    } else {
        x.abs()
    }
}

/// All functions of this name: they differ in the number of arguments. `std::` in front is allowed.
pub(crate) fn functions(name: &str) -> Vec<&'static Function> {
    let of = |name: &str| {
        let all = FUNCTIONS.iter().chain(tmath::FUNCTIONS).chain(mathcore::FUNCTIONS);
        all.filter(|f| f.name == name).collect::<Vec<_>>()
    };
    let exactly = of(name);
    match name.strip_prefix("std::") {
        Some(plain) if exactly.is_empty() => of(plain).into_iter().filter(|f| !f.name.contains("::")).collect(),
        _ => exactly,
    }
}

/// What a call without arguments stands for: `TMath::Pi()`.
pub(crate) fn nullary(name: &str) -> Option<f64> {
    tmath::CONSTANTS.iter().find(|c| c.0 == name).map(|c| c.1)
}

/// What a bare name stands for, unless the tree has a branch of that name.
pub(crate) fn constant(name: &str) -> Option<f64> {
    match name {
        "pi" => Some(PI),
        "true" | "kTRUE" => Some(1.0),
        "false" | "kFALSE" => Some(0.0),
        _ => None,
    }
}

/// The name of random numbers; an argument chooses the sequence.
pub(crate) const RANDOM: &str = "rndm";

/// Whether a bare name is no branch, unless the tree has one of that name.
pub(crate) fn is_reserved(name: &str) -> bool {
    name == RANDOM || constant(name).is_some()
}

/// The names of all functions of expressions, sorted.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    let names: std::collections::BTreeSet<&str> = callable_names().collect();
    names.into_iter()
}

/// Every name that can be called, for suggestions.
pub(crate) fn callable_names() -> impl Iterator<Item = &'static str> {
    let special = ["Sum$", "Max$", "Min$", "MaxIf$", "MinIf$", "Length$", "Alt$", "strstr", RANDOM];
    let constants = tmath::CONSTANTS.iter().map(|c| c.0);
    FUNCTIONS.iter().chain(tmath::FUNCTIONS).chain(mathcore::FUNCTIONS).map(|f| f.name).chain(constants).chain(special)
}
