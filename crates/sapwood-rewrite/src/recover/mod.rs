//! A new, whole file of what is left of a damaged one.

mod entries;
mod read;

use crate::copy::{self, Done, Pool};
use crate::options::{MergeOptions, MergeProgress, MergedTree, check, check_differ};
use crate::output::Output;
use crate::recode::Recoder;
use sapwood_codec::Compression;
use sapwood_engine::{File, OpenOptions};
use sapwood_span::{Error, Result};
use sapwood_write::target::Place;
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
    /// Entries that trees have lost, of those that were recovered and of others.
    pub lost_entries: Vec<LostTree>,
    /// Other objects, all cycles counted.
    pub objects: usize,
    /// Directories.
    pub directories: usize,
    /// What is lost, in words; empty when nothing is known to be.
    pub lost: Vec<String>,
    /// What else a user should know.
    pub remarks: Vec<String>,
}

/// A tree that has lost entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostTree {
    /// Directories and name.
    pub path: String,
    /// How many entries.
    pub entries: u64,
}

/// Writes what can be found of `input` (a path or URL), a file that is damaged, cut short or was never closed, into a
/// new, whole file `out`: trees with the entries that are whole in all branches, all other objects, directories. The
/// input is only read.
///
/// # Errors
/// `Corrupt` when nothing is left of it; `Invalid` when the output exists; what reading or writing says.
pub fn recover(input: &str, out: &Path, options: &MergeOptions) -> Result<Recovered> {
    check_differ(input, out)?;
    let open = OpenOptions { recover: Some(true), recover_all: true, ..options.open.clone() };
    let file = File::open(input, &open)?;
    let mut found = Recovered { input_bytes: file.size(), ..Recovered::default() };
    let own = Compression::from_settings(file.header().compression).unwrap_or_default();
    let wanted = || check(options);
    let input = read::read(file, &mut found, &wanted).map_err(|e| e.in_file(input))?;
    (found.objects, found.directories) = (input.objects.len(), input.directories.len());
    if found.objects + found.directories + input.trees.len() == 0 {
        let lost: String = found.lost.iter().take(5).map(|l| format!("\n  {l}")).collect();
        return Err(Error::corrupt(format!("nothing that can be recovered is left{lost}")).in_file(input.reader.name()));
    }
    let compression = options.compression;
    let place = Place { replace: options.force, sync: options.sync };
    let mut output = Output::create(out, place, compression.unwrap_or(own), compression)?;
    let (pool, mut recoder) = (Pool::default(), Recoder::default());
    for job in copy::jobs(Box::new(input)) {
        wanted()?;
        match copy::work(job, &pool, &mut recoder, compression)? {
            Done::Begin(input) => output.begin(*input)?,
            Done::Chunk(chunk) => pool.give(output.chunk(chunk)?),
            Done::End => output.end()?,
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
