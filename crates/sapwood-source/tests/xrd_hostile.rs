//! XRootD servers that break the rules: the bytes are right, or there is an error, soon.

mod common;

use common::ports::free_port;
use common::xrd_checks::{is_open, is_vector};
use common::xrd_scripted::{Asked, Back, Then, XrdServer, good, vector};
use common::{fetch, impatient, noise, open_right, runtime, scattered};
use sapwood_source::{FetchReport, SourceOptions, SourceStats};
use sapwood_span::{Error, ErrorKind, Result, Span};
use sapwood_xrd::code::{self, status};
use sapwood_xrd::reply::{Login, Protocol};
use sapwood_xrd::{CHUNK, Request};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SIZE: usize = 3_000_000;

/// Opens, fetches scattered spans twice, compares every byte; takes part in the time limit.
fn read_url(url: &str, options: &SourceOptions) -> Result<(FetchReport, SourceStats)> {
    let (rt, file) = (runtime(), noise(SIZE));
    let begin = Instant::now();
    let result = (|| {
        let opening = open_right(&rt, url, options, &file)?;
        fetch(&rt, &opening.source, &scattered(30, SIZE as u64), &file)?;
        let report = fetch(&rt, &opening.source, &scattered(40, SIZE as u64), &file)?;
        Ok((report, opening.source.stats()))
    })();
    // Not a measurement: it only ends a hang.
    assert!(begin.elapsed() < Duration::from_secs(60));
    result
}

fn read(server: &XrdServer) -> Result<(FetchReport, SourceStats)> {
    read_url(&server.url(), &impatient())
}

/// A server that answers vector reads by the script and everything else correctly.
fn against_vectors(answer: impl Fn(&Asked, &mut Back, &[u8]) -> Then + Send + Sync + 'static) -> XrdServer {
    let file = noise(SIZE);
    XrdServer::start(move |asked, back| match asked.request {
        Request::ReadV(_) => answer(asked, back, &file),
        _ => good(asked, back, &file),
    })
}

/// A server that misbehaves this many times, then answers correctly.
fn at_first(times: usize, kind: fn(&Request) -> bool, answer: fn(&Asked, &mut Back, &[u8]) -> Then) -> XrdServer {
    let (file, count) = (noise(SIZE), AtomicUsize::new(0));
    XrdServer::start(move |asked, back| {
        if kind(&asked.request) && count.fetch_add(1, Ordering::Relaxed) < times {
            answer(asked, back, &file)
        } else {
            good(asked, back, &file)
        }
    })
}

#[test]
fn a_good_server_needs_few_requests() {
    let (_, stats) = read(&against_vectors(good)).unwrap();
    // Open, head, tail, and two vector reads.
    assert!(stats.requests <= 7 && stats.retries == 0, "{stats:?}");
}

#[test]
fn answers_in_many_frames() {
    let server = against_vectors(|asked, back, file| {
        let body = vector(&asked.request, file);
        for piece in body.chunks(1999) {
            back.send(status::OKSOFAR, piece);
        }
        back.ok(b"")
    });
    read(&server).unwrap();
}

#[test]
fn lies_in_vector_reads_are_noticed() {
    type Lie = fn(&mut Vec<u8>);
    let lies: [(&str, Lie); 6] = [
        ("another handle", |b| b[0] ^= 1),
        ("a longer range", |b| b[7] ^= 1),
        ("a negative length", |b| b[4] = 0xff),
        ("another offset", |b| b[15] ^= 1),
        ("too much", |b| b.extend([0; CHUNK + 1])),
        ("a length beyond all measure", |b| b[4..8].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff])),
    ];
    for (name, lie) in lies {
        let server = against_vectors(move |asked, back, file| {
            let mut body = vector(&asked.request, file);
            lie(&mut body);
            back.ok(&body)
        });
        let error = read(&server).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Protocol, "{name}: {error}");
        assert!(error.to_string().contains("f.root") && error.to_string().contains("is invalid"), "{name}: {error}");
    }
}

