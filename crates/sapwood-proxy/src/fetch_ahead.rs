//! Fetches ahead what one client will probably request next.

use crate::common::Common;
use crate::metrics::Metrics;
use crate::version::OpenVersion;
use sapwood_prefetch::{Reader, RequestedSpan, pieces};
use sapwood_span::Span;
use sapwood_span::sync::lock;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

/// Requests that wait until their tree is known, at most.
const WAITING: usize = 256;

/// The reads of one client, through one handle or over HTTP.
pub(crate) struct FetchAhead {
    version: Arc<OpenVersion>,
    common: Arc<Common>,
    most: u64,
    state: Mutex<State>,
}

struct State {
    reader: Reader,
    waiting: VecDeque<Vec<RequestedSpan>>,
    is_learning: bool,
}

impl FetchAhead {
    /// For an opened handle; none where nothing is to be fetched ahead.
    pub(crate) fn new(version: &Arc<OpenVersion>, common: &Arc<Common>) -> Option<Arc<Self>> {
        let most = common.prefetch;
        if most == 0 || version.is_here() {
            return None;
        }
        common.readers.fetch_add(1, Relaxed);
        let state = State { reader: Reader::new(most), waiting: VecDeque::new(), is_learning: false };
        let (version, common) = (Arc::clone(version), Arc::clone(common));
        Some(Arc::new(Self { version, common, most, state: Mutex::new(state) }))
    }

    /// Whether it is of the same file, and of another version.
    pub(crate) fn is_of_another(&self, version: &OpenVersion) -> bool {
        self.version.id.url == version.id.url && self.version.id != version.id
    }

    /// The spans of one client request: inspect them before any of it is fetched.
    pub(crate) fn request(&self, spans: &[Span]) -> Vec<RequestedSpan> {
        let size = self.version.size();
        let inside = spans.iter().filter(|span| span.start < size);
        let inside = inside.map(|span| Span::new(span.start, span.len.min(size - span.start)));
        inside.map(|span| RequestedSpan { span, held: self.version.blocks.held(span) }).collect()
    }

    /// The client has sent this request.
    pub(crate) fn on_request(self: &Arc<Self>, request: Vec<RequestedSpan>) {
        let spans: Vec<Span> = request.iter().map(|requested| requested.span).collect();
        let is_news = self.version.trees.is_news(&spans);
        {
            let mut state = lock(&self.state);
            if state.waiting.len() >= WAITING {
                state.waiting.pop_front();
            }
            state.waiting.push_back(request);
            if state.is_learning {
                return;
            }
            state.is_learning = is_news;
        }
        if !is_news {
            self.go_on();
            return;
        }
        let (this, mut spans) = (Arc::clone(self), spans);
        tokio::spawn(async move {
            loop {
                this.version.trees.learn(&this.version, &spans).await;
                // later requests may concern another tree
                spans = this.waiting();
                if !this.version.trees.is_news(&spans) {
                    break;
                }
            }
            lock(&this.state).is_learning = false;
            this.go_on();
        });
    }

    fn waiting(&self) -> Vec<Span> {
        lock(&self.state).waiting.iter().flatten().map(|requested| requested.span).collect()
    }

    /// Fetches what follows from the requests so far.
    fn go_on(&self) {
        let map = self.version.trees.map();
        let blocks = &self.version.blocks;
        let is_held = |span: Span| blocks.held(span) == span.len;
        let readers = self.common.readers.load(Relaxed).max(1);
        let most = self.most.min(self.common.memory_for_prefetch / readers);
        let mut ahead = Vec::new();
        {
            let mut state = lock(&self.state);
            state.reader.limit(most);
            while let Some(request) = state.waiting.pop_front() {
                ahead.extend(
                    self.common.habits.with(|memory| state.reader.on_request(&request, &map, &is_held, memory)),
                );
            }
        }
        let fetched = pieces(&ahead, self.version.is_http()).iter().map(|piece| self.version.fetch_ahead(piece)).sum();
        Metrics::add(&self.common.metrics.ahead_bytes, fetched);
    }
}

impl Drop for FetchAhead {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.common.readers.fetch_sub(1, Relaxed);
        self.common.habits.remember(&state.reader);
        let stats = state.reader.stats();
        Metrics::add(&self.common.metrics.unused_ahead_bytes, stats.useless + stats.ahead);
    }
}
