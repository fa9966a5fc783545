//! Files replaced by others of the same size and with the same times and validators: their first bytes differ.

mod common;

use common::scripted::{Request, Scripted, Then, good, send, single};
use common::xrd_scripted::{Asked, Back, XrdServer};
use common::{Collect, fetch, impatient, noise, open_right, runtime, scattered};
use sapwood_source::{FetchReport, Opening, SourceOptions};
use sapwood_span::{ErrorKind, Result, Span};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::runtime::Runtime;

const SIZE: usize = 2_000_000;
const BEGINNING: u64 = 512;

/// A file, and another of the same size.
fn versions() -> (Vec<u8>, Vec<u8>) {
    let old = noise(SIZE);
    let new = old.iter().map(|b| b ^ 0x55).collect();
    (old, new)
}

/// Serves the one file and then the other, with one ETag, and whether it is the other by now.
fn replaced(answer: fn(&Request, &mut TcpStream, &[u8]) -> Then) -> (Scripted, Arc<AtomicBool>) {
    let (old, new) = versions();
    let now = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&now);
    let server = Scripted::start(SIZE as u64, move |request, stream| {
        answer(request, stream, if flag.load(Relaxed) { &new } else { &old })
    });
    (server, now)
}

fn fetch_last(rt: &Runtime, opening: &Opening, spans: &[Span]) -> Result<FetchReport> {
    rt.block_on(Arc::clone(&opening.source).fetch_last(spans.to_vec(), Arc::new(Collect::default())))
}

fn is_refused<T: std::fmt::Debug>(result: Result<T>, why: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains(why) && error.to_string().contains("open it again"), "{error}");
}

#[test]
fn each_answer_over_http_is_held_against_the_first_bytes() {
    let (server, now) = replaced(good);
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
    fetch(&rt, &opening.source, &scattered(30, SIZE as u64), &file).unwrap();
    now.store(true, Relaxed);
    // no wrong byte is passed on: `fetch` compares
    is_refused(fetch(&rt, &opening.source, &[Span::new(100_000, 70_000)], &file), "first bytes");
    is_refused(fetch(&rt, &opening.source, &scattered(30, SIZE as u64), &file), "first bytes");
    now.store(false, Relaxed);
    fetch(&rt, &opening.source, &[Span::new(100_000, 10)], &file).unwrap();
}

#[test]
fn that_costs_one_more_range_and_no_request() {
    let (server, _) = replaced(good);
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
    let before = server.requests().len();
    let first = (0, BEGINNING - 1);
    let asked = |spans: &[Span]| {
        let before = server.requests().len();
        let report = fetch_last(&rt, &opening, spans).unwrap();
        assert_eq!(report.requests as usize, server.requests().len() - before);
        server.requests()[before..].iter().map(|r| r.ranges.clone()).collect::<Vec<_>>()
    };
    assert_eq!(asked(&[Span::new(100_000, 10)]), [vec![first, (100_000, 100_009)]]);
    // a request that begins there needs no extra range
    assert_eq!(asked(&[Span::new(400, 400), Span::new(100_000, 10)]), [vec![(0, 799), (100_000, 100_009)]]);
    assert_eq!(asked(&[Span::new(0, 10)]), [vec![first]]);
    assert_eq!(server.requests().len() - before, 3);
    let report = fetch_last(&rt, &opening, &[Span::new(100_000, 100_000)]).unwrap();
    assert!(report.wire < 100_000 + BEGINNING + 500, "{report:?}");
}

/// Otherwise the first of them, which starts alone, would leave the first bytes out, and they would cost a round trip
/// afterwards.
#[test]
fn a_range_divided_over_connections_asks_for_them_in_each_request() {
    let (server, now) = replaced(good);
    let (rt, file) = (runtime(), noise(SIZE));
    let options = SourceOptions { far: Duration::ZERO, ..impatient() };
    let opening = open_right(&rt, &server.url(), &options, &file).unwrap();
    let before = server.requests().len();
    let soon = || {
        let spans = vec![Span::new(100_000, 400_000)];
        rt.block_on(Arc::clone(&opening.source).fetch_soon(spans, Arc::new(Collect::default())))
    };
    assert_eq!(soon().unwrap().requests, 11);
    let requests = server.requests();
    assert_eq!(requests[before..].iter().map(|r| r.ranges.len()).collect::<Vec<_>>(), [2; 11]);
    now.store(true, Relaxed);
    is_refused(soon(), "first bytes");
}

#[test]
fn small_single_ranges_ask_for_them_now_and_then_and_at_the_end() {
    let (server, now) = replaced(good);
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
    let before = server.requests().len();
    let span = |i: u64| Span::new(100_000 + i * 20_000, 10_000);
    for i in 0..14 {
        fetch(&rt, &opening.source, &[span(i)], &file).unwrap();
    }
    let with_beginning: Vec<usize> = server.requests()[before..].iter().map(|r| r.ranges.len() - 1).collect();
    assert_eq!(with_beginning, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]);
    fetch_last(&rt, &opening, &[span(1)]).unwrap();
    assert_eq!(server.requests().last().unwrap().ranges.len(), 2);
    now.store(true, Relaxed);
    is_refused(fetch_last(&rt, &opening, &[span(1)]), "first bytes");
}

