//! Few baskets among many on XRootD servers that take few ranges in a vector read, or short ones.

mod common;
#[path = "../../sapwood-source/tests/common/xrd_scripted.rs"]
#[allow(dead_code, reason = "sources are tested with the rest of it")]
mod xrd_scripted;

use common::{Folder, open};
use sapwood::write::{BranchSpec, Cluster, FileWriter, TreeOptions};
use sapwood::{Array, Compression, DType, ScanOptions, Values};
use sapwood_xrd::Request;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use xrd_scripted::{XrdServer, good};

const BRANCHES: usize = 200;

/// Two hundred branches with a small basket in each of sixty clusters.
fn many_baskets(path: &str) -> Vec<u8> {
    let specs: Vec<BranchSpec> = (0..BRANCHES).map(|i| BranchSpec::scalar(format!("b{i}"), DType::F32)).collect();
    let mut file = FileWriter::create(path, Compression::NONE).unwrap();
    let options = TreeOptions::default().cluster(Cluster::Entries(300)).optimize_baskets(false);
    let mut tree = file.tree("t", "", &specs, options).unwrap();
    let column = Array::Flat(Values::F32((0..18_000_u16).map(f32::from).collect()));
    let columns: Vec<(&str, &Array)> = specs.iter().map(|s| (&*s.name, &column)).collect();
    tree.extend(&columns).unwrap();
    tree.finish().unwrap();
    file.finish().unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn a_scattered_query_costs_what_it_wants_where_a_server_takes_one_range() {
    let folder = Folder::new();
    let bytes = Arc::new(many_baskets(&folder.file("many.root")));
    for limits in ["1024\n2097136\n", "1\n2097136\n", "2\n2097136\n", "1024\n1\n", "1\n1\n", "0\n0\n"] {
        let (file, sent) = (Arc::clone(&bytes), Arc::new(AtomicU64::new(0)));
        let counted = Arc::clone(&sent);
        let server = XrdServer::far(Duration::from_millis(10), move |asked, back| {
            let before = back.len();
            let then = match &asked.request {
                Request::Query { .. } => back.ok(limits.as_bytes()),
                _ => good(asked, back, &file),
            };
            counted.fetch_add((back.len() - before) as u64, Ordering::Relaxed);
            then
        });
        let tree = open(&server.url()).tree("t").unwrap();
        let (opening, flights) = (sent.load(Ordering::Relaxed), server.flights());
        let branches: Vec<_> = tree.order().iter().copied().filter(|b| b % 100 == 7).collect();
        let mut scan = tree.scan_with(&ScanOptions::default().branches(branches)).unwrap();
        assert_eq!(scan.by_ref().map(|b| b.unwrap().entries.end).last(), Some(18_000));
        let (report, flights) = (scan.report(), server.flights() - flights);
        let (cost, wanted) = (sent.load(Ordering::Relaxed) - opening, report.bytes_wanted);
        assert!(wanted > 100_000 && wanted < bytes.len() as u64 / 50, "{wanted} of {}", bytes.len());
        assert!(cost <= wanted * 3 / 2, "{limits:?}: {cost} bytes for {wanted}");
        // a hundred and twenty baskets, which a server at its usual limits brings in a few flights
        assert!(flights <= 16, "{limits:?}: {flights} flights");
    }
}
