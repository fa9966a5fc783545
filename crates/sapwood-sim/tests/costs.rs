//! Requests take time of the client's cores.

use sapwood_plan::{CacheSize, Limits, Request};
use sapwood_sim::{Client, Faults, Link, Report, layout, run};
use std::time::Duration;

const BASKETS: u32 = 200;

/// Reads as many baskets, each a range of its own, over a link on which little else takes time.
fn read(cache: CacheSize, change: impl Fn(&mut Client)) -> Report {
    let baskets = layout::scattered(1, BASKETS, 4000, 100_000, 10);
    let entries = layout::entries(&baskets);
    let mut client = Client { inflate: 400e6, ..Client::sequential(entries, entries) };
    change(&mut client);
    let trip = Duration::from_micros(1);
    let request = Request { cache, limits: Limits::http(trip), clusters: Vec::new(), hold: 4_000_000 };
    let link =
        Link { per_request: Duration::ZERO, per_range: Duration::ZERO, range_header: 0, ..Link::new(trip, 1e12) };
    run(&baskets, request, &link, &client, &Faults::default()).unwrap()
}

fn off_by(report: &Report, microseconds: f64) -> f64 {
    (report.time.as_secs_f64() * 1e6 / microseconds - 1.0).abs()
}

#[test]
fn a_request_for_each_basket_waits_for_the_one_before() {
    let plain = read(CacheSize::Off, |_| ());
    assert_eq!(plain.stats.requests, u64::from(BASKETS));
    let costly = read(CacheSize::Off, |client| {
        client.per_request = Duration::from_micros(60);
        client.per_range = Duration::from_micros(5);
    });
    // the other core decompresses meanwhile; the trips are about a microsecond each
    assert!(off_by(&costly, 66.0 * f64::from(BASKETS)) < 0.02, "{:?}", costly.time);
    assert_eq!((costly.stats.requests, costly.arrived), (plain.stats.requests, plain.arrived));
}

#[test]
fn ranges_share_the_cores_with_what_is_decompressed() {
    let ranges = |cores: usize| {
        let set = |client: &mut Client| (client.cores, client.per_range) = (cores, Duration::from_micros(5));
        read(CacheSize::Bytes(4_000_000), set)
    };
    // each basket is 10 µs of decompression and 5 µs for its range: both on one core, or one of them beside the other
    let [one, two] = [ranges(1), ranges(2)];
    assert!(off_by(&one, 15.0 * f64::from(BASKETS)) < 0.02, "{:?}", one.time);
    assert!(off_by(&two, 7.5 * f64::from(BASKETS)) < 0.05, "{:?}", two.time);
}
