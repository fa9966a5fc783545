//! Which values of an expression are known, where the columns that it reads lack some.
//!
//! What is computed from a missing value is not known, but `&&` and `||` are where the other side decides, and a choice is
//! where what is chosen is. Functions over instances (`Sum$`) leave missing ones out, and `Alt$` has its other value there.

use crate::ast::Op;
use crate::block::Pool;
use crate::eval::Evaluator;
use crate::known::{Known, both, is_known};
use crate::layout::{MISSING, Positions};
use crate::program::{Level, Node, NodeKind, Output, Step, TextNode};

/// Whether a node is always 0 or 1, so that `&` and `|` are the same for it as `&&` and `||`.
fn is_truth(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Binary(Op::BitAnd | Op::BitOr, a, b) => is_truth(a) && is_truth(b),
        NodeKind::Binary(op, ..) => op.is_logical(),
        NodeKind::Not(_) | NodeKind::TextEqual { .. } => true,
        NodeKind::Exact(inner) => is_truth(inner),
        _ => false,
    }
}

impl Evaluator<'_, '_> {
    /// Which values of an output are known.
    pub(crate) fn known_output(
        &self,
        (output, node): (&Output, &Node),
        space: usize,
        level: Level,
        pool: &mut Pool,
    ) -> Known {
        if !self.lacks_values() {
            return None;
        }
        match output {
            Output::Text(text) => self.known_text(text, space, level, pool),
            Output::Computed | Output::Plain(_) => self.known_node(node, space, level, pool),
        }
    }

    /// Which values of a node are known, for each row of `space`, or for each entry.
    pub(crate) fn known(&self, node: &Node, space: usize, level: Level, pool: &mut Pool) -> Known {
        if self.lacks_values() { self.known_node(node, space, level, pool) } else { None }
    }

    fn lacks_values(&self) -> bool {
        self.views.iter().any(|v| v.has.is_some())
    }

    /// One per entry to one per row.
    fn known_rows(&self, known: Known, space: usize) -> Known {
        let layout = &self.layouts[space];
        let known = known?;
        if layout.one_each {
            return Some(known);
        }
        let each = layout.starts.windows(2).zip(known);
        Some(each.flat_map(|(w, k)| std::iter::repeat_n(k, w[1] - w[0])).collect())
    }

    fn known_node(&self, node: &Node, space: usize, level: Level, pool: &mut Pool) -> Known {
        if level == Level::Row && node.level == Level::Entry {
            let known = self.known_node(node, space, Level::Entry, pool);
            return self.known_rows(known, space);
        }
        match &node.kind {
            NodeKind::Number(_)
            | NodeKind::Whole(_)
            | NodeKind::EntryNumber
            | NodeKind::LocalEntry
            | NodeKind::TotalEntries
            | NodeKind::Iteration
            | NodeKind::Random { .. }
            | NodeKind::RowCount
            // of nothing they are 0
            | NodeKind::Aggregate(_) => None,
            NodeKind::Access(access) => self.known_access(*access, space, level, pool),
            NodeKind::Size(column) => {
                let view = &self.views[*column];
                let has = view.has.filter(|_| view.levels.is_empty())?;
                Some(self.range.clone().map(|entry| has.get(entry).copied().unwrap_or(false)).collect())
            }
            NodeKind::Exact(a) | NodeKind::Negate(a) | NodeKind::Not(a) => self.known_node(a, space, level, pool),
            NodeKind::Binary(op, a, b) => {
                let known_a = self.known_node(a, space, level, pool);
                let known_b = self.known_node(b, space, level, pool);
                let decides = match op {
                    Op::Or => true,
                    Op::And => false,
                    Op::BitOr if is_truth(a) && is_truth(b) => true,
                    Op::BitAnd if is_truth(a) && is_truth(b) => false,
                    _ => return both(known_a, known_b),
                };
                if known_a.is_none() && known_b.is_none() {
                    return None;
                }
                let a = self.run(a, space, level, pool);
                let b = self.run(b, space, level, pool);
                let known = (0..self.count(space, level)).map(|i| {
                    let (has_a, has_b) = (is_known(&known_a, i), is_known(&known_b, i));
                    let decided = |has: bool, x: f64| has && (x != 0.0) == decides;
                    (has_a && has_b) || decided(has_a, a.at(i)) || decided(has_b, b.at(i))
                });
                let known = known.collect();
                a.recycle(pool);
                b.recycle(pool);
                Some(known)
            }
            NodeKind::Select(c, a, b) => {
                let known_c = self.known_node(c, space, level, pool);
                let known_a = self.known_node(a, space, level, pool);
                let known_b = self.known_node(b, space, level, pool);
                if known_a.is_none() && known_b.is_none() {
                    return known_c;
                }
                let c = self.run(c, space, level, pool);
                let known = (0..self.count(space, level)).map(|i| {
                    is_known(&known_c, i) && is_known(if c.at(i) != 0.0 { &known_a } else { &known_b }, i)
                });
                let known = known.collect();
                c.recycle(pool);
                Some(known)
            }
            NodeKind::Call(_, args) => {
                args.iter().fold(None, |known, a| both(known, self.known_node(a, space, level, pool)))
            }
            NodeKind::Alternative { space: inner, body, otherwise } => {
                let otherwise = self.known_node(otherwise, space, level, pool);
                otherwise.as_ref()?;
                let body = self.known_node(body, *inner, Level::Row, pool);
                let (inner, outer) = (&self.layouts[*inner], &self.layouts[space]);
                let mut known = Vec::new();
                for i in 0..self.range.len() {
                    let there = inner.starts[i]..inner.starts[i + 1];
                    let rows = if level == Level::Row { outer.starts[i]..outer.starts[i + 1] } else { i..i + 1 };
                    known.extend(rows.enumerate().map(|(instance, row)| {
                        (instance < there.len() && is_known(&body, there.start + instance))
                            || is_known(&otherwise, row)
                    }));
                }
                Some(known)
            }
            NodeKind::TextEqual { left, right, .. } | NodeKind::TextPair(_, left, right) => {
                let left = self.known_text(left, space, level, pool);
                both(left, self.known_text(right, space, level, pool))
            }
            NodeKind::TextSize(text) => self.known_text(text, space, level, pool),
        }
    }

    fn count(&self, space: usize, level: Level) -> usize {
        if level == Level::Row { self.layouts[space].rows() } else { self.range.len() }
    }

    fn known_text(&self, text: &TextNode, space: usize, level: Level, pool: &mut Pool) -> Known {
        let TextNode::Access(access) = text else { return None };
        self.known_access(*access, space, level, pool)
    }

    fn known_access(&self, access: usize, space: usize, level: Level, pool: &mut Pool) -> Known {
        let a = &self.program.spaces[space].accesses[access];
        let mut known = None;
        for step in &a.steps {
            if let Step::Computed(index) = step {
                known = both(known, self.known_node(index, space, a.level, pool));
            }
        }
        if let Some(has) = self.views[a.column].has {
            // a place that does not exist is another matter: its value is NaN
            let there = |p: usize| p == MISSING || has.get(p).copied().unwrap_or(false);
            let count = self.count(space, a.level);
            let here = match &self.layouts[space].positions[access] {
                Positions::Run(from) => (*from..from + count).map(there).collect(),
                Positions::Each(each) => each.iter().map(|&p| there(p)).collect(),
                Positions::Computed => self.computed_positions(a, space, pool).into_iter().map(there).collect(),
            };
            known = both(known, Some(here));
        }
        if level == Level::Row && a.level == Level::Entry { self.known_rows(known, space) } else { known }
    }
}
