//! What an evaluation is given.

use sapwood_column::Array;
use sapwood_engine::Instances;

/// Entries of a tree as columns.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// Number of the first entry in the tree, or in the chain: `Entry$`.
    pub first_entry: u64,
    /// Number of the first entry in its file: `LocalEntry$`.
    pub first_local_entry: u64,
    /// Entries of the whole tree or chain: `Entries$`.
    pub total_entries: u64,
    /// Entries in this batch.
    pub entries: usize,
    /// The distance of each from the first one, if they do not follow each other.
    pub apart: Option<&'a [u64]>,
    /// Of some of them, by their number in the chain, the instances that are chosen: all rows if there are none.
    pub instances: Option<&'a Instances>,
    /// One column per name, in the order of [`Query::names`](crate::Query::names).
    pub columns: Vec<&'a Array>,
    /// For each column, which entries have a value in it, where not all do: the others have no instance of it. Shorter
    /// than `columns`: the columns behind its end have all.
    pub present: Vec<Option<&'a [bool]>>,
    /// What each row counts in a histogram beside its selection: the weight of the tree.
    pub weight: f64,
}

impl<'a> Batch<'a> {
    /// The same of which only these instances are chosen.
    #[must_use]
    pub fn through<'b>(&self, instances: Option<&'b Instances>) -> Batch<'b>
    where
        'a: 'b,
    {
        Batch { instances, ..self.clone() }
    }

    /// The distance of an entry of the batch from `first_entry`.
    pub(crate) fn behind(&self, entry: usize) -> u64 {
        self.apart.map_or(entry as u64, |apart| apart.get(entry).copied().unwrap_or_default())
    }
}
