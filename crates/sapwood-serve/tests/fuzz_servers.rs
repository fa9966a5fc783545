//! Both servers, with damaged requests: nothing panics, nothing outside of the directory is returned, and others are
//! served. The damage is the same in every run.

mod common;
#[path = "common/root.rs"]
mod root_client;

use common::{Client, Folder};
use root_client::RootClient;
use sapwood_serve::{ClientLimits, Origin, OriginHandle, OriginOptions};
use sapwood_xrd::{Chunk, Request, greeting};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Conversations for each protocol.
const CONVERSATIONS: u64 = 1500;
const THREADS: u64 = 4;

/// Pseudo-random numbers (SplitMix64).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Damages bytes in a few places: changed, removed, doubled, inserted from elsewhere.
    fn damage(&mut self, bytes: &mut Vec<u8>, from: usize) {
        for _ in 0..self.below(5) {
            let len = bytes.len() - from;
            let at = from + self.below(len);
            let end = (at + 1 + self.below(30)).min(bytes.len());
            match self.below(6) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = [0, 0x7f, 0x80, 0xff, b'\r', b'\n', b':', b'-'][self.below(8)],
                2 => drop(bytes.drain(at..end)),
                3 => {
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
                4 => {
                    let noise: Vec<u8> = (0..self.below(40)).map(|_| self.next() as u8).collect();
                    bytes.splice(at..at, noise);
                }
                _ => bytes.truncate(end),
            }
            if bytes.len() <= from {
                return;
            }
        }
    }
}

/// Sends everything in a few pieces; returns what arrives until the server closes.
fn converse(address: SocketAddr, bytes: &[u8], noise: &mut Noise) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    let cut = noise.below(bytes.len() + 1);
    for piece in [&bytes[..cut], &bytes[cut..]] {
        if stream.write_all(piece).is_err() {
            break;
        }
    }
    // Then it has sent everything. Over HTTP closing here would count as leaving, so it waits a little for answers.
    let (mut all, mut buffer, mut waits) = (Vec::new(), [0; 4096], true);
    stream.set_read_timeout(Some(Duration::from_millis(30))).unwrap();
    loop {
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => all.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                assert!(waits, "it neither answers nor closes: {bytes:?}");
                waits = false;
                let _ = stream.shutdown(Shutdown::Write);
                stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            }
            _ => return all,
        }
    }
}

fn over_http(noise: &mut Noise) -> Vec<u8> {
    let range = ["bytes=0-3,5-7", "bytes=-3", "bytes=5-", "bytes=0-0,1-1,2-2,3-3"][noise.below(4)];
    let path = ["/digits", "/sub/", "/", "/sub/a%20%3cb%3e.txt", "/../root-not/secret"][noise.below(5)];
    let mut text = String::new();
    for _ in 0..1 + noise.below(3) {
        let method = ["GET", "HEAD", "POST"][noise.below(3)];
        text.push_str(&format!(
            "{method} {path}?authz=x HTTP/1.1\r\nHost: localhost\r\nRange: {range}\r\nIf-Range: \"1-2\"\r\n\
             If-None-Match: \"a\", W/\"b\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n"
        ));
    }
    let mut bytes = text.into_bytes();
    noise.damage(&mut bytes, 0);
    bytes.extend(b"GET /digits HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    bytes
}

fn over_root(noise: &mut Noise) -> Vec<u8> {
    let handle = [0, 0, 0, noise.below(2) as u8];
    let chunk = |offset, len| Chunk { handle: [0; 4], offset, len };
    let asked = [
        Request::Protocol { flags: 2, expect: 3 },
        Request::Open { path: "/digits".into(), options: 0x410 },
        Request::Open { path: "/../root-not/secret".into(), options: 16 },
        Request::Read { handle, offset: 3, len: 100, path_id: 0 },
        Request::Read { handle: [0; 4], offset: 0, len: 10, path_id: 3 },
        Request::PageRead { handle: [0; 4], offset: 1, len: 9, path_id: 0, again: true },
        Request::ReadV(vec![chunk(0, 3), chunk(5, 5), chunk(2, 0)]),
        Request::Stat { path: "/sub".into() },
        Request::StatOpen { handle },
        Request::DirList { path: "/".into(), options: 2 },
        Request::Query { kind: 3, words: "/digits?cks.type=crc32c".into() },
        Request::Query { kind: 7, words: "readv_iov_max chksum".into() },
        Request::Locate { path: "*".into(), options: 0 },
        Request::Set("appid x".into()),
        Request::Bind { session: [7; 16] },
        Request::EndSession { session: [7; 16] },
        Request::Close { handle },
        Request::Ping,
    ];
    let mut bytes = greeting().to_vec();
    Request::Login { pid: 1, user: "me".into(), token: "t".into() }.encode(1, &mut bytes);
    Request::Open { path: "/digits".into(), options: 0x410 }.encode(2, &mut bytes);
    // Damage to the greeting itself shows little: the connection is closed.
    let from = [0, 20, bytes.len()][noise.below(20).min(2)];
    for i in 0..1 + noise.below(6) {
        asked[noise.below(asked.len())].encode(i as u16 + 3, &mut bytes);
    }
    noise.damage(&mut bytes, from);
    bytes
}

fn fuzz(server: &OriginHandle, address: SocketAddr, make: fn(&mut Noise) -> Vec<u8>) -> usize {
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let answered = &answered;
            scope.spawn(move || {
                for i in 0..CONVERSATIONS / THREADS {
                    let mut noise = Noise(thread << 32 | i);
                    let bytes = make(&mut noise);
                    let answer = converse(address, &bytes, &mut noise);
                    let has = |what: &[u8]| answer.windows(what.len()).any(|w| w == what);
                    assert!(!has(b"secret"), "{bytes:?}");
                    if has(b"234") || has(b"digits") {
                        answered.fetch_add(1, Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(Client::new(server).get("/digits", "").2, "0123456789");
    let mut root = RootClient::login(server);
    let handle = root.open("/digits").unwrap();
    assert_eq!(root.read(handle, 0, 10).unwrap(), b"0123456789");
    answered.into_inner()
}

#[test]
fn damaged_requests_harm_nobody() {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Relaxed);
        usual(info);
    }));
    let folder = Folder::new();
    let bind_root = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    // A truncated request is waited for no longer than this.
    let limits = ClientLimits { idle: Duration::from_secs(2), ..ClientLimits::default() };
    let server =
        Origin::start(OriginOptions { bind_root, limits, ..OriginOptions::new(folder.0.join("root")) }).unwrap();
    for (address, make) in
        [(server.addr(), over_http as fn(&mut Noise) -> Vec<u8>), (server.root_addr().unwrap(), over_root)]
    {
        let answered = fuzz(&server, address, make);
        assert!(answered > CONVERSATIONS as usize / 10, "only {answered} conversations got anywhere");
    }
    drop(server);
    assert_eq!(PANICS.load(Relaxed), 0, "a task of the server panicked");
}
