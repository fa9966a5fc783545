//! Whole numbers beyond 2^53, which doubles cannot tell apart: 64-bit branches are compared, masked, added and counted
//! exactly, unlike in ROOT, where every value is a double.
//!
//! After binding, [`mark`] computes the bounds of each whole number. Operations on numbers that doubles hold
//! stay with doubles; the others are wrapped ([`NodeKind::Exact`]) and computed with 128 bits.

use crate::ast::Op;
use crate::block::{Block, Pool};
use crate::eval::Evaluator;
use crate::kernel::Function;
use crate::known::is_known;
use crate::layout::{MISSING, Positions};
use crate::number::{to_i64, to_u64};
use crate::program::{Fold, Level, Node, NodeKind, Program, Space, Step};
use crate::shape::{Kind, Shape};
use crate::view::Leaf;
use sapwood_column::{DType, Values};

/// Doubles hold every whole number up to this one.
const DOUBLE: i128 = 1 << 53;
/// Bounds beyond which nothing is computed exactly: sums and products of these still fit.
const LARGEST: i128 = 1 << 120;
/// Items that are added up in one entry, at most.
const MOST_ITEMS: i128 = 1 << 31;
/// In place of what is not a number: a missing item, a remainder of a division by zero.
const NONE: i128 = i128::MIN;

/// Smallest and largest value of a whole number.
type Bounds = (i128, i128);

/// Wraps what has to be computed exactly.
pub(crate) fn mark(program: &mut Program) {
    let columns = std::mem::take(&mut program.columns);
    let mut spaces = std::mem::take(&mut program.spaces);
    // indices are nodes of their own
    let plain = spaces.clone();
    for (i, space) in spaces.iter_mut().enumerate() {
        let m = Marker { columns: &columns, spaces: &plain };
        for step in space.accesses.iter_mut().flat_map(|a| &mut a.steps) {
            if let Step::Computed(node) = step {
                m.node(node, i);
            }
        }
    }
    let m = Marker { columns: &columns, spaces: &spaces };
    for (k, (_, node)) in program.outputs.iter_mut().enumerate() {
        m.node(node, program.apart.as_ref().and_then(|apart| apart.get(k).copied()).unwrap_or(0));
    }
    if let Some(cut) = &mut program.cut {
        m.node(cut, 0);
    }
    (program.columns, program.spaces) = (columns, spaces);
}

struct Marker<'a> {
    columns: &'a [(String, Shape)],
    spaces: &'a [Space],
}

