use crate::entries::EntryList;
use crate::friend_rows::FriendRequest;
use crate::options::StepSize;
use crate::tree::Tree;
use sapwood_span::{Error, Result};
use std::ops::Range;

/// Decoded bytes of a step, and of a batch when the engine chooses.
const CHOSEN: u64 = 8 << 20;

/// Batches of one scan: a damaged header that claims more entries than there can be is noticed here.
const MOST: u64 = 1 << 20;

/// Batches, and the steps in which they are decoded and joined: what is decoded is small enough to stay in the
/// processor's cache and to be used again, however large the batches are.
pub(super) struct Steps {
    /// Entries of each step, in order.
    pub steps: Vec<Range<u64>>,
    /// Which steps make up a batch.
    pub batches: Vec<Range<usize>>,
}

/// Divides entries into batches and these into steps; steps without a selected entry, and batches without steps, are
/// left out, but for a last one. What friends add to an entry makes them smaller.
pub(super) fn steps(
    tree: &Tree,
    branches: &[usize],
    entries: &Range<u64>,
    step: StepSize,
    selected: Option<&EntryList>,
    friends: &[FriendRequest],
) -> Result<Steps> {
    let mut out = Steps { steps: Vec::new(), batches: Vec::new() };
    let beside: f64 = friends.iter().map(|f| f.bytes_per_entry).sum();
    let per_entry = bytes_per_entry(tree, branches, entries) + beside;
    let most = entries_in(CHOSEN, per_entry);
    let whole = entries.end - entries.start;
    let least = match step {
        StepSize::Entries(n) => most.min(n.max(1)),
        StepSize::Bytes(n) => most.min(entries_in(n, per_entry)),
        StepSize::All | StepSize::Cluster => most,
    };
    if whole / least > MOST {
        return Err(Error::invalid(format!("{whole} entries in batches of {least} are too many batches"))
            .with_remedy("choose larger batches or fewer entries"));
    }
    for batch in batches(tree, per_entry, entries, step) {
        let from = out.steps.len();
        if batch.end - batch.start <= most {
            out.steps.push(batch);
        } else {
            out.steps.extend(along(tree.clusters(), &batch, most));
        }
        if let Some(list) = selected {
            let chosen = out.steps.split_off(from).into_iter().filter(|s| list.touches(s));
            out.steps.extend(chosen);
        }
        if from < out.steps.len() {
            out.batches.push(from..out.steps.len());
        }
    }
    if out.batches.is_empty() {
        out.steps.push(entries.start..entries.start);
        out.batches.push(0..1);
    }
    Ok(out)
}

/// The steps of a scan of the first entries of a tree, of which what is read has so many bytes decompressed: no more than about `most`.
pub(crate) fn of_entries(clusters: &[u64], entries: u64, bytes: f64, most: u64) -> Vec<Range<u64>> {
    let fits = entries_in(CHOSEN, bytes / entries.max(1) as f64);
    along(clusters, &(0..entries), fits.max(entries.div_ceil(most.max(1))))
}

fn batches(tree: &Tree, per_entry: f64, entries: &Range<u64>, step: StepSize) -> Vec<Range<u64>> {
    if entries.start == entries.end {
        return vec![entries.clone()];
    }
    match step {
        StepSize::All => vec![entries.clone()],
        StepSize::Entries(n) => even(entries, n.max(1)),
        StepSize::Cluster => along(tree.clusters(), entries, entries_in(CHOSEN, per_entry)),
        StepSize::Bytes(bytes) => along(tree.clusters(), entries, entries_in(bytes, per_entry)),
    }
}

/// Inflated bytes of these branches, per entry.
fn bytes_per_entry(tree: &Tree, branches: &[usize], entries: &Range<u64>) -> f64 {
    let h = tree.header();
    let total: u64 = branches.iter().filter_map(|&b| h.branches.get(b)).map(|b| b.total_bytes).sum();
    total as f64 / h.entries.max(entries.end).max(1) as f64
}

fn entries_in(bytes: u64, per_entry: f64) -> u64 {
    if per_entry <= 0.0 { u64::MAX } else { ((bytes as f64 / per_entry) as u64).max(1) }
}

fn even(entries: &Range<u64>, n: u64) -> Vec<Range<u64>> {
    let mut out = Vec::new();
    let mut at = entries.start;
    while at < entries.end {
        let end = at.saturating_add(n).min(entries.end);
        out.push(at..end);
        at = end;
    }
    out
}

/// Whole clusters as long as they fit; a cluster that does not fit alone is divided evenly.
fn along(clusters: &[u64], entries: &Range<u64>, most: u64) -> Vec<Range<u64>> {
    let inner = clusters.iter().copied().filter(|c| *c > entries.start && *c < entries.end);
    let bounds = inner.chain(std::iter::once(entries.end));
    let mut out: Vec<Range<u64>> = Vec::new();
    let mut from = entries.start;
    for to in bounds {
        match out.last_mut() {
            Some(last) if to - last.start <= most => last.end = to,
            _ if to - from <= most => out.push(from..to),
            _ => {
                let pieces = (to - from).div_ceil(most);
                out.extend(even(&(from..to), (to - from).div_ceil(pieces)));
            }
        }
        from = to;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn along_clusters() {
        assert_eq!(along(&[0, 10, 20, 30], &(0..30), 20), [0..20, 20..30]);
        assert_eq!(along(&[0, 10, 20, 30], &(5..30), 10), [5..10, 10..20, 20..30]);
        assert_eq!(along(&[0, 10, 30], &(0..30), 8), [0..5, 5..10, 10..17, 17..24, 24..30]);
        assert_eq!(along(&[0, 30], &(0..30), u64::MAX), vec![Range { start: 0, end: 30 }]);
        assert_eq!(even(&(3..10), 3), [3..6, 6..9, 9..10]);
        // 8 MiB of 1 MiB for each entry, and fewer steps where there would be too many
        let mib = f64::from(1 << 20);
        assert_eq!(of_entries(&[], 20, 20.0 * mib, 100), [0..7, 7..14, 14..20]);
        assert_eq!(of_entries(&[0, 5, 10, 15], 20, 20.0 * mib, 100), [0..5, 5..10, 10..15, 15..20]);
        assert_eq!(of_entries(&[], 20, 1e3 * mib, 2), [0..10, 10..20]);
    }
}
