//! How a scan begins: what it needs, what of that is here already, and how it is asked for.

use super::baskets::{self, Chosen, ScanBasket};
use super::config::ScanConfig;
use super::cut_evaluator::CutEvaluator;
use super::driver::{Driver, Workers};
use super::plan::ScanPlan;
use super::state::{InitialState, ScanState};
use super::steps::{self, Steps};
use super::task::Record;
use super::{Scan, work};
use crate::entries::EntryList;
use crate::friend_rows::FriendEntries;
use crate::observe::{Probe, observers};
use crate::options::ScanOptions;
use crate::tree::Tree;
use sapwood_plan::{CacheSize, Limits, Request};
use sapwood_source::Source;
use sapwood_span::{Error, Result};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Below this many inflated bytes a scan is done by the thread that asks, without helpers.
const SMALL_SCAN: u64 = 256 << 10;

/// Compressed bytes in flight or waiting, for a local file: reading ahead gains nothing there.
const HOLD_LOCAL: u64 = 8 << 20;

impl Tree {
    /// Reads what these options say; [`Tree::scan`] puts them together.
    ///
    /// # Errors
    /// `Unsupported` or `NotFound` for a branch, `Invalid` for impossible entries.
    pub fn scan_with(&self, options: &ScanOptions) -> Result<Scan> {
        Scan::start(self, options, false)
    }

    /// The same for later: what it needs first is fetched, but nothing is unzipped and no thread is started before its
    /// first batch is asked for.
    ///
    /// # Errors
    /// As [`Tree::scan_with`].
    pub fn scan_ahead(&self, options: &ScanOptions) -> Result<Scan> {
        Scan::start(self, options, true)
    }
}

impl Tree {
    /// The entries of each batch that a scan with these options gives, in order, without reading anything. A cut leaves out
    /// rows of batches, not batches.
    ///
    /// # Errors
    /// As [`Tree::scan_with`].
    pub fn batches(&self, options: &ScanOptions) -> Result<Vec<Range<u64>>> {
        let entries = entries(self, options)?;
        let selected = options.selected.as_ref().map(|list| list.within(&entries));
        let mut branches = options.branches.clone();
        if let Some(cut) = &options.cut {
            branches.extend(cut.branches.iter().filter(|b| !options.branches.contains(b)));
        }
        let Steps { steps, batches } =
            steps::steps(self, &branches, &entries, options.step, selected.as_ref(), &options.friends)
                .map_err(|e| e.in_file(self.file().url()))?;
        let first = |b: &Range<usize>| steps.get(b.start).map_or(0, |s| s.start);
        let last = |b: &Range<usize>| b.end.checked_sub(1).and_then(|i| steps.get(i)).map_or(0, |s| s.end);
        Ok(batches.iter().map(|b| first(b)..last(b)).filter(|b| b.start < b.end).collect())
    }
}

impl Scan {
    /// Begins; with `ahead`, nothing is unzipped before the first batch is asked for.
    pub(crate) fn start(tree: &Tree, options: &ScanOptions, ahead: bool) -> Result<Self> {
        let entries = entries(tree, options)?;
        let selected = options.selected.as_ref().map(|list| list.within(&entries));
        let selected = selected.as_ref();
        let mut branches = options.branches.clone();
        if let Some(cut) = &options.cut {
            branches.extend(cut.branches.iter().filter(|b| !options.branches.contains(b)));
        }
        baskets::check_reach(tree, &branches, &entries)?;
        let steps = steps::steps(tree, &branches, &entries, options.step, selected, &options.friends)
            .map_err(|e| e.in_file(tree.file().url()))?;
        // what a cut or a list of entries needs of a cluster is decided for the whole of it
        let divided = options.cut.is_none() && selected.is_none();
        let chosen = baskets::choose(tree, &branches, &entries, &steps.steps, selected, divided)?;
        // friends are fetched at the same time
        let friends = options.friends.iter().map(|friend| {
            let selected = options.selected.clone();
            (friend.begin)(FriendEntries::new(entries.clone(), selected, options.cancel.clone()))
        });
        let friends = friends.collect::<Result<Vec<_>>>()?;
        let of_cut =
            |c: usize| c >= chosen.wanted || options.cut.as_ref().is_some_and(|t| t.branches.contains(&branches[c]));
        let of_cut: Option<Vec<bool>> = options.cut.as_ref().map(|_| (0..chosen.columns.len()).map(of_cut).collect());
        let cut = options.cut.as_ref().map(|cut| {
            let column = |b: &usize| branches.iter().position(|x| x == b);
            CutEvaluator::new(cut.test.clone(), cut.branches.iter().filter_map(column).collect())
        });
        let observers = observers();
        tree.file().watched_by(&observers, || tree.file().counts());
        let probe = Probe::new(observers);
        let before = tree.file().all_sources().stats();
        let threads = threads(tree, options);
        let cache = options.cache.unwrap_or(tree.file().options().cache);
        let batches = steps.batches.clone();
        let bytes: u64 = chosen.baskets.iter().map(|b| b.unzipped).sum();
        let config = ScanConfig {
            of_cut: of_cut.as_deref(),
            known: &options.known,
            cache,
            threads,
            traced: probe.is_some(),
            on_request: options.on_request.clone(),
        };
        let driver = Arc::new(driver(tree, chosen, steps, selected, &config)?);
        let helpers = if bytes < SMALL_SCAN || cache == CacheSize::Off { 0 } else { threads - 1 };
        let mut scan = Self {
            driver,
            threads: Vec::with_capacity(helpers),
            thread_limit: threads,
            threads_to_start: helpers,
            batches,
            at: 0,
            worker: work::Worker::new(),
            friends,
            cut,
            started: Instant::now(),
            waited: Duration::ZERO,
            before,
            options: options.clone(),
            finished: false,
            process: std::process::id(),
            probe,
        };
        // what the first step needs is on its way before anybody asks for it
        scan.driver.want(0, scan.wanted_with(0));
        if !ahead {
            scan.start_threads();
        }
        Ok(scan)
    }
}

