//! How well a tree or ntuple is laid out in its file, from its header alone: sizes and order of baskets or pages, and
//! what typical uses cost, computed by the planner itself over modelled networks; the same for the layout that
//! [`optimize`](sapwood_rewrite::optimize) would produce.

pub(super) mod report;

use crate::parts::Parts;
use sapwood_format::tree::Tree;
use sapwood_plan::{Basket, CacheSize, Limits, Request};
use sapwood_rewrite::optimize::{BASKET, CLUSTER};
use sapwood_rewrite::ordered;
use sapwood_sim::{Client, Faults, Link, run};
use sapwood_span::{Error, Result, Span};
use sapwood_write::NtupleOptions;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Bytes per second of the networks for which costs are computed: 1 Gbit/s.
const BANDWIDTH: f64 = 125e6;
/// A tree with more baskets is described but not simulated: a million take about half a minute of one core.
const MOST: usize = 2_000_000;

/// The layout of a tree, and what reading it costs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Diagnosis {
    /// Clusters: first entries, and the number of entries at the end.
    pub clusters: Vec<u64>,
    /// What is counted: `basket`, or `page`.
    pub noun: &'static str,
    /// Baskets or pages in the file.
    pub baskets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Smallest, median and largest, in bytes.
    pub basket_bytes: (u64, u64, u64),
    /// Baskets placed before one that is needed earlier, when all branches are read entry by entry.
    pub backward: u64,
    /// Pages with the bytes of another, which the writer stored once.
    pub shared: u64,
    /// Baskets that share bytes with another: damage, or a writer's mistake.
    pub overlapping: u64,
    /// Branches with baskets, by bytes, the largest first.
    pub branches: Vec<BranchSizes>,
    /// Cost of typical uses now and after a rewrite; empty when there are too many baskets.
    pub costs: Vec<Cost>,
}

/// The baskets of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BranchSizes {
    /// Its path.
    pub name: String,
    /// Its number.
    pub branch: usize,
    /// Baskets or pages in the file.
    pub baskets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The cost of a use.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cost {
    /// What is read: `all branches`, `one branch` (of median size), `20 % of the entries`.
    pub reads: &'static str,
    /// Size of the tree cache.
    pub cache: CacheSize,
    /// Round-trip time of the network; zero is a local disk.
    pub round_trip: Duration,
    /// Now.
    pub now: Price,
    /// After `sapwood optimize`.
    pub rewritten: Price,
}

/// Requests, ranges in them, bytes requested, and time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// Requests to the server, or reads of a local file.
    pub requests: u64,
    /// Ranges in them.
    pub ranges: u64,
    /// Bytes requested, bridged gaps included.
    pub bytes: u64,
    /// How often nothing could be decompressed because bytes were missing.
    pub waits: u64,
    /// Until the last entry.
    pub time: Duration,
}

/// What reading branches of a tree costs over a network of this round-trip time and bandwidth (bytes per second), as the
/// planner reads them: now, and after `sapwood optimize`. Without branches: all of them.
///
/// # Errors
/// `Invalid` when the planner refuses the baskets, for example those of a damaged header, or there are too many.
pub fn cost_of_branches(
    tree: &Tree,
    clusters: &[u64],
    branches: &[usize],
    round_trip: Duration,
    bandwidth: f64,
) -> Result<(Price, Price)> {
    let parts = Parts::of(tree);
    let now = &parts.all;
    if now.len() > MOST {
        let what = format!("the tree has {} {}s; the model takes {MOST}", now.len(), parts.noun());
        return Err(Error::invalid(what));
    }
    let (then, then_clusters) = rewritten(tree, now);
    let chosen: HashSet<u32> = branches.iter().flat_map(|&b| parts.read_with(tree, b)).collect();
    let wanted = |b: &&Basket| branches.is_empty() || chosen.contains(&b.branch);
    let entries = (0, tree.entries);
    let network = Network { round_trip, bandwidth, has_pages: tree.ntuple.is_some() };
    let of = |all: &[Basket], clusters: &[u64]| {
        price(all.iter().filter(wanted).copied().collect(), clusters, entries, CacheSize::Auto, network)
    };
    Ok((of(now, clusters)?, of(&then, &then_clusters)?))
}

