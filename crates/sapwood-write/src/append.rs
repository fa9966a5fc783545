//! Trees of a file that is updated: opened again to go on where they end.

use crate::basket::{GENERATES_OFFSETS, Offsets};
use crate::classes::Described;
use crate::column::{Column, Data};
use crate::core::{Core, Table, Written};
use crate::directory::DirectoryId;
use crate::existing::{is_record, object, subdirectory};
use crate::file::FileWriter;
use crate::key::Key;
use crate::layout::Cluster;
use crate::parse::named;
use crate::resumed::check_header;
use crate::schema::{BranchSpec, BranchType};
use crate::tree::{TreeOptions, TreeWriter};
use crate::tree_header;
use sapwood_column::{DType, interpret};
use sapwood_edit::own_compression;
use sapwood_edit::survey::Name;
use sapwood_edit::tree::{BranchFacts, read_facts};
use sapwood_format::Streamers;
use sapwood_format::tree::{Branch, Leaf, Tree, read_tree};
use sapwood_span::{Error, ErrorKind, Result};

impl FileWriter {
    /// Opens a tree of this file to append entries to it; the last cycle where none is named (`name;2`). Its branches
    /// are as they were; `options` says what is new: whether sizes are chosen when the tree has no clusters yet.
    ///
    /// # Errors
    /// `NotFound` when there is no such tree; `Unsupported`, with the reason, for trees that hold what this crate does
    /// not write.
    pub fn append_to(&mut self, path: &str, options: TreeOptions) -> Result<TreeWriter> {
        let shared = self.shared().clone();
        let mut core = shared.lock();
        core.check()?;
        let opened = (|| {
            let (directory, name, cycle) = find(&mut core, path)?;
            let within = core.directory(directory)?;
            let keys = within.keys.iter().filter(|k| k.name == name && cycle.is_none_or(|c| k.cycle == c));
            let key = keys.max_by_key(|k| k.cycle).cloned().ok_or_else(|| not_found(path))?;
            if !matches!(&*key.class, "TTree" | "TNtuple" | "TNtupleD") {
                return Err(Error::unsupported(format!("{path} is a {}, not a TTree", key.class)));
            }
            if core.writes_tree(directory, &name, Some(key.cycle)) {
                return Err(Error::invalid(format!("tree {name} is being written already")));
            }
            core.drain()?;
            // its place is free once the new header is written: a key that lies would free what is another's
            if !is_record(&mut core, key.span())? {
                return Err(Error::corrupt(format!("there is no record of {path} where its key says")).at(key.span()));
            }
            let (read_key, payload) = object(&mut core, key.span())?;
            let (base, streamers) = (read_key.key_len as usize, core.described.streamers());
            let tree = read_tree(&payload, base, &key.class, &streamers)?;
            let specs = tree.top.iter().map(|&b| spec(&core, &tree, b)).collect::<Result<Vec<_>>>()?;
            let old = Old { key, tree, directory, payload, base, streamers };
            TreeWriter::resume(&shared, &mut core, old, &specs, options)
        })();
        opened.map_err(|e| core.named(e))
    }

    /// Name, cycle and class of what a directory holds.
    ///
    /// # Errors
    /// `NotFound` when there is no such directory.
    pub fn keys(&mut self, path: &str) -> Result<Vec<(String, u16, String)>> {
        self.shared().lock().attempt(|core| {
            let at = existing_directory(core, path)?;
            Ok(core.directory(at)?.keys.iter().map(|k| (k.name.clone(), k.cycle, k.class.clone())).collect())
        })
    }
}

pub(crate) fn not_found(path: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("the file has no {path}"))
}

/// Directory, name and cycle of `a/b/name;2`.
pub(crate) fn find(core: &mut Core, path: &str) -> Result<(DirectoryId, String, Option<u16>)> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (name, cycle) = match name.split_once(';') {
        Some((name, cycle)) => (name, Some(cycle.parse().map_err(|_| not_found(path))?)),
        None => (name, None),
    };
    Ok((existing_directory(core, above)?, name.to_owned(), cycle))
}

fn existing_directory(core: &mut Core, path: &str) -> Result<DirectoryId> {
    let mut at = DirectoryId(0);
    for name in path.split('/').filter(|n| !n.is_empty()) {
        at = subdirectory(core, at, name)?.ok_or_else(|| not_found(path))?;
    }
    Ok(at)
}

