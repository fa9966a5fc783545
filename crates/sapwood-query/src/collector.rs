//! Collects the rows that pass a selection.

use crate::block::Pool;
use crate::eval::Evaluator;
use crate::known::is_known;
use crate::program::{Level, Output, Program};
use crate::rows::{Rows, copy_at, note_blanks, position_of};
use crate::shape::Kind;
use crate::view::Leaf;
use sapwood_column::{Array, Values};

/// Which rows of a block passed the selection.
pub(crate) enum Passed {
    All,
    /// The selection's value per row: those that are not 0 passed.
    Some(Vec<f64>),
}

impl Passed {
    pub(crate) fn contains(&self, row: usize) -> bool {
        match self {
            Passed::All => true,
            Passed::Some(cut) => cut[row] != 0.0,
        }
    }
}

/// Gathers the rows of one block after another.
pub(crate) struct Collector {
    rows: Rows,
}

impl Collector {
    pub(crate) fn new(program: &Program) -> Self {
        let columns = (0..program.outputs.len()).map(|k| empty_column(program, k)).collect();
        let present = vec![None; program.outputs.len()];
        Self { rows: Rows { columns, present, weights: Vec::new(), entry: Vec::new(), index: Vec::new() } }
    }

    pub(crate) fn add(&mut self, e: &Evaluator<'_, '_>, passed: &Passed, weights: &[f64], pool: &mut Pool) {
        let layout = &e.layouts[0];
        let kept: Vec<usize> = (0..layout.rows()).filter(|&r| passed.contains(r)).collect();
        self.rows.weights.extend_from_slice(weights);
        for (i, w) in layout.starts.windows(2).enumerate() {
            for row in (w[0]..w[1]).filter(|&r| passed.contains(r)) {
                self.rows.entry.push(e.batch.first_entry + e.batch.behind(e.range.start + i));
                self.rows.index.push(u32::try_from(row - w[0]).unwrap_or(u32::MAX));
            }
        }
        let before = self.rows.entry.len() - kept.len();
        for (k, ((output, node), column)) in e.program.outputs.iter().zip(&mut self.rows.columns).enumerate() {
            let known = e.known_output((output, node), 0, Level::Row, pool);
            if known.is_some() || self.rows.present[k].is_some() {
                note_blanks(&mut self.rows.present[k], before, kept.iter().map(|&r| is_known(&known, r)));
            }
            match (output, column) {
                (Output::Computed, Array::Flat(Values::F64(out))) => {
                    let block = e.run(node, 0, Level::Row, pool);
                    out.extend(kept.iter().map(|&r| block.at(r)));
                    block.recycle(pool);
                }
                (Output::Plain(access), Array::Flat(out)) => plain(e, *access, &kept, out),
                (Output::Text(node), Array::Text { offsets, bytes }) => {
                    let strings = e.strings(node, 0, Level::Row, pool);
                    for &r in &kept {
                        bytes.extend_from_slice(strings.at(r).unwrap_or_default());
                        offsets.push(bytes.len() as i64);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds a block whose expressions run apart.
    pub(crate) fn add_apart(&mut self, e: &Evaluator<'_, '_>, spaces: &[usize], pool: &mut Pool) {
        crate::independent_rows::add(&mut self.rows, e, spaces, pool);
    }

    pub(crate) fn finish(self) -> Rows {
        self.rows
    }
}

fn empty_column(program: &Program, k: usize) -> Array {
    let space = program.apart.as_ref().map_or(0, |spaces| spaces[k]);
    match &program.outputs[k].0 {
        Output::Text(_) => Array::Text { offsets: vec![0], bytes: Vec::new() },
        Output::Computed => Array::Flat(Values::F64(Vec::new())),
        Output::Plain(access) => {
            let column = program.spaces[space].accesses[*access].column;
            match program.columns[column].1.kind {
                Kind::Number(dtype) => Array::Flat(Values::with_capacity(dtype, 0)),
                Kind::Text | Kind::Record => Array::Text { offsets: vec![0], bytes: Vec::new() },
            }
        }
    }
}

/// The values of a plain branch, in its own type.
fn plain(e: &Evaluator<'_, '_>, access: usize, kept: &[usize], out: &mut Values) {
    let a = &e.program.spaces[0].accesses[access];
    let Leaf::Numbers(values) = e.views[a.column].leaf else { return };
    let layout = &e.layouts[0];
    // The entry of each row, where the branch changes only with the entry.
    let entry_of: Option<Vec<usize>> = (a.level == Level::Entry).then(|| {
        let rows = layout.starts.windows(2).enumerate();
        rows.flat_map(|(i, w)| std::iter::repeat_n(i, w[1] - w[0])).collect()
    });
    let position = |row: usize| {
        let i = entry_of.as_ref().map_or(row, |e| e[row]);
        position_of(&layout.positions[access], i)
    };
    copy_at(values, kept.iter().map(|&r| position(r)), out);
}