/// The entries to read.
fn entries(tree: &Tree, options: &ScanOptions) -> Result<Range<u64>> {
    let entries = options.entries.clone().unwrap_or(0..tree.entries());
    // branches may have been filled by themselves, beyond the tree's entries
    let most = options.branches.iter().map(|&b| tree.entries_of(b)).fold(tree.entries(), u64::max);
    if entries.start <= entries.end && entries.end <= most {
        return Ok(entries);
    }
    let Range { start, end } = entries;
    let what = match start < end {
        true => format!("entries {start} to {} were requested; the tree has {}", end - 1, tree.entries()),
        false => format!("the range of entries starts at {start}, after its end at {end}"),
    };
    Err(Error::invalid(what).in_file(tree.file().url()))
}

/// Threads that decode.
fn threads(tree: &Tree, options: &ScanOptions) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = match (options.threads, tree.file().options().threads) {
        (0, 0) => cores,
        (0, n) | (n, _) => n,
    };
    threads.clamp(1, 256)
}

/// Plan, state and driver of a scan.
fn driver(
    tree: &Tree,
    chosen: Chosen,
    steps: Steps,
    selected: Option<&EntryList>,
    config: &ScanConfig<'_>,
) -> Result<Driver> {
    let &ScanConfig { of_cut, cache, threads, traced, .. } = config;
    let source = tree.file().all_sources();
    let local = source.is_local();
    let held = held(tree, &*source, &chosen, config);
    let of = tree.clone();
    let path_of = Box::new(move |branch| of.name_of(branch));
    let is_held = |part: &(usize, u32)| held.contains_key(part);
    let plan = Arc::new(ScanPlan::new(tree.file().url(), path_of, chosen, steps, is_held));
    let limits = if local { Limits::local(threads) } else { source.limits() };
    let hold = if local { HOLD_LOCAL } else { Request::DEFAULT_HOLD };
    let hold = if let CacheSize::Bytes(n) = cache { n.max(1) } else { hold };
    // one cluster that is the whole tree says nothing of what is needed together
    let clusters = if tree.clusters().len() > 2 { tree.clusters().to_vec() } else { Vec::new() };
    let request = Request { cache, limits, clusters, hold };
    let kept = traced.then(|| request.clone());
    let selected = plan.steps.iter().map(|step| {
        let list = selected?.within(step);
        (list.runs() != std::slice::from_ref(step)).then(|| list.runs().into())
    });
    let selected = selected.collect();
    let state = ScanState::new(plan.clone(), InitialState { request, of_cut, selected, held, local, threads, traced })?;
    Ok(Driver::new(plan, state, tree, source, Workers::new(threads, hold), kept, config.on_request.clone()))
}

/// The records that need not be fetched, by basket: the caller has them, opening the file brought them along, or they are
/// in the local cache.
fn held(tree: &Tree, source: &dyn Source, chosen: &Chosen, config: &ScanConfig<'_>) -> BTreeMap<(usize, u32), Record> {
    let mut held = BTreeMap::new();
    let parts = |b: &ScanBasket| (0u32..).zip(b.spans()).collect::<Vec<_>>();
    let all = chosen.baskets.iter().enumerate().flat_map(|(i, b)| parts(b).into_iter().map(move |(k, s)| ((i, k), s)));
    for (i, span) in all {
        let known = config.known.get(&span.start).filter(|b| b.len() as u64 == span.len).cloned();
        let opening = || if config.cache == CacheSize::Off { None } else { tree.file().held(span) };
        if let Some(record) = known.or_else(opening) {
            held.insert(i, Record::Here(record));
        } else if source.is_held(span) {
            held.insert(i, Record::Stored(span));
        }
    }
    held
}
