//! A proxy in front of one origin: correct bytes, each fetched once.

mod common;

use common::{Folder, Reader, ask, get, noise, range, sent};
use sapwood_serve::Served;
use std::time::{Duration, Instant};

const SIZE: usize = 10_000_000;

/// Both protocols of an origin, and both of the proxy.
#[test]
fn bytes_are_right_and_come_once() {
    let bytes = noise(SIZE, 1);
    for over_root in [false, true] {
        let folder = Folder::new();
        folder.write("f", &bytes);
        let origin = folder.origin();
        let proxy = folder.proxy(if over_root { origin.root_url().unwrap() } else { origin.url() });
        let (http, root) = (proxy.http_url().unwrap() + "f", proxy.root_url().unwrap() + "f");
        let answer = range(&http, 1_000_000, 100_000);
        assert_eq!((answer.status, answer.is_cut), (206, false));
        assert!(answer.body == bytes[1_000_000..1_100_000]);
        let reader = Reader::open(&root).unwrap();
        assert_eq!(reader.size, SIZE as u64);
        let read = reader.read(&[(1_050_000, 100_000), (0, 10), (SIZE as u64 - 10, 10)]).unwrap();
        assert!(read[0] == bytes[1_050_000..1_150_000] && read[1] == bytes[..10] && read[2] == bytes[SIZE - 10..]);
        let answer = get(&http);
        assert!(answer.body == bytes && answer.status == 200);
        assert!(reader.read(&[(0, SIZE as u64)]).unwrap()[0] == bytes);
        assert!(get(&http).body == bytes);
        let ratio = sent(&origin) as f64 / SIZE as f64;
        assert!(ratio < 1.02, "{ratio}: {:?}", origin.requests());
        // bytes received after a pause without requests are in the store then, too
        drop(proxy);
        let again = folder.proxy(if over_root { origin.root_url().unwrap() } else { origin.url() });
        let (before, count) = (sent(&origin), origin.requests().len());
        assert!(get(&(again.http_url().unwrap() + "f")).body == bytes);
        let further = sent(&origin) - before;
        assert!(further < 2000, "{further} bytes after a restart: {:?}", &origin.requests()[count..]);
    }
}

#[test]
fn small_reads_do_not_cost_more_than_they_bring() {
    let bytes = noise(2_000_000, 2);
    for over_root in [false, true] {
        let folder = Folder::new();
        folder.write("f", &bytes);
        let origin = folder.origin();
        // a file that was just written may change again without another tag
        let tag = || ask("HEAD", &(origin.url() + "f"), "").header("etag").unwrap().to_owned();
        while tag().starts_with("W/") {
            std::thread::sleep(Duration::from_millis(200));
        }
        let proxy = folder.proxy(if over_root { origin.root_url().unwrap() } else { origin.url() });
        let reader = Reader::open(&(proxy.root_url().unwrap() + "f")).unwrap();
        // about as long as baskets: each response over HTTP has 80 more bytes, by which it is compared
        for at in (0..1_000_000).step_by(8000) {
            let spans = [(at, 3000), (at + 3500, 2500)];
            let read = reader.read(&spans).unwrap();
            for (part, (start, len)) in read.iter().zip(spans) {
                assert!(*part == bytes[start as usize..(start + len) as usize]);
            }
        }
        // headers of parts are not bytes of the file
        let ranges = |requests: &[Served]| requests.iter().flat_map(|r| &r.ranges).map(|r| r.len).sum::<u64>();
        let (payload, asked) = (ranges(&origin.requests()), ranges(&proxy.requests()));
        let ratio = payload as f64 / asked as f64;
        assert!(asked > 450_000 && ratio < 1.02, "{ratio} of {asked}");
    }
}

/// Twenty at once on a cold file that is far away.
#[test]
fn what_many_want_at_once_is_fetched_once() {
    let bytes = noise(SIZE, 3);
    let folder = Folder::new();
    folder.write("f", &bytes);
    let origin = folder.origin_with(|o| o.delay = Duration::from_millis(20));
    let proxy = folder.proxy(origin.url());
    let (http, root) = (proxy.http_url().unwrap() + "f", proxy.root_url().unwrap() + "f");
    std::thread::scope(|scope| {
        for client in 0..20 {
            let (http, root, bytes) = (&http, &root, &bytes);
            scope.spawn(move || {
                if client % 2 == 0 {
                    assert!(get(http).body == *bytes);
                } else {
                    // parts that overlap those of others
                    let reader = Reader::open(root).unwrap();
                    for at in (client * 1000..SIZE as u64 - 1_000_000).step_by(700_000) {
                        let read = reader.read(&[(at, 900_000)]).unwrap();
                        assert!(read[0] == bytes[at as usize..at as usize + 900_000]);
                    }
                }
            });
        }
    });
    let ratio = sent(&origin) as f64 / SIZE as f64;
    assert!(ratio < 1.02, "{ratio}");
    assert_eq!(proxy.metrics().origin_errors, 0);
}

