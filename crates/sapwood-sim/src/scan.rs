//! A scan in virtual time: its planner, and a consumer with some cores.

mod analysis;

use crate::agenda::Agenda;
use crate::ahead::Ahead;
use crate::client::{Client, Release};
use crate::cores::{Analysis, Cores};
use crate::cut::{Cut, CutProgress};
use crate::faults::Faults;
use crate::network::{Delivery, Network};
use crate::proxy::{Fetched, Proxy};
use sapwood_plan::{Action, Basket, BasketId, Event, Fetch, Log, PlanStats, Planner, Request};
use sapwood_span::Result;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// The cost of a simulated scan.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Time until the last batch was complete.
    pub time: Duration,
    /// Time until the first basket arrived, and until the last one had.
    pub first_basket: Duration,
    /// See [`first_basket`](Self::first_basket).
    pub last_basket: Duration,
    /// How often nothing could be decompressed before the batch was complete, because bytes were missing.
    pub waits: u64,
    /// How long, together.
    pub waited: Duration,
    /// Batches completed.
    pub batches: usize,
    /// Baskets in the order in which they arrived.
    pub arrived: Vec<BasketId>,
    /// When each of them did.
    pub arrived_at: Vec<Duration>,
    /// Bytes that had been sent by then, parts of other baskets and headers included.
    pub sent_until: Vec<u64>,
    /// Baskets that the planner gave up.
    pub given_up: Vec<BasketId>,
    /// The planner's statistics: requests, ranges, bytes, most held.
    pub stats: PlanStats,
    /// What a proxy fetched for it.
    pub by_proxy: Option<Fetched>,
    /// Every event and action.
    pub log: Log,
}

/// A scan among others.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// What it reads.
    pub baskets: &'a [Basket],
    /// What it requests from the planner.
    pub request: Request,
    /// Its consumer.
    pub client: &'a Client,
    /// Its cut, whose steps are the client's batches: these must ascend without a gap.
    pub cut: Option<&'a Cut>,
    /// The proxy through which it reads.
    pub proxy: Option<&'a Proxy>,
    /// When it begins.
    pub start: Duration,
}

/// A future event on the client's side.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Item {
    Delivered(Delivery),
    /// A core has taken it from the network.
    Taken(Delivery),
    Inflated(BasketId),
    /// The scan begins.
    Begin,
    /// What the analysis did is done.
    Analysed,
}

pub(crate) struct Scan<'a> {
    owner: usize,
    start: f64,
    baskets: &'a [Basket],
    client: &'a Client,
    planner: Planner,
    cut: Option<CutProgress<'a>>,
    faults: &'a Faults,
    now: f64,
    agenda: Agenda<Item>,
    /// The requested batch, and what it lacks: baskets that are not decompressed, and its cut.
    pub(crate) batch: usize,
    missing: usize,
    /// Decompressed or given up.
    finished: Vec<bool>,
    released: Vec<bool>,
    /// Arrived and not decompressed, by first entry.
    ready: BTreeSet<(u64, BasketId)>,
    cores: Cores,
    /// What it does now, and then.
    analysis: VecDeque<Analysis>,
    ahead: Ahead,
    idle_since: Option<f64>,
    waits: u64,
    waited: f64,
    first_basket: Option<f64>,
    last_basket: f64,
    arrived: Vec<BasketId>,
    arrived_at: Vec<Duration>,
    sent_until: Vec<u64>,
    given_up: Vec<BasketId>,
    cancelled: BTreeSet<sapwood_plan::FetchId>,
    /// By basket: time of a core for its part of its request; empty if it takes none.
    costs: Vec<f64>,
    /// What a core has to take from the network.
    received: VecDeque<Delivery>,
    /// No reply has come.
    is_cold: bool,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(owner: usize, job: Job<'a>, faults: &'a Faults, record: bool) -> Result<Self> {
        let Job { baskets, request, client, cut, start, .. } = job;
        let cut = cut.map(|cut| CutProgress::new(cut, baskets, &client.batches, &request.limits));
        let mut planner = Planner::new(baskets.to_vec(), request)?;
        planner.record(record);
        Ok(Scan {
            owner,
            start: start.as_secs_f64(),
            baskets,
            client,
            planner,
            cut,
            faults,
            now: 0.0,
            agenda: Agenda::default(),
            batch: 0,
            missing: 0,
            finished: vec![false; baskets.len()],
            released: vec![false; baskets.len()],
            ready: BTreeSet::new(),
            cores: Cores::new(client.cores),
            analysis: VecDeque::new(),
            ahead: Ahead::new(client.ahead),
            idle_since: None,
            waits: 0,
            waited: 0.0,
            first_basket: None,
            last_basket: 0.0,
            arrived: Vec::new(),
            arrived_at: Vec::new(),
            sent_until: Vec::new(),
            given_up: Vec::new(),
            cancelled: BTreeSet::new(),
            costs: Vec::new(),
            received: VecDeque::new(),
            is_cold: true,
        })
    }
}

