//! Scans through a proxy that fetches ahead.

use proptest::prelude::*;
use sapwood_plan::{Basket, CacheSize, Limits, Request};
use sapwood_prefetch::{BasketMap, BranchBaskets, FileMap, RequestedSpan, TreeAt};
use sapwood_sim::{Client, Faults, Job, Link, Proxy, Report, layout, run_together};
use sapwood_span::Span;
use std::sync::Arc;
use std::time::Duration;

const TRIP: Duration = Duration::from_millis(50);
const BANDWIDTH: f64 = 12.5e6;
/// Bytes at the end of the file that opening it takes.
const TAIL: u64 = 100_000;
/// Bytes that a proxy fetches ahead of a client of which it knows nothing.
const GUESS: u64 = 1 << 20;

fn map(baskets: &[Basket], branches: u32) -> FileMap {
    let of = |branch: u32| baskets.iter().filter(move |b| b.branch == branch).map(|b| (b.first, b.span)).collect();
    let described = (0..branches).map(|branch| BranchBaskets { path: "x", counter: None, baskets: of(branch) });
    let map = BasketMap::new("t", layout::entries(baskets), described).unwrap();
    let end = baskets.iter().map(|b| b.span.end()).max().unwrap();
    FileMap { size: end + TAIL, trees: vec![TreeAt { header: Span::new(end, TAIL), baskets: Arc::new(map) }] }
}

fn proxy(baskets: &[Basket], branches: u32, is_http: bool) -> Proxy {
    let file = map(baskets, branches);
    let opened = vec![RequestedSpan { span: Span::new(file.size - TAIL, TAIL), held: 0 }];
    let near = Link::new(Duration::from_micros(300), 125e6);
    Proxy { near, file, opened, most: sapwood_prefetch::USUAL_AHEAD, is_http }
}

/// Reads some of these baskets, through a proxy or without.
fn read(baskets: &[Basket], cache: CacheSize, proxies: &[Option<&Proxy>], link: &Link) -> Vec<Report> {
    let entries = layout::entries(baskets);
    let client = Client { inflate: 400e6, ..Client::sequential(entries, entries.div_ceil(20)) };
    let hold = if let CacheSize::Bytes(n) = cache { n } else { 0 };
    let trip = proxies[0].map_or(link.round_trip, |proxy| proxy.near.round_trip);
    let request = Request { cache, limits: Limits::http(trip), clusters: Vec::new(), hold };
    let jobs = proxies.iter().map(|&proxy| Job {
        baskets,
        request: request.clone(),
        client: &client,
        cut: None,
        proxy,
        start: Duration::ZERO,
    });
    run_together(jobs.collect(), link, &Faults::default(), &mut { 1 << 30 }).unwrap().unwrap()
}

fn link() -> Link {
    Link { largest_window: 64 << 20, ..Link::new(TRIP, BANDWIDTH) }
}

#[test]
fn a_small_tree_cache_waits_for_the_proxy_and_not_for_the_origin() {
    // one of ten branches
    let all = layout::scattered(10, 400, 4000, 0, 10);
    let read_ones: Vec<Basket> = all.iter().filter(|b| b.branch == 3).copied().collect();
    let bytes: u64 = read_ones.iter().map(|b| b.span.len).sum();
    for is_http in [true, false] {
        let proxy = proxy(&all, 10, is_http);
        for cache in [CacheSize::Off, CacheSize::Bytes(16_000)] {
            let direct = read(&read_ones, cache, &[None], &link()).remove(0);
            let through = read(&read_ones, cache, &[Some(&proxy)], &link()).remove(0);
            assert_eq!(through.stats.requests, direct.stats.requests, "the client asks as it does without a proxy");
            assert_eq!(through.arrived.len(), read_ones.len());
            assert!(through.time < direct.time / 4, "{:?} {:?}", through.time, direct.time);
            let fetched = through.by_proxy.unwrap();
            assert!((bytes..bytes + GUESS).contains(&fetched.bytes), "{fetched:?} for {bytes}");
            assert!(fetched.requests < direct.stats.requests, "{fetched:?} for {}", direct.stats.requests);
            assert_eq!(direct.by_proxy, None);
        }
    }
}

