//! How a session starts: greeting, TLS, login, authentication, data links.

use bytes::Bytes;
use sapwood_xrd::auth::Identity;
use sapwood_xrd::code::{error, server, status};
use sapwood_xrd::frame::{RequestDecoder, encode_reply};
use sapwood_xrd::reply::{Failure, Login, Protocol, Redirect};
use sapwood_xrd::{Event, Outcome, Pipelining, Refusal, Request, SecretBytes, Session, SessionOptions};
use std::time::Duration;

fn options(eager: Pipelining, guess: Option<&str>) -> SessionOptions {
    let identity = Identity { user: "someone".into(), group: "g".into(), token: Some("TOKEN".into()) };
    let guess = guess.map(str::to_owned);
    SessionOptions { identity, pid: 1, login_token: SecretBytes::default(), tls: false, eager, guess }
}

/// The client's output over a link, with the streams to answer on.
fn said(session: &mut Session, link: usize, greeted: bool) -> Vec<(u16, Request)> {
    let mut bytes = Bytes::from(session.output(link).unwrap_or_default());
    if !greeted {
        let _greeting = bytes.split_to(20);
    }
    let mut decoder = RequestDecoder::new(1 << 20);
    let mut out = Vec::new();
    while let Some((stream, request)) = decoder.next(&mut bytes).unwrap() {
        out.push((stream, request.unwrap()));
    }
    out
}

fn say(session: &mut Session, link: usize, replies: &[(u16, u16, Vec<u8>)]) {
    let mut bytes = Vec::new();
    for (stream, status, body) in replies {
        encode_reply(*stream, *status, body, &mut bytes);
    }
    session.received(link, bytes.into(), Duration::ZERO).unwrap();
}

const GREETED: (u16, u16, [u8; 8]) = (0, 0, [0, 0, 5, 0x11, 0, 0, 0, 1]);

fn greet(session: &mut Session, link: usize, stream: u16, flags: u32) {
    let protocol = Protocol { version: 0x511, flags }.encode();
    say(session, link, &[(GREETED.0, GREETED.1, GREETED.2.to_vec()), (stream, 0, protocol)]);
}

fn login(security: &str) -> Vec<u8> {
    Login { session: [7; 16], security: security.into() }.encode()
}

fn events(session: &mut Session) -> Vec<Event> {
    std::iter::from_fn(|| session.event()).collect()
}

#[test]
fn a_token_goes_out_behind_tls_only() {
    let mut s = Session::new(options(Pipelining::None, None));
    let first = said(&mut s, 0, false);
    assert!(matches!(first[..], [(_, Request::Protocol { flags: 2, expect: 3 })]), "{first:?}");
    s.request(&Request::Ping);
    greet(&mut s, 0, first[0].0, server::HAVE_TLS | server::GOTO_TLS);
    assert!(matches!(events(&mut s)[..], [Event::StartTls(0)]));
    assert!(s.wants_tls(0) && s.output(0).is_none(), "nothing goes out in the clear");
    s.secured(0);
    let next = said(&mut s, 0, true);
    let (stream, Request::Login { user, .. }) = &next[0] else { panic!("{next:?}") };
    assert_eq!((user.as_str(), next.len()), ("someone", 1));
    say(&mut s, 0, &[(*stream, 0, login("&P=gsi,v:1&P=ztn,0:4096:"))]);
    let next = said(&mut s, 0, true);
    let (stream, Request::Auth(credential)) = &next[0] else { panic!("{next:?}") };
    assert_eq!(credential.0, b"ztn\0\0T\0\0\0\x06TOKEN\0");
    say(&mut s, 0, &[(*stream, 0, Vec::new())]);
    assert!(matches!(&events(&mut s)[..], [Event::Ready(0, Some(way))] if way == "ztn"));
    let held = said(&mut s, 0, true);
    assert!(matches!(held[..], [(_, Request::Ping)]), "what waited goes out now: {held:?}");
}

#[test]
fn without_tls_a_token_is_not_offered() {
    let mut s = Session::new(options(Pipelining::None, None));
    let first = said(&mut s, 0, false);
    greet(&mut s, 0, first[0].0, 0);
    let next = said(&mut s, 0, true);
    say(&mut s, 0, &[(next[0].0, 0, login("&P=ztn,0:4096:"))]);
    let events = events(&mut s);
    let [Event::Refused(Refusal::Auth { offered, said: None })] = &events[..] else { panic!("{events:?}") };
    assert_eq!(offered[..], ["ztn"]);
    assert!(s.output(0).is_none());
}

