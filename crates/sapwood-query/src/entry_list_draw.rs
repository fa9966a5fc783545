//! Lists of the entries that pass a cut: `>>list` in TTree::Draw.

use crate::{Batch, Bind, Expr, Query};
use sapwood_engine::{ChainFile, Counted, EntryList, EntryListObject, Instances, ListKind, ListPart};
use sapwood_span::{Error, Result};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Collects the entries that pass a cut, file by file.
pub struct EntryListDraw {
    kind: ListKind,
    /// All trees that were looked into, by the numbers of their files: one in which no entry passed has a part, too.
    trees: Arc<Mutex<BTreeMap<usize, Counted>>>,
    found: BTreeMap<usize, Found>,
    rows: u64,
}

#[derive(Default)]
struct Found {
    /// Runs in the tree.
    entries: Vec<Range<u64>>,
    instances: Instances,
}

impl EntryListDraw {
    /// Nothing yet.
    pub fn new(kind: ListKind) -> Self {
        Self { kind, trees: Arc::default(), found: BTreeMap::new(), rows: 0 }
    }

    /// The same binding, which notes the trees that are looked into.
    pub fn watch(&self, bind: Bind) -> Bind {
        let trees = self.trees.clone();
        Arc::new(move |link| {
            let bound = bind(link)?;
            let counted = Counted::new(&link.tree, link.first_entry);
            trees.lock().unwrap_or_else(PoisonError::into_inner).insert(link.file, counted);
            Ok(bound)
        })
    }

    /// Adds the entries of a batch that pass.
    ///
    /// # Errors
    /// As [`Query::rows`].
    pub fn fill(&mut self, link: &ChainFile, query: &Query, batch: &Batch<'_>) -> Result<()> {
        let rows = query.rows(batch)?;
        self.rows += rows.len() as u64;
        let found = self.found.entry(link.file).or_default();
        for (entry, index) in rows.entry.iter().zip(&rows.index) {
            let entry = entry - link.first_entry;
            match found.entries.last_mut() {
                Some(run) if entry < run.end => {}
                Some(run) if entry == run.end => run.end += 1,
                _ => found.entries.push(entry..entry + 1),
            }
            if query.has_instances() && self.kind == ListKind::TEntryListArray {
                found.instances.push(entry, &[*index]);
            }
        }
        Ok(())
    }

    /// The list. `name` is what is written behind `>>`, and `cut` the selection.
    pub fn finish(mut self, name: &str, cut: Option<&Expr>) -> DrawnList {
        let trees = std::mem::take(&mut *self.trees.lock().unwrap_or_else(PoisonError::into_inner));
        let mut parts = Vec::with_capacity(trees.len());
        let mut through = Vec::new();
        for (number, counted) in trees {
            let Found { entries, instances } = self.found.remove(&number).unwrap_or_default();
            let first = counted.entries.start;
            through.extend(entries.iter().map(|run| first + run.start..first + run.end));
            if self.kind != ListKind::TEventList {
                let entries = EntryList::from_ranges(entries);
                parts.push(ListPart { file: counted.stored_file(), tree: counted.tree, entries, instances });
            }
        }
        let through = EntryList::from_ranges(through);
        if self.kind == ListKind::TEventList {
            parts.push(ListPart { entries: through.clone(), ..ListPart::default() });
        }
        DrawnList {
            name: name.to_owned(),
            title: cut.map_or(String::new(), |cut| cut.text().to_owned()),
            kind: self.kind,
            list: EntryListObject::new(parts),
            through,
            rows: self.rows,
        }
    }
}

/// The entries that passed a cut.
#[derive(Clone, Debug)]
pub struct DrawnList {
    /// The name behind `>>`.
    pub name: String,
    /// The selections that made it, as ROOT titles its lists.
    pub title: String,
    /// The class that ROOT keeps it in.
    pub kind: ListKind,
    /// The entries; in one part without a tree where they are counted through all files.
    pub list: EntryListObject,
    /// The same counted through all files.
    pub through: EntryList,
    /// Rows that passed, several for an entry if the selection has instances: what TTree::Draw returns.
    pub rows: u64,
}

impl DrawnList {
    /// What `>>+name` makes: this list, and the entries of another.
    ///
    /// # Errors
    /// `Invalid` where one is a TEventList and the other is not: only one of them tells trees apart.
    pub fn add(&self, more: Self) -> Result<Self> {
        if (self.kind == ListKind::TEventList) != (more.kind == ListKind::TEventList) {
            let (old, new) = (self.kind.class(), more.kind.class());
            return Err(Error::invalid(format!(">>+{}: the list is a {old}, not a {new}", self.name))
                .with_remedy("use the same option, entrylist or none, or another name"));
        }
        let title = match (self.title.as_str(), more.title.as_str()) {
            ("", only) | (only, "") => only.to_owned(),
            (old, new) => format!("({old})||({new})"),
        };
        let list = self.list.union(&more.list);
        let list = if self.kind == ListKind::TEntryListArray { list } else { list.whole() };
        let both = self.through.runs().iter().chain(more.through.runs());
        let through = EntryList::from_ranges(both.cloned().collect());
        Ok(Self { title, list, through, kind: self.kind, ..more })
    }
}
