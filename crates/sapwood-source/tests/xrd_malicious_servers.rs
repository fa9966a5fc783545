//! Malicious XRootD servers: the bytes are right, or there is a clear error, after few requests and within the
//! timeouts. Servers stop their tricks after a while and then close, so that a client that falls for them fails the
//! test instead of hanging.

mod common;

use common::ports::free_port;
use common::xrd_checks::{self, FEW, SIZE, answering, any_read, is_login, is_open, is_page_read, is_vector, read};
use common::xrd_scripted::{Asked, Back, Then, XrdServer, good, vector};
use common::{impatient, noise, open_right, runtime};
use sapwood_source::Hosts;
use sapwood_span::{Error, ErrorKind, Span};
use sapwood_xrd::code::{self, status};
use sapwood_xrd::frame::{StatusHead, encode_reply, encode_status};
use sapwood_xrd::reply::{Login, Open, Protocol, Stat};
use sapwood_xrd::{Request, encode_pages};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Between two messages of a server that repeats the same for ever; and how many of them "for ever" is. Together they
/// are longer than all that the options of these tests allow to wait.
const OFTEN: Duration = Duration::from_millis(20);
const FOR_EVER: usize = 250;
fn refused(name: &str, server: &XrdServer) -> Error {
    let error = xrd_checks::refused(name, server);
    assert!(error.to_string().contains("f.root"), "{name}: {error}");
    error
}

/// Correct values, or a clear error; few requests either way.
fn right_or_refused(name: &str, server: &XrdServer) {
    if read(server).is_err() {
        refused(name, server);
    }
    assert!(server.log().len() <= 2 * FEW, "{name}: {} requests", server.log().len());
}

/// Runs all cases concurrently: most of their time is waiting.
fn beside<T: Send>(cases: impl IntoIterator<Item = T>, case: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for one in cases {
            scope.spawn(|| case(one));
        }
    });
}

fn frame(stream: u16, status: u16, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode_reply(stream, status, body, &mut out);
    out
}

/// A message that answers nothing.
fn message(action: u32) -> Vec<u8> {
    frame(0, status::ATTN, &[&action.to_be_bytes()[..], b"nothing to say"].concat())
}

fn count(server: &XrdServer, which: fn(&Request) -> bool) -> usize {
    server.log().iter().filter(|a| which(&a.request)).count()
}

#[test]
fn messages_without_end_do_not_hold_an_open() {
    beside([5000, 5002, 5004, 5005, 5007, 9999], |action| {
        let server = answering(is_open, move |_, _, _| Then::Repeat(message(action), OFTEN, FOR_EVER));
        assert_eq!(refused("messages", &server).kind(), ErrorKind::Timeout);
    });
    let busy = answering(is_open, |_, _, _| Then::Repeat(message(5002), Duration::ZERO, 100_000));
    assert_eq!(refused("many messages", &busy).kind(), ErrorKind::Protocol, "they are counted");
}

#[test]
fn messages_within_an_answer_are_passed_over_and_do_not_hold_it() {
    let good_inside = answering(is_vector, |asked, back, file| {
        let body = vector(&asked.request, file);
        for piece in body.chunks(5000) {
            back.send(status::OKSOFAR, piece);
            back.raw(&message(5002));
        }
        back.ok(b"")
    });
    read(&good_inside).unwrap();
    let without_end = answering(is_vector, |asked, back, file| {
        let body = vector(&asked.request, file);
        back.send(status::OKSOFAR, &body[..100]);
        Then::Repeat(message(5002), OFTEN, FOR_EVER)
    });
    assert_eq!(refused("messages", &without_end).kind(), ErrorKind::Timeout);
}

#[test]
fn empty_pieces_without_end_are_no_progress() {
    let server =
        answering(is_vector, |asked, _, _| Then::Repeat(frame(asked.stream, status::OKSOFAR, b""), OFTEN, FOR_EVER));
    assert_eq!(refused("empty pieces", &server).kind(), ErrorKind::Timeout);
    let pages = answering(is_page_read, |asked, _, _| {
        let Request::PageRead { offset, .. } = asked.request else { return Then::Close };
        let mut out = Vec::new();
        let info = offset.to_be_bytes().to_vec();
        encode_status(&StatusHead { stream: asked.stream, request: 3030, kind: 1, info, len: 0 }, &[], &mut out);
        Then::Repeat(out, OFTEN, FOR_EVER)
    });
    assert_eq!(refused("empty pages", &pages).kind(), ErrorKind::Timeout);
}

