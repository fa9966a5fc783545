//! What costs are worked out with is what the clients do.

mod common;

use common::{Folder, open, write};
use sapwood::ScanOptions;
use sapwood::perf::Collector;
use sapwood_plan::Limits;
use sapwood_serve::{Origin, OriginOptions};
use sapwood_write::{Cluster, TreeOptions};
use std::time::Duration;

#[test]
fn the_preset_for_http_is_what_the_client_does() {
    let folder = Folder::new();
    let layout = TreeOptions::new().cluster(Cluster::Entries(500)).basket_bytes(2000);
    write(&folder.file("a.root"), 1500, "zstd:1", layout);
    for delay in [20, 60].map(Duration::from_millis) {
        let origin = Origin::start(OriginOptions { delay, ..OriginOptions::new(folder.path()) }).unwrap();
        let collector = Collector::start(true);
        let file = open(&format!("{}a.root", origin.url()));
        let tree = file.tree("Events").unwrap();
        let scan = ScanOptions::new(tree.order());
        tree.scan_with(&scan).unwrap().for_each(|batch| drop(batch.unwrap()));
        let mut logs = collector.take_logs();
        logs.retain(|log| log.file == file.url());
        let client = logs[0].request.limits.clone();
        let preset = Limits::http(client.round_trip.unwrap());
        // what is known of the line, and of the connections that it has already, are no presets
        assert_eq!(client, Limits { bandwidth: client.bandwidth, streams: client.streams, ..preset });
    }
}

#[test]
fn the_preset_for_xrootd_is_what_the_client_does() {
    let folder = Folder::new();
    let layout = TreeOptions::new().cluster(Cluster::Entries(500)).basket_bytes(2000);
    write(&folder.file("a.root"), 1500, "zstd:1", layout);
    let delay = Duration::from_millis(20);
    let bind_root = Some("127.0.0.1:0".parse().unwrap());
    let origin = Origin::start(OriginOptions { delay, bind_root, ..OriginOptions::new(folder.path()) }).unwrap();
    let collector = Collector::start(true);
    let file = open(&format!("{}a.root", origin.root_url().unwrap()));
    let tree = file.tree("Events").unwrap();
    tree.scan_with(&ScanOptions::new(tree.order())).unwrap().for_each(|batch| drop(batch.unwrap()));
    let mut logs = collector.take_logs();
    logs.retain(|log| log.file == file.url());
    let client = logs[0].request.limits.clone();
    let preset = Limits::xrootd(client.round_trip.unwrap());
    assert_eq!(client, Limits { bandwidth: client.bandwidth, streams: client.streams, ..preset });
}
