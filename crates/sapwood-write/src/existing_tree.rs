//! A tree that is already in the file: its branches, and whether new baskets can be combined with its own.

use crate::basket::{GENERATES_OFFSETS, Offsets};
use crate::classes::Described;
use crate::column::{Column, Data};
use crate::core::{Table, Written};
use crate::directory::DirectoryId;
use crate::key::Key;
use crate::layout::Cluster;
use crate::tree_header;
use sapwood_column::interpret;
use sapwood_edit::survey::{Name, Survey};
use sapwood_edit::tree::{BranchFacts, TreeFacts, read_facts};
use sapwood_format::Streamers;
use sapwood_format::tree::{Branch, Tree, read_tree};
use sapwood_span::{Error, Result};

/// A tree in the file.
pub(crate) struct Old {
    pub(crate) key: Key,
    pub(crate) tree: Tree,
    pub(crate) directory: DirectoryId,
    /// Its decompressed header, for a label of `base` bytes.
    pub(crate) payload: Vec<u8>,
    pub(crate) base: usize,
    pub(crate) streamers: Streamers,
}

/// A branch to be continued.
pub(crate) struct ExistingBranch {
    /// Its number in the header.
    pub(crate) number: usize,
    /// Its baskets.
    pub(crate) table: Table,
    /// How these store where entries begin, which the header states for all of them.
    pub(crate) offsets: Offsets,
}

impl Old {
    /// The branches of the file in the order of the columns, checked to have the same layout.
    ///
    /// # Errors
    /// `Unsupported`, with the reason, when new baskets cannot be combined with the old ones.
    pub(crate) fn branches(&self, columns: &[Column], described: &Described) -> Result<Vec<ExistingBranch>> {
        let (facts, survey) = read_facts(&self.payload, self.base, &self.key.class, &self.streamers)?;
        check_header(&facts, &survey)?;
        let order = self.tree.in_order();
        let names = order.iter().filter_map(|&b| self.tree.branches.get(b));
        let other = names.enumerate().find(|(i, b)| columns.get(*i).is_none_or(|c| !is_same(c, b)));
        if let Some((_, branch)) = other {
            return Err(Error::unsupported("its sub-branches have a layout that sapwood does not write")
                .with_remedy("write a new tree")
                .in_branch(&branch.name));
        }
        if columns.len() != order.len() {
            return Err(Error::unsupported("its branches have a layout that sapwood does not write")
                .with_remedy("write a new tree"));
        }
        self.check_layouts(columns, &order, described)?;
        let old = columns.iter().zip(&order).map(|(column, &number)| {
            let (Some(branch), Some(facts)) = (self.tree.branches.get(number), facts.branches.get(number)) else {
                return Err(Error::corrupt(format!("no branch number {number}")));
            };
            let features = survey.field(facts.node, Name::IoFeatures).and_then(|f| survey.data.get(f.at.end - 1));
            let offsets = offsets(column, branch, facts, features.copied().unwrap_or(0));
            Ok(ExistingBranch {
                number,
                table: self.table(column, facts).map_err(|e| e.in_branch(&branch.name))?,
                offsets: offsets.map_err(|e| e.with_remedy("write a new tree").in_branch(&branch.name))?,
            })
        });
        old.collect()
    }

    /// Refuses branches whose values would be written differently from those in the file.
    fn check_layouts(&self, columns: &[Column], order: &[usize], described: &Described) -> Result<()> {
        let mut known = described.clone();
        for class in
            ["TTree", "TBranch", "TBranchElement"].into_iter().chain(columns.iter().filter_map(Column::leaf_class))
        {
            known.add_own(class);
        }
        let streamers = known.streamers();
        let payload = tree_header::layout_of(columns)?;
        let own = read_tree(&payload, 0, "TTree", &streamers)?;
        for ((column, own_number), &number) in columns.iter().zip(own.in_order()).zip(order) {
            if column.data == Data::None {
                continue;
            }
            let read = interpret(&self.tree, number, &self.streamers)?;
            if interpret(&own, own_number, &streamers)? != read {
                return Err(Error::unsupported("its values are stored in a form that sapwood does not write")
                    .with_remedy("write a new tree")
                    .in_branch(&column.name));
            }
        }
        Ok(())
    }

