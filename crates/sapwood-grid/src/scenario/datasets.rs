//! Datasets: files that are alike, and where their originals are.

use super::sites::Site;
use super::table::Table;
use super::{matching, numbered};
use crate::clock::Time;
use crate::profile::{GivenBranch, Profile};
use sapwood_span::Result;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

pub(super) const MOST_DATASETS: usize = 100_000;
pub(super) const MOST_FILES: u64 = 1 << 30;
const MOST_BRANCHES: u64 = 100_000;
/// Bytes of a file.
const MOST_BYTES: u64 = 1_000_000_000_000_000;

/// Files that are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Its name.
    pub name: String,
    /// How many files it has.
    pub files: u64,
    /// The number of its first file among those of all datasets.
    pub first_file: u64,
    /// What each of its files contains.
    pub profile: Arc<Profile>,
    /// By file: its bytes; none: as many as the profile has.
    pub sizes: Arc<[u64]>,
    /// The sites with its originals, which are never removed.
    pub origins: Arc<[usize]>,
    /// When it is made.
    pub created: Time,
}

impl Dataset {
    /// Bytes of one of its files.
    pub(crate) fn bytes_of(&self, file: u64) -> u64 {
        usize::try_from(file).ok().and_then(|file| self.sizes.get(file)).copied().unwrap_or(self.profile.file_bytes)
    }
}

pub(super) fn read(top: &Table<'_>, sites: &[Site], folder: &Path) -> Result<Vec<Dataset>> {
    let mut out: Vec<Dataset> = Vec::new();
    let mut files_before = 0;
    let mut names = HashSet::new();
    for table in top.tables("dataset", MOST_DATASETS)? {
        let name = table.required("name", table.name()?)?;
        let count = table.count("count", MOST_DATASETS as u64)?.unwrap_or(1);
        let files = table.required("files", table.positive("files", MOST_FILES)?)?;
        let patterns = table.required("site", table.texts("site")?)?;
        let origins = matching(&table, "site", &patterns, sites.iter().map(|s| s.name.as_str()), "site")?;
        let origins: Arc<[usize]> = origins.into();
        let created = table.time("created")?.unwrap_or(0);
        let every = table.time("every")?.unwrap_or(0);
        let profile = Arc::new(match table.text("profile")? {
            Some(file) => Profile::load(&folder.join(&file)).map_err(|e| table.wrong_value("profile", e))?,
            None => given(&table)?,
        });
        table.finished()?;
        for (i, name) in numbered(&name, count).enumerate() {
            if out.len() >= MOST_DATASETS || files_before + files > MOST_FILES {
                let most = format!("at most {MOST_DATASETS} datasets with {MOST_FILES} files are possible");
                return Err(table.wrong_value("count", most));
            }
            if !names.insert(name.clone()) {
                return Err(table.wrong_value("name", format!("there are two datasets with the name {name}")));
            }
            let created = created.saturating_add(every.saturating_mul(i as u64));
            let (profile, origins) = (profile.clone(), origins.clone());
            let sizes = Arc::default();
            out.push(Dataset { name, files, first_file: files_before, profile, sizes, origins, created });
            files_before += files;
        }
    }
    Ok(out)
}

/// The files as the table itself describes them.
fn given(table: &Table<'_>) -> Result<Profile> {
    let size = table.required("file_size", table.positive_bytes("file_size")?)?;
    if size > MOST_BYTES {
        let most = sapwood_span::units::bytes(MOST_BYTES);
        return Err(table.wrong_value("file_size", format!("a file has at most {most}")));
    }
    let entries = table.required("entries", table.positive("entries", 1 << 40)?)?;
    let clusters = table.positive("clusters", 100_000)?.unwrap_or(20).min(entries);
    let basket = table.positive_bytes("basket")?;
    let alike = table.positive("branches", MOST_BRANCHES)?;
    let mut branches = Vec::new();
    for branch in table.tables("branch", MOST_BRANCHES as usize)? {
        let name = branch.required("name", branch.text("name")?)?;
        let count = branch.count("count", MOST_BRANCHES)?.unwrap_or(1);
        if branches.len() as u64 + count > MOST_BRANCHES {
            return Err(branch.wrong(format!("the files have more than {MOST_BRANCHES} branches")));
        }
        let bytes = branch.required("size", branch.positive_bytes("size")?)?;
        branch.finished()?;
        branches.extend(numbered(&name, count).map(|name| GivenBranch { name, bytes }));
    }
    if branches.is_empty() {
        let n = alike.unwrap_or(100);
        if Profile::room(size) < n {
            return Err(table.wrong_value("file_size", format!("is too small for {n} branches")));
        }
        branches.extend(numbered("branch", n).map(|name| GivenBranch { name, bytes: Profile::room(size) / n }));
    } else if alike.is_some() {
        return Err(table.wrong_value("branches", "cannot be given beside [[dataset.branch]]"));
    }
    Profile::given(size, entries, clusters, basket, &branches).map_err(|e| table.wrong(e))
}
