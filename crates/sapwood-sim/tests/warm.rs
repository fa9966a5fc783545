//! What a request may hold changes with the first reply.

use sapwood_plan::{Action, CacheSize, Limits, Record, Request};
use sapwood_sim::{Client, Faults, Link, layout, run};
use std::time::Duration;

#[test]
fn requests_hold_more_ranges_from_the_first_reply_on() {
    let far = Duration::from_millis(100);
    // a thousand ranges, each of its own
    let baskets = layout::scattered(1, 1000, 4000, 100_000, 10);
    let client = Client::sequential(layout::entries(&baskets), layout::entries(&baskets));
    let limits = Limits { max_ranges: 90, max_in_flight: 2, ..Limits::http(far) };
    let ranges = |client: &Client| {
        let request = Request {
            cache: CacheSize::Bytes(2_000_000),
            limits: limits.clone(),
            clusters: Vec::new(),
            hold: 4_000_000,
        };
        let report = run(&baskets, request, &Link::new(far, 125e6), client, &Faults::default()).unwrap();
        let fetches = report.log.records.into_iter().filter_map(|(_, record)| match record {
            Record::Action(Action::Fetch(fetch)) => Some(fetch.ranges.len()),
            _ => None,
        });
        fetches.collect::<Vec<_>>()
    };
    let before = ranges(&client);
    assert!(before.iter().all(|&n| n <= 90), "{before:?}");
    let warm = Some(Limits { max_ranges: 200, ..limits.clone() });
    let after = ranges(&Client { warm, ..client });
    assert!(after[0] <= 90 && after.iter().any(|&n| n > 90), "{after:?}");
    assert!(after.len() < before.len(), "{after:?} {before:?}");
    assert_eq!(after.iter().sum::<usize>(), 1000);
}
