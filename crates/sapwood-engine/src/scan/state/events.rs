//! What happens to a scan.

use super::ScanState;
use crate::entries::EntryList;
use crate::scan::task::{DecodeOutcome, DecodeTask, Record};
use bytes::Bytes;
use sapwood_column::Decoded;
use sapwood_plan::{BasketId, Event, FetchId, Limits, Part};
use sapwood_source::FetchReport;
use sapwood_span::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::time::Duration;

impl ScanState {
    /// The consumer wants this step now, and those behind it before `end`.
    pub(crate) fn want(&mut self, now: Duration, step: usize, end: usize) {
        self.queue.want(step);
        let first = self.plan.steps[step].start;
        let last = self.plan.steps[step.max(end.saturating_sub(1))].end;
        self.planner.handle(now, Event::Want { first, last: last.max(first + 1) });
        self.uncount_wanted(now);
    }

    /// Pages of clusters that the consumer waits for do not count as held: the rest of the cluster could be refused for
    /// want of room, and nothing of it can be given back before.
    fn uncount_wanted(&mut self, now: Duration) {
        let (plan, step) = (&self.plan, self.queue.wanted_step());
        for basket in self.partial.uncount(|b| plan.baskets[b].steps.0 <= step) {
            self.planner.handle(now, Event::Consumed { basket });
        }
    }

    /// Baskets of a fetch are here, in bytes that begin at this offset of their range.
    pub(crate) fn arrived(&mut self, now: Duration, fetch: FetchId, parts: &[Part], begin: u64, bytes: &Bytes) {
        if let Some(is_waited_for) = self.open.get_mut(&fetch) {
            *is_waited_for = true;
        }
        for part in parts {
            let Some((basket, page)) = self.plan.basket_of(part.basket) else { continue };
            let from = part.offset.saturating_sub(begin) as usize;
            if from + part.len as usize > bytes.len() || self.assembly.slots[basket].is_some() {
                continue;
            }
            self.planner.handle(now, Event::Arrived { fetch, basket: part.basket });
            if self.progress.is_skipped(basket) {
                self.planner.handle(now, Event::Consumed { basket: part.basket });
                continue;
            }
            let record = Record::Here(bytes.slice(from..from + part.len as usize));
            if self.plan.columns[self.plan.baskets[basket].column].layout.field().is_some() {
                if let Some(task) = self.partial.arrived(basket, page, part.basket, record) {
                    self.queue.add_parts(&self.plan, task);
                }
                continue;
            }
            let task = DecodeTask { basket, planned: Some(part.basket), record, spare: None };
            self.queue.add_decode(self.plan.baskets[basket].steps.0, task);
        }
        self.uncount_wanted(now);
    }

    /// A fetch is over; the source has asked again as often as makes sense.
    pub(crate) fn fetch_ended(&mut self, now: Duration, id: FetchId, result: Result<FetchReport>) {
        self.open.remove(&id);
        let event = match result {
            Ok(r) => Event::Done { fetch: id, first_byte: r.first_byte, total: r.total, bytes: r.wire },
            Err(e) => {
                let e = e.in_file(&*self.plan.url);
                // what has arrived may be of another version of the file
                if e.kind() == ErrorKind::Corrupt {
                    self.progress.fail(self.plan.steps.len().saturating_sub(1), &e);
                }
                self.failure = Some(e);
                Event::Failed { fetch: id, retry: false }
            }
        };
        self.planner.handle(now, event);
    }

    /// A worker is through with a read of a local file.
    pub(crate) fn read_ended(&mut self) {
        self.queue.read_ended();
    }

    /// A basket is decoded, or failed.
    pub(crate) fn decoded(&mut self, now: Duration, outcome: DecodeOutcome) {
        let DecodeOutcome { basket, planned, result, bytes, unzipped, packed, unzip, decode } = outcome;
        let (unzip, decode) = (unzip.as_secs_f64(), decode.as_secs_f64());
        self.report.unzip_seconds += unzip;
        self.report.decode_seconds += decode;
        self.report.unzipped_bytes += unzipped;
        self.report.baskets += 1;
        let b = &self.plan.baskets[basket];
        if let Some(t) = self.times.as_mut().and_then(|t| t.get_mut(b.column)) {
            t.baskets += 1;
            t.bytes += b.bytes();
            t.unzipped += unzipped;
            t.packed += packed;
            t.inflated += if packed > 0 { unzipped } else { 0 };
            t.unzip += unzip;
            t.decode += decode;
        }
        if let Some(basket) = planned {
            self.planner.handle(now, Event::Consumed { basket });
        }
        let first = b.parts.start;
        if !self.plan.baskets[first].pages.is_empty() && self.partial.decoded(first, b.parts.len()) {
            for basket in self.plan.planner_ids(&[first]) {
                self.planner.handle(now, Event::Consumed { basket });
            }
        }
        self.finished(basket, result, bytes);
    }

