//! Many clients at once, idle, slow and greedy: bounded memory, and others are served meanwhile.
//!
//! In a separate process: the memory of the whole process is counted.

mod common;
#[path = "common/root.rs"]
mod root_client;

use common::{Client, Folder, resident};
use root_client::RootClient;
use rustix::process::{Resource, getrlimit, setrlimit};
use sapwood_serve::{ClientLimits, Origin, OriginHandle, OriginOptions};
use sapwood_xrd::{Request, greeting};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const LARGE: u64 = 256 << 20;
const IDLE: usize = 1000;

fn serve(folder: &Folder) -> OriginHandle {
    std::fs::File::create(folder.0.join("root/large")).unwrap().set_len(LARGE).unwrap();
    let bind_root = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let limits = ClientLimits { connections: 4096, per_address: 4096, ..ClientLimits::default() };
    Origin::start(OriginOptions { bind_root, limits, ..OriginOptions::new(folder.0.join("root")) }).unwrap()
}

fn is_served(server: &OriginHandle) -> bool {
    let mut root = RootClient::login(server);
    let handle = root.open("/digits").unwrap();
    root.read(handle, 0, 100).unwrap() == b"0123456789" && Client::new(server).get("/digits", "").2 == "0123456789"
}

fn get_large(server: &OriginHandle, times: usize) -> TcpStream {
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    // What does not fit into the sockets is not sent: the server does not read on.
    stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let _ = stream.write_all("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(times).as_bytes());
    stream
}

#[test]
fn memory_stays_bounded() {
    let folder = Folder::new();
    let server = serve(&folder);
    assert!(is_served(&server));

    // idle ones
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let before = resident();
    let mut connections: Vec<TcpStream> = Vec::new();
    for i in 0..IDLE {
        let mut http = TcpStream::connect(server.addr()).unwrap();
        // some have sent requests before, some have started to
        let said: &[u8] = [&b""[..], b"GET /dig", b"GET /digits HTTP/1.1\r\nHost: localhost\r\n\r\n"][i % 3];
        http.write_all(said).unwrap();
        let mut root = TcpStream::connect(server.root_addr().unwrap()).unwrap();
        root.write_all(&greeting()[..[0, 7, 20][i % 3]]).unwrap();
        connections.extend([http, root]);
    }
    assert!(is_served(&server));
    let taken = resident().saturating_sub(before);
    println!("{} kB for {} idle connections", taken >> 10, connections.len());
    assert!(taken < 100 << 20, "{} kB for {} idle connections", taken >> 10, connections.len());
    drop(connections);

    // those that request much and read nothing, or slowly
    let before = resident();
    let mut http: Vec<TcpStream> = (0..100).map(|i| get_large(&server, if i % 2 == 0 { 1 } else { 10_000 })).collect();
    let mut root: Vec<RootClient> = (0..100).map(|_| RootClient::login(&server)).collect();
    for client in &mut root {
        let handle = client.open("/large").unwrap();
        for stream in 0..4 {
            client.say(stream, &Request::Read { handle, offset: 0, len: LARGE as u32, path_id: 0 });
        }
    }
    let mut buffer = vec![0; 100_000];
    for _ in 0..3 {
        for stream in http.iter_mut().chain(root.iter_mut().map(|client| &mut client.stream)) {
            let most = buffer.len();
            stream.read_exact(&mut buffer[..most]).unwrap();
        }
        assert!(is_served(&server));
    }
    let taken = resident().saturating_sub(before);
    println!("{} kB for 200 slow clients", taken >> 10);
    assert!(taken < 150 << 20, "{} kB for 200 slow clients", taken >> 10);
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let folder = Folder::new();
    let server = serve(&folder);
    let mut http = Client::new(&server);
    let (last, first) = b"GET /digits HTTP/1.1\r\nHost: localhost\r\nRange: bytes=2-4\r\n\r\n".split_last().unwrap();
    for byte in first {
        http.0.get_mut().write_all(&[*byte]).unwrap();
        http.0.get_mut().flush().unwrap();
    }
    http.0.get_mut().write_all(&[*last]).unwrap();
    let mut answer = Vec::new();
    http.0.get_mut().set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    while !answer.ends_with(b"\r\n\r\n234") {
        let mut byte = [0];
        http.0.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
    let mut bytes = greeting().to_vec();
    Request::Protocol { flags: 0, expect: 3 }.encode(1, &mut bytes);
    Request::Login { pid: 1, user: "me".into(), token: "".into() }.encode(2, &mut bytes);
    Request::Open { path: "/digits".into(), options: 16 }.encode(3, &mut bytes);
    Request::Read { handle: [0; 4], offset: 2, len: 3, path_id: 0 }.encode(4, &mut bytes);
    let mut root = RootClient::connect(&server);
    root.stream.set_nodelay(true).unwrap();
    for byte in bytes {
        root.stream.write_all(&[byte]).unwrap();
    }
    let frames: Vec<_> = (0..5).map(|_| root.frame().unwrap()).collect();
    assert_eq!(
        frames.iter().map(|f| (f.stream, f.status)).collect::<Vec<_>>(),
        [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]
    );
    assert_eq!(frames[4].body, b"234");
}
