//! Runs a program over a block of entries: every operation is one loop over a block of doubles.

use crate::ast::Op;
use crate::batch::Batch;
use crate::block::{Block, Pool, binary, call, fold, fresh, map, select};
use crate::known::{Known, both, is_known};
use crate::layout::{Layout, MISSING, Positions};
use crate::number::{to_i64, truth};
use crate::program::{Access, Aggregate, Fold, Level, Node, NodeKind, Program, Step, TextNode};
use crate::random::uniform;
use crate::view::{Leaf, View, ViewLevel};
use sapwood_column::with_values;
use std::ops::Range;

/// One block of entries being evaluated.
pub(crate) struct Evaluator<'e, 'a> {
    pub program: &'e Program,
    pub batch: &'e Batch<'a>,
    pub views: &'e [View<'a>],
    /// Entries of the batch in this block.
    pub range: Range<usize>,
    /// One per space.
    pub layouts: &'e [Layout],
}

impl Evaluator<'_, '_> {
    /// The values of `node` for each row of `space`, or for each entry.
    pub(crate) fn run(&self, node: &Node, space: usize, level: Level, pool: &mut Pool) -> Block {
        let layout = &self.layouts[space];
        if level == Level::Row && node.level == Level::Entry {
            let block = self.run(node, space, Level::Entry, pool);
            return expand(block, layout, pool);
        }
        match &node.kind {
            NodeKind::Number(x) => Block::Scalar(*x),
            NodeKind::Whole(x) => Block::Scalar(*x as f64),
            NodeKind::Exact(inner) => self.run_exact(inner, space, level, pool),
            NodeKind::EntryNumber => self.count_from(self.batch.first_entry, pool),
            NodeKind::LocalEntry => self.count_from(self.batch.first_local_entry, pool),
            NodeKind::TotalEntries => Block::Scalar(self.batch.total_entries as f64),
            NodeKind::RowCount => {
                let mut v = fresh(pool);
                v.extend(layout.starts.windows(2).map(|w| (w[1] - w[0]) as f64));
                Block::Column(v)
            }
            NodeKind::Iteration => {
                let mut v = fresh(pool);
                for w in layout.starts.windows(2) {
                    v.extend((0..w[1] - w[0]).map(|i| i as f64));
                }
                Block::Column(v)
            }
            NodeKind::Random { seed, place } => {
                let mut v = fresh(pool);
                for (w, entry) in layout.starts.windows(2).zip(self.range.clone()) {
                    let entry = self.batch.first_entry + self.batch.behind(entry);
                    v.extend((0..w[1] - w[0]).map(|row| uniform(*seed, *place, entry, row as u64)));
                }
                Block::Column(v)
            }
            NodeKind::Access(a) => Block::Column(self.load(*a, space, pool)),
            NodeKind::Size(column) => Block::Column(self.sizes(*column, pool)),
            NodeKind::Negate(a) => map(self.run(a, space, level, pool), |x| -x),
            NodeKind::Not(a) => map(self.run(a, space, level, pool), |x| truth(x == 0.0)),
            NodeKind::Binary(Op::Multiply, a, b) if is_same_access(a, b) => {
                // the branch is read once
                map(self.run(a, space, level, pool), |x| x * x)
            }
            NodeKind::Binary(op, a, b) => {
                let a = self.run(a, space, level, pool);
                let b = self.run(b, space, level, pool);
                binary(*op, a, b, pool)
            }
            NodeKind::Select(c, a, b) => {
                let c = self.run(c, space, level, pool);
                let a = self.run(a, space, level, pool);
                let b = self.run(b, space, level, pool);
                select(c, a, b, pool)
            }
            NodeKind::Call(function, args) => {
                let args: Vec<Block> = args.iter().map(|a| self.run(a, space, level, pool)).collect();
                call(function.kernel, args, pool)
            }
            NodeKind::Aggregate(a) => Block::Column(self.aggregate(a, pool)),
            NodeKind::Alternative { space: inner, body, otherwise } => {
                let known = self.known(body, *inner, Level::Row, pool);
                let body = self.run(body, *inner, Level::Row, pool);
                let otherwise = self.run(otherwise, space, level, pool);
                self.alternative((&body, &known), &self.layouts[*inner], otherwise, (level, layout), pool)
            }
            NodeKind::TextEqual { equal, left, right } => {
                let is_equal = |strings: Option<(&[u8], &[u8])>| strings.is_some_and(|(a, b)| a == b);
                self.texts(left, right, space, level, pool, |strings| truth(is_equal(strings) == *equal))
            }
            NodeKind::TextPair(pair, a, b) => {
                let answer = |(a, b): (&[u8], &[u8])| pair.answer(a, b);
                self.texts(a, b, space, level, pool, |strings| strings.map_or(pair.answer_of_none(), answer))
            }
            NodeKind::TextSize(text) => {
                let count = if level == Level::Row { self.layouts[space].rows() } else { self.range.len() };
                let strings = self.strings(text, space, level, pool);
                let mut out = fresh(pool);
                out.extend((0..count).map(|i| strings.at(i).map_or(f64::NAN, |s| s.len() as f64)));
                Block::Column(out)
            }
        }
    }

