//! Operations on blocks of doubles: each is one loop, and the operator is looked at once per block.

use crate::ast::Op;
use crate::kernel::Kernel;
use crate::number::{divide, remainder, to_u64, truth};
use crate::program::Fold;
use crate::rounding::{SMALL, from_bits, small_remainder, to_bits};

/// Blocks of doubles kept for the next operation, so that a block costs no allocation.
pub(crate) type Pool = Vec<Vec<f64>>;

/// The values of one node: one for all, or one per entry or row.
pub(crate) enum Block {
    Scalar(f64),
    Column(Vec<f64>),
}

impl Block {
    /// Gives the memory back.
    pub(crate) fn recycle(self, pool: &mut Pool) {
        if let Block::Column(v) = self {
            pool.push(v);
        }
    }

    /// The value at `i`.
    #[inline]
    pub(crate) fn at(&self, i: usize) -> f64 {
        match self {
            Block::Scalar(x) => *x,
            Block::Column(v) => v[i],
        }
    }

    /// Whether it holds for all values. Looks at each, so that the compiler makes lanes of it.
    fn has_only(&self, is: impl Fn(f64) -> bool) -> bool {
        match self {
            Block::Scalar(x) => is(*x),
            Block::Column(v) => v.iter().fold(0u64, |others, x| others | u64::from(!is(*x))) == 0,
        }
    }

    /// One value for each of `n`.
    pub(crate) fn spread(self, n: usize, pool: &mut Pool) -> Vec<f64> {
        match self {
            Block::Column(v) => v,
            Block::Scalar(x) => {
                let mut v = fresh(pool);
                v.resize(n, x);
                v
            }
        }
    }
}

/// An empty block with whatever room an earlier one had.
pub(crate) fn fresh(pool: &mut Pool) -> Vec<f64> {
    let mut v = pool.pop().unwrap_or_default();
    v.clear();
    v
}

pub(crate) fn map(a: Block, f: impl Fn(f64) -> f64) -> Block {
    match a {
        Block::Scalar(x) => Block::Scalar(f(x)),
        Block::Column(mut v) => {
            v.iter_mut().for_each(|x| *x = f(*x));
            Block::Column(v)
        }
    }
}

fn zip(a: Block, b: Block, pool: &mut Pool, f: impl Fn(f64, f64) -> f64) -> Block {
    match (a, b) {
        (Block::Scalar(x), Block::Scalar(y)) => Block::Scalar(f(x, y)),
        (Block::Column(mut v), Block::Scalar(y)) => {
            v.iter_mut().for_each(|x| *x = f(*x, y));
            Block::Column(v)
        }
        (Block::Scalar(x), Block::Column(mut w)) => {
            w.iter_mut().for_each(|y| *y = f(x, *y));
            Block::Column(w)
        }
        (Block::Column(mut v), Block::Column(w)) => {
            v.iter_mut().zip(&w).for_each(|(x, y)| *x = f(*x, *y));
            pool.push(w);
            Block::Column(v)
        }
    }
}

pub(crate) fn binary(op: Op, a: Block, b: Block, pool: &mut Pool) -> Block {
    match op {
        Op::Or => zip(a, b, pool, |x, y| truth((x != 0.0) | (y != 0.0))),
        Op::And => zip(a, b, pool, |x, y| truth((x != 0.0) & (y != 0.0))),
        Op::BitOr if is_small_and_positive(&a, &b) => zip(a, b, pool, |x, y| from_bits(to_bits(x) | to_bits(y))),
        Op::BitOr => zip(a, b, pool, |x, y| (to_u64(x) | to_u64(y)) as f64),
        Op::BitAnd if is_small_and_positive(&a, &b) => zip(a, b, pool, |x, y| from_bits(to_bits(x) & to_bits(y))),
        Op::BitAnd => zip(a, b, pool, |x, y| (to_u64(x) & to_u64(y)) as f64),
        Op::Less => zip(a, b, pool, |x, y| truth(x < y)),
        Op::LessEqual => zip(a, b, pool, |x, y| truth(x <= y)),
        Op::Greater => zip(a, b, pool, |x, y| truth(x > y)),
        Op::GreaterEqual => zip(a, b, pool, |x, y| truth(x >= y)),
        Op::Equal => zip(a, b, pool, |x, y| truth(x == y)),
        Op::NotEqual => zip(a, b, pool, |x, y| truth(x != y)),
        Op::Add => zip(a, b, pool, |x, y| x + y),
        Op::Subtract => zip(a, b, pool, |x, y| x - y),
        Op::Remainder if is_small(&a) && is_small(&b) => zip(a, b, pool, small_remainder),
        Op::Remainder => zip(a, b, pool, remainder),
        Op::ShiftLeft => zip(a, b, pool, |x, y| shifted(x, y, u64::checked_shl)),
        Op::ShiftRight => zip(a, b, pool, |x, y| shifted(x, y, u64::checked_shr)),
        Op::Multiply => zip(a, b, pool, |x, y| x * y),
        Op::Divide => zip(a, b, pool, divide),
        Op::Power => match b {
            Block::Scalar(2.0) => map(a, |x| x * x),
            b => zip(a, b, pool, f64::powf),
        },
    }
}

