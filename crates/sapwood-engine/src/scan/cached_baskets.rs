//! Records of baskets in the local cache.

use crate::read_source::gathered;
use bytes::Bytes;
use sapwood_source::Source;
use sapwood_span::{Error, Result, Span};
use std::sync::Arc;

/// Reads a record from the local cache. Where it has been damaged there, it is fetched: that takes its time, and `waiting`
/// is called before.
///
/// # Errors
/// What fetching it meets.
pub(super) fn read(source: &Arc<dyn Source>, span: Span, waiting: impl FnOnce()) -> Result<Bytes> {
    if let Some(record) = source.read_held(span) {
        return Ok(record);
    }
    waiting();
    let read = gathered(source, &[span], |sink| source.clone().fetch_last(vec![span], sink))?;
    read.into_iter().next().ok_or_else(|| Error::invalid("nothing was read").at(span))
}
