//! What a read asks for, and what becomes of its bytes.

use super::conn::Take;
use super::trouble::Broken;
use crate::assemble::Piece;
use crate::counters::Counters;
use crate::job::Job;
use sapwood_span::Span;
use sapwood_xrd::{Chunk, Handle, Outcome, Request, code};
use std::sync::Arc;

/// One plain read or one vector read.
pub(super) fn request(handle: Handle, wanted: &[Span], pages: bool) -> Request {
    let len = |s: &Span| u32::try_from(s.len).unwrap_or(u32::MAX >> 1);
    match wanted {
        [one] if pages => Request::PageRead { handle, offset: one.start, len: len(one), path_id: 0, again: false },
        [one] => Request::Read { handle, offset: one.start, len: len(one), path_id: 0 },
        several => Request::ReadV(several.iter().map(|s| Chunk { handle, offset: s.start, len: len(s) }).collect()),
    }
}

/// Puts what arrives into the job.
pub(super) fn take(job: &Arc<Job>, counters: &Arc<Counters>) -> Take {
    let (job, counters) = (Arc::clone(job), Arc::clone(counters));
    Arc::new(move |offset, bytes| {
        job.moved(bytes.len() as u64);
        Counters::add(&counters.wire, bytes.len() as u64);
        job.accept(&mut vec![Piece { offset, bytes }]);
    })
}

/// Headers of ranges and checksums of pages came over the wire as well.
pub(super) fn overhead(job: &Job, counters: &Counters, wanted: &[Span], pages: bool, answer: &Result<Outcome, Broken>) {
    if !matches!(answer, Ok(Outcome::Ok(_) | Outcome::Damaged(_))) {
        return;
    }
    let bytes = match wanted {
        [one] if pages => one.len.div_ceil(code::PAGE) * 4,
        [_] => 0,
        several => several.len() as u64 * sapwood_xrd::CHUNK as u64,
    };
    Counters::add(&counters.wire, bytes);
    if bytes > 0 {
        job.moved(bytes);
    }
}
