//! Properties that hold for any file, any limits, and any order of events.

mod common;

use common::{Now, Watch, clusters, file, limits};
use proptest::prelude::*;
use sapwood_plan::{Action, BasketId, CacheSize, Event, FetchId, Planner, Request, replay};
use sapwood_sim::{Client, Faults, Link, Oracle, Release, layout, run};
use sapwood_span::{Span, coalesce};
use std::time::Duration;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn cache() -> impl Strategy<Value = CacheSize> {
    prop_oneof![
        1 => Just(CacheSize::Off),
        4 => Just(CacheSize::Auto),
        2 => (1u64..1_000_000).prop_map(CacheSize::Bytes)
    ]
}

/// A step of the adversary, with two numbers to choose from.
type Step = (u8, u32, u32);

/// Feeds a planner events in a malicious order, and checks every action.
struct Adversary<'a> {
    planner: Planner,
    watch: Watch<'a>,
    time: Duration,
}

impl Adversary<'_> {
    fn tell(&mut self, event: Event) {
        self.planner.handle(self.time, event);
    }

    fn poll(&mut self) {
        while let Some(action) = self.planner.poll(self.time) {
            match action {
                Action::Fetch(fetch) => self.watch.fetch(fetch, &self.planner.stats()),
                Action::Cancel(id) => self.watch.over(id),
                Action::GiveUp(ids) => self.watch.give_up(&ids),
            }
        }
    }

    fn some_flight(&self, n: u32) -> Option<FetchId> {
        let ids: Vec<FetchId> = self.watch.flights.keys().copied().collect();
        (!ids.is_empty()).then(|| ids[n as usize % ids.len()])
    }

    fn arrive(&mut self, fetch: FetchId, basket: BasketId) {
        self.watch.now[basket.index()] = Now::Here;
        self.tell(Event::Arrived { fetch, basket });
    }

    fn done(&mut self, fetch: FetchId) {
        let bytes = self.watch.flights[&fetch].bytes();
        self.watch.over(fetch);
        let [first_byte, total] = [20, 50].map(Duration::from_millis);
        self.tell(Event::Done { fetch, first_byte, total, bytes });
    }

    fn step(&mut self, (kind, a, b): Step) {
        self.time += Duration::from_millis(u64::from(b % 40));
        match kind % 8 {
            0 => {
                let first = u64::from(a % 20_000);
                self.tell(Event::Want { first, last: first + u64::from(b % 3000) });
            }
            1..=3 => {
                if let Some(id) = self.some_flight(a) {
                    let flying = self.watch.flying(id);
                    if !flying.is_empty() {
                        self.arrive(id, flying[b as usize % flying.len()]);
                    }
                }
            }
            4 => {
                if let Some(id) = self.some_flight(a) {
                    self.done(id);
                }
            }
            5 => {
                if let Some(id) = self.some_flight(a) {
                    self.watch.over(id);
                    self.tell(Event::Failed { fetch: id, retry: b % 5 != 0 });
                }
            }
            6 => {
                let here: Vec<usize> = (0..self.watch.now.len()).filter(|&i| self.watch.now[i] == Now::Here).collect();
                if !here.is_empty() {
                    let i = here[a as usize % here.len()];
                    self.watch.now[i] = Now::Consumed;
                    self.tell(Event::Consumed { basket: BasketId(i as u32) });
                }
            }
            // Nonsense: events about fetches and baskets that do not exist.
            _ => {
                self.tell(Event::Arrived { fetch: FetchId(u64::from(a) + 1000), basket: BasketId(b) });
                self.tell(Event::Failed { fetch: FetchId(u64::from(a) + 1000), retry: true });
                self.tell(Event::Consumed { basket: BasketId(b | 1 << 30) });
            }
        }
        self.poll();
    }

    /// Everything behaves from now on, but the consumer releases nothing until it has everything.
    fn finish(&mut self) {
        self.tell(Event::Want { first: 0, last: u64::MAX });
        self.poll();
        for _ in 0..20_000 {
            if let Some(id) = self.some_flight(0) {
                for basket in self.watch.flying(id) {
                    self.arrive(id, basket);
                }
                self.done(id);
            } else if let Some(deadline) = self.planner.deadline() {
                self.time = self.time.max(deadline);
            } else {
                break;
            }
            self.poll();
        }
        for i in 0..self.watch.now.len() {
            if self.watch.now[i] == Now::Here {
                self.watch.now[i] = Now::Consumed;
                self.tell(Event::Consumed { basket: BasketId(i as u32) });
            }
        }
        self.poll();
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// Any order of arrivals, failures, jumps and releases: the limits hold, nothing is requested twice, and everything
    /// ends; and the same events give the same actions.
    #[test]
    fn any_order_of_events_ends_in_progress(
        baskets in file(),
        clusters in clusters(),
        limits in limits(),
        cache in cache(),
        hold in 1u64..2_000_000,
        steps in prop::collection::vec(any::<Step>(), 0..200),
    ) {
        let request = Request { cache, limits: limits.clone(), clusters, hold };
        let budget = match cache { CacheSize::Bytes(n) => 2 * n.min(hold), _ => hold };
        let mut planner = Planner::new(baskets.clone(), request.clone()).unwrap();
        planner.record(true);
        let mut adversary = Adversary { planner, watch: Watch::new(&baskets, limits, budget), time: Duration::ZERO };
        adversary.poll();
        for step in steps {
            adversary.step(step);
        }
        adversary.finish();
        let planner = &mut adversary.planner;
        prop_assert!(planner.is_done(), "{:?} {:?}", planner.stats(), planner.deadline());
        let stats = planner.stats();
        prop_assert_eq!(stats.arrived + stats.given_up, baskets.len() as u64);
        prop_assert_eq!(stats.held_bytes, 0);
        let log = planner.take_log();
        prop_assert_eq!(replay(baskets.clone(), request, &log).unwrap(), log);
    }

    /// A consumer that reads in order, over any link: everything is delivered once, the budget holds, no byte is
    /// requested that is neither wanted nor in a small gap.
    #[test]
    fn a_scan_delivers_every_basket_once(
        baskets in file(),
        clusters in clusters(),
        limits in limits(),
        hold in 1u64..4_000_000,
        bandwidth in 1e5f64..1e9,
        step in 100u64..20_000,
    ) {
        let link = Link::new(limits.round_trip.unwrap_or_default(), bandwidth);
        let client = Client::sequential(layout::entries(&baskets), step);
        let request = Request { cache: CacheSize::Auto, limits: limits.clone(), clusters, hold };
        let report = run(&baskets, request, &link, &client, &Faults::default()).unwrap();
        let mut arrived = report.arrived.clone();
        arrived.sort();
        prop_assert_eq!(arrived, (0..baskets.len() as u32).map(BasketId).collect::<Vec<_>>());
        let stats = &report.stats;
        let joins = baskets.len() as u64 - stats.ranges.min(baskets.len() as u64);
        prop_assert!(stats.asked_bytes <= stats.wanted_bytes + joins * limits.range_overhead);
        // Overdrawn by one request at most: no more than eight MiB, or one basket.
        let mut largest = 0;
        for (_, record) in &report.log.records {
            if let sapwood_plan::Record::Action(Action::Fetch(f)) = record {
                largest = largest.max(f.bytes());
            }
        }
        prop_assert!(stats.max_held_bytes <= hold + largest, "{:?}", stats);
    }

    /// Broken, short and impossible replies, and a consumer that jumps: each batch ends, and only what cannot be read
    /// is given up when there are no other faults.
    #[test]
    fn faults_and_jumps_end_in_delivery_or_refusal(
        baskets in file(),
        limits in limits(),
        seed in any::<u64>(),
        broken in 0u16..300,
        unreadable in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        jumps in prop::collection::vec((0u64..20_000, 1u64..5000), 0..12),
        batchwise in any::<bool>(),
    ) {
        let broken = if seed % 2 == 0 { 0 } else { broken };
        let mut bad: Vec<BasketId> = unreadable.iter().map(|i| BasketId(i.index(baskets.len()) as u32)).collect();
        bad.sort();
        bad.dedup();
        let faults = Faults { seed, broken_per_mille: broken, short_per_mille: broken / 2, unreadable: bad.clone() };
        let link = Link::new(limits.round_trip.unwrap_or_default(), 1e8);
        let mut client = Client::sequential(layout::entries(&baskets), u64::MAX / 2);
        client.release = if batchwise { Release::Batch } else { Release::Inflated };
        let all = client.batches[0];
        client.batches = jumps.iter().map(|&(first, n)| (first, first + n)).collect();
        client.batches.push(all);
        let request = Request { limits, hold: 1_000_000, ..Request::default() };
        let report = run(&baskets, request, &link, &client, &faults).unwrap();
        let mut seen = report.arrived.clone();
        seen.extend(&report.given_up);
        seen.sort();
        prop_assert_eq!(seen, (0..baskets.len() as u32).map(BasketId).collect::<Vec<_>>());
        let mut given_up = report.given_up.clone();
        given_up.sort();
        if broken == 0 {
            prop_assert_eq!(given_up, bad);
        }
    }

    /// Requests stay within a stated factor of what the limits (or pieces of one MiB) require: a quarter more, one for
    /// each connection, and a few while the size of requests grows. Without any round trip a request costs nothing, and
    /// their number says nothing.
    #[test]
    fn few_more_requests_than_the_limits_require(
        branches in 1u32..40,
        per_branch in 1u32..60,
        bytes in 500u64..60_000,
        gap in 5_000u64..60_000,
        ms in 1u64..250,
        mbits in 1f64..2000.0,
        max_ranges in 10usize..1000,
    ) {
        let baskets = layout::scattered(branches, per_branch, bytes, gap, 100);
        let link = Link::new(Duration::from_millis(ms), mbits * 1e6 / 8.0);
        let mut limits = link.limits();
        limits.max_ranges = max_ranges;
        let client = Client::sequential(layout::entries(&baskets), 500);
        let oracle = Oracle::new(&baskets, &limits, &link);
        let request = Request { limits: limits.clone(), ..Request::default() };
        let report = run(&baskets, request, &link, &client, &Faults::default()).unwrap();
        // Pieces of a MiB are large enough where the path is short or narrow.
        let needed = oracle.requests.max(oracle.bytes.div_ceil(1 << 20));
        let most = needed + needed / 4 + limits.max_in_flight as u64 + 6;
        prop_assert!(report.stats.requests <= most, "{} requests, {} needed, {} lanes",
            report.stats.requests, needed, limits.max_in_flight);
        let ratio = report.time.as_secs_f64() / oracle.time.as_secs_f64();
        let spans: Vec<Span> = baskets.iter().map(|b| b.span).collect();
        let joined: u64 = coalesce(&spans, limits.range_overhead, u64::MAX).iter().map(|r| r.span.len).sum();
        prop_assert!(report.stats.asked_bytes <= joined);
        prop_assert!(ms < 5 || ratio < 2.5, "{ratio:.2} times the best time");
    }
}