#[test]
fn a_small_answer_that_drips_is_no_progress() {
    let server = answering(is_open, |asked, back, _| {
        let head = [&asked.stream.to_be_bytes()[..], &[0, 0], &100_000u32.to_be_bytes()].concat();
        back.raw(&head);
        Then::Repeat(vec![0], OFTEN, FOR_EVER)
    });
    assert_eq!(refused("a drip", &server).kind(), ErrorKind::Timeout);
}

#[test]
fn waits_of_no_time_are_not_a_storm_of_requests() {
    let server = answering(
        is_open,
        |asked, back, file| if asked.number < 5000 { back.wait(0) } else { good(asked, back, file) },
    );
    let error = refused("waits", &server);
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.to_string().contains("timeout"), "{error}");
    assert!(count(&server, is_open) <= 6, "{}", count(&server, is_open));
}

#[test]
fn a_login_that_is_to_wait_for_ever() {
    let server = answering(
        is_login,
        |asked, back, file| if asked.number < 5000 { back.wait(0) } else { good(asked, back, file) },
    );
    right_or_refused("waits", &server);
    assert!(count(&server, is_login) <= 12, "{}", count(&server, is_login));
}

/// Each answer is within its own limit; all of them together are not.
#[test]
fn waits_add_up_over_redirects() {
    let (port, waits) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (own, counted) = (Arc::clone(&port), Arc::clone(&waits));
    let first = Mutex::new(true);
    let server = answering(is_open, move |_, back, _| {
        let mut first = first.lock().unwrap();
        *first = !*first;
        if *first {
            return back.redirect(own.load(Ordering::Relaxed) as u16, "&again=1");
        }
        counted.fetch_add(1, Ordering::Relaxed);
        back.wait(1)
    });
    port.store(server.port.into(), Ordering::Relaxed);
    assert_eq!(refused("waits", &server).kind(), ErrorKind::Timeout);
    let waits = waits.load(Ordering::Relaxed);
    assert!(waits <= 4, "{waits} waits of a second, where two seconds are allowed");
}

#[test]
fn reads_that_are_redirected_in_circles() {
    let (port, turns) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
    let own = Arc::clone(&port);
    let server = answering(is_vector, move |asked, back, file| {
        if turns.fetch_add(1, Ordering::Relaxed) < 500 {
            back.redirect(own.load(Ordering::Relaxed) as u16, "&again=1")
        } else {
            good(asked, back, file)
        }
    });
    port.store(server.port.into(), Ordering::Relaxed);
    let error = refused("circles", &server);
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    assert!(error.to_string().contains("redirects"), "{error}");
}

#[test]
fn reads_that_bring_one_byte_each() {
    let server = answering(is_vector, |asked, back, file| {
        let body = vector(&asked.request, file);
        back.ok(&body[..17])
    });
    let error = refused("one byte", &server);
    assert!(error.to_string().contains("small part"), "{error}");
}

