//! The origin server, with raw requests and this project's own client.

mod common;

use bytes::Bytes;
use common::{Client, Folder};
use sapwood_serve::{Origin, OriginOptions};
use sapwood_source::{Hosts, Sink, SourceOptions, open};
use sapwood_span::{ErrorKind, Span};
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn ranges_over_one_connection() {
    let folder = Folder::new();
    let server = folder.serve();
    let mut client = Client::new(&server);
    let mut body = |range: &str| {
        let (status, head, body) = client.get("/digits", &format!("Range: bytes={range}\r\n"));
        (status, head, body)
    };
    assert_eq!((body("2-4").0, body("2-4").2.as_str()), (206, "234"));
    assert!(body("2-4").1.contains("content-range: bytes 2-4/10\r\n"));
    assert_eq!(body("-3").2, "789");
    assert_eq!(body("8-").2, "89");
    let (status, head, _) = body("10-");
    assert!(status == 416 && head.contains("content-range: bytes */10\r\n"), "{head}");
    let (status, head, text) = body("8-9,0-1");
    assert_eq!(status, 206);
    let boundary = head.split("boundary=").nth(1).unwrap().split("\r\n").next().unwrap();
    let part = |range, data| {
        format!(
            "\r\n--{boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes {range}/10\r\n\r\n{data}"
        )
    };
    assert_eq!(text, format!("{}{}\r\n--{boundary}--\r\n", part("8-9", "89"), part("0-1", "01")));
    let (status, head, text) = client.get("/digits", "");
    assert_eq!((status, text.as_str()), (200, "0123456789"));
    assert!(head.contains("accept-ranges: bytes\r\n") && head.contains("last-modified: "), "{head}");

    let log = server.requests();
    assert_eq!(log.len(), 8);
    assert_eq!((log[6].status, log[6].ranges.as_slice()), (206, &[Span::new(8, 2), Span::new(0, 2)][..]));
    assert_eq!((log[7].path.as_str(), log[7].bytes, log[7].ranges.len()), ("/digits", 10, 0));
}

#[test]
fn validators() {
    let folder = Folder::new();
    let server = folder.serve();
    let mut client = Client::new(&server);
    let (_, head, _) = client.ask("HEAD", "/digits", "");
    assert!(head.contains("content-length: 10\r\n"), "{head}");
    let etag = client.strong_etag("/digits");
    let with = |value: &str| format!("Range: bytes=0-0\r\nIf-Range: {value}\r\n");
    assert_eq!(client.get("/digits", &with(&etag)).2, "0");
    assert_eq!(client.get("/digits", &with("\"other\"")).2, "0123456789");
    assert_eq!(client.get("/digits", &format!("If-None-Match: \"x\", {etag}\r\n")).0, 304);
    assert_eq!(client.get("/digits", &format!("If-None-Match: W/{etag}\r\n")).0, 304, "weak comparison");
    assert_eq!(client.get("/digits", "If-Match: \"other\"\r\n").0, 412);
    assert_eq!(client.get("/digits", &format!("If-Match: {etag}\r\n")).2, "0123456789");
    let (status, head, _) = client.ask("HEAD", "/digits", "Range: bytes=0-3\r\n");
    assert!(status == 200 && head.contains("content-length: 10\r\n"), "only GET knows ranges: {head}");
    std::fs::write(folder.0.join("root/digits"), b"9876543210").unwrap();
    std::fs::write(folder.0.join("root/digits"), b"98765432100").unwrap();
    assert_eq!(client.get("/digits", &with(&etag)).2, "98765432100", "another version");
}

#[test]
fn nothing_outside_the_root() {
    let folder = Folder::new();
    let root = folder.0.join("root");
    std::os::unix::fs::symlink("../root-not/secret", root.join("out")).unwrap();
    std::os::unix::fs::symlink("../root-not", root.join("sub/outdir")).unwrap();
    std::os::unix::fs::symlink("../digits", root.join("sub/in")).unwrap();
    let server = folder.serve();
    let mut client = Client::new(&server);
    for path in [
        "/../root-not/secret",
        "/%2e%2e/root-not/secret",
        "/sub/../../root-not/secret",
        "/..%2froot-not/secret",
        "/out",
        "/sub/outdir/secret",
        "/sub/outdir/",
        "/none",
        "/digits/x",
        "/digits/",
        "/%00",
        "/%zz",
    ] {
        let (status, _, body) = client.get(path, "");
        assert_eq!(status, 404, "{path}");
        assert!(!body.contains("secret"), "{path}");
    }
    assert_eq!(client.get("/sub/in", "").2, "0123456789");
    assert_eq!(client.get("//sub/./in", "").2, "0123456789");
    let (status, head, _) = client.ask("PUT", "/digits", "Content-Length: 0\r\n");
    assert!(status == 405 && head.contains("allow: get, head\r\n"), "{head}");
}

