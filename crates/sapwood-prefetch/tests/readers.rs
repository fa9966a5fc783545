//! How long readers of several kinds wait, and what they cost the origin: cold sessions without prior knowledge, unless
//! stated otherwise. Opening costs each one wait, for the tree's header.

mod common;

use common::{Cache, Model, Run, cold, session};
use sapwood_prefetch::{FileMap, Memory, Reader, RequestedSpan};
use sapwood_span::Span;

const MOST: u64 = 64 << 20;

fn always(_: usize, _: u64) -> bool {
    true
}

fn seed(m: &Model) -> [usize; 4] {
    ["nE33", "nrawtr", "E33", "rawtr"].map(|name| m.find(name))
}

/// Few waits, few requests to the origin, few excess bytes.
#[track_caller]
fn assert_cost(run: &Run, waits: usize, fetches: usize, ratio: f64) {
    assert!(run.waits <= waits && run.fetches <= fetches && run.ratio <= ratio, "{run:#?}");
}

#[test]
fn the_seeds_query_without_a_cache() {
    let m = Model::chep(283_813);
    let run = cold(&m, &m.entry_by_entry(&seed(&m), 0..m.entries, always));
    assert_eq!(run.requests, 4313);
    // one branch is unexpected, the others are its neighbours
    assert_cost(&run, 8, 20, 1.02);
    assert!(run.stats.missed < 400_000 + 10_000, "{run:#?}");
}

#[test]
fn a_reader_that_stops_early_costs_what_the_budget_says() {
    let m = Model::chep(283_813);
    let run = cold(&m, &m.entry_by_entry(&seed(&m), 0..m.entries / 20, always));
    assert!(run.origin_bytes as f64 <= 1.5 * run.stats.requested as f64 + f64::from(1 << 20), "{run:#?}");
    assert_cost(&run, 7, 12, 2.2);
}

#[test]
fn branches_that_a_cut_leaves_out_mostly_are_not_fetched_ahead() {
    let m = Model::chep(283_813);
    let q = seed(&m);
    let run = cold(&m, &m.entry_by_entry(&q, 0..m.entries, |b, e| b != q[3] || (e / 141) % 10 == 3));
    assert_cost(&run, 8 + 2013 / 10, 330, 1.04);
}

#[test]
fn branches_that_a_cut_leaves_out_at_times_are_fetched_ahead() {
    let m = Model::chep(283_813);
    let q = seed(&m);
    let run = cold(&m, &m.entry_by_entry(&q, 0..m.entries, |b, e| b != q[3] || (e / 141) % 3 != 1));
    assert_cost(&run, 12, 40, 1.25);
}

/// One branch after the other, for so many entries at a time.
fn in_turns(m: &Model, branches: &[usize], batch: u64, wanted: impl Fn(usize, u64) -> bool) -> Vec<Vec<Span>> {
    let mut out = m.opening();
    for first in (0..m.entries).step_by(batch as usize) {
        for &branch in branches {
            let read = m.entry_by_entry(&[branch], first..(first + batch).min(m.entries), &wanted);
            out.extend(read.into_iter().skip(m.opening().len()));
        }
    }
    out
}

#[test]
fn branches_that_are_read_in_turns() {
    let m = Model::chep(283_813);
    let q = seed(&m);
    let ten: Vec<usize> = (0..m.branches.len()).step_by(11).take(10).collect();
    // what is skipped first and read later was not wrong, and does not fill the window meanwhile
    for batch in [1_000, 2_000, 5_000, 20_000, 71_000, 283_813] {
        assert_cost(&cold(&m, &in_turns(&m, &q[2..], batch, always)), 14, 22, 1.01);
        // hundreds of batches
        assert_cost(&cold(&m, &in_turns(&m, &q, batch, always)), 160, 201, 1.01);
        assert_cost(&cold(&m, &in_turns(&m, &ten, batch, always)), 52, 95, 1.03);
    }
}

#[test]
fn branches_of_which_a_cut_leaves_out_most_are_read_in_turns() {
    let m = Model::chep(283_813);
    let q = seed(&m);
    for batch in [1_000, 2_000, 5_000, 20_000, 71_000] {
        let requests = in_turns(&m, &q[2..], batch, |b, e| b != q[3] || (e / 141) % 10 == 3);
        assert_cost(&cold(&m, &requests), 8 + 2013 / 10, 330, 1.5);
    }
}

#[test]
fn all_branches_and_every_second_one() {
    let m = Model::chep(283_813);
    for step in [1, 2] {
        let branches: Vec<usize> = (0..m.branches.len()).step_by(step).collect();
        let run = cold(&m, &m.entry_by_entry(&branches, 0..20_000, always));
        assert_cost(&run, 12, 70, 1.8);
    }
}

