//! Rewrites a file so that it reads fast: entries in clusters, with the baskets of every branch side by side in each of
//! them, in baskets of a good size, compressed on all cores.
//!
//! Nothing is decoded. Baskets are decompressed, cut between entries and joined, so trees of any class can be handled;
//! branches whose entries may refer to positions in their basket keep their baskets in one piece. Before the output
//! gets its name, it is read back: sums over the entries of every branch must equal those of the input, which were
//! computed when its baskets were decompressed, before anything was cut or joined. Ntuples are cut and joined column by
//! column (`ntuples`).

pub(crate) mod basket_split;
mod branch_usage;
pub(crate) mod build;
mod counted;
#[cfg(test)]
mod fault_tests;
mod load;
mod ntuples;
mod pieces;
mod plan;
mod sums;
mod verify;

pub use branch_usage::Used;

use crate::container::Part;
use crate::input::{self, Input};
use crate::options::check_differ;
use crate::ordered::ordered;
use crate::output::Output;
use crate::recode::Recoder;
use basket_split::Rule;
use build::{ClusterPart, build};
use load::{ClusterRequest, Loaded, Loader, Planner};
use ntuples::{PlannedNtuple, plan_ntuples};
use pieces::ClusterParts;
use plan::TreePlan;
use sapwood_codec::Compression;
use sapwood_engine::{OpenOptions, did_you_mean, glob_match};
use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, ErrorKind, Result, setters};
use sapwood_write::target::Placement;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use sums::Sum;

/// Compressed bytes of branches that one thread processes at a time.
const SHARE: usize = 256 << 10;
/// A branch counts as at least this many.
const LEAST: usize = 1 << 10;
/// Bytes of a cluster in the file, as ROOT flushes by default.
pub const CLUSTER: u64 = 30_000_000;
/// Bytes of a basket before compression.
pub const BASKET: u32 = 1 << 20;

/// The size of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterSize {
    /// About this many bytes in the file.
    Bytes(u64),
    /// This number of entries.
    Entries(u64),
}

/// How to rewrite a file.
#[derive(Clone)]
#[non_exhaustive]
pub struct OptimizeOptions {
    /// Replace the output if it exists.
    pub force: bool,
    /// Compression of all baskets; by default each branch keeps its own.
    pub compression: Option<Compression>,
    /// Size of clusters.
    pub cluster: ClusterSize,
    /// Maximum size of a basket before compression, in bytes.
    pub basket_bytes: u32,
    /// Top-level branches to remove: names with `*` and `?`.
    pub drop: Vec<String>,
    /// Branches whose baskets come first in each cluster, in this order.
    pub first: Vec<String>,
    /// What past reads used: after `first` come the branches that most of these reads used, with branches that were
    /// used together next to each other.
    pub used: Used,
    /// Remove top-level branches that none of these reads used, from the trees that were read.
    pub drop_unused: bool,
    /// Branches whose baskets stay in one piece.
    pub keep: Vec<String>,
    /// Compare every entry of the output with the input before it gets its name.
    pub verify: bool,
    /// How to open the input, and the number of threads that compress.
    pub open: OpenOptions,
    /// Wait until the output and its name are on disk.
    pub sync: bool,
    /// Called with the progress from time to time.
    pub progress: Option<Arc<dyn Fn(OptimizeProgress) + Send + Sync>>,
    /// Set from another thread to end with an `Interrupted` error; no output file remains.
    pub cancel: Arc<AtomicBool>,
}

impl Default for OptimizeOptions {
    fn default() -> Self {
        Self {
            force: false,
            compression: None,
            cluster: ClusterSize::Bytes(CLUSTER),
            basket_bytes: BASKET,
            drop: Vec::new(),
            first: Vec::new(),
            used: Used::default(),
            drop_unused: false,
            keep: Vec::new(),
            verify: true,
            open: OpenOptions::default(),
            sync: true,
            progress: None,
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }
}

setters!(OptimizeOptions { force: bool, cluster: ClusterSize, basket_bytes: u32, used: Used, drop_unused: bool, verify: bool, open: OpenOptions, sync: bool, cancel: Arc<AtomicBool> } into { compression: Option<Compression>, drop: Vec<String>, first: Vec<String>, keep: Vec<String> });

impl OptimizeOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls a function with the progress from time to time.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(OptimizeProgress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }
}