fn is_small_and_positive(a: &Block, b: &Block) -> bool {
    is_small(a) && is_small(b) && is_positive(a) && is_positive(b)
}

/// Whether [`crate::rounding`]'s conversions hold for all values.
fn is_small(a: &Block) -> bool {
    a.has_only(|x| x.abs() < SMALL)
}

fn is_positive(a: &Block) -> bool {
    a.has_only(|x| x >= 0.0)
}

/// Shifts by 64 or more leave nothing (C does not say what they do).
fn shifted(x: f64, by: f64, shift: impl Fn(u64, u32) -> Option<u64>) -> f64 {
    let by = u32::try_from(to_u64(by)).unwrap_or(u32::MAX);
    shift(to_u64(x), by).unwrap_or(0) as f64
}

pub(crate) fn select(c: Block, a: Block, b: Block, pool: &mut Pool) -> Block {
    let c = match c {
        Block::Scalar(x) => {
            let (kept, other) = if x != 0.0 { (a, b) } else { (b, a) };
            other.recycle(pool);
            return kept;
        }
        Block::Column(c) => c,
    };
    let mut out = c;
    match (&a, &b) {
        (Block::Scalar(a), Block::Scalar(b)) => out.iter_mut().for_each(|x| *x = chosen(*x, *a, *b)),
        (Block::Scalar(a), Block::Column(b)) => out.iter_mut().zip(b).for_each(|(x, b)| *x = chosen(*x, *a, *b)),
        (Block::Column(a), Block::Scalar(b)) => out.iter_mut().zip(a).for_each(|(x, a)| *x = chosen(*x, *a, *b)),
        (Block::Column(a), Block::Column(b)) => {
            out.iter_mut().zip(a).zip(b).for_each(|((x, a), b)| *x = chosen(*x, *a, *b));
        }
    }
    a.recycle(pool);
    b.recycle(pool);
    Block::Column(out)
}

fn chosen(condition: f64, a: f64, b: f64) -> f64 {
    if condition != 0.0 { a } else { b }
}

pub(crate) fn call(kernel: Kernel, args: Vec<Block>, pool: &mut Pool) -> Block {
    let length = args.iter().find_map(|a| match a {
        Block::Column(v) => Some(v.len()),
        Block::Scalar(_) => None,
    });
    let mut blocks = args.into_iter().map(|a| a.spread(length.unwrap_or(1), pool)).collect::<Vec<_>>().into_iter();
    let Some(mut first) = blocks.next() else { return Block::Scalar(f64::NAN) };
    let rest: Vec<Vec<f64>> = blocks.collect();
    match (kernel, rest.as_slice()) {
        (Kernel::One(f), []) => f(&mut first),
        (Kernel::Two(f), [b]) => f(&mut first, b),
        (Kernel::Three(f), [b, c]) => f(&mut first, b, c),
        (Kernel::Four(f), [b, c, d]) => f(&mut first, b, c, d),
        _ => first.fill(f64::NAN),
    }
    pool.extend(rest);
    match length {
        Some(_) => Block::Column(first),
        None => Block::Scalar(first[0]),
    }
}

/// ROOT's folds: of nothing they are 0.
pub(crate) fn fold(fold: Fold, mut values: impl Iterator<Item = f64>) -> f64 {
    match fold {
        Fold::Sum => values.fold(0.0, |a, x| a + x),
        Fold::Max => values.next().map_or(0.0, |first| values.fold(first, |a, x| if x > a { x } else { a })),
        Fold::Min => values.next().map_or(0.0, |first| values.fold(first, |a, x| if x < a { x } else { a })),
        Fold::Length => values.count() as f64,
    }
}
