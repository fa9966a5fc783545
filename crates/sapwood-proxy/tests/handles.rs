//! Files that the proxy has open: those of versions that were replaced are closed.

#![cfg(target_os = "linux")]

mod common;

use common::{Folder, get, noise};
use sapwood_proxy::Proxy;
use std::fs;
use std::time::{Duration, Instant};

const SIZE: usize = 1_000_000;
/// Each replaces the one before it.
const VERSIONS: u64 = 40;

/// Files and sockets that this process has open.
fn handles() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn replaced_versions_are_closed() {
    let folder = Folder::new();
    folder.write("f", &noise(SIZE, 0));
    let origin = folder.origin();
    let proxy = Proxy::start(folder.options(origin.url()).fresh(Duration::ZERO)).unwrap();
    let url = proxy.http_url().unwrap() + "f";
    assert!(get(&url).body == noise(SIZE, 0));
    let before = handles();
    for version in 1..=VERSIONS {
        let bytes = noise(SIZE, version);
        folder.write("g", &bytes);
        fs::rename(folder.0.join("files/g"), folder.0.join("files/f")).unwrap();
        assert!(get(&url).body == bytes);
    }
    // what waits to be written to the disk is closed after that; without a request, everything is closed after a minute
    let begun = Instant::now();
    while handles() >= before + VERSIONS as usize {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} files are open, {before} at the start", handles());
        std::thread::sleep(Duration::from_millis(50));
    }
}