    /// The baskets of a branch.
    fn table(&self, column: &Column, facts: &BranchFacts) -> Result<Table> {
        let entries = if facts.filled { facts.entry_number } else { 0 };
        if column.data != Data::None && entries != self.tree.entries {
            let whole = self.tree.entries;
            return Err(Error::unsupported(format!("it has {entries} entries where the tree has {whole}")));
        }
        let written = facts.baskets.iter().map(|b| Written { span: b.span, first_entry: b.first });
        Ok(Table {
            entries,
            total_bytes: u64::try_from(facts.total_bytes).unwrap_or(0),
            zip_bytes: u64::try_from(facts.zip_bytes).unwrap_or(0),
            baskets: written.collect(),
        })
    }

    /// When the tree's clusters end: rule, where they are counted from, and the earlier ranges.
    pub(crate) fn clusters(&self) -> (Cluster, u64, Vec<(u64, u64)>) {
        let entries = self.tree.entries;
        let mut ranges = self.tree.cluster_ranges.clone();
        let begun = ranges.last().map_or(0, |(last, _)| last + 1).min(entries);
        let rule = match self.tree.auto_flush {
            n if n > 0 => Cluster::Entries(n as u64),
            n if n < 0 => Cluster::Bytes(n.unsigned_abs()),
            _ => return (Cluster::Never, 0, ranges),
        };
        // baskets end where the tree ended, in the middle of a cluster or not
        let size = match rule {
            Cluster::Entries(n) => n,
            _ => entries.saturating_sub(begun),
        };
        let whole = matches!(rule, Cluster::Entries(_)) && (entries - begun).is_multiple_of(size.max(1));
        if entries > begun && !whole {
            ranges.push((entries - 1, size));
        }
        let origin = ranges.last().map_or(0, |(last, _)| last + 1);
        (rule, origin, ranges)
    }
}

/// Refuses headers with content that would be lost, or wrong with more entries.
fn check_header(facts: &TreeFacts, s: &Survey) -> Result<()> {
    let has_index =
        s.child(0, Name::TreeIndex).is_some() || s.field(0, Name::IndexValues).is_some_and(|f| f.at.len() > 4);
    if has_index {
        return Err(Error::unsupported("it has an index, which would lack the new entries").with_remedy(
            "remove the index first (SetTreeIndex(nullptr) and Write in ROOT), and rebuild it afterwards",
        ));
    }
    if s.child(0, Name::BranchRef).is_some() {
        return Err(Error::unsupported("it has a table of references, which would lack the new entries")
            .with_remedy("write a new tree"));
    }
    if let Some((_, class)) = s.unknown.first() {
        return Err(Error::unsupported(format!("its header contains {class}, which cannot be moved"))
            .with_remedy("write a new tree"));
    }
    match facts.branches.iter().find(|b| !b.embedded.is_empty()) {
        Some(b) => Err(Error::unsupported("its baskets are in the tree's header")
            .with_remedy("copy the file with sapwood optimize first")
            .in_branch(b.schema.path.clone())),
        None => Ok(()),
    }
}

/// Whether a branch has the properties of this column.
fn is_same(column: &Column, branch: &Branch) -> bool {
    let same = match (&column.element, &branch.element) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            (&a.class, a.id, a.kind, a.streamer_type) == (&b.class_name, b.id, b.kind, b.streamer_type)
        }
        _ => false,
    };
    same && column.name == branch.name
}

/// How new baskets must store where their entries begin, so that one header is right for them and the old ones.
fn offsets(column: &Column, branch: &Branch, facts: &BranchFacts, features: u8) -> Result<Offsets> {
    let counted = column.leaf.as_ref().is_some_and(|l| l.count.is_some() && l.len_type > 0);
    match (column.data, branch.entry_offset_len > 0, features) {
        (Data::None, ..) | (Data::Fixed(_), false, _) => Ok(Offsets::None),
        (Data::Offsets, false, _) if facts.filled => Err(Error::unsupported("its baskets have no offsets")),
        (.., 0) => Ok(Offsets::Table),
        (.., GENERATES_OFFSETS) if counted => Ok(Offsets::LeftOut),
        (.., GENERATES_OFFSETS) => Ok(Offsets::Lengths),
        _ => Err(Error::unsupported(format!("its baskets have unknown features ({features})"))),
    }
}