#[test]
fn a_lie_that_is_told_once() {
    let server = at_first(1, is_vector, |asked, back, file| {
        let mut body = vector(&asked.request, file);
        body[7] ^= 1;
        back.ok(&body)
    });
    let (_, stats) = read(&server).unwrap();
    assert_eq!(stats.retries, 1);
}

#[test]
fn frames_of_impossible_lengths() {
    for header in [[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], [0, 9, 0x0f, 0xa0, 0x7f, 0xff, 0xff, 0xff]] {
        let server = against_vectors(move |_, back, _| back.raw(&header));
        let error = read(&server).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    }
}

#[test]
fn something_that_is_not_xrootd() {
    let server = XrdServer::start(|_, back| back.raw(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    let error = read(&server).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
}

#[test]
fn short_answers() {
    let server = against_vectors(|asked, back, file| {
        let body = vector(&asked.request, file);
        back.ok(&body[..body.len() / 2])
    });
    let (_, stats) = read(&server).unwrap();
    assert!(stats.requests > 8, "asked again for what was missing: {stats:?}");
    let never = against_vectors(|_, back, _| back.ok(b""));
    let error = read(&never).unwrap_err();
    assert!(error.to_string().contains("fewer bytes"), "{error}");
}

#[test]
fn a_reset_in_mid_reply_is_resumed() {
    let server = at_first(2, is_vector, |asked, back, file| {
        let body = vector(&asked.request, file);
        back.send(status::OKSOFAR, &body[..body.len() / 3]);
        Then::Close
    });
    let (_, stats) = read(&server).unwrap();
    assert!(stats.retries >= 1 && stats.connections >= 2, "{stats:?}");
}

#[test]
fn a_stall_ends_with_the_progress_timeout() {
    let server = against_vectors(|asked, back, file| {
        let body = vector(&asked.request, file);
        back.send(status::OKSOFAR, &body[..100]);
        Then::Hang
    });
    let error = read(&server).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(error.to_string().contains("progress timeout"), "{error}");
}

#[test]
fn an_open_that_is_never_answered() {
    let server =
        XrdServer::start(|asked, back| if is_open(&asked.request) { Then::Hang } else { good(asked, back, &[]) });
    let error = read(&server).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
}

#[test]
fn waits_are_waited() {
    let server = at_first(1, is_open, |_, back, _| back.wait(0));
    read(&server).unwrap();
    let server = at_first(1, is_vector, |_, back, _| back.wait(1));
    read(&server).unwrap();
}

#[test]
fn waiting_has_an_end() {
    let for_ever =
        XrdServer::start(|asked, back| if is_open(&asked.request) { back.wait(1) } else { good(asked, back, &[]) });
    let error = read(&for_ever).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(error.to_string().contains("tape"), "{error}");
    let long =
        XrdServer::start(|asked, back| if is_open(&asked.request) { back.wait(86400) } else { good(asked, back, &[]) });
    assert!(read(&long).unwrap_err().to_string().contains("86400"));
    let later = XrdServer::start(|asked, back| {
        if is_open(&asked.request) { back.send(status::WAITRESP, &1u32.to_be_bytes()) } else { good(asked, back, &[]) }
    });
    assert_eq!(read(&later).unwrap_err().kind(), ErrorKind::Timeout);
}

/// The answer as a separate message.
fn late(asked: &Asked, back: &mut Back, answer: fn(&Asked, &mut Back, &[u8]) -> Then, file: &[u8]) -> Then {
    back.send(status::WAITRESP, &1u32.to_be_bytes());
    let mut inner = Vec::new();
    let mut files = *back.files;
    answer(asked, &mut Back::new(asked.stream, &mut inner, &mut files), file);
    *back.files = files;
    let body = [&code::action::RESPONSE.to_be_bytes()[..], &[0; 4], &inner].concat();
    back.send(status::ATTN, &body)
}

#[test]
fn answers_that_come_later() {
    let file = noise(SIZE);
    let server = XrdServer::start(move |asked, back| match asked.request {
        Request::Open { .. } | Request::ReadV(_) => late(asked, back, good, &file),
        _ => good(asked, back, &file),
    });
    read(&server).unwrap();
}

#[test]
fn redirects_without_end() {
    let port = Arc::new(Mutex::new(0));
    let own = Arc::clone(&port);
    let server = XrdServer::start(move |asked, back| {
        let here = *own.lock().unwrap();
        if is_open(&asked.request) { back.redirect(here, "&again=1") } else { good(asked, back, &[]) }
    });
    *port.lock().unwrap() = server.port;
    let error = read(&server).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    assert!(error.to_string().contains("redirects"), "{error}");
    let opens = server.log().iter().filter(|a| is_open(&a.request)).count();
    assert!(opens <= 18, "{opens}");
}

/// What a server was asked to open.
fn opened(server: &XrdServer) -> Vec<String> {
    let path = |a: &Asked| match &a.request {
        Request::Open { path, .. } => Some(String::from_utf8(path.0.clone()).unwrap()),
        _ => None,
    };
    server.log().iter().filter_map(path).collect()
}

#[test]
fn a_dead_server_and_another_replica() {
    let file = noise(SIZE);
    let alive = XrdServer::start(move |asked, back| good(asked, back, &file));
    let gone = free_port();
    let live = alive.port;
    let door = XrdServer::start(move |asked, back| match &asked.request {
        Request::Open { path, .. } if String::from_utf8_lossy(&path.0).contains("tried=") => back.redirect(live, ""),
        Request::Open { .. } => back.redirect(gone, ""),
        _ => good(asked, back, &[]),
    });
    read(&door).unwrap();
    assert_eq!(opened(&door)[1], "/f.root?tried=127.0.0.1&triedrc=ioerr");
}

#[test]
fn a_server_that_dies_while_it_is_read_and_another_replica() {
    let (file, other) = (noise(SIZE), noise(SIZE));
    let alive = XrdServer::start(move |asked, back| good(asked, back, &other));
    let dying = XrdServer::start(move |asked, back| match asked.request {
        Request::ReadV(_) => back.fail(code::error::IO_ERROR, "the disk is gone"),
        _ => good(asked, back, &file),
    });
    let (first, second) = (dying.port, alive.port);
    let door = XrdServer::start(move |asked, back| match &asked.request {
        Request::Open { path, .. } if String::from_utf8_lossy(&path.0).contains("tried=") => back.redirect(second, ""),
        Request::Open { .. } => back.redirect(first, ""),
        _ => good(asked, back, &[]),
    });
    read(&door).unwrap();
    assert!(!opened(&alive).is_empty());
}

#[test]
fn handles_that_are_forgotten() {
    let server = at_first(1, is_vector, |_, back, _| back.fail(code::error::FILE_NOT_OPEN, "which file?"));
    read(&server).unwrap();
    assert!(opened(&server).len() >= 2);
}

#[test]
fn tiny_limits() {
    let (file, seen) = (noise(SIZE), Arc::new(Mutex::new((0, 0))));
    let most = Arc::clone(&seen);
    let server = XrdServer::start(move |asked, back| match &asked.request {
        Request::Query { .. } => back.ok(b"3\n5000\n"),
        Request::ReadV(chunks) => {
            let mut most = most.lock().unwrap();
            most.0 = most.0.max(chunks.len());
            most.1 = most.1.max(chunks.iter().map(|c| c.len).max().unwrap());
            good(asked, back, &file)
        }
        _ => good(asked, back, &file),
    });
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
    assert_eq!(opening.source.limits().max_ranges, 256, "reads of three ranges share a flight");
    let spans: Vec<Span> = (0..40).map(|i| Span::new(i * 20_000, if i % 2 == 0 { 7000 } else { 3000 })).collect();
    fetch(&rt, &opening.source, &spans, &file).unwrap();
    assert_eq!(*seen.lock().unwrap(), (3, 3500), "two halves of 7000 bytes, and 3000");
}

#[test]
fn limits_that_are_not_told() {
    let server = against_vectors(|asked, back, file| match &asked.request {
        Request::ReadV(chunks) if chunks.len() > 10 => back.fail(code::error::ARG_TOO_LONG, "vector too long"),
        _ => good(asked, back, file),
    });
    read(&server).unwrap();
}

#[test]
fn damaged_pages_are_asked_for_again() {
    let is_page = |r: &Request| matches!(r, Request::PageRead { .. });
    let damaged = |asked: &Asked, back: &mut Back, file: &[u8]| match asked.request {
        Request::PageRead { offset, len, .. } => {
            back.pages(offset, &file[offset as usize..offset as usize + len as usize], true)
        }
        _ => Then::Close,
    };
    let (_, stats) = read(&at_first(1, is_page, damaged)).unwrap();
    assert_eq!(stats.retries, 1);
    let error = read(&at_first(usize::MAX, is_page, damaged)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("checksums") && error.span().is_some(), "{error}");
}

fn refused(server: &XrdServer) -> Error {
    read(server).unwrap_err()
}

#[test]
fn refusals_say_what_to_do() {
    let fail = |number: u32| {
        XrdServer::start(
            move |asked, back| {
                if is_open(&asked.request) { back.fail(number, "no") } else { good(asked, back, &[]) }
            },
        )
    };
    assert_eq!(refused(&fail(code::error::NOT_FOUND)).kind(), ErrorKind::NotFound);
    assert_eq!(refused(&fail(code::error::NOT_AUTHORIZED)).kind(), ErrorKind::Denied);
    assert_eq!(refused(&fail(code::error::IS_DIRECTORY)).kind(), ErrorKind::Invalid);
    let gsi = XrdServer::start(|asked, back| match asked.request {
        Request::Login { .. } => back.ok(&Login { session: [1; 16], security: "&P=gsi,v:10600".into() }.encode()),
        _ => good(asked, back, &[]),
    });
    let error = refused(&gsi);
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.to_string().contains("gsi") && error.to_string().contains("BEARER_TOKEN"), "{error}");
    let no_tls = XrdServer::start(|asked, back| good(asked, back, &[]));
    let error = read_url(&no_tls.url().replace("root://", "roots://"), &impatient()).unwrap_err();
    assert!(error.kind() == ErrorKind::Denied && error.to_string().contains("TLS"), "{error}");
}

#[test]
fn tokens_stay_where_they_belong() {
    let file = noise(SIZE);
    let foreign = XrdServer::start(move |asked, back| good(asked, back, &file));
    let there = foreign.port;
    let door = XrdServer::start(move |asked, back| match &asked.request {
        Request::Open { .. } => back.redirect_to("localhost", there, "&cap=1"),
        _ => good(asked, back, &[]),
    });
    let options = SourceOptions { token: Some("S3CR3T".into()), ..impatient() };
    let url = format!("root://127.0.0.1:{}//f.root?authz=S3CR3T&x=1", door.port);
    read_url(&url, &options).unwrap();
    assert_eq!(opened(&door)[0], "/f.root?authz=S3CR3T&x=1");
    assert!(opened(&foreign).iter().all(|p| p == "/f.root?x=1&cap=1"), "{:?}", opened(&foreign));
    let everything = format!("{:?}", foreign.log());
    assert!(!everything.contains("S3CR3T"));

    // Not in any error either.
    let failing = XrdServer::start(|asked, back| {
        if is_open(&asked.request) {
            back.fail(code::error::NOT_FOUND, "nothing there")
        } else {
            good(asked, back, &[])
        }
    });
    let error = read_url(&format!("root://127.0.0.1:{}//f?authz=S3CR3T", failing.port), &options).unwrap_err();
    assert!(!error.to_string().contains("S3CR3T") && error.to_string().contains("authz=***"), "{error}");
}

#[test]
fn nothing_secret_goes_out_before_the_server_has_had_its_say_about_tls() {
    let wants_tls = XrdServer::start(|asked, back| match asked.request {
        Request::Protocol { .. } => {
            let flags = code::server::DATA | code::server::HAVE_TLS | code::server::GOTO_TLS;
            back.ok(&Protocol { version: 0x0511, flags }.encode());
            Then::Close
        }
        _ => good(asked, back, &[]),
    });
    let url = format!("root://127.0.0.1:{}//f?authz=S3CR3T", wants_tls.port);
    assert!(read_url(&url, &impatient()).is_err());
    let log = wants_tls.log();
    assert!(log.iter().all(|a| matches!(a.request, Request::Protocol { .. })), "{log:?}");
}
