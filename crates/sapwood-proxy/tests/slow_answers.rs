//! Answers of an origin that take long from their first byte to the last: the file may be written to meanwhile. What is handed on
//! was compared after all of it had been sent; a server that sends ranges in the order of a request needs no further request for that.

mod common;

use common::{Folder, Reader, noise};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SIZE: usize = 4_000_000;
/// Longer answers pause after this many bytes.
const LONG: usize = 20_000;
/// Much more than what counts as slow.
const PAUSE: Duration = Duration::from_millis(500);
const BOUNDARY: &str = "b0und";

/// A server that reads each range when it sends it.
struct Server {
    /// What it says it is.
    name: &'static str,
    file: Mutex<Vec<u8>>,
    /// What is written to the file in the next pause, in place.
    next: Mutex<Option<Vec<u8>>>,
    /// The ranges of all requests.
    asked: Mutex<Vec<String>>,
}

impl Server {
    /// Returns it, and its URL. Its threads end with the test.
    fn start(name: &'static str) -> (Arc<Self>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server =
            Arc::new(Self { name, file: Mutex::new(noise(SIZE, 1)), next: Mutex::default(), asked: Mutex::default() });
        let shared = Arc::clone(&server);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let server = Arc::clone(&shared);
                // what is written before a pause arrives before it
                stream.as_ref().unwrap().set_nodelay(true).unwrap();
                std::thread::spawn(move || while server.answer(stream.as_ref().unwrap()).is_ok() {});
            }
        });
        (server, url)
    }

    fn answer(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        let mut ranges = String::new();
        let mut lines = BufReader::new(stream).lines();
        loop {
            let line = lines.next().ok_or(std::io::ErrorKind::UnexpectedEof)??;
            if let Some((key, value)) = line.split_once(": ")
                && key.eq_ignore_ascii_case("range")
            {
                ranges = value.trim_start_matches("bytes=").to_owned();
            }
            if line.is_empty() {
                break;
            }
        }
        self.asked.lock().unwrap().push(ranges.clone());
        let spans: Vec<(usize, usize)> = ranges.split(',').map(bounds).collect();
        let of = |&(from, to): &(usize, usize)| format!("Content-Range: bytes {from}-{}/{SIZE}\r\n", to - 1);
        let part = |span| format!("\r\n--{BOUNDARY}\r\n{}\r\n", of(span));
        let end = format!("\r\n--{BOUNDARY}--\r\n");
        let bytes: usize = spans.iter().map(|(from, to)| to - from).sum();
        let (kind, length) = if spans.len() == 1 {
            (of(&spans[0]), bytes)
        } else {
            let parts: usize = spans.iter().map(|span| part(span).len()).sum();
            (format!("Content-Type: multipart/byteranges; boundary={BOUNDARY}\r\n"), bytes + parts + end.len())
        };
        let name = self.name;
        write!(stream, "HTTP/1.1 206 Partial Content\r\nServer: {name}\r\nETag: \"1\"\r\n{kind}")?;
        write!(stream, "Content-Length: {length}\r\n\r\n")?;
        let mut sent = 0;
        for span in &spans {
            if spans.len() > 1 {
                stream.write_all(part(span).as_bytes())?;
            }
            let mut at = span.0;
            while at < span.1 {
                let to = span.1.min(at + LONG);
                let bytes = self.file.lock().unwrap()[at..to].to_vec();
                stream.write_all(&bytes)?;
                (at, sent) = (to, sent + bytes.len());
                if sent >= LONG && sent - bytes.len() < LONG {
                    std::thread::sleep(PAUSE);
                    if let Some(next) = self.next.lock().unwrap().take() {
                        *self.file.lock().unwrap() = next;
                    }
                }
            }
        }
        if spans.len() > 1 {
            stream.write_all(end.as_bytes())?;
        }
        Ok(())
    }

    /// Requests for the file's beginning alone.
    fn comparisons(&self) -> usize {
        self.asked.lock().unwrap().iter().filter(|ranges| *ranges == "0-511").count()
    }
}

fn bounds(range: &str) -> (usize, usize) {
    let (from, to) = range.split_once('-').unwrap();
    match (from.parse::<usize>(), to.parse::<usize>()) {
        (Ok(from), Ok(to)) => (from, to + 1),
        (Err(_), Ok(last)) => (SIZE - last, SIZE),
        _ => panic!("{range}"),
    }
}

/// Two ranges, of which the second follows the pause.
const READ: [(u64, u64); 2] = [(1_000_000, 100_000), (2_000_000, 100_000)];

#[test]
fn an_answer_that_ends_with_a_comparison_needs_no_other_one() {
    for (name, further) in [("nginx/1.22.1", false), ("Other/1.0", true)] {
        let (server, url) = Server::start(name);
        let folder = Folder::new();
        let proxy = folder.proxy(url);
        let reader = Reader::open(&(proxy.root_url().unwrap() + "f")).unwrap();
        let read = reader.read(&READ).unwrap();
        let (comparisons, asked) = (server.comparisons(), server.asked.lock().unwrap().clone());
        assert_eq!(comparisons > 0, further, "{name}: {asked:?}");
        assert_eq!(asked.iter().any(|ranges| ranges.ends_with("2000000-2099999,0-511")), !further, "{name}: {asked:?}");
        for (part, (at, len)) in read.iter().zip(READ) {
            assert!(*part == server.file.lock().unwrap()[at as usize..(at + len) as usize], "{name}");
        }
    }
}

#[test]
fn what_was_written_to_meanwhile_is_not_handed_on() {
    for name in ["nginx/1.22.1", "Other/1.0"] {
        let (server, url) = Server::start(name);
        let folder = Folder::new();
        let proxy = folder.proxy(url);
        let reader = Reader::open(&(proxy.root_url().unwrap() + "f")).unwrap();
        let new = noise(SIZE, 2);
        *server.next.lock().unwrap() = Some(new.clone());
        let read = reader.read(&READ);
        assert!(server.next.lock().unwrap().is_none(), "{name}: there was no pause");
        match read {
            Err(error) => assert!(error.to_string().contains("changed"), "{name}: {error}"),
            // a client that opens it again gets all of the other version
            Ok(read) => {
                for (i, (part, (at, len))) in read.iter().zip(READ).enumerate() {
                    assert!(
                        *part == new[at as usize..(at + len) as usize],
                        "{name}: range {i} has bytes of two versions"
                    );
                }
            }
        }
    }
}