/// A network of the model; a round-trip time of zero is a local disk.
#[derive(Clone, Copy)]
struct Network {
    round_trip: Duration,
    bandwidth: f64,
    /// Whether pages of an ntuple are read, and no baskets.
    has_pages: bool,
}

/// Examines a tree for these sizes of the tree cache and round-trip times.
///
/// # Errors
/// `Invalid` when the planner refuses its baskets, for example those of a damaged header.
pub(super) fn diagnose(
    tree: &Tree,
    clusters: &[u64],
    caches: &[CacheSize],
    round_trips: &[Duration],
) -> Result<Diagnosis> {
    let parts = Parts::of(tree);
    let now = parts.all.as_slice();
    let mut out = layout(tree, &parts);
    out.clusters = clusters.to_vec();
    if now.is_empty() || now.len() > MOST {
        return Ok(out);
    }
    let (then, then_clusters) = rewritten(tree, now);
    let median = out.branches.get(out.branches.len() / 2).map(|b| parts.read_with(tree, b.branch));
    let fifth = (tree.entries * 2 / 5, tree.entries * 2 / 5 + tree.entries.div_ceil(5));
    let has_pages = tree.ntuple.is_some();
    let mut uses: Vec<Use<'_>> = Vec::new();
    for (reads, branch, entries) in [
        ("all branches", None, (0, tree.entries)),
        ("one branch", median.as_ref(), (0, tree.entries)),
        ("20 % of the entries", None, fifth),
    ] {
        for &cache in caches {
            uses.extend(round_trips.iter().map(|&round_trip| Use {
                reads,
                branch,
                entries,
                cache,
                round_trip,
                has_pages,
            }));
        }
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(uses.len());
    out.costs = ordered(
        threads,
        2 * threads,
        uses.into_iter(),
        || (),
        |(), one| Ok(one.cost(one.price(now, clusters)?, one.price(&then, &then_clusters)?)),
        |costs| costs.collect::<Result<_>>(),
    )?;
    Ok(out)
}

/// A kind of use of a tree.
struct Use<'a> {
    reads: &'static str,
    /// What is read for a branch, as in [`Basket::branch`]; all when there is none.
    branch: Option<&'a HashSet<u32>>,
    entries: (u64, u64),
    cache: CacheSize,
    round_trip: Duration,
    has_pages: bool,
}

impl Use<'_> {
    fn price(&self, all: &[Basket], clusters: &[u64]) -> Result<Price> {
        let network = Network { round_trip: self.round_trip, bandwidth: BANDWIDTH, has_pages: self.has_pages };
        price(choose(all, self.branch, self.entries), clusters, self.entries, self.cache, network)
    }

    fn cost(&self, now: Price, rewritten: Price) -> Cost {
        Cost { reads: self.reads, cache: self.cache, round_trip: self.round_trip, now, rewritten }
    }
}

fn layout(tree: &Tree, parts: &Parts) -> Diagnosis {
    let all = &parts.all;
    let mut sizes: Vec<u64> = all.iter().map(|b| b.span.len).collect();
    sizes.sort_unstable();
    let middle = |s: &[u64]| s.get(s.len() / 2).copied().unwrap_or(0);
    let mut order: Vec<&Basket> = all.iter().collect();
    order.sort_by_key(|b| (b.first, b.branch));
    let backward = order.windows(2).filter(|w| w[1].span.start < w[0].span.start).count() as u64;
    order.sort_by_key(|b| b.span.start);
    // pages with the same content are stored once
    let is_shared = |w: &&[&Basket]| tree.ntuple.is_some() && w[1].span == w[0].span;
    let shared = order.windows(2).filter(is_shared).count() as u64;
    let shared_bytes: u64 = order.windows(2).filter(is_shared).map(|w| w[1].span.len).sum();
    let overlapping = order.windows(2).filter(|w| w[1].span.start < w[0].span.end()).count() as u64 - shared;
    let mut branches: Vec<BranchSizes> = Vec::new();
    let mut place: HashMap<usize, usize> = HashMap::new();
    for group in all.chunk_by(|a, b| a.branch == b.branch) {
        let Some(branch) = group.first().map(|b| parts.branch(b)) else { continue };
        let at = *place.entry(branch).or_insert_with(|| {
            branches.push(BranchSizes { name: tree.path(branch), branch, ..BranchSizes::default() });
            branches.len() - 1
        });
        branches[at].baskets += group.len() as u64;
        branches[at].bytes += group.iter().map(|b| b.span.len).sum::<u64>();
    }
    branches.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    Diagnosis {
        baskets: all.len() as u64,
        noun: parts.noun(),
        bytes: sizes.iter().sum::<u64>() - shared_bytes,
        shared,
        basket_bytes: (sizes.first().copied().unwrap_or(0), middle(&sizes), sizes.last().copied().unwrap_or(0)),
        backward,
        overlapping,
        branches,
        ..Diagnosis::default()
    }
}

