//! What a store costs. Not a check: run with `--ignored --nocapture`.

mod common;

use common::{Folder, MB, Remote};
use sapwood_span::Span;
use std::time::Instant;

/// Bytes that this process occupies.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 4096
}

#[test]
#[ignore = "prints figures"]
fn figures() {
    let folder = Folder::new();
    let remote = Remote::new("https://host/a.root", 1, 1024 * MB);
    let bytes = remote.bytes(0, 256 << 20);
    let rate = |bytes: u64, begun: Instant| bytes as f64 / 1e6 / begun.elapsed().as_secs_f64();
    {
        let store = folder.open(20_000 * MB);
        let file = store.file(&remote.id);
        let (mut waited, begun) = (0.0, Instant::now());
        for at in (0..bytes.len()).step_by(1 << 20) {
            let one = Instant::now();
            file.insert(at as u64, bytes.slice(at..at + (1 << 20)));
            waited += one.elapsed().as_secs_f64();
            if at % (32 << 20) == 0 {
                store.flush();
            }
        }
        store.flush();
        println!("insert: {:.0} MB/s, of which the caller waited {:.1} ms", rate(256 << 20, begun), waited * 1e3);
        assert_eq!(store.status().left_out_bytes, 0);
    }
    let store = folder.open(20_000 * MB);
    let file = store.file(&remote.id);
    for len in [1 << 20, 64 << 10, 30_000, 1000] {
        let begun = Instant::now();
        let mut read = 0;
        for start in (0..(256 << 20) - len).step_by(len as usize) {
            read += file.read(Span::new(start, len)).unwrap().len() as u64;
        }
        println!("read {len} bytes at a time: {:.0} MB/s", rate(read, begun));
    }
    let many = Remote::new("https://host/b.root", 2, 1024 * MB);
    {
        let file = store.file(&many.id);
        for i in 0..100_000 {
            file.insert(i * 2000, bytes.slice(i as usize * 10..i as usize * 10 + 500));
        }
        store.flush();
    }
    let before = resident();
    let begun = Instant::now();
    let file = store.file(&many.id);
    let open = begun.elapsed().as_secs_f64();
    let memory = resident().saturating_sub(before);
    assert_eq!(file.bytes_held(), 50_000_000);
    println!("open a file of 100 000 pieces: {:.1} ms, {} bytes of memory per piece", open * 1e3, memory / 100_000);
    let begun = Instant::now();
    let status = store.status();
    println!("status of {} pieces: {:.1} ms", status.pieces, begun.elapsed().as_secs_f64() * 1e3);
    let begun = Instant::now();
    let found = store.verify(&|_, _| {});
    println!("verify: {:.0} MB/s", rate(found.bytes, begun));
}
