//! Traces of real reads in place of workloads: each read is a task at its time.

use super::datasets::{Dataset, MOST_DATASETS, MOST_FILES};
use super::matching;
use super::sites::Site;
use super::table::Table;
use super::workloads::Workload;
use crate::clock::{Time, from_seconds};
use crate::profile::{GivenBranch, Profile};
use crate::trace::{self, FileRead};
use sapwood_span::{Error, Result};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

const MOST_TRACES: usize = 1000;
/// Entries and clusters of the files of a trace: what is read of them is known to a hundredth.
const STEPS: u64 = 100;

/// A read of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceRead {
    /// When.
    pub time: Time,
    /// The number of its workload: reads that are alike.
    pub workload: u32,
    /// The number of its dataset: files that are alike.
    pub dataset: u32,
    /// The file in it.
    pub file: u32,
    /// The site of the reader.
    pub home: u32,
}

/// The reads of all `[[trace]]` tables, in the order of their times. Their files and workloads are added to those of the scenario.
pub(super) fn read(
    top: &Table<'_>,
    sites: &[Site],
    datasets: &mut Vec<Dataset>,
    workloads: &mut Vec<Workload>,
    folder: &Path,
    duration: Option<Time>,
) -> Result<Vec<TraceRead>> {
    let mut out = Vec::new();
    for table in top.tables("trace", MOST_TRACES)? {
        let file = table.required("file", table.text("file")?)?;
        let format = table.text("format")?;
        let names = || sites.iter().map(|s| s.name.as_str());
        let at = |key: &str| {
            let patterns = table.required(key, table.texts(key)?)?;
            matching(&table, key, &patterns, names(), "site")
        };
        let (homes, origins) = (at("site")?, at("origin")?);
        let size = table.bytes("file_size")?;
        let work = table.rate("work")?;
        let proto = Workload::of_trace(&table, homes.clone(), duration.unwrap_or(Time::MAX))?;
        let lasts = table.time("lasts")?;
        table.finished()?;
        let reads =
            trace::load(&folder.join(&file), format.as_deref(), &file).map_err(|e| table.wrong_value("file", e))?;
        let times = times(&reads, lasts, duration).map_err(|e| table.wrong_value("file", e))?;
        let sizes = sizes(&reads, size).map_err(|e| table.wrong_value("file_size", e))?;
        let places = place_files(&file, &sizes, &origins, datasets).map_err(|e| table.wrong_value("file", e))?;
        let known: HashMap<&str, u32> = (0..).zip(sites).map(|(i, s)| (s.name.as_str(), i)).collect();
        let mut kinds: BTreeMap<(u64, u64), u32> = BTreeMap::new();
        for (read, time) in reads.iter().zip(times) {
            let (Some(&(dataset, number)), Some(&size)) =
                (places.get(read.file as usize), sizes.get(read.file as usize))
            else {
                continue;
            };
            let bytes = read.bytes.unwrap_or(size).min(size);
            // every part of a hundredth that is touched
            let share = (u128::from(bytes) * u128::from(STEPS)).div_ceil(u128::from(size.max(1))) as u64;
            let pace = match (read.cpu, work) {
                (Some(cpu), _) if cpu > 0.0 => two_digits((bytes as f64 / cpu).max(1.0) as u64),
                (_, Some(work)) => work.max(1.0) as u64,
                _ => 0,
            };
            let workload = *kinds.entry((share.clamp(1, STEPS), pace)).or_insert_with(|| {
                let (share, pace) = (share.clamp(1, STEPS), pace as f64);
                workloads.push(Workload {
                    name: format!("{file}, {share} %"),
                    entries: share as f64 / STEPS as f64,
                    inflate: if pace > 0.0 { pace } else { 1e12 },
                    ..proto.clone()
                });
                workloads.len() as u32 - 1
            });
            let read_by = workloads.get_mut(workload as usize);
            if let Some(w) = read_by
                && let Err(at) = w.datasets.binary_search(&(dataset as usize))
            {
                w.datasets.insert(at, dataset as usize);
            }
            let home = read.site.as_deref().and_then(|s| known.get(s).copied());
            let home = home.or_else(|| homes.get(out.len() % homes.len().max(1)).map(|&h| h as u32)).unwrap_or(0);
            out.push(TraceRead { time, workload, dataset, file: number, home });
        }
    }
    out.sort_by_key(|r| r.time);
    Ok(out)
}

