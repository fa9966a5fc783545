//! Traces of real reads in place of workloads: each read is a task at its time.

use super::datasets::Dataset;
use super::matching;
use super::sites::Site;
use super::table::Table;
use super::trace_files::{entries, part_of_all, place, rounded, sizes};
use super::workloads::Workload;
use crate::clock::{Time, from_seconds};
use crate::trace::{self, MOST_READS, Trace};
use sapwood_span::{Error, Result, units};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

const MOST_TRACES: usize = 1000;
/// Bytes of all reads of a trace.
const MOST_BYTES: u128 = 1_000_000_000_000_000_000;

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
    /// Bytes of the file that are read, counted from its beginning; more than it has: some of them again.
    pub bytes: u64,
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
        let size = table.positive_bytes("file_size")?;
        let work = table.rate("work")?;
        let proto = Workload::of_trace(&table, homes.clone(), duration.unwrap_or(Time::MAX))?;
        let lasts = table.time("lasts")?;
        table.finished()?;
        let trace =
            trace::load(&folder.join(&file), format.as_deref(), &file).map_err(|e| table.wrong_value("file", e))?;
        if out.len() + trace.reads.len() > MOST_READS {
            let most = units::count(MOST_READS as u64);
            return Err(
                table.wrong_value("file", format!("the traces have more than {most} reads; replay fewer at once"))
            );
        }
        let times = times(&trace, lasts, duration).map_err(|e| table.wrong_value("file", e))?;
        let sizes = sizes(&trace, size).map_err(|e| table.wrong_value("file_size", e))?;
        let all = |read: &trace::FileRead| {
            u128::from(read.bytes().or_else(|| sizes.get(read.file as usize).copied()).unwrap_or(0))
        };
        if trace.reads.iter().map(all).sum::<u128>() > MOST_BYTES {
            return Err(table.wrong_value("file", "the reads have more than 1 EB: its sizes are not bytes"));
        }
        let places = place(&file, &sizes, &origins, datasets).map_err(|e| table.wrong_value("file", e))?;
        let known: HashMap<&str, u32> = (0..).zip(sites).map(|(i, s)| (s.name.as_str(), i)).collect();
        let known: Vec<Option<u32>> = trace.sites.iter().map(|name| known.get(name.as_str()).copied()).collect();
        let mut kinds: BTreeMap<(u64, u64), u32> = BTreeMap::new();
        for (i, read) in trace.reads.iter().enumerate() {
            let file_of = read.file as usize;
            let (Some(&(dataset, number)), Some(&size)) = (places.get(file_of), sizes.get(file_of)) else { continue };
            let bytes = read.bytes().unwrap_or(size);
            let entries = entries(bytes.min(size), size);
            let pace = match work {
                _ if read.cpu > 0.0 => rounded((bytes as f64 / f64::from(read.cpu)).max(1.0) as u64),
                Some(work) => work.max(1.0) as u64,
                None => 0,
            };
            let workload = *kinds.entry((entries, pace)).or_insert_with(|| {
                workloads.push(Workload {
                    name: file.clone(),
                    entries: part_of_all(entries),
                    inflate: if pace > 0 { pace as f64 } else { 1e12 },
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
            let home = read.site().and_then(|site| known.get(site).copied().flatten());
            let home = home.or_else(|| homes.get(out.len() % homes.len().max(1)).map(|&h| h as u32)).unwrap_or(0);
            out.push(TraceRead { time: times(i), workload, dataset, file: number, home, bytes });
        }
    }
    out.sort_by_key(|r| r.time);
    Ok(out)
}

/// When each read begins, from the first one on; at equal distances over `lasts` if the trace does not tell.
fn times(trace: &Trace, lasts: Option<Time>, duration: Option<Time>) -> Result<impl Fn(usize) -> Time> {
    let lasts = lasts.or(duration).or(trace.timed.then_some(0));
    let lasts = lasts.ok_or_else(|| Error::invalid("the trace tells no times; add lasts = \"1d\""))?;
    let first = trace.reads.iter().map(|r| r.time).fold(f64::INFINITY, f64::min);
    Ok(move |i: usize| match trace.reads.get(i) {
        Some(read) if trace.timed => from_seconds(read.time - first),
        _ => (u128::from(lasts) * i as u128 / trace.reads.len().max(1) as u128) as Time,
    })
}
