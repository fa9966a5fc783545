//! How the functions of expressions are made: a name and a loop over a block of values.

/// Replaces the first column by values of it and three others.
type FourColumns = fn(&mut [f64], &[f64], &[f64], &[f64]);

/// How a function runs over a block; the first slice holds the result afterwards.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    One(fn(&mut [f64])),
    Two(fn(&mut [f64], &[f64])),
    Three(fn(&mut [f64], &[f64], &[f64])),
    Four(FourColumns),
}

impl Kernel {
    /// How many arguments it takes.
    pub(crate) fn arity(self) -> usize {
        match self {
            Kernel::One(_) => 1,
            Kernel::Two(_) => 2,
            Kernel::Three(_) => 3,
            Kernel::Four(_) => 4,
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
        $crate::kernel::Function {
            name: $name,
            kernel: $crate::kernel::Kernel::One(|v| {
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
        $crate::kernel::Function {
            name: $name,
            kernel: $crate::kernel::Kernel::Two(|v, w| {
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
        $crate::kernel::Function {
            name: $name,
            kernel: $crate::kernel::Kernel::Three(|v, w, u| {
                for ((x, y), z) in v.iter_mut().zip(w).zip(u) {
                    let ($x, $y, $z) = (*x, *y, *z);
                    *x = $f;
                }
            }),
        }
    };
}

macro_rules! four {
    ($name:expr, |$x:ident, $y:ident, $z:ident, $t:ident| $f:expr) => {
        $crate::kernel::Function {
            name: $name,
            kernel: $crate::kernel::Kernel::Four(|v, w, u, r| {
                for (((x, y), z), t) in v.iter_mut().zip(w).zip(u).zip(r) {
                    let ($x, $y, $z, $t) = (*x, *y, *z, *t);
                    *x = $f;
                }
            }),
        }
    };
}

pub(crate) use {four, one, three, two};