impl Marker<'_> {
    /// Marks a node and those below it; the bounds of its value where it is whole.
    fn node(&self, node: &mut Node, space: usize) -> Option<Bounds> {
        let mut wide = false;
        let mut operand = |node: &mut Node, space: usize| {
            let bounds = self.node(node, space);
            wide |= bounds.is_some_and(is_wide);
            bounds
        };
        let bounds = match &mut node.kind {
            NodeKind::Number(x) => return whole_double(*x),
            NodeKind::Whole(x) => return Some((*x, *x)),
            NodeKind::EntryNumber
            | NodeKind::LocalEntry
            | NodeKind::TotalEntries
            | NodeKind::RowCount
            | NodeKind::Iteration
            | NodeKind::Size(_) => return Some((0, DOUBLE)),
            NodeKind::Access(access) => {
                let column = self.spaces.get(space)?.accesses.get(*access)?.column;
                return bounds_of(self.columns.get(column)?.1.kind);
            }
            NodeKind::TextEqual { .. } => return Some((0, 1)),
            NodeKind::TextPair(pair, ..) => return Some(pair.bounds()),
            NodeKind::TextSize(..) => return Some((0, i128::from(u32::MAX))),
            NodeKind::Exact(_) | NodeKind::Random { .. } => return None,
            NodeKind::Alternative { space: inner, body, otherwise } => {
                operand(body, *inner);
                operand(otherwise, space);
                return None;
            }
            // 0 or not is the same for doubles
            NodeKind::Not(a) => {
                operand(a, space);
                return Some((0, 1));
            }
            NodeKind::Binary(Op::And | Op::Or, a, b) => {
                operand(a, space);
                operand(b, space);
                return Some((0, 1));
            }
            NodeKind::Negate(a) => operand(a, space).map(|(low, high)| (-high, -low)),
            NodeKind::Binary(op, a, b) => {
                let (a, b) = (operand(a, space), operand(b, space));
                if op.is_comparison() && (a.is_none() || b.is_none()) {
                    // of doubles, but the answer is a whole number
                    return Some((0, 1));
                }
                binary_bounds(*op, a, b)
            }
            NodeKind::Select(c, a, b) => {
                self.node(c, space);
                let (a, b) = (operand(a, space), operand(b, space));
                a.zip(b).map(|(a, b)| union(a, b))
            }
            NodeKind::Call(function, args) => {
                let args: Vec<Option<Bounds>> = args.iter_mut().map(|a| operand(a, space)).collect();
                let args: Option<Vec<Bounds>> = args.into_iter().collect();
                args.and_then(|args| call_bounds(function, &args))
            }
            NodeKind::Aggregate(a) => {
                if let Some(condition) = &mut a.condition {
                    self.node(condition, a.space);
                }
                let body = operand(&mut a.body, a.space);
                match a.fold {
                    Fold::Length => return Some((0, DOUBLE)),
                    Fold::Max | Fold::Min => body.map(|b| union(b, (0, 0))),
                    // narrow numbers add up exactly in doubles, unless there are millions of them in one entry
                    Fold::Sum if body.is_some_and(|b| !is_wide(b)) => return Some((-DOUBLE, DOUBLE)),
                    Fold::Sum => body.and_then(|(low, high)| {
                        within((low.min(0).checked_mul(MOST_ITEMS)?, high.max(0).checked_mul(MOST_ITEMS)?))
                    }),
                }
            }
        }?;
        if wide || is_wide(bounds) {
            let level = node.level;
            let inner = std::mem::replace(node, Node { kind: NodeKind::Number(0.0), level, integer: false });
            let integer = inner.integer;
            *node = Node { kind: NodeKind::Exact(Box::new(inner)), level, integer };
        }
        Some(bounds)
    }
}

fn is_wide((low, high): Bounds) -> bool {
    low < -DOUBLE || high > DOUBLE
}

fn within(bounds: Bounds) -> Option<Bounds> {
    (bounds.0 >= -LARGEST && bounds.1 <= LARGEST).then_some(bounds)
}

fn union(a: Bounds, b: Bounds) -> Bounds {
    (a.0.min(b.0), a.1.max(b.1))
}

fn whole_double(x: f64) -> Option<Bounds> {
    (x.fract() == 0.0 && x.abs() <= DOUBLE as f64).then_some((x as i128, x as i128))
}

fn bounds_of(kind: Kind) -> Option<Bounds> {
    let Kind::Number(dtype) = kind else { return None };
    Some(match dtype {
        DType::Bool => (0, u8::MAX.into()),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        DType::I64 => (i64::MIN.into(), i64::MAX.into()),
        DType::U64 => (0, u64::MAX.into()),
        DType::F32 | DType::F64 => return None,
    })
}