/// A tree that is in the file.
pub(crate) struct Old {
    pub(crate) key: Key,
    pub(crate) tree: Tree,
    pub(crate) directory: DirectoryId,
    /// Its header, inflated, behind a label of `base` bytes.
    pub(crate) payload: Vec<u8>,
    pub(crate) base: usize,
    pub(crate) streamers: Streamers,
}

/// What a branch of the file is, in our words.
fn spec(core: &Core, tree: &Tree, b: usize) -> Result<BranchSpec> {
    let branch = tree.branches.get(b).ok_or_else(|| Error::corrupt(format!("no branch number {b}")))?;
    let within = |e: Error| e.in_branch(&branch.name);
    let ty = match (&branch.element, branch.leaves.as_slice()) {
        (Some(element), _) => {
            let ty = named(&element.class_name, &core.described, 0).map_err(within)?;
            BranchType::Object(ty)
        }
        (None, [leaf]) => {
            let leaf = tree.leaves.get(*leaf).ok_or_else(|| Error::corrupt("a leaf is missing"))?;
            let dtype =
                leaf_dtype(leaf).ok_or_else(|| within(Error::unsupported(format!("appending to a {}", leaf.class))))?;
            match (leaf.count.and_then(|c| tree.leaves.get(c)), leaf.len) {
                (Some(counter), 1) => {
                    let by = counter.branch.and_then(|b| tree.branches.get(b)).map_or(&counter.name, |b| &b.name);
                    BranchType::Jagged { dtype, counter: Some(by.clone()) }
                }
                (None, 1) if !leaf.title.contains('[') => BranchType::Scalar(dtype),
                (None, n) if n > 0 => BranchType::Fixed(dtype, n as usize),
                _ => return Err(within(Error::unsupported("appending to an array of several dimensions"))),
            }
        }
        _ => return Err(within(Error::unsupported("appending to a branch of several leaves"))),
    };
    let mut spec = BranchSpec::new(branch.name.clone(), ty).titled(branch.title.clone());
    if let (BranchType::Fixed(..), Some(leaf)) = (&spec.ty, branch.leaves.first().and_then(|&l| tree.leaves.get(l))) {
        spec.extents = extents(&leaf.title);
    }
    spec.split_level = match branch.children.is_empty() {
        true => 0,
        false => u8::try_from(branch.split_level.clamp(1, 99)).unwrap_or(99),
    };
    spec.compression = own_compression(branch.compression, branch.total_bytes, branch.zip_bytes);
    Ok(spec)
}

/// The extents in a leaf's title, as in `x[2][3]`.
fn extents(title: &str) -> Vec<usize> {
    title.split('[').skip(1).filter_map(|part| part.strip_suffix(']')?.parse().ok()).collect()
}

fn leaf_dtype(leaf: &Leaf) -> Option<DType> {
    let pick = |signed, unsigned| if leaf.is_unsigned { unsigned } else { signed };
    Some(match &*leaf.class {
        "TLeafO" => DType::Bool,
        "TLeafB" => pick(DType::I8, DType::U8),
        "TLeafS" => pick(DType::I16, DType::U16),
        "TLeafI" => pick(DType::I32, DType::U32),
        "TLeafL" => pick(DType::I64, DType::U64),
        "TLeafF" => DType::F32,
        "TLeafD" => DType::F64,
        _ => return None,
    })
}

/// A branch that is gone on with.
pub(crate) struct OldBranch {
    /// Its number in the header.
    pub(crate) number: usize,
    /// Its baskets.
    pub(crate) table: Table,
    /// How these tell where entries begin, which the header says for all of them.
    pub(crate) offsets: Offsets,
}

impl Old {
    /// The branches of the file in the order of the columns, checked to be laid out as they are.
    ///
    /// # Errors
    /// `Unsupported`, with the reason, when new baskets could not stand beside the old ones.
    pub(crate) fn branches(&self, columns: &[Column], described: &Described) -> Result<Vec<OldBranch>> {
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
            Ok(OldBranch {
                number,
                table: self.table(column, facts).map_err(|e| e.in_branch(&branch.name))?,
                offsets: offsets.map_err(|e| e.with_remedy("write a new tree").in_branch(&branch.name))?,
            })
        });
        old.collect()
    }

    /// Refuses branches whose values would be written otherwise than they are in the file.
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

    /// When the tree's clusters end: rule, where they are counted from, and the ranges before.
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

/// Whether a branch is what this column would be.
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

/// How new baskets have to tell where their entries begin, so that one header is right for them and the old ones.
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
