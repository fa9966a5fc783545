//! Readers that read the same again, in parts, too much at once, or a damaged file: what they cost is bounded.

mod common;

use common::{Model, cold};
use sapwood_prefetch::{BasketMap, BranchBaskets, FileMap, Memory, Reader, RequestedSpan, TreeAt};
use sapwood_span::Span;
use std::cell::Cell;
use std::sync::Arc;

const MOST: u64 = 32_000_000;

fn file_of(places: &[Vec<Span>]) -> FileMap {
    let names: Vec<String> = (0..places.len()).map(|b| format!("b{b}")).collect();
    let list = names.iter().zip(places).map(|(path, spans)| BranchBaskets {
        path,
        counter: None,
        baskets: (0..).zip(spans.iter().copied()).collect(),
    });
    let baskets = Arc::new(BasketMap::new("t", places[0].len() as u64, list).unwrap());
    let end = places.iter().flatten().map(|span| span.end()).max().unwrap();
    FileMap { size: end.saturating_add(10_000), trees: vec![TreeAt { header: Span::new(end, 1000), baskets }] }
}

/// Baskets of `len` bytes, those of an entry next to each other.
fn file(branches: u64, baskets: u64, len: u64) -> FileMap {
    let of = |b| (0..baskets).map(|i| at(branches, b, i, len)).collect();
    file_of(&(0..branches).map(of).collect::<Vec<_>>())
}

fn at(branches: u64, branch: u64, i: u64, len: u64) -> Span {
    Span::new(10_000 + (i * branches + branch) * len, len)
}

#[test]
fn a_branch_one_basket_behind_is_read_in_turns() {
    let m = Model::new(200_000, vec![("a".to_owned(), None, 100, 4_000), ("b".to_owned(), None, 100, 4_000)]);
    for behind in 0..8 {
        let mut requests = m.opening();
        for i in 0..2000 - behind {
            requests.push(vec![m.branches[0].baskets[i + behind].1]);
            requests.push(vec![m.branches[1].baskets[i].1]);
        }
        let run = cold(&m, &requests);
        assert!(run.waits < 70, "{behind}: {run:#?}");
    }
}

#[test]
fn large_baskets_that_nobody_waits_for_take_no_room_of_those_waited_for() {
    let list = [("large", 50_000, 6_000_000), ("a", 500, 20_000), ("b", 500, 5_000)];
    let m = Model::new(300_000, list.map(|(name, each, len)| (name.to_owned(), None, each, len)).to_vec());
    for order in [[1, 2, 0], [2, 0, 1]] {
        let mut requests = m.opening();
        for first in (0..m.entries).step_by(20_000) {
            for branch in order {
                let read = m.entry_by_entry(&[branch], first..first + 20_000, |_, _| true);
                requests.extend(read.into_iter().skip(m.opening().len()));
            }
        }
        let run = cold(&m, &requests);
        assert!(run.waits < 25, "{order:?}: {run:#?}");
    }
}

#[test]
fn what_is_here_is_not_looked_at_again_and_again() {
    for baskets in [1_000, 20_000] {
        let f = file(2, baskets, 1000);
        let again = (0..1000).map(|_| at(2, 0, 1, 1000)).collect::<Vec<_>>();
        let batch = |turn: u64, branch| (turn * 10..turn * 10 + 10).map(move |i| at(2, branch, i, 1000));
        let turns = (0..100).flat_map(|turn| batch(turn, 0).chain(batch(turn, 1))).collect::<Vec<_>>();
        for reads in [again, turns] {
            let looks = Cell::new(0u64);
            let held = |_: Span| {
                looks.set(looks.get() + 1);
                true
            };
            let mut reader = Reader::new(MOST);
            for &span in &reads {
                let requested = RequestedSpan { span, held: span.len };
                assert_eq!(reader.on_request(&[requested], &f, &held, &Memory::default()), []);
            }
            assert!(looks.get() < 100 * reads.len() as u64, "{} for {}", looks.get(), reads.len());
        }
    }
}