fn binary_bounds(op: Op, a: Option<Bounds>, b: Option<Bounds>) -> Option<Bounds> {
    const ANY: Bounds = (0, u64::MAX as i128);
    // C makes whole numbers of what bits are taken from
    let whole = |x: Option<Bounds>| x.unwrap_or((i64::MIN.into(), u64::MAX.into()));
    let some_wide = a.is_some_and(is_wide) || b.is_some_and(is_wide);
    if matches!(op, Op::BitAnd | Op::BitOr | Op::ShiftLeft | Op::ShiftRight | Op::Remainder)
        && (a.is_none() || b.is_none())
        && !some_wide
    {
        return None;
    }
    match op {
        Op::BitAnd => {
            let (a, b) = (whole(a), whole(b));
            Some(match (a.0 >= 0, b.0 >= 0) {
                (true, true) => (0, a.1.min(b.1)),
                (true, false) => (0, a.1),
                (false, true) => (0, b.1),
                (false, false) => ANY,
            })
        }
        Op::BitOr => {
            let (a, b) = (whole(a), whole(b));
            let bits = 128 - a.1.max(b.1).max(0).leading_zeros();
            Some(if a.0 >= 0 && b.0 >= 0 && bits < 64 { (0, (1 << bits) - 1) } else { ANY })
        }
        Op::ShiftLeft => Some(ANY),
        Op::ShiftRight => Some(if whole(a).0 >= 0 { (0, whole(a).1) } else { ANY }),
        Op::Remainder => {
            let (a, b) = (whole(a), whole(b));
            let most = a.0.abs().max(a.1.abs()).min(b.0.abs().max(b.1.abs()));
            Some((if a.0 < 0 { -most } else { 0 }, most))
        }
        _ if op.is_comparison() => a.and(b).map(|_| (0, 1)),
        Op::Add => a.zip(b).and_then(|(a, b)| within((a.0 + b.0, a.1 + b.1))),
        Op::Subtract => a.zip(b).and_then(|(a, b)| within((a.0 - b.1, a.1 - b.0))),
        Op::Multiply => a.zip(b).and_then(|(a, b)| {
            let products = [a.0.checked_mul(b.0)?, a.0.checked_mul(b.1)?, a.1.checked_mul(b.0)?, a.1.checked_mul(b.1)?];
            within((products.into_iter().min()?, products.into_iter().max()?))
        }),
        Op::Power => match (a?, b?) {
            // of constants only
            ((a, same_a), (b, same_b)) if a == same_a && b == same_b => {
                let power = a.checked_pow(u32::try_from(b).ok()?)?;
                within((power, power))
            }
            _ => None,
        },
        _ => None,
    }
}

/// What a function does with whole numbers.
#[derive(Clone, Copy, PartialEq)]
enum WholeFunction {
    Least,
    Greatest,
    Absolute,
    Same,
    Odd,
    Even,
}

fn whole_function(function: &Function) -> Option<WholeFunction> {
    Some(match function.name.strip_prefix("TMath::").unwrap_or(function.name) {
        "min" | "Min" | "fmin" => WholeFunction::Least,
        "max" | "Max" | "fmax" => WholeFunction::Greatest,
        "abs" | "fabs" | "Abs" => WholeFunction::Absolute,
        "int" | "floor" | "ceil" | "round" | "trunc" | "rint" | "Floor" | "Ceil" | "Nint" => WholeFunction::Same,
        "Odd" => WholeFunction::Odd,
        "Even" => WholeFunction::Even,
        _ => return None,
    })
}

fn call_bounds(function: &Function, args: &[Bounds]) -> Option<Bounds> {
    Some(match (whole_function(function)?, args) {
        (WholeFunction::Least, [a, b]) => (a.0.min(b.0), a.1.min(b.1)),
        (WholeFunction::Greatest, [a, b]) => (a.0.max(b.0), a.1.max(b.1)),
        (WholeFunction::Absolute, [a]) => (0, a.0.abs().max(a.1.abs())),
        (WholeFunction::Same, [a]) => *a,
        (WholeFunction::Odd | WholeFunction::Even, [_]) => (0, 1),
        _ => return None,
    })
}

/// Whole numbers: one for all, or one per entry or row.
enum Integers {
    Scalar(i128),
    Column(Vec<i128>),
}

impl Integers {
    fn at(&self, i: usize) -> i128 {
        match self {
            Self::Scalar(x) => *x,
            Self::Column(v) => v.get(i).copied().unwrap_or(NONE),
        }
    }

