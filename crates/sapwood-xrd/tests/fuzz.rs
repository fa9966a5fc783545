//! Whatever arrives: no panic, no memory taken for absent data, and never a byte that was not requested.

use bytes::Bytes;
use proptest::prelude::*;
use sapwood_span::raw_text::text_of;
use sapwood_xrd::auth::Identity;
use sapwood_xrd::code::{server, status};
use sapwood_xrd::frame::{ReplyDecoder, RequestDecoder, StatusHead, encode_reply, encode_status};
use sapwood_xrd::reply::{self, Failure, Login, Open, Protocol, Redirect, Stat};
use sapwood_xrd::{
    CHUNK, Chunk, Event, Outcome, Pipelining, Request, SecretBytes, Session, SessionOptions, encode_pages, greeting,
};
use std::time::Duration;

const FILE: usize = 20_000;

fn file_byte(at: u64) -> u8 {
    (at ^ at >> 8 ^ 0x5a) as u8
}

fn part(offset: u64, len: u32) -> Vec<u8> {
    (offset..(offset + u64::from(len)).min(FILE as u64)).map(file_byte).collect()
}

fn session(eager: Pipelining) -> Session {
    let identity = Identity { user: "u".into(), group: "g".into(), token: None };
    Session::new(SessionOptions {
        identity,
        pid: 1,
        login_token: SecretBytes::default(),
        tls: false,
        eager,
        guess: Some("unix".into()),
    })
}

/// A server's answers to a session's output; `files` counts its open files.
fn answer(out: &[u8], first: bool, files: &mut u32, split: usize) -> Vec<u8> {
    let mut back = Vec::new();
    let mut input = Bytes::copy_from_slice(out);
    if first {
        assert_eq!(&input.split_to(20)[..], greeting());
        encode_reply(0, 0, &[0, 0, 5, 0x11, 0, 0, 0, 1], &mut back);
    }
    let mut decoder = RequestDecoder::new(1 << 20);
    while let Some((stream, request)) = decoder.next(&mut input).unwrap() {
        let body = match request.unwrap() {
            Request::Protocol { .. } => Protocol { version: 0x511, flags: server::PAGES }.encode(),
            Request::Login { .. } => Login { session: [7; 16], security: String::new() }.encode(),
            Request::Open { .. } => {
                let handle = files.to_le_bytes();
                *files += 1;
                Open { handle, stat: Some(Stat { size: FILE as u64, flags: 0, modified: 1, inode: None }) }.encode()
            }
            Request::Read { offset, len, .. } => part(offset, len),
            Request::ReadV(chunks) => chunks
                .iter()
                .flat_map(|c| {
                    [&c.handle[..], &c.len.to_be_bytes(), &c.offset.to_be_bytes(), &part(c.offset, c.len)].concat()
                })
                .collect(),
            Request::PageRead { offset, len, .. } => {
                let info = offset.to_be_bytes().to_vec();
                let head = StatusHead { stream, request: 3030, kind: 0, info, len: 0 };
                encode_status(&head, &encode_pages(offset, &part(offset, len)), &mut back);
                continue;
            }
            Request::Query { .. } => b"1024\n2097136\n".to_vec(),
            _ => {
                encode_reply(
                    stream,
                    status::ERROR,
                    &Failure { number: 3006, message: "no".into() }.encode(),
                    &mut back,
                );
                continue;
            }
        };
        let pieces: Vec<&[u8]> = body.chunks(split.max(1)).collect();
        for (i, piece) in pieces.iter().enumerate() {
            let status = if i + 1 == pieces.len() { status::OK } else { status::OKSOFAR };
            encode_reply(stream, status, piece, &mut back);
        }
    }
    back
}

