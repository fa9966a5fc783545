//! How often a client waits: the server counts flights; nothing is timed.

mod common;

use common::xrd_scripted::{Then, XrdServer, good};
use common::{fetch, impatient, noise, open_right, runtime};
use sapwood_source::SourceOptions;
use sapwood_span::Span;
use sapwood_xrd::reply::Login;
use sapwood_xrd::{Request, code};
use std::time::Duration;

const SIZE: usize = 1_000_000;
/// What arrives within this time is one flight: long enough for a client on a busy machine.
const GATHER: Duration = Duration::from_millis(300);

fn options() -> SourceOptions {
    SourceOptions { head: 300, tail: 0, progress_timeout: Duration::from_secs(10), ..impatient() }
}

#[test]
fn a_cold_open_to_the_first_bytes_is_one_flight() {
    let file = noise(SIZE);
    let server = XrdServer::far(GATHER, move |asked, back| good(asked, back, &file));
    let (rt, file, options) = (runtime(), noise(SIZE), options());
    let first = open_right(&rt, &server.url(), &options, &file).unwrap();
    assert_eq!((server.connections(), server.flights()), (1, 1), "and one round trip for TCP: 2 in all");
    assert_eq!(first.source.stats().round_trips, 2);
    let second = open_right(&rt, &server.url(), &options, &file).unwrap();
    assert_eq!((server.connections(), server.flights()), (1, 2), "the session is kept, the guess of its handle right");
    assert_eq!(second.source.stats().round_trips, 1);
    // Both are read by the handles that they have.
    fetch(&rt, &first.source, &[Span::new(5000, 100)], &file).unwrap();
    fetch(&rt, &second.source, &[Span::new(7000, 100), Span::new(9000, 100)], &file).unwrap();
    assert_eq!(server.flights(), 4);
}

#[test]
fn through_a_redirector_it_is_two() {
    let file = noise(SIZE);
    let data = XrdServer::far(GATHER, move |asked, back| good(asked, back, &file));
    let port = data.port;
    let door = XrdServer::far(GATHER, move |asked, back| match asked.request {
        Request::Open { .. } => back.redirect(port, "&cap=granted"),
        _ => good(asked, back, &[]),
    });
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &door.url(), &options(), &file).unwrap();
    assert_eq!((door.flights(), data.flights()), (1, 1), "and two for TCP: 4 in all");
    assert_eq!(opening.source.stats().round_trips, 4);
    let path = data.log().iter().find_map(|a| match &a.request {
        Request::Open { path, .. } => Some(String::from_utf8(path.0.clone()).unwrap()),
        _ => None,
    });
    assert_eq!(path.as_deref(), Some("/f.root?cap=granted"));
}

#[test]
fn authentication_costs_once() {
    let file = noise(SIZE);
    // Resets clients that request a file before they have authenticated, as XRootD does.
    let server = XrdServer::far(GATHER, move |asked, back| {
        let early = asked.flight < 3;
        match &asked.request {
            Request::Login { .. } => {
                back.ok(&Login { session: [asked.connection as u8; 16], security: "&P=gsi,x&P=host".into() }.encode())
            }
            Request::Auth(credential) if credential.0.starts_with(b"host") => back.ok(b""),
            Request::Auth(_) => back.fail(code::error::AUTH_FAILED, "not this way"),
            Request::Open { .. } if early && asked.connection == 0 => {
                back.fail(code::error::INVALID_REQUEST, "who are you?");
                Then::Close
            }
            _ => good(asked, back, &file),
        }
    });
    let (rt, file, options) = (runtime(), noise(SIZE), options());
    let _first = open_right(&rt, &server.url(), &options, &file).unwrap();
    let logged = server.log();
    assert!(logged.iter().any(|a| matches!(&a.request, Request::Auth(c) if c.0.starts_with(b"host"))), "{logged:?}");
    assert_eq!(server.connections(), 2, "the first one was too eager");
    let before = server.flights();
    let _second = open_right(&rt, &server.url(), &options, &file).unwrap();
    assert_eq!((server.connections(), server.flights()), (2, before + 1));
}

#[test]
fn a_wrong_guess_of_the_handle_costs_one_flight_and_no_wrong_byte() {
    let file = noise(SIZE);
    // Handles that cannot be guessed; a guessed one is another client's file.
    let server = XrdServer::far(GATHER, move |asked, back| {
        let other = vec![7u8; SIZE];
        match &asked.request {
            Request::Open { .. } => {
                *back.files += 0x0101_0000;
                good(asked, back, &file)
            }
            Request::Read { handle, .. } if handle[2] == 0 => good(asked, back, &other),
            _ => good(asked, back, &file),
        }
    });
    let (rt, file) = (runtime(), noise(SIZE));
    // Kept alive: closing it is a flight as well.
    let _opening = open_right(&rt, &server.url(), &options(), &file).unwrap();
    assert_eq!(server.flights(), 2);
}

#[test]
fn small_reads_do_not_wait_behind_bulk() {
    let file = noise(SIZE);
    // The bulk is never answered; the small read is, over another session.
    let server = XrdServer::far(Duration::from_millis(20), move |asked, back| match &asked.request {
        Request::ReadV(chunks) if chunks.len() > 50 => Then::Keep,
        _ => good(asked, back, &file),
    });
    let (rt, file, options) = (runtime(), noise(SIZE), options());
    let opening = open_right(&rt, &server.url(), &options, &file).unwrap();
    let bulk: Vec<Span> = (0..90).map(|i| Span::new(i * 10_000, 5000)).collect();
    let sink = std::sync::Arc::new(common::Collect::default());
    let running = rt.spawn(std::sync::Arc::clone(&opening.source).fetch(bulk, sink));
    while !server.log().iter().any(|a| matches!(&a.request, Request::ReadV(c) if c.len() > 50)) {
        std::thread::sleep(Duration::from_millis(5));
    }
    fetch(&rt, &opening.source, &[Span::new(123, 100)], &file).unwrap();
    assert!(!running.is_finished(), "the bulk is still under way");
    running.abort();
    assert_eq!(server.connections(), 2);
}
