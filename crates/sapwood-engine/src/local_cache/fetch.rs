//! One fetch through the local cache: what is held comes from there, what is missing from the origin.

use bytes::Bytes;
use sapwood_source::{Assembler, Sink};
use sapwood_span::sync::lock;
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;

/// The parts of what is asked for: each is held as a whole, or not at all.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub held: Vec<Span>,
    pub missing: Vec<Span>,
}

impl Parts {
    /// `held` gives the parts of a span that are held.
    pub(super) fn new(spans: &[Span], held: impl Fn(Span) -> Vec<Span>) -> Self {
        let mut parts = Self::default();
        for &span in spans.iter().filter(|s| !s.is_empty()) {
            let mut at = span.start;
            for part in held(span) {
                if part.start > at {
                    parts.missing.push(Span::new(at, part.start - at));
                }
                at = part.end();
                parts.held.push(part);
            }
            if at < span.end() {
                parts.missing.push(Span::new(at, span.end() - at));
            }
        }
        for list in [&mut parts.held, &mut parts.missing] {
            list.sort();
            list.dedup();
        }
        parts
    }
}

/// Joins what comes from both sides, and hands on each span once, as soon as its last byte is here.
pub(super) struct Joining {
    assembler: Mutex<Assembler>,
    sink: Arc<dyn Sink>,
}

impl Joining {
    pub(super) fn new(spans: &[Span], sink: Arc<dyn Sink>) -> Arc<Self> {
        for (index, _) in spans.iter().enumerate().filter(|(_, s)| s.is_empty()) {
            sink.part(index, Bytes::new());
        }
        Arc::new(Self { assembler: Mutex::new(Assembler::new(spans)), sink })
    }

    pub(super) fn accept(&self, start: u64, bytes: &Bytes) {
        let mut done = Vec::new();
        lock(&self.assembler).push(start, bytes, &mut done);
        for (index, bytes) in done {
            self.sink.part(index, bytes);
        }
    }

    pub(super) fn moved(&self, bytes: u64) {
        self.sink.moved(bytes);
    }
}

/// Reads what is held, on a thread that may wait for the disk. Dropping it ends the reading.
pub(super) struct Reading {
    task: JoinHandle<Vec<Span>>,
    stop: Arc<AtomicBool>,
}

impl Reading {
    /// `read` reads a span that is held. Must be called on a runtime.
    pub(super) fn start(
        held: Vec<Span>,
        read: impl Fn(Span) -> Option<Bytes> + Send + 'static,
        joining: &Arc<Joining>,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (joining, stopped) = (Arc::clone(joining), Arc::clone(&stop));
        let task = tokio::task::spawn_blocking(move || {
            let mut damaged = Vec::new();
            for span in held {
                if stopped.load(Relaxed) {
                    break;
                }
                match read(span) {
                    Some(bytes) => joining.accept(span.start, &bytes),
                    None => damaged.push(span),
                }
            }
            damaged
        });
        Self { task, stop }
    }

    /// Waits for the end; gives what could not be read.
    ///
    /// # Errors
    /// The thread panicked, or the runtime shut down.
    pub(super) async fn ended(mut self) -> Result<Vec<Span>> {
        (&mut self.task).await.map_err(|e| match e.try_into_panic() {
            Ok(payload) => sapwood_span::defect::of_panic(&*payload),
            Err(_) => Error::new(ErrorKind::Interrupted, "reading was stopped: the runtime shut down"),
        })
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_what_is_asked_for_once() {
        let s = Span::new;
        // 100..200 and 250..300 are held
        let held = |span: Span| {
            let clip = |h: Span| {
                let (from, to) = (h.start.max(span.start), h.end().min(span.end()));
                (from < to).then(|| s(from, to - from))
            };
            [s(100, 100), s(250, 50)].into_iter().filter_map(clip).collect()
        };
        let parts = Parts::new(&[s(0, 0), s(120, 10), s(90, 200), s(120, 10), s(500, 5)], held);
        assert_eq!(parts.held, [s(100, 100), s(120, 10), s(250, 40)]);
        assert_eq!(parts.missing, [s(90, 10), s(200, 50), s(500, 5)]);
    }
}