/// Progress of a rewrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptimizeProgress {
    /// Number of clusters written and branches compared.
    pub done: u64,
    /// The total of these.
    pub total: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// The result of a rewrite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptimizeReport {
    /// Bytes of the input.
    pub input_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// Its trees.
    pub trees: Vec<OptimizedTree>,
    /// Whether every entry was compared with the input.
    pub verified: bool,
    /// Remarks for the user.
    pub remarks: Vec<String>,
}

/// A rewritten tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptimizedTree {
    /// Directories and name.
    pub path: String,
    /// Entries.
    pub entries: u64,
    /// Number of clusters.
    pub clusters: u64,
    /// Number of baskets before and after.
    pub baskets: (u64, u64),
    /// Bytes of baskets before and after.
    pub bytes: (u64, u64),
    /// Branches whose baskets stayed in one piece, and why.
    pub whole: Vec<(String, String)>,
    /// Removed branches.
    pub dropped: Vec<String>,
    /// Whether it is an ntuple, whose pages are counted as baskets.
    pub is_ntuple: bool,
}

/// Rewrites all trees of a file (path or URL) into a new file `out`; other objects are copied.
///
/// # Errors
/// `Invalid` when the output exists or options are invalid; `Corrupt` when a basket is damaged or a value came out
/// differently. Nothing is left under the output's name, nor next to it.
pub fn optimize(out: &Path, url: &str, options: &OptimizeOptions) -> Result<OptimizeReport> {
    check_differ(url, out)?;
    let input = input::open(url, &options.open)?;
    let name = input.reader.name().to_owned();
    run(out, input, options).map_err(|e| e.in_file(name))
}

fn run(out: &Path, input: Input, options: &OptimizeOptions) -> Result<OptimizeReport> {
    let mut input = input;
    let mut ntuples = plan_ntuples(std::mem::take(&mut input.ntuples), options)?;
    let plans = plans(&input, options)?;
    check_names(&plans, &ntuples, options)?;
    let LaidOut { mut part, plans, sums, mut report } = lay_out(out, input, (plans, &mut ntuples), options)?;
    if options.verify {
        let (clusters, total) = (clusters(&plans) + ntuple_clusters(&ntuples), steps(&plans, &ntuples, options));
        verify::compare(part.path(), (&plans, &sums), threads(options), options, |n| {
            tell(options, clusters + n, total, report.output_bytes);
        })?;
        if !ntuples.is_empty() {
            let written = input::open(&text_of_path(part.path()), &options.open)?;
            ntuples.iter().try_for_each(|n| n.compare(&written, options))?;
        }
        report.verified = true;
    }
    check(options)?;
    part.commit()?;
    Ok(report)
}

fn plans(input: &Input, options: &OptimizeOptions) -> Result<Vec<TreePlan>> {
    let file = compression(input);
    input.trees.iter().map(|t| TreePlan::new(t, &input.streamers, file, options)).collect()
}

/// The compression in the file's header.
fn compression(input: &Input) -> Compression {
    Compression::from_settings(input.reader.compression()).unwrap_or_default()
}

fn clusters(plans: &[TreePlan]) -> u64 {
    plans.iter().map(|p| p.clusters().count() as u64).sum()
}

/// The number of progress steps: clusters written, and branches compared.
fn steps(plans: &[TreePlan], ntuples: &[PlannedNtuple], options: &OptimizeOptions) -> u64 {
    let branches: u64 = plans.iter().map(|p| p.branches.len() as u64).sum();
    clusters(plans) + ntuple_clusters(ntuples) + if options.verify { branches } else { 0 }
}

fn ntuple_clusters(ntuples: &[PlannedNtuple]) -> u64 {
    ntuples.iter().map(PlannedNtuple::clusters).sum()
}

fn tell(options: &OptimizeOptions, done: u64, total: u64, bytes: u64) {
    if let Some(f) = &options.progress {
        f(OptimizeProgress { done, total, bytes });
    }
}

