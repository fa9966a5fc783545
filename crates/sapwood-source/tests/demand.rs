//! A small read that a caller waits for, while much prefetching is in flight: at real servers.

mod common;

use common::servers::{Folder, nginx, xrootd_native};
use common::{Collect, fetch, impatient, noise, open_right, runtime};
use sapwood_source::SourceOptions;
use sapwood_span::Span;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const SIZE: usize = 10 << 20;
/// The prefetched span.
const BULK: Span = Span { start: 1 << 20, len: 8 << 20 };
/// What each connection brings before the path becomes narrow.
const NARROW: usize = 300_000;

/// Forwards bytes; of what a server sends only this many over each connection, until it is opened.
struct Narrow {
    port: u16,
    open: Arc<(Mutex<bool>, Condvar)>,
}

impl Narrow {
    fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let narrow = Self { port: listener.local_addr().unwrap().port(), open: Arc::default() };
        let open = Arc::clone(&narrow.open);
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let (Ok(near), Ok(far)) = (near, TcpStream::connect(("127.0.0.1", server))) else { return };
                let (from, to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                std::thread::spawn(move || pass(from, to, usize::MAX, None));
                let open = Arc::clone(&open);
                std::thread::spawn(move || pass(far, near, NARROW, Some(&open)));
            }
        });
        narrow
    }

    fn open(&self) {
        *self.open.0.lock().unwrap() = true;
        self.open.1.notify_all();
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, most: usize, open: Option<&(Mutex<bool>, Condvar)>) {
    let (mut buffer, mut passed) = ([0; 16 << 10], 0);
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        passed += n;
        if let (true, Some((open, told))) = (passed > most, open) {
            drop(told.wait_while(open.lock().unwrap(), |open| !*open).unwrap());
        }
        if to.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
}

fn a_small_read_does_not_wait(scheme: &str, port: u16, most_requests: u64) {
    let narrow = Narrow::before(port);
    let (rt, file) = (runtime(), noise(SIZE));
    let url = format!("{scheme}://127.0.0.1:{}//large.root", narrow.port);
    // the test must not pass because of the timeout
    let options = SourceOptions { progress_timeout: Duration::from_secs(60), ..impatient() };
    let opening = open_right(&rt, &url, &options, &file).unwrap();
    let sink = Arc::new(Collect::default());
    let bulk = rt.spawn(Arc::clone(&opening.source).fetch(vec![BULK], sink));
    while opening.source.stats().wire < 100_000 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let before = opening.source.stats();
    for at in [77, SIZE as u64 / 2, SIZE as u64 - 1000] {
        fetch(&rt, &opening.source, &[Span::new(at, 100)], &file).unwrap();
    }
    assert!(!bulk.is_finished(), "8 MB cannot have come over so narrow a way");
    let after = opening.source.stats();
    assert!(after.requests - before.requests <= most_requests, "{before:?} {after:?}");
    // one connection more, and its first answer: the most that the first of the three can have waited
    assert!(after.connections - before.connections <= 1, "{before:?} {after:?}");
    assert!(after.round_trips - before.round_trips <= 5, "{before:?} {after:?}");
    narrow.open();
    let report = rt.block_on(bulk).unwrap().unwrap();
    assert_eq!(report.payload, BULK.len);
    assert_eq!(report.retries, 0);
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("large.root", &noise(SIZE));
    folder
}

#[test]
fn nginx_answers_it_over_another_connection() {
    if let Some(server) = nginx(folder(), "") {
        a_small_read_does_not_wait("http", server.port, 3);
    }
}

#[test]
fn xrootd_answers_it_over_another_session_or_link() {
    if let Some(server) = xrootd_native(folder(), "") {
        // in another session the file has to be opened, and the first bytes are read as well
        a_small_read_does_not_wait("root", server.port, 5);
    }
}
