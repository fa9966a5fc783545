//! Malicious clients: others are still served, and no client gets another's data.

mod common;

use common::{Client, Folder};
use sapwood_serve::{ClientLimits, Origin, OriginHandle, OriginOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::time::Duration;

/// No test waits longer for bytes: far beyond what the options here allow.
const NEVER: Duration = Duration::from_secs(30);

fn serve(folder: &Folder, limits: ClientLimits) -> OriginHandle {
    Origin::start(OriginOptions { limits, ..OriginOptions::new(folder.0.join("root")) }).unwrap()
}

fn connect(server: &OriginHandle) -> TcpStream {
    let stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(NEVER)).unwrap();
    stream
}

/// Sends raw bytes; returns everything that arrives until the server closes. A reset counts as closed.
fn raw(server: &OriginHandle, bytes: &[u8]) -> String {
    let mut stream = connect(server);
    let _ = stream.write_all(bytes);
    rest(&mut stream)
}

fn rest(stream: &mut TcpStream) -> String {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => all.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => panic!("it was not closed"),
            _ => return String::from_utf8_lossy(&all).into_owned(),
        }
    }
}

/// Sends a request over a separate connection; returns whether it was answered.
fn is_served(server: &OriginHandle) -> bool {
    raw(server, b"GET /digits HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").contains("0123456789")
}

fn large(folder: &Folder) {
    let file = std::fs::File::create(folder.0.join("root/large")).unwrap();
    file.set_len(256 << 20).unwrap();
}

#[test]
fn clients_that_read_nothing_are_cut_off() {
    let folder = Folder::new();
    large(&folder);
    let limits = ClientLimits { connections: 8, stall: Duration::from_millis(300), ..ClientLimits::default() };
    let server = serve(&folder, limits);
    let mut idle: Vec<TcpStream> = (0..8).map(|_| connect(&server)).collect();
    for client in &mut idle {
        client.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    }
    // Each waits for the server's reply, so that the loop ends soon if no client is ever refused.
    let tries = (0..200).find(|_| {
        std::thread::sleep(Duration::from_millis(20));
        is_served(&server)
    });
    assert!(tries.is_some(), "those who read nothing hold all places");
    drop(idle);
}

#[test]
fn one_address_does_not_take_all_places() {
    let folder = Folder::new();
    large(&folder);
    let server = serve(&folder, ClientLimits { per_address: 2, ..ClientLimits::default() });
    let mut busy: Vec<TcpStream> = (0..2).map(|_| connect(&server)).collect();
    for client in &mut busy {
        client.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        client.read_exact(&mut [0; 100]).unwrap();
    }
    assert!(raw(&server, b"").starts_with("HTTP/1.1 503 "), "a third one hears why");
    busy.pop();
    let freed = (0..200).find(|_| {
        std::thread::sleep(Duration::from_millis(20));
        is_served(&server)
    });
    assert!(freed.is_some(), "one that has left makes room");
}

#[test]
fn idle_connections_make_room_oldest_first() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits { connections: 3, ..ClientLimits::default() });
    let mut clients: Vec<Client> = (0..3).map(|_| Client::new(&server)).collect();
    for i in [2, 0, 1] {
        assert_eq!(clients[i].get("/digits", "").2, "0123456789");
        // the connection answered last is idle for the shortest time
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(is_served(&server), "a fourth one");
    assert_eq!(clients[0].get("/digits", "").2, "0123456789");
    assert_eq!(clients[1].get("/digits", "").2, "0123456789");
    let mut oldest = clients.pop().unwrap();
    assert_eq!(oldest.0.read(&mut [0]).unwrap_or(0), 0, "the oldest was closed");
}

#[test]
fn a_head_that_never_ends_is_not_waited_for() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits { idle: Duration::from_millis(300), ..ClientLimits::default() });
    for head in ["", "GET /dig", "GET /digits HTTP/1.1\r\nHost: localhost\r\n"] {
        let answer = raw(&server, head.as_bytes());
        assert!(answer.is_empty() || answer.contains(" 408 "), "{answer}");
    }
    // further header lines do not reset the timeout
    let mut stream = connect(&server);
    stream.write_all(b"GET /digits HTTP/1.1\r\nHost: localhost\r\n").unwrap();
    let lines = (0..400).take_while(|i| {
        std::thread::sleep(Duration::from_millis(20));
        stream.write_all(format!("X-{i}: x\r\n").as_bytes()).is_ok()
    });
    assert!(lines.count() < 400);
}