    fn count_from(&self, first: u64, pool: &mut Pool) -> Block {
        let mut v = fresh(pool);
        v.extend(self.range.clone().map(|i| (first + self.batch.behind(i)) as f64));
        Block::Column(v)
    }

    /// The values of an access: per entry or per row, as the access has it.
    #[allow(clippy::unnecessary_cast)] // One of the types is f64 itself.
    fn load(&self, access: usize, space: usize, pool: &mut Pool) -> Vec<f64> {
        let a = &self.program.spaces[space].accesses[access];
        let layout = &self.layouts[space];
        let Leaf::Numbers(values) = self.views[a.column].leaf else { return fresh(pool) };
        let mut out = fresh(pool);
        let computed;
        let positions = match &layout.positions[access] {
            Positions::Run(from) => {
                let count = if a.level == Level::Entry { self.range.len() } else { layout.rows() };
                with_values!(values, v => out.extend(v[*from..from + count].iter().map(|&x| x as f64)));
                return out;
            }
            Positions::Each(each) => each,
            Positions::Computed => {
                computed = self.computed_positions(a, space, pool);
                &computed
            }
        };
        with_values!(values, v => {
            out.extend(positions.iter().map(|&p| if p == MISSING { f64::NAN } else { v[p] as f64 }));
        });
        out
    }

    /// Follows an access whose indices have to be evaluated.
    pub(crate) fn computed_positions(&self, a: &Access, space: usize, pool: &mut Pool) -> Vec<usize> {
        let layout = &self.layouts[space];
        let indices: Vec<Option<Block>> = a
            .steps
            .iter()
            .map(|s| match s {
                Step::Computed(node) => Some(self.run(node, space, a.level, pool)),
                _ => None,
            })
            .collect();
        let view = &self.views[a.column];
        let walk = |row: usize, entry: usize| {
            let mut position = entry;
            for (i, (step, level)) in a.steps.iter().zip(&view.levels).enumerate() {
                let (from, count) = level.children(position);
                let item = match step {
                    Step::At(item) => Some(*item),
                    Step::Free(d) => layout.coordinates.get(*d).and_then(|c| c.get(row)).copied(),
                    Step::Computed(_) => indices[i].as_ref().and_then(|b| usize::try_from(to_i64(b.at(row))).ok()),
                };
                match item {
                    Some(item) if item < count => position = from + item,
                    _ => return MISSING,
                }
            }
            position
        };
        let mut out = Vec::with_capacity(layout.rows());
        for (i, entry) in self.range.clone().enumerate() {
            if a.level == Level::Entry {
                out.push(walk(i, entry));
            } else {
                out.extend((layout.starts[i]..layout.starts[i + 1]).map(|row| walk(row, entry)));
            }
        }
        for block in indices.into_iter().flatten() {
            block.recycle(pool);
        }
        out
    }

    fn sizes(&self, column: usize, pool: &mut Pool) -> Vec<f64> {
        let view = &self.views[column];
        let mut out = fresh(pool);
        match view.levels.first() {
            Some(level) => out.extend(self.range.clone().map(|e| level.children(e).1 as f64)),
            None => match view.leaf {
                Leaf::Text { offsets, .. } => {
                    let level = ViewLevel::Jagged(offsets);
                    out.extend(self.range.clone().map(|e| level.children(e).1 as f64));
                }
                Leaf::Numbers(_) | Leaf::Records => out.resize(self.range.len(), 1.0),
            },
        }
        out
    }

    fn aggregate(&self, a: &Aggregate, pool: &mut Pool) -> Vec<f64> {
        let layout = &self.layouts[a.space];
        let mut out = fresh(pool);
        if a.fold == Fold::Length {
            out.extend(layout.starts.windows(2).map(|w| (w[1] - w[0]) as f64));
            return out;
        }
        let known = self.known_of(a, pool);
        let body = self.run(&a.body, a.space, Level::Row, pool).spread(layout.rows(), pool);
        let condition =
            a.condition.as_ref().map(|c| self.run(c, a.space, Level::Row, pool).spread(layout.rows(), pool));
        for w in layout.starts.windows(2) {
            let rows = &body[w[0]..w[1]];
            out.push(match &condition {
                _ if known.is_some() => {
                    let passes = |row: &usize| condition.as_ref().is_none_or(|c| c[*row] != 0.0);
                    let kept = (w[0]..w[1]).filter(|row| is_known(&known, *row)).filter(passes);
                    fold(a.fold, kept.map(|row| body[row]))
                }
                None => fold(a.fold, rows.iter().copied()),
                Some(c) => {
                    let kept = rows.iter().zip(&c[w[0]..w[1]]).filter(|(_, c)| **c != 0.0);
                    fold(a.fold, kept.map(|(x, _)| *x))
                }
            });
        }
        pool.push(body);
        pool.extend(condition);
        out
    }