/// A reader that requests many scattered ranges at once, as uproot and a tree cache do: they are fetched together.
#[test]
fn a_long_request_of_many_ranges_takes_few_fetches() {
    let bytes = noise(40_000_000, 5);
    for (over_root, by_root) in [(false, false), (false, true), (true, false), (true, true)] {
        let folder = Folder::new();
        folder.write("f", &bytes);
        let origin = folder.origin();
        let proxy = folder.proxy(if over_root { origin.root_url().unwrap() } else { origin.url() });
        let url = if by_root { proxy.root_url() } else { proxy.http_url() };
        let spans: Vec<(u64, u64)> = (0..800).map(|i| (i * 50_000, 40_000)).collect();
        let reader = Reader::open(&(url.unwrap() + "f")).unwrap();
        let before = origin.requests().len();
        for (part, (start, len)) in reader.read(&spans).unwrap().iter().zip(&spans) {
            assert!(*part == bytes[*start as usize..(start + len) as usize]);
        }
        // 32 MB in pieces of 4 MB, with shorter ones at first
        let count = origin.requests().len() - before;
        assert!(count < 30, "{count} requests");
    }
}

/// A client evaluates a cut with the first bytes while the rest comes. Over HTTP each request would be compared.
#[test]
fn of_a_long_request_the_first_bytes_are_asked_of_an_xrootd_origin_by_themselves() {
    let bytes = noise(8_000_000, 7);
    for over_root in [false, true] {
        let folder = Folder::new();
        folder.write("f", &bytes);
        let origin = folder.origin();
        let proxy = folder.proxy(if over_root { origin.root_url().unwrap() } else { origin.url() });
        let reader = Reader::open(&(proxy.root_url().unwrap() + "f")).unwrap();
        let before = origin.requests().len();
        let spans: Vec<(u64, u64)> = (0..72).map(|i| (i * 100_000 + 50_000, 50_000)).collect();
        for (part, (start, len)) in reader.read(&spans).unwrap().iter().zip(&spans) {
            assert!(*part == bytes[*start as usize..(start + len) as usize]);
        }
        let requests = origin.requests();
        let of_first = |r: &&Served| r.ranges.iter().any(|span| span.start == 50_000);
        let first: u64 = requests[before..].iter().filter(of_first).map(|r| r.bytes).sum();
        let (least, most) = if over_root { (512 << 10, 600_000) } else { (3_600_000, 3_700_000) };
        assert!((least..most).contains(&first), "{first}: {requests:?}");
    }
}

#[test]
fn an_answer_says_which_version_it_is_of() {
    let folder = Folder::new();
    folder.write("f", b"first version");
    let origin = folder.origin();
    let proxy = Proxy::fresh(&folder, origin.url());
    let url = proxy.http_url().unwrap() + "f";
    let first = get(&url);
    let tag = first.header("etag").unwrap().to_owned();
    assert!(tag.starts_with('"'), "{tag}");
    assert_eq!(ask("GET", &url, &format!("If-None-Match: {tag}\r\n")).status, 304);
    let same = ask("GET", &url, &format!("If-Range: {tag}\r\nRange: bytes=0-4\r\n"));
    assert_eq!((same.status, same.body.as_slice()), (206, &b"first"[..]));
    folder.write_at("f", b"other version", Duration::from_secs(7200));
    let other = ask("GET", &url, &format!("If-Range: {tag}\r\nRange: bytes=0-4\r\n"));
    assert_eq!((other.status, other.body.as_slice()), (200, &b"other version"[..]));
    assert_ne!(other.header("etag").unwrap(), tag);
    assert_eq!(get(&(proxy.http_url().unwrap() + "none")).status, 404);
    assert!(Reader::open(&(proxy.root_url().unwrap() + "none")).is_err());
}

struct Proxy;

impl Proxy {
    /// A proxy that queries the origin at each open.
    fn fresh(folder: &Folder, origin: String) -> sapwood_proxy::ProxyHandle {
        sapwood_proxy::Proxy::start(folder.options(origin).fresh(Duration::ZERO)).unwrap()
    }
}

/// A client that reads a little and leaves.
#[test]
fn nothing_more_is_fetched_for_whoever_has_left() {
    use std::io::{Read, Write};
    let folder = Folder::new();
    let bytes = noise(100_000_000, 4);
    folder.write("f", &bytes);
    let origin = folder.origin();
    let proxy = folder.proxy(origin.url());
    let url = proxy.http_url().unwrap();
    let mut stream = std::net::TcpStream::connect(url[7..].trim_end_matches('/')).unwrap();
    stream.write_all(b"GET /f HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; 100_000]).unwrap();
    drop(stream);
    let (mut last, end) = (u64::MAX, Instant::now() + Duration::from_secs(20));
    while last != sent(&origin) && Instant::now() < end {
        last = sent(&origin);
        std::thread::sleep(Duration::from_millis(300));
    }
    assert!(last < 40_000_000, "{last}");
}
