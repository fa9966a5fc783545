//! XRootD servers that give false replies about their files, their identity and other servers.

mod common;

use common::xrd_checks::{SIZE, answering, is_open, read, refused};
use common::xrd_scripted::{Asked, Back, Then, XrdServer, good, vector};
use common::{Collect, fetch, impatient, noise, open_right, runtime, scattered};
use sapwood_source::{Hosts, SourceOptions, list, locate};
use sapwood_span::{ErrorKind, Result, Span};
use sapwood_xrd::code::{self, server, status};
use sapwood_xrd::reply::{Login, Open, Protocol, Stat};
use sapwood_xrd::{CHUNK, Request};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn listing(body: Vec<u8>) -> Result<Vec<String>> {
    let is_listing = |r: &Request| matches!(r, Request::DirList { .. });
    let server = answering(is_listing, move |_, back, _| {
        for piece in body.chunks(50_000) {
            back.send(status::OKSOFAR, piece);
        }
        back.ok(b"")
    });
    let rt = runtime();
    let entries = rt.block_on(list(&server.url(), &impatient(), rt.handle()))?;
    Ok(entries.into_iter().map(|e| e.name).collect())
}

#[test]
fn directories_that_lead_elsewhere_or_have_no_end() {
    let with_stats = |names: &[&str]| {
        let lines: String = names.iter().map(|n| format!("{n}\n0 5 16 1\n")).collect();
        format!(".\n0 0 0 0\n{lines}").into_bytes()
    };
    for name in ["../../etc/x", "/etc/x", "a/b", "..", "a\0b", "a\u{1b}[2J", "a\r"] {
        let error = listing(with_stats(&["a.root", name])).expect_err(name);
        assert!(error.to_string().contains("not a valid name in a directory"), "{error}");
        assert!(!error.to_string().chars().any(char::is_control), "{error:?}");
    }
    // a name with a newline is two lines, one of which should be a stat
    assert_eq!(listing(with_stats(&["a\nb"])).unwrap_err().kind(), ErrorKind::Protocol);
    assert_eq!(listing(with_stats(&["b", "a", "b"])).unwrap(), ["a", "b"], "a file that is listed twice is one file");
    let many: Vec<String> = (0..1_000_000).map(|i| format!("{i:07}")).collect();
    assert_eq!(listing((many.join("\n") + "\n").into_bytes()).unwrap().len(), 1_000_000);
    assert!(listing(b"a\n".repeat(5_000_000)).unwrap_err().to_string().contains("too many"));
    let is_listing = |r: &Request| matches!(r, Request::DirList { .. });
    // longer than the timeout, but with data in between
    let slow = answering(is_listing, |asked, back, _| {
        for i in 0..40 {
            back.send(status::OKSOFAR, format!("{i}\n").as_bytes());
        }
        let mut piece = Vec::new();
        sapwood_xrd::frame::encode_reply(asked.stream, status::OKSOFAR, b"x\n", &mut piece);
        Then::Repeat(piece, Duration::from_millis(40), 30)
    });
    let rt = runtime();
    let error = rt.block_on(list(&slow.url(), &impatient(), rt.handle())).unwrap_err();
    assert!(error.to_string().contains("closed"), "it is heard to its end: {error}");
    let endless = answering(is_listing, |asked, _, _| {
        let mut piece = Vec::new();
        sapwood_xrd::frame::encode_reply(asked.stream, status::OKSOFAR, &b"name\n0 1 2 3\n".repeat(4000), &mut piece);
        Then::Repeat(piece, Duration::ZERO, 100_000)
    });
    let error = rt.block_on(list(&endless.url(), &impatient(), rt.handle())).unwrap_err();
    assert!(error.to_string().contains("longer than"), "{error}");
}

#[test]
fn locations_that_are_none() {
    let ask = |answer: Vec<u8>| {
        let is_locate = |r: &Request| matches!(r, Request::Locate { .. });
        let server = answering(is_locate, move |_, back, _| back.ok(&answer));
        let rt = runtime();
        let found = rt.block_on(locate(&server.url(), &impatient(), rt.handle()));
        // a second one where the first broke before its login was through
        assert!(server.connections() <= 2, "{}", server.connections());
        found
    };
    assert_eq!(ask(b"Sr127.0.0.1:1 Sr169.254.169.254:80".to_vec()).unwrap().len(), 2);
    assert_eq!(ask(b"Srh:1 ".repeat(20_000)).unwrap().len(), 20_000);
    assert!(ask(b"Srh:1 ".repeat(100_000)).is_err(), "more than makes sense");
    for bad in ["garbage", "Sr\u{1b}]0;owned\u{7}:1", "Sr127.0.0.1:1\nSr\u{9b}2J"] {
        let error = ask(bad.as_bytes().to_vec()).expect_err(bad);
        assert!(error.kind() == ErrorKind::Protocol && !error.to_string().chars().any(char::is_control), "{error:?}");
    }
}

