//! What the planner asks for, on its way: from a local file's workers or from the network, and what arrives.

use super::decode::Task;
use super::state::{Shared, State};
use crate::runtime;
use bytes::Bytes;
use sapwood_plan::{Action, Event, Fetch, FetchId, Limits, Part, Range};
use sapwood_source::{FetchReport, Sink, Source};
use sapwood_span::defect::{caught, caught_async, inject};
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::sync::Arc;
use std::time::Duration;

impl Shared {
    /// Time has passed: the planner may want something by now.
    pub fn tick(self: &Arc<Self>) {
        let told = (!self.source.is_local()).then(|| limits(&*self.source));
        let mut s = self.lock();
        let now = self.elapsed();
        // more connections may turn out to be worth having while large requests are under way
        let news = told.filter(|l| (l.max_in_flight, l.streams) != s.lanes);
        let due = s.planner.deadline().is_some_and(|at| at <= now);
        if due || news.is_some() {
            if let Some(limits) = news {
                s.tell(now, limits);
            }
            self.pump(&mut s);
        }
    }

    /// Does what the planner says.
    pub fn pump(self: &Arc<Self>, s: &mut State) {
        if s.stopped {
            return;
        }
        while let Some(action) = s.planner.poll(self.elapsed()) {
            match action {
                Action::Fetch(fetch) if self.source.is_local() => s.reads.push_back(Arc::new(fetch)),
                Action::Fetch(fetch) => self.send(s, &fetch),
                Action::Cancel(id) => {
                    if let Some(task) = s.under_way.remove(&id) {
                        task.abort();
                    }
                    s.last.remove(&id);
                    s.reads.retain(|f| f.id != id);
                }
                Action::GiveUp(baskets) => {
                    for id in baskets {
                        let why = s.failure.as_ref().map_or_else(
                            || Error::new(ErrorKind::Io, "could not be read").in_file(self.file.url()),
                            Error::duplicate,
                        );
                        if let Some(&basket) = self.planned.get(id.index()) {
                            let why =
                                why.in_branch(self.tree.name_of(self.columns[self.baskets[basket].column].branch));
                            self.put(s, basket, Err(why), 0);
                        }
                    }
                }
            }
        }
    }

    /// Starts a fetch on the network runtime. Each basket is a span of its own, which the source joins to the ranges that
    /// the planner made: so it is decoded as soon as its last byte is here, and not when that of its range is.
    fn send(self: &Arc<Self>, s: &mut State, fetch: &Fetch) {
        let of = |r: &Range| r.parts.iter().map(|&p| (r.span.start + p.offset, p)).collect::<Vec<_>>();
        let parts: Vec<(u64, Part)> = fetch.ranges.iter().flat_map(of).collect();
        let spans = parts.iter().map(|&(start, p)| Span::new(start, p.len)).collect();
        let id = fetch.id;
        let sink = Arc::new(Baskets { shared: self.clone(), id, parts: parts.into_iter().map(|(_, p)| p).collect() });
        let future = match s.planner.has_asked_all() {
            true => {
                s.last.insert(id);
                self.source.clone().fetch_last(spans, sink)
            }
            false => self.source.clone().fetch(spans, sink),
        };
        let shared = self.clone();
        match runtime::handle() {
            Ok(handle) => {
                let task = handle.spawn(async move {
                    let result = caught_async(async {
                        inject::here_with("fetch", shared.file.url());
                        future.await
                    });
                    let result = result.await;
                    shared.or_give_up(|| shared.ended(id, result));
                });
                s.under_way.insert(id, task.abort_handle());
            }
            Err(e) => {
                s.last.remove(&id);
                s.failure = Some(e);
                s.planner.handle(self.elapsed(), Event::Failed { fetch: id, retry: false });
            }
        }
    }