#[test]
fn heads_beyond_measure_are_refused() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits::default());
    let head = |line: String| format!("GET /digits HTTP/1.1\r\nHost: localhost\r\n{line}\r\nConnection: close\r\n\r\n");
    let huge = raw(&server, head(format!("X: {}", "x".repeat(2_000_000))).as_bytes());
    assert!(!huge.contains("0123456789"), "{huge}");
    let many = raw(&server, head((0..5000).map(|i| format!("X{i}: x\r\n")).collect::<String>() + "Y: y").as_bytes());
    assert!(!many.contains("0123456789"), "{many}");
    let long = raw(&server, format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(2_000_000)).as_bytes());
    assert!(!long.contains(" 200 "), "{long}");
    assert!(is_served(&server));
}

#[test]
fn no_request_hides_in_another() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits::default());
    let hidden = "GET /sub/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let length = hidden.len();
    for headers in [
        format!("Content-Length: {length}\r\nContent-Length: 0\r\n"),
        format!("Content-Length: 0\r\nContent-Length: {length}\r\n"),
        format!("Content-Length: {length}, 0\r\n"),
        format!("Content-Length: {length}\r\nContent-Length: {length}\r\n"),
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"),
        "Transfer-Encoding: xchunked\r\n".to_owned(),
        "Transfer-Encoding: chunked, identity\r\n".to_owned(),
        "Transfer-Encoding : chunked\r\n".to_owned(),
        format!("Content-Length: +{length}\r\n"),
        format!("Content-Length: {length}\r\n"),
        "Content-Length: 5\r\n".to_owned(),
    ] {
        for method in ["GET", "POST", "HEAD"] {
            let request = format!("{method} /digits HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n{hidden}");
            let answers = raw(&server, request.as_bytes());
            assert!(!answers.contains("&lt;b&gt;"), "{method} {headers}: {answers}");
            assert!(answers.matches("HTTP/1.1 ").count() <= 1, "{method} {headers}: {answers}");
        }
    }
    assert_eq!(server.requests().iter().filter(|r| r.path == "/sub/").count(), 0);
}

#[test]
fn a_page_of_another_site_reads_nothing() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits::default());
    let ask = |server: &OriginHandle, host: &str| {
        raw(server, format!("GET /digits HTTP/1.1\r\n{host}Connection: close\r\n\r\n").as_bytes())
    };
    let port = server.addr().port();
    for good in ["localhost", "127.0.0.1", "[::1]", "LocalHost"] {
        let answer = ask(&server, &format!("Host: {good}:{port}\r\n"));
        assert!(answer.contains("0123456789"), "{good}: {answer}");
    }
    let answer = ask(&server, "Host: rebound.example.org\r\n");
    assert!(answer.starts_with("HTTP/1.1 421 ") && answer.contains("--allow-host"), "{answer}");
    for bad in ["Host: localhost\r\nHost: rebound.example.org\r\n", ""] {
        let answer = ask(&server, bad);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{bad}: {answer}");
    }
    let absolute = b"GET http://rebound.example.org/digits HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert!(!raw(&server, absolute).contains("0123456789"));
    let allowed = vec!["rebound.example.org".to_owned()];
    let open = OriginOptions { allowed_hosts: allowed, ..OriginOptions::new(folder.0.join("root")) };
    let answer = ask(&Origin::start(open).unwrap(), "Host: Rebound.example.org:1\r\n");
    assert!(answer.contains("0123456789"), "{answer}");
}

