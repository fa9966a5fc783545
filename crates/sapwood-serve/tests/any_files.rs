//! A server of files that are not in a local directory: what it passes on of a request, and the errors that clients get.

mod common;
#[path = "common/root.rs"]
mod root_client;

use bytes::Bytes;
use common::Client;
use root_client::RootClient;
use sapwood_serve::{
    Answer, ClientLimits, ClientRequest, FileInfo, FileVersion, Files, FilesError, Found, OpenFile, Page, Protocol,
    Server, ServerHandle, ServerOptions,
};
use sapwood_span::Span;
use sapwood_xrd::code::error;
use sapwood_xrd::{Request, SecretBytes};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SIZE: u64 = 300_000;

/// What the files contain: a letter at each position.
fn byte_at(position: u64) -> u8 {
    b'a' + (position % 23) as u8
}

/// Answers by the name of the path, and keeps the requests.
#[derive(Default)]
struct Scripted {
    asked: Mutex<Vec<ClientRequest>>,
    expected: Arc<Mutex<Vec<Vec<Span>>>>,
    reads: Arc<AtomicUsize>,
    /// Held by each open file.
    open: Arc<()>,
}

impl Files for Scripted {
    fn find<'a>(&'a self, asked: &'a ClientRequest) -> Answer<'a, Found> {
        self.asked.lock().unwrap().push(asked.clone());
        let name = String::from_utf8(asked.path.parts().last().cloned().unwrap_or_default()).unwrap();
        let why = || format!("why: {name}");
        let found = match name.as_str() {
            "file" | "slow" | "torn" => Ok(Found::File(Arc::new(Opened {
                version: FileVersion {
                    etag: "\"1\"".into(),
                    modified: "Sun, 06 Nov 1994 08:49:37 GMT".into(),
                    is_strong: true,
                },
                expected: Arc::clone(&self.expected),
                reads: Arc::clone(&self.reads),
                slow: name == "slow",
                torn: name == "torn",
                _open: Arc::clone(&self.open),
            }) as Arc<dyn OpenFile>)),
            "page" => {
                Ok(Found::Page(Page { content_type: "text/html".into(), body: Bytes::from_static(b"<p>origin</p>") }))
            }
            "denied" => Err(FilesError::Denied(why())),
            "who" => Err(FilesError::Unauthorized { why: why(), challenge: Some("Basic realm=\"o\"".into()) }),
            "token" => Err(FilesError::Unauthorized { why: why(), challenge: None }),
            "busy" => Err(FilesError::Busy(why())),
            "failed" => Err(FilesError::Failed(why())),
            "origin" => Err(FilesError::Origin(why())),
            "late" => Err(FilesError::TimedOut(why())),
            "changed" => Err(FilesError::Changed),
            _ => Err(FilesError::NotFound),
        };
        Box::pin(std::future::ready(found))
    }
}

struct Opened {
    version: FileVersion,
    expected: Arc<Mutex<Vec<Vec<Span>>>>,
    reads: Arc<AtomicUsize>,
    slow: bool,
    torn: bool,
    _open: Arc<()>,
}

impl OpenFile for Opened {
    fn size(&self) -> u64 {
        SIZE
    }

    fn version(&self) -> &FileVersion {
        &self.version
    }

    fn info(&self) -> Answer<'_, FileInfo> {
        Box::pin(std::future::ready(Ok(FileInfo { is_folder: false, size: SIZE, modified: 0, changed: 0 })))
    }

    fn read(&self, spans: Vec<Span>) -> Answer<'_, Vec<Bytes>> {
        self.reads.fetch_add(1, Relaxed);
        Box::pin(async move {
            if self.torn {
                return Err(FilesError::Origin("the origin is gone".to_owned()));
            }
            if self.slow {
                std::future::pending::<()>().await;
            }
            Ok(spans.iter().map(|s| (s.start..s.end()).map(byte_at).collect()).collect())
        })
    }

    fn expect(&self, spans: &[Span]) {
        self.expected.lock().unwrap().push(spans.to_vec());
    }

    fn checksum<'a>(&'a self, kind: &'a str) -> Answer<'a, Option<String>> {
        let known = (kind == "md5").then(|| "0123456789abcdef0123456789abcdef".to_owned());
        Box::pin(std::future::ready(Ok(known)))
    }

    fn content_type(&self) -> Option<&str> {
        Some("application/x-root")
    }
}

