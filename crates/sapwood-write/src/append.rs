//! Trees of a file that is updated: opened again to append to them.

use crate::column::C_STRING;
use crate::core::Core;
use crate::directory::DirectoryId;
use crate::existing_records::{is_record, object, subdirectory};
use crate::existing_tree::Old;
use crate::file::FileWriter;
use crate::parse::named;
use crate::schema::{BranchSpec, BranchType};
use crate::tree::{TreeOptions, TreeWriter};
use sapwood_column::DType;
use sapwood_edit::own_compression;
use sapwood_format::tree::{Leaf, Tree, read_tree};
use sapwood_span::{Error, ErrorKind, Result};

impl FileWriter {
    /// Opens a tree of this file to append entries to it; the last cycle where none is named (`name;2`). Its branches
    /// are unchanged; `options` sets what is new: whether sizes are chosen when the tree has no clusters yet.
    ///
    /// # Errors
    /// `NotFound` when there is no such tree; `Unsupported`, with the reason, for trees with features that this crate
    /// does not write.
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
                return Err(Error::invalid(format!("tree {name} is already being written")));
            }
            core.drain()?;
            // its place is freed once the new header is written: a wrong key would free another record's bytes
            if !is_record(&mut core, key.span())? {
                return Err(
                    Error::corrupt(format!("there is no record of {path} at the position in its key")).at(key.span())
                );
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

    /// Name, cycle and class of the objects in a directory.
    ///
    /// # Errors
    /// `NotFound` when there is no such directory.
    pub fn keys(&mut self, path: &str) -> Result<Vec<(String, u16, String)>> {
        let mut core = self.shared().lock();
        // not an attempt to write: a directory that does not exist leaves the file as it is
        core.check()?;
        let at = existing_directory(&mut core, path)?;
        Ok(core.directory(at)?.keys.iter().map(|k| (k.name.clone(), k.cycle, k.class.clone())).collect())
    }

    /// The cycle of the newest object of this name; none if there is none.
    ///
    /// # Errors
    /// `Invalid` for a directory of another file.
    pub fn newest_cycle(&self, directory: DirectoryId, name: &str) -> Result<Option<u16>> {
        let core = self.shared().lock();
        Ok(core.directory(directory)?.keys.iter().filter(|k| k.name == name).map(|k| k.cycle).max())
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

/// A branch of the file as a [`BranchSpec`].
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
            if leaf.class == C_STRING && leaf.count.is_none() && !leaf.title.contains('[') {
                BranchType::CString
            } else {
                let dtype = leaf_dtype(leaf)
                    .ok_or_else(|| within(Error::unsupported(format!("appending to a {}", leaf.class))))?;
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
