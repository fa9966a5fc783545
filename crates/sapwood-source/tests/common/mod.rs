//! What the tests of sources share.
#![allow(dead_code)] // each test file uses its own share

pub mod ports;
pub mod scripted;
pub mod servers;
pub mod xrd_checks;
pub mod xrd_scripted;

use bytes::Bytes;
use sapwood_source::{FetchReport, Hosts, Opening, Sink, Source, SourceOptions, open};
use sapwood_span::{Result, Span};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Bytes that look random and differ at every position (xorshift).
pub fn noise(len: usize) -> Vec<u8> {
    let mut x = 0x2545_f491_4f6c_dd1d_u64;
    let mut out = Vec::with_capacity(len + 8);
    while out.len() < len {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        out.extend_from_slice(&x.to_le_bytes());
    }
    out.truncate(len);
    out
}

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Options that fail fast and share nothing with other tests.
pub fn impatient() -> SourceOptions {
    SourceOptions {
        head: 1000,
        tail: 5000,
        progress_timeout: Duration::from_millis(400),
        connect_timeout: Duration::from_secs(5),
        backoff: Duration::from_millis(5),
        retries: 3,
        // Connections must not depend on how busy this machine is.
        warm: false,
        hosts: Hosts::default(),
        ..SourceOptions::default()
    }
}

/// Collects spans; each may come once only.
#[derive(Default)]
pub struct Collect(Mutex<Vec<Option<Bytes>>>);

impl Sink for Collect {
    fn part(&self, index: usize, bytes: Bytes) {
        let mut parts = self.0.lock().unwrap();
        if parts.len() <= index {
            parts.resize(index + 1, None);
        }
        assert!(parts[index].replace(bytes).is_none(), "span {index} was handed over twice");
    }
}

/// Fetches and compares with the file; what was passed on before an error must be right, too.
pub fn fetch(rt: &Runtime, source: &Arc<dyn Source>, spans: &[Span], file: &[u8]) -> Result<FetchReport> {
    let sink = Arc::new(Collect::default());
    let result = rt.block_on(Arc::clone(source).fetch(spans.to_vec(), sink.clone()));
    let parts = sink.0.lock().unwrap();
    for (i, span) in spans.iter().enumerate() {
        match parts.get(i).cloned().flatten() {
            Some(bytes) => assert!(bytes == file[span.start as usize..span.end() as usize], "wrong bytes for {span}"),
            None => assert!(result.is_err(), "{span} never arrived"),
        }
    }
    result
}

/// Opens and compares both ends.
pub fn open_right(rt: &Runtime, url: &str, options: &SourceOptions, file: &[u8]) -> Result<Opening> {
    let opening = rt.block_on(open(url, options, rt.handle()))?;
    check_ends(&opening, options, file);
    Ok(opening)
}

pub fn check_ends(opening: &Opening, options: &SourceOptions, file: &[u8]) {
    let head = (options.head as usize).min(file.len());
    let tail = file.len() - (options.tail as usize).min(file.len());
    assert_eq!(opening.size, file.len() as u64);
    assert_eq!(opening.source.size(), Some(file.len() as u64));
    assert!(opening.head.len() >= head && file.starts_with(&opening.head), "wrong head");
    assert_eq!(opening.tail.0, tail as u64);
    assert!(opening.tail.1 == file[tail..], "wrong tail");
}

/// Spans all over a file, in no order: scattered, touching, overlapping, empty, long.
pub fn scattered(count: u64, size: u64) -> Vec<Span> {
    let step = size / (count + 2);
    let mut spans: Vec<Span> = (0..count).map(|i| Span::new(i * 7 % count * step, 1 + i * 37 % (step / 2))).collect();
    spans.extend([Span::new(5, 100), Span::new(105, 20), Span::new(50, 100), Span::new(9, 0), Span::new(size, 0)]);
    spans.extend([Span::new(size - 1, 1), Span::new(size / 2, size / 8)]);
    spans
}