/// The requests of the tests.
fn asks(session: &mut Session) {
    let (open, guess) = session.open("/f".into(), 16);
    let chunk = |offset, len| Chunk { handle: [0; 4], offset, len };
    session.ahead(open, guess, Request::Read { handle: [0; 4], offset: 100, len: 300, path_id: 0 });
    session.ahead(open, guess, Request::ReadV(vec![chunk(5, 10), chunk(9000, 5000), chunk(1, 1)]));
    session.ahead(open, guess, Request::PageRead { handle: [0; 4], offset: 4000, len: 9000, path_id: 0, again: false });
    session.request(&Request::Query { kind: 7, words: "readv_iov_max".into() });
}

/// Passes bytes in, split anywhere; every byte that comes out must be the file's. Returns how many did, and what ended.
fn feed(session: &mut Session, bytes: &[u8], cuts: &[usize]) -> (u64, usize) {
    let (mut got, mut ended, mut at) = (0, 0, 0);
    let mut ends: Vec<usize> = cuts.iter().map(|c| c % (bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    for end in ends {
        let ok = session.received(0, Bytes::copy_from_slice(&bytes[at..end]), Duration::from_secs(1)).is_ok();
        at = end;
        while let Some(event) = session.event() {
            match event {
                Event::Bytes(_, offset, bytes) => {
                    got += bytes.len() as u64;
                    assert!(offset + bytes.len() as u64 <= FILE as u64 + 10_000);
                }
                Event::Done(_, _) => ended += 1,
                _ => {}
            }
        }
        if !ok {
            break;
        }
    }
    (got, ended)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn whole_conversations_cut_anywhere(cuts in prop::collection::vec(any::<usize>(), 0..12), split in 1usize..6000) {
        let mut s = session(Pipelining::WithHandshake);
        asks(&mut s);
        let out = s.output(0).unwrap();
        let bytes = answer(&out, true, &mut 0, split);
        let (got, ended) = feed(&mut s, &bytes, &cuts);
        prop_assert_eq!(got, 300 + 10 + 5000 + 1 + 9000);
        prop_assert_eq!(ended, 5);
        prop_assert!(!s.is_waiting(0) && s.load(0) == 0);
    }

    #[test]
    fn damaged_conversations(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut in any::<usize>()) {
        let mut s = session(Pipelining::WithHandshake);
        asks(&mut s);
        let out = s.output(0).unwrap();
        let mut bytes = answer(&out, true, &mut 0, 3000);
        for (place, value) in flips {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        let (got, _) = feed(&mut s, &bytes, &[cut]);
        prop_assert!(got <= 300 + 10 + 5000 + 1 + 9000);
    }

    #[test]
    fn noise(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for eager in [Pipelining::None, Pipelining::WithHandshake] {
            let mut s = session(eager);
            asks(&mut s);
            feed(&mut s, &bytes, &[3, 50]);
        }
        // The same after a good greeting.
        let mut s = session(Pipelining::WithHandshake);
        asks(&mut s);
        let out = s.output(0).unwrap();
        let mut all = answer(&out[..44], true, &mut 0, 100);
        all.extend(&bytes);
        feed(&mut s, &all, &[]);
    }

    #[test]
    fn bodies_of_noise(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Protocol::parse(&bytes);
        let _ = Login::parse(&bytes).map(|l| sapwood_xrd::auth::offers(&l.security));
        let _ = Open::parse(&bytes);
        let _ = Stat::parse(&bytes);
        let _ = Failure::parse(&bytes).map(|f| assert!(!f.message.chars().any(char::is_control)));
        let _ = Redirect::parse(&bytes);
        let _ = (reply::wait(&bytes), reply::vector_limits(&bytes), reply::locations(&bytes), reply::entries(&bytes));
        let mut input = Bytes::from(bytes.clone());
        let mut decoder = ReplyDecoder::default();
        while let Ok(Some(_)) = decoder.next(&mut input) {}
        let mut input = Bytes::from(bytes);
        let mut decoder = RequestDecoder::new(100);
        while let Ok(Some(_)) = decoder.next(&mut input) {}
    }

    #[test]
    fn requests_come_back(
        offset in 0u64..1 << 62, len in 0u32..1 << 31, handle in any::<[u8; 4]>(), path_text in "[ -~]{0,40}", path_id in any::<u8>(),
    ) {
        let path = SecretBytes::from(path_text.as_str());
        let chunk = Chunk { handle, offset, len };
        for request in [
            Request::Protocol { flags: 2, expect: 3 },
            Request::Login { pid: len, user: "someone".into(), token: path.clone() },
            Request::Auth(path.clone()),
            Request::Bind { session: [9; 16] },
            Request::EndSession { session: [9; 16] },
            Request::Open { path: path.clone(), options: 0x410 },
            // an empty path would mean the open file
            Request::Stat { path: SecretBytes::from(format!("/{path_text}").as_str()) },
            Request::StatOpen { handle },
            Request::Close { handle },
            Request::Read { handle, offset, len, path_id },
            Request::PageRead { handle, offset, len, path_id, again: true },
            Request::ReadV(vec![chunk; 3]),
            Request::Query { kind: 7, words: "a b".into() },
            Request::Query { kind: 3, words: text_of(b"/caf\xe9?cks.type=crc32c") },
            Request::Set(path.clone()),
            Request::Locate { path: path.clone(), options: 1 },
            Request::DirList { path, options: 2 },
            Request::Ping,
        ] {
            let mut bytes = Vec::new();
            request.encode(0xbeef, &mut bytes);
            let mut input = Bytes::from(bytes);
            let back = RequestDecoder::new(1 << 20).next(&mut input).unwrap();
            prop_assert_eq!(back, Some((0xbeef, Ok(request))));
            prop_assert!(input.is_empty());
        }
    }
}

#[test]
fn replies_to_nothing_are_refused() {
    let mut s = session(Pipelining::WithHandshake);
    let out = s.output(0).unwrap();
    let mut bytes = answer(&out, true, &mut 0, 100);
    encode_reply(999, status::OK, b"what?", &mut bytes);
    assert!(s.received(0, bytes.into(), Duration::ZERO).is_err());
}

#[test]
fn an_open_elsewhere_voids_the_reads_that_guessed_it() {
    let mut s = session(Pipelining::WithHandshake);
    asks(&mut s);
    let out = s.output(0).unwrap();
    // The server has a file open already: ours gets another number.
    let bytes = answer(&out, true, &mut 1, 3000);
    s.received(0, bytes.into(), Duration::ZERO).unwrap();
    let mut unread = 0;
    while let Some(event) = s.event() {
        match event {
            Event::Bytes(..) => panic!("bytes of another file"),
            Event::Done(_, Outcome::Unread) => unread += 1,
            _ => {}
        }
    }
    assert_eq!(unread, 3);
    assert_eq!(CHUNK, 16);
}

#[test]
fn a_wait_is_sent_again_when_its_time_has_come() {
    let mut s = session(Pipelining::WithHandshake);
    let out = s.output(0).unwrap();
    s.received(0, answer(&out, true, &mut 0, 100).into(), Duration::ZERO).unwrap();
    while s.event().is_some() {}
    s.request(&Request::Ping);
    let ping = s.output(0).unwrap();
    let mut wait = Vec::new();
    encode_reply(u16::from_be_bytes([ping[0], ping[1]]), status::WAIT, &3u32.to_be_bytes(), &mut wait);
    s.received(0, wait.into(), Duration::from_secs(10)).unwrap();
    assert!(matches!(s.event(), Some(Event::Waiting(_, 3, _))));
    assert_eq!(s.deadline(), Some(Duration::from_secs(13)));
    s.tick(Duration::from_secs(12));
    assert_eq!(s.output(0), None);
    s.tick(Duration::from_secs(13));
    assert_eq!(s.output(0), Some(ping));
}