fn threads(options: &OptimizeOptions) -> usize {
    match options.open.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

/// A complete file without its name yet, and the sums for comparison.
struct LaidOut {
    part: Part,
    plans: Vec<TreePlan>,
    /// Of the input, by tree and by branch.
    sums: Vec<Vec<Vec<Sum>>>,
    report: OptimizeReport,
}

fn lay_out(
    out: &Path,
    input: Input,
    (mut plans, ntuples): (Vec<TreePlan>, &mut [PlannedNtuple]),
    options: &OptimizeOptions,
) -> Result<LaidOut> {
    let reader = input.reader.clone();
    let own = compression(&input);
    let place = Placement { replace: options.force, sync: options.sync };
    let mut output = Output::create(out, place, options.compression.unwrap_or(own), options.compression)?;
    let mut report = OptimizeReport { input_bytes: reader.size(), ..OptimizeReport::default() };
    output.begin(input)?;
    for (i, p) in plans.iter().enumerate() {
        output.relayout(i, p.relayout(options.basket_bytes));
        report.trees.push(summary(p));
    }
    let (threads, total) = (threads(options), steps(&plans, ntuples, options));
    let pieces = ClusterParts::default();
    let mut sums: Vec<Vec<Vec<Sum>>> = plans.iter().map(|p| vec![Vec::new(); p.branches.len()]).collect();
    ordered(
        1,
        2,
        Planner::new(&plans),
        Loader::default,
        |loader, request: ClusterRequest| {
            check(options)?;
            let plan = plans.get(request.tree).ok_or_else(|| Error::corrupt("a tree without a plan"))?;
            let loaded = loader.load(&request, plan, &reader)?;
            Ok((request, plan, loaded))
        },
        |groups| {
            ordered(
                threads,
                4 * threads,
                groups.flat_map(shares),
                Recoder::default,
                |recoder, share| {
                    let working = pieces.working();
                    check(options)?;
                    let packed = pack(share?, &pieces, recoder)?;
                    working.done();
                    Ok(packed)
                },
                |results| {
                    let mut done = 0;
                    for result in results {
                        check(options)?;
                        let packed: ClusterResult = result?;
                        for (place, index, piece) in packed.branches {
                            if let Some(of) = sums.get_mut(packed.tree).and_then(|t| t.get_mut(place)) {
                                of.extend(piece.sums);
                            }
                            for mut b in piece.built {
                                if let Some(t) = report.trees.get_mut(packed.tree) {
                                    t.baskets.1 += 1;
                                    t.bytes.1 += b.record.len() as u64;
                                }
                                output.record(packed.tree, index, b.first, &mut b.record, b.total)?;
                            }
                        }
                        if packed.last {
                            done += 1;
                            tell(options, done, total, output.position());
                        }
                    }
                    Ok::<(), Error>(())
                },
            )
        },
    )?;
    drop(pieces);
    // the output's header and the comparison need the memory
    plans.iter_mut().for_each(TreePlan::forget_baskets);
    let mut done = clusters(&plans);
    for ntuple in ntuples {
        let written = ntuple.lay_out(&reader, &mut output, options, |bytes| tell(options, done, total, bytes))?;
        done += written.clusters;
        tell(options, done, total, output.position());
        report.trees.push(written);
    }
    output.end()?;
    let (part, merged) = output.close(|| check(options))?;
    report.output_bytes = merged.output_bytes;
    report.remarks = merged.remarks;
    Ok(LaidOut { part, plans, sums, report })
}

/// Patterns without a match, and perf stats of other files, are errors.
fn check_names(plans: &[TreePlan], ntuples: &[PlannedNtuple], options: &OptimizeOptions) -> Result<()> {
    for p in &options.drop {
        if !plans
            .iter()
            .any(|t| t.dropped_names.iter().any(|n| glob_match(p, n) || glob_match(p, n.trim_end_matches('.'))))
        {
            let names = plans.iter().flat_map(|t| t.branches.iter().map(|b| b.name.as_str()));
            of_ntuple(p, ntuples)?;
            let remedy = similar(p, names);
            return Err(Error::not_found(format!("no top-level branch matches {p}")).with_remedy(remedy));
        }
    }
    if options.drop_unused && options.used.is_empty() {
        return Err(Error::invalid("dropping unused branches needs perf stats, and none are given")
            .with_remedy("`sapwood perf FILE:TREE -o stats.json` writes them"));
    }
    options.used.check(plans.iter().map(|p| (p.path.as_str(), p.branches.as_slice())))?;
    for p in options.first.iter().chain(&options.keep) {
        if !plans.iter().any(|t| t.branches.iter().any(|b| glob_match(p, &b.name))) {
            of_ntuple(p, ntuples)?;
            let names = plans.iter().flat_map(|t| t.branches.iter().map(|b| b.name.as_str()));
            return Err(Error::not_found(format!("no branch with data matches {p}")).with_remedy(similar(p, names)));
        }
    }
    Ok(())
}

/// Refuses a pattern that only matches fields of an ntuple.
fn of_ntuple(pattern: &str, ntuples: &[PlannedNtuple]) -> Result<()> {
    match ntuples.iter().find(|n| n.has_field(pattern)) {
        None => Ok(()),
        Some(ntuple) => {
            let what = format!("{pattern} matches a field of the ntuple {}, which keeps its fields", ntuple.path());
            Err(Error::unsupported(what).with_remedy("this option is for branches of trees"))
        }
    }
}

/// A hint to find the right name.
fn similar<'a>(pattern: &str, names: impl Iterator<Item = &'a str>) -> String {
    let near = if pattern.contains(['*', '?']) { None } else { did_you_mean(pattern, names) };
    near.unwrap_or_else(|| "`sapwood show` lists the branches".to_owned())
}

