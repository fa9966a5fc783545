//! Limits the bytes in memory, of all files together: the oldest are dropped first.

use sapwood_span::Span;
use sapwood_span::sync::lock;
use std::collections::VecDeque;
use std::sync::{Mutex, Weak};

/// Cost of a piece besides its bytes.
const OVERHEAD: u64 = 256;

/// What has pieces in memory.
pub(crate) trait Pieces: Send + Sync {
    /// Frees the memory of the piece that was added with this stamp.
    fn forget(&self, span: Span, stamp: u64);
}

/// A limit for the bytes that all files have in memory.
pub(crate) struct Memory {
    most: u64,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    pieces: VecDeque<(Weak<dyn Pieces>, Span, u64)>,
    bytes: u64,
    next: u64,
}

impl Memory {
    pub(crate) fn new(most: u64) -> Self {
        Self { most, held: Mutex::default() }
    }

    /// Numbers a piece that is added to memory.
    pub(crate) fn stamp(&self) -> u64 {
        let mut held = lock(&self.held);
        held.next += 1;
        held.next
    }

    /// A piece was added: drops others to make room. Their files must not be locked.
    pub(crate) fn added(&self, owner: Weak<dyn Pieces>, span: Span, stamp: u64) {
        let mut out = Vec::new();
        {
            let mut held = lock(&self.held);
            held.bytes += span.len + OVERHEAD;
            held.pieces.push_back((owner, span, stamp));
            while held.bytes > self.most && held.pieces.len() > 1 {
                let Some(oldest) = held.pieces.pop_front() else { break };
                held.bytes -= oldest.1.len + OVERHEAD;
                out.push(oldest);
            }
        }
        for (owner, span, stamp) in out {
            if let Some(owner) = owner.upgrade() {
                owner.forget(span, stamp);
            }
        }
    }
}