#[test]
fn the_same_members_of_several_collections() {
    let n = Model::nano(50_000);
    let name = |i: usize| format!("C{}_m{:02}", (i / 8) * 7, (i % 8) * 3);
    let forty: Vec<usize> = (0..40).map(|i| n.find(&name(i))).collect();
    let run = cold(&n, &n.entry_by_entry(&forty, 0..n.entries, always));
    assert_eq!(run.requests, 2003);
    // 40 branches of 1540 are found in 25, and then there are no more
    assert_cost(&run, 30, 60, 1.07);
}

#[test]
fn who_read_such_a_file_before_is_known() {
    let n = Model::nano(50_000);
    let mut branches: Vec<usize> = (0..40).map(|i| (i * 611) % n.branches.len()).collect();
    branches.sort_unstable();
    let requests = n.entry_by_entry(&branches, 0..n.entries, always);
    let (first, reader) = session(&n, &requests, &mut Cache::default(), &Memory::default(), MOST);
    let mut memory = Memory::default();
    reader.remember(&mut memory);
    let memory = Memory::parse(&memory.to_text());
    let (second, _) = session(&n, &requests, &mut Cache::default(), &memory, MOST);
    assert!(first.waits > 30, "nothing tells these branches: {first:#?}");
    assert_cost(&second, 8, 35, 1.01);
}

#[test]
fn another_query_than_before_is_not_held_up_by_what_is_remembered() {
    let m = Model::chep(283_813);
    let mut memory = Memory::default();
    memory.remember(m.map().trees[0].baskets.structure(), (0..60).collect());
    let requests = m.entry_by_entry(&seed(&m), 0..m.entries, always);
    let (run, _) = session(&m, &requests, &mut Cache::default(), &memory, MOST);
    assert_cost(&run, 12, 30, 1.1);
}

#[test]
fn vectors_of_a_reader_with_a_cache() {
    let m = Model::chep(283_813);
    let requests = m.in_vectors(&seed(&m), 3_600_000);
    let run = cold(&m, &requests);
    let none = session(&m, &requests, &mut Cache::default(), &Memory::default(), 0).0;
    assert_eq!((none.stats.useful, none.fetches), (0, 8));
    assert_cost(&run, 7, 12, 1.01);
    assert!(run.round_trips < none.round_trips - 2.0, "{run:#?} {none:#?}");
}

#[test]
fn a_reader_that_jumps_waits_once_for_branches_of_one_layout() {
    let m = Model::chep(283_813);
    let jumps = 200;
    let entries = (1..=jumps).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % m.entries);
    let run = cold(&m, &m.entry_by_entry(&seed(&m), entries, always));
    assert!(run.requests > 3 * jumps as usize);
    // the counters' baskets are the same entries, and those of the arrays
    assert_cost(&run, jumps as usize * 2, jumps as usize * 4, 1.2);
}

#[test]
fn a_warm_cache_asks_the_origin_for_nothing() {
    let m = Model::chep(283_813);
    let requests = m.entry_by_entry(&seed(&m), 0..m.entries, always);
    let mut cache = Cache::default();
    session(&m, &requests, &mut cache, &Memory::default(), MOST);
    let (run, _) = session(&m, &requests, &mut cache, &Memory::default(), MOST);
    assert!(run.waits == 0 && run.fetches == 0, "{run:#?}");
}

#[test]
fn a_copy_is_read_ahead_and_random_bytes_are_not() {
    let m = Model::chep(283_813);
    let chunk = 1 << 20;
    let copy: Vec<Vec<Span>> =
        (0..m.size.div_ceil(chunk)).map(|i| vec![Span::new(i * chunk, chunk.min(m.size - i * chunk))]).collect();
    // no tree's header was read
    let file = FileMap { trees: Vec::new(), ..m.map() };
    let mut reader = Reader::new(MOST);
    let (mut ahead, mut misses, mut end) = (0, 0, 0);
    for spans in &copy {
        let before = reader.stats().missed;
        let held = |span: Span| span.end().min(end).saturating_sub(span.start);
        let request: Vec<RequestedSpan> = spans.iter().map(|&span| RequestedSpan { span, held: held(span) }).collect();
        end = spans.iter().map(|span| span.end()).fold(end, u64::max);
        for span in reader.on_request(&request, &file, &|_| false, &Memory::default()) {
            ahead += span.len;
            end = end.max(span.end());
        }
        misses += usize::from(reader.stats().missed > before);
    }
    assert!(misses <= 4 && ahead < m.size, "{misses} {ahead}");
    let mut reader = Reader::new(MOST);
    for i in 1..1000u64 {
        let at = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (m.size - 2_000_000);
        assert_eq!(
            reader.on_request(
                &[RequestedSpan { span: Span::new(at, 5000), held: 0 }],
                &file,
                &|_| false,
                &Memory::default()
            ),
            []
        );
    }
}