    /// Which rows of a function over instances have a value, and a condition.
    pub(crate) fn known_of(&self, a: &Aggregate, pool: &mut Pool) -> Known {
        let condition = a.condition.as_ref().and_then(|c| self.known(c, a.space, Level::Row, pool));
        both(self.known(&a.body, a.space, Level::Row, pool), condition)
    }

    fn alternative(
        &self,
        (body, known): (&Block, &Known),
        inner: &Layout,
        otherwise: Block,
        (level, outer): (Level, &Layout),
        pool: &mut Pool,
    ) -> Block {
        let mut out = fresh(pool);
        for i in 0..self.range.len() {
            let there = inner.starts[i]..inner.starts[i + 1];
            let rows = if level == Level::Row { outer.starts[i]..outer.starts[i + 1] } else { i..i + 1 };
            for (instance, row) in rows.enumerate() {
                let place = there.start + instance;
                let has = instance < there.len() && is_known(known, place);
                out.push(if has { body.at(place) } else { otherwise.at(row) });
            }
        }
        otherwise.recycle(pool);
        Block::Column(out)
    }

    /// Positions of the strings that a text node stands for, where it is not a literal.
    pub(crate) fn text_positions(&self, access: usize, space: usize, pool: &mut Pool) -> Vec<usize> {
        let a = &self.program.spaces[space].accesses[access];
        let layout = &self.layouts[space];
        match &layout.positions[access] {
            Positions::Run(from) => {
                let count = if a.level == Level::Entry { self.range.len() } else { layout.rows() };
                (*from..from + count).collect()
            }
            Positions::Each(each) => each.clone(),
            Positions::Computed => self.computed_positions(a, space, pool),
        }
    }

    /// What two strings have to do with each other; `None` where one of them does not exist.
    fn texts(
        &self,
        left: &TextNode,
        right: &TextNode,
        space: usize,
        level: Level,
        pool: &mut Pool,
        answer: impl Fn(Option<(&[u8], &[u8])>) -> f64,
    ) -> Block {
        let count = if level == Level::Row { self.layouts[space].rows() } else { self.range.len() };
        let left = self.strings(left, space, level, pool);
        let right = self.strings(right, space, level, pool);
        let mut out = fresh(pool);
        out.extend((0..count).map(|i| answer(left.at(i).zip(right.at(i)))));
        Block::Column(out)
    }

    /// The strings of a text node per entry or per row.
    pub(crate) fn strings<'s>(
        &'s self,
        node: &'s TextNode,
        space: usize,
        level: Level,
        pool: &mut Pool,
    ) -> Strings<'s> {
        let access = match node {
            TextNode::Literal(s) => return Strings::Literal(s),
            TextNode::Access(a) => *a,
        };
        let a = &self.program.spaces[space].accesses[access];
        let mut positions = self.text_positions(access, space, pool);
        let layout = &self.layouts[space];
        if level == Level::Row && a.level == Level::Entry && !layout.one_each {
            let each = layout.starts.windows(2).zip(&positions);
            positions = each.flat_map(|(w, p)| std::iter::repeat_n(*p, w[1] - w[0])).collect();
        }
        Strings::Each(&self.views[a.column], positions)
    }
}

/// Strings per entry or per row.
pub(crate) enum Strings<'s> {
    Literal(&'s [u8]),
    Each(&'s View<'s>, Vec<usize>),
}

impl Strings<'_> {
    /// The string at `i`, `None` where a computed index found nothing.
    pub(crate) fn at(&self, i: usize) -> Option<&[u8]> {
        match self {
            Strings::Literal(s) => Some(s),
            Strings::Each(view, positions) => match positions.get(i) {
                None | Some(&MISSING) => None,
                Some(&p) => Some(view.text(p)),
            },
        }
    }
}

fn is_same_access(a: &Node, b: &Node) -> bool {
    matches!((&a.kind, &b.kind), (NodeKind::Access(a), NodeKind::Access(b)) if a == b)
}

/// One value per entry to one per row.
fn expand(block: Block, layout: &Layout, pool: &mut Pool) -> Block {
    match block {
        Block::Column(v) if !layout.one_each => {
            let mut out = fresh(pool);
            for (w, x) in layout.starts.windows(2).zip(&v) {
                out.resize(out.len() + w[1] - w[0], *x);
            }
            pool.push(v);
            Block::Column(out)
        }
        same => same,
    }
}

/// The value of a node that never changes.
pub(crate) fn constant_value(node: &Node) -> f64 {
    let pool = &mut Pool::new();
    let value = |n: &Node| Block::Scalar(constant_value(n));
    let block = match &node.kind {
        NodeKind::Number(x) => return *x,
        NodeKind::Whole(x) => return *x as f64,
        NodeKind::Negate(a) => map(value(a), |x| -x),
        NodeKind::Not(a) => map(value(a), |x| truth(x == 0.0)),
        NodeKind::Binary(op, a, b) => binary(*op, value(a), value(b), pool),
        NodeKind::Select(c, a, b) => select(value(c), value(a), value(b), pool),
        NodeKind::Call(function, args) => call(function.kernel, args.iter().map(value).collect(), pool),
        _ => return f64::NAN,
    };
    block.at(0)
}
