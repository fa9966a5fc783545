//! Trees of a file that is updated: opened again to go on where they end.

use crate::branch_compression::own_compression;
use crate::column::Column;
use crate::core::{Core, Table, Written};
use crate::directory::DirectoryId;
use crate::existing::{is_record, object, subdirectory};
use crate::file::FileWriter;
use crate::layout::Cluster;
use crate::parse::named;
use crate::schema::{BranchSpec, BranchType};
use crate::tree::{TreeOptions, TreeWriter};
use sapwood_column::DType;
use sapwood_format::tree::{Branch, Leaf, Tree, read_tree};
use sapwood_span::{Error, ErrorKind, Result, Span};

/// What a tree's header may hold that would be lost, by the name of its class.
const KEPT_NOWHERE: [(&str, &str); 5] = [
    ("TFriendElement", "friends"),
    ("TTreeIndex", "an index"),
    ("TChainIndex", "an index"),
    ("TBranchRef", "references"),
    ("TRefTable", "references"),
];

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
            if key.class != "TTree" {
                return Err(Error::unsupported(format!("{path} is a {}, not a TTree", key.class)));
            }
            if core.open_trees.iter().any(|(d, t)| *d == directory && *t == name) {
                return Err(Error::invalid(format!("tree {name} is being written already")));
            }
            core.drain()?;
            // its place is free once the new header is written: a key that lies would free what is another's
            if !is_record(&mut core, key.span()) {
                return Err(Error::corrupt(format!("no record of {path} lies where its key says")).at(key.span()));
            }
            let (read_key, payload) = object(&mut core, key.span())?;
            for (class, what) in KEPT_NOWHERE {
                if payload.windows(class.len() + 1).any(|w| w.strip_suffix(&[0]) == Some(class.as_bytes())) {
                    return Err(Error::unsupported(format!("tree {name} has {what}, which would be lost"))
                        .with_remedy("write a new tree"));
                }
            }
            let tree = read_tree(&payload, read_key.key_len as usize, "TTree", &core.described.streamers())?;
            let specs = tree.top.iter().map(|&b| spec(&core, &tree, b)).collect::<Result<Vec<_>>>()?;
            let old = Old { key, tree, directory };
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
    pub(crate) key: crate::key::Key,
    pub(crate) tree: Tree,
    pub(crate) directory: DirectoryId,
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
                (Some(counter), 1) => BranchType::Jagged { dtype, counter: Some(counter.name.clone()) },
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

impl Old {
    /// The branches of the file in the order of the columns, checked to be laid out as they are.
    pub(crate) fn branches(&self, columns: &[Column]) -> Result<Vec<&Branch>> {
        let order = self.tree.in_order();
        let branches: Vec<&Branch> = order.iter().filter_map(|&b| self.tree.branches.get(b)).collect();
        for (i, branch) in branches.iter().enumerate() {
            let same = columns.get(i).is_some_and(|c| {
                c.name == branch.name
                    && match (&c.element, &branch.element) {
                        (None, None) => true,
                        (Some(a), Some(b)) => {
                            (&a.class, a.id, a.streamer_type) == (&b.class_name, b.id, b.streamer_type)
                        }
                        _ => false,
                    }
            });
            if !same || columns.len() != branches.len() {
                return Err(Error::unsupported("its sub-branches are not laid out as sapwood lays them out")
                    .with_remedy("write a new tree")
                    .in_branch(&branch.name));
            }
            if !branch.embedded.is_empty() || !branch.file_name.is_empty() {
                return Err(
                    Error::unsupported("its baskets lie in the header or in another file").in_branch(&branch.name)
                );
            }
        }
        Ok(branches)
    }

    /// The baskets of a branch.
    pub(crate) fn table(&self, branch: &Branch) -> Result<Table> {
        let places = branch.basket_seek.iter().zip(&branch.basket_bytes).zip(&branch.basket_entry);
        let baskets: Vec<Written> = places
            .take(branch.write_basket)
            .filter(|((seek, bytes), _)| **seek > 0 && **bytes > 0)
            .map(|((seek, bytes), entry)| Written { span: Span::new(*seek, u64::from(*bytes)), first_entry: *entry })
            .collect();
        let has_baskets = !baskets.is_empty();
        if has_baskets && branch.entry_number != self.tree.entries {
            return Err(Error::unsupported(format!(
                "it has {} entries where the tree has {}",
                branch.entry_number, self.tree.entries
            ))
            .in_branch(&branch.name));
        }
        Ok(Table {
            entries: if has_baskets { branch.entry_number } else { 0 },
            total_bytes: branch.total_bytes,
            zip_bytes: branch.zip_bytes,
            baskets,
        })
    }

    /// When the tree's clusters end: rule, where they are counted from, and the ranges before.
    pub(crate) fn clusters(&self, asked: Cluster) -> (Cluster, u64, Vec<(u64, u64)>) {
        let entries = self.tree.entries;
        let mut ranges = self.tree.cluster_ranges.clone();
        let begun = ranges.last().map_or(0, |(last, _)| last + 1).min(entries);
        let rule = match self.tree.auto_flush {
            n if n > 0 => Cluster::Entries(n as u64),
            n if n < 0 => Cluster::Bytes(n.unsigned_abs()),
            _ => asked,
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