#[test]
fn listing_follows_a_login_that_is_sent_elsewhere() {
    let is_listing = |r: &Request| matches!(r, Request::DirList { .. });
    let there = answering(is_listing, |_, back, _| back.ok(b"a.root\n"));
    let port = there.port;
    let door = answering(|r| matches!(r, Request::Login { .. }), move |_, back, _| back.redirect(port, ""));
    let rt = runtime();
    let entries = rt.block_on(list(&door.url(), &impatient(), rt.handle())).unwrap();
    assert_eq!(entries.len(), 1);
    let own = Arc::new(AtomicUsize::new(0));
    let here = Arc::clone(&own);
    let circle = answering(
        |r| matches!(r, Request::Login { .. }),
        move |_, back, _| back.redirect(here.load(Ordering::Relaxed) as u16, ""),
    );
    own.store(circle.port.into(), Ordering::Relaxed);
    let error = rt.block_on(list(&circle.url(), &impatient(), rt.handle())).unwrap_err();
    assert!(error.to_string().contains("redirects"), "{error}");
    assert!(circle.connections() <= 20, "{}", circle.connections());
}

fn login(security: &'static str, auth: fn(&Asked, &mut Back) -> Then) -> XrdServer {
    let file = noise(SIZE);
    XrdServer::start(move |asked, back| match asked.request {
        Request::Login { .. } => {
            let session = [asked.connection as u8; 16];
            back.ok(&Login { session, security: security.into() }.encode())
        }
        Request::Auth(_) => auth(asked, back),
        _ => good(asked, back, &file),
    })
}

#[test]
fn authentication_without_end() {
    type Answer = fn(&Asked, &mut Back) -> Then;
    let table: [(&str, &str, Answer); 5] = [
        ("more and more", "&P=unix", |_, back| back.send(status::AUTHMORE, b"more")),
        ("more, of two", "&P=unix&P=host", |_, back| back.send(status::AUTHMORE, &[0xff; 60_000])),
        ("more, twice", "&P=host", |_, back| {
            back.send(status::AUTHMORE, b"");
            back.send(status::AUTHMORE, b"")
        }),
        ("nobody knows them", "&P=krb5,x&P=sss&P=gsi,v:10600&P=\u{1b}[2J", |_, back| back.ok(b"")),
        ("refused", "&P=host&P=unix", |_, back| back.fail(code::error::AUTH_FAILED, "no\u{1b}[2J")),
    ];
    for (name, security, answer) in table {
        let server = login(security, answer);
        let error = refused(name, &server);
        let auths = server.log().iter().filter(|a| matches!(a.request, Request::Auth(_))).count();
        assert!(auths <= 20, "{name}: {auths}");
        assert!(
            matches!(error.kind(), ErrorKind::Denied | ErrorKind::Protocol | ErrorKind::Timeout),
            "{name}: {error}"
        );
    }
    let accepted = login("&P=unix", |asked, back| match asked.request {
        Request::Auth(_) => back.ok(&[0; 60_000]),
        _ => Then::Close,
    });
    read(&accepted).unwrap();
}