#[test]
fn ways_of_authentication_are_tried_in_turn() {
    let mut s = Session::new(options(Pipelining::None, None));
    let first = said(&mut s, 0, false);
    greet(&mut s, 0, first[0].0, 0);
    let next = said(&mut s, 0, true);
    say(&mut s, 0, &[(next[0].0, 0, login("&P=host&P=krb5,x&P=unix"))]);
    let refusal = Failure { number: error::AUTH_FAILED, message: "not from there".into() };
    for way in [&b"host\0"[..], b"unix\0someone g\0"] {
        let next = said(&mut s, 0, true);
        let (stream, Request::Auth(credential)) = &next[0] else { panic!("{next:?}") };
        assert_eq!(credential.0, way);
        say(&mut s, 0, &[(*stream, status::ERROR, refusal.encode())]);
    }
    let events = events(&mut s);
    assert!(
        matches!(&events[..], [Event::Refused(Refusal::Auth { said: Some(f), .. })] if *f == refusal),
        "{events:?}"
    );
}

#[test]
fn a_guess_that_nobody_wanted_does_no_harm() {
    let mut s = Session::new(options(Pipelining::WithHandshake, Some("unix")));
    s.request(&Request::Ping);
    let all = said(&mut s, 0, false);
    assert_eq!(all.len(), 4, "protocol, login, credential, ping: {all:?}");
    greet(&mut s, 0, all[0].0, 0);
    let refusal = Failure { number: error::INVALID_REQUEST, message: "already".into() };
    let (auth, ping) = (all[2].0, all[3].0);
    say(&mut s, 0, &[(all[1].0, 0, login("")), (auth, status::ERROR, refusal.encode()), (ping, 0, Vec::new())]);
    let events = events(&mut s);
    assert!(matches!(&events[..], [Event::Ready(0, None), Event::Done(_, Outcome::Ok(_))]), "{events:?}");
}

#[test]
fn too_eager_for_tls_or_authentication() {
    let mut s = Session::new(options(Pipelining::WithHandshake, None));
    let all = said(&mut s, 0, false);
    greet(&mut s, 0, all[0].0, server::HAVE_TLS | server::GOTO_TLS);
    assert!(matches!(events(&mut s)[..], [Event::Refused(Refusal::TlsWanted)]));

    let mut s = Session::new(options(Pipelining::WithHandshake, None));
    s.request(&Request::Ping);
    let all = said(&mut s, 0, false);
    greet(&mut s, 0, all[0].0, 0);
    say(&mut s, 0, &[(all[1].0, 0, login("&P=host"))]);
    assert!(matches!(events(&mut s)[..], [Event::Refused(Refusal::PipeliningRefused)]));

    let mut s = Session::new(SessionOptions { tls: true, ..options(Pipelining::WithLogin, None) });
    let all = said(&mut s, 0, false);
    assert!(matches!(all[..], [(_, Request::Protocol { flags: 6, .. })]));
    greet(&mut s, 0, all[0].0, 0);
    assert!(matches!(events(&mut s)[..], [Event::Refused(Refusal::NoTls)]));
}

#[test]
fn a_login_that_is_sent_elsewhere() {
    let mut s = Session::new(options(Pipelining::WithHandshake, None));
    let all = said(&mut s, 0, false);
    greet(&mut s, 0, all[0].0, 0);
    let to = Redirect { host: "h".into(), port: 7, opaque: String::new(), token: String::new() };
    say(&mut s, 0, &[(all[1].0, status::REDIRECT, to.encode())]);
    assert!(matches!(&events(&mut s)[..], [Event::Refused(Refusal::Redirect(r))] if *r == to));
}

