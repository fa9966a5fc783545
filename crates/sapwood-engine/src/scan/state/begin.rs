//! How a scan begins: what of its baskets is here already, and what the planner is asked for.

use super::{Shared, State, planned_ids};
use crate::perf::Times;
use crate::report::IoReport;
use crate::scan::ahead::Ahead;
use crate::scan::baskets::Chosen;
use crate::scan::cut::CutProgress;
use crate::scan::decode::Task;
use crate::scan::fetches::limits;
use crate::scan::spares::{Spares, kinds};
use crate::scan::steps::Steps;
use crate::tree::Tree;
use bytes::Bytes;
use sapwood_plan::{Basket, CacheSize, Event, Limits, Planner, Request};
use sapwood_span::Result;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Compressed bytes under way or waiting, for a local file: reading ahead gains nothing there.
const HOLD_LOCAL: u64 = 8 << 20;

/// How a scan is done.
pub(in crate::scan) struct Manner<'a> {
    /// Which columns a cut needs, where there is one.
    pub guides: Option<&'a [bool]>,
    /// Records of baskets that are here already, by their position.
    pub known: &'a HashMap<u64, Bytes>,
    pub cache: CacheSize,
    pub threads: usize,
    /// Whether a collector of perf stats listens.
    pub traced: bool,
}

impl Shared {
    pub fn new(tree: &Tree, chosen: Chosen, Steps { steps, batches }: Steps, manner: &Manner<'_>) -> Result<Self> {
        let &Manner { guides, known, cache, threads, traced } = manner;
        let source = tree.file().all_sources();
        let Chosen { columns, wanted, baskets } = chosen;
        let mut pending = vec![0; steps.len()];
        let mut planned = Vec::new();
        let mut list = Vec::new();
        let mut decodes = BTreeMap::new();
        let mut report = IoReport::default();
        for (i, b) in baskets.iter().enumerate() {
            for p in &mut pending[b.batches.0..=b.batches.1] {
                *p += 1;
            }
            match b.span {
                None => {
                    drop(decodes.insert((b.batches.0, i), Task { basket: i, planned: None, record: None, spare: None }))
                }
                Some(span) => {
                    report.bytes_wanted += span.len;
                    // opening may have brought it along with the end of the file
                    let known = known.get(&span.start).filter(|b| b.len() as u64 == span.len).cloned();
                    let held = if cache == CacheSize::Off { known } else { known.or_else(|| tree.file().held(span)) };
                    if let Some(record) = held {
                        let task = Task { basket: i, planned: None, record: Some(record), spare: None };
                        decodes.insert((b.batches.0, i), task);
                        continue;
                    }
                    planned.push(i);
                    list.push(Basket {
                        branch: b.column as u32,
                        index: b.number as u32,
                        span,
                        first: b.entries.start,
                        last: b.entries.end,
                        unzipped: b.unzipped,
                    });
                }
            }
        }
        let limits = if source.is_local() { Limits::local(threads) } else { limits(&*source) };
        let hold = if source.is_local() { HOLD_LOCAL } else { Request::DEFAULT_HOLD };
        let hold = if let CacheSize::Bytes(n) = cache { n.max(1) } else { hold };
        // one cluster that is the whole tree says nothing of what is needed together
        let clusters = if tree.clusters().len() > 2 { tree.clusters().to_vec() } else { Vec::new() };
        let lanes = (limits.max_in_flight, limits.streams);
        let cut = guides.map(|guides| CutProgress::new(&baskets, guides, steps.len(), &limits));
        let request = Request { cache, limits, clusters, hold };
        let kept = traced.then(|| request.clone());
        let mut planner = Planner::new(list, request)?;
        planner.record(traced);
        if let Some(cut) = &cut {
            let ids = planned_ids(&planned, &cut.prefetch.withheld());
            planner.handle(Duration::ZERO, Event::Withhold(ids));
        }
        let kinds = kinds(&columns);
        let ends = batches.iter().filter_map(|b| steps[b.clone()].last()).map(|step| step.end).collect();
        let state = State {
            planner,
            slots: baskets.iter().map(|_| None).collect(),
            picked: vec![None; steps.len()],
            cut,
            spares: Spares::new(&kinds),
            parts: HashMap::new(),
            open: None,
            broken: None,
            pending,
            reads: VecDeque::new(),
            reading: 0,
            decodes,
            at: 0,
            ahead: Ahead::new(threads, source.is_local()),
            under_way: HashMap::new(),
            last: HashSet::new(),
            lanes,
            failure: None,
            stopped: false,
            report,
            times: traced.then(|| vec![Times::default(); columns.len()]),
        };
        let growing = columns[..wanted].iter().map(|c| Mutex::new(c.layout.column_type().empty())).collect();
        Ok(Self {
            growing,
            kinds,
            ends,
            file: tree.file().clone(),
            tree: tree.clone(),
            source,
            steps,
            columns,
            wanted,
            baskets,
            planned,
            state: Mutex::new(state),
            ready: Condvar::new(),
            work: Condvar::new(),
            started: Instant::now(),
            threads,
            request: kept,
        })
    }
}
