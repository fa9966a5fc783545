//! Work on every entry is hidden behind reading: 140 MB at 100 ms and 100 Mbit/s, and 40 µs for each of 290 000
//! entries, about the time that their bytes need in transit. Times are virtual: the same on every machine.

use sapwood_plan::{Basket, CacheSize, Limits, Request};
use sapwood_sim::{Client, Faults, Link, layout, run};
use std::time::Duration;

const ENTRIES: u64 = 58_000;
const STEP: u64 = 8_600;
const WORK: Duration = Duration::from_micros(40);

/// Time until the work on the last entry is done.
fn time(baskets: &[Basket], clusters: &[u64], limits: Limits, work: Duration) -> f64 {
    let link = Link::new(Duration::from_millis(100), 12.5e6);
    let think = work * u32::try_from(STEP).unwrap();
    let client = Client { think, ..Client::sequential(layout::entries(baskets), STEP) };
    let request = Request { cache: CacheSize::Auto, limits, clusters: clusters.to_vec(), hold: 0 };
    let report = run(baskets, request, &link, &client, &Faults::default()).unwrap();
    (report.time + think).as_secs_f64()
}

/// HTTP, with this many connections assumed to be worth having for sequential reads.
fn limits(connections: usize) -> Limits {
    Limits { streams: Some(connections), ..Limits::http(Duration::from_millis(100)) }
}

#[test]
fn work_hides_behind_reading_however_many_connections_are_tried() {
    let baskets = layout::scattered(152, 150, 28_000_000 / 152 / 30, 0, ENTRIES / 30);
    let working = (WORK * u32::try_from(5 * ENTRIES).unwrap()).as_secs_f64();
    for connections in [1, 2, 4] {
        let reading = time(&baskets, &[], limits(connections), Duration::ZERO);
        let both = time(&baskets, &[], limits(connections), WORK);
        let ratio = both / reading.max(working);
        assert!(ratio <= 1.15, "{connections} connections: {both:.1} s, {reading:.1} reading, {working:.1} working");
    }
}

/// Where a branch has one basket in a cluster, work on its first entry can start when the whole cluster has arrived;
/// the work on the last cluster then comes on top.
#[test]
fn of_large_baskets_only_the_last_cluster_is_left_over() {
    let (baskets, clusters) = layout::clustered(5, (152, 152), 1, 28_000_000 / 152, ENTRIES);
    let cluster = (WORK * u32::try_from(ENTRIES).unwrap()).as_secs_f64();
    for connections in [1, 2, 4] {
        let reading = time(&baskets, &clusters, limits(connections), Duration::ZERO);
        let both = time(&baskets, &clusters, limits(connections), WORK);
        assert!(both <= 1.08 * (reading + cluster), "{connections} connections: {both:.1} s, {reading:.1} reading");
    }
}
