//! The trees and ntuples of a file that clients read: their basket maps are built in the background, through the same
//! cache. No client waits for it.

use super::OpenVersion;
use crate::basket_map::basket_map;
use crate::mapped::Mapped;
use sapwood_format::{Listing, Opener, Step, Target};
use sapwood_prefetch::{BasketMap, FileMap, TreeAt};
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result, Span};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;

/// What a fresh connection brings in one round trip: class descriptions are read with the list of keys if both are no
/// longer than this.
const SHORT: u64 = 12 << 10;
/// Steps at most to parse one item of a file.
const STEPS: usize = 64;
/// Directories searched in a file without a tree at its top.
const FOLDERS: usize = 16;
/// A header of more bytes is not read.
const LONGEST: u64 = 64 << 20;
/// Baskets kept at most of one file: 24 bytes each.
const MOST_BASKETS: usize = 1 << 20;
/// Short reads of unknown spans before all headers are read, unless there are many: the client knew them before.
const UNKNOWN: u32 = 4;
/// At most this many headers are read at once.
const FEW: usize = 4;

/// What is known of a file's trees.
pub(crate) struct Trees {
    mapped: Arc<Mapped>,
    known: Mutex<Known>,
    /// Only one task parses at a time.
    learning: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    map: Arc<FileMap>,
    /// None before the list of keys is read.
    headers: Option<Vec<Header>>,
    unknown: u32,
}

/// The record of a tree's header, or of an ntuple's anchor.
#[derive(Clone)]
struct Header {
    span: Span,
    target: Target,
    /// It was read, or cannot be.
    is_done: bool,
}

impl Trees {
    /// Nothing is known yet. `mapped` is shared by all files.
    pub(crate) fn new(mapped: Arc<Mapped>) -> Self {
        Self { mapped, known: Mutex::default(), learning: tokio::sync::Mutex::default() }
    }

    /// What is known so far.
    pub(crate) fn map(&self) -> Arc<FileMap> {
        Arc::clone(&lock(&self.known).map)
    }

    /// Whether a client's reads point to something not yet known of the file.
    pub(crate) fn is_news(&self, spans: &[Span]) -> bool {
        let mut known = lock(&self.known);
        let Some(headers) = &known.headers else { return true };
        if headers.iter().all(|header| header.is_done) {
            return false;
        }
        let is_touched = headers.iter().any(|header| header.is_wanted(spans));
        if !is_touched && known.map.trees.is_empty() {
            known.unknown = known.unknown.saturating_add(1);
        }
        is_touched || known.asks_for_all()
    }

    /// Reads what is needed to interpret these reads of a client.
    pub(crate) async fn learn(&self, version: &Arc<OpenVersion>, spans: &[Span]) {
        let _one = self.learning.lock().await;
        if lock(&self.known).headers.is_none() {
            let headers = list(version).await.unwrap_or_default();
            if !headers.is_empty() {
                // the following reads use several connections
                version.prepare();
            }
            let mut known = lock(&self.known);
            known.map = Arc::new(FileMap { size: version.size(), trees: Vec::new() });
            known.headers = Some(headers);
        }
        let wanted: Vec<Header> = {
            let known = lock(&self.known);
            let all = known.asks_for_all();
            let headers = known.headers.iter().flatten();
            headers.filter(|h| !h.is_done && (all || h.is_wanted(spans))).cloned().collect()
        };
        for header in wanted {
            let read = read_header(version, header.target.clone()).await;
            let mut known = lock(&self.known);
            let before = known.baskets();
            if let Some(baskets) = read.filter(|map| before + map.baskets() <= MOST_BASKETS)
                && self.mapped.take(baskets.baskets())
            {
                let mut map = FileMap::clone(&known.map);
                map.trees.push(TreeAt { header: header.span, baskets: Arc::new(baskets) });
                known.map = Arc::new(map);
            }
            known.headers.iter_mut().flatten().filter(|h| h.span == header.span).for_each(|h| h.is_done = true);
        }
    }
}