    fn map(self, f: impl Fn(i128) -> i128) -> Self {
        let f = |x: i128| if x == NONE { NONE } else { f(x) };
        match self {
            Self::Scalar(x) => Self::Scalar(f(x)),
            Self::Column(mut v) => {
                v.iter_mut().for_each(|x| *x = f(*x));
                Self::Column(v)
            }
        }
    }

    /// What is computed from something that is not a number is none.
    fn zip(self, other: Self, f: impl Fn(i128, i128) -> i128) -> Self {
        self.pair(other, |x, y| if x == NONE || y == NONE { NONE } else { f(x, y) })
    }

    fn pair(self, other: Self, f: impl Fn(i128, i128) -> i128) -> Self {
        match (self, other) {
            (Self::Scalar(x), Self::Scalar(y)) => Self::Scalar(f(x, y)),
            (Self::Column(mut v), other) => {
                v.iter_mut().enumerate().for_each(|(i, x)| *x = f(*x, other.at(i)));
                Self::Column(v)
            }
            (Self::Scalar(x), Self::Column(mut w)) => {
                w.iter_mut().for_each(|y| *y = f(x, *y));
                Self::Column(w)
            }
        }
    }
}

fn double(x: i128) -> f64 {
    if x == NONE { f64::NAN } else { x as f64 }
}

/// What C makes of a double where it takes bits.
fn from_double(x: f64) -> i128 {
    if x.is_nan() {
        NONE
    } else if x >= 9_223_372_036_854_775_808.0 {
        to_u64(x).into()
    } else {
        to_i64(x).into()
    }
}

/// As with doubles, nothing is equal to what is not a number, nor less or greater.
fn compared(x: i128, y: i128, is: bool) -> i128 {
    (is && x != NONE && y != NONE).into()
}

fn binary(op: Op, a: Integers, b: Integers) -> Integers {
    let shifted = |x: i128, by: i128, left: bool| {
        let by = u32::try_from(by).unwrap_or(u32::MAX);
        let shifted = if left { (x as u64).checked_shl(by) } else { (x as u64).checked_shr(by) };
        i128::from(shifted.unwrap_or(0))
    };
    let bits = |x: i128| if x == NONE { i64::MIN as u64 } else { x as u64 };
    match op {
        Op::Less => a.pair(b, |x, y| compared(x, y, x < y)),
        Op::LessEqual => a.pair(b, |x, y| compared(x, y, x <= y)),
        Op::Greater => a.pair(b, |x, y| compared(x, y, x > y)),
        Op::GreaterEqual => a.pair(b, |x, y| compared(x, y, x >= y)),
        Op::Equal => a.pair(b, |x, y| compared(x, y, x == y)),
        Op::NotEqual => a.pair(b, |x, y| 1 - compared(x, y, x == y)),
        Op::Add => a.zip(b, i128::wrapping_add),
        Op::Subtract => a.zip(b, i128::wrapping_sub),
        Op::Multiply => a.zip(b, i128::wrapping_mul),
        Op::Remainder => a.zip(b, |x, y| x.checked_rem(y).unwrap_or(NONE)),
        Op::BitAnd => a.pair(b, |x, y| (bits(x) & bits(y)).into()),
        Op::BitOr => a.pair(b, |x, y| (bits(x) | bits(y)).into()),
        Op::ShiftLeft => a.zip(b, |x, y| shifted(x, y, true)),
        Op::ShiftRight => a.zip(b, |x, y| shifted(x, y, false)),
        Op::Power => a.zip(b, |x, y| u32::try_from(y).ok().and_then(|y| x.checked_pow(y)).unwrap_or(NONE)),
        Op::And | Op::Or | Op::Divide => Integers::Scalar(NONE),
    }
}

impl Evaluator<'_, '_> {
    /// The values of a node that was wrapped, as doubles.
    pub(crate) fn run_exact(&self, node: &Node, space: usize, level: Level, pool: &mut Pool) -> Block {
        match self.exactly(node, space, level, pool) {
            Integers::Scalar(x) => Block::Scalar(double(x)),
            Integers::Column(v) => {
                let mut out = crate::block::fresh(pool);
                out.extend(v.into_iter().map(double));
                Block::Column(out)
            }
        }
    }

