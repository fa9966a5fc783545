//! Files that change while they are served: an answer holds the bytes of one version, or it is cut short.

mod common;

use common::{Client, Folder};
use sapwood_serve::OriginHandle;
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Far more than the buffers between a server and its client hold.
const SIZE: u64 = 96 << 20;

/// Starts to read an answer, changes the file, and reads on. Returns the length stated in the head, and the bytes
/// received.
fn read_around(server: &OriginHandle, headers: &str, change: impl FnOnce()) -> (u64, Vec<u8>) {
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(format!("GET /large HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes()).unwrap();
    let mut all = vec![0; 100_000];
    stream.read_exact(&mut all).unwrap();
    let end = all.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    let head = String::from_utf8_lossy(&all[..end]).to_lowercase();
    let length: u64 = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap().parse().unwrap();
    change();
    let mut body = all.split_off(end);
    let mut buffer = vec![0; 1 << 20];
    while (body.len() as u64) < length {
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => body.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => panic!("neither more nor an end"),
            _ => break,
        }
    }
    (length, body)
}

/// Overwrites the end of a file, so that its length stays.
fn overwrite(path: &Path) {
    File::options().write(true).open(path).unwrap().write_all_at(&[b'n'; 1000], SIZE - 1000).unwrap();
}

/// The same, with the time of the change set back to what it was.
fn overwrite_unseen(path: &Path) {
    let before = std::fs::metadata(path).unwrap();
    for _ in 0..10_000 {
        overwrite(path);
        File::options().write(true).open(path).unwrap().set_modified(before.modified().unwrap()).unwrap();
        let after = std::fs::metadata(path).unwrap();
        // until the clock of the file system has moved on
        if (after.ctime(), after.ctime_nsec()) != (before.ctime(), before.ctime_nsec()) {
            return;
        }
    }
    panic!("the clock of the file system stands still");
}

fn cut(path: &Path) {
    File::options().write(true).open(path).unwrap().set_len(SIZE / 2).unwrap();
}

fn cut_and_fill_again(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_len(SIZE - 1000).unwrap();
    file.write_all_at(&[b'n'; 1000], SIZE - 1000).unwrap();
}

#[test]
fn an_answer_ends_when_its_file_changes() {
    let folder = Folder::new();
    let server = folder.serve();
    let path = folder.0.join("root/large");
    type Change = fn(&Path);
    let changes: [(&str, Change); 4] = [
        ("overwritten", overwrite),
        ("overwritten, and its time set back", overwrite_unseen),
        ("cut", cut),
        ("cut and filled again", cut_and_fill_again),
    ];
    let half = SIZE / 2;
    let several = format!("Range: bytes=0-{},{}-\r\n", half - 2, half);
    for (name, change) in changes {
        for headers in ["", "Range: bytes=0-\r\n", &several] {
            let file = File::create(&path).unwrap();
            file.set_len(SIZE).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(1000)).unwrap();
            let (length, body) = read_around(&server, headers, || change(&path));
            assert!(length >= SIZE - 1, "{name}: {length}");
            assert!((body.len() as u64) < length, "{name}: {} of {length} bytes", body.len());
            assert!(!body.ends_with(b"n"), "{name}: bytes of another version");
        }
    }
}

#[test]
fn an_answer_goes_on_where_nothing_changes() {
    let folder = Folder::new();
    let server = folder.serve();
    let path = folder.0.join("root/large");
    File::create(&path).unwrap().set_len(SIZE).unwrap();
    let look = || {
        std::fs::metadata(&path).unwrap();
        File::open(&path).unwrap().read_exact(&mut [0; 100]).unwrap();
    };
    let (length, body) = read_around(&server, "", look);
    assert_eq!((length, body.len() as u64), (SIZE, SIZE));
}

#[test]
fn what_was_just_written_has_no_strong_validator() {
    let folder = Folder::new();
    let server = folder.serve();
    let mut client = Client::new(&server);
    let line = |head: &str, name: &str| {
        head.split(&format!("{name}: ")).nth(1).unwrap().split("\r\n").next().unwrap().to_owned()
    };
    // setting the time does not make it older
    let digits = File::options().write(true).open(folder.0.join("root/digits")).unwrap();
    digits.set_modified(SystemTime::now() - Duration::from_secs(1000)).unwrap();
    let (_, head, _) = client.get("/digits", "");
    let weak = line(&head, "etag");
    let date = httpdate::fmt_http_date(digits.metadata().unwrap().modified().unwrap());
    assert_eq!(line(&head, "last-modified"), date.to_lowercase());
    let strong = weak.strip_prefix("w/").unwrap_or_else(|| panic!("{weak}")).to_owned();
    let weak = format!("W/{strong}");
    for tag in [&weak, &strong, &date] {
        let (status, _, body) = client.get("/digits", &format!("Range: bytes=0-0\r\nIf-Range: {tag}\r\n"));
        assert_eq!((status, body.as_str()), (200, "0123456789"), "{tag}");
    }
    for tag in [&weak, &strong] {
        assert_eq!(client.get("/digits", &format!("If-Match: {tag}\r\n")).0, 412, "{tag}");
        assert_eq!(client.get("/digits", &format!("If-None-Match: {tag}\r\n")).0, 304, "{tag}");
    }
    assert_eq!(client.get("/digits", "If-Match: *\r\n").0, 200);
    assert_eq!(client.strong_etag("/digits"), strong, "it becomes strong, and stays the same");
    for tag in [&strong, &date] {
        assert_eq!(client.get("/digits", &format!("Range: bytes=0-0\r\nIf-Range: {tag}\r\n")).2, "0", "{tag}");
    }
    assert_eq!(client.get("/digits", &format!("Range: bytes=0-0\r\nIf-Range: {weak}\r\n")).0, 200);
    assert_eq!(client.get("/digits", &format!("If-Match: {strong}\r\n")).0, 200);
}