#[test]
fn data_links_carry_what_names_them() {
    let mut s = Session::new(options(Pipelining::WithHandshake, None));
    assert_eq!(s.bind(), None, "not before the login");
    let all = said(&mut s, 0, false);
    greet(&mut s, 0, all[0].0, 0);
    say(&mut s, 0, &[(all[1].0, 0, login(""))]);
    assert_eq!(s.data_link(), 0);
    let link = s.bind().unwrap();
    let binding = said(&mut s, link, false);
    assert!(matches!(binding[1].1, Request::Bind { session } if session == [7; 16]), "{binding:?}");
    greet(&mut s, link, binding[0].0, 0);
    say(&mut s, link, &[(binding[1].0, 0, vec![3])]);
    assert_eq!(s.data_link(), link);
    let id = s.read(link, [1, 0, 0, 0], 10, 4, false);
    let asked = said(&mut s, 0, true);
    assert!(matches!(asked[0].1, Request::Read { path_id: 3, .. }), "asked over the control link: {asked:?}");
    assert_eq!((s.load(0), s.load(link)), (0, 4));
    let _ = events(&mut s);
    say(&mut s, link, &[(asked[0].0, 0, b"abcd".to_vec())]);
    let got = events(&mut s);
    assert!(
        matches!(&got[..], [Event::Bytes(i, 10, b), Event::Done(_, Outcome::Ok(_))] if *i == id && &b[..] == b"abcd")
    );
    // The pending answers of a broken link are lost, the session is not.
    let id = s.read(link, [1, 0, 0, 0], 10, 4, false);
    s.lost(link);
    assert!(matches!(events(&mut s)[..], [Event::Done(i, Outcome::Lost)] if i == id));
    assert_eq!(s.data_link(), 0);
}

/// An attacker who can write into the connection before TLS starts must not answer requests sent after it.
#[test]
fn nothing_that_came_in_the_clear_counts_behind_tls() {
    let begin = || {
        let mut s = Session::new(SessionOptions { tls: true, ..options(Pipelining::WithLogin, None) });
        let first = said(&mut s, 0, false);
        let ping = s.request(&Request::Ping);
        assert!(s.output(0).is_none(), "it waits for TLS");
        let mut bytes = Vec::new();
        encode_reply(GREETED.0, GREETED.1, &GREETED.2, &mut bytes);
        let flags = server::HAVE_TLS | server::GOTO_TLS;
        encode_reply(first[0].0, 0, &Protocol { version: 0x511, flags }.encode(), &mut bytes);
        (s, ping, bytes)
    };
    let streams = 0..8u16;
    let answers = streams.map(|stream| {
        let mut out = Vec::new();
        encode_reply(stream, status::OK, b"", &mut out);
        out
    });
    // an answer, a part of one, which the first bytes after TLS would complete, and a message
    let mut message = Vec::new();
    encode_reply(0, status::ATTN, &[0, 0, 0x13, 0x8a], &mut message);
    for more in answers.chain([vec![0, 2], vec![0, 2, 0, 0, 0, 0, 0], message]) {
        for apart in [false, true] {
            let (mut s, ping, mut bytes) = begin();
            let refused = if apart {
                s.received(0, bytes.into(), Duration::ZERO).unwrap();
                assert!(s.wants_tls(0));
                s.received(0, more.clone().into(), Duration::ZERO).is_err()
            } else {
                bytes.extend(&more);
                s.received(0, bytes.into(), Duration::ZERO).is_err()
            };
            assert!(refused, "{more:?} apart {apart}: {:?}", events(&mut s));
            assert!(!events(&mut s).iter().any(|e| matches!(e, Event::Done(id, _) if *id == ping)), "{more:?}");
        }
    }
    let (mut s, _, bytes) = begin();
    s.received(0, bytes.into(), Duration::ZERO).unwrap();
    s.secured(0);
    assert_eq!(said(&mut s, 0, true).len(), 2, "login and what waited");
}

#[test]
fn a_request_that_has_not_been_sent_is_not_answered() {
    let mut s = Session::new(options(Pipelining::None, None));
    let first = said(&mut s, 0, false);
    let ping = s.request(&Request::Ping);
    greet(&mut s, 0, first[0].0, server::DATA);
    let mut bytes = Vec::new();
    // its stream is the one after the greeting's
    encode_reply(first[0].0 + 1, status::OK, b"", &mut bytes);
    assert!(s.received(0, bytes.into(), Duration::ZERO).is_err(), "{:?} {ping:?}", events(&mut s));
}
