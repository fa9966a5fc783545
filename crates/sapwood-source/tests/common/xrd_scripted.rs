//! An XRootD server that follows a test's script, to the byte.

use bytes::Bytes;
use sapwood_xrd::code::{error, server, status};
use sapwood_xrd::frame::{RequestDecoder, StatusHead, encode_reply, encode_status};
use sapwood_xrd::reply::{Failure, Login, Open, Protocol, Redirect, Stat};
use sapwood_xrd::{CHUNK, Request, encode_pages};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Connections are numbered in the order in which they were made.
    pub connection: usize,
    /// Requests that arrived together have one number: how often the client has waited on this connection before.
    pub flight: usize,
    /// How many requests came before, on all connections.
    pub number: usize,
    pub stream: u16,
    pub request: Request,
}

/// What the script says to do with the connection after its answer.
pub enum Then {
    Keep,
    Close,
    /// Leave it open and silent until the server is dropped.
    Hang,
    /// Send the same bytes repeatedly, this many times, then close.
    Repeat(Vec<u8>, Duration, usize),
}

/// The answer.
pub struct Back<'a> {
    pub stream: u16,
    out: &'a mut Vec<u8>,
    /// Open files of this connection.
    pub files: &'a mut u32,
}

impl<'a> Back<'a> {
    pub fn new(stream: u16, out: &'a mut Vec<u8>, files: &'a mut u32) -> Self {
        Self { stream, out, files }
    }

    /// Bytes of all answers that wait to be sent.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Removes the last bytes.
    pub fn truncate(&mut self, len: usize) {
        self.out.truncate(len);
    }

    pub fn send(&mut self, status: u16, body: &[u8]) -> Then {
        encode_reply(self.stream, status, body, self.out);
        Then::Keep
    }

    pub fn ok(&mut self, body: &[u8]) -> Then {
        self.send(status::OK, body)
    }

    pub fn fail(&mut self, number: u32, message: &str) -> Then {
        self.send(status::ERROR, &Failure { number, message: message.into() }.encode())
    }

    pub fn wait(&mut self, seconds: u32) -> Then {
        self.send(status::WAIT, &seconds.to_be_bytes())
    }

    pub fn redirect(&mut self, port: u16, opaque: &str) -> Then {
        self.redirect_to("127.0.0.1", port, opaque)
    }

    pub fn redirect_to(&mut self, host: &str, port: u16, opaque: &str) -> Then {
        let to = Redirect { host: host.into(), port: i32::from(port), opaque: opaque.into(), token: String::new() };
        self.send(status::REDIRECT, &to.encode())
    }

    pub fn raw(&mut self, bytes: &[u8]) -> Then {
        self.out.extend(bytes);
        Then::Keep
    }

    /// A page read's answer.
    pub fn pages(&mut self, offset: u64, data: &[u8], damage: bool) -> Then {
        let info = offset.to_be_bytes().to_vec();
        let mut coded = encode_pages(offset, data);
        if damage && let Some(byte) = coded.last_mut() {
            *byte ^= 1;
        }
        let head = StatusHead { stream: self.stream, request: 3030, kind: 0, info, len: 0 };
        encode_status(&head, &coded, self.out);
        Then::Keep
    }
}

type Script = dyn Fn(&Asked, &mut Back) -> Then + Send + Sync;

pub struct XrdServer {
    pub port: u16,
    log: Arc<Mutex<Vec<Asked>>>,
    stop: Arc<AtomicBool>,
    connections: Arc<AtomicUsize>,
}

/// State shared by the connections of a server.
struct House {
    script: Box<Script>,
    gather: Duration,
    log: Arc<Mutex<Vec<Asked>>>,
    stop: Arc<AtomicBool>,
    /// Data links of sessions, by the connection that logged in.
    bound: Mutex<HashMap<usize, Vec<TcpStream>>>,
}

impl XrdServer {
    /// Answers as soon as it can.
    pub fn start(script: impl Fn(&Asked, &mut Back) -> Then + Send + Sync + 'static) -> Self {
        Self::far(Duration::ZERO, script)
    }

    /// Answers only after a pause without data: what arrives together is one flight.
    pub fn far(gather: Duration, script: impl Fn(&Asked, &mut Back) -> Then + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (log, stop, connections) = (Arc::default(), Arc::default(), Arc::new(AtomicUsize::new(0)));
        let house = Arc::new(House {
            script: Box::new(script),
            gather,
            log: Arc::clone(&log),
            stop: Arc::clone(&stop),
            bound: Mutex::default(),
        });
        let (count, stopped) = (Arc::clone(&connections), Arc::clone(&stop));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (house, number) = (Arc::clone(&house), count.fetch_add(1, Ordering::Relaxed));
                std::thread::spawn(move || converse(stream, number, &house));
            }
        });
        Self { port, log, stop, connections }
    }

    pub fn url(&self) -> String {
        format!("root://127.0.0.1:{}//f.root", self.port)
    }

    pub fn log(&self) -> Vec<Asked> {
        self.log.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// How often clients have waited for an answer, on all connections together.
    pub fn flights(&self) -> usize {
        let mut last: HashMap<usize, usize> = HashMap::new();
        for asked in self.log() {
            last.insert(asked.connection, asked.flight + 1);
        }
        last.values().sum()
    }
}

