//! An origin that counts requests, a proxy in front of it, and clients of both protocols.
#![allow(dead_code)] // each test file uses its own share

#[path = "../../../sapwood-source/tests/common/ports.rs"]
pub mod ports;

use bytes::Bytes;
use sapwood_proxy::{Proxy, ProxyHandle, ProxyOptions};
use sapwood_serve::{Origin, OriginHandle, OriginOptions, Served};
use sapwood_source::{Hosts, Sink, Source, SourceOptions};
use sapwood_span::Span;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// A directory that is removed in the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sapwood-proxied-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(folder.0.join("files/sub")).unwrap();
        folder
    }

    /// Writes a file that looks unchanged for a while.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        self.write_at(name, bytes, Duration::from_secs(3600));
    }

    pub fn write_at(&self, name: &str, bytes: &[u8], ago: Duration) {
        let path = self.0.join("files").join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - ago).unwrap();
    }

    pub fn origin(&self) -> OriginHandle {
        self.origin_with(|_| ())
    }

    pub fn origin_with(&self, set: impl FnOnce(&mut OriginOptions)) -> OriginHandle {
        let mut options = OriginOptions::new(self.0.join("files"));
        options.bind_root = Some("127.0.0.1:0".parse().unwrap());
        set(&mut options);
        Origin::start(options).unwrap()
    }

    /// A proxy with a store in this directory.
    pub fn proxy(&self, origin: impl Into<String>) -> ProxyHandle {
        Proxy::start(self.options(origin)).unwrap()
    }

    pub fn options(&self, origin: impl Into<String>) -> ProxyOptions {
        let server = sapwood_serve::ServerOptions::default().root(Some("127.0.0.1:0".parse().unwrap()));
        ProxyOptions::default().origins(vec![origin.into()]).cache_directory(Some(self.0.join("cache"))).server(server)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Pseudo-random bytes: no two places are alike.
pub fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut out: Vec<u8> = (0..len.div_ceil(8)).flat_map(|_| next().to_le_bytes()).collect();
    out.truncate(len);
    out
}

/// Bytes of bodies that an origin sent.
pub fn sent(origin: &OriginHandle) -> u64 {
    origin.requests().iter().map(|served: &Served| served.bytes).sum()
}

/// One answer over HTTP.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    /// Whether the connection was closed before its end.
    pub is_cut: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Sends a request over a separate connection. `url`: with its path; `headers`: each with its line end.
pub fn ask(method: &str, url: &str, headers: &str) -> Answer {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = BufReader::new(TcpStream::connect(host).unwrap());
    let text = format!("{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
    stream.get_mut().write_all(text.as_bytes()).unwrap();
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).unwrap(), 0, "the connection was closed: {head}");
    }
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut answer = Answer { status, head, body: Vec::new(), is_cut: false };
    let length: usize = answer.header("content-length").map_or(0, |l| l.parse().unwrap());
    if method != "HEAD" && status != 304 {
        let read = stream.read_to_end(&mut answer.body);
        answer.is_cut = read.is_err() || answer.body.len() < length;
    }
    answer
}

pub fn get(url: &str) -> Answer {
    ask("GET", url, "")
}

pub fn range(url: &str, from: u64, len: u64) -> Answer {
    ask("GET", url, &format!("Range: bytes={from}-{}\r\n", from + len - 1))
}

/// A separate client, of either protocol.
pub struct Reader {
    source: Arc<dyn Source>,
    pub size: u64,
    runtime: tokio::runtime::Runtime,
}

struct Parts(Mutex<Vec<Option<Bytes>>>);

impl Sink for Parts {
    fn part(&self, index: usize, bytes: Bytes) {
        self.0.lock().unwrap()[index] = Some(bytes);
    }
}

impl Reader {
    pub fn open(url: &str) -> sapwood_span::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let handle = runtime.handle().clone();
        let options = SourceOptions {
            head: 16,
            tail: 1,
            tail_later: true,
            hosts: Hosts::default(),
            retries: 0,
            token: Some(String::new()),
            ..SourceOptions::default()
        };
        let opening = runtime.block_on(sapwood_source::open(url, &options, &handle))?;
        Ok(Self { source: opening.source, size: opening.size, runtime })
    }

    pub fn read(&self, spans: &[(u64, u64)]) -> sapwood_span::Result<Vec<Bytes>> {
        let spans: Vec<Span> = spans.iter().map(|&(start, len)| Span::new(start, len)).collect();
        let parts = Arc::new(Parts(Mutex::new(vec![None; spans.len()])));
        self.runtime.block_on(Arc::clone(&self.source).fetch(spans, Arc::<Parts>::clone(&parts)))?;
        Ok(parts.0.lock().unwrap().iter_mut().map(|part| part.take().unwrap()).collect())
    }
}
