//! The requests of a read, and what happens to their bytes.

use super::failure::Broken;
use super::state::Take;
use crate::assemble::Piece;
use crate::counters::Counters;
use crate::job::Job;
use bytes::Bytes;
use sapwood_span::Span;
use sapwood_xrd::{Chunk, Handle, Outcome, Request, code};
use std::sync::Arc;

/// The reads of one flight: a plain one for a single span, otherwise vector reads of at most this many ranges each.
pub(super) fn requests(handle: Handle, wanted: &[Span], pages: bool, ranges: u32) -> Vec<Request> {
    let len = |s: &Span| u32::try_from(s.len).unwrap_or(u32::MAX >> 1);
    let plain = |s: &Span| Request::Read { handle, offset: s.start, len: len(s), path_id: 0 };
    let vector = |spans: &[Span]| match spans {
        [one] => plain(one),
        several => Request::ReadV(several.iter().map(|s| Chunk { handle, offset: s.start, len: len(s) }).collect()),
    };
    match wanted {
        [one] if pages => {
            vec![Request::PageRead { handle, offset: one.start, len: len(one), path_id: 0, again: false }]
        }
        several => several.chunks(ranges.max(1) as usize).map(vector).collect(),
    }
}

/// The result of the reads of one flight: that of the first one that did not simply succeed.
pub(super) fn together(outcomes: impl IntoIterator<Item = Result<Outcome, Broken>>) -> Result<Outcome, Broken> {
    let failed = outcomes.into_iter().find(|o| !matches!(o, Ok(Outcome::Ok(_))));
    failed.unwrap_or_else(|| Ok(Outcome::Ok(Bytes::new())))
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

/// Bytes of the answers that are not part of the file: headers of ranges, checksums of pages.
pub(super) fn overhead_of(requests: &[Request]) -> u64 {
    let of = |request: &Request| match request {
        Request::PageRead { len, .. } => u64::from(*len).div_ceil(code::PAGE) * 4,
        Request::ReadV(chunks) => chunks.len() as u64 * sapwood_xrd::CHUNK as u64,
        _ => 0,
    };
    requests.iter().map(of).sum()
}

/// Counts these bytes, which came over the wire as well.
pub(super) fn overhead(job: &Job, counters: &Counters, bytes: u64, answer: &Result<Outcome, Broken>) {
    if !matches!(answer, Ok(Outcome::Ok(_) | Outcome::Damaged(_))) {
        return;
    }
    Counters::add(&counters.wire, bytes);
    if bytes > 0 {
        job.moved(bytes);
    }
}