fn serve() -> (Arc<Scripted>, ServerHandle) {
    let files = Arc::new(Scripted::default());
    let root = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let limits = ClientLimits { stall: Duration::from_secs(1), ..ClientLimits::default() };
    let options = ServerOptions::default().root(root).limits(limits);
    let server = Server::start(Arc::clone(&files) as Arc<dyn Files>, options).unwrap();
    (files, server)
}

#[test]
fn clients_hear_why_files_do_not_answer() {
    let (_, server) = serve();
    let mut http = Client::at(server.http_addr().unwrap());
    let mut root = RootClient::login_at(server.root_addr().unwrap());
    for (name, status, number) in [
        ("nothing", 404, error::NOT_FOUND),
        ("denied", 403, error::NOT_AUTHORIZED),
        ("who", 401, error::NOT_AUTHORIZED),
        ("token", 401, error::NOT_AUTHORIZED),
        ("busy", 503, error::OVERLOADED),
        ("failed", 500, error::IO_ERROR),
        ("origin", 502, error::SERVER_ERROR),
        ("late", 504, error::TIMED_OUT),
        ("changed", 503, error::CANCELLED),
        ("page", 301, error::IS_DIRECTORY),
    ] {
        let (got, head, body) = http.get(&format!("/{name}"), "");
        assert_eq!(got, status, "{name}");
        if !["nothing", "changed", "page"].contains(&name) {
            assert_eq!(body, format!("why: {name}\n"));
        }
        let challenge = match name {
            "who" => Some("basic realm=\"o\""),
            "token" => Some("bearer"),
            _ => None,
        };
        let said = head.split("www-authenticate: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        assert_eq!(said, challenge, "{name}");
        assert_eq!(head.contains("retry-after: "), status == 503, "{name}");
        assert_eq!(root.open(&format!("/{name}")), Err(number), "{name}");
    }
    let (status, head, page) = http.get("/page/", "");
    assert!(status == 200 && page == "<p>origin</p>" && head.contains("content-type: text/html\r\n"), "{head}");
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    assert_eq!(root.ask(&Request::DirList { path: "/page".into(), options: 0 }), Err(error::UNSUPPORTED));
    let (_, head, _) = http.get("/file", "Range: bytes=0-0\r\n");
    assert!(head.contains("content-type: application/x-root\r\n"), "{head}");
    let sum = root.ask(&Request::Query { kind: 3, words: "/file?cks.type=MD5".into() }).unwrap();
    assert_eq!(sum, b"md5 0123456789abcdef0123456789abcdef\0", "what the file says itself");
    let sum = root.ask(&Request::Query { kind: 3, words: "/file".into() }).unwrap();
    assert!(sum.starts_with(b"adler32 "), "what is computed");
}

#[test]
fn a_body_that_cannot_be_read_is_an_error_of_its_own() {
    let (_, server) = serve();
    let mut http = Client::at(server.http_addr().unwrap());
    // a short one, one longer than what is read before the head, and both in one
    for range in ["Range: bytes=0-9\r\n", "", "Range: bytes=0-9,20-280000\r\n"] {
        let (status, head, body) = http.get("/torn", range);
        assert_eq!((status, body.as_str()), (502, "the origin is gone\n"), "{range} {head}");
        assert!(!head.contains("content-range") && !head.contains("etag"), "{head}");
    }
    assert_eq!(http.get("/file", "").2.len(), SIZE as usize);
    assert_eq!(http.get("/file", "Range: bytes=0-9\r\n").2, "abcdefghij", "the connection goes on");
}

#[test]
fn files_learn_who_asks_and_logs_do_not() {
    let (files, server) = serve();
    let mut http = Client::at(server.http_addr().unwrap());
    for _ in 0..2 {
        http.get("/d/file?authz=QSECRET&x=1", "Authorization: Bearer HSECRET\r\nRange: bytes=0-0\r\n");
    }
    http.ask("HEAD", "/https://me:PSECRET@host/file?authz=QSECRET", "");
    let mut root = RootClient::login_at(server.root_addr().unwrap());
    root.open("/d/file?authz=QSECRET").unwrap();
    root.open("//root://me:PSECRET@host//file").unwrap();
    let asked = files.asked.lock().unwrap();
    let [a, b, c, d, e] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((a.path.parts(), a.protocol), (&[b"d".to_vec(), b"file".to_vec()][..], Protocol::Http));
    assert_eq!(a.path.opaque, b"authz=QSECRET&x=1");
    assert_eq!(a.authorization, Some(SecretBytes::from("Bearer HSECRET")));
    assert_eq!((a.client, a.is_secure), (Ipv4Addr::LOCALHOST.into(), false));
    assert!(a.connection == b.connection && b.connection == c.connection && a.connection != d.connection);
    assert_eq!(c.authorization, None);
    assert_eq!(c.path.parts(), [&b"https:"[..], b"me:PSECRET@host", b"file"]);
    assert_eq!((d.protocol, d.path.opaque.as_slice()), (Protocol::Root, &b"authz=QSECRET"[..]));
    assert_eq!(e.path.parts(), [&b"root:"[..], b"me:PSECRET@host", b"file"]);
    let shown = format!("{asked:?}{:?}", server.requests());
    assert!(!shown.contains("SECRET") && shown.contains("/https://host/file"), "{shown}");
}

#[test]
fn files_are_told_of_all_that_will_be_read() {
    let (files, server) = serve();
    let mut http = Client::at(server.http_addr().unwrap());
    http.ask("HEAD", "/file", "");
    assert!(files.expected.lock().unwrap().is_empty(), "no body, nothing to be read");
    http.get("/file", "");
    http.get("/file", "Range: bytes=0-9,200000-200009\r\n");
    let expected = std::mem::take(&mut *files.expected.lock().unwrap());
    assert_eq!(expected, [vec![Span::new(0, SIZE)], vec![Span::new(0, 10), Span::new(200_000, 10)]]);
}

/// A file may have to wait for a disk at each read: as long as the transfer of a range takes, where ranges are short.
#[test]
fn many_short_ranges_are_read_together() {
    let (files, server) = serve();
    let mut http = Client::at(server.http_addr().unwrap());
    // short ones, and a long one between them
    let span_of = |i: u64| match i {
        0..700 => Span::new(i * 200, 100 + i % 90),
        700 => Span::new(140_000, 99_000),
        _ => Span::new(238_000 + (i - 685) * 70, 40 + i % 30),
    };
    let spans: Vec<Span> = (0..1500).map(span_of).collect();
    let ranges: Vec<String> = spans.iter().map(|s| format!("{}-{}", s.start, s.end() - 1)).collect();
    let (status, head, body) = http.get("/file", &format!("Range: bytes={}\r\n", ranges.join(",")));
    assert_eq!(status, 206, "{head}");
    let boundary = head.split_once("boundary=").unwrap().1.lines().next().unwrap();
    let parts: Vec<&str> = body.split(&format!("\r\n--{boundary}")).collect();
    assert_eq!((parts.len(), parts[0], parts[1501]), (1502, "", "--\r\n"));
    for (span, part) in spans.iter().zip(&parts[1..]) {
        let (head, bytes) = part.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("bytes {}-{}/{SIZE}", span.start, span.end() - 1)), "{head}");
        assert!(bytes.bytes().eq((span.start..span.end()).map(byte_at)), "{head}");
    }
    // 64 KiB of the body, or of the long range 256 KiB, at a time; before, one for each range
    let reads = files.reads.load(Relaxed);
    assert!(reads <= body.len() / (64 << 10) + 2, "{reads} reads for {} bytes", body.len());
}

#[test]
fn a_file_is_given_back_when_its_reader_has_gone() {
    let (files, server) = serve();
    let mut http = Client::at(server.http_addr().unwrap());
    std::io::Write::write_all(http.0.get_mut(), b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut root = RootClient::login_at(server.root_addr().unwrap());
    let handle = root.open("/slow").unwrap();
    root.say(9, &Request::Read { handle, offset: 0, len: 10, path_id: 0 });
    let until = |open: usize| {
        let reached = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            Arc::strong_count(&files.open) == 1 + open
        });
        assert!(reached, "{} files are open, not {open}", Arc::strong_count(&files.open) - 1);
    };
    until(2);
    drop((http, root));
    until(0);
}
