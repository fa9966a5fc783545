//! A served directory, and a client that writes raw requests.
#![allow(dead_code)] // each test file uses its own share

use sapwood_serve::{Origin, OriginHandle, OriginOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sapwood-origin-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(folder.0.join("root/sub")).unwrap();
        std::fs::create_dir_all(folder.0.join("root-not")).unwrap();
        std::fs::write(folder.0.join("root/digits"), b"0123456789").unwrap();
        std::fs::write(folder.0.join("root/sub/a <b>.txt"), b"x").unwrap();
        std::fs::write(folder.0.join("root-not/secret"), b"secret").unwrap();
        folder
    }

    pub fn serve(&self) -> OriginHandle {
        Origin::start(OriginOptions::new(self.0.join("root"))).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One connection to a server.
pub struct Client(pub BufReader<TcpStream>);

impl Client {
    pub fn new(server: &OriginHandle) -> Self {
        Self::at(server.addr())
    }

    pub fn at(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).unwrap()))
    }

    /// Sends a request; returns status, head and body.
    pub fn ask(&mut self, method: &str, path: &str, headers: &str) -> (u16, String, String) {
        let text = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(self.0.read_line(&mut head).unwrap(), 0, "the connection was closed: {head}");
        }
        let head = head.to_lowercase();
        let length =
            head.split("content-length: ").nth(1).map_or(0, |l| l.split("\r\n").next().unwrap().parse().unwrap());
        let mut body = vec![0; if method == "HEAD" || head.contains(" 304 ") { 0 } else { length }];
        self.0.read_exact(&mut body).unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head, String::from_utf8(body).unwrap())
    }

    pub fn get(&mut self, path: &str, headers: &str) -> (u16, String, String) {
        self.ask("GET", path, headers)
    }

    /// The ETag of a file, once it has been unchanged long enough to have a strong one.
    pub fn strong_etag(&mut self, path: &str) -> String {
        for _ in 0..500 {
            let (_, head, _) = self.ask("HEAD", path, "");
            let etag = head.split("etag: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
            if !etag.starts_with("w/") {
                return etag;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("its ETag stays weak");
    }
}

/// Memory that this process, including the server, has in use.
pub fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}
