//! What opening and reading a file over a path would request: for simulations.

use crate::open_source::{HEAD, TAIL};
use crate::scan::{most_ahead, steps};
use crate::tree::Tree;
use sapwood_source::{http_expected, http_expected_through_proxy, xrootd_beginning, xrootd_expected};
use std::ops::Range;
use std::time::Duration;

pub use sapwood_source::{Expected, http_measured, measured_bandwidth};

/// Bytes of the beginning of a file that are read when it is opened over XRootD, or otherwise.
pub fn bytes_of_beginning(over_xrootd: bool) -> u64 {
    if over_xrootd { xrootd_beginning(HEAD) } else { HEAD }
}

/// A gap that is read along while a file is opened.
const GAP: u64 = 16 << 10;

/// Bytes at the end of its file that opening a tree takes: key list and class descriptions, and the tree's header.
pub fn bytes_to_open(tree: &Tree) -> u64 {
    let (size, key) = (tree.file().size(), tree.key());
    let tail = size.saturating_sub(TAIL);
    let (start, end) = (key.span.start.min(size), key.span.end().min(size));
    if end.saturating_add(GAP) >= tail { (size - start).max(TAIL.min(size)) } else { TAIL + (end - start) }
}

/// The steps in which a scan asks for the first entries of a tree with these clusters; what is read has so many bytes decompressed. About
/// `most` at most: where there would be more, they are larger.
pub fn expected_steps(clusters: &[u64], entries: u64, bytes: f64, most: u64) -> Vec<Range<u64>> {
    steps::of_entries(clusters, entries, bytes, most)
}

/// Decompressed bytes that a scan with so many threads keeps for later steps, from a local file or from a server.
pub fn expected_ahead(threads: usize, local: bool) -> u64 {
    most_ahead(threads, local)
}

/// On an HTTP server at this distance; `needed` as [`bytes_to_open`] gives it. `long`: the server accepts long lists of ranges, as
/// nginx does; `proxied`: it is read through a caching proxy near the client that has nothing of it yet.
pub fn expected_over_http(size: u64, needed: u64, round_trip: Duration, long: bool, proxied: bool) -> Expected {
    let expected = if proxied { http_expected_through_proxy } else { http_expected };
    expected(size, round_trip, [HEAD, needed, TAIL], long)
}

/// The same on an XRootD server.
pub fn expected_over_xrootd(size: u64, needed: u64, round_trip: Duration) -> Expected {
    xrootd_expected(size, round_trip, [HEAD, needed, TAIL])
}
