//! The functions an expression can call: one kernel per function, run over a block of values.
//!
//! The bare names behave as ROOT's TFormula does, which is not always as libm does (all measured
//! with 6.40): `sqrt` takes the absolute value, `log` and `log10` of what is not positive are 0,
//! `asin`, `acos`, `acosh` and `atanh` outside their domain are 0, `exp` is held at `exp(700)` and
//! is 0 below -700. The `TMath::` names are the plain functions and give NaN or infinity.

use crate::number::{to_i64, truth};
use std::f64::consts::{E, LN_2, LN_10, PI, SQRT_2};

/// How a function runs over a block; the first slice holds the result afterwards.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    One(fn(&mut [f64])),
    Two(fn(&mut [f64], &[f64])),
    Three(fn(&mut [f64], &[f64], &[f64])),
}

impl Kernel {
    /// How many arguments it takes.
    pub(crate) fn arity(self) -> usize {
        match self {
            Kernel::One(_) => 1,
            Kernel::Two(_) => 2,
            Kernel::Three(_) => 3,
        }
    }
}

/// A function by its name.
pub(crate) struct Function {
    pub name: &'static str,
    pub kernel: Kernel,
}

macro_rules! one {
    ($name:expr, |$x:ident| $f:expr) => {
        Function {
            name: $name,
            kernel: Kernel::One(|v| {
                for x in v {
                    let $x = *x;
                    *x = $f;
                }
            }),
        }
    };
}

macro_rules! two {
    ($name:expr, |$x:ident, $y:ident| $f:expr) => {
        Function {
            name: $name,
            kernel: Kernel::Two(|v, w| {
                for (x, y) in v.iter_mut().zip(w) {
                    let ($x, $y) = (*x, *y);
                    *x = $f;
                }
            }),
        }
    };
}

macro_rules! three {
    ($name:expr, |$x:ident, $y:ident, $z:ident| $f:expr) => {
        Function {
            name: $name,
            kernel: Kernel::Three(|v, w, u| {
                for ((x, y), z) in v.iter_mut().zip(w).zip(u) {
                    let ($x, $y, $z) = (*x, *y, *z);
                    *x = $f;
                }
            }),
        }
    };
}

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
    two!("atan2", |y, x| tmath_atan2(y, x)),
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
    one!("int", |x| to_i64(x) as f64),
    one!("ceil", |x| x.ceil()),
    one!("floor", |x| x.floor()),
    one!("round", |x| x.round()),
    one!("trunc", |x| x.trunc()),
    one!("rint", |x| x.round_ties_even()),
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
    // As TMath has them.
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
    two!("TMath::ATan2", |y, x| tmath_atan2(y, x)),
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
    three!("TMath::Gaus", |x, mean, sigma| gauss(x, mean, sigma)),
    one!("TMath::Nint", |x| x.round_ties_even()),
    one!("TMath::Floor", |x| x.floor()),
    one!("TMath::Ceil", |x| x.ceil()),
    one!("TMath::FloorNint", |x| x.floor()),
    one!("TMath::CeilNint", |x| x.ceil()),
    one!("TMath::Odd", |x| truth(to_i64(x) & 1 != 0)),
    one!("TMath::Even", |x| truth(to_i64(x) & 1 == 0)),
    one!("TMath::Erf", |x| libm::erf(x)),
    one!("TMath::Erfc", |x| libm::erfc(x)),
    one!("TMath::Gamma", |x| libm::tgamma(x)),
    one!("TMath::LnGamma", |x| libm::lgamma(x)),
    one!("TMath::IsNaN", |x| truth(x.is_nan())),
    one!("TMath::Finite", |x| truth(x.is_finite())),
];

/// Functions of no argument and the names that stand for a number.
static CONSTANTS: &[(&str, f64)] = &[
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
    ("TMath::LogE", std::f64::consts::LOG10_E),
    ("TMath::Ln2", LN_2),
    ("TMath::C", 2.997_924_58e8),
    ("TMath::Infinity", f64::INFINITY),
    ("TMath::QuietNaN", f64::NAN),
];

/// What ROOT's TFormula makes of `exp`.
fn held_exp(x: f64) -> f64 {
    if x < -700.0 { 0.0 } else { x.min(700.0).exp() }
}

/// TMath::ATan2, which takes no notice of the sign of a zero: 0 for (0, -0), where C has pi.
fn tmath_atan2(y: f64, x: f64) -> f64 {
    if x == 0.0 && y == 0.0 { 0.0 } else { y.atan2(x) }
}

/// TMath::Gaus, not normalised: 1 at the mean; 1e30 for a sigma of zero, 0 beyond 39 sigma.
fn gauss(x: f64, mean: f64, sigma: f64) -> f64 {
    if sigma == 0.0 {
        return 1e30;
    }
    let pull = (x - mean) / sigma;
    if pull.abs() > 39.0 { 0.0 } else { (-0.5 * pull * pull).exp() }
}

/// The function of this name; `std::` in front is allowed.
pub(crate) fn function(name: &str) -> Option<&'static Function> {
    let name = name.strip_prefix("std::").unwrap_or(name);
    FUNCTIONS.iter().find(|f| f.name == name)
}

/// What a call without arguments stands for: `TMath::Pi()`.
pub(crate) fn nullary(name: &str) -> Option<f64> {
    CONSTANTS.iter().find(|c| c.0 == name).map(|c| c.1)
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

/// Every name that can be called, for suggestions.
pub(crate) fn callable_names() -> impl Iterator<Item = &'static str> {
    let special = ["Sum$", "Max$", "Min$", "MaxIf$", "MinIf$", "Length$", "Alt$", "strstr"];
    FUNCTIONS.iter().map(|f| f.name).chain(CONSTANTS.iter().map(|c| c.0)).chain(special)
}
