//! A network that goes down and comes back.

mod common;

use common::ports::free_port;
use common::xrd_scripted::{XrdServer, good};
use common::{fetch, impatient, noise, open_right, runtime, scattered};
use sapwood_source::SourceOptions;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

const SIZE: usize = 1_000_000;

/// Forwards bytes, until it is cut: then open connections are silent forever, and new ones are refused.
struct Wire {
    port: u16,
    server: u16,
    /// Counts cuts: connections from before a cut are dead.
    time: Arc<AtomicUsize>,
    listener: Mutex<Option<TcpListener>>,
}

impl Wire {
    fn to(server: u16) -> Self {
        let port = free_port();
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let wire = Self { port, server, time: Arc::default(), listener: Mutex::new(Some(listener)) };
        wire.serve();
        wire
    }

    fn serve(&self) {
        let listener = self.listener.lock().unwrap().as_ref().unwrap().try_clone().unwrap();
        let (time, now, server) = (Arc::clone(&self.time), self.time.load(Ordering::SeqCst), self.server);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if time.load(Ordering::SeqCst) != now {
                    return;
                }
                let (Ok(near), Ok(far)) = (stream, TcpStream::connect(("127.0.0.1", server))) else { return };
                for (from, to) in [(near.try_clone(), far.try_clone()), (far.try_clone(), near.try_clone())] {
                    let (from, to, time) = (from.unwrap(), to.unwrap(), Arc::clone(&time));
                    std::thread::spawn(move || pass(from, to, &time, now));
                }
            }
        });
    }

    fn cut(&self) {
        self.time.fetch_add(1, Ordering::SeqCst);
        // The accepting thread releases the port.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        *self.listener.lock().unwrap() = None;
    }

    fn mend(&self) {
        *self.listener.lock().unwrap() = Some(TcpListener::bind(("127.0.0.1", self.port)).unwrap());
        self.serve();
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, time: &AtomicUsize, then: usize) {
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        if time.load(Ordering::SeqCst) != then {
            // Discarded, and the connection left open, for as long as the test runs.
            loop {
                std::thread::park();
            }
        }
        if to.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
}

#[test]
fn reading_goes_on_as_soon_as_the_network_is_back() {
    let file = noise(SIZE);
    let server = XrdServer::start(move |asked, back| good(asked, back, &file));
    let wire = Wire::to(server.port);
    let (rt, file) = (runtime(), noise(SIZE));
    // Far longer than this test takes: it must not pass because of the timeout.
    let options = SourceOptions { progress_timeout: Duration::from_secs(120), ..impatient() };
    let opening = open_right(&rt, &format!("root://127.0.0.1:{}//f", wire.port), &options, &file).unwrap();
    wire.cut();
    let (tell, done) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let report = fetch(&rt, &opening.source, &scattered(30, SIZE as u64), &file);
            tell.send(report).unwrap();
        });
        assert!(done.recv_timeout(Duration::from_secs(4)).is_err(), "nothing passes the wire");
        wire.mend();
        let report = done.recv_timeout(Duration::from_secs(60)).expect("it goes on long before the timeout").unwrap();
        assert!(report.retries > 0, "{report:?}");
    });
}
