//! A response that stalls while others come: its bytes are requested once more over another connection.

mod common;

use common::scripted::{Request, Scripted, Then, good, part, send, slice};
use common::{Collect, fetch, impatient, noise, open_right, runtime};
use sapwood_source::{Sink, SourceOptions, SourceStats};
use sapwood_span::{ErrorKind, Span};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

const SIZE: usize = 3_000_000;
const STALLING: Span = Span { start: 1_000_000, len: 200_000 };

fn is_of_stalling(request: &Request) -> bool {
    request.ranges.iter().any(|&(first, last)| first < STALLING.end() && last >= STALLING.start)
}

/// Reads what the server sends by `script` at its first request, and as it should at others; meanwhile other bytes. Returns how often
/// it was requested.
fn read_beside_others(
    options: &SourceOptions,
    script: impl Fn(&Request, &mut TcpStream, &[u8]) -> Then + Send + Sync + 'static,
) -> (usize, SourceStats) {
    let (rt, file) = (runtime(), noise(SIZE));
    let asked = AtomicUsize::new(0);
    let server = Scripted::start(SIZE as u64, {
        let file = file.clone();
        move |request, stream| {
            if is_of_stalling(request) && asked.fetch_add(1, SeqCst) == 0 {
                return script(request, stream, &file);
            }
            good(request, stream, &file)
        }
    });
    let opening = open_right(&rt, &server.url(), options, &file).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut at = 0;
            while !done.load(SeqCst) {
                fetch(&rt, &opening.source, &[Span::new(10_000 + at % 900_000, 1000)], &file).unwrap();
                at += 5000;
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let result = fetch(&rt, &opening.source, &[STALLING], &file);
        done.store(true, SeqCst);
        result.unwrap();
    });
    (server.requests().iter().filter(|r| is_of_stalling(r)).count(), opening.source.stats())
}

/// Only to end what hangs.
fn patient() -> SourceOptions {
    SourceOptions { progress_timeout: Duration::from_secs(120), ..impatient() }
}

#[test]
fn what_does_not_begin_is_requested_again() {
    let (requests, stats) = read_beside_others(&patient(), |_, _, _| Then::Hang);
    assert_eq!((requests, stats.retries), (2, 1));
}

#[test]
fn of_what_stops_only_the_rest_is_requested_again() {
    let half = STALLING.len / 2;
    let (requests, stats) = read_beside_others(&patient(), move |request, stream, file| {
        let r = request.ranges[request.ranges.len() - 1];
        assert!(r.0 <= STALLING.start && r.1 >= STALLING.end() - 1, "{request:?}");
        let header = format!("bytes {}-{}/{SIZE}", r.0, r.1);
        let length = (r.1 - r.0 + 1).to_string();
        send(
            stream,
            "206 Partial Content",
            &[("Content-Range", header), ("Content-Length", length)],
            &slice(file, r)[..half as usize],
        );
        Then::Hang
    });
    assert_eq!((requests, stats.retries), (2, 1));
    assert!(stats.wire < 2 * STALLING.len + 1000 * stats.requests + 10_000, "{stats:?}");
}

/// One that comes late ends the wait all the same.
#[test]
fn the_first_response_counts_as_well() {
    let (rt, file) = (runtime(), noise(SIZE));
    let server = Scripted::start(SIZE as u64, {
        let file = file.clone();
        move |request, stream| {
            if is_of_stalling(request) {
                std::thread::sleep(Duration::from_secs(3));
            }
            good(request, stream, &file)
        }
    });
    // nothing else comes meanwhile: the server is slow, not the connection
    let opening = open_right(&rt, &server.url(), &patient(), &file).unwrap();
    fetch(&rt, &opening.source, &[Span::new(10_000, 1000)], &file).unwrap();
    let report = fetch(&rt, &opening.source, &[STALLING], &file).unwrap();
    assert_eq!((report.requests, report.retries), (1, 0));
}

/// Half of the response to a single range is of one version, what is requested again of another: without a validator only the first bytes
/// tell.
#[test]
fn a_file_that_is_replaced_while_a_response_stalls_is_noticed() {
    let (rt, file) = (runtime(), noise(SIZE));
    let other: Vec<u8> = file.iter().map(|byte| byte ^ 0x55).collect();
    let is_replaced = Arc::new(AtomicBool::new(false));
    let server = Scripted::start(SIZE as u64, {
        let (file, is_replaced) = (file.clone(), is_replaced.clone());
        move |request, stream| {
            if request.ranges.len() > 1 {
                return send(stream, "416 Range Not Satisfiable", &[], b"");
            }
            if is_of_stalling(request) && !is_replaced.swap(true, SeqCst) {
                let r = request.ranges[0];
                let header = format!("bytes {}-{}/{SIZE}", r.0, r.1);
                let headers = [("Content-Range", header), ("Content-Length", (r.1 - r.0 + 1).to_string())];
                send(stream, "206 Partial Content", &headers, &slice(&file, r)[..STALLING.len as usize / 2]);
                // the connection breaks
                return Then::Close;
            }
            good(request, stream, if is_replaced.load(SeqCst) { &other } else { &file })
        }
    });
    let opening = open_right(&rt, &server.url(), &patient(), &file).unwrap();
    for is_last in [false, true] {
        is_replaced.store(false, SeqCst);
        let sink: Arc<dyn Sink> = Arc::new(Collect::default());
        let (source, spans) = (opening.source.clone(), vec![STALLING]);
        let fetched = if is_last { source.fetch_last(spans, sink) } else { source.fetch(spans, sink) };
        let error = rt.block_on(fetched).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
}

/// The parts of one response, of another version, come in reverse order, and the connection breaks before the last of them, by which
/// versions are told.
#[test]
fn parts_that_were_not_compared_are_not_mixed_with_others() {
    let (rt, file) = (runtime(), noise(SIZE));
    let other: Vec<u8> = file.iter().map(|byte| byte ^ 0x55).collect();
    let asked = AtomicUsize::new(0);
    let server = Scripted::start(SIZE as u64, {
        let file = file.clone();
        move |request, stream| {
            if is_of_stalling(request) && request.ranges.len() > 1 && asked.fetch_add(1, SeqCst) == 0 {
                let mut body = Vec::new();
                for &r in request.ranges.iter().skip(1).rev() {
                    part(&mut body, "B0undary", &format!("{}-{}/{SIZE}", r.0, r.1), slice(&other, r));
                }
                // longer than what comes of it
                let kind = ("Content-Type", "multipart/byteranges; boundary=B0undary".to_owned());
                send(
                    stream,
                    "206 Partial Content",
                    &[kind, ("Content-Length", (body.len() + 1000).to_string())],
                    &body,
                );
                return Then::Close;
            }
            good(request, stream, &file)
        }
    });
    let opening = open_right(&rt, &server.url(), &patient(), &file).unwrap();
    let spans = [Span::new(500_000, 1000), STALLING, Span::new(2_000_000, 1000)];
    let report = fetch(&rt, &opening.source, &spans, &file).unwrap();
    assert!(report.retries > 0, "{report:?}");
}
