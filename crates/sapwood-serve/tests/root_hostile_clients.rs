//! Malicious clients of the XRootD protocol: others are still served, within bounded memory.

mod common;
#[path = "common/root.rs"]
mod root_client;

use common::{Folder, resident};
use root_client::RootClient;
use sapwood_serve::{ClientLimits, Origin, OriginHandle, OriginOptions};
use sapwood_xrd::code::error;
use sapwood_xrd::{Chunk, Request, greeting};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::symlink;
use std::time::Duration;

fn serve(folder: &Folder, limits: ClientLimits) -> OriginHandle {
    let bind_root = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    Origin::start(OriginOptions { limits, bind_root, ..OriginOptions::new(folder.0.join("root")) }).unwrap()
}

fn large(folder: &Folder) {
    std::fs::File::create(folder.0.join("root/large")).unwrap().set_len(256 << 20).unwrap();
}

/// Sends a request over a separate session; returns whether it was answered.
fn is_served(server: &OriginHandle) -> bool {
    let mut client = RootClient::connect(server);
    if client.stream.write_all(&greeting()).is_err() || client.frame().is_err() {
        return false;
    }
    let login = Request::Login { pid: 1, user: "me".into(), token: "".into() };
    client.ask(&login).is_ok() && {
        let handle = client.open("/digits").unwrap();
        client.read(handle, 0, 100).unwrap() == b"0123456789"
    }
}

/// The largest vector read: two gigabytes.
fn greedy(handle: [u8; 4]) -> Request {
    Request::ReadV((0..1024).map(|i| Chunk { handle, offset: i, len: 2_097_136 }).collect())
}

#[test]
fn greedy_clients_take_little_memory_and_stop_no_other() {
    let folder = Folder::new();
    large(&folder);
    let server = serve(&folder, ClientLimits::default());
    assert!(is_served(&server));
    let before = resident();
    let mut clients: Vec<RootClient> = (0..60).map(|_| RootClient::login(&server)).collect();
    for client in &mut clients {
        let handle = client.open("/large").unwrap();
        for _ in 0..20 {
            client.say(1, &greedy(handle));
        }
        client.say(2, &Request::Read { handle, offset: 0, len: i32::MAX as u32, path_id: 0 });
    }
    // each answer has started: all its memory is in use now
    for client in &mut clients {
        client.stream.peek(&mut [0; 8]).unwrap();
    }
    assert!(is_served(&server));
    let taken = resident().saturating_sub(before);
    // four answers of 2 MB at once would be 480 MB
    assert!(taken < 100 << 20, "{} kB for 60 clients that asked for 2.4 TB", taken >> 10);
}

#[test]
fn clients_that_read_nothing_are_cut_off() {
    let folder = Folder::new();
    large(&folder);
    let limits = ClientLimits { connections: 8, stall: Duration::from_millis(300), ..ClientLimits::default() };
    let server = serve(&folder, limits);
    let mut clients: Vec<RootClient> = (0..8).map(|_| RootClient::login(&server)).collect();
    for client in &mut clients {
        let handle = client.open("/large").unwrap();
        client.say(1, &greedy(handle));
    }
    let tries = (0..200).find(|_| {
        std::thread::sleep(Duration::from_millis(20));
        is_served(&server)
    });
    assert!(tries.is_some(), "those who read nothing hold all places");
}

#[test]
fn idle_sessions_make_room() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits { connections: 20, ..ClientLimits::default() });
    let mut clients: Vec<RootClient> = (0..200).map(|_| RootClient::login(&server)).collect();
    assert!(is_served(&server));
    assert!(clients.remove(0).is_closed(), "the oldest");
    assert_eq!(clients.last_mut().unwrap().ask(&Request::Ping), Ok(vec![]));
}

#[test]
fn a_login_that_never_comes_is_not_waited_for() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits { idle: Duration::from_millis(300), ..ClientLimits::default() });
    assert!(RootClient::connect(&server).is_closed());
    assert!(RootClient::greeted(&server).is_closed());
    let mut half = RootClient::connect(&server);
    half.stream.write_all(&greeting()[..19]).unwrap();
    assert!(half.is_closed());
    // pings before the login do not reset the timeout
    let mut pinging = RootClient::greeted(&server);
    let pings = (0..400).take_while(|_| {
        std::thread::sleep(Duration::from_millis(20));
        let mut ping = Vec::new();
        Request::Ping.encode(1, &mut ping);
        pinging.stream.write_all(&ping).is_ok()
    });
    assert!(pings.count() < 400);
}

#[test]
fn a_request_that_never_ends_is_not_waited_for() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits { idle: Duration::from_millis(300), ..ClientLimits::default() });
    let mut bytes = Vec::new();
    Request::Open { path: "/digits".into(), options: 16 }.encode(1, &mut bytes);
    for cut in [1, 24, bytes.len() - 1] {
        let mut client = RootClient::login(&server);
        client.stream.write_all(&bytes[..cut]).unwrap();
        assert!(client.is_closed(), "{cut}");
    }
    // byte by byte
    let mut slow = RootClient::login(&server);
    slow.stream.write_all(&[&bytes[..20], &60_000u32.to_be_bytes()].concat()).unwrap();
    let written = (0..400).take_while(|_| {
        std::thread::sleep(Duration::from_millis(20));
        slow.stream.write_all(b"x").is_ok()
    });
    assert!(written.count() < 400);
}

