//! Rows of a table.

use super::{repeat, tree_of};
use crate::answer::Fault;
use crate::parameters::Parameters;
use crate::place::Place;
use crate::shared::Shared;
use sapwood::query::{Binding, Bound, Entries, Expr, Reader, bind_each};
use sapwood::text::cell;
use sapwood::{Array, Chain, ChainFile, EntryList, ScanOptions, StepSize, Tree};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Entries of one answer, at most.
const MOST: u64 = 1000;
/// Rows of one answer, at most: those of one entry are not divided, but those beyond are left out.
const MOST_ROWS: usize = 20_000;
/// Bytes of the cells of one answer, at most.
const MOST_BYTES: usize = 16 << 20;
/// Columns where none are named.
const COLUMNS: usize = 100;
/// Characters of a cell.
const WIDTH: usize = 2000;

pub(super) fn answer(
    shared: &Shared,
    parameters: &Parameters,
    place: &Place,
    cancel: &Arc<AtomicBool>,
) -> Result<Value, Fault> {
    let tree = tree_of(shared, place)?;
    let columns = parameters.text("columns").trim();
    let cut = Expr::selection(parameters.text("cut")).map_err(Fault::of("cut"))?;
    let first = parameters.whole("first").unwrap_or(0).min(tree.entries());
    let count = parameters.whole("count").unwrap_or(100).clamp(1, MOST);
    let mut table =
        Table { columns: Vec::new(), rows: Vec::new(), next: None, wanted: count as usize, bytes: 0, truncated: false };
    let exprs =
        if columns.is_empty() { Vec::new() } else { Expr::parse_columns(columns).map_err(Fault::of("expression"))? };
    if exprs.is_empty() {
        table.entries(&tree, cut.as_ref(), first, cancel)?;
    } else {
        table.instances(&tree, exprs.clone(), cut, first, cancel)?;
    }
    let stop = table.next.unwrap_or_else(|| tree.entries());
    let again = repeat::scan(&tree, columns, &exprs, parameters.text("cut"), first, stop);
    Ok(json!({
        "columns": table.columns,
        "rows": table.rows,
        "next": table.next,
        "truncated": table.truncated,
        "entries": tree.entries(),
        "command": again.command,
        "python": again.python,
    }))
}

/// The rows so far.
struct Table {
    columns: Vec<String>,
    rows: Vec<Value>,
    /// The entry behind the last one that was read, if there are more.
    next: Option<u64>,
    wanted: usize,
    /// Of the cells.
    bytes: usize,
    /// Whether rows of an entry are left out.
    truncated: bool,
}

