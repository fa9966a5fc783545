//! The same directory over the XRootD protocol, with raw requests and this project's own client.

mod common;
#[path = "common/root.rs"]
mod root_client;

use common::Folder;
use root_client::RootClient;
use sapwood_serve::{Origin, OriginHandle, OriginOptions};
use sapwood_source::{Hosts, SourceOptions, open};
use sapwood_xrd::code::{error, status};
use sapwood_xrd::reply::{Stat, entries, locations};
use sapwood_xrd::{Chunk, Request, greeting};
use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

fn options(folder: &Folder) -> OriginOptions {
    let bind_root = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    OriginOptions { bind_root, ..OriginOptions::new(folder.0.join("root")) }
}

fn serve(folder: &Folder) -> OriginHandle {
    Origin::start(options(folder)).unwrap()
}

fn byte(at: usize) -> u8 {
    (at ^ at >> 8 ^ at >> 16) as u8
}

fn large(folder: &Folder, size: usize) -> Vec<u8> {
    let data: Vec<u8> = (0..size).map(byte).collect();
    std::fs::write(folder.0.join("root/large"), &data).unwrap();
    data
}

#[test]
fn every_request() {
    let folder = Folder::new();
    let data = large(&folder, 5_000_000);
    let server = serve(&folder);
    assert_eq!(server.root_url().unwrap(), format!("root://{}//", server.root_addr().unwrap()));
    let mut client = RootClient::login(&server);
    assert_eq!(client.ask(&Request::Ping), Ok(vec![]));
    assert_eq!(client.ask(&Request::Set("appid test".into())), Ok(vec![]));

    let handle = client.open("/large").unwrap();
    assert_eq!(handle, [0; 4], "the first file of a session has the lowest number");
    assert_eq!(client.open("digits").unwrap(), [1, 0, 0, 0]);
    for (offset, len) in [(0, 10), (4_999_990, 10), (123_456, 3_000_000), (0, 5_000_000), (7, 0)] {
        assert!(client.read(handle, offset, len).unwrap() == data[offset as usize..][..len as usize], "{offset}");
    }
    assert_eq!(client.read(handle, 4_999_999, 100).unwrap(), [data[4_999_999]]);
    assert!(client.read(handle, u64::MAX >> 1, i32::MAX as u32).unwrap().is_empty());

    let chunk = |offset, len| Chunk { handle, offset, len };
    let mut chunks: Vec<Chunk> = (0..1000).map(|i| chunk(i * 4999, (i * 37 % 3000) as u32)).collect();
    chunks.extend([chunk(1, 2_097_136), chunk(0, 131_072), chunk(0, 131_073), chunk(5_000_000, 0)]);
    chunks.push(Chunk { handle: [1, 0, 0, 0], offset: 2, len: 3 });
    let body = client.ask(&Request::ReadV(chunks.clone())).unwrap();
    let mut rest = &body[..];
    for c in &chunks {
        let (head, more) = rest.split_at(16);
        assert_eq!(head, [&c.handle[..], &c.len.to_be_bytes(), &c.offset.to_be_bytes()].concat());
        let (bytes, more) = more.split_at(c.len as usize);
        let want = if c.handle == handle { &data[c.offset as usize..][..bytes.len()] } else { b"234" };
        assert!(bytes == want);
        rest = more;
    }
    assert!(rest.is_empty());

    let stat = |body: Vec<u8>| Stat::parse(&body).unwrap();
    assert_eq!(stat(client.ask(&Request::Stat { path: "/large".into() }).unwrap()).size, 5_000_000);
    assert_eq!(stat(client.ask(&Request::StatOpen { handle }).unwrap()).size, 5_000_000);
    assert!(stat(client.ask(&Request::Stat { path: "/sub".into() }).unwrap()).is_dir());
    let list = |body: Vec<u8>| {
        let mut names: Vec<String> = entries(&body).unwrap().into_iter().map(|e| e.name).collect();
        names.sort();
        names
    };
    for options in [0, 2] {
        let body = client.ask(&Request::DirList { path: "/".into(), options }).unwrap();
        assert_eq!(list(body), ["digits", "large", "sub"]);
    }
    let found = locations(&client.ask(&Request::Locate { path: "/large".into(), options: 0 }).unwrap()).unwrap();
    assert_eq!(found[0].address, server.root_addr().unwrap().to_string());
    let sum = client.ask(&Request::Query { kind: 3, words: "/digits".into() }).unwrap();
    assert_eq!(sum, b"adler32 0aff020e\0");
    assert_eq!(client.ask(&Request::Close { handle }), Ok(vec![]));

    for (request, number) in [
        (Request::Close { handle }, error::FILE_NOT_OPEN),
        (Request::Read { handle, offset: 0, len: 1, path_id: 0 }, error::FILE_NOT_OPEN),
        (Request::StatOpen { handle: [9; 4] }, error::FILE_NOT_OPEN),
        (Request::ReadV(vec![chunk(0, 1)]), error::FILE_NOT_OPEN),
        (Request::Open { path: "/sub".into(), options: 16 }, error::IS_DIRECTORY),
        (Request::Open { path: "/digits/".into(), options: 16 }, error::NOT_FOUND),
        (Request::Open { path: "/digits".into(), options: 32 }, error::READ_ONLY),
        (Request::Open { path: "/new".into(), options: 8 | 0x8000 }, error::READ_ONLY),
        (Request::Open { path: "/../root-not/secret".into(), options: 16 }, error::NOT_FOUND),
        (Request::DirList { path: "/digits".into(), options: 0 }, error::FS_ERROR),
        (Request::DirList { path: "/".into(), options: 4 }, error::UNSUPPORTED),
        (Request::Query { kind: 3, words: "/digits?cks.type=md5".into() }, error::UNSUPPORTED),
        (Request::Query { kind: 5, words: "/".into() }, error::UNSUPPORTED),
        (Request::Locate { path: "/nothing".into(), options: 0 }, error::NOT_FOUND),
        (Request::Login { pid: 1, user: "me".into(), token: "".into() }, error::INVALID_REQUEST),
        (Request::Auth("unix".into()), error::INVALID_REQUEST),
    ] {
        assert_eq!(client.ask(&request), Err(number), "{request:?}");
    }
    let log = server.requests();
    let opens: Vec<_> = log.iter().filter(|r| r.method == "open").map(|r| (r.path.as_str(), r.status)).collect();
    assert_eq!(opens[..3], [("/large", 0), ("/digits", 0), ("/sub", 3016)]);
    assert_eq!(log.iter().find(|r| r.method == "readv").map(|r| r.ranges.len()), Some(1005));
}

