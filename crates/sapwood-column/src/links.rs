//! The objects behind links: which have been seen, and which are still to be read.

use sapwood_span::{Error, Result};
use std::collections::{HashMap, VecDeque};

/// The state of reading one entry.
#[derive(Default)]
pub(crate) struct Links {
    /// Table and place of the objects by their references.
    pub seen: HashMap<u64, (usize, i32)>,
    pub pending: VecDeque<Pending>,
    /// How many objects of each table have been numbered.
    counts: Vec<i32>,
}

/// Objects that are numbered and still to be read.
pub(crate) enum Pending {
    Object {
        table: usize,
        at: usize,
        end: usize,
    },
    /// Consecutive objects of a TClonesArray; `version` where they are written member by member.
    Clones {
        table: usize,
        at: usize,
        end: usize,
        n: usize,
        version: Option<i16>,
    },
}

impl Links {
    /// Numbers `n` more objects of a table; returns the number of the first.
    pub(crate) fn number(&mut self, table: usize, n: usize) -> Result<i32> {
        if self.counts.len() <= table {
            self.counts.resize(table + 1, 0);
        }
        let first = self.counts[table];
        let next = i32::try_from(n).ok().and_then(|n| first.checked_add(n));
        self.counts[table] = next.ok_or_else(|| Error::corrupt(format!("{n} objects")))?;
        Ok(first)
    }
}