impl Drop for Trees {
    fn drop(&mut self) {
        self.mapped.give_back(lock(&self.known).baskets());
    }
}

impl Known {
    fn baskets(&self) -> usize {
        self.map.trees.iter().map(|tree| tree.baskets.baskets()).sum()
    }

    fn asks_for_all(&self) -> bool {
        self.unknown >= UNKNOWN && self.headers.as_ref().is_some_and(|headers| headers.len() <= FEW)
    }
}

impl Header {
    fn is_wanted(&self, spans: &[Span]) -> bool {
        !self.is_done && spans.iter().any(|span| span.overlaps(self.span))
    }
}

/// The headers of the newest cycles of all trees; none when it is not a ROOT file.
async fn list(version: &Arc<OpenVersion>) -> Option<Vec<Header>> {
    let keys = answer(version, |opener| opener.list("", false)).await?;
    let folders = keys.iter().filter(|listing| listing.key.class.starts_with("TDirectory")).count();
    let is_tree = |listing: &Listing| listing.key.is_tree() || listing.key.is_ntuple();
    let has_tree = keys.iter().any(is_tree);
    let keys = if has_tree || folders == 0 || folders > FOLDERS {
        keys
    } else {
        answer(version, |opener| opener.list("", true)).await?
    };
    let mut newest: HashMap<String, Listing> = HashMap::new();
    for listing in keys.into_iter().filter(is_tree) {
        let is_newer = newest.get(&listing.path).is_none_or(|known| known.key.cycle < listing.key.cycle);
        if is_newer {
            newest.insert(listing.path.clone(), listing);
        }
    }
    let header = |Listing { path, key }: Listing| Header {
        span: key.span,
        target: Target { path, cycle: Some(key.cycle) },
        is_done: key.span.len > LONGEST,
    };
    Some(newest.into_values().map(header).collect())
}

async fn read_header(version: &Arc<OpenVersion>, target: Target) -> Option<BasketMap> {
    let map = move |opener: &mut Opener| {
        Ok(match opener.tree(&target)? {
            Step::Need(spans) => Step::Need(spans),
            Step::Done(found) => Step::Done(basket_map(&found.tree)),
        })
    };
    answer(version, map).await.flatten()
}

/// Reads until the opener has what it needs. None where the file cannot be read: files that cannot be parsed are served
/// as well.
async fn answer<T: Send + 'static>(
    version: &Arc<OpenVersion>,
    question: impl Fn(&mut Opener) -> Result<Step<T>> + Send + Sync + 'static,
) -> Option<T> {
    let question = Arc::new(question);
    let mut opener = Opener::new(version.size());
    for _ in 0..STEPS {
        let ask = Arc::clone(&question);
        let step = tokio::task::spawn_blocking(move || {
            let step = ask(&mut opener);
            (opener, step)
        });
        let (asked, step): (Opener, Result<Step<T>, Error>) = step.await.ok()?;
        opener = asked;
        let spans = match step.ok()? {
            Step::Done(answer) => return Some(answer),
            Step::Need(spans) => spans,
        };
        if spans.iter().map(|span| span.len).sum::<u64>() > LONGEST {
            return None;
        }
        if let Some(header) = opener.header() {
            // what programs read next when they open a file
            let next = [header.free, header.info];
            let asked: u64 = spans.iter().map(|span| span.len).sum();
            let is_short = |s: &Span| s.start > 0 && asked + s.len < SHORT && s.end() <= version.size();
            let together: Vec<Span> = next.into_iter().filter(is_short).chain(spans.iter().copied()).collect();
            let together = sapwood_span::coalesce(&together, 0, u64::MAX);
            version.fetch_soon(&together.iter().map(|c| c.span).collect::<Vec<_>>());
        }
        let read = version.read_unseen(&spans).await.ok()?;
        spans.iter().zip(read).for_each(|(span, bytes)| opener.push(span.start, bytes));
    }
    None
}