#[test]
fn listings_show_no_links_that_lead_out_or_in_circles() {
    let folder = Folder::new();
    let root = folder.0.join("root");
    symlink("../../root-not/secret", root.join("sub/out")).unwrap();
    symlink("../../root-not", root.join("sub/outdir")).unwrap();
    symlink("/etc/passwd", root.join("sub/absolute")).unwrap();
    symlink("nowhere", root.join("sub/dangling")).unwrap();
    symlink("..", root.join("sub/up")).unwrap();
    symlink(".", root.join("sub/self")).unwrap();
    symlink("loop", root.join("sub/loop")).unwrap();
    symlink("../digits", root.join("sub/inside")).unwrap();
    symlink(root.join("digits"), root.join("sub/full")).unwrap();
    std::fs::write(root.join("sub/'\" onclick=x&<script>"), "x").unwrap();
    let server = serve(&folder, ClientLimits::default());
    let page = Client::new(&server).get("/sub/", "").2;
    for hidden in ["out", "outdir", "absolute", "dangling", "up", "self", "loop"] {
        assert!(!page.contains(&format!("./{hidden}\"")) && !page.contains(&format!("./{hidden}/\"")), "{page}");
    }
    assert!(page.contains("./inside\"") && page.contains("./full\""), "{page}");
    assert!(!page.contains("<script") && !page.contains("'\""), "{page}");
    let mut client = Client::new(&server);
    for path in ["/sub/out", "/sub/outdir/secret", "/sub/outdir/", "/sub/absolute", "/sub/loop", "/sub/dangling"] {
        assert_eq!(client.get(path, "").0, 404, "{path}");
    }
    assert_eq!(client.get("/sub/full", "").2, "0123456789");
}

#[test]
fn links_that_are_swapped_meanwhile_never_lead_out() {
    let folder = Folder::new();
    let root = folder.0.join("root");
    std::fs::create_dir(root.join("real")).unwrap();
    std::fs::write(root.join("real/secret"), "public").unwrap();
    let server = serve(&folder, ClientLimits::default());
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                // a directory, and a link to another one outside, alternately under one name
                let _ = std::fs::rename(root.join("real"), root.join("swap"));
                let _ = std::fs::rename(root.join("swap"), root.join("real"));
                let _ = symlink("../root-not", root.join("swap"));
                let _ = std::fs::remove_file(root.join("swap"));
            }
        });
        let mut client = Client::new(&server);
        for _ in 0..2000 {
            let (status, _, body) = client.get("/swap/secret", "");
            assert!((status == 200 && body == "public") || status == 404, "{status} {body}");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn no_spelling_of_a_path_leads_out() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits::default());
    for path in [
        "/../root-not/secret",
        "/..//root-not/secret",
        "/.%2e/root-not/secret",
        "/%2E%2E/root-not/secret",
        "/%2e%2e%2froot-not%2fsecret",
        "/%252e%252e/root-not/secret",
        "/..%5croot-not%5csecret",
        "/..\\root-not\\secret",
        "/%c0%ae%c0%ae/root-not/secret",
        "/sub/%2e%2e/%2e%2e/root-not/secret",
        "/digits/../../root-not/secret",
        "/digits%00/../../root-not/secret",
        "/;/../root-not/secret",
        "../root-not/secret",
        "/./.././root-not/secret",
        "http://localhost/../root-not/secret",
        "//localhost/../root-not/secret",
        "/%ef%bc%8e%ef%bc%8e/root-not/secret",
        "*",
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let answer = raw(&server, request.as_bytes());
        let refused = answer.is_empty() || answer.starts_with("HTTP/1.1 4");
        assert!(refused && !answer.contains("secret"), "{path}: {answer}");
    }
}

#[test]
fn ranges_make_no_large_answer_of_a_small_file() {
    let folder = Folder::new();
    let server = serve(&folder, ClientLimits::default());
    let ask = |ranges: String| {
        let head =
            format!("GET /digits HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nRange: bytes={ranges}\r\n\r\n");
        raw(&server, head.as_bytes())
    };
    for ranges in [
        "0-,".repeat(1900),
        "0-9,".repeat(5000),
        (0..1000).map(|i| format!("{}-,", i % 10)).collect::<String>(),
        "-10,".repeat(1500),
        "0-0,0-".to_owned(),
        format!("0-{}", "9".repeat(5000)),
    ] {
        let answer = ask(ranges.clone());
        assert!(answer.len() < 2000, "{} bytes for {:.40}", answer.len(), ranges);
    }
    let apart = ask((0..10).map(|i| format!("{i}-{i},")).collect());
    assert!(apart.len() < 4000, "{apart}");
}