fn summary(p: &TreePlan) -> OptimizedTree {
    let whole = p.branches.iter().filter_map(|b| match &b.shape.rule {
        Rule::Whole(why) => Some((b.name.clone(), why.clone())),
        _ => None,
    });
    OptimizedTree {
        path: p.path.clone(),
        entries: p.entries,
        clusters: p.clusters().count() as u64,
        baskets: (p.baskets_before, 0),
        bytes: (p.bytes_before, 0),
        whole: whole.collect(),
        dropped: p.dropped_names.clone(),
        is_ntuple: false,
    }
}

/// The work for one thread at a time: branches of a cluster.
struct Share<'a> {
    tree: usize,
    plan: &'a TreePlan,
    cluster: usize,
    branches: Vec<Loaded>,
    /// Whether it completes the cluster.
    last: bool,
}

/// The result for a branch: its index in the plan and its number in the header.
struct ClusterResult {
    tree: usize,
    branches: Vec<(usize, usize, ClusterPart)>,
    last: bool,
}

fn shares(group: Result<(ClusterRequest, &TreePlan, Vec<Loaded>)>) -> Vec<Result<Share<'_>>> {
    let (ClusterRequest { tree, cluster, last, .. }, plan, loaded) = match group {
        Ok(c) => c,
        Err(e) => return vec![Err(e)],
    };
    let begin = || Share { tree, plan, cluster, branches: Vec::new(), last: false };
    let mut out = vec![begin()];
    let mut bytes = 0;
    for branch in loaded {
        if bytes >= SHARE {
            out.push(begin());
            bytes = 0;
        }
        bytes += branch.sources.iter().map(|s| s.record.len()).sum::<usize>().max(LEAST);
        if let Some(share) = out.last_mut() {
            share.branches.push(branch);
        }
    }
    if let Some(share) = out.last_mut() {
        share.last = last;
    }
    out.into_iter().map(Ok).collect()
}

fn pack(share: Share, pieces: &ClusterParts, recoder: &mut Recoder) -> Result<ClusterResult> {
    let mut branches = Vec::with_capacity(share.branches.len());
    let boundaries = share.plan.boundaries.get(share.cluster..).unwrap_or_default();
    for b in share.branches {
        let Some(branch) = share.plan.branches.get(b.branch) else { continue };
        let place = (share.tree, b.branch, share.cluster);
        let before = if b.has_piece { pieces.take(place)? } else { ClusterPart::default() };
        let (built, later) =
            build(&branch.shape, before, &b.sources, boundaries, recoder).map_err(|e| e.in_branch(&branch.name))?;
        pieces.give(place, later);
        branches.push((b.branch, branch.index, built));
    }
    Ok(ClusterResult { tree: share.tree, branches, last: share.last })
}

fn check(options: &OptimizeOptions) -> Result<()> {
    if options.cancel.load(Relaxed) { Err(Error::new(ErrorKind::Interrupted, "interrupted")) } else { Ok(()) }
}
