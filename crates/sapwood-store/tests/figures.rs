//! CPU time used by a store. Not a check: run with `--ignored --nocapture`.

mod common;

use common::{Folder, MB, Remote};
use sapwood_span::Span;

/// Bytes that are allocated in this process.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn allocated() -> u64 {
    // SAFETY: only reads the allocator's counters
    let counters = unsafe { libc::mallinfo2() };
    (counters.uordblks + counters.hblkhd) as u64
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn allocated() -> u64 {
    0
}

/// CPU seconds of all threads: other work on the computer does not count.
fn cpu() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the call that fills it
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[test]
#[ignore = "prints figures"]
fn figures() {
    let folder = Folder::new();
    let remote = Remote::new("https://host/a.root", 1, 1024 * MB);
    let bytes = remote.bytes(0, 256 << 20);
    let rate = |bytes: u64, begun: f64| bytes as f64 / 1e6 / (cpu() - begun);
    {
        let store = folder.open(20_000 * MB);
        let file = store.file(&remote.id);
        let (mut waited, begun) = (0.0, cpu());
        for at in (0..bytes.len()).step_by(1 << 20) {
            let one = cpu();
            file.insert(at as u64, bytes.slice(at..at + (1 << 20)));
            waited += cpu() - one;
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
        let begun = cpu();
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
    let before = allocated();
    let begun = cpu();
    let file = store.file(&many.id);
    let open = cpu() - begun;
    let memory = allocated().saturating_sub(before);
    assert_eq!(file.bytes_held(), 50_000_000);
    println!("open a file of 100 000 pieces: {:.1} ms, {} bytes of memory per piece", open * 1e3, memory / 100_000);
    let begun = cpu();
    let status = store.status();
    println!("status of {} pieces: {:.1} ms", status.pieces, (cpu() - begun) * 1e3);
    let begun = cpu();
    let found = store.verify(&|_, _| {});
    println!("verify: {:.0} MB/s", rate(found.bytes, begun));
}
