//! A session against servers that break the rules, byte by byte and without a clock: what counts as progress, what is
//! kept, and when it is over.

use bytes::Bytes;
use sapwood_xrd::auth::Identity;
use sapwood_xrd::code::{action, status};
use sapwood_xrd::frame::encode_reply;
use sapwood_xrd::reply::{Login, Protocol};
use sapwood_xrd::{Event, Id, Pipelining, Request, SecretBytes, Session, SessionOptions};
use std::time::Duration;

/// A session after its login, with no pending events.
fn ready() -> Session {
    let mut session = Session::new(SessionOptions {
        identity: Identity { user: "u".into(), group: "g".into(), token: None },
        pid: 1,
        login_token: SecretBytes::default(),
        tls: false,
        eager: Pipelining::WithHandshake,
        guess: None,
    });
    let mut bytes = Vec::new();
    encode_reply(0, 0, &[0, 0, 5, 0x11, 0, 0, 0, 1], &mut bytes);
    encode_reply(1, status::OK, &Protocol { version: 0x511, flags: 0 }.encode(), &mut bytes);
    encode_reply(2, status::OK, &Login { session: [7; 16], security: String::new() }.encode(), &mut bytes);
    session.received(0, bytes.into(), Duration::ZERO).unwrap();
    assert!(std::iter::from_fn(|| session.event()).any(|e| matches!(e, Event::Ready(0, _))));
    session.output(0);
    session
}

/// Sends a request; also returns its stream.
fn ask(session: &mut Session, request: &Request) -> (Id, u16) {
    let id = session.request(request);
    let out = session.output(0).unwrap();
    (id, u16::from_be_bytes([out[0], out[1]]))
}

fn read(len: u32) -> Request {
    Request::Read { handle: [0; 4], offset: 0, len, path_id: 0 }
}

fn frame(stream: u16, status: u16, body: &[u8]) -> Bytes {
    let mut out = Vec::new();
    encode_reply(stream, status, body, &mut out);
    out.into()
}

/// An answer in a message, with this length in its own header.
fn late(stream: u16, status: u16, len: u32, body: &[u8]) -> Vec<u8> {
    let inner = [&stream.to_be_bytes()[..], &status.to_be_bytes(), &len.to_be_bytes(), body].concat();
    [&action::RESPONSE.to_be_bytes()[..], &[0; 4], &inner].concat()
}

#[test]
fn only_what_comes_of_a_request_is_progress() {
    let mut session = ready();
    let (_, stream) = ask(&mut session, &read(1000));
    let before = session.progress(0);
    let nothing = [
        frame(0, status::ATTN, &5002u32.to_be_bytes()),
        frame(stream, status::OKSOFAR, b""),
        frame(stream, status::WAIT, &1u32.to_be_bytes()),
        frame(stream, status::WAITRESP, &1u32.to_be_bytes()),
    ];
    for bytes in nothing {
        session.received(0, bytes.clone(), Duration::ZERO).unwrap();
        assert_eq!(session.progress(0), before, "{bytes:?}");
    }
    session.received(0, frame(stream, status::OKSOFAR, b"abc"), Duration::ZERO).unwrap();
    assert_eq!(session.progress(0), before + 3);
    // a small answer that arrives slowly counts when it is complete
    let (_, stream) = ask(&mut session, &Request::Ping);
    let before = session.progress(0);
    let answer = frame(stream, status::OK, b"0123456789");
    session.received(0, answer.slice(..12), Duration::ZERO).unwrap();
    assert_eq!(session.progress(0), before);
    session.received(0, answer.slice(12..), Duration::ZERO).unwrap();
    assert!(session.progress(0) > before);
}

#[test]
fn a_late_answer_is_progress_while_it_comes() {
    let mut session = ready();
    let (_, stream) = ask(&mut session, &read(100_000));
    session.received(0, frame(stream, status::WAITRESP, &1u32.to_be_bytes()), Duration::ZERO).unwrap();
    let before = session.progress(0);
    let whole = frame(0, status::ATTN, &late(stream, status::OK, 100_000, &[7; 100_000]));
    session.received(0, whole.slice(..20_000), Duration::ZERO).unwrap();
    assert!(session.progress(0) > before + 19_000);
    session.received(0, whole.slice(20_000..), Duration::ZERO).unwrap();
    let brought: usize = std::iter::from_fn(|| session.event())
        .map(|e| if let Event::Bytes(_, _, bytes) = e { bytes.len() } else { 0 })
        .sum();
    assert_eq!(brought, 100_000);
}

/// Sixteen megabytes used to be collected before the message turned out to be unsolicited.
#[test]
fn messages_are_refused_before_they_are_collected() {
    let kinds: [fn(u16) -> Vec<u8>; 5] = [
        |_| late(999, status::OK, 15_000_000, &[]),
        |stream| late(stream, status::OK, 15_000_000, &[]),
        |stream| late(stream, status::OKSOFAR, 1001, &[]),
        |stream| late(stream, status::ERROR, 15_000_000, &[]),
        |_| 5002u32.to_be_bytes().to_vec(),
    ];
    for kind in kinds {
        let mut session = ready();
        let (_, stream) = ask(&mut session, &read(1000));
        let body = kind(stream);
        let len = if body.len() > 4 { u32::from_be_bytes(body[12..16].try_into().unwrap()) + 16 } else { 15_000_000 };
        let header = [&[0, 0][..], &status::ATTN.to_be_bytes(), &len.to_be_bytes(), &body].concat();
        let refused = session.received(0, header.into(), Duration::ZERO).is_err();
        assert!(refused, "a message of {len} bytes");
    }
}

#[test]
fn messages_that_answer_nothing_have_a_number() {
    let mut session = ready();
    let message = frame(0, status::ATTN, &5002u32.to_be_bytes());
    let taken = (0..100_000).take_while(|_| session.received(0, message.clone(), Duration::ZERO).is_ok()).count();
    assert!((100..1000).contains(&taken), "{taken}");
}

#[test]
fn who_is_made_to_wait_again_is_not_sent_at_once() {
    let mut session = ready();
    let (_, stream) = ask(&mut session, &read(1000));
    let wait = frame(stream, status::WAIT, &0u32.to_be_bytes());
    let mut sent = 0;
    for tick in 0..10_000 {
        let now = Duration::from_millis(tick);
        session.tick(now);
        if tick == 0 || session.output(0).is_some() {
            sent += 1;
            session.received(0, wait.clone(), now).unwrap();
        }
    }
    assert!(sent <= 12, "{sent} times in ten seconds");
}
