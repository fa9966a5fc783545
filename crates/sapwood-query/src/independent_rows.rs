//! Rows of expressions whose instances are independent of each other: TTree::Scan's when the selection has no instances of
//! its own.
//!
//! Measured with ROOT 6.40: an entry has as many rows as its longest expression has instances, at least one; behind its
//! last instance an expression is blank; one without instances is repeated, and blank where an item it names
//! (`x[1]`) is missing; `Iteration$` and `Alt$` follow the rows. Where this differs: strings are repeated like numbers
//! (ROOT prints them in an entry's first row only).

use crate::block::{Block, Pool};
use crate::eval::{Evaluator, Strings};
use crate::known::is_known;
use crate::layout::{Layout, MISSING};
use crate::program::{Level, Node, Output};
use crate::rows::{Rows, copy_at, note_blanks, position_of};
use crate::view::Leaf;
use sapwood_column::{Array, Values};

/// One row: the entry inside the block, and the number of the row in its entry.
type Row = (usize, usize);

/// Which values of an expression belong to the rows of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowSource {
    /// It has instances of its own.
    Instances,
    /// Once per entry.
    Entry,
    /// As the rows themselves (`Iteration$`).
    Rows,
}

fn source(e: &Evaluator<'_, '_>, node: &Node, space: usize) -> RowSource {
    match node.level {
        _ if e.program.spaces[space].dims > 0 => RowSource::Instances,
        Level::Row => RowSource::Rows,
        Level::Constant | Level::Entry => RowSource::Entry,
    }
}

/// Adds the selected rows of a block; `spaces` are those of the outputs.
pub(crate) fn add(rows: &mut Rows, e: &Evaluator<'_, '_>, spaces: &[usize], pool: &mut Pool) {
    let outputs: Vec<(&Output, &Node, usize, RowSource)> =
        e.program.outputs.iter().zip(spaces).map(|((o, n), &s)| (o, n, s, source(e, n, s))).collect();
    let starts = common_starts(e, outputs.iter().filter(|o| o.3 == RowSource::Instances).map(|o| &e.layouts[o.2]));
    let common = Common::new(e, starts, outputs.iter().filter(|o| o.3 == RowSource::Rows).map(|o| o.2));
    let kept = common.select(e, rows, pool);
    if kept.is_empty() {
        return;
    }
    let shared = common.evaluator(e);
    let before = rows.entry.len();
    for &(i, inst) in &kept {
        rows.entry.push(e.batch.first_entry + e.batch.behind(e.range.start + i));
        rows.index.push(u32::try_from(inst).unwrap_or(u32::MAX));
    }
    for (k, (output, node, space, source)) in outputs.into_iter().enumerate() {
        let items = Items { layout: &e.layouts[space], starts: &common.starts, source };
        let known = match source {
            RowSource::Instances => e.known_output((output, node), space, Level::Row, pool),
            RowSource::Entry => e.known_output((output, node), space, Level::Entry, pool),
            RowSource::Rows => shared.known_output((output, node), space, Level::Row, pool),
        };
        let place = |&row: &Row| items.place(row).filter(|&p| is_known(&known, p));
        let places: Vec<Option<usize>> = kept.iter().map(place).collect();
        note_blanks(&mut rows.present[k], before, places.iter().map(Option::is_some));
        match (output, &mut rows.columns[k]) {
            (Output::Computed, Array::Flat(Values::F64(out))) => {
                let block = match source {
                    RowSource::Instances => e.run(node, space, Level::Row, pool),
                    RowSource::Entry => e.run(node, space, Level::Entry, pool),
                    RowSource::Rows => shared.run(node, space, Level::Row, pool),
                };
                out.extend(places.iter().map(|p| p.map_or(0.0, |p| block.at(p))));
                block.recycle(pool);
            }
            (Output::Plain(access), Array::Flat(out)) => {
                let view = &e.views[e.program.spaces[space].accesses[*access].column];
                let Leaf::Numbers(values) = view.leaf else { continue };
                let positions = &items.layout.positions[*access];
                copy_at(values, places.iter().map(|p| p.map_or(MISSING, |p| position_of(positions, p))), out);
            }
            (Output::Text(text), Array::Text { offsets, bytes }) => {
                let strings: Strings<'_> = match source {
                    RowSource::Instances => e.strings(text, space, Level::Row, pool),
                    RowSource::Entry => e.strings(text, space, Level::Entry, pool),
                    RowSource::Rows => shared.strings(text, space, Level::Row, pool),
                };
                for place in &places {
                    bytes.extend_from_slice(place.and_then(|p| strings.at(p)).unwrap_or_default());
                    offsets.push(bytes.len() as i64);
                }
            }
            _ => {}
        }
    }
}