/// The layout after a rewrite: even clusters, in each the baskets of every branch, or the pages of every column, side by
/// side.
fn rewritten(tree: &Tree, now: &[Basket]) -> (Vec<Basket>, Vec<u64>) {
    let bytes: u64 = now.iter().map(|b| b.span.len).sum();
    let size = if tree.ntuple.is_some() { NtupleOptions::default().cluster_bytes } else { CLUSTER };
    let clusters = bytes.div_ceil(size).clamp(1, tree.entries.max(1));
    let step = tree.entries.div_ceil(clusters).max(1);
    let starts: Vec<u64> = (0..tree.entries.div_ceil(step)).map(|i| i * step).collect();
    let mut out = Vec::new();
    let mut at = 1024;
    let groups: Vec<&[Basket]> = now.chunk_by(|a, b| a.branch == b.branch).collect();
    let mut counts = vec![0; groups.len()];
    for &start in &starts {
        for (group, count) in groups.iter().zip(&mut counts) {
            let end = group.last().map_or(0, |b| b.last).min(start + step);
            if end <= start {
                continue;
            }
            let of = |f: fn(&Basket) -> u64| group.iter().map(f).sum::<u64>() as f64;
            let part = (end - start) as f64 / group.last().map_or(1, |b| b.last) as f64;
            let (zipped, unzipped) = (of(|b| b.span.len) * part, of(|b| b.unzipped) * part);
            let n = ((unzipped / f64::from(BASKET)).ceil() as u64).clamp(1, end - start);
            for k in 0..n {
                let [first, last] = [k, k + 1].map(|k| start + (end - start) * k / n);
                let len = ((zipped / n as f64) as u64).max(1);
                let branch = group.first().map_or(0, |b| b.branch);
                let (span, unzipped) = (Span::new(at, len), (unzipped / n as f64) as u64);
                out.push(Basket { branch, index: *count, span, first, last, unzipped });
                *count += 1;
                at += len;
            }
        }
    }
    (out, starts)
}

fn choose(all: &[Basket], branch: Option<&HashSet<u32>>, (from, to): (u64, u64)) -> Vec<Basket> {
    let wanted = |b: &&Basket| branch.is_none_or(|set| set.contains(&b.branch)) && b.first < to && b.last > from;
    all.iter().filter(wanted).copied().collect()
}

/// The planner knows one basket of a branch for an entry: pages of a column in the same cluster become such of several
/// branches, as in scans.
fn keep_apart(pages: &mut [Basket]) {
    let step = pages.iter().map(|p| p.branch).max().unwrap_or(0).saturating_add(1);
    let mut before = (0, 0, 0);
    for page in pages {
        let number = if before.0 == page.branch && before.1 == page.first { before.2 + 1 } else { 0 };
        before = (page.branch, page.first, number);
        page.branch = page.branch.saturating_add(step.saturating_mul(number));
    }
}