#[test]
fn an_idle_session_is_closed_in_the_end() {
    let folder = Folder::new();
    let limits = ClientLimits { idle_session: Duration::from_millis(200), ..ClientLimits::default() };
    let server = serve(&folder, limits);
    assert!(RootClient::login(&server).is_closed());
}

#[test]
fn what_is_not_the_protocol_is_closed_at_once() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits::default());
    for bytes in [&b"GET /digits HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], &[0; 20], &[0xff; 100]] {
        let mut client = RootClient::connect(&server);
        let _ = client.stream.write_all(bytes);
        assert!(client.is_closed());
    }
    // payloads of impossible length
    for len in [-1, i32::MAX, 1 << 20] {
        let mut client = RootClient::login(&server);
        let head = [&[0, 1], &3010u16.to_be_bytes()[..], &[0; 16], &i32::to_be_bytes(len)].concat();
        client.stream.write_all(&head).unwrap();
        assert!(client.is_closed(), "{len}");
    }
    assert!(is_served(&server));
}

#[test]
fn lengths_and_handles_are_looked_at_before_they_are_used() {
    let folder = Folder::new();
    large(&folder);
    let server = serve(&folder, ClientLimits::default());
    let mut client = RootClient::greeted(&server);
    let open = Request::Open { path: "/digits".into(), options: 16 };
    assert_eq!(client.ask(&open), Err(error::INVALID_REQUEST), "not before the login");
    let mut client = RootClient::login(&server);
    let handle = client.open("/large").unwrap();
    let chunk = |offset, len| Chunk { handle, offset, len };
    for (request, number) in [
        (Request::Read { handle: [7; 4], offset: 0, len: 1, path_id: 0 }, error::FILE_NOT_OPEN),
        (Request::Read { handle: [0xff; 4], offset: 0, len: 1, path_id: 0 }, error::FILE_NOT_OPEN),
        (Request::Read { handle, offset: 1 << 63, len: 1, path_id: 0 }, error::ARG_INVALID),
        (Request::Read { handle, offset: 0, len: 1 << 31, path_id: 0 }, error::ARG_INVALID),
        (Request::PageRead { handle, offset: 0, len: 1 << 31, path_id: 0, again: false }, error::ARG_INVALID),
        (Request::ReadV(vec![chunk(0, 1 << 31)]), error::ARG_INVALID),
        (Request::ReadV(vec![chunk(1 << 63, 1)]), error::ARG_INVALID),
        (Request::ReadV(vec![chunk(0, 1), chunk((1 << 63) - 1, 1)]), error::FS_ERROR),
        (Request::ReadV(vec![chunk(0, 2_097_137)]), error::NO_MEMORY),
        (Request::ReadV(vec![chunk(0, 1); 1025]), error::ARG_TOO_LONG),
        (Request::ReadV(vec![]), error::ARG_INVALID),
        (Request::Open { path: "/".repeat(10_000).as_str().into(), options: 16 }, error::IS_DIRECTORY),
        (Request::Open { path: "x".repeat(60_000).as_str().into(), options: 16 }, error::NOT_FOUND),
        (Request::Open { path: "".into(), options: 16 }, error::IS_DIRECTORY),
    ] {
        assert_eq!(client.ask(&request), Err(number));
    }
}

#[test]
fn nobody_opens_all_files_there_can_be() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits { files_per_address: 3, ..ClientLimits::default() });
    let mut client = RootClient::login(&server);
    let handles: Vec<_> = (0..3).map(|_| client.open("/digits").unwrap()).collect();
    assert_eq!(client.open("/digits"), Err(error::OVERLOADED));
    client.ask(&Request::Close { handle: handles[1] }).unwrap();
    assert_eq!(client.open("/digits"), Ok(handles[1]), "its number is free again");
    assert_eq!(client.open("/nothing"), Err(error::OVERLOADED));
    drop(client);
    let freed = (0..200).find(|_| {
        std::thread::sleep(Duration::from_millis(20));
        RootClient::login(&server).open("/digits").is_ok()
    });
    assert!(freed.is_some(), "files are closed with their session");
}

#[test]
fn links_lead_nowhere_else() {
    let folder = Folder::new();
    let root = folder.0.join("root");
    symlink("../../root-not/secret", root.join("sub/out")).unwrap();
    symlink("../digits", root.join("sub/in")).unwrap();
    let server = serve(&folder, ClientLimits::default());
    let mut client = RootClient::login(&server);
    for path in ["/sub/out", "/sub/../../root-not/secret", "/../root-not/secret", "../root-not/secret", "/sub/.."] {
        assert_eq!(client.open(path), Err(error::NOT_FOUND), "{path}");
        assert_eq!(client.ask(&Request::Stat { path: path.into() }), Err(error::NOT_FOUND), "{path}");
        assert_eq!(client.ask(&Request::DirList { path: path.into(), options: 0 }), Err(error::NOT_FOUND), "{path}");
    }
    let handle = client.open("/sub/in").unwrap();
    assert_eq!(client.read(handle, 0, 3).unwrap(), b"012");
    let listed = client.ask(&Request::DirList { path: "/sub".into(), options: 0 }).unwrap();
    let listed = String::from_utf8(listed).unwrap();
    assert!(listed.contains("in") && !listed.contains("out"), "{listed}");
}
