//! The list of free segments of a file.

use crate::read_source::read;
use sapwood_format::{Header, parse_free_list};
use sapwood_source::Source;
use sapwood_span::{Result, Span};
use std::sync::Arc;

/// What a file says is free of it.
pub(crate) fn free_segments(source: &Arc<dyn Source>, h: &Header, size: u64) -> Result<Vec<Span>> {
    if h.free.start == 0 || h.free.is_empty() || h.free.end() > size {
        return Ok(Vec::new());
    }
    let record = read(source, &[h.free])?.into_iter().next().unwrap_or_default();
    let mut segments = parse_free_list(&record)?;
    // the last one stands for all that may still be written
    segments.retain(|free| free.start < h.end.min(size));
    segments.sort_by_key(|free| free.start);
    Ok(segments)
}