/// Where the rows of each entry begin: as many as the longest expression has instances, at least one; none where an item
/// that the selection names is missing.
fn common_starts<'l>(e: &Evaluator<'_, '_>, own: impl Iterator<Item = &'l Layout>) -> Vec<usize> {
    let own: Vec<&Layout> = own.collect();
    let selection = &e.layouts[0];
    let mut starts = Vec::with_capacity(e.range.len() + 1);
    let mut rows = 0;
    starts.push(0);
    for i in 0..e.range.len() {
        if selection.starts[i + 1] > selection.starts[i] {
            rows += own.iter().map(|l| l.starts[i + 1] - l.starts[i]).max().unwrap_or(1).max(1);
        }
        starts.push(rows);
    }
    starts
}

/// The rows that all expressions share.
struct Common {
    starts: Vec<usize>,
    /// All layouts, those of the selection and of what follows the rows with these rows; empty where nothing does.
    layouts: Vec<Layout>,
}

impl Common {
    fn new(e: &Evaluator<'_, '_>, starts: Vec<usize>, following: impl Iterator<Item = usize>) -> Self {
        let mut spaces: Vec<usize> = following.collect();
        if e.program.cut.as_ref().is_some_and(|cut| cut.level == Level::Row) {
            spaces.push(0);
        }
        let mut layouts = Vec::new();
        if !spaces.is_empty() {
            layouts = e.layouts.to_vec();
            let one_each = starts.windows(2).all(|w| w[1] - w[0] == 1);
            for space in spaces {
                layouts[space].starts.clone_from(&starts);
                layouts[space].one_each = one_each;
            }
        }
        Self { starts, layouts }
    }

    /// The evaluator, with the rows that are shared.
    fn evaluator<'e, 'a>(&'e self, e: &Evaluator<'e, 'a>) -> Evaluator<'e, 'a> {
        let layouts = if self.layouts.is_empty() { e.layouts } else { &self.layouts };
        Evaluator { program: e.program, batch: e.batch, views: e.views, range: e.range.clone(), layouts }
    }

    /// The rows that pass the selection; appends its values to the weights.
    fn select(&self, e: &Evaluator<'_, '_>, rows: &mut Rows, pool: &mut Pool) -> Vec<Row> {
        let selection = match &e.program.cut {
            None => (Block::Scalar(1.0), None, Level::Constant),
            Some(cut) if cut.level == Level::Row => {
                let shared = self.evaluator(e);
                let known = shared.known(cut, 0, Level::Row, pool);
                (shared.run(cut, 0, Level::Row, pool), known, Level::Row)
            }
            Some(cut) => (e.run(cut, 0, Level::Entry, pool), e.known(cut, 0, Level::Entry, pool), Level::Entry),
        };
        let (values, known, level) = selection;
        let mut kept = Vec::new();
        for (i, w) in self.starts.windows(2).enumerate() {
            for row in w[0]..w[1] {
                let place = if level == Level::Row { row } else { i };
                let weight = values.at(place);
                if weight != 0.0 && is_known(&known, place) {
                    kept.push((i, row - w[0]));
                    rows.weights.push(weight);
                }
            }
        }
        values.recycle(pool);
        kept
    }
}

/// The items of one expression.
struct Items<'l> {
    layout: &'l Layout,
    starts: &'l [usize],
    source: RowSource,
}

impl Items<'_> {
    /// Which of the values belongs to a row: a number among its instances, its entries, or the shared rows.
    fn place(&self, (i, inst): Row) -> Option<usize> {
        let (from, to) = (self.layout.starts[i], self.layout.starts[i + 1]);
        match self.source {
            RowSource::Instances => (inst < to - from).then_some(from + inst),
            _ if from == to => None,
            RowSource::Entry => Some(i),
            RowSource::Rows => Some(self.starts[i] + inst),
        }
    }
}
