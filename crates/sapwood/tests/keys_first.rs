//! Listing keys far away waits for no tree's header, nor reads it; requests and waits are counted at the server.

mod common;
#[path = "../../sapwood-source/tests/common/xrd_scripted.rs"]
#[allow(dead_code, reason = "sources are tested with the rest of it")]
mod xrd_scripted;

use common::{Folder, write};
use sapwood::{File, OpenOptions, Span};
use sapwood_serve::{Origin, OriginOptions};
use sapwood_write::TreeOptions;
use sapwood_xrd::Request;
use std::time::Duration;
use xrd_scripted::{XrdServer, good};

const ENTRIES: u64 = 20_000;

/// A file whose key list is far in front of its end, as in those of ROOT that were saved now and then; the tree's header
/// is at the end. Also the key list and the header.
fn keys_in_the_middle(path: &str) -> (Vec<u8>, Span, Span) {
    write(path, ENTRIES, "none", TreeOptions::default());
    let file = File::open(path, &OpenOptions::default()).unwrap();
    let tree = file.find("Events").unwrap().key.span;
    let header = file.header();
    let directory = (header.begin + u64::from(header.nbytes_name)) as usize;
    drop(file);
    let mut bytes = std::fs::read(path).unwrap();
    let number = |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let (len, old) = (number(&bytes, directory + 10) as usize, number(&bytes, directory + 26) as usize);
    // nobody reads what is in the middle of the baskets here
    let new = bytes.len() / 2;
    bytes.copy_within(old..old + len, new);
    bytes[old..old + len].fill(0xff);
    bytes[directory + 26..directory + 30].copy_from_slice(&(new as u32).to_be_bytes());
    std::fs::write(path, &bytes).unwrap();
    (bytes, Span::new(new as u64, len as u64), tree)
}

/// Opens it, lists its keys, and then reads the tree's header.
fn list_and_count(url: &str, keys_only: bool, mut listed: impl FnMut()) {
    let file = File::open(url, &OpenOptions::new().keys_only(keys_only)).unwrap();
    let keys = file.list("", true).unwrap();
    assert_eq!(keys.iter().map(|k| k.path.as_str()).collect::<Vec<_>>(), ["Events"]);
    listed();
    assert_eq!(file.tree("Events").unwrap().entries(), ENTRIES);
}

#[test]
fn keys_over_http_are_read_without_a_tree_header() {
    let folder = Folder::new();
    let (_, keys, _) = keys_in_the_middle(&folder.file("a.root"));
    let options = OriginOptions { delay: Duration::from_millis(40), ..OriginOptions::new(folder.path()) };
    let origin = Origin::start(options).unwrap();
    let url = format!("{}a.root", origin.url());
    list_and_count(&url, true, || {
        let log = origin.requests();
        let read: u64 = log.iter().flat_map(|r| &r.ranges).map(|r| r.len).sum();
        assert_eq!(log.len(), 2, "both ends, then the key list: {log:#?}");
        assert!(log[1].ranges.contains(&keys), "{log:#?}");
        assert!(read <= (39 << 10) + keys.len, "{read} bytes: {log:#?}");
    });
    let before = origin.requests().len();
    // who reads a tree next asks for more, in the same round trip as the key list
    list_and_count(&url, false, || {
        let log = origin.requests().split_off(before);
        let read: u64 = log.iter().flat_map(|r| &r.ranges).map(|r| r.len).sum();
        assert!(read > 128 << 10, "{read} bytes: {log:#?}");
    });
}

#[test]
fn keys_over_xrootd_cost_one_flight_after_the_open() {
    let folder = Folder::new();
    for middle in [false, true] {
        let path = folder.file("a.root");
        let bytes = if middle {
            keys_in_the_middle(&path).0
        } else {
            write(&path, ENTRIES, "none", TreeOptions::default());
            std::fs::read(&path).unwrap()
        };
        assert!(bytes.len() > 400 << 10, "{}", bytes.len());
        let server = XrdServer::far(Duration::from_millis(300), move |asked, back| good(asked, back, &bytes));
        list_and_count(&server.url(), true, || {
            let log = server.log();
            let read: u64 = log.iter().map(|a| wanted(&a.request)).sum();
            let flights = log.iter().filter(|a| wanted(&a.request) > 0).map(|a| a.flight).max().unwrap();
            assert!(read <= 33 << 10, "{read} bytes, middle: {middle}");
            assert_eq!(flights, 1, "open and beginning, then the key list (middle: {middle}): {log:#?}");
        });
    }
}

/// Bytes that a request reads.
fn wanted(request: &Request) -> u64 {
    match request {
        Request::Read { len, .. } | Request::PageRead { len, .. } => u64::from(*len),
        Request::ReadV(chunks) => chunks.iter().map(|c| u64::from(c.len)).sum(),
        _ => 0,
    }
}