/// Runs the planner over a modelled network.
fn price(
    mut baskets: Vec<Basket>,
    clusters: &[u64],
    (from, to): (u64, u64),
    cache: CacheSize,
    Network { round_trip, bandwidth, has_pages }: Network,
) -> Result<Price> {
    if baskets.is_empty() || to <= from {
        return Ok(Price::default());
    }
    if has_pages {
        keep_apart(&mut baskets);
    }
    let (link, limits) = match round_trip.is_zero() {
        true => (Link::local(500e6, Duration::from_micros(80)), Limits::local(2)),
        false => (Link::new(round_trip, bandwidth), Limits::http(round_trip)),
    };
    let request = Request { cache, limits, clusters: clusters.to_vec(), ..Request::default() };
    // batches along the clusters, as in scans
    let mut edges: Vec<u64> = clusters.iter().copied().filter(|c| *c > from && *c < to).collect();
    edges.insert(0, from);
    edges.push(to);
    let batches = edges.windows(2).map(|w| (w[0], w[1])).collect();
    let client = Client { batches, ..Client::sequential(1, 1) };
    let report = run(&baskets, request, &link, &client, &Faults::default())?;
    let s = &report.stats;
    Ok(Price { requests: s.requests, ranges: s.ranges, bytes: s.asked_bytes, waits: report.waits, time: report.time })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_format::tree::Branch;

    /// Twenty branches whose small baskets alternate in the file, in the order in which they filled up.
    fn scattered() -> Tree {
        let (branches, baskets, entries) = (20u64, 50u64, 1000u64);
        let branch = |b: u64| Branch {
            name: format!("b{b}"),
            entries,
            entry_number: entries,
            write_basket: baskets as usize,
            total_bytes: 3000 * baskets,
            basket_bytes: vec![1000; baskets as usize],
            basket_entry: (0..baskets).map(|i| i * entries / baskets).collect(),
            // every second branch is at the end
            basket_seek: (0..baskets).map(|i| 2000 + (b % 2) * 2_000_000 + (i * branches + b) * 1000).collect(),
            ..Branch::default()
        };
        let all: Vec<Branch> = (0..branches).map(branch).collect();
        Tree { entries, top: (0..all.len()).collect(), branches: all, ..Tree::default() }
    }

    #[test]
    fn a_scattered_tree_is_told_and_a_rewrite_gains() {
        let round_trips = [Duration::ZERO, Duration::from_millis(50)];
        let d = diagnose(&scattered(), &[0, 1000], &[CacheSize::Off, CacheSize::Auto], &round_trips).unwrap();
        assert_eq!((d.baskets, d.bytes, d.basket_bytes), (1000, 1_000_000, (1000, 1000, 1000)));
        assert!(d.backward > 100, "{}", d.backward);
        assert_eq!((d.overlapping, d.branches.len(), d.costs.len()), (0, 20, 12));
        let all = d.costs.iter().find(|c| c.reads == "all branches" && c.cache == CacheSize::Off).unwrap();
        assert_eq!((all.now.requests, all.rewritten.requests), (1000, 20));
        // a tree this small becomes one basket per branch: a part of its entries then costs all of them, and the doctor
        // reports that
        let part = d.costs.iter().find(|c| c.reads.contains("entries") && c.cache == CacheSize::Auto).unwrap();
        assert!(part.rewritten.bytes > part.now.bytes, "{part:?}");
        for c in d.costs.iter().filter(|c| !c.reads.contains("entries")) {
            assert!(c.rewritten.requests <= c.now.requests, "{c:?}");
        }
    }

    #[test]
    fn prices_bridge_no_gap_that_the_client_would_not() {
        // every second basket of 1000 bytes belongs to another branch
        let branch = |b: u64| Branch {
            name: format!("b{b}"),
            entries: 10,
            entry_number: 10,
            write_basket: 10,
            basket_bytes: vec![1000; 10],
            basket_entry: (0..10).collect(),
            basket_seek: (0..10).map(|i| 2000 + (2 * i + b) * 1000).collect(),
            ..Branch::default()
        };
        let tree = Tree { entries: 10, top: vec![0, 1], branches: vec![branch(0), branch(1)], ..Tree::default() };
        let far = Duration::from_millis(20);
        let d = diagnose(&tree, &[0, 10], &[CacheSize::Auto], &[far]).unwrap();
        let one = d.costs.iter().find(|c| c.reads == "one branch").unwrap();
        assert_eq!((one.now.ranges, one.now.bytes), (10, 10_000), "{one:?}");
    }

    #[test]
    fn a_tree_without_baskets_has_no_costs() {
        let d = diagnose(&Tree::default(), &[0], &[CacheSize::Auto], &[Duration::ZERO]).unwrap();
        assert_eq!((d.baskets, d.costs.len()), (0, 0));
    }
}