#[test]
fn page_reads_have_a_checksum_for_each_page() {
    let folder = Folder::new();
    let data = large(&folder, 1_000_000);
    let server = serve(&folder);
    let mut client = RootClient::login(&server);
    let handle = client.open("/large").unwrap();
    for (offset, len) in [(0usize, 1_000_000usize), (5000, 300_000), (999_999, 100), (1_000_000, 5)] {
        client.say(3, &Request::PageRead { handle, offset: offset as u64, len: len as u32, path_id: 0, again: false });
        let mut at = offset;
        loop {
            let frame = client.frame().unwrap();
            assert_eq!((frame.stream, frame.status), (3, status::STATUS));
            assert_eq!(frame.body[16..24], (at as u64).to_be_bytes());
            let mut rest = &frame.body[24..];
            while !rest.is_empty() {
                let page = (4096 - at % 4096).min(rest.len() - 4);
                let (sum, more) = rest.split_at(4);
                let (bytes, more) = more.split_at(page);
                assert!(bytes == &data[at..at + page]);
                assert_eq!(sum, sapwood_xrd::checksum::crc32c(bytes).to_be_bytes());
                (at, rest) = (at + page, more);
            }
            // 0: the last one
            if frame.body[7] == 0 {
                break;
            }
        }
        assert_eq!(at, (offset + len).min(data.len()));
    }
}