/// Several ranges are answered with the first of them.
fn one_range(request: &Request, stream: &mut TcpStream, file: &[u8]) -> Then {
    single(stream, request.ranges[0], file)
}

#[test]
fn servers_of_single_ranges_are_asked_once_more_at_the_end() {
    let (server, now) = replaced(one_range);
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
    let span = [Span::new(1_000_000, 10)];
    // learns that there are single ranges only
    fetch_last(&rt, &opening, &span).unwrap();
    let before = server.requests().len();
    fetch(&rt, &opening.source, &span, &file).unwrap();
    assert_eq!(server.requests().len() - before, 1);
    let report = fetch_last(&rt, &opening, &span).unwrap();
    assert_eq!((report.requests, server.requests().len() - before), (2, 3));
    now.store(true, Relaxed);
    is_refused(fetch_last(&rt, &opening, &span), "first bytes");
}

#[test]
fn a_server_that_stops_taking_several_ranges_meanwhile() {
    let (server, now) =
        replaced(
            |request, stream, file| {
                if request.number == 0 { good(request, stream, file) } else { one_range(request, stream, file) }
            },
        );
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
    now.store(true, Relaxed);
    is_refused(fetch_last(&rt, &opening, &scattered(10, SIZE as u64)), "first bytes");
}

#[test]
fn more_first_bytes_are_compared_where_a_file_says_so() {
    let (old, mut new) = (noise(SIZE), noise(SIZE));
    new[700] ^= 1;
    let now = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&now);
    let server = Scripted::start(SIZE as u64, move |request, stream| {
        good(request, stream, if flag.load(Relaxed) { &new } else { &old })
    });
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
    opening.source.recognise_by(&file[..800].to_vec().into());
    fetch_last(&rt, &opening, &[Span::new(100_000, 10)]).unwrap();
    assert_eq!(server.requests().last().unwrap().ranges[0], (0, 799));
    now.store(true, Relaxed);
    is_refused(fetch_last(&rt, &opening, &[Span::new(100_000, 10)]), "first bytes");
}

#[test]
fn a_server_that_asks_to_wait_longer_than_the_timeout() {
    for (wait, shown) in
        [("1000000000", "more than a year"), ("7", "7 s"), ("99999999999999999999999", "more than a year")]
    {
        for status in ["503 Busy", "429 Too Many"] {
            let server = Scripted::start(SIZE as u64, move |_, stream| {
                send(stream, status, &[("Retry-After", wait.into())], b"later")
            });
            let error = open_right(&runtime(), &server.url(), &impatient(), &[]).unwrap_err();
            assert_eq!(server.requests().len(), 1, "{wait}");
            let text = error.to_string();
            assert!(text.contains(&status[..3]) && text.contains(&format!("requests a wait of {shown}")), "{text}");
        }
    }
}

/// XRootD: answers as [`common::xrd_scripted::good`], but closes connections once it is `down`.
fn xrootd(file: Vec<u8>, down: &Arc<AtomicBool>) -> XrdServer {
    let down = Arc::clone(down);
    XrdServer::start(move |asked: &Asked, back: &mut Back| {
        if down.load(Relaxed) {
            return common::xrd_scripted::Then::Close;
        }
        common::xrd_scripted::good(asked, back, &file)
    })
}

#[test]
fn a_replica_over_xrootd_is_held_against_the_first_bytes() {
    let (old, new) = versions();
    for (other, same) in [(old.clone(), true), (new, false)] {
        let (down, never) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let servers = [xrootd(old.clone(), &down), xrootd(other, &never)];
        let ports = servers.each_ref().map(|s| s.port);
        let flag = Arc::clone(&down);
        let door = XrdServer::start(move |asked, back| match asked.request {
            sapwood_xrd::Request::Open { .. } => back.redirect(ports[usize::from(flag.load(Relaxed))], ""),
            _ => common::xrd_scripted::good(asked, back, &[]),
        });
        let (rt, file) = (runtime(), noise(SIZE));
        let opening = open_right(&rt, &door.url(), &impatient(), &file).unwrap();
        fetch(&rt, &opening.source, &scattered(20, SIZE as u64), &file).unwrap();
        down.store(true, Relaxed);
        let result = fetch(&rt, &opening.source, &scattered(20, SIZE as u64), &file);
        if same {
            result.unwrap();
        } else {
            is_refused(result, "has a different file: its first bytes differ");
        }
    }
}

#[test]
fn a_file_that_is_opened_again_is_held_against_the_first_bytes() {
    let (old, new) = versions();
    // which of the files is served, and whether connections break
    let (later, broken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let flags = [Arc::clone(&later), Arc::clone(&broken)];
    let server = XrdServer::start(move |asked, back| {
        if flags[1].swap(false, Relaxed) {
            return common::xrd_scripted::Then::Close;
        }
        common::xrd_scripted::good(asked, back, if flags[0].load(Relaxed) { &new } else { &old })
    });
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
    broken.store(true, Relaxed);
    fetch(&rt, &opening.source, &scattered(20, SIZE as u64), &file).unwrap();
    broken.store(true, Relaxed);
    later.store(true, Relaxed);
    is_refused(fetch(&rt, &opening.source, &scattered(20, SIZE as u64), &file), "first bytes");
}
