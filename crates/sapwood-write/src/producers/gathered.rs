//! What producers collect for a tree or an ntuple, and the writer that takes it.

use super::encoded_entries::{EncodedEntries, EntryLayout};
use crate::batch::{CheckedBatch, check_batch};
use crate::column::Input;
use crate::column_source::EntryValues;
use crate::ntuple::NtupleWriter;
use crate::ntuple::gathered::{Fields, GatheredFields};
use crate::tree::TreeWriter;
use sapwood_column::Array;
use sapwood_span::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// The tree or ntuple to which all entries go.
pub(super) enum EntryWriter {
    Tree(TreeWriter),
    Ntuple(NtupleWriter),
}

/// What producers need to know of it. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) enum Schema {
    Tree { inputs: Arc<Vec<Input>>, layouts: Arc<Vec<EntryLayout>> },
    Ntuple(Arc<Fields>),
}

/// A batch that was checked.
pub(super) enum Batch<'a> {
    Tree(CheckedBatch<'a>),
    Ntuple(Vec<&'a Array>, usize),
}

/// Collected entries.
#[derive(Debug)]
pub(super) enum Gathered {
    Tree(EncodedEntries),
    Ntuple(GatheredFields),
}

fn mixed() -> Error {
    Error::invalid("entries of a tree and of an ntuple cannot be joined")
}

impl EntryWriter {
    pub(super) fn schema(&self) -> Schema {
        match self {
            EntryWriter::Tree(tree) => {
                Schema::Tree { inputs: Arc::new(tree.input_list().to_vec()), layouts: Arc::new(tree.layouts()) }
            }
            EntryWriter::Ntuple(ntuple) => Schema::Ntuple(ntuple.fields().clone()),
        }
    }

    pub(super) fn entries(&self) -> u64 {
        match self {
            EntryWriter::Tree(tree) => tree.entries(),
            EntryWriter::Ntuple(ntuple) => ntuple.entries(),
        }
    }

    pub(super) fn extend_gathered(&mut self, gathered: &Gathered) -> Result<()> {
        match (self, gathered) {
            (EntryWriter::Tree(tree), Gathered::Tree(entries)) => tree.extend_gathered(entries),
            (EntryWriter::Ntuple(ntuple), Gathered::Ntuple(entries)) => ntuple.extend_gathered(entries),
            _ => Err(mixed()),
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self {
            EntryWriter::Tree(tree) => tree.finish(),
            EntryWriter::Ntuple(ntuple) => ntuple.finish(),
        }
    }
}

impl Schema {
    pub(super) fn check<'a>(&self, columns: &[(&str, &'a Array)]) -> Result<Batch<'a>> {
        match self {
            Schema::Tree { inputs, .. } => check_batch(inputs, columns).map(Batch::Tree),
            Schema::Ntuple(fields) => fields.check(columns).map(|(arrays, entries)| Batch::Ntuple(arrays, entries)),
        }
    }
}

impl Batch<'_> {
    pub(super) fn entries(&self) -> usize {
        match self {
            Batch::Tree(batch) => batch.entries,
            Batch::Ntuple(_, entries) => *entries,
        }
    }

    /// How many entries have about this many bytes.
    pub(super) fn step(&self, bytes: usize) -> usize {
        match self {
            Batch::Tree(batch) => batch.step(bytes),
            Batch::Ntuple(arrays, entries) => {
                let all: usize = arrays.iter().map(|array| array.nbytes()).sum();
                (*entries as f64 * bytes as f64 / all.max(1) as f64) as usize
            }
        }
    }
}

impl Gathered {
    pub(super) fn new(schema: &Schema) -> Self {
        match schema {
            Schema::Tree { layouts, .. } => Gathered::Tree(EncodedEntries::new(layouts)),
            Schema::Ntuple(fields) => Gathered::Ntuple(GatheredFields::new(fields)),
        }
    }

    pub(super) fn entries(&self) -> usize {
        match self {
            Gathered::Tree(entries) => entries.entries,
            Gathered::Ntuple(entries) => entries.entries,
        }
    }

    /// Adds entries of a batch.
    pub(super) fn append(&mut self, schema: &Schema, batch: &Batch<'_>, range: Range<usize>) -> Result<()> {
        match (self, schema, batch) {
            (Gathered::Tree(entries), Schema::Tree { inputs, layouts }, Batch::Tree(batch)) => {
                let mut pieces: Vec<Option<EntryValues<'_>>> = layouts.iter().map(|_| None).collect();
                let n = range.len();
                batch.distribute(inputs, range, &mut pieces)?;
                entries.append(&pieces, n)
            }
            (Gathered::Ntuple(entries), _, Batch::Ntuple(arrays, _)) => entries.append(arrays, range),
            _ => Err(mixed()),
        }
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Gathered::Tree(entries) => entries.bytes(),
            Gathered::Ntuple(entries) => entries.bytes(),
        }
    }

    /// Removes all entries; unusually large memory is freed.
    pub(super) fn clear(&mut self, usual: usize) {
        match self {
            Gathered::Tree(entries) => entries.clear(usual),
            Gathered::Ntuple(entries) => entries.clear(usual),
        }
    }
}