#[test]
fn a_request_that_is_never_answered_while_others_are() {
    let file = noise(SIZE);
    let hidden = Span::new(100_000, 40_000);
    let server = XrdServer::start(move |asked, back| match &asked.request {
        Request::ReadV(chunks) if chunks[0].offset == 100_000 => Then::Keep,
        _ => good(asked, back, &file),
    });
    let (rt, file) = (runtime(), noise(SIZE));
    // both files are read over the same sessions
    let options = sapwood_source::SourceOptions { hosts: Hosts::default(), max_connections: 1, ..impatient() };
    let starved = open_right(&rt, &server.url(), &options, &file).unwrap().source;
    let served = open_right(&rt, &server.url(), &options, &file).unwrap().source;
    let ended = rt.block_on(async {
        let sink = Arc::new(common::Collect::default());
        let never = starved.clone().fetch(vec![hidden, Span::new(200_000, 10)], sink);
        let never = tokio::spawn(never);
        for i in 0..400u64 {
            if never.is_finished() {
                return never.await.unwrap().err();
            }
            let spans = vec![Span::new(i * 10, 100), Span::new(5000 + i, 50)];
            served.clone().fetch(spans, Arc::new(common::Collect::default())).await.unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        None
    });
    let error = ended.expect("it is given up while others are served");
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
}

#[test]
fn replies_to_the_wrong_stream_twice_or_to_nothing() {
    type Trick = fn(&Asked, &mut Back, &[u8]) -> Then;
    let table: [(&str, Trick); 6] = [
        ("twice", |asked, back, file| {
            good(asked, back, file);
            good(asked, back, file)
        }),
        ("another stream", |asked, back, file| {
            back.stream ^= 0x4000;
            good(asked, back, file)
        }),
        ("stream 0", |asked, back, file| {
            back.stream = 0;
            good(asked, back, file)
        }),
        ("never asked", |asked, back, file| {
            back.raw(&frame(60_123, status::OK, b"here you are"));
            good(asked, back, file)
        }),
        ("unknown status", |_, back, _| back.send(4999, b"")),
        ("an answer within a message within a message", |_, back, _| {
            let inner = frame(1, status::ATTN, &frame(1, status::OK, b"x"));
            back.send(status::ATTN, &[&code::action::RESPONSE.to_be_bytes()[..], &[0; 4], &inner].concat())
        }),
    ];
    for which in [is_open as fn(&Request) -> bool, is_vector, is_login, is_page_read] {
        for (name, trick) in table {
            right_or_refused(name, &answering(which, trick));
        }
    }
}

#[test]
fn lengths_beyond_all_measure() {
    let kinds = [status::OK, status::OKSOFAR, status::ERROR, status::REDIRECT, status::WAIT, status::ATTN, 4007];
    for which in [is_open as fn(&Request) -> bool, is_vector, is_login, is_page_read] {
        let lens = [u32::MAX, 1 << 31, (1 << 31) - 1, 200_000_000, 17 << 20];
        beside(kinds.iter().flat_map(|kind| lens.map(|len| (*kind, len))), |(status, len)| {
            let server = answering(which, move |asked, back, _| {
                let head = [&asked.stream.to_be_bytes()[..], &status.to_be_bytes(), &len.to_be_bytes()].concat();
                back.raw(&head);
                back.raw(&[0; 64]);
                Then::Close
            });
            refused("lengths", &server);
        });
    }
}

#[test]
fn bodies_that_are_cut_short() {
    let bodies: [(u16, &[u8]); 9] = [
        (status::ERROR, b""),
        (status::ERROR, &[0, 0, 11]),
        (status::ERROR, &[0, 0, 0x0b, 0xc3, b'n', b'o', 0x1b, b'[', b'2', b'J', 7]),
        (status::REDIRECT, &[0, 0]),
        (status::REDIRECT, &[0, 0, 4, 4]),
        (status::WAIT, &[0]),
        (status::WAIT, &[0xff; 4]),
        (status::ATTN, &[0, 0]),
        (status::OK, &[1, 2]),
    ];
    beside(bodies, |(status, body)| {
        for which in [is_open as fn(&Request) -> bool, is_login, is_vector] {
            right_or_refused(
                &format!("{status} {body:?}"),
                &answering(which, move |_, back, _| back.send(status, body)),
            );
        }
    });
    let long =
        answering(is_open, |_, back, _| back.send(status::ERROR, &[&[0, 0, 0x0b, 0xc3][..], &[b'x'; 60_000]].concat()));
    assert_eq!(refused("a long text without an end", &long).kind(), ErrorKind::NotFound);
}

#[test]
fn redirects_to_nowhere() {
    let gone = free_port();
    let to = |port: i32, text: &[u8]| [&port.to_be_bytes()[..], text].concat();
    let bodies = [
        to(-1, b"127.0.0.1"),
        to(-1, b"http://127.0.0.1/f.root"),
        to(-1, b"file:///etc/passwd"),
        to(i32::MIN, b"root://"),
        to(70_000, b"127.0.0.1"),
        to(i32::from(gone), b"127.0.0.1?&x=\x01\x02\r\n"),
        to(i32::from(gone), b"127.0.0.1\r\nhost"),
        to(i32::from(gone), b"?&x=1"),
        to(i32::from(gone), &[b'h'; 300]),
        to(i32::from(gone), &[0xff, 0xfe]),
        to(i32::from(gone), b"127.0.0.1"),
        to(-1, &[&b"root://127.0.0.1:1//"[..], &[b'a'; 20_000]].concat()),
    ];
    beside(bodies, |body| {
        for which in [is_open as fn(&Request) -> bool, is_vector, is_login] {
            let body = body.clone();
            refused("a redirect", &answering(which, move |_, back, _| back.send(status::REDIRECT, &body)));
        }
    });
}

#[test]
fn greetings_and_logins_that_make_no_sense() {
    let protocols: [&[u8]; 4] = [b"", &[0, 0, 5], &[0xff; 8], &[0; 8]];
    for body in protocols {
        let is_protocol = |r: &Request| matches!(r, Request::Protocol { .. });
        right_or_refused("protocol", &answering(is_protocol, move |_, back, _| back.ok(body)));
    }
    let security = |list: String| {
        answering(is_login, move |_, back, _| back.ok(&Login { session: [1; 16], security: list.clone() }.encode()))
    };
    for list in ["&P=unix".repeat(30_000), "&P=host,x&P=unix".repeat(10_000), format!("&P={}", "g".repeat(200_000))] {
        right_or_refused("security", &security(list));
    }
    // asked for authentication again and again, each time refused
    let file = noise(SIZE);
    let refusing = XrdServer::start(move |asked, back| match asked.request {
        Request::Login { .. } => {
            back.ok(&Login { session: [1; 16], security: "&P=unix&P=host".repeat(10_000) }.encode())
        }
        Request::Auth(_) => back.fail(code::error::AUTH_FAILED, "try once more"),
        _ => good(asked, back, &file),
    });
    assert_eq!(refused("authentication", &refusing).kind(), ErrorKind::Denied);
    right_or_refused("more", &answering(is_login, |_, back, _| back.send(status::AUTHMORE, b"and now?")));
    let half_way = answering(is_open, |_, back, _| {
        back.send(status::OK, &Protocol { version: 0x511, flags: code::server::GOTO_TLS }.encode())
    });
    right_or_refused("TLS half way", &half_way);
}

#[test]
fn sizes_that_are_not_the_files() {
    let opened = |size: u64| {
        answering(is_open, move |_, back, _| {
            let handle = back.files.to_le_bytes();
            *back.files += 1;
            back.ok(&Open { handle, stat: Some(Stat { size, flags: 16, modified: 1, inode: None }) }.encode())
        })
    };
    for size in [SIZE as u64 + 1, 1 << 40, i64::MAX as u64] {
        let error = refused("larger", &opened(size));
        assert!(error.to_string().contains("fewer bytes") || error.kind() == ErrorKind::Protocol, "{error}");
    }
    // a different size in each session: the file cannot be the same
    let (file, opens) = (noise(SIZE), AtomicUsize::new(0));
    let server = XrdServer::start(move |asked, back| match asked.request {
        Request::Open { .. } if opens.fetch_add(1, Ordering::Relaxed) > 0 => {
            let stat = Stat { size: SIZE as u64 - 1, flags: 16, modified: 1_700_000_000, inode: None };
            let handle = back.files.to_le_bytes();
            *back.files += 1;
            back.ok(&Open { handle, stat: Some(stat) }.encode())
        }
        Request::ReadV(_) if asked.connection == 0 => Then::Close,
        _ => good(asked, back, &file),
    });
    let error = refused("another size", &server);
    assert!(error.to_string().contains("changed"), "{error}");
}

#[test]
fn written_to_and_the_time_set_back() {
    // the modification time is the same, that of the inode is not, or too recent to rely on: the first bytes decide
    for (same, young) in [(true, false), (true, true), (false, false), (false, true)] {
        let (file, written) = (noise(SIZE), Arc::new(AtomicBool::new(false)));
        let mut other = file.clone();
        other[..8].copy_from_slice(b"replaced");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
        let inode = if young { now } else { 1_700_000_000 };
        let flag = Arc::clone(&written);
        let server = XrdServer::start(move |asked, back| {
            let written = flag.load(Ordering::Relaxed);
            let inode = Some(if written && !young { inode + 500 } else { inode });
            let stat = Stat { size: SIZE as u64, flags: 16, modified: 1_700_000_000, inode };
            match asked.request {
                Request::Open { .. } => {
                    let handle = back.files.to_le_bytes();
                    *back.files += 1;
                    back.ok(&Open { handle, stat: Some(stat) }.encode())
                }
                Request::StatOpen { .. } => back.ok(&stat.encode()),
                _ => good(asked, back, if written && !same { &other } else { &file }),
            }
        });
        let (rt, file) = (runtime(), noise(SIZE));
        let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
        written.store(true, Ordering::Relaxed);
        let last = || {
            let sink = Arc::new(common::Collect::default());
            rt.block_on(Arc::clone(&opening.source).fetch_last(vec![Span::new(100_000, 1000)], sink))
        };
        match last() {
            Ok(_) => assert!(same, "young {young}"),
            Err(error) => assert!(!same && error.to_string().contains("first bytes"), "young {young}: {error}"),
        }
        if same && !young {
            let before = server.log().len();
            last().unwrap();
            assert_eq!(server.log().len() - before, 2, "a read and its stat: what was looked at once is known");
        }
    }
}

#[test]
fn pages_that_lie() {
    type Lie = fn(&mut StatusHead, &mut Vec<u8>);
    let lies: [(&str, Lie); 8] = [
        ("another stream", |head, _| head.stream ^= 0x100),
        ("another request", |head, _| head.request = 3013),
        ("a kind that is none", |head, _| head.kind = 3),
        ("only a sign of life", |head, _| head.kind = 2),
        ("another offset", |head, _| head.info[7] ^= 1),
        ("no offset", |head, _| head.info.clear()),
        ("a short page", |_, data| data.truncate(2000)),
        ("too much", |_, data| data.extend([0; 9000])),
    ];
    beside(lies, |(name, lie)| {
        let server = answering(is_page_read, move |asked, back, file| {
            let Request::PageRead { offset, len, .. } = asked.request else { return Then::Close };
            let from = (offset as usize).min(file.len());
            let mut data = encode_pages(offset, &file[from..(from + len as usize).min(file.len())]);
            let info = offset.to_be_bytes().to_vec();
            let mut head = StatusHead { stream: asked.stream, request: 3030, kind: 0, info, len: 0 };
            lie(&mut head, &mut data);
            let mut out = Vec::new();
            encode_status(&head, &data, &mut out);
            back.raw(&out)
        });
        refused(name, &server);
    });
}

#[test]
fn sessions_that_die_at_each_byte() {
    let whole = {
        let (file, sent) = (noise(SIZE), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&sent);
        let server = XrdServer::start(move |asked, back| {
            let before = back.len();
            let then = good(asked, back, &file);
            counted.fetch_add(back.len() - before, Ordering::Relaxed);
            then
        });
        read(&server).unwrap();
        sent.load(Ordering::Relaxed)
    };
    assert!(whole > 10_000, "{whole}");
    // Every byte of the greeting, the login and the open, and some of the data.
    let cuts = (0..260).chain((260..whole).step_by(whole / 40));
    for cut in cuts {
        let (file, left) = (noise(SIZE), Mutex::new(Some(cut)));
        let server = XrdServer::start(move |asked, back| {
            let before = back.len();
            let then = good(asked, back, &file);
            let mut left = left.lock().unwrap();
            match *left {
                Some(n) if n < back.len() - before => {
                    back.truncate(before + n);
                    *left = None;
                    Then::Close
                }
                Some(n) => {
                    *left = Some(n - (back.len() - before));
                    then
                }
                None => then,
            }
        });
        read(&server).unwrap_or_else(|e| panic!("cut at byte {cut}: {e}"));
        assert!(server.log().len() < 40, "cut at byte {cut}: {} requests", server.log().len());
    }
}

#[test]
fn half_a_greeting() {
    for (bytes, then_hang) in
        [(&[0u8, 0, 0][..], true), (&[0, 0, 0, 0, 0, 0, 0, 8, 0, 0], true), (&[0, 0, 0, 0], false)]
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::Relaxed);
                let mut stream = stream;
                let _ = std::io::Write::write_all(&mut stream, bytes);
                if then_hang {
                    open.push(stream);
                }
            }
        });
        let rt = runtime();
        let url = format!("root://127.0.0.1:{port}//f.root");
        let error = open_right(&rt, &url, &impatient(), &[]).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Timeout | ErrorKind::Io), "{error}");
        assert!(connections.load(Ordering::Relaxed) < 12);
    }
}

#[test]
fn every_read_fails_in_its_own_way() {
    beside((3000..3045).chain([0, 1, u32::MAX]), |number| {
        let server = answering(any_read, move |_, back, _| back.fail(number, "no\u{7}"));
        refused(&number.to_string(), &server);
    });
}
