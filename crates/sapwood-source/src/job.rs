//! One fetch in progress: shared by the requests that serve it.

use crate::assemble::{Assembler, Piece};
use crate::lock;
use crate::source::{FetchReport, Sink};
use sapwood_span::Span;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

pub(crate) struct Job {
    assembler: Mutex<Assembler>,
    sink: Arc<dyn Sink>,
    begin: Instant,
    first_byte: OnceLock<Duration>,
    wire: AtomicU64,
    requests: AtomicU32,
    retries: AtomicU32,
    /// Several ranges in one request were tried, and the server could not.
    pub stepped: AtomicBool,
    /// Some response was not compared with the first bytes of the file.
    pub unrecognised: AtomicBool,
    /// Some response did not end with the first bytes of the file.
    pub open_ended: AtomicBool,
    /// A response without the file's first bytes came while others were in flight.
    pub overtaken: AtomicBool,
    /// Nothing is requested afterwards: check now whether the file is still the one that was opened.
    pub last: AtomicBool,
}

impl Job {
    pub(crate) fn new(spans: &[Span], sink: Arc<dyn Sink>, begin: Instant) -> Arc<Self> {
        for (index, _) in spans.iter().enumerate().filter(|(_, s)| s.is_empty()) {
            sink.part(index, bytes::Bytes::new());
        }
        Arc::new(Self {
            assembler: Mutex::new(Assembler::new(spans)),
            sink,
            begin,
            first_byte: OnceLock::new(),
            wire: AtomicU64::new(0),
            requests: AtomicU32::new(0),
            retries: AtomicU32::new(0),
            stepped: AtomicBool::new(false),
            unrecognised: AtomicBool::new(false),
            open_ended: AtomicBool::new(false),
            overtaken: AtomicBool::new(false),
            last: AtomicBool::new(false),
        })
    }

    /// Bytes came over the wire.
    pub(crate) fn moved(&self, bytes: u64) {
        self.first_byte.get_or_init(|| self.begin.elapsed());
        self.wire.fetch_add(bytes, Relaxed);
        self.sink.moved(bytes);
    }

    /// Takes pieces of the file; spans that are complete go to the sink.
    pub(crate) fn accept(&self, pieces: &mut Vec<Piece>) {
        let mut done = Vec::new();
        {
            let mut assembler = lock(&self.assembler);
            for piece in pieces.drain(..) {
                assembler.push(piece.offset, &piece.bytes, &mut done);
            }
        }
        for (index, bytes) in done {
            self.sink.part(index, bytes);
        }
    }

    /// What is still missing inside these bounds.
    pub(crate) fn missing(&self, bounds: &[Span]) -> Vec<Span> {
        lock(&self.assembler).missing(bounds)
    }

    pub(crate) fn request_sent(&self) {
        self.requests.fetch_add(1, Relaxed);
    }

    pub(crate) fn retried(&self) {
        self.retries.fetch_add(1, Relaxed);
    }

    pub(crate) fn report(&self, payload: u64) -> FetchReport {
        FetchReport {
            first_byte: self.first_byte.get().copied().unwrap_or_default(),
            total: self.begin.elapsed(),
            payload,
            wire: self.wire.load(Relaxed),
            requests: self.requests.load(Relaxed),
            retries: self.retries.load(Relaxed),
            compared: false,
            compared_at_end: !self.open_ended.load(Relaxed) && self.requests.load(Relaxed) > 0,
        }
    }
}
