//! A server that follows a test's script, to the byte.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Clone, Debug)]
pub struct Request {
    /// How many requests came before, on all connections.
    pub number: usize,
    pub path: String,
    /// By lower-case name.
    pub headers: HashMap<String, String>,
    /// First and last byte, suffixes resolved.
    pub ranges: Vec<(u64, u64)>,
}

/// What the script says to do with the connection after its answer.
pub enum Then {
    Keep,
    Close,
    /// Leave it open and silent until the server is dropped.
    Hang,
}

type Script = dyn Fn(&Request, &mut TcpStream) -> Then + Send + Sync;

pub struct Scripted {
    pub port: u16,
    pub log: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
}

impl Scripted {
    pub fn start(size: u64, script: impl Fn(&Request, &mut TcpStream) -> Then + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (log, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let script: Arc<Script> = Arc::new(script);
        let server = Self { port, log: Arc::clone(&log), stop: Arc::clone(&stop) };
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (script, log, stop) = (Arc::clone(&script), Arc::clone(&log), Arc::clone(&stop));
                std::thread::spawn(move || converse(stream, size, &*script, &log, &stop));
            }
        });
        server
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/f.root", self.port)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.log.lock().unwrap().clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn converse(mut stream: TcpStream, size: u64, script: &Script, log: &Mutex<Vec<Request>>, stop: &AtomicBool) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(mut request) = read_request(&mut reader, size) {
        {
            let mut log = log.lock().unwrap();
            request.number = log.len();
            log.push(request.clone());
        }
        match script(&request, &mut stream) {
            Then::Keep => {}
            Then::Close => return,
            Then::Hang => {
                while !stop.load(Ordering::Relaxed) {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                return;
            }
        }
    }
}

fn read_request(reader: &mut impl BufRead, size: u64) -> Option<Request> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.by_ref().take(100_000).read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    let pairs = lines[1..].iter().filter_map(|l| l.split_once(": "));
    let headers: HashMap<String, String> = pairs.map(|(k, v)| (k.to_lowercase(), v.to_owned())).collect();
    let text = headers.get("range").and_then(|r| r.strip_prefix("bytes=")).unwrap_or_default().to_owned();
    let ranges = text.split(',').filter_map(|r| {
        let (a, b) = r.split_once('-')?;
        if a.is_empty() {
            return Some((size.saturating_sub(b.parse().ok()?), size - 1));
        }
        Some((a.parse().ok()?, b.parse::<u64>().ok()?.min(size - 1)))
    });
    Some(Request { number: 0, path, headers, ranges: ranges.collect() })
}

/// Sends a status line, headers and a body; failures mean that the client has gone.
pub fn send(stream: &mut TcpStream, status: &str, headers: &[(&str, String)], body: &[u8]) -> Then {
    let mut text = format!("HTTP/1.1 {status}\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    if !headers.iter().any(|(n, _)| matches!(*n, "Content-Length" | "Transfer-Encoding")) {
        text += &format!("Content-Length: {}\r\n", body.len());
    }
    text += "\r\n";
    let all = [text.as_bytes(), body].concat();
    if stream.write_all(&all).is_ok() { Then::Keep } else { Then::Close }
}

/// One part of a multipart body; the data may differ from what the range says.
pub fn part(out: &mut Vec<u8>, boundary: &str, range: &str, data: &[u8]) {
    out.extend(format!("\r\n--{boundary}\r\nContent-Type: x/y\r\nContent-Range: bytes {range}\r\n\r\n").bytes());
    out.extend(data);
}

pub fn slice(file: &[u8], (a, b): (u64, u64)) -> &[u8] {
    &file[a as usize..=b as usize]
}

pub fn multipart(stream: &mut TcpStream, boundary: &str, mut body: Vec<u8>) -> Then {
    body.extend(format!("\r\n--{boundary}--\r\n").bytes());
    let kind = format!("multipart/byteranges; boundary={boundary}");
    send(stream, "206 Partial Content", &[("Content-Type", kind)], &body)
}

/// One range as it should be.
pub fn single(stream: &mut TcpStream, range: (u64, u64), file: &[u8]) -> Then {
    let header = format!("bytes {}-{}/{}", range.0, range.1, file.len());
    send(stream, "206 Partial Content", &[("Content-Range", header)], slice(file, range))
}

/// These ranges as they should be.
pub fn several(stream: &mut TcpStream, ranges: &[(u64, u64)], file: &[u8]) -> Then {
    let mut body = Vec::new();
    for &r in ranges {
        part(&mut body, "B0undary", &format!("{}-{}/{}", r.0, r.1, file.len()), slice(file, r));
    }
    multipart(stream, "B0undary", body)
}

/// The correct response.
pub fn good(request: &Request, stream: &mut TcpStream, file: &[u8]) -> Then {
    match request.ranges.as_slice() {
        [] => send(stream, "200 OK", &[], file),
        [one] => single(stream, *one, file),
        many => several(stream, many, file),
    }
}