#[test]
fn everything_said_at_once_is_answered_in_one_flight() {
    let folder = Folder::new();
    let server = serve(&folder);
    let mut client = RootClient::connect(&server);
    let mut bytes = greeting().to_vec();
    Request::Protocol { flags: 2, expect: 3 }.encode(1, &mut bytes);
    Request::Login { pid: 1, user: "me".into(), token: "".into() }.encode(2, &mut bytes);
    Request::Open { path: "/digits".into(), options: 0x410 }.encode(3, &mut bytes);
    Request::Read { handle: [0; 4], offset: 2, len: 3, path_id: 0 }.encode(4, &mut bytes);
    client.stream.write_all(&bytes).unwrap();
    let frames: Vec<_> = (0..5).map(|_| client.frame().unwrap()).collect();
    assert!(frames.iter().map(|f| (f.stream, f.status)).eq((0..5).map(|i| (i, 0))), "{frames:?}");
    assert_eq!(frames[4].body, b"234");
}

#[test]
fn data_come_on_the_link_that_was_asked_for() {
    let folder = Folder::new();
    let data = large(&folder, 1_000_000);
    let server = serve(&folder);
    let mut control = RootClient::login(&server);
    let handle = control.open("/large").unwrap();
    let mut other = RootClient::greeted(&server);
    assert_eq!(other.ask(&Request::Bind { session: [1; 16] }), Err(error::NOT_FOUND), "its name is not known");
    assert_eq!(other.ask(&Request::Bind { session: control.session }), Ok(vec![1]));
    assert_eq!(other.ask(&Request::Ping), Err(error::INVALID_REQUEST), "nothing is asked on data links");
    control.say(5, &Request::Read { handle, offset: 1, len: 999_999, path_id: 1 });
    assert!(other.answer().unwrap().unwrap() == data[1..]);
    // where there is no such link, they come on this one
    let far = Request::Read { handle, offset: 1, len: 5, path_id: 9 };
    assert_eq!(control.ask(&far).unwrap(), data[1..6]);
    for expected in 2..=15 {
        let mut link = RootClient::greeted(&server);
        assert_eq!(link.ask(&Request::Bind { session: control.session }), Ok(vec![expected]));
        std::mem::forget(link);
    }
    let mut link = RootClient::greeted(&server);
    assert_eq!(link.ask(&Request::Bind { session: control.session }), Err(error::OVERLOADED));
    drop(control);
    assert!(other.is_closed(), "data links end with their session");
}

#[test]
fn a_session_is_ended_by_another_one_of_its_client() {
    let folder = Folder::new();
    let server = serve(&folder);
    let (mut lost, mut client) = (RootClient::login(&server), RootClient::login(&server));
    assert_eq!(client.ask(&Request::EndSession { session: [3; 16] }), Ok(vec![]));
    assert_eq!(client.ask(&Request::EndSession { session: client.session }), Ok(vec![]));
    assert_eq!(client.ask(&Request::EndSession { session: lost.session }), Ok(vec![]));
    assert!(lost.is_closed());
    assert_eq!(client.ask(&Request::Ping), Ok(vec![]), "its own goes on");
}

/// A slow checksum is announced, and comes later.
#[test]
fn who_waits_for_a_checksum_hears_of_it() {
    let folder = Folder::new();
    File::create(folder.0.join("root/large")).unwrap().set_len(128 << 20).unwrap();
    let server = Origin::start(OriginOptions { patience: Duration::ZERO, ..options(&folder) }).unwrap();
    let mut client = RootClient::login(&server);
    client.say(9, &Request::Query { kind: 3, words: "/large?cks.type=crc32c".into() });
    let first = client.frame().unwrap();
    assert_eq!((first.stream, first.status), (9, status::WAITRESP));
    assert_eq!(client.ask(&Request::Ping), Ok(vec![]), "others are answered meanwhile");
    let late = client.frame().unwrap();
    assert_eq!((late.status, &late.body[..4]), (status::ATTN, &5008u32.to_be_bytes()[..]));
    assert_eq!(late.body[8..12], [0, 9, 0, 0]);
    assert!(late.body[16..].starts_with(b"crc32c "), "{late:?}");
}