    fn wholes(&self, node: &Node, space: usize, level: Level, pool: &mut Pool) -> Integers {
        let layout = &self.layouts[space];
        if level == Level::Row && node.level == Level::Entry {
            return match self.wholes(node, space, Level::Entry, pool) {
                Integers::Column(v) if !layout.one_each => {
                    let each = layout.starts.windows(2).zip(&v);
                    Integers::Column(each.flat_map(|(w, x)| std::iter::repeat_n(*x, w[1] - w[0])).collect())
                }
                same => same,
            };
        }
        match &node.kind {
            NodeKind::Exact(inner) => self.exactly(inner, space, level, pool),
            NodeKind::Whole(x) => Integers::Scalar(*x),
            NodeKind::Access(access) => self.load_wholes(*access, space, pool),
            // doubles hold it, or it has a fraction on the way to what bits are taken from
            _ => self.from_doubles(node, space, level, pool),
        }
    }

    /// What a wrapped node computes, whose operands are whole or become whole.
    fn exactly(&self, node: &Node, space: usize, level: Level, pool: &mut Pool) -> Integers {
        match &node.kind {
            NodeKind::Negate(a) => self.wholes(a, space, level, pool).map(|x| -x),
            NodeKind::Binary(op, a, b) if !matches!(op, Op::And | Op::Or | Op::Divide) => {
                let a = self.wholes(a, space, level, pool);
                binary(*op, a, self.wholes(b, space, level, pool))
            }
            NodeKind::Select(c, a, b) => {
                let c = self.run(c, space, level, pool);
                let (a, b) = (self.wholes(a, space, level, pool), self.wholes(b, space, level, pool));
                match c {
                    Block::Scalar(c) => {
                        if c != 0.0 {
                            a
                        } else {
                            b
                        }
                    }
                    Block::Column(c) => {
                        let chosen = c.iter().enumerate().map(|(i, c)| if *c != 0.0 { a.at(i) } else { b.at(i) });
                        Integers::Column(chosen.collect())
                    }
                }
            }
            NodeKind::Call(function, args) => match (whole_function(function), args.as_slice()) {
                (Some(WholeFunction::Least), [a, b]) => {
                    let a = self.wholes(a, space, level, pool);
                    a.zip(self.wholes(b, space, level, pool), i128::min)
                }
                (Some(WholeFunction::Greatest), [a, b]) => {
                    let a = self.wholes(a, space, level, pool);
                    a.zip(self.wholes(b, space, level, pool), i128::max)
                }
                (Some(f), [a]) => self.wholes(a, space, level, pool).map(|x| match f {
                    WholeFunction::Absolute => x.abs(),
                    WholeFunction::Odd => x & 1,
                    WholeFunction::Even => 1 - (x & 1),
                    _ => x,
                }),
                _ => self.from_doubles(node, space, level, pool),
            },
            NodeKind::Aggregate(a) if a.fold != Fold::Length => {
                let layout = &self.layouts[a.space];
                let body = self.wholes(&a.body, a.space, Level::Row, pool);
                let condition = a.condition.as_ref().map(|c| self.run(c, a.space, Level::Row, pool));
                let known = self.known_of(a, pool);
                let passes = |row: usize| condition.as_ref().is_none_or(|c| c.at(row) != 0.0) && is_known(&known, row);
                let folded = layout.starts.windows(2).map(|w| {
                    let kept = (w[0]..w[1]).filter(|&row| passes(row));
                    let mut values = kept.map(|row| body.at(row));
                    // as with doubles, nothing is less or greater than what is not a number
                    let either = |a: i128, x: i128, is_x: bool| if is_x && a != NONE && x != NONE { x } else { a };
                    match a.fold {
                        Fold::Max => values.reduce(|a, x| either(a, x, x > a)).unwrap_or(0),
                        Fold::Min => values.reduce(|a, x| either(a, x, x < a)).unwrap_or(0),
                        _ => values
                            .try_fold(0i128, |sum, x| if x == NONE { None } else { sum.checked_add(x) })
                            .unwrap_or(NONE),
                    }
                });
                Integers::Column(folded.collect())
            }
            _ => self.from_doubles(node, space, level, pool),
        }
    }

