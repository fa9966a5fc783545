//! Scans with a cut, with the engine's policy: what is fetched before the cut is known.

use sapwood_plan::{Basket, CacheSize, Limits, Request};
use sapwood_sim::{Client, Cut, Faults, Link, Report, layout, run, run_with_cut};
use std::ops::Range;
use std::time::Duration;

const BRANCHES: u32 = 10;
const CLUSTERS: u32 = 20;
const BASKET: u64 = 40_000;
const ENTRIES: u64 = 1000;

fn file() -> (Vec<Basket>, Vec<u64>) {
    layout::clustered(CLUSTERS, (BRANCHES, 50), 1, BASKET, ENTRIES)
}

fn request(clusters: &[u64], limits: Limits) -> Request {
    Request { cache: CacheSize::Auto, limits, clusters: clusters.to_vec(), hold: 0 }
}

fn client() -> Client {
    Client::sequential(u64::from(CLUSTERS) * ENTRIES, ENTRIES)
}

/// A scan of all branches with a cut on the first; over HTTP at this round-trip time, or a local file at none.
fn with_cut(passed: Vec<Range<u64>>, round_trip: Duration, faults: &Faults) -> Report {
    let (baskets, clusters) = file();
    let link =
        if round_trip.is_zero() { Link::local(500e6, Duration::from_micros(80)) } else { Link::new(round_trip, 125e6) };
    let cut = Cut { branches: vec![0], passed, limits: None };
    run_with_cut(&baskets, request(&clusters, link.limits()), &link, &client(), faults, &cut).unwrap()
}

const MS_20: Duration = Duration::from_millis(20);
const ALL: Range<u64> = 0..CLUSTERS as u64 * ENTRIES;
/// Bytes of the cut's branch.
const OWN: u64 = CLUSTERS as u64 * BASKET;

#[test]
fn a_cut_that_passes_everywhere_costs_two_round_trips_at_most() {
    let (baskets, clusters) = file();
    for ms in [1, 20, 240].map(Duration::from_millis) {
        let link = Link::new(ms, 125e6);
        let without = run(&baskets, request(&clusters, link.limits()), &link, &client(), &Faults::default()).unwrap();
        let with = with_cut(vec![ALL], ms, &Faults::default());
        assert_eq!(with.stats.arrived_bytes, without.stats.arrived_bytes);
        assert!(with.time <= without.time + 2 * ms, "{ms:?}: {:?} and {:?} without", with.time, without.time);
    }
}

#[test]
fn what_a_cut_decides_is_requested_when_it_is_evaluated() {
    let (baskets, clusters) = file();
    let link = Link::new(MS_20, 1e12);
    let cut = Cut { branches: vec![0], passed: vec![ALL], limits: None };
    let run = |evaluation: u64, client: Client| {
        let client = Client { cut: Duration::from_millis(evaluation), ..client };
        run_with_cut(&baskets, request(&clusters, link.limits()), &link, &client, &Faults::default(), &cut).unwrap()
    };
    let [free, slow] = [0, 300].map(|ms| run(ms, Client { batches: vec![(0, ALL.end)], ..client() }));
    assert_eq!(slow.stats.arrived_bytes, free.stats.arrived_bytes);
    let later = (slow.time - free.time).as_secs_f64();
    assert!((later - 0.3).abs() < 0.03, "{later}: {:?} and {:?}", free.time, slow.time);
    // one after the other, with the analysis between them
    let [free, slow] = [0, 20].map(|ms| run(ms, Client { think: Duration::from_millis(30), cores: 16, ..client() }));
    let later = (slow.time - free.time).as_secs_f64();
    let all = 0.02 * f64::from(CLUSTERS);
    assert!((0.8..=1.1).contains(&(later / all)), "{later} of {all}");
}

#[test]
fn a_cut_that_passes_nowhere_costs_what_was_asked_for_at_first() {
    let nothing = with_cut(Vec::new(), MS_20, &Faults::default());
    // 16 connections carry 64 KiB each before the first values arrive
    assert!(nothing.stats.arrived_bytes <= OWN + 16 * (64 << 10), "{:?}", nothing.stats);
    assert!(nothing.stats.skipped > 0);
    // a local file has no latency: nothing is read in vain
    let local = with_cut(Vec::new(), Duration::ZERO, &Faults::default());
    assert_eq!(local.stats.arrived_bytes, OWN);
}

#[test]
fn only_baskets_with_an_entry_that_passed_are_read() {
    let few = with_cut(vec![4_010..4_020, 15_999..16_000], Duration::ZERO, &Faults::default());
    assert_eq!(few.stats.arrived_bytes, OWN + 2 * u64::from(BRANCHES - 1) * BASKET);
    assert_eq!(few.stats.skipped, u64::from(BRANCHES - 1) * u64::from(CLUSTERS - 2));
    assert_eq!(few.batches, CLUSTERS as usize);
}

#[test]
fn a_scan_with_a_cut_ends_whatever_breaks() {
    for seed in 0..20 {
        let faults = Faults { seed, broken_per_mille: 200, short_per_mille: 200, ..Faults::default() };
        let report = with_cut(vec![500..7_000, 12_345..12_346], MS_20, &faults);
        assert_eq!(report.batches, CLUSTERS as usize);
    }
}