impl Drop for XrdServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn converse(mut stream: TcpStream, connection: usize, house: &House) {
    let mut greeting = [0; 20];
    if stream.read_exact(&mut greeting).is_err() {
        return;
    }
    let mut out = Vec::new();
    encode_reply(0, 0, &[0, 0, 5, 0x11, 0, 0, 0, 1], &mut out);
    let (mut decoder, mut input, mut files, mut flight) = (RequestDecoder::new(1 << 20), Bytes::new(), 0, 0);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let mut ended = Then::Keep;
        // Everything received so far belongs to one flight.
        while let Ok(Some((id, request))) = decoder.next(&mut input) {
            let Ok(request) = request else {
                let _ = Back { stream: id, out: &mut out, files: &mut files }.fail(error::UNSUPPORTED, "what?");
                continue;
            };
            let asked = {
                let mut log = house.log.lock().unwrap();
                let asked = Asked { connection, flight, number: log.len(), stream: id, request };
                log.push(asked.clone());
                asked
            };
            if let Request::Bind { session } = &asked.request {
                let owner = usize::from(session[0]);
                let mut bound = house.bound.lock().unwrap();
                let links = bound.entry(owner).or_default();
                links.push(stream.try_clone().unwrap());
                encode_reply(id, 0, &[links.len() as u8], &mut out);
                continue;
            }
            let path = match &asked.request {
                Request::Read { path_id, .. } | Request::PageRead { path_id, .. } => *path_id,
                _ => 0,
            };
            let mut elsewhere = Vec::new();
            let target = if path > 0 { &mut elsewhere } else { &mut out };
            let then = (house.script)(&asked, &mut Back { stream: id, out: target, files: &mut files });
            if path > 0 {
                let mut bound = house.bound.lock().unwrap();
                let link = bound.get_mut(&connection).and_then(|l| l.get_mut(usize::from(path) - 1));
                let _ = link.unwrap().write_all(&elsewhere);
            }
            if !matches!(then, Then::Keep) {
                ended = then;
                break;
            }
        }
        if !house.gather.is_zero() {
            stream.set_read_timeout(Some(house.gather)).unwrap();
            match stream.read(&mut buffer) {
                Ok(0) => return,
                Ok(n) => {
                    input = [&input[..], &buffer[..n]].concat().into();
                    continue;
                }
                Err(_) => stream.set_read_timeout(None).unwrap(),
            }
        }
        if !out.is_empty() {
            if stream.write_all(&std::mem::take(&mut out)).is_err() {
                return;
            }
            flight += 1;
        }
        match ended {
            Then::Keep => {}
            Then::Close => {
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
            Then::Repeat(bytes, pause, times) => {
                for _ in 0..times {
                    if house.stop.load(Ordering::Relaxed) || stream.write_all(&bytes).is_err() {
                        break;
                    }
                    std::thread::sleep(pause);
                }
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
            Then::Hang => {
                while !house.stop.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(20));
                }
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => input = [&input[..], &buffer[..n]].concat().into(),
            _ => return,
        }
    }
}

/// Correct answers to everything.
pub fn good(asked: &Asked, back: &mut Back, file: &[u8]) -> Then {
    let part = |offset: u64, len: u32| {
        let from = (offset as usize).min(file.len());
        &file[from..(from + len as usize).min(file.len())]
    };
    let stat = Stat { size: file.len() as u64, flags: 16, modified: 1_700_000_000, inode: None };
    let unknown = |handle: &[u8; 4]| u32::from_le_bytes(*handle) >= *back.files;
    let closed = match &asked.request {
        Request::Read { handle, .. } | Request::PageRead { handle, .. } => unknown(handle),
        Request::ReadV(chunks) => chunks.iter().any(|c| unknown(&c.handle)),
        _ => false,
    };
    if closed {
        return back.fail(error::FILE_NOT_OPEN, "no such file is open");
    }
    match &asked.request {
        Request::Protocol { .. } => {
            back.ok(&Protocol { version: 0x0511, flags: server::DATA | server::PAGES }.encode())
        }
        Request::Login { .. } => {
            let session = [asked.connection as u8; 16];
            back.ok(&Login { session, security: String::new() }.encode())
        }
        Request::Auth(_) => back.fail(error::INVALID_REQUEST, "nobody asked you"),
        Request::Open { .. } => {
            let handle = back.files.to_le_bytes();
            *back.files += 1;
            back.ok(&Open { handle, stat: Some(stat) }.encode())
        }
        Request::Stat { .. } | Request::StatOpen { .. } => back.ok(&stat.encode()),
        Request::Read { offset, len, .. } => back.ok(part(*offset, *len)),
        Request::PageRead { offset, len, .. } => back.pages(*offset, part(*offset, *len), false),
        Request::ReadV(_) => {
            let body = vector(&asked.request, file);
            back.ok(&body)
        }
        Request::Query { .. } => back.ok(b"1024\n2097136\n"),
        Request::Close { .. } | Request::Ping | Request::EndSession { .. } => back.ok(b""),
        _ => back.fail(error::UNSUPPORTED, "not here"),
    }
}

/// A vector read's data.
pub fn vector(request: &Request, file: &[u8]) -> Vec<u8> {
    let Request::ReadV(chunks) = request else { panic!("not a vector read") };
    let mut body = Vec::with_capacity(chunks.len() * CHUNK);
    for c in chunks {
        body.extend(c.handle);
        body.extend(c.len.to_be_bytes());
        body.extend(c.offset.to_be_bytes());
        body.extend(&file[c.offset as usize..c.offset as usize + c.len as usize]);
    }
    body
}