impl Table {
    /// A row for each instance that passes the cut, as TTree::Scan prints them.
    fn instances(
        &mut self,
        tree: &Tree,
        exprs: Vec<Expr>,
        cut: Option<Expr>,
        first: u64,
        cancel: &Arc<AtomicBool>,
    ) -> Result<(), Fault> {
        Binding::scan(tree, &exprs, None).map_err(Fault::of("expression"))?;
        let binding = Binding::scan(tree, &exprs, cut.as_ref()).map_err(Fault::of("cut"))?;
        self.columns = binding.query.titles().to_vec();
        let chain = Chain::of(tree.clone());
        let total = Reader::total(&chain, tree, exprs.iter().chain(&cut))?;
        let reader = self.reader(chain, total, first, cancel, bind_each(exprs, cut, true));
        let mut last = None;
        for part in reader.read() {
            let part = part?;
            let columns = part.batch.columns.get(part.prepared.shown.len()..).unwrap_or_default();
            let rows = part
                .prepared
                .binding
                .with_batch(&part.batch, columns, 0, total, |b| part.prepared.binding.query.rows(b))?;
            for (i, (&entry, &instance)) in rows.entry.iter().zip(&rows.index).enumerate() {
                // the cut may take the first rows of an entry
                if last.replace(entry) != Some(entry) && self.is_full(entry) {
                    return Ok(());
                }
                let cells = rows
                    .columns
                    .iter()
                    .enumerate()
                    .map(|(n, column)| if rows.has(n, i) { text(column, i) } else { String::new() });
                if !self.push(entry, u64::from(instance), cells.collect()) {
                    self.next = Some(entry + 1).filter(|&next| next < tree.entries());
                    return Ok(());
                }
            }
            if self.is_enough(part.batch.entries.end, tree) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A row for each entry of which an instance passes the cut, lists and records whole.
    fn entries(&mut self, tree: &Tree, cut: Option<&Expr>, first: u64, cancel: &Arc<AtomicBool>) -> Result<(), Fault> {
        let branches = &tree.header().branches;
        let is_leaf =
            |i: &usize| branches.get(*i).is_some_and(|b| b.children.is_empty()) && tree.column_type(*i).is_ok();
        let shown: Vec<usize> = tree.order().iter().copied().filter(is_leaf).take(COLUMNS).collect();
        self.columns = shown.iter().map(|&i| tree.name_of(i)).collect();
        Binding::new(tree, &[], cut).map_err(Fault::of("cut"))?;
        let chain = Chain::of(tree.clone());
        let total = Reader::total(&chain, tree, cut.into_iter())?;
        let each = bind_each(Vec::new(), cut.cloned(), false);
        let own = shown.clone();
        let bind = move |link: &ChainFile| Ok(Bound { shown: own.clone(), ..each(link)? });
        let reader = self.reader(chain, total, first, cancel, Arc::new(bind));
        for part in reader.read() {
            let part = part?;
            let (batch, binding) = (&part.batch, &part.prepared.binding);
            let came = batch.selected.clone().unwrap_or_else(|| EntryList::from(batch.entries.clone()));
            let mut passed = match cut {
                None => Vec::new(),
                Some(_) => {
                    let columns = batch.columns.get(shown.len()..).unwrap_or_default();
                    binding.with_batch(batch, columns, 0, total, |b| binding.query.rows(b))?.entry
                }
            };
            passed.dedup();
            let mut passed = passed.into_iter().peekable();
            for (i, entry) in came.iter().enumerate() {
                if cut.is_some() && passed.next_if_eq(&entry).is_none() {
                    continue;
                }
                if self.is_full(entry) {
                    return Ok(());
                }
                let cells: Vec<String> = batch.columns.iter().take(shown.len()).map(|column| text(column, i)).collect();
                self.push(entry, 0, cells);
            }
            if self.is_enough(batch.entries.end, tree) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads from an entry on, a part at a time: it ends where the rows are enough.
    fn reader(
        &self,
        chain: Chain,
        total: u64,
        first: u64,
        cancel: &Arc<AtomicBool>,
        bind: sapwood::query::Bind,
    ) -> Reader {
        let mut options = ScanOptions::default().cancel(cancel.clone());
        options.step = StepSize::Entries((self.wanted as u64).max(100));
        Reader { chain, entries: Entries::Range(first..u64::MAX), total, options, bind }
    }

    /// Takes a row; false where there is no room, and those of its entry are left out from here on.
    fn push(&mut self, entry: u64, instance: u64, cells: Vec<String>) -> bool {
        if !self.rows.is_empty() && (self.rows.len() >= MOST_ROWS || self.bytes >= MOST_BYTES) {
            self.truncated = true;
            return false;
        }
        self.bytes += cells.iter().map(String::len).sum::<usize>();
        self.rows.push(json!({ "entry": entry, "instance": instance, "cells": cells }));
        true
    }

    fn has_enough(&self) -> bool {
        self.rows.len() >= self.wanted || self.bytes >= MOST_BYTES
    }

    /// Whether this entry is for the next answer.
    fn is_full(&mut self, entry: u64) -> bool {
        let full = self.has_enough();
        if full {
            self.next = Some(entry);
        }
        full
    }

    /// Whether rows are enough behind a batch that ends there.
    fn is_enough(&mut self, end: u64, tree: &Tree) -> bool {
        let enough = self.has_enough() && end < tree.entries();
        if enough {
            self.next = Some(end);
        }
        enough
    }
}

fn text(column: &Array, i: usize) -> String {
    let mut out = String::new();
    cell::plain(&mut out, column, i);
    if out.len() > WIDTH {
        out.truncate(out.floor_char_boundary(WIDTH));
        out.push('…');
    }
    out
}