impl Scan<'_> {
    pub(crate) fn begin(&mut self) {
        if let Some(cut) = &self.cut {
            let event = cut.withhold();
            self.tell(event);
        }
        if self.start > 0.0 {
            self.at(self.start, Item::Begin);
        } else {
            self.want();
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.batch >= self.client.batches.len()
    }

    /// When it has to do something, if nothing arrives.
    pub(crate) fn next(&self) -> Option<f64> {
        if self.now < self.start {
            return Some(self.start);
        }
        // a sum of two times is rounded, and must not be before the deadline
        let rounding = if self.start > 0.0 { 2e-9 } else { 0.0 };
        let deadline = self.planner.deadline().map(|deadline| {
            let mut at = deadline.as_secs_f64() + self.start + rounding;
            // after weeks a step of a float is longer than a nanosecond
            while self.time_at(at) < deadline {
                at = at.next_up();
            }
            at
        });
        [self.agenda.next(), deadline].into_iter().flatten().reduce(f64::min)
    }

    pub(crate) fn advance(&mut self, now: f64) {
        if now < self.start {
            return;
        }
        self.now = now;
        while let Some(item) = self.agenda.take(now) {
            self.happen(item);
        }
    }

    pub(crate) fn report(mut self) -> Report {
        Report {
            time: Duration::from_nanos((self.now * 1e9).round() as u64),
            first_basket: Duration::from_secs_f64(self.first_basket.unwrap_or(0.0)),
            last_basket: Duration::from_secs_f64(self.last_basket),
            waits: self.waits,
            waited: Duration::from_secs_f64(self.waited),
            batches: self.batch,
            arrived: std::mem::take(&mut self.arrived),
            arrived_at: std::mem::take(&mut self.arrived_at),
            sent_until: std::mem::take(&mut self.sent_until),
            given_up: std::mem::take(&mut self.given_up),
            stats: self.planner.stats(),
            by_proxy: None,
            log: self.planner.take_log(),
        }
    }

    /// The planner's time, which begins with the scan.
    fn time(&self) -> Duration {
        self.time_at(self.now)
    }

    /// The same at another time, in whole nanoseconds.
    fn time_at(&self, now: f64) -> Duration {
        Duration::from_nanos(((now - self.start) * 1e9).round() as u64)
    }

    /// This comes from the network at a time.
    pub(crate) fn deliver(&mut self, time: f64, delivery: Delivery) {
        self.at(time, Item::Delivered(delivery));
    }

    fn at(&mut self, time: f64, item: Item) {
        self.agenda.add(time, item);
    }

    fn tell(&mut self, event: Event) {
        self.planner.handle(self.time(), event);
    }

    /// Performs the planner's actions.
    pub(crate) fn act(&mut self, network: &mut Network<'_>) {
        if self.now < self.start {
            return;
        }
        while let Some(action) = self.planner.poll(self.time()) {
            match action {
                Action::Fetch(fetch) => {
                    self.note_costs(&fetch);
                    network.send(self.owner, &fetch, self.faults.of(&fetch));
                }
                Action::Cancel(id) => {
                    network.cancel(self.owner, id);
                    self.cancelled.insert(id);
                }
                Action::GiveUp(ids) => {
                    self.given_up.extend(&ids);
                    for id in ids {
                        self.finish(id);
                    }
                }
            }
        }
    }

    /// What a request costs a core is divided among its baskets.
    fn note_costs(&mut self, fetch: &Fetch) {
        let Client { per_request, per_range, .. } = self.client;
        if per_request.is_zero() && per_range.is_zero() {
            return;
        }
        let cost = per_request.as_secs_f64() + per_range.as_secs_f64() * fetch.ranges.len() as f64;
        let each = cost / fetch.baskets().count().max(1) as f64;
        self.costs.resize(self.baskets.len(), 0.0);
        for basket in fetch.baskets() {
            self.costs[basket.index()] = each;
        }
    }

    fn happen(&mut self, item: Item) {
        match item {
            Item::Begin => self.want(),
            Item::Analysed => match self.cores.analysed(self.now) {
                Some(later) => self.at(later, Item::Analysed),
                None => self.analysed(),
            },
            Item::Inflated(basket) => {
                self.cores.decompressed();
                self.ahead.enter(&self.client.batches, &self.baskets[basket.index()]);
                if self.client.release == Release::Inflated {
                    self.released[basket.index()] = true;
                    self.tell(Event::Consumed { basket });
                }
                self.finish(basket);
            }
            Item::Delivered(delivery) if self.costs.is_empty() => self.take(delivery),
            Item::Delivered(delivery) => self.received.push_back(delivery),
            Item::Taken(delivery) => {
                self.cores.taken();
                self.take(delivery);
            }
        }
    }

    /// What arrived is known.
    fn take(&mut self, delivery: Delivery) {
        match delivery {
            Delivery::Basket(fetch, basket, sent) => {
                if self.cancelled.contains(&fetch) {
                    return;
                }
                self.first_basket.get_or_insert(self.now);
                self.last_basket = self.now;
                self.arrived.push(basket);
                self.arrived_at.push(Duration::from_secs_f64(self.now));
                self.sent_until.push(sent.round() as u64);
                self.tell(Event::Arrived { fetch, basket });
                if self.cut.as_ref().is_some_and(|c| c.is_skipped(basket)) {
                    self.tell(Event::Consumed { basket });
                    return;
                }
                self.ready.insert((self.baskets[basket.index()].first, basket));
            }
            Delivery::Done { fetch, first_byte, total, bytes } => {
                if self.is_cold
                    && let Some(limits) = &self.client.warm
                {
                    self.tell(Event::Limits(limits.clone()));
                }
                self.is_cold = false;
                let [first_byte, total] = [first_byte, total].map(Duration::from_secs_f64);
                self.tell(Event::Done { fetch, first_byte, total, bytes });
            }
            Delivery::Broken(fetch) => self.tell(Event::Failed { fetch, retry: true }),
        }
    }

    /// Passes what arrived to free cores: first one of them takes it from the network, then the earliest entries first.
    pub(crate) fn work(&mut self) {
        if self.cores.may_take()
            && let Some(delivery) = self.received.pop_front()
        {
            let cost = match delivery {
                Delivery::Basket(_, basket, _) => self.costs.get(basket.index()).copied().unwrap_or(0.0),
                _ => 0.0,
            };
            self.cores.take(cost);
            self.at(self.now + cost, Item::Taken(delivery));
        }
        while let Some(&(first, basket)) = self.ready.first()
            && self.ahead.may_decompress(&self.client.batches, first)
        {
            let seconds = self.baskets[basket.index()].span.len as f64 / self.client.inflate.max(1.0);
            if !self.cores.decompress(seconds) {
                break;
            }
            self.ready.pop_first();
            self.at(self.now + seconds, Item::Inflated(basket));
        }
        let waits = self.cores.are_idle() && !self.evaluates() && self.missing > 0;
        match (waits, self.idle_since) {
            (true, None) => {
                self.waits += 1;
                self.idle_since = Some(self.now);
            }
            (false, Some(since)) => {
                self.waited += self.now - since;
                self.idle_since = None;
            }
            _ => {}
        }
    }

    /// Requests the next batch that is not complete already.
    fn want(&mut self) {
        let Some(&(first, last)) = self.client.batches.get(self.batch) else { return };
        self.ahead.want(self.batch);
        self.missing = (self.baskets.iter().zip(&self.finished))
            .filter(|(b, finished)| !**finished && b.first < last && b.last > first)
            .count();
        self.missing += usize::from(self.waits_for_cut(self.batch));
        self.tell(Event::Want { first, last });
        if self.missing == 0 {
            self.complete();
        }
    }

    fn finish(&mut self, basket: BasketId) {
        if std::mem::replace(&mut self.finished[basket.index()], true) {
            return;
        }
        if let Some(cut) = &mut self.cut {
            cut.finished(basket);
        }
        self.count_down(basket);
        self.evaluate();
    }

    /// The requested batch no longer needs this basket.
    fn count_down(&mut self, basket: BasketId) {
        let Some(&(first, last)) = self.client.batches.get(self.batch) else { return };
        let b = &self.baskets[basket.index()];
        if b.first < last && b.last > first {
            self.one_less_is_missing();
        }
    }

    fn one_less_is_missing(&mut self) {
        if self.missing > 0 {
            self.missing -= 1;
            if self.missing == 0 {
                self.complete();
            }
        }
    }
}
