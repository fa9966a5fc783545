//! Traces of real reads in place of workloads: each read is a task at its time.

use super::datasets::Dataset;
use super::matching;
use super::sites::Site;
use super::table::Table;
use super::trace_files::{entries, part_of_all, place, rounded, sizes};
use super::workloads::Workload;
use crate::clock::{Time, from_seconds};
use crate::trace::{self, MOST_READS, Trace};
use sapwood_span::{Result, units};
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

/// A `[[trace]]` table, and what it names.
struct Recorded<'a> {
    table: Table<'a>,
    file: String,
    homes: Vec<usize>,
    origins: Vec<usize>,
    /// Of a file whose size the trace does not tell.
    size: Option<u64>,
    work: Option<f64>,
    proto: Workload,
    lasts: Option<Time>,
    trace: Trace,
}

/// The reads of all `[[trace]]` tables, in the order of their times, and when the last trace ends. Their files and workloads are added to
/// those of the scenario.
pub(super) fn read(
    top: &Table<'_>,
    sites: &[Site],
    datasets: &mut Vec<Dataset>,
    workloads: &mut Vec<Workload>,
    folder: &Path,
    duration: Option<Time>,
) -> Result<(Vec<TraceRead>, Time)> {
    let mut recorded = Vec::new();
    let mut count = 0;
    for table in top.tables("trace", MOST_TRACES)? {
        let one = load(table, sites, folder, duration)?;
        count += one.trace.reads.len();
        if count > MOST_READS {
            let most = units::count(MOST_READS as u64);
            let what = format!("the traces have more than {most} reads; replay fewer at once");
            return Err(one.table.wrong_value("file", what));
        }
        recorded.push(one);
    }
    // all have one clock, as several logs of the same days do
    let timed = recorded.iter().filter(|one| one.trace.timed).flat_map(|one| &one.trace.reads);
    let first = timed.map(|read| read.time).fold(f64::INFINITY, f64::min);
    let places = TraceFiles::of(&recorded)?.place(datasets)?;
    let mut out = Vec::with_capacity(count);
    for (one, places) in recorded.iter().zip(&places) {
        add(one, first, places, sites, workloads, duration, &mut out)?;
    }
    out.sort_by_key(|r| r.time);
    let last = out.last().map_or(0, |read| read.time);
    let lasts = recorded.iter().filter(|one| !one.trace.timed).filter_map(|one| one.lasts).max();
    Ok((out, last.max(lasts.unwrap_or(0))))
}

fn load<'a>(table: Table<'a>, sites: &[Site], folder: &Path, duration: Option<Time>) -> Result<Recorded<'a>> {
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
    let trace = trace::load(&folder.join(&file), format.as_deref(), &file).map_err(|e| table.wrong_value("file", e))?;
    if !trace.timed && lasts.or(duration).is_none() {
        return Err(table.wrong_value("file", "the trace tells no times; add lasts = \"1d\""));
    }
    Ok(Recorded { table, file, homes, origins, size, work, proto, lasts, trace })
}

/// The files of all traces. Those of the same name and with the same originals are one.
#[derive(Default)]
struct TraceFiles<'a> {
    /// By originals: the first trace with them, and the sizes of the files.
    groups: Vec<(&'a Recorded<'a>, Vec<Size>)>,
    /// By trace and its file: the group, and the number in it.
    numbers: Vec<Vec<(usize, usize)>>,
}

/// The size of a file.
#[derive(Clone, Copy, Default)]
struct Size {
    /// As a trace tells.
    told: Option<u64>,
    /// As the scenario says, if no trace tells.
    given: u64,
}

/// By file of a trace: its dataset, the number there, its size.
type Places = Vec<(u32, u32, u64)>;

impl<'a> TraceFiles<'a> {
    fn of(recorded: &'a [Recorded<'a>]) -> Result<Self> {
        let mut files = Self::default();
        let mut known: HashMap<(usize, &str), usize> = HashMap::new();
        for one in recorded {
            let given = sizes(&one.trace, one.size).map_err(|e| one.table.wrong_value("file_size", e))?;
            let group = files.groups.iter().position(|group| group.0.origins == one.origins).unwrap_or_else(|| {
                files.groups.push((one, Vec::new()));
                files.groups.len() - 1
            });
            let all = &mut files.groups[group].1;
            let number = one.trace.names.iter().zip(&one.trace.sizes).zip(given).map(|((name, &told), given)| {
                let number = *known.entry((group, name)).or_insert_with(|| {
                    all.push(Size::default());
                    all.len() - 1
                });
                let size = &mut all[number];
                *size = Size { told: size.told.max(told), given: size.given.max(given) };
                (group, number)
            });
            files.numbers.push(number.collect());
        }
        Ok(files)
    }

    /// Makes datasets of them.
    fn place(self, datasets: &mut Vec<Dataset>) -> Result<Vec<Places>> {
        let mut placed = Vec::new();
        for (first, sizes) in self.groups {
            let sizes: Vec<u64> = sizes.iter().map(|size| size.told.unwrap_or(size.given)).collect();
            let places = place(&first.file, &sizes, &first.origins, datasets);
            let places = places.map_err(|e| first.table.wrong_value("file", e))?;
            let places = places.into_iter().zip(sizes).map(|((dataset, number), size)| (dataset, number, size));
            placed.push(places.collect::<Places>());
        }
        let of = |numbers: Vec<(usize, usize)>| numbers.into_iter().map(|(group, n)| placed[group][n]).collect();
        Ok(self.numbers.into_iter().map(of).collect())
    }
}

/// Adds the reads of a trace, and its workloads.
fn add(
    one: &Recorded<'_>,
    first: f64,
    places: &Places,
    sites: &[Site],
    workloads: &mut Vec<Workload>,
    duration: Option<Time>,
    out: &mut Vec<TraceRead>,
) -> Result<()> {
    let Recorded { table, file, homes, work, proto, lasts, trace, .. } = one;
    let times = times(trace, first, lasts.or(duration).unwrap_or(0));
    let size_of = |read: &trace::FileRead| places.get(read.file as usize).map_or(0, |place| place.2);
    let all = |read: &trace::FileRead| u128::from(read.bytes().unwrap_or_else(|| size_of(read)));
    if trace.reads.iter().map(all).sum::<u128>() > MOST_BYTES {
        return Err(table.wrong_value("file", "the reads have more than 1 EB: its sizes are not bytes"));
    }
    let known: HashMap<&str, u32> = (0..).zip(sites).map(|(i, s)| (s.name.as_str(), i)).collect();
    let known: Vec<Option<u32>> = trace.sites.iter().map(|name| known.get(name.as_str()).copied()).collect();
    let mut kinds: BTreeMap<(u64, u64), u32> = BTreeMap::new();
    for (i, read) in trace.reads.iter().enumerate() {
        let Some(&(dataset, number, size)) = places.get(read.file as usize) else { continue };
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
    Ok(())
}

/// When each read begins, from the `first` one of all traces on; at equal distances over `lasts` if the trace does not tell.
fn times(trace: &Trace, first: f64, lasts: Time) -> impl Fn(usize) -> Time {
    move |i: usize| match trace.reads.get(i) {
        Some(read) if trace.timed => from_seconds(read.time - first),
        _ => (u128::from(lasts) * i as u128 / trace.reads.len().max(1) as u128) as Time,
    }
}