#[test]
fn tls_that_is_promised_demanded_or_begun_and_not_there() {
    let flagged = |flags: u32| {
        answering(
            |r| matches!(r, Request::Protocol { .. }),
            move |_, back, _| back.ok(&Protocol { version: 0x0511, flags }.encode()),
        )
    };
    // unmet demands do no harm; a TLS that does not start ends soon and says so
    for flags in
        [server::HAVE_TLS, server::HAVE_TLS | server::TLS_LOGIN, server::TLS_DATA, server::TLS_LOGIN, u32::MAX >> 2]
    {
        let server = flagged(server::DATA | flags);
        if let Err(error) = read(&server) {
            assert!(error.to_string().contains("TLS") || error.kind() == ErrorKind::Timeout, "{flags:x}: {error}");
            refused("flags", &server);
        }
    }
    for flags in [server::GOTO_TLS, server::GOTO_TLS | server::HAVE_TLS, server::TLS_SESSION, u32::MAX] {
        let error = refused("TLS", &flagged(flags));
        assert!(error.to_string().contains("TLS") || error.kind() == ErrorKind::Timeout, "{flags:x}: {error}");
    }
    let (rt, options) = (runtime(), impatient());
    for flags in [0, server::HAVE_TLS, server::TLS_SESSION, server::GOTO_TLS, server::GOTO_TLS | server::HAVE_TLS] {
        let server = flagged(flags);
        let error = open_right(&rt, &server.url().replacen("root:", "roots:", 1), &options, &[]).err().unwrap();
        assert!(error.to_string().contains("TLS") || error.kind() == ErrorKind::Timeout, "{flags:x}: {error}");
        assert!(server.log().iter().all(|a| matches!(a.request, Request::Protocol { .. })), "{:?}", server.log());
    }
    // each request demands TLS, long after it could have started
    for which in [is_open as fn(&Request) -> bool, |r| matches!(r, Request::ReadV(_))] {
        let error =
            refused("demanded late", &answering(which, |_, back, _| back.fail(code::error::TLS_REQUIRED, "TLS!")));
        assert!(error.kind() == ErrorKind::Denied && error.to_string().contains("roots://"), "{error}");
    }
}

/// What a server was asked to open.
fn opened(server: &XrdServer) -> Vec<String> {
    let path = |a: &Asked| match &a.request {
        Request::Open { path, .. } => Some(String::from_utf8_lossy(&path.0).into_owned()),
        _ => None,
    };
    server.log().iter().filter_map(path).collect()
}

#[test]
fn what_redirects_add_is_handed_on_and_leads_nowhere_else() {
    for opaque in ["a=1?b=2", "&&&", "path=/etc/passwd", "../../x", "#fragment", "%00", "authz=GRANTED", "tried=evil"] {
        let file = noise(SIZE);
        let there = XrdServer::start(move |asked, back| good(asked, back, &file));
        let port = there.port;
        let door = answering(is_open, move |_, back, _| back.redirect(port, opaque));
        let url = format!("root://127.0.0.1:{}//f.root?authz=SECRET&x=1", door.port);
        let (rt, file) = (runtime(), noise(SIZE));
        let opening = open_right(&rt, &url, &impatient(), &file).unwrap();
        fetch(&rt, &opening.source, &scattered(10, SIZE as u64), &file).unwrap();
        assert!(opened(&there).iter().all(|path| path.starts_with("/f.root?")), "{opaque}: {:?}", opened(&there));
        assert!(!opening.source.name().contains("SECRET"), "{}", opening.source.name());
    }
}

/// A server behind a connection that outlives it: it no longer knows the session nor the file.
#[test]
fn sessions_that_are_forgotten_are_begun_anew() {
    let file = noise(SIZE);
    let restarted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&restarted);
    let server = XrdServer::start(move |asked, back| {
        if flag.load(Ordering::Relaxed) && asked.connection == 0 {
            return back.fail(code::error::INVALID_REQUEST, "who are you?");
        }
        good(asked, back, &file)
    });
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
    restarted.store(true, Ordering::Relaxed);
    fetch(&rt, &opening.source, &scattered(10, SIZE as u64), &file).unwrap();
    assert_eq!(server.connections(), 2);
}

/// After the server has dropped or forgotten a session, the next request uses another one.
#[test]
fn a_session_that_was_lost_while_it_was_idle_is_no_error() {
    type Answer = fn(&mut Back) -> Then;
    let answers: [(&str, Answer); 2] =
        [("closed", |_| Then::Close), ("forgotten", |back| back.fail(code::error::INVALID_REQUEST, "who are you?"))];
    for (name, answer) in answers {
        for listing in [false, true] {
            let file = noise(SIZE);
            let lost = Arc::new(AtomicBool::new(false));
            let flag = Arc::clone(&lost);
            let server = XrdServer::start(move |asked, back| match asked.request {
                _ if flag.load(Ordering::Relaxed) && asked.connection == 0 => answer(back),
                Request::DirList { .. } => back.ok(b"f.root\n"),
                _ => good(asked, back, &file),
            });
            let (rt, file, options) = (runtime(), noise(SIZE), impatient());
            let _first = open_right(&rt, &server.url(), &options, &file).unwrap();
            lost.store(true, Ordering::Relaxed);
            if listing {
                let entries = rt.block_on(list(&server.url(), &options, rt.handle()));
                assert_eq!(entries.unwrap_or_else(|e| panic!("{name}: {e}")).len(), 1);
            } else {
                open_right(&rt, &server.url(), &options, &file).unwrap_or_else(|e| panic!("{name}: {e}"));
            }
            assert_eq!(server.connections(), 2, "{name}");
        }
    }
}