/// When each read begins, from the first one on; at equal distances over `lasts` if the trace does not tell.
fn times(reads: &[FileRead], lasts: Option<Time>, duration: Option<Time>) -> Result<Vec<Time>> {
    let first = reads.iter().filter_map(|r| r.time).fold(f64::INFINITY, f64::min);
    if first.is_finite() {
        if reads.iter().any(|r| r.time.is_none()) {
            return Err(Error::invalid("some reads have a time, others do not"));
        }
        return Ok(reads.iter().map(|r| from_seconds(r.time.unwrap_or(first) - first)).collect());
    }
    let lasts = lasts.or(duration).ok_or_else(|| Error::invalid("the trace tells no times; add lasts = \"1d\""))?;
    let each = |i: usize| (u128::from(lasts) * i as u128 / reads.len().max(1) as u128) as Time;
    Ok((0..reads.len()).map(each).collect())
}

/// The size of each file: the largest that a read tells, or what the scenario says.
fn sizes(reads: &[FileRead], given: Option<u64>) -> Result<Vec<u64>> {
    let mut out: Vec<u64> = Vec::new();
    for read in reads {
        let at = read.file as usize;
        out.resize(out.len().max(at + 1), 0);
        if let Some(slot) = out.get_mut(at) {
            *slot = (*slot).max(read.size.or(given).unwrap_or(0)).max(read.bytes.unwrap_or(0));
        }
    }
    if reads.iter().any(|r| r.size.is_none()) && given.is_none() {
        return Err(Error::invalid("is missing: the trace does not tell how large its files are"));
    }
    Ok(out.into_iter().map(|n| two_digits(n.max(1))).collect())
}

/// A number with two digits, so that files that are nearly alike are one kind.
fn two_digits(n: u64) -> u64 {
    let mut scale = 1u64;
    while n / scale >= 100 {
        scale *= 10;
    }
    n.div_ceil(scale).saturating_mul(scale)
}

/// Makes datasets of the files, by size; returns the dataset of each, and its number there.
fn place_files(name: &str, sizes: &[u64], origins: &[usize], datasets: &mut Vec<Dataset>) -> Result<Vec<(u32, u32)>> {
    let mut by_size: BTreeMap<u64, u32> = BTreeMap::new();
    let mut out = vec![0u32; sizes.len()];
    for (size, slot) in sizes.iter().zip(&mut out) {
        let count = by_size.entry(*size).or_default();
        *slot = *count;
        *count += 1;
    }
    let mut first_file = datasets.last().map_or(0, |d| d.first_file + d.files);
    let mut numbers = BTreeMap::new();
    for (&size, &files) in &by_size {
        if datasets.len() >= MOST_DATASETS || first_file + u64::from(files) > MOST_FILES {
            return Err(Error::invalid("has too many files"));
        }
        let branch = [GivenBranch { name: "all".to_owned(), bytes: Profile::room(size) }];
        let profile = Arc::new(Profile::given(size, STEPS, STEPS.min(size), None, &branch)?);
        numbers.insert(size, datasets.len() as u32);
        let title = format!("{name}, {}", sapwood_span::units::bytes(size));
        let files = u64::from(files);
        datasets.push(Dataset { name: title, files, first_file, profile, origins: origins.into(), created: 0 });
        first_file += files;
    }
    Ok(sizes.iter().zip(out).map(|(size, n)| (numbers.get(size).copied().unwrap_or(0), n)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_two_digits() {
        assert_eq!([1, 99, 100, 101, 2_345_678].map(two_digits), [1, 99, 100, 110, 2_400_000]);
        assert_eq!(two_digits(u64::MAX), u64::MAX);
    }
}
