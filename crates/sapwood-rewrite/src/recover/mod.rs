//! Writes the intact data of a damaged file to a new, complete one.

mod entries;
mod partial_baskets;
mod ranges;
mod read;
mod unlisted_baskets;

use crate::copy::{self, Done, Pool};
use crate::options::{MergeOptions, MergeProgress, MergedTree, check, check_differ};
use crate::output::Output;
use crate::recode::Recoder;
use sapwood_codec::Compression;
use sapwood_engine::File;
use sapwood_span::{Error, Result};
use sapwood_write::target::Placement;
use std::path::Path;

/// What was recovered, and what is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Bytes of the input.
    pub input_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// Trees in the order of the output.
    pub trees: Vec<MergedTree>,
    /// Entries that trees have lost, of those that were recovered and of others: all cycles that were tried.
    pub lost_entries: Vec<LostTree>,
    /// Other objects, all cycles counted.
    pub objects: usize,
    /// Directories.
    pub directories: usize,
    /// Descriptions of what is lost; empty if no loss is known.
    pub lost: Vec<String>,
    /// Remarks for the user.
    pub remarks: Vec<String>,
}

/// A tree that has lost entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostTree {
    /// Directories and name.
    pub path: String,
    /// Its cycle in the input.
    pub cycle: i16,
    /// How many entries.
    pub entries: u64,
    /// Which ones and why, basket by basket; those of two branches may be the same.
    pub ranges: Vec<LostRange>,
}

/// Entries that are lost because a branch does not have them, as numbered in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRange {
    /// The first of them.
    pub first: u64,
    /// The last of them.
    pub last: u64,
    /// The branch, with those above it.
    pub branch: String,
    /// Position of the basket that should contain them, if the file has one.
    pub position: Option<u64>,
    /// Why they are lost.
    pub reason: String,
}

impl std::fmt::Display for LostRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { first, last, branch, position, reason } = self;
        write!(f, "entries {first}-{last}: branch {branch}: ")?;
        position.map_or(Ok(()), |p| write!(f, "the basket at byte {p}: "))?;
        f.write_str(reason)
    }
}

/// Writes the intact data of `input` (a path or URL), a file that is damaged, truncated or was not closed, to a new
/// file `out`: trees with the entries that are intact in all branches, all other objects, directories. The input is
/// not changed.
///
/// The entries of a damaged basket are removed from all branches, and no others: baskets of other branches are split
/// where these entries begin and end. Baskets that cannot be split between entries (objects behind pointers refer to
/// positions in their basket) are removed as a whole. Baskets after the last header of their tree are kept as far as
/// every branch has them.
///
/// # Errors
/// `Corrupt` if nothing can be recovered; `AlreadyExists` if the output exists; errors of reading and writing.
pub fn recover(input: &str, out: &Path, options: &MergeOptions) -> Result<Recovered> {
    check_differ(input, out)?;
    let open = options.open.clone().recover(Some(true)).recover_all(true);
    let file = File::open(input, &open)?;
    let mut found = Recovered { input_bytes: file.size(), ..Recovered::default() };
    let own = Compression::from_settings(file.header().compression).unwrap_or_default();
    let wanted = || check(options);
    let (input, cuts) = read::read(file, &mut found, options.compression, &wanted).map_err(|e| e.in_file(input))?;
    (found.objects, found.directories) = (input.objects.len(), input.directories.len());
    // an empty file has lost nothing
    if found.objects + found.directories + input.trees.len() == 0 && !found.lost.is_empty() {
        let lost: String = found.lost.iter().take(5).map(|l| format!("\n  {l}")).collect();
        return Err(Error::corrupt(format!("nothing can be recovered{lost}")).in_file(input.reader.name()));
    }
    let compression = options.compression;
    let place = Placement { replace: options.force, sync: options.sync };
    let mut output = Output::create(out, place, compression.unwrap_or(own), compression)?;
    let (pool, mut recoder) = (Pool::default(), Recoder::default());
    let reader = input.reader.clone();
    for job in copy::jobs(Box::new(input)) {
        wanted()?;
        match copy::work(job, &pool, &mut recoder, compression)? {
            Done::Begin(input) => output.begin(*input)?,
            Done::Chunk(chunk) => pool.give(output.chunk(chunk)?),
            Done::Pages(chunk) => pool.give(output.pages(chunk)?),
            Done::End => {
                for (tree, cut) in &cuts {
                    wanted()?;
                    for mut b in cut.build(&reader, &mut recoder).map_err(|e| e.in_file(reader.name()))? {
                        output.record(*tree, cut.branch, b.first, &mut b.record, b.total)?;
                    }
                }
                output.end()?;
            }
        }
        if let Some(tell) = &options.progress {
            tell(MergeProgress { inputs: 0, total: 1, bytes: output.position() });
        }
    }
    let report = output.finish(options)?;
    (found.output_bytes, found.trees) = (report.output_bytes, report.trees);
    found.remarks.extend(report.remarks);
    Ok(found)
}
