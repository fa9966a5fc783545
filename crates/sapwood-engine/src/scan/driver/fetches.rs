//! Fetches on their way: read by a worker from a local file, or sent on the network runtime; and what arrives.

use super::{Driver, Running};
use crate::options::EndedRequest;
use crate::read_source::poll_once;
use crate::runtime;
use bytes::Bytes;
use sapwood_plan::{Fetch, FetchId, Part, Range};
use sapwood_source::{FetchReport, Sink};
use sapwood_span::defect::{caught, caught_async, inject};
use sapwood_span::{Result, Span};
use std::sync::Arc;
use std::time::Instant;

impl Driver {
    /// Time has passed: the planner may want something by now.
    pub(crate) fn tick(self: &Arc<Self>) {
        let limits = (!self.source.is_local()).then(|| self.source.limits());
        let mut s = self.lock();
        if s.state.tick(self.elapsed(), limits) {
            self.act(&mut s);
        }
    }

    /// Starts a fetch on the network runtime. Each basket is a span of its own, which the source joins to the ranges that
    /// the planner made: so it is decoded as soon as its last byte is here, and not when that of its range is.
    pub(super) fn send(self: &Arc<Self>, s: &mut Running, fetch: &Fetch, last: bool) {
        let of = |r: &Range| r.parts.iter().map(|&p| (r.span.start + p.offset, p)).collect::<Vec<_>>();
        let parts: Vec<(u64, Part)> = fetch.ranges.iter().flat_map(of).collect();
        let spans = parts.iter().map(|&(start, p)| Span::new(start, p.len)).collect();
        let id = fetch.id;
        let sink =
            Arc::new(BasketSink { driver: self.clone(), id, parts: parts.into_iter().map(|(_, p)| p).collect() });
        let future = match last {
            true => self.source.clone().fetch_last(spans, sink),
            false => self.source.clone().fetch(spans, sink),
        };
        let (driver, watched) = (self.clone(), self.watched(fetch));
        match runtime::handle() {
            Ok(handle) => {
                let task = handle.spawn(async move {
                    let result = caught_async(async {
                        inject::here_with("fetch", &driver.plan.url);
                        future.await
                    });
                    let result = result.await;
                    driver.or_give_up(|| {
                        driver.tell(watched);
                        driver.ended(id, result);
                    });
                });
                s.under_way.insert(id, task.abort_handle());
            }
            Err(e) => s.state.fetch_ended(self.elapsed(), id, Err(e)),
        }
    }

    /// Reads the ranges of a local file.
    pub(crate) fn read(self: &Arc<Self>, fetch: &Arc<Fetch>) {
        let sink = RangeSink { driver: self.clone(), fetch: fetch.clone() };
        let spans = fetch.ranges.iter().map(|r| r.span).collect();
        let watched = self.watched(fetch);
        let result = caught(|| {
            inject::here_with("read", &self.plan.url);
            poll_once(self.source.clone().fetch(spans, Arc::new(sink)))
        });
        self.tell(watched);
        self.lock().state.read_ended();
        self.ended(fetch.id, result);
    }

    /// A request that is sent now, with notification of its end.
    fn watched(&self, fetch: &Fetch) -> Option<EndedRequest> {
        self.on_request.as_ref()?;
        let entry = |part: &Part| Some(self.plan.baskets.get(self.plan.basket_of(part.basket)?.0)?.entries.start);
        let first = |range: &Range| (range.span, range.parts.iter().filter_map(entry).min().unwrap_or(0));
        let now = Instant::now();
        Some(EndedRequest { began: now, ended: now, ranges: fetch.ranges.iter().map(first).collect() })
    }

    /// Tells of a request that has ended.
    fn tell(&self, watched: Option<EndedRequest>) {
        if let (Some(told), Some(request)) = (&self.on_request, watched) {
            told(&EndedRequest { ended: Instant::now(), ..request });
        }
    }

    /// A fetch is over.
    fn ended(self: &Arc<Self>, id: FetchId, result: Result<FetchReport>) {
        let mut s = self.lock();
        s.under_way.remove(&id);
        let now = self.elapsed();
        if !self.source.is_local() {
            s.state.set_limits(now, self.source.limits());
        }
        s.state.fetch_ended(now, id, result);
        self.act(&mut s);
        drop(s);
        self.work.notify_all();
        self.ready.notify_all();
    }

    /// Baskets of a fetch are here, in bytes that begin at this offset of their range.
    fn arrived(self: &Arc<Self>, fetch: FetchId, parts: &[Part], begin: u64, bytes: &Bytes) {
        let mut s = self.lock();
        s.state.arrived(self.elapsed(), fetch, parts, begin, bytes);
        self.act(&mut s);
        drop(s);
        self.work.notify_all();
        self.ready.notify_all();
    }

    /// For those who have nobody to tell of a panic: the network's thread goes on with other work.
    fn or_give_up(&self, work: impl FnOnce()) {
        let done = caught(|| {
            work();
            Ok(())
        });
        if let Err(defect) = done {
            self.give_up(&defect);
        }
    }
}

/// Hands the ranges of a fetch from a local file on as they come.
struct RangeSink {
    driver: Arc<Driver>,
    fetch: Arc<Fetch>,
}

impl Sink for RangeSink {
    fn part(&self, index: usize, bytes: Bytes) {
        if let Some(range) = self.fetch.ranges.get(index) {
            self.driver.arrived(self.fetch.id, &range.parts, 0, &bytes);
        }
    }
}

/// Hands the baskets of a fetch on as they come.
struct BasketSink {
    driver: Arc<Driver>,
    id: FetchId,
    parts: Vec<Part>,
}

impl Sink for BasketSink {
    fn part(&self, index: usize, bytes: Bytes) {
        if let Some(part) = self.parts.get(index) {
            self.driver.or_give_up(|| {
                inject::here_with("sink", &self.driver.plan.url);
                self.driver.arrived(self.id, std::slice::from_ref(part), part.offset, &bytes);
            });
        }
    }
}
