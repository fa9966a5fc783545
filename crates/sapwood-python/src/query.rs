//! Rows of expressions: `Tree.query`.

use crate::column::Buffer;
use crate::draw::{GivenAliases, Part, aliases};
use crate::entry_list::{Chosen, chosen};
use crate::error::{Missing, exception};
use crate::meter::Meter;
use crate::text::{Text, texts};
use crate::wait::wait;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sapwood::query::{Binding, Cell, Entries, Expr, Leaves, Reader, Rows, bind_each};
use sapwood::raw_text::text_of;
use sapwood::{ChainBatch, Error, ErrorKind, Result, ScanOptions, Values};
use std::sync::atomic::Ordering;

/// Titles of the columns, rows, and for each row the numbers of its entry and instance.
pub(crate) type Queried<'py> = (Vec<Text>, Vec<Bound<'py, PyTuple>>, Buffer, Buffer);

/// A value of a row.
#[derive(IntoPyObject)]
enum Item {
    Bool(bool),
    Int(i64),
    UInt(u64),
    Real(f64),
    Text(Text),
}

impl From<Cell<'_>> for Item {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Bool(x) => Self::Bool(x),
            Cell::Int(x) => Self::Int(x),
            Cell::UInt(x) => Self::UInt(x),
            Cell::F32(x) => Self::Real(f64::from(x)),
            Cell::F64(x) => Self::Real(x),
            Cell::Text(bytes) => Self::Text(text_of(bytes).into()),
        }
    }
}

/// The rows of expressions (`*` for all leaves) that pass a cut, as TTree::Query has them. `start..stop`, or what is
/// selected, are counted through the chain.
pub(crate) fn query<'py>(
    py: Python<'py>,
    part: &Part,
    (expressions, cut, given): (&str, &str, &GivenAliases),
    (start, stop, selected): (u64, u64, Option<Chosen<'_>>),
    mut options: ScanOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Queried<'py>> {
    let fail = |e: Error| exception(py, &e, Missing::Key);
    let exprs = match expressions.trim() {
        "*" => None,
        list => Some(Expr::parse_list(list).map_err(fail)?),
    };
    let names = aliases(given).map_err(fail)?;
    let exprs = exprs.map(|exprs| exprs.into_iter().map(|e| e.with_aliases(&names)).collect());
    let cut = Expr::selection(cut).map_err(fail)?.map(|e| e.with_aliases(&names));
    let (entries, _) = chosen(start, stop, selected)?;
    let meter = Meter::attach(&mut options, progress);
    let cancel = options.cancel.clone();
    let part = part.clone();
    let read = wait(py, |py| meter.tell(py), move || rows(&part, exprs, cut, entries, options));
    if read.is_err() {
        cancel.store(true, Ordering::Relaxed);
    }
    let (titles, rows) = read?.map_err(fail)?;
    meter.tell(py)?;
    let mut out = Vec::with_capacity(rows.len());
    for i in 0..rows.len() {
        let items: Vec<Option<Item>> =
            (0..rows.columns.len()).map(|column| rows.cell(column, i).map(Item::from)).collect();
        out.push(PyTuple::new(py, items)?);
    }
    let index = rows.index.iter().map(|n| i64::from(*n)).collect();
    let entry = rows.entry.iter().map(|n| *n as i64).collect();
    let numbers = |v: Vec<i64>| Buffer::new(Values::I64(v));
    Ok((texts(titles), out, numbers(entry), numbers(index)))
}

fn rows(
    part: &Part,
    exprs: Option<Vec<Expr>>,
    cut: Option<Expr>,
    entries: Entries,
    options: ScanOptions,
) -> Result<(Vec<String>, Rows)> {
    let (exprs, titles) = match exprs {
        Some(exprs) => (exprs, None),
        None => {
            let leaves = Leaves::of(&part.chain.first()?.1, usize::MAX)?;
            (leaves.expressions, Some(leaves.titles))
        }
    };
    let (chain, first, total) = part.opened(exprs.iter().chain(&cut))?;
    let binding = Binding::scan(&first, &exprs, cut.as_ref())?;
    let titles = titles.unwrap_or_else(|| binding.query.titles().to_vec());
    let cancel = options.cancel.clone();
    let mut all: Option<Rows> = None;
    for part in (Reader { chain, entries, total, options, bind: bind_each(exprs, cut, true) }).read() {
        let ChainBatch { link, prepared, batch } = part?;
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "reading was interrupted"));
        }
        let bound = &prepared.binding;
        let rows = bound
            .with_batch(&batch, &batch.columns, link.first_entry, total, |b| bound.query.rows(b))
            .map_err(|e| e.in_file(link.tree.file().url()))?;
        match &mut all {
            Some(all) => all.append(&rows).map_err(|e| e.in_file(link.tree.file().url()))?,
            None => all = Some(rows),
        }
    }
    let none =
        || Rows { columns: Vec::new(), present: Vec::new(), weights: Vec::new(), entry: Vec::new(), index: Vec::new() };
    Ok((titles, all.unwrap_or_else(none)))
}