#[test]
fn a_server_that_forgets_each_session_is_left() {
    let file = noise(SIZE);
    let server = XrdServer::start(move |asked, back| match asked.request {
        Request::ReadV(_) => back.fail(code::error::INVALID_REQUEST, "who are you?"),
        _ => good(asked, back, &file),
    });
    refused("forgetful", &server);
    assert!(server.connections() <= 4, "{}", server.connections());
}

#[test]
fn stats_that_change_their_form() {
    let table: [(&[u8], bool); 8] = [
        (b"0 300000 16 1700000000\0", true),
        (b"77 300000 16 1700000000 1700000001 1700000002 100644 alice users", true),
        (b"0 300000 16 1600000000\0", false),
        (b"0 300001 16 1700000000\0", false),
        // an empty answer is made up for by comparing the first bytes
        (b"", true),
        (b"\xff\xff", true),
        (b"0 300000 16", true),
        (b"0 -1 16 1700000000", true),
    ];
    for (stat, right) in table {
        for same in [true, false] {
            let mut other = noise(SIZE);
            other[..8].copy_from_slice(b"replaced");
            let replaced = Arc::new(AtomicBool::new(false));
            let flag = Arc::clone(&replaced);
            let server = answering(
                |r| !matches!(r, Request::Login { .. } | Request::Protocol { .. } | Request::Open { .. }),
                move |asked, back, file| match &asked.request {
                    Request::StatOpen { .. } => back.ok(stat),
                    _ => good(asked, back, if flag.load(Ordering::Relaxed) { &other } else { file }),
                },
            );
            let (rt, file) = (runtime(), noise(SIZE));
            let opening = open_right(&rt, &server.url(), &impatient(), &file).unwrap();
            replaced.store(!same, Ordering::Relaxed);
            let fetched =
                Arc::clone(&opening.source).fetch_last(vec![Span::new(100_000, 500)], Arc::new(Collect::default()));
            let result = rt.block_on(fetched);
            let told = std::str::from_utf8(stat).is_ok_and(|s| s.starts_with("0 300000 16 17") || s.starts_with("77"));
            if told {
                assert!(result.is_ok(), "{stat:?}: the stat says that nothing changed");
            } else {
                assert_eq!(result.is_ok(), right && same, "{stat:?} same {same}: {:?}", result.err());
            }
        }
    }
}

#[test]
fn opens_that_contradict_the_stat() {
    // no stat comes with the open: the later one counts, and its size is compared with the bytes
    for size in [SIZE as u64, SIZE as u64 + 1, 0, 1, i64::MAX as u64] {
        let server = answering(
            |r| matches!(r, Request::Open { .. } | Request::Stat { .. }),
            move |asked, back, _| match asked.request {
                Request::Open { .. } => {
                    let handle = back.files.to_le_bytes();
                    *back.files += 1;
                    back.ok(&Open { handle, stat: None }.encode())
                }
                _ => back.ok(&Stat { size, flags: 16, modified: 1, inode: None }.encode()),
            },
        );
        let (rt, file) = (runtime(), noise(SIZE));
        let short = &file[..SIZE.min(size as usize)];
        let opened = rt.block_on(sapwood_source::open(&server.url(), &impatient(), rt.handle()));
        match opened {
            Ok(opening) => {
                assert!(size <= SIZE as u64, "{size}");
                assert!(short.starts_with(&opening.head) && short.ends_with(&opening.tail.1), "{size}");
            }
            Err(error) => assert!(size > SIZE as u64, "{size}: {error}"),
        }
    }
}

