//! Random files and limits, and checks of a planner's actions.

use proptest::prelude::*;
use sapwood_plan::{Basket, BasketId, Fetch, FetchId, Limits, PlanStats};
use sapwood_span::Span;
use std::collections::BTreeMap;
use std::time::Duration;

/// A file of a few branches whose baskets hold different numbers of entries and are in any order.
pub fn file() -> impl Strategy<Value = Vec<Basket>> {
    let largest = prop_oneof![Just(300u64), Just(5_000), Just(200_000)];
    let branch = prop::collection::vec((1u64..2000, 1u64..200_000, 0u64..3000, any::<u16>()), 1..30);
    (largest, prop::collection::vec(branch, 1..6)).prop_map(|(largest, branches)| {
        let mut all = Vec::new();
        for (branch, baskets) in branches.into_iter().enumerate() {
            let mut first = 0;
            for (index, (entries, len, gap, place)) in baskets.into_iter().enumerate() {
                let last = first + entries;
                let len = len % largest + 1;
                let basket = Basket {
                    branch: branch as u32 * 3,
                    index: index as u32,
                    span: Span::new(0, len),
                    first,
                    last,
                    unzipped: len * 2,
                };
                // Mostly in the order of entries, as files are written.
                all.push((first / 4000, place, gap, basket));
                first = last;
            }
        }
        all.sort_by_key(|&(cluster, place, ..)| (cluster, place));
        let mut offset = 100;
        all.into_iter()
            .map(|(_, _, gap, mut basket)| {
                basket.span.start = offset + gap;
                offset = basket.span.end();
                basket
            })
            .collect()
    })
}

pub fn clusters() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![Just(Vec::new()), (100u64..20_000).prop_map(|step| (0..40).map(|i| i * step).collect())]
}

pub fn limits() -> impl Strategy<Value = Limits> {
    (
        1usize..40,
        prop_oneof![Just(u64::MAX), 100u64..100_000],
        1_000u64..3_000_000,
        1usize..9,
        0u64..4000,
        prop_oneof![Just(None), (0u64..300).prop_map(Some)],
        prop_oneof![Just(None), (1e4f64..1e9).prop_map(Some)],
    )
        .prop_map(|(max_ranges, max_range_bytes, max_request_bytes, lanes, range_overhead, ms, bandwidth)| {
            Limits {
                max_ranges,
                max_range_bytes,
                max_request_bytes,
                max_in_flight: lanes,
                queue: 1,
                streams: None,
                range_overhead,
                round_trip: ms.map(Duration::from_millis),
                bandwidth,
            }
        })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    Queued,
    Flying(FetchId),
    Here,
    Consumed,
    GivenUp,
}

/// Tracks where every basket is, and checks each fetch.
pub struct Watch<'a> {
    pub baskets: &'a [Basket],
    pub limits: Limits,
    pub hold: u64,
    pub now: Vec<Now>,
    pub flights: BTreeMap<FetchId, Fetch>,
}

impl<'a> Watch<'a> {
    pub fn new(baskets: &'a [Basket], limits: Limits, hold: u64) -> Self {
        Self { baskets, limits, hold, now: vec![Now::Queued; baskets.len()], flights: BTreeMap::new() }
    }

    pub fn fetch(&mut self, fetch: Fetch, stats: &PlanStats) {
        let single = fetch.baskets().count() == 1;
        assert!(fetch.baskets().count() >= 1, "an empty fetch");
        let ranges: u64 = fetch.ranges.iter().map(|r| r.span.len.div_ceil(self.limits.max_range_bytes)).sum();
        assert!(single || ranges <= self.limits.max_ranges as u64, "{ranges} ranges");
        assert!(single || fetch.bytes() <= self.limits.max_request_bytes, "{} bytes", fetch.bytes());
        assert!(fetch.ranges.windows(2).all(|w| w[0].span.end() <= w[1].span.start));
        for range in &fetch.ranges {
            // A range begins and ends with a basket, so it never leaves the file; it bridges only small gaps.
            let mut covered = range.span.start;
            for part in &range.parts {
                let span = self.baskets[part.basket.index()].span;
                assert_eq!((range.span.start + part.offset, part.len), (span.start, span.len));
                assert!(span.start <= covered + self.limits.range_overhead);
                covered = covered.max(span.end());
                assert_eq!(self.now[part.basket.index()], Now::Queued, "asked for twice");
                self.now[part.basket.index()] = Now::Flying(fetch.id);
            }
            assert_eq!(range.parts[0].offset, 0);
            assert_eq!(covered, range.span.end());
        }
        assert!(fetch.urgent || stats.held_bytes <= self.hold, "{} held for later", stats.held_bytes);
        self.flights.insert(fetch.id, fetch);
        assert!(self.flights.len() <= self.limits.max_in_flight);
    }

    /// The fetch is over: baskets that did not arrive are not in flight any more.
    pub fn over(&mut self, id: FetchId) {
        self.flights.remove(&id);
        for now in &mut self.now {
            if *now == Now::Flying(id) {
                *now = Now::Queued;
            }
        }
    }

    pub fn give_up(&mut self, ids: &[BasketId]) {
        for id in ids {
            assert_eq!(self.now[id.index()], Now::Queued, "given up twice, or after it arrived");
            self.now[id.index()] = Now::GivenUp;
        }
    }

    pub fn flying(&self, id: FetchId) -> Vec<BasketId> {
        (0..self.now.len()).filter(|&i| self.now[i] == Now::Flying(id)).map(|i| BasketId(i as u32)).collect()
    }
}
