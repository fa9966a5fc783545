//! Behaviour that HTTP clients and intermediaries rely on, with raw requests.

mod common;

use common::{Client, Folder};
use std::io::{BufRead, Read, Write};

#[test]
fn a_thousand_ranges_in_one_request() {
    let folder = Folder::new();
    let data: Vec<u8> = (0..3_000_000u32).map(|i| b'a' + (i * i / 7 % 26) as u8).collect();
    std::fs::write(folder.0.join("root/large"), &data).unwrap();
    let server = folder.serve();
    let mut client = Client::new(&server);
    let spans: Vec<(usize, usize)> = (0..1000).map(|i| ((i * 7919) % 1000 * 3000 + i % 100, 1 + i % 2500)).collect();
    let ranges: Vec<String> = spans.iter().map(|(at, len)| format!("{at}-{}", at + len - 1)).collect();
    let (status, head, body) = client.get("/large", &format!("Range: bytes={}\r\n", ranges.join(",")));
    assert_eq!(status, 206);
    let boundary = head.split("boundary=").nth(1).unwrap().split("\r\n").next().unwrap();
    let parts: Vec<&str> = body.split(&format!("\r\n--{boundary}")).collect();
    assert_eq!((parts.len(), parts[1001]), (1002, "--\r\n"));
    for (part, (at, len)) in parts[1..].iter().zip(&spans) {
        let (head, bytes) = part.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Range: bytes {at}-{}/3000000", at + len - 1)), "{head}");
        assert!(bytes.as_bytes() == &data[*at..at + len], "{at}");
    }
    assert_eq!(client.get("/digits", "").2, "0123456789", "the connection goes on");
}

#[test]
fn heads_are_those_of_the_whole_answers() {
    let folder = Folder::new();
    let server = folder.serve();
    let mut client = Client::new(&server);
    for path in ["/digits", "/sub/", "/sub", "/gone"] {
        let (status, head, body) = client.ask("HEAD", path, "");
        let (same, whole, _) = client.get(path, "");
        let lines = |head: &str| {
            let mut lines: Vec<String> = head.lines().map(str::to_owned).collect();
            lines.retain(|line| !line.starts_with("date: "));
            lines
        };
        assert_eq!((status, lines(&head)), (same, lines(&whole)), "{path}");
        assert!(body.is_empty());
    }
    // ranges apply to GET only (RFC 9110, section 14.2)
    let (status, head, _) = client.ask("HEAD", "/digits", "Range: bytes=2-4\r\n");
    assert!(status == 200 && head.contains("content-length: 10\r\n"), "{head}");
}

#[test]
fn ranges_at_the_end_and_behind_it() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("root/empty"), "").unwrap();
    let server = folder.serve();
    let mut client = Client::new(&server);
    for (range, status, body) in [
        ("9-9", 206, "9"),
        ("9-1000", 206, "9"),
        ("10-10", 416, "the range is beyond the end of the file\n"),
        ("10-", 416, "the range is beyond the end of the file\n"),
        ("-0", 416, "the range is beyond the end of the file\n"),
        ("-1000", 206, "0123456789"),
        ("100-200,3-4", 206, "34"),
        ("3-4,100-", 206, "34"),
        ("4-3", 200, "0123456789"),
    ] {
        let (got, _, text) = client.get("/digits", &format!("Range: bytes={range}\r\n"));
        assert_eq!((got, text.as_str()), (status, body), "{range}");
    }
    assert_eq!(client.get("/empty", "Range: bytes=0-\r\n").0, 416);
    assert_eq!(client.get("/empty", "").0, 200);
}

#[test]
fn if_range_never_mixes_two_versions() {
    let folder = Folder::new();
    let server = folder.serve();
    let mut client = Client::new(&server);
    let etag = client.strong_etag("/digits");
    let (_, head, _) = client.ask("HEAD", "/digits", "");
    let date = head.split("last-modified: ").nth(1).unwrap().split("\r\n").next().unwrap();
    // as the header was written, for dates
    let date = httpdate::fmt_http_date(httpdate::parse_http_date(&title(date)).unwrap());
    let part = |client: &mut Client, value: &str| {
        client.get("/digits", &format!("Range: bytes=2-4\r\nIf-Range: {value}\r\n")).0
    };
    assert_eq!((part(&mut client, &etag), part(&mut client, &date)), (206, 206));
    std::fs::write(folder.0.join("root/digits"), "9876543210").unwrap();
    assert_eq!((part(&mut client, &etag), part(&mut client, &date)), (200, 200), "another version is sent as a whole");
    let (status, _, body) = client.get("/digits", &format!("If-Match: {etag}\r\nRange: bytes=2-4\r\n"));
    assert_eq!((status, body.as_str()), (412, ""));
}

/// A date in the letters that a header has it in.
fn title(date: &str) -> String {
    let words = date.split(' ').map(|word| match word {
        "gmt" => "GMT".to_owned(),
        word => word[..1].to_uppercase() + &word[1..],
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn connections_stay_open_only_where_the_client_wants_it() {
    let folder = Folder::new();
    let server = folder.serve();
    let mut client = Client::new(&server);
    for _ in 0..500 {
        assert_eq!(client.get("/digits", "Range: bytes=1-1\r\n").2, "1");
    }
    // several requests at once are answered in order
    let asked: String =
        (0..9).map(|i| format!("GET /digits HTTP/1.1\r\nHost: h\r\nRange: bytes={i}-{i}\r\n\r\n")).collect();
    let asked = asked.replace("Host: h", "Host: localhost");
    client.0.get_mut().write_all(asked.as_bytes()).unwrap();
    let last = client.get("/digits", "Connection: close\r\n");
    assert!(last.0 == 206 && last.2 == "0", "the first of them: {last:?}");
    let mut rest = String::new();
    client.0.read_to_string(&mut rest).unwrap();
    let bodies: Vec<&str> = rest.split("\r\n\r\n").skip(1).map(|b| &b[..1]).collect();
    assert_eq!(bodies, ["1", "2", "3", "4", "5", "6", "7", "8", "0"]);
    let mut old = Client::new(&server);
    old.0.get_mut().write_all(b"GET /digits HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    old.0.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("\r\n\r\n0123456789"), "{answer}");
    // the version of the server, not of the request: TWebFile opens a connection per request to an HTTP/1.0 server
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("connection: close\r\n"), "{answer}");
    let mut old = Client::new(&server);
    for last in [false, true] {
        let stays = if last { "" } else { "Connection: Keep-Alive\r\n" };
        old.0.get_mut().write_all(format!("GET /digits HTTP/1.0\r\n{stays}\r\n").as_bytes()).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(old.0.read_line(&mut head).unwrap(), 0, "the connection was closed: {head}");
        }
        let mut body = [0; 10];
        old.0.read_exact(&mut body).unwrap();
        assert!(&body == b"0123456789" && head.contains("connection: close") == last, "{head}");
    }
}