/// Reads around a change: the bytes are of one version, and the answer ends in an error or with the connection.
#[test]
fn an_answer_ends_when_its_file_changes() {
    const SIZE: u64 = 96 << 20;
    let folder = Folder::new();
    let server = serve(&folder);
    let path = folder.0.join("root/large");
    let chunks = |handle| (0..48).map(|i| Chunk { handle, offset: i << 21, len: 2_000_000 }).collect();
    type Ask<'a> = &'a dyn Fn([u8; 4]) -> Request;
    let asks: [Ask; 3] = [
        &|handle| Request::Read { handle, offset: 0, len: SIZE as u32, path_id: 0 },
        &|handle| Request::PageRead { handle, offset: 0, len: SIZE as u32, path_id: 0, again: false },
        &|handle| Request::ReadV(chunks(handle)),
    ];
    for ask in asks {
        File::create(&path).unwrap().set_len(SIZE).unwrap();
        let mut client = RootClient::login(&server);
        let handle = client.open("/large").unwrap();
        client.say(1, &ask(handle));
        let mut got = client.frame().unwrap();
        File::options().write(true).open(&path).unwrap().write_all_at(&[b'n'; 100_000], SIZE - 2_000_000).unwrap();
        let mut frames = 0;
        let ended = loop {
            assert!(!got.body.ends_with(b"n"), "bytes of another version");
            assert!(got.status != status::OK, "it does not come to its end");
            if got.status == status::STATUS {
                assert_eq!(got.body[7], 1, "it does not come to its end");
            }
            match client.frame() {
                Ok(frame) if frame.status == status::ERROR => break Some(frame),
                Ok(frame) => got = frame,
                // in the middle of a long range
                Err(_) => break None,
            }
            frames += 1;
        };
        assert!(frames < 768);
        if let Some(frame) = ended {
            assert_eq!(frame.body[..4], error::CANCELLED.to_be_bytes());
            assert_eq!(client.read(handle, 0, 10), Err(error::CANCELLED), "and it stays so");
        }
    }
}

#[test]
fn a_folder_of_many_entries_is_listed_to_its_end() {
    let folder = Folder::new();
    let name = |i| format!("{i:05}-{}", "x".repeat(100));
    for i in 0..3000 {
        File::create(folder.0.join("root/sub").join(name(i))).unwrap();
    }
    File::create(folder.0.join("root/sub/two\nlines")).unwrap();
    let server = serve(&folder);
    for options in [0, 2] {
        let mut client = RootClient::login(&server);
        let body = client.ask(&Request::DirList { path: "/sub".into(), options }).unwrap();
        let listed = entries(&body).unwrap();
        assert_eq!(listed.len(), 3001);
        assert!((0..3000).all(|i| listed.iter().any(|e| e.name == name(i))));
    }
}

#[test]
fn it_plays_a_server_far_away() {
    let folder = Folder::new();
    let delay = Duration::from_millis(40);
    let server = Origin::start(OriginOptions { delay, ..options(&folder) }).unwrap();
    let begin = Instant::now();
    let mut client = RootClient::login(&server);
    client.open("/digits").unwrap();
    // connecting, greeting, login, open: it never takes less
    assert!(begin.elapsed() >= delay * 4);
}

#[test]
fn our_own_client_opens_and_reads_in_two_flights() {
    let folder = Folder::new();
    let data = large(&folder, 300_000);
    let server = serve(&folder);
    let rt = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let options = SourceOptions { head: 1000, tail: 2000, hosts: Hosts::default(), ..SourceOptions::default() };
    let url = server.root_url().unwrap() + "large";
    let opening = rt.block_on(open(&url, &options, rt.handle())).unwrap();
    assert_eq!(opening.size, 300_000);
    assert!(opening.tail.1 == data[298_000..]);
    let log: Vec<_> = server.requests().into_iter().map(|r| r.method).collect();
    assert_eq!(log.iter().filter(|m| *m == "open").count(), 1, "{log:?}");
    assert!(log.len() <= 3, "{log:?}");
}
