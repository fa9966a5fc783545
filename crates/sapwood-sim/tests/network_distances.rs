//! What reading a file costs from near and far: the table that the tree cache was invented for.
//! Times are virtual: the same on every machine.

use sapwood_plan::{Basket, CacheSize, Limits, Request};
use sapwood_sim::{Client, Faults, Link, Oracle, Report, layout, run, scenario};

fn scan(baskets: &[Basket], clusters: &[u64], link: &Link, cache: CacheSize) -> Report {
    let client = Client::sequential(layout::entries(baskets), 10_000);
    let request = Request { cache, limits: link.limits(), clusters: clusters.to_vec(), hold: 0 };
    run(baskets, request, link, &client, &Faults::default()).unwrap()
}

/// The three files: 15.9 MB wanted, in 3700 baskets scattered over 150 MB, in 3700 baskets that
/// fill their clusters, and in 370 baskets of every tenth branch.
fn files() -> Vec<(&'static str, Vec<Basket>, Vec<u64>)> {
    let (full, full_clusters) = layout::clustered(10, (37, 37), 10, 4300, 10_000);
    let (sparse, sparse_clusters) = layout::clustered(10, (37, 370), 1, 43_000, 10_000);
    vec![
        ("scattered", layout::scattered(37, 100, 4300, 36_000, 1000), Vec::new()),
        ("clustered", full, full_clusters),
        ("sparse", sparse, sparse_clusters),
    ]
}

#[test]
fn close_to_the_best_from_everywhere() {
    for (file, baskets, clusters) in files() {
        for place in scenario::places() {
            let limits = place.link.limits();
            let report = scan(&baskets, &clusters, &place.link, CacheSize::Auto);
            let best = Oracle::new(&baskets, &limits, &place.link);
            let what = format!("{file} from {}: {:?}, at best {best:?}", place.name, report.stats);
            let ratio = report.time.as_secs_f64() / best.time.as_secs_f64();
            assert!(ratio < 1.6, "{ratio:.2} times the best time: {what}");
            assert!(
                report.stats.requests <= best.requests + limits.max_in_flight as u64 + 12,
                "too many requests: {what}"
            );
            assert!(report.stats.asked_bytes <= best.bytes * 101 / 100, "too many bytes: {what}");
            assert!(report.stats.max_held_bytes <= Request::DEFAULT_HOLD, "{what}");
            assert_eq!(report.arrived.len(), baskets.len(), "{what}");
        }
    }
}

#[test]
fn without_the_cache_every_basket_costs_a_round_trip() {
    let (_, baskets, clusters) = files().remove(0);
    for place in scenario::places() {
        let off = scan(&baskets, &clusters, &place.link, CacheSize::Off);
        assert_eq!((off.stats.requests, off.stats.ranges, off.stats.gap_bytes), (3700, 3700, 0));
        assert_eq!(off.stats.max_in_flight, 1);
        assert!(off.time >= place.link.round_trip * 3700);
        let on = scan(&baskets, &clusters, &place.link, CacheSize::Auto);
        assert!(on.time < off.time, "{}", place.name);
        if place.name == "G" {
            // The example of the seminar: half an hour becomes seconds.
            assert!(off.time.as_secs() > 880 && on.time.as_secs_f64() < 2.7, "{:?} {:?}", off.time, on.time);
        }
    }
}

/// With the cache off, baskets come in the order in which a loop over entries touches them.
#[test]
fn without_the_cache_the_entry_loop_decides_the_order() {
    let (_, baskets, _) = files().remove(0);
    let off = scan(&baskets, &[], &scenario::places()[1].link, CacheSize::Off);
    let order: Vec<(u64, u32)> = off.arrived.iter().map(|b| &baskets[b.index()]).map(|b| (b.first, b.branch)).collect();
    assert!(order.is_sorted());
}

/// A cache of 64 kB, as in the old table: as many requests as fills of the cache, and at most one fill more is held.
#[test]
fn a_small_cache_holds_little_and_helps() {
    let (_, baskets, _) = files().remove(0);
    let link = &scenario::places()[6].link;
    let small = scan(&baskets, &[], link, CacheSize::Bytes(64_000));
    assert!(small.stats.max_held_bytes <= 128_000, "{:?}", small.stats);
    assert!(small.stats.requests <= small.stats.asked_bytes.div_ceil(64_000) * 11 / 10, "{:?}", small.stats);
    let ten = scan(&baskets, &[], link, CacheSize::Bytes(10_000_000));
    assert!(ten.stats.max_held_bytes <= 20_000_000, "{:?}", ten.stats);
    assert!(ten.time.as_secs_f64() < 3.4 && small.time > ten.time * 10, "{:?} {:?}", ten.time, small.time);
}

/// Losses slow the path down; the plan still works.
#[test]
fn losses_cost_time_only() {
    let (_, baskets, _) = files().remove(0);
    let clean = scenario::places()[4].link.clone();
    let lossy = Link { loss_every: Some(1 << 20), ..clean.clone() };
    let [a, b] = [clean, lossy].map(|link| scan(&baskets, &[], &link, CacheSize::Auto));
    assert!(b.time >= a.time);
    assert!(b.stats.requests <= a.stats.requests + 20, "{} {}", b.stats.requests, a.stats.requests);
}

/// Reading ahead costs nothing: as many requests and bytes as when each fill of the cache is requested only once the
/// previous one is used up.
#[test]
fn reading_ahead_asks_for_no_more_than_filling_the_cache_would() {
    for (file, baskets, clusters) in files() {
        for place in scenario::places().into_iter().skip(1) {
            for megabytes in [1, 2, 4, 8, 16, 32, 64] {
                let client = Client::sequential(layout::entries(&baskets), 10_000);
                let cache = CacheSize::Bytes(megabytes << 20);
                let limits = [Limits { max_in_flight: 1, ..place.link.limits() }, place.link.limits()];
                let [one, ahead] = limits.map(|limits| {
                    let request = Request { cache, limits, clusters: clusters.clone(), hold: 0 };
                    run(&baskets, request, &place.link, &client, &Faults::default()).unwrap().stats
                });
                let what = format!("{file} from {}, {megabytes} MiB: {ahead:?} against {one:?}", place.name);
                assert!(ahead.asked_bytes <= one.asked_bytes * 11 / 10, "bytes: {what}");
                // Where everything fits into the cache, all connections share it.
                let fills = ahead.asked_bytes > megabytes << 20;
                let shared = if fills { 0 } else { place.link.limits().max_in_flight as u64 + 1 };
                assert!(ahead.requests <= (one.requests * 11 / 10).max(shared), "requests: {what}");
            }
        }
    }
}