#[test]
fn a_proxy_learns_from_what_a_client_reads_when_it_opens_a_file() {
    let all = layout::scattered(10, 400, 4000, 0, 10);
    let read_ones: Vec<Basket> = all.iter().filter(|b| b.branch == 0).copied().collect();
    let (first, bytes) = (read_ones[0].span, read_ones.iter().map(|b| b.span.len).sum::<u64>());
    for is_http in [true, false] {
        let proxy = proxy(&all, 10, is_http);
        let beginning = RequestedSpan { span: Span::new(0, first.end() + 100), held: 100 };
        let aware = Proxy { opened: [&[beginning], &proxy.opened[..]].concat(), ..proxy.clone() };
        let [late, early] = [&proxy, &aware].map(|p| read(&read_ones, CacheSize::Off, &[Some(p)], &link()).remove(0));
        assert_eq!(early.stats.requests, late.stats.requests);
        // the first basket is at the proxy, and what follows it was asked for without being waited for
        assert!(
            early.first_basket < TRIP && late.first_basket > TRIP,
            "{:?} {:?}",
            early.first_basket,
            late.first_basket
        );
        assert!(early.time < late.time, "{:?} {:?}", early.time, late.time);
        let fetched = early.by_proxy.unwrap();
        assert!((bytes - beginning.span.len..bytes + GUESS).contains(&fetched.bytes), "{fetched:?} for {bytes}");
    }
}

#[test]
fn clients_share_the_link_behind_their_proxies() {
    let all = layout::scattered(1, 400, 40_000, 0, 10);
    let proxy = proxy(&all, 1, false);
    let of = |n: usize| read(&all, CacheSize::Bytes(100_000), &vec![Some(&proxy); n], &link());
    let [one, four] = [1, 4].map(|n| of(n).iter().map(|r| r.time).max().unwrap());
    let bytes: u64 = all.iter().map(|b| b.span.len).sum();
    for (clients, time) in [(1.0, one), (4.0, four)] {
        let least = clients * bytes as f64 / BANDWIDTH;
        assert!((1.0..1.5).contains(&(time.as_secs_f64() / least)), "{clients}: {time:?}, {least} s");
    }
}

#[test]
fn a_long_request_is_handed_on_while_it_comes() {
    // 20 MB in one request
    let all = layout::scattered(1, 500, 40_000, 0, 10);
    for is_http in [true, false] {
        let proxy = proxy(&all, 1, is_http);
        let through = read(&all, CacheSize::Bytes(100 << 20), &[Some(&proxy)], &link()).remove(0);
        assert_eq!(through.arrived.len(), all.len());
        assert!(through.stats.requests < 10, "{}", through.stats.requests);
        assert!(through.by_proxy.unwrap().requests > through.stats.requests, "{:?}", through.by_proxy);
        // the first baskets long before the last ones
        assert!(through.first_basket < through.last_basket / 2, "{:?}", through.first_basket);
    }
}

#[test]
fn losses_without_a_round_trip_end() {
    let all = layout::scattered(2, 100, 40_000, 0, 10);
    let proxy = proxy(&all, 2, true);
    let link = Link { loss_every: Some(3000), round_trip: Duration::ZERO, ..link() };
    let report = read(&all, CacheSize::Bytes(100_000), &[Some(&proxy)], &link).remove(0);
    assert_eq!(report.arrived.len(), all.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    /// Whatever is read and however, all of it comes, at most as fast as the link brings it, and no more than may be fetched ahead beside it.
    #[test]
    fn all_that_is_read_comes_over_the_link(
        branches in 1u32..6, each in 1u32..60, bytes in 500u64..300_000, gap in 0u64..50_000,
        chosen in any::<u8>(), cache in prop_oneof![Just(CacheSize::Off), (1u64..2_000_000).prop_map(CacheSize::Bytes)],
        is_http: bool, largest in 20_000u64..1_000_000,
    ) {
        let all = layout::scattered(branches, each, bytes, gap, 10);
        let is_read = |b: &&Basket| b.branch == 0 || chosen >> b.branch & 1 == 1;
        let some: Vec<Basket> = all.iter().filter(is_read).copied().collect();
        let proxy = proxy(&all, branches, is_http);
        let link = Link { largest_window: largest, ..link() };
        let report = read(&some, cache, &[Some(&proxy)], &link).remove(0);
        prop_assert_eq!(report.arrived.len(), some.len());
        let fetched = report.by_proxy.unwrap();
        let wanted: u64 = some.iter().map(|b| b.span.len).sum();
        prop_assert!(fetched.bytes >= wanted);
        prop_assert!(fetched.bytes <= report.stats.asked_bytes + wanted + TAIL + GUESS, "{:?} {}", fetched, wanted);
        // what was fetched ahead and not needed may still be on its way at the end
        prop_assert!(report.time.as_secs_f64() >= wanted as f64 / BANDWIDTH);
    }
}