#[test]
fn folders_are_pages_of_links() {
    let folder = Folder::new();
    let server = folder.serve();
    let mut client = Client::new(&server);
    let (status, head, _) = client.get("/sub", "");
    assert!(status == 301 && head.contains("location: /sub/\r\n"), "{head}");
    let (_, head, _) = client.get("//sub", "");
    assert!(head.contains("location: /sub/\r\n"), "two slashes would name a host: {head}");
    let (status, head, page) = client.get("/sub/", "");
    assert!(status == 200 && head.contains("text/html"), "{head}");
    assert!(page.contains("<a href=\"./a%20%3Cb%3E.txt\">a &lt;b&gt;.txt</a>"), "{page}");
    assert_eq!(client.get("/sub/./a%20%3Cb%3E.txt", "").2, "x");
}

#[test]
fn a_page_says_that_it_does_not_show_all() {
    let folder = Folder::new();
    let many = folder.0.join("root/many");
    std::fs::create_dir(&many).unwrap();
    for i in 0..10_000 {
        std::fs::write(many.join(i.to_string()), "").unwrap();
    }
    let server = folder.serve();
    let mut client = Client::new(&server);
    let shown = |page: &str| (page.matches("<a href=\"./").count(), page.contains("are not shown"));
    assert_eq!(shown(&client.get("/many/", "").2), (10_000, false));
    std::fs::write(many.join("another"), "").unwrap();
    assert_eq!(shown(&client.get("/many/", "").2), (10_000, true));
}

#[test]
fn what_is_not_served_is_not_listed() {
    let folder = Folder::new();
    let path = folder.0.join("root/sub");
    let _socket = std::os::unix::net::UnixListener::bind(path.join("socket")).unwrap();
    let server = folder.serve();
    let mut client = Client::new(&server);
    assert_eq!(client.get("/sub/socket", "").0, 404);
    assert!(!client.get("/sub/", "").2.contains("socket"));
}

#[test]
fn what_cannot_be_served_is_refused() {
    let folder = Folder::new();
    let start = |path: PathBuf| Origin::start(OriginOptions::new(path)).err().unwrap();
    assert_eq!(start(folder.0.join("none")).kind(), ErrorKind::NotFound);
    assert_eq!(start(folder.0.join("root/digits")).kind(), ErrorKind::Invalid);
    let server = folder.serve();
    let taken = Origin::start(OriginOptions { bind: server.addr(), ..OriginOptions::new(&folder.0) }).err().unwrap();
    assert!(taken.to_string().contains("another port"), "{taken}");
}

#[test]
fn who_is_connected_notices_that_it_stops() {
    let folder = Folder::new();
    let server = folder.serve();
    let mut client = Client::new(&server);
    assert_eq!(client.get("/digits", "").2, "0123456789");
    server.stop();
    assert!(client.0.read(&mut [0]).map_or(true, |bytes| bytes == 0));
}

#[test]
fn its_ports_are_free_when_it_has_stopped() {
    let folder = Folder::new();
    for _ in 0..100 {
        let mut options = OriginOptions::new(&folder.0);
        options.bind_root = Some("127.0.0.1:0".parse().unwrap());
        let server = Origin::start(options).unwrap();
        let ports = [server.addr(), server.root_addr().unwrap()];
        server.stop();
        for port in ports {
            std::net::TcpListener::bind(port).unwrap();
        }
    }
}

#[derive(Default)]
struct Collect(Mutex<Vec<(usize, Bytes)>>);

impl Sink for Collect {
    fn part(&self, index: usize, bytes: Bytes) {
        self.0.lock().unwrap().push((index, bytes));
    }
}

#[test]
fn our_client_reads_from_far_away() {
    let folder = Folder::new();
    let file: Vec<u8> = (0..400_000u32).flat_map(|i| i.to_le_bytes()).collect();
    std::fs::write(folder.0.join("root/f.root"), &file).unwrap();
    let called = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&called);
    let server = Origin::start(OriginOptions {
        delay: Duration::from_millis(20),
        bandwidth: Some(400_000_000),
        log: Some(Arc::new(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
        })),
        ..OriginOptions::new(folder.0.join("root"))
    })
    .unwrap();
    let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let options = SourceOptions { hosts: Hosts::default(), head: 1000, tail: 1000, ..SourceOptions::default() };
    let opening = rt.block_on(open(&format!("{}f.root", server.url()), &options, rt.handle())).unwrap();
    assert!(opening.head == file[..1000] && opening.tail.1 == file[file.len() - 1000..]);
    assert_eq!(opening.source.stats().round_trips, 2);
    let spans: Vec<Span> = (0..300).map(|i| Span::new(i * 5_000, 3000)).collect();
    let sink = Arc::new(Collect::default());
    rt.block_on(Arc::clone(&opening.source).fetch(spans.clone(), sink.clone())).unwrap();
    let parts = sink.0.lock().unwrap();
    assert_eq!(parts.len(), 300);
    for (i, bytes) in parts.iter() {
        assert!(*bytes == file[i * 5_000..i * 5_000 + 3000]);
    }
    let log = server.requests();
    assert_eq!(
        log.iter().map(|r| r.ranges.len()).sum::<usize>(),
        303,
        "both ends, 300 baskets, the first bytes once more"
    );
    // more ranges than go into one request
    assert_eq!((log.len(), called.load(Ordering::Relaxed)), (3, 3));
}