    /// A fetch is over.
    pub fn ended(self: &Arc<Self>, id: FetchId, result: Result<FetchReport>) {
        let mut s = self.lock();
        s.under_way.remove(&id);
        s.last.remove(&id);
        let now = self.elapsed();
        if !self.source.is_local() {
            s.tell(now, limits(&*self.source));
        }
        let event = match result {
            Ok(r) => Event::Done { fetch: id, first_byte: r.first_byte, total: r.total, bytes: r.wire },
            Err(e) => {
                let e = e.in_file(self.file.url());
                // what has arrived may be of another version of the file
                if e.kind() == ErrorKind::Corrupt {
                    s.fail(self.steps.len().saturating_sub(1), &e);
                }
                s.failure = Some(e);
                // the source has asked again as often as makes sense
                Event::Failed { fetch: id, retry: false }
            }
        };
        s.planner.handle(now, event);
        self.pump(&mut s);
        drop(s);
        self.work.notify_all();
        self.ready.notify_all();
    }

    /// Baskets of a fetch are here, in bytes that begin at this offset of their range.
    fn arrived(self: &Arc<Self>, fetch: FetchId, parts: &[Part], begin: u64, bytes: &Bytes) {
        let mut s = self.lock();
        let now = self.elapsed();
        for part in parts {
            let Some(&basket) = self.planned.get(part.basket.index()) else { continue };
            let from = part.offset.saturating_sub(begin) as usize;
            if from + part.len as usize > bytes.len() || s.slots[basket].is_some() {
                continue;
            }
            s.planner.handle(now, Event::Arrived { fetch, basket: part.basket });
            if s.skips(basket) {
                s.planner.handle(now, Event::Consumed { basket: part.basket });
                continue;
            }
            let record = bytes.slice(from..from + part.len as usize);
            let task = Task { basket, planned: Some(part.basket), record: Some(record), spare: None };
            s.decodes.insert((self.baskets[basket].batches.0, basket), task);
        }
        self.pump(&mut s);
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

    pub fn read_ended(&self) {
        let mut s = self.lock();
        s.reading = s.reading.saturating_sub(1);
    }
}

impl State {
    /// Tells the planner what is known of the source.
    pub fn tell(&mut self, now: Duration, limits: Limits) {
        self.lanes = (limits.max_in_flight, limits.streams);
        self.planner.handle(now, Event::Limits(limits));
    }
}

/// Hands the ranges of a fetch from a local file on as they come.
pub(super) struct Ranges {
    shared: Arc<Shared>,
    fetch: Arc<Fetch>,
}

impl Ranges {
    pub fn new(shared: Arc<Shared>, fetch: Arc<Fetch>) -> Self {
        Self { shared, fetch }
    }
}

impl Sink for Ranges {
    fn part(&self, index: usize, bytes: Bytes) {
        if let Some(range) = self.fetch.ranges.get(index) {
            self.shared.arrived(self.fetch.id, &range.parts, 0, &bytes);
        }
    }
}

/// Hands the baskets of a fetch on as they come.
struct Baskets {
    shared: Arc<Shared>,
    id: FetchId,
    parts: Vec<Part>,
}

impl Sink for Baskets {
    fn part(&self, index: usize, bytes: Bytes) {
        if let Some(part) = self.parts.get(index) {
            self.shared.or_give_up(|| {
                inject::here_with("sink", self.shared.file.url());
                self.shared.arrived(self.id, std::slice::from_ref(part), part.offset, &bytes);
            });
        }
    }
}

/// What the planner is to know of the source.
pub(super) fn limits(source: &dyn Source) -> Limits {
    let l = source.limits();
    Limits {
        max_ranges: l.max_ranges,
        max_range_bytes: u64::MAX,
        max_request_bytes: l.max_request_bytes,
        max_in_flight: l.max_in_flight,
        queue: l.queue,
        streams: l.streams,
        range_overhead: l.range_overhead,
        round_trip: l.round_trip,
        bandwidth: l.bandwidth,
    }
}
