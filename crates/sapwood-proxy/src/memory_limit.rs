//! Limits the bytes in memory, of all files together: the oldest are dropped first.

use crate::blocks::Blocks;
use sapwood_span::Span;
use sapwood_span::sync::lock;
use std::collections::VecDeque;
use std::sync::{Mutex, Weak};

/// Cost of a piece besides its bytes.
const OVERHEAD: u64 = 256;

/// A limit for the bytes that all files have in memory.
pub(crate) struct Memory {
    most: u64,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    pieces: VecDeque<(Weak<Blocks>, Span, u64)>,
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
    pub(crate) fn added(&self, blocks: Weak<Blocks>, span: Span, stamp: u64) {
        let mut out = Vec::new();
        {
            let mut held = lock(&self.held);
            held.bytes += span.len + OVERHEAD;
            held.pieces.push_back((blocks, span, stamp));
            while held.bytes > self.most && held.pieces.len() > 1 {
                let Some(oldest) = held.pieces.pop_front() else { break };
                held.bytes -= oldest.1.len + OVERHEAD;
                out.push(oldest);
            }
        }
        for (blocks, span, stamp) in out {
            if let Some(blocks) = blocks.upgrade() {
                blocks.forget(span, stamp);
            }
        }
    }
}