#[test]
fn bytes_requested_several_times_at_once_are_wanted_once() {
    let len = 30_000;
    let f = file(1, 3000, len);
    let mut reader = Reader::new(MOST);
    let mut ahead = 0;
    for i in 0..3 {
        let span = at(1, 0, i, len);
        let half = Span::new(span.start, span.len / 2);
        let request = [span, half].map(|span| vec![RequestedSpan { span, held: 0 }; 1024]).concat();
        let out = reader.on_request(&request, &f, &|s| s.start < span.start, &Memory::default());
        ahead += out.iter().map(|s| s.len).sum::<u64>();
        assert_eq!(reader.stats().requested, (i + 1) * len);
    }
    assert!(ahead <= (1 << 20) + 3 * len, "{ahead}");
}

#[test]
fn what_is_gone_before_it_is_read_was_fetched_for_nothing() {
    let f = file(1, 4000, 64 << 10);
    let mut reader = Reader::new(MOST);
    for i in 0..3000 {
        let requested = RequestedSpan { span: at(1, 0, i, 64 << 10), held: 0 };
        reader.on_request(&[requested], &f, &|_| false, &Memory::default());
        let s = reader.stats();
        assert!(s.useful == 0 && s.useless + s.ahead <= (1 << 20) + s.missed, "{s:?}");
    }
    assert_eq!(reader.stats().missed, reader.stats().requested);
}

#[test]
fn any_number_of_baskets_at_one_place_and_of_lengths() {
    let f = file_of(&[vec![Span::new(20_000, 100); 300_000]]);
    let mut reader = Reader::new(MOST);
    let request: Vec<RequestedSpan> =
        (0..1024).map(|i| RequestedSpan { span: Span::new(20_000 - i, 200), held: 0 }).collect();
    // to look at all of them for each range takes seconds; they are plain bytes
    let ahead = reader.on_request(&request, &f, &|_| false, &Memory::default());
    assert!(ahead.iter().map(|span| span.len).sum::<u64>() <= 1 << 20, "{ahead:?}");
    let huge = FileMap { size: u64::MAX, ..file(2, 10, 1000) };
    for start in [0, 1, u64::MAX / 2] {
        let requested = RequestedSpan { span: Span::new(start, u64::MAX - start), held: u64::MAX };
        for _ in 0..5 {
            reader.on_request(&[requested, requested], &huge, &|_| false, &Memory::default());
        }
    }
}

#[test]
fn a_basket_that_came_with_the_beginning_of_the_file_may_have_been_wanted() {
    let known = file(2, 1000, 1000);
    let unknown = FileMap { size: known.size, trees: Vec::new() };
    let first = at(2, 0, 0, 1000);
    for branch in [0, 1] {
        let mut reader = Reader::new(MOST);
        let mut cached = vec![Span::new(0, first.end() + 200)];
        let mut ask = |span: Span, map: &FileMap| {
            let held = |span: Span| cached.iter().any(|c| c.contains(span));
            let requested = RequestedSpan { span, held: if held(span) { span.len } else { 0 } };
            let ahead = reader.on_request(&[requested], map, &held, &Memory::default());
            cached.extend(ahead.iter().copied().chain([span]));
            ahead
        };
        assert_eq!(ask(Span::new(0, first.end() + 200), &unknown), []);
        assert_eq!(ask(known.trees[0].header, &known), [], "nothing yet");
        let ahead = ask(at(2, branch, u64::from(branch == 0), 1000), &known);
        // the branch goes on, or the other one is read as well
        assert!(ahead.contains(&at(2, 0, 1 + u64::from(branch == 0), 1000)), "{ahead:?}");
        // who reads the other branch only has half a window of this fetched in vain
        (1..50).for_each(|i| drop(ask(at(2, 1, i, 1000), &known)));
        let waste: u64 = cached.iter().filter(|c| c.len == 1000 && (c.start / 1000) % 2 == 0).map(|c| c.len).sum();
        assert!(branch == 0 || waste < 300_000, "{waste}");
        let mut memory = Memory::default();
        reader.remember(&mut memory);
        assert_eq!(memory.to_text().lines().nth(1).unwrap().split(' ').skip(1).collect::<Vec<_>>(), ["1"]);
    }
}