    /// A basket has come to its end, well or badly.
    fn finished(&mut self, basket: usize, result: Result<Arc<Decoded>>, bytes: u64) {
        if self.assembly.slots[basket].is_some() || self.progress.is_skipped(basket) {
            return;
        }
        let b = &self.plan.baskets[basket];
        if let Err(e) = &result {
            self.progress.fail(b.steps.0, e);
        }
        self.assembly.slots[basket] = Some(result);
        self.progress.finished(basket, b);
        self.queue.decoded(b.steps.0, bytes);
    }

    /// The cut is evaluated for a step, the one of [`ScanState::next_cut`]: these of its entries have passed.
    pub(crate) fn cut_evaluated(&mut self, now: Duration, step: usize, passed: &EntryList) {
        let plan = &*self.plan;
        let progress = &mut self.progress;
        let Some(cut) = &mut progress.cut else { return };
        let mut needless = 0;
        for column in &plan.columns {
            let own = &plan.baskets[column.baskets.clone()];
            let from = own.partition_point(|b| b.steps.1 < step);
            for (i, b) in own.iter().enumerate().skip(from).take_while(|(_, b)| b.steps.0 <= step) {
                let basket = column.baskets.start + i;
                let here = self.assembly.slots[basket].is_some();
                needless += usize::from(cut.prefetch.depends(basket) && !here && !passed.touches(&b.entries));
            }
        }
        let decision = cut.prefetch.evaluated(|entries| passed.touches(entries));
        progress.needless(step, needless);
        let whole = passed.runs() == std::slice::from_ref(&plan.steps[step]);
        progress.selected[step] = (!whole).then(|| passed.runs().into());
        for &b in &decision.skip {
            let basket = &plan.baskets[b];
            self.report.bytes_wanted = self.report.bytes_wanted.saturating_sub(basket.bytes());
            self.assembly.slots[b] = None;
            for basket in self.partial.skip(b) {
                self.planner.handle(now, Event::Consumed { basket });
            }
            match self.queue.cancel_decode(basket.steps.0, b) {
                Some(DecodeTask { planned: Some(basket), .. }) => self.planner.handle(now, Event::Consumed { basket }),
                Some(DecodeTask { record: Record::Pages(_), .. }) => {
                    for basket in plan.planner_ids(&[b]) {
                        self.planner.handle(now, Event::Consumed { basket });
                    }
                }
                _ => {}
            }
        }
        for &b in &decision.release {
            if let Some(record) = self.withheld.remove(&b) {
                self.queue.add_decode(plan.baskets[b].steps.0, DecodeTask::held(b, record));
            }
        }
        for (list, event) in [(&decision.skip, Event::Skip as fn(_) -> _), (&decision.release, Event::Release)] {
            let ids = plan.planner_ids(list);
            if !ids.is_empty() {
                self.planner.handle(now, event(ids));
            }
        }
    }

    /// Another budget of compressed bytes.
    pub(crate) fn set_budget(&mut self, now: Duration, bytes: u64) {
        self.planner.handle(now, Event::Budget(bytes));
    }

    /// This is known of the source now.
    pub(crate) fn set_limits(&mut self, now: Duration, limits: Limits) {
        self.lanes = (limits.max_in_flight, limits.streams);
        self.planner.handle(now, Event::Limits(limits));
    }

    /// Time has passed, and this is known of the source if it is far away. Whether that may change what is to be done.
    pub(crate) fn tick(&mut self, now: Duration, limits: Option<Limits>) -> bool {
        // more connections may turn out to be worth having while large requests are in flight
        let news = limits.filter(|l| (l.max_in_flight, l.streams) != self.lanes);
        let due = self.planner.deadline().is_some_and(|at| at <= now) || news.is_some();
        if let Some(limits) = news {
            self.set_limits(now, limits);
        }
        due
    }

    /// Nothing more can be completed: a thread of the scan panicked.
    pub(crate) fn give_up(&mut self, defect: &Error) {
        self.progress.fail(0, &defect.clone().in_file(&*self.plan.url));
        // a thread that was appending to a column will not report it any more
        self.assembly.close();
    }

    /// The scan is over: nothing more is done.
    pub(crate) fn stop(&mut self, now: Duration) {
        self.stopped = true;
        self.planner.handle(now, Event::Stop);
        self.queue.clear();
    }

    /// Baskets failed too often, or for good.
    pub(super) fn given_up(&mut self, baskets: &[BasketId]) {
        for &id in baskets {
            let Some((basket, _)) = self.plan.basket_of(id) else { continue };
            let why = self
                .failure
                .as_ref()
                .map_or_else(|| Error::new(ErrorKind::Io, "could not be read").in_file(&*self.plan.url), Error::clone);
            let branch = self.plan.path_of(self.plan.baskets[basket].column);
            let why = why.in_branch(branch);
            for part in self.plan.baskets[basket].parts.clone() {
                self.finished(part, Err(why.clone()), 0);
            }
        }
    }
}
