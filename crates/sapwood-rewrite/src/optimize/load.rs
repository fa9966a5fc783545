//! Which old baskets each cluster is built from, and reading them: in groups of bounded size, in the order of the file.

use super::basket_split::Rule;
use super::build::Source;
use super::plan::{BasketLocation, Old, TreePlan};
use crate::input::Reader;
use bytes::Bytes;
use sapwood_span::{Result, Span};
use std::collections::HashMap;

/// Compressed bytes read at a time.
const GROUP: u64 = 4 << 20;
/// A branch counts as at least this many bytes: parts cut for it before need room, too.
const LEAST: u64 = 4 << 10;
/// Compressed bytes of later clusters that may wait because their baskets were cut at once. Baskets beyond that are
/// decompressed again for each cluster they extend into.
const AHEAD: f64 = 32e6;
/// Compressed baskets that extend only into the next cluster are kept up to this many bytes; beyond that they are read
/// again.
const CARRIED: usize = 16 << 20;

/// Old baskets read together: for some branches and one cluster.
pub(crate) struct ClusterRequest {
    /// Number of the tree, and of the cluster in it.
    pub(crate) tree: usize,
    pub(crate) cluster: usize,
    branches: Vec<RequestedBranch>,
    /// Whether it completes the cluster.
    pub(crate) last: bool,
}

struct RequestedBranch {
    /// Index into [`TreePlan::branches`].
    branch: usize,
    /// Whether some of its entries were cut before.
    has_piece: bool,
    /// Numbers of baskets, and whether each is cut at once for later clusters.
    baskets: Vec<(usize, bool)>,
}

/// Iterates over all clusters of all trees.
pub(crate) struct Planner<'a> {
    plans: &'a [TreePlan],
    tree: usize,
    cluster: usize,
    branch: usize,
    /// For each branch of the tree: the entry up to which it was cut, and compressed bytes per entry.
    cut: Vec<(u64, f64)>,
    /// Bytes waiting for later clusters.
    waiting: f64,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(plans: &'a [TreePlan]) -> Self {
        Self { plans, tree: 0, cluster: 0, branch: 0, cut: Vec::new(), waiting: 0.0 }
    }

    /// The baskets of a branch for the current cluster, and their compressed bytes.
    fn ask(&mut self, plan: &TreePlan) -> Option<(RequestedBranch, u64)> {
        let branch = plan.branches.get(self.branch)?;
        let later = plan.boundaries.get(self.cluster + 1..)?;
        let (start, end) = (*plan.boundaries.get(self.cluster)?, *later.first()?);
        let whole = matches!(branch.shape.rule, Rule::Whole(_));
        let cut = self.cut.get_mut(self.branch)?;
        let has_piece = cut.0 > start;
        let done = cut.0.max(start);
        let from =
            branch.baskets.partition_point(|o| if whole { o.entries.start < start } else { o.entries.end <= done });
        let to = branch.baskets.partition_point(|o| o.entries.start < end);
        let mut baskets = Vec::with_capacity(to.saturating_sub(from));
        let mut bytes = 0;
        for (i, old) in branch.baskets.iter().enumerate().take(to).skip(from) {
            bytes += old.bytes();
            let reaches = later.partition_point(|&b| b < old.entries.end);
            let rate = old.bytes() as f64 / (old.entries.end - old.entries.start).max(1) as f64;
            let rest = rate * old.entries.end.saturating_sub(end) as f64;
            // for one that extends only into the next cluster, a second decompression costs less than the memory
            let ahead = !whole && reaches > 1 && self.waiting + rest <= AHEAD;
            if ahead {
                self.waiting += rest;
                *cut = (old.entries.end, rate);
            }
            baskets.push((i, ahead));
        }
        Some((RequestedBranch { branch: self.branch, has_piece, baskets }, bytes))
    }
}

impl Iterator for Planner<'_> {
    type Item = ClusterRequest;

    fn next(&mut self) -> Option<ClusterRequest> {
        let (plan, start) = loop {
            let plan = self.plans.get(self.tree)?;
            match plan.boundaries.get(self.cluster..) {
                Some([start, _, ..]) => break (plan, *start),
                _ => (self.tree, self.cluster, self.cut) = (self.tree + 1, 0, Vec::new()),
            }
        };
        if self.branch == 0 {
            self.cut.resize(plan.branches.len(), (0, 0.0));
            self.waiting = self.cut.iter().map(|(to, rate)| to.saturating_sub(start) as f64 * rate).sum();
        }
        let mut request = ClusterRequest { tree: self.tree, cluster: self.cluster, branches: Vec::new(), last: false };
        let mut bytes = 0;
        while bytes < GROUP
            && let Some((branch, more)) = self.ask(plan)
        {
            bytes += more.max(LEAST);
            request.branches.push(branch);
            self.branch += 1;
        }
        if self.branch >= plan.branches.len() {
            request.last = true;
            (self.cluster, self.branch) = (self.cluster + 1, 0);
        }
        Some(request)
    }
}

