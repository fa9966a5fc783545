//! A reply takes the round trips that its connection's window needs.

use sapwood_plan::{Basket, CacheSize, Request};
use sapwood_sim::{Client, Faults, Job, Link, run, run_together};
use sapwood_span::Span;
use std::time::Duration;

const TRIP: Duration = Duration::from_millis(100);

fn link() -> Link {
    let link = Link::new(TRIP, 1e12);
    Link { per_request: Duration::ZERO, per_range: Duration::ZERO, range_header: 0, largest_window: 1 << 30, ..link }
}

/// Round trips until one basket of this size is here, over a new connection.
fn trips(bytes: u64, link: &Link) -> f64 {
    let basket = Basket { branch: 0, index: 0, span: Span::new(1000, bytes), first: 0, last: 10, unzipped: bytes };
    let client = Client { inflate: 1e15, ..Client::sequential(10, 10) };
    let request = Request { cache: CacheSize::Auto, limits: link.limits(), clusters: Vec::new(), hold: 0 };
    let report = run(&[basket], request, link, &client, &Faults::default()).unwrap();
    report.time.as_secs_f64() / TRIP.as_secs_f64()
}

/// Ten segments arrive in the first round trip, twice as many in the next; connecting takes one.
#[test]
fn windows_double() {
    let link = link();
    for (bytes, expected) in [(14_000, 2.0), (43_000, 3.0), (100_000, 4.0)] {
        let found = trips(bytes, &link);
        assert!((found - expected).abs() < 0.2, "{bytes}: {found}");
        let time = link.flights(bytes, link.initial_window, 1.0).0.last().unwrap().end;
        assert_eq!((time.as_secs_f64() / TRIP.as_secs_f64() + 1.0).round(), expected, "{bytes}");
    }
}

/// A receiver that does not know yet how fast bytes come takes 64 KiB at once: one round trip more. As measured: 400 kB take 7 round trips. (15 MB took 13 over 1 Gbit/s, where half a one is the time of the bytes.)
#[test]
fn the_receiver_takes_a_round_trip_to_open() {
    let link = link();
    for (bytes, expected) in [(400_000, 7.0), (15_000_000, 12.0)] {
        let found = trips(bytes, &link);
        assert!((found - expected).abs() < 0.6, "{bytes}: {found}");
        let time = link.flights(bytes, link.initial_window, 1.0).0.last().unwrap().end;
        assert!((time.as_secs_f64() / TRIP.as_secs_f64() + 1.0 - expected).abs() < 1.1, "{bytes}: {time:?}");
    }
    let wide = Link { receive_window: 1 << 30, ..link };
    assert!(trips(400_000, &wide) < 6.2);
}

#[test]
fn a_connection_that_was_open_needs_no_handshake_and_keeps_its_window() {
    let open = Link { open: vec![1 << 20], ..link() };
    let found = trips(1_000_000, &open);
    assert!((found - 1.0).abs() < 0.1, "{found}");
}

/// Round trips until baskets of this size are here, each requested at once, over connections that are open.
fn together(count: u32, bytes: u64, link: &Link) -> f64 {
    let basket = |i: u32| {
        let span = Span::new(1000 + u64::from(i) * 10_000_000, bytes);
        Basket { branch: i, index: 0, span, first: 0, last: 10, unzipped: 1 }
    };
    let baskets: Vec<Basket> = (0..count).map(basket).collect();
    let client = Client { inflate: 1e15, ..Client::sequential(10, 10) };
    let limits =
        sapwood_plan::Limits { max_in_flight: count as usize, max_ranges: 1, queue: link.queue, ..link.limits() };
    let request = Request { cache: CacheSize::Auto, limits, clusters: Vec::new(), hold: 0 };
    let time = run(&baskets, request, link, &client, &Faults::default()).unwrap().time;
    time.as_secs_f64() / link.round_trip.as_secs_f64()
}

#[test]
fn a_long_answer_waits_for_a_busy_connection_that_is_much_wider() {
    let time = |open: [u64; 2]| together(2, 1_000_000, &Link { open: open.to_vec(), ..link() });
    let (wide, narrow) = (4 << 20, 50_000);
    assert!((time([wide, wide]) - 1.0).abs() < 0.1, "{}", time([wide, wide]));
    // one after the other, in place of the five round trips of slow start and the receiver's
    assert!((time([wide, narrow]) - 2.0).abs() < 0.1, "{}", time([wide, narrow]));
    assert!(time([narrow, narrow]) > 5.0, "{}", time([narrow, narrow]));
}

#[test]
fn flights_that_meet_end_slow_start_of_those_behind() {
    let path = Link { round_trip: Duration::from_millis(50), bandwidth: 125e6, receive_window: u64::MAX, ..link() };
    let time = |count: u32, hystart: bool| {
        let open = vec![50_000; count as usize];
        together(count, 1_360_000, &Link { hystart, open, ..path.clone() })
    };
    assert_eq!(time(1, true), time(1, false));
    assert!(time(10, true) > time(10, false) + 1.0, "{} {}", time(10, true), time(10, false));
}

#[test]
fn requests_queued_on_one_connection_share_its_window() {
    let time = |queue: usize| together(4, 1_000_000, &Link { queue, ..link() });
    assert!(time(4) > time(1), "{:?} {:?}", time(4), time(1));
}

#[test]
fn losses_slow_a_connection_whatever_its_bandwidth() {
    let seconds = |bandwidth: f64, loss_every: Option<u64>| {
        let link = Link { hystart: true, receive_window: u64::MAX, loss_every, ..Link::new(TRIP, bandwidth) };
        trips(256 << 20, &link) * TRIP.as_secs_f64()
    };
    let mut last = f64::INFINITY;
    // 10^-4 of the segments: 1.22 segments / (100 ms · √10^-4), 1.8 MB/s in the end, unless the line is slower (Mathis et al. 1997)
    for mbit in [20.0, 100.0, 300.0, 1000.0, 2000.0, 10_000.0] {
        let [without, with] = [None, Some(14_600_000)].map(|loss| seconds(mbit * 125_000.0, loss));
        let formula = (256 << 20) as f64 / (1.22 * 1460.0 / 0.1 / 1e-4f64.sqrt());
        assert!(with > without, "{mbit} Mbit/s: {with} {without}");
        assert!(with > 0.7 * formula && with < 1.3 * formula.max(without), "{mbit} Mbit/s: {with} {formula}");
        assert!(with <= last, "{mbit} Mbit/s: {with} after {last}");
        last = with;
    }
}

#[test]
fn scans_together_end_where_they_take_too_much_work() {
    let link = link();
    let basket = Basket { branch: 0, index: 0, span: Span::new(1000, 1_000_000), first: 0, last: 10, unzipped: 1 };
    let client = Client::sequential(10, 10);
    let together = |most_work: u64| {
        let request = Request { cache: CacheSize::Auto, limits: link.limits(), clusters: Vec::new(), hold: 0 };
        let job = Job { baskets: &[basket], request, client: &client, cut: None, proxy: None, start: Duration::ZERO };
        run_together(vec![job.clone(), job], &link, &Faults::default(), &mut { most_work }).unwrap()
    };
    assert_eq!(together(10), None);
    assert_eq!(together(u64::MAX).unwrap().len(), 2);
}