#[test]
fn vectors_in_another_order_with_overlaps_and_of_other_files() {
    type Change = fn(Vec<Vec<u8>>) -> Vec<Vec<u8>>;
    let table: [(&str, Change, bool); 6] = [
        ("backwards", |p| p.into_iter().rev().collect(), true),
        (
            "one twice",
            |mut p| {
                p.push(p[0].clone());
                p
            },
            false,
        ),
        (
            "one for another",
            |mut p| {
                p[1] = p[0].clone();
                p
            },
            false,
        ),
        (
            "one left out",
            |mut p| {
                p.remove(1);
                p
            },
            true,
        ),
        (
            "of another file",
            |mut p| {
                p[1][0] ^= 1;
                p
            },
            false,
        ),
        (
            "overlapping",
            |mut p| {
                let at = u64::from_be_bytes(p[0][8..16].try_into().unwrap()) + 1;
                p[1][8..16].copy_from_slice(&at.to_be_bytes());
                p
            },
            false,
        ),
    ];
    for (name, change, right) in table {
        let server = answering(
            |r| matches!(r, Request::ReadV(_)),
            move |asked, back, file| {
                let Request::ReadV(chunks) = &asked.request else { return Then::Close };
                let mut body = &vector(&asked.request, file)[..];
                let mut parts = Vec::new();
                for chunk in chunks {
                    let (part, rest) = body.split_at(CHUNK + chunk.len as usize);
                    (body, _) = (rest, parts.push(part.to_vec()));
                }
                back.ok(&change(parts).concat())
            },
        );
        match read(&server) {
            Ok(()) => assert!(right, "{name}"),
            Err(error) => assert!(!right, "{name}: {error}"),
        }
    }
}

/// A redirector with two servers: one that dies in the middle, and one that takes over.
fn fail_over(second: Vec<u8>, modified: &'static Mutex<i64>) -> (XrdServer, XrdServer, XrdServer) {
    let other = second;
    let takes_over = XrdServer::start(move |asked, back| {
        let stat = Stat { size: other.len() as u64, flags: 16, modified: *modified.lock().unwrap(), inode: None };
        match asked.request {
            Request::Open { .. } => {
                let handle = back.files.to_le_bytes();
                *back.files += 1;
                back.ok(&Open { handle, stat: Some(stat) }.encode())
            }
            Request::StatOpen { .. } => back.ok(&stat.encode()),
            _ => good(asked, back, &other),
        }
    });
    let dies = answering(
        |r| matches!(r, Request::ReadV(_)),
        |_, back, _| back.fail(code::error::IO_ERROR, "the disk is gone"),
    );
    let (first, second) = (dies.port, takes_over.port);
    let door = answering(is_open, move |asked, back, _| match &asked.request {
        Request::Open { path, .. } if String::from_utf8_lossy(&path.0).contains("tried=") => back.redirect(second, ""),
        _ => back.redirect(first, ""),
    });
    (door, dies, takes_over)
}

#[test]
fn a_replica_with_other_content_does_not_take_over() {
    static THEN: Mutex<i64> = Mutex::new(1_600_000_000);
    let file = noise(SIZE);
    let mut other = noise(SIZE + 8)[8..].to_vec();
    let (door, _dies, takes_over) = fail_over(other.clone(), &THEN);
    let rt = runtime();
    let options = SourceOptions { hosts: Hosts::default(), ..impatient() };
    let opening = open_right(&rt, &door.url(), &options, &file).unwrap();
    let error = fetch(&rt, &opening.source, &scattered(10, SIZE as u64), &file).unwrap_err();
    assert!(error.to_string().contains("first bytes"), "{error}");
    assert!(!opened(&takes_over).is_empty());
    // one with the same beginning is the file, as far as anything shows
    other[..1000].copy_from_slice(&file[..1000]);
    let (door, _dies, takes_over) = fail_over(file.clone(), &THEN);
    let opening = open_right(&rt, &door.url(), &options, &file).unwrap();
    fetch(&rt, &opening.source, &scattered(10, SIZE as u64), &file).unwrap();
    let before = takes_over.log().len();
    fetch(&rt, &opening.source, &scattered(12, SIZE as u64), &file).unwrap();
    assert!(takes_over.log().len() - before <= 3, "it is looked at once");
}

#[test]
fn a_replica_that_changes_after_it_has_taken_over_is_noticed() {
    static THEN: Mutex<i64> = Mutex::new(1_600_000_000);
    let file = noise(SIZE);
    let (door, _dies, _takes_over) = fail_over(file.clone(), &THEN);
    let rt = runtime();
    let opening = open_right(&rt, &door.url(), &impatient(), &file).unwrap();
    fetch(&rt, &opening.source, &scattered(10, SIZE as u64), &file).unwrap();
    *THEN.lock().unwrap() += 500;
    let last = Arc::clone(&opening.source).fetch_last(vec![Span::new(100_000, 500)], Arc::new(Collect::default()));
    let error = rt.block_on(last).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
}