impl Old {
    /// Compressed bytes.
    fn bytes(&self) -> u64 {
        match &self.place {
            BasketLocation::File(span) => span.len,
            BasketLocation::Header(record, _) => record.len() as u64,
        }
    }

    /// Its record: its own, or the one read at its position.
    fn record(&self, read: &HashMap<u64, Bytes>) -> Option<Bytes> {
        match &self.place {
            BasketLocation::File(span) => read.get(&span.start).cloned(),
            BasketLocation::Header(record, _) => Some(record.clone()),
        }
    }
}

/// The positions of counters' baskets that delimit entries, each once.
fn counters(request: &ClusterRequest, plan: &TreePlan) -> Vec<Span> {
    let mut out = Vec::new();
    for b in &request.branches {
        let Some(branch) = plan.branches.get(b.branch) else { continue };
        for old in b.baskets.iter().filter_map(|&(i, _)| branch.baskets.get(i)) {
            out.extend(branch.counts_of(&old.entries).iter().filter_map(|c| match &c.place {
                BasketLocation::File(span) => Some(*span),
                BasketLocation::Header(..) => None,
            }));
        }
    }
    out.sort_by_key(|s| s.start);
    out.dedup();
    out
}

/// A branch's part of a cluster.
pub(crate) struct Loaded {
    /// Index into [`TreePlan::branches`].
    pub(crate) branch: usize,
    /// Whether some of its entries were cut before.
    pub(crate) has_piece: bool,
    pub(crate) sources: Vec<Source>,
}

/// Reads groups in order.
#[derive(Default)]
pub(crate) struct Loader {
    /// Records that the next cluster needs again: by tree, branch and basket; and their bytes.
    carried: HashMap<(usize, usize, usize), Bytes>,
    carried_bytes: usize,
}

impl Loader {
    /// The baskets of a group.
    ///
    /// # Errors
    /// Errors of reading.
    pub(crate) fn load(&mut self, request: &ClusterRequest, plan: &TreePlan, reader: &Reader) -> Result<Vec<Loaded>> {
        let end = plan.boundaries.get(request.cluster + 1).copied().unwrap_or(0);
        let old = |b: usize, i: usize| plan.branches.get(b).and_then(|x| x.baskets.get(i));
        let mut spans = Vec::new();
        for b in &request.branches {
            for &(i, _) in &b.baskets {
                if let Some(Old { place: BasketLocation::File(span), .. }) = old(b.branch, i)
                    && !self.carried.contains_key(&(request.tree, b.branch, i))
                {
                    spans.push(*span);
                }
            }
        }
        let own = spans.len();
        let of_counters = counters(request, plan);
        spans.extend(&of_counters);
        let mut read = reader.read_all(&spans)?;
        let counts: HashMap<u64, Bytes> = of_counters.iter().map(|s| s.start).zip(read.split_off(own)).collect();
        let mut read = read.into_iter();
        let mut out = Vec::with_capacity(request.branches.len());
        for b in &request.branches {
            let mut sources = Vec::with_capacity(b.baskets.len());
            for &(i, ahead) in &b.baskets {
                let Some(o) = old(b.branch, i) else { continue };
                let key = (request.tree, b.branch, i);
                let record = match (&o.place, self.carried.remove(&key)) {
                    (BasketLocation::Header(record, _), _) => Some(record.clone()),
                    (BasketLocation::File(_), Some(kept)) => {
                        self.carried_bytes -= kept.len();
                        Some(kept)
                    }
                    (BasketLocation::File(_), None) => read.next(),
                };
                let Some(record) = record else { continue };
                let in_file = matches!(o.place, BasketLocation::File(_));
                if in_file && !ahead && o.entries.end > end && self.carried_bytes + record.len() <= CARRIED {
                    self.carried_bytes += record.len();
                    // a copy, so that it does not keep everything read with it in memory
                    self.carried.insert(key, Bytes::copy_from_slice(&record));
                }
                let of = plan.branches.get(b.branch).map_or(&[][..], |x| x.counts_of(&o.entries));
                let counts = of.iter().filter_map(|c| Some((c.entries.clone(), c.record(&counts)?))).collect();
                let key_len = match o.place {
                    BasketLocation::File(_) => None,
                    BasketLocation::Header(_, key_len) => Some(key_len),
                };
                sources.push(Source { entries: o.entries.clone(), record, key_len, counts, ahead });
            }
            out.push(Loaded { branch: b.branch, has_piece: b.has_piece, sources });
        }
        Ok(out)
    }
}
