//! Plans as text, and the rules one by one.

use sapwood_plan::{
    Action, Basket, BasketId, CacheSize, Event, Fetch, FetchId, Limits, Planner, Request, describe_action,
};
use sapwood_span::Span;
use std::time::Duration;

const NAMES: [&str; 3] = ["nMuon", "Muon_pt", "Muon_eta"];

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn basket(branch: u32, index: u32, start: u64, len: u64) -> Basket {
    let first = u64::from(index) * 100;
    Basket { branch, index, span: Span::new(start, len), first, last: first + 100, unzipped: len * 2 }
}

/// Three branches of `n` baskets each, `len` bytes long, with `gap` bytes between them.
fn file(n: u32, len: u64, gap: u64) -> Vec<Basket> {
    let place = |i: u32| 1000 + u64::from(i) * (len + gap);
    (0..n * 3).map(|i| basket(i % 3, i / 3, place(i), len)).collect()
}

fn planner(baskets: &[Basket], limits: Limits, cache: CacheSize, hold: u64) -> Planner {
    Planner::new(baskets.to_vec(), Request { cache, limits, clusters: Vec::new(), hold }).unwrap()
}

fn fetches(planner: &mut Planner, now: Duration) -> Vec<Fetch> {
    std::iter::from_fn(|| planner.poll(now))
        .map(|action| match action {
            Action::Fetch(fetch) => fetch,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn words(planner: &mut Planner, now: Duration) -> Vec<String> {
    let baskets = planner.baskets().to_vec();
    std::iter::from_fn(|| planner.poll(now)).map(|a| describe_action(&a, &baskets, |b| NAMES[b as usize])).collect()
}

/// All baskets of the fetch arrive, then it is done.
fn deliver(planner: &mut Planner, now: Duration, fetch: &Fetch) {
    for basket in fetch.baskets() {
        planner.handle(now, Event::Arrived { fetch: fetch.id, basket });
    }
    planner.handle(now, Event::Done { fetch: fetch.id, first_byte: ms(20), total: ms(21), bytes: fetch.bytes() });
}

fn narrow() -> Limits {
    Limits { max_ranges: 4, max_in_flight: 2, range_overhead: 100, ..Limits::http(ms(20)) }
}

#[test]
fn the_first_requests_in_words() {
    let mut planner = planner(&file(4, 2000, 3000), narrow(), CacheSize::Auto, 0);
    planner.record(true);
    planner.handle(ms(0), Event::Want { first: 0, last: 100 });
    let first = fetches(&mut planner, ms(0));
    deliver(&mut planner, ms(21), &first[0]);
    planner.handle(ms(22), Event::Consumed { basket: BasketId(1) });
    while planner.poll(ms(22)).is_some() {}
    planner.handle(ms(30), Event::Failed { fetch: FetchId(1), retry: false });
    while planner.poll(ms(30)).is_some() {}
    planner.handle(ms(31), Event::Stop);
    while planner.poll(ms(31)).is_some() {}
    let log = planner.take_log().describe(planner.baskets(), |b| NAMES[b as usize]);
    let expected = "    \
    0.000 ms  want entries 0..100
    0.000 ms  fetch 0 (urgent): 8.00 kB in 4 ranges: nMuon[0..2] Muon_pt[0] Muon_eta[0]
    0.000 ms  fetch 1: 8.00 kB in 4 ranges: nMuon[2] Muon_pt[1..3] Muon_eta[1]
   21.000 ms  arrived nMuon[0] by fetch 0
   21.000 ms  arrived Muon_pt[0] by fetch 0
   21.000 ms  arrived Muon_eta[0] by fetch 0
   21.000 ms  arrived nMuon[1] by fetch 0
   21.000 ms  fetch 0 done: 8.00 kB in 21.000 ms, first byte after 20.000 ms
   22.000 ms  consumed Muon_pt[0]
   22.000 ms  fetch 2: 8.00 kB in 4 ranges: nMuon[3] Muon_pt[3] Muon_eta[2..4]
   30.000 ms  fetch 1 failed for good
   30.000 ms  give up nMuon[2] Muon_pt[1..3] Muon_eta[1]
   31.000 ms  stop
   31.000 ms  cancel fetch 2
";
    assert_eq!(log, expected, "\n{log}");
    assert!(planner.is_done());
}

#[test]
fn touching_baskets_become_one_range() {
    let mut planner = planner(&file(4, 2000, 0), narrow(), CacheSize::Auto, 0);
    assert_eq!(words(&mut planner, ms(0)), ["fetch 0: 24.0 kB in 1 range: nMuon[0..4] Muon_pt[0..4] Muon_eta[0..4]"]);
}

/// A gap that is read over anyway includes the basket in it, however late it is needed.
#[test]
fn a_basket_in_a_bridged_gap_comes_along() {
    let baskets = [basket(0, 0, 1000, 500), basket(0, 900, 1500, 80), basket(1, 0, 1580, 500)];
    let far_off: Vec<Basket> = (1..400).map(|i| basket(2, i, 10_000 + u64::from(i) * 5000, 500)).collect();
    let all: Vec<Basket> = baskets.into_iter().chain(far_off).collect();
    let mut planner = planner(&all, narrow(), CacheSize::Auto, 0);
    planner.handle(ms(0), Event::Want { first: 0, last: 100 });
    let first = fetches(&mut planner, ms(0)).remove(0);
    assert_eq!(first.ranges[0].span, Span::new(1000, 1080));
    assert_eq!(first.ranges[0].parts.iter().map(|p| p.offset).collect::<Vec<_>>(), [0, 500, 580]);
    assert_eq!(planner.stats().gap_bytes, 0);
}

/// Reading ahead had taken both connections: the later one is cancelled for what the consumer waits for.
#[test]
fn after_a_jump_the_awaited_go_first() {
    let mut planner = planner(&file(1000, 2000, 3000), narrow(), CacheSize::Auto, 0);
    planner.handle(ms(0), Event::Want { first: 0, last: 100 });
    fetches(&mut planner, ms(0));
    planner.handle(ms(5), Event::Want { first: 50_000, last: 50_100 });
    assert_eq!(
        words(&mut planner, ms(5)),
        ["cancel fetch 1", "fetch 2 (urgent): 8.00 kB in 4 ranges: nMuon[500..502] Muon_pt[500] Muon_eta[500]"]
    );
    assert_eq!((planner.stats().jumps, planner.stats().cancelled, planner.stats().repeated), (1, 1, 4));
    // What the cancelled fetch still reports is ignored.
    planner.handle(ms(6), Event::Arrived { fetch: FetchId(1), basket: BasketId(4) });
    assert_eq!(planner.stats().arrived, 0);
    // Backwards it is the same, and reading ahead continues from there.
    planner.handle(ms(7), Event::Want { first: 20_000, last: 20_050 });
    let next = words(&mut planner, ms(7));
    assert_eq!(next[0], "cancel fetch 2");
    assert!(next[1].starts_with("fetch 3 (urgent)") && next[1].contains("Muon_pt[200]"), "{next:?}");
}

#[test]
fn reading_in_order_never_cancels() {
    let baskets = file(400, 2000, 3000);
    let mut planner = planner(&baskets, narrow(), CacheSize::Auto, 60_000);
    let mut pending = Vec::new();
    for batch in 0..400 {
        planner.handle(ms(batch), Event::Want { first: batch * 100, last: batch * 100 + 100 });
        pending.extend(fetches(&mut planner, ms(batch)));
        while baskets.iter().zip(0..).any(|(b, i)| b.first == batch * 100 && pending_has(&pending, i)) {
            let fetch = pending.remove(0);
            deliver(&mut planner, ms(batch), &fetch);
            for basket in fetch.baskets() {
                planner.handle(ms(batch), Event::Consumed { basket });
            }
            pending.extend(fetches(&mut planner, ms(batch)));
        }
    }
    let stats = planner.stats();
    assert_eq!((stats.jumps, stats.cancelled, stats.repeated, stats.requests), (0, 0, 0, 300));
    assert!(planner.is_done() && stats.max_held_bytes <= 60_000);
}

fn pending_has(pending: &[Fetch], basket: u32) -> bool {
    pending.iter().any(|f| f.baskets().any(|b| b.0 == basket))
}

#[test]
fn a_basket_larger_than_the_budget_comes_when_it_is_awaited() {
    let baskets = [basket(0, 0, 1000, 50_000), basket(0, 1, 60_000, 50_000), basket(0, 2, 120_000, 50_000)];
    let mut planner = planner(&baskets, narrow(), CacheSize::Auto, 10_000);
    assert_eq!(words(&mut planner, ms(0)), [""; 0]);
    planner.handle(ms(0), Event::Want { first: 0, last: 300 });
    let first = fetches(&mut planner, ms(0));
    assert_eq!(first.len(), 1, "one request at a time overdraws");
    assert_eq!(first[0].bytes(), 50_000);
    deliver(&mut planner, ms(20), &first[0]);
    // The consumer has something to work on; more is requested only when it does not move.
    assert_eq!(words(&mut planner, ms(20)), [""; 0]);
    let deadline = planner.deadline().unwrap();
    assert_eq!(deadline, ms(270));
    assert_eq!(words(&mut planner, deadline), ["fetch 1 (urgent): 50.0 kB in 1 range: nMuon[1]"]);
}

#[test]
fn failures_are_retried_in_ever_smaller_groups_and_then_given_up() {
    let limits = Limits { max_in_flight: 1, max_ranges: 100, ..narrow() };
    let mut planner = planner(&file(10, 1000, 3000), limits, CacheSize::Auto, 0);
    let mut now = ms(0);
    let mut sizes = Vec::new();
    let mut lost = 0;
    // Every request with basket 0 fails at once.
    while !planner.is_done() {
        match planner.poll(now) {
            Some(Action::Fetch(fetch)) if fetch.baskets().any(|b| b.0 == 0) => {
                sizes.push(fetch.baskets().count());
                planner.handle(now, Event::Failed { fetch: fetch.id, retry: true });
            }
            Some(Action::Fetch(fetch)) => {
                deliver(&mut planner, now, &fetch);
                for basket in fetch.baskets() {
                    planner.handle(now, Event::Consumed { basket });
                }
            }
            Some(Action::GiveUp(ids)) => {
                assert_eq!(ids, [BasketId(0)]);
                lost += 1;
            }
            Some(Action::Cancel(_)) => panic!("nothing to cancel"),
            None => now = planner.deadline().expect("a pause after failures").max(now + ms(1)),
        }
    }
    assert_eq!((sizes, lost), (vec![30, 30, 16, 1], 1));
    assert!(now >= ms(50), "pauses grow: {now:?}");
    assert_eq!((planner.stats().arrived, planner.stats().given_up), (29, 1));
}

#[test]
fn what_a_reply_leaves_out_is_asked_for_again() {
    let mut planner = planner(&file(1, 2000, 3000), narrow(), CacheSize::Auto, 0);
    let fetch = fetches(&mut planner, ms(0)).remove(0);
    for basket in [0, 2].map(BasketId) {
        planner.handle(ms(20), Event::Arrived { fetch: fetch.id, basket });
    }
    planner.handle(ms(20), Event::Done { fetch: fetch.id, first_byte: ms(20), total: ms(20), bytes: 4000 });
    assert_eq!(words(&mut planner, ms(20)), ["fetch 1: 2.00 kB in 1 range: Muon_pt[0]"]);
}

#[test]
fn with_the_cache_off_one_basket_at_a_time_as_the_loop_needs_them() {
    let mut planner = planner(&file(20, 2000, 0), narrow(), CacheSize::Off, 0);
    assert_eq!(words(&mut planner, ms(0)), [""; 0], "nothing before somebody waits");
    planner.handle(ms(0), Event::Want { first: 150, last: 250 });
    let mut seen = Vec::new();
    while let Some(Action::Fetch(fetch)) = planner.poll(ms(0)) {
        assert_eq!(planner.poll(ms(0)), None, "one at a time");
        seen.push(fetch.baskets().map(|b| b.0).collect::<Vec<_>>());
        deliver(&mut planner, ms(0), &fetch);
    }
    assert_eq!(seen, [[3], [4], [5], [6], [7], [8]], "no basket outside 150..250");
}

#[test]
fn limits_learnt_on_the_way_hold_from_the_next_request() {
    let mut planner = planner(&file(40, 2000, 3000), narrow(), CacheSize::Auto, 0);
    assert_eq!(fetches(&mut planner, ms(0))[0].ranges.len(), 4);
    // The server answers only single ranges: the same baskets, one by one.
    planner.handle(ms(5), Event::Limits(Limits { max_ranges: 1, ..narrow() }));
    planner.handle(ms(5), Event::Failed { fetch: FetchId(0), retry: true });
    let next = fetches(&mut planner, ms(5));
    assert_eq!((next.len(), next[0].ranges.len()), (1, 1));
}

/// A local file: pieces of about one cluster for each thread, and not much ahead.
#[test]
fn a_local_file_is_read_by_clusters() {
    let baskets = file(4000, 10_000, 0);
    // Clusters of 50 baskets of each branch: 1.5 MB.
    let clusters: Vec<u64> = (0..80).map(|i| i * 5000).collect();
    let request = Request { limits: Limits::local(4), clusters, ..Request::default() };
    let mut planner = Planner::new(baskets, request).unwrap();
    let first = fetches(&mut planner, ms(0));
    assert_eq!(first.len(), 4);
    assert_eq!(first.iter().map(|f| f.ranges.len()).collect::<Vec<_>>(), [1; 4]);
    for fetch in &first {
        deliver(&mut planner, ms(1), fetch);
    }
    assert_eq!(fetches(&mut planner, ms(1)).iter().map(Fetch::bytes).collect::<Vec<_>>(), [1_500_000; 3]);
    assert!(planner.stats().max_held_bytes <= 9_000_000, "{:?}", planner.stats());
}

#[test]
fn an_empty_scan_is_done_at_once() {
    let mut planner = planner(&[], narrow(), CacheSize::Auto, 0);
    planner.handle(ms(0), Event::Want { first: 0, last: 10 });
    assert_eq!((planner.poll(ms(0)), planner.deadline(), planner.is_done()), (None, None, true));
}

#[test]
fn refuses_baskets_that_make_no_sense() {
    let refused = |baskets: &[Basket], clusters: &[u64]| {
        let request = Request { clusters: clusters.to_vec(), ..Request::default() };
        Planner::new(baskets.to_vec(), request).unwrap_err().to_string()
    };
    assert!(refused(&[basket(0, 7, 10, 0)], &[]).contains("basket 7 of branch number 0 has no bytes"));
    assert!(refused(&[basket(0, 0, u64::MAX, 2)], &[]).contains("largest possible offset"));
    assert!(refused(&[Basket { last: 0, ..basket(0, 0, 10, 2) }], &[]).contains("holds no entries"));
    let twice = [basket(0, 3, 10, 2), Basket { first: 250, last: 320, ..basket(0, 2, 20, 2) }];
    assert!(refused(&twice, &[]).contains("both contain entry 300"));
    assert!(refused(&[basket(0, 0, 10, 2)], &[0, 100, 100]).contains("not in ascending order"));
}

#[test]
fn what_is_withheld_is_asked_for_when_released_and_never_when_skipped() {
    let mut planner = planner(&file(4, 2000, 3000), narrow(), CacheSize::Auto, 0);
    // all of nMuon, nothing of the others before it is known
    let others: Vec<BasketId> = (0..12).filter(|i| i % 3 != 0).map(BasketId).collect();
    planner.handle(ms(0), Event::Withhold(others.clone()));
    planner.handle(ms(0), Event::Want { first: 0, last: 100 });
    assert_eq!(words(&mut planner, ms(0)), ["fetch 0 (urgent): 8.00 kB in 4 ranges: nMuon[0..4]"]);
    assert!(planner.has_asked_all());
    planner.handle(ms(1), Event::Release(vec![BasketId(4), BasketId(5)]));
    planner.handle(ms(1), Event::Skip(vec![BasketId(1), BasketId(2), BasketId(4), BasketId(0)]));
    // what is in flight is not skipped, what was released may be
    assert_eq!(words(&mut planner, ms(1)), ["fetch 1: 2.00 kB in 1 range: Muon_eta[1]"]);
    planner.handle(ms(2), Event::Release(others));
    assert_eq!(words(&mut planner, ms(2)), [] as [&str; 0], "both requests that are allowed are under way");
    let stats = planner.stats();
    assert_eq!((stats.skipped, stats.skipped_bytes), (3, 6000));
}

#[test]
fn another_budget_holds_from_then_on() {
    let mut planner = planner(&file(8, 2000, 3000), narrow(), CacheSize::Bytes(4000), 4000);
    planner.handle(ms(0), Event::Want { first: 0, last: 100 });
    let first = fetches(&mut planner, ms(0));
    deliver(&mut planner, ms(21), &first[0]);
    // the consumer is still decompressing: what arrived counts
    while planner.poll(ms(22)).is_some() {}
    let held = planner.stats().held_bytes;
    planner.handle(ms(23), Event::Budget(40_000));
    assert!(!fetches(&mut planner, ms(23)).is_empty());
    assert!(planner.stats().held_bytes > held, "{held}");
}

/// A cut on the first of three branches with so many baskets each; the others are withheld, all is requested.
fn with_cut_over_xrootd(baskets: u32) -> (Planner, Vec<BasketId>) {
    let limits = Limits { max_ranges: 10, max_in_flight: 6, queue: 6, ..Limits::xrootd(ms(240)) };
    let mut planner = planner(&file(baskets, 20_000, 3000), limits, CacheSize::Auto, 0);
    let others: Vec<BasketId> = (0..3 * baskets).filter(|i| i % 3 != 0).map(BasketId).collect();
    planner.handle(ms(0), Event::Withhold(others.clone()));
    planner.handle(ms(0), Event::Want { first: 0, last: 100 });
    (planner, others)
}

#[test]
fn lots_that_a_cut_releases_are_gathered_while_enough_is_under_way() {
    let (mut planner, others) = with_cut_over_xrootd(10);
    let first = fetches(&mut planner, ms(0));
    assert_eq!(first.iter().map(|f| f.ranges.len()).collect::<Vec<_>>(), [10]);
    planner.handle(ms(300), Event::Release(others[..4].to_vec()));
    assert!(fetches(&mut planner, ms(300)).is_empty(), "the way has enough to do");
    planner.handle(ms(310), Event::Release(others[4..7].to_vec()));
    assert_eq!(fetches(&mut planner, ms(310)).len(), 1, "more than half a request");
    planner.handle(ms(320), Event::Release(others[7..8].to_vec()));
    assert!(fetches(&mut planner, ms(320)).is_empty());
    deliver(&mut planner, ms(330), &first[0]);
    assert_eq!(fetches(&mut planner, ms(330)).len(), 1, "the way runs dry");
}

#[test]
fn all_that_a_cut_needs_is_requested_at_once() {
    let (mut planner, _) = with_cut_over_xrootd(23);
    // a rest of less than half a request does not wait for what the cut releases
    let first = fetches(&mut planner, ms(0));
    assert_eq!(first.iter().map(|f| f.ranges.len()).collect::<Vec<_>>(), [10, 10, 3]);
}

#[test]
fn a_long_transfer_comes_in_order_over_as_few_connections_as_fill_the_way() {
    let baskets = file(200, 700_000, 0);
    let limits = |streams, bandwidth| Limits { streams, bandwidth: Some(bandwidth), ..Limits::http(ms(100)) };
    let begin = |limits: Limits| {
        let mut planner = planner(&baskets, limits, CacheSize::Auto, 0);
        planner.handle(ms(0), Event::Want { first: 0, last: 200 });
        let first = fetches(&mut planner, ms(0));
        (planner, first)
    };
    // slow: what is waited for comes alone, though it is a little more than a full request
    let (mut planner, first) = begin(limits(Some(1), 1e6));
    assert_eq!(first.iter().map(Fetch::bytes).collect::<Vec<_>>(), [4_200_000]);
    deliver(&mut planner, ms(400), &first[0]);
    assert_eq!(fetches(&mut planner, ms(400)).len(), 1);
    // fast: as much as comes in a second and a half
    let (_, first) = begin(limits(Some(1), 1e7));
    assert_eq!(first.iter().map(|f| f.bytes() / 1_000_000).collect::<Vec<_>>(), [15]);
    // limited windows: four of them
    assert_eq!(begin(limits(Some(4), 1e6)).1.len(), 4);
    // what fits into the budget is not long
    let mut planner = self::planner(&file(20, 700_000, 0), limits(Some(1), 1e7), CacheSize::Auto, 0);
    planner.handle(ms(0), Event::Want { first: 0, last: 200 });
    assert!(fetches(&mut planner, ms(0)).len() > 4);
}