    /// A node whose values doubles hold.
    #[allow(clippy::wrong_self_convention)] // it converts what is computed, not the evaluator
    fn from_doubles(&self, node: &Node, space: usize, level: Level, pool: &mut Pool) -> Integers {
        match self.run(node, space, level, pool) {
            Block::Scalar(x) => Integers::Scalar(from_double(x)),
            Block::Column(v) => {
                let wholes = v.iter().map(|x| from_double(*x)).collect();
                pool.push(v);
                Integers::Column(wholes)
            }
        }
    }

    fn load_wholes(&self, access: usize, space: usize, pool: &mut Pool) -> Integers {
        let a = &self.program.spaces[space].accesses[access];
        let layout = &self.layouts[space];
        let Leaf::Numbers(values) = self.views[a.column].leaf else { return Integers::Column(Vec::new()) };
        let computed;
        let (run, positions): (Option<usize>, &[usize]) = match &layout.positions[access] {
            Positions::Run(from) => (Some(*from), &[]),
            Positions::Each(each) => (None, each),
            Positions::Computed => {
                computed = self.computed_positions(a, space, pool);
                (None, &computed)
            }
        };
        let count = if a.level == Level::Entry { self.range.len() } else { layout.rows() };
        macro_rules! taken {
            ($v:ident, $whole:expr) => {
                match run {
                    Some(from) => $v[from..from + count].iter().map(|&x| $whole(x)).collect(),
                    None => positions.iter().map(|&p| if p == MISSING { NONE } else { $whole($v[p]) }).collect(),
                }
            };
        }
        Integers::Column(match values {
            Values::Bool(v) | Values::U8(v) => taken!(v, i128::from),
            Values::I8(v) => taken!(v, i128::from),
            Values::I16(v) => taken!(v, i128::from),
            Values::U16(v) => taken!(v, i128::from),
            Values::I32(v) => taken!(v, i128::from),
            Values::U32(v) => taken!(v, i128::from),
            Values::I64(v) => taken!(v, i128::from),
            Values::U64(v) => taken!(v, i128::from),
            Values::F32(v) => taken!(v, |x: f32| from_double(x.into())),
            Values::F64(v) => taken!(v, from_double),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_follow_operations() {
        let (u64s, i64s) = (bounds_of(Kind::Number(DType::U64)), bounds_of(Kind::Number(DType::I64)));
        let i32s = bounds_of(Kind::Number(DType::I32));
        assert_eq!(binary_bounds(Op::BitAnd, u64s, Some((1, 1))), Some((0, 1)));
        assert_eq!(binary_bounds(Op::BitAnd, i32s, Some((4, 4))), Some((0, 4)));
        assert_eq!(binary_bounds(Op::BitOr, Some((0, 5)), Some((0, 8))), Some((0, 15)));
        assert_eq!(binary_bounds(Op::Equal, u64s, None), None);
        assert_eq!(binary_bounds(Op::Power, Some((2, 2)), Some((53, 53))), Some((1 << 53, 1 << 53)));
        assert_eq!(binary_bounds(Op::Power, Some((2, 2)), Some((200, 200))), None);
        assert_eq!(binary_bounds(Op::Subtract, u64s, i64s).map(is_wide), Some(true));
        assert_eq!(binary_bounds(Op::BitAnd, i32s, None), None);
        assert!(binary_bounds(Op::BitAnd, u64s, None).is_some());
        let most = Some((-LARGEST, LARGEST));
        assert_eq!(binary_bounds(Op::Multiply, most, most), None);
        assert_eq!(binary_bounds(Op::Add, most, most), None);
    }
}
