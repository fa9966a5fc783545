//! Identifies the version of a file by its first bytes.

use crate::read_source::gathered;
use bytes::Bytes;
use sapwood_format::{DIRECTORY_BYTES, Header, Opener, Step};
use sapwood_source::Source;
use sapwood_span::{Result, Span};
use std::sync::Arc;

/// Bytes that the source compares by itself.
const COMPARED: u64 = 512;

/// As many are compared where the file's name is long.
const COMPARED_AT_MOST: u64 = 16 << 10;

/// Has the source compare all of the file's beginning that tells one version of it from another: the header, and the top
/// directory's record (times of creation and change, the file's UUID), which comes after the name that the file was made
/// with, twice.
pub(crate) fn recognise(source: &Arc<dyn Source>, opener: &mut Opener, header: &Header, size: u64) -> Result<()> {
    let end = end_of_identity(header).min(size);
    if end <= COMPARED || end > COMPARED_AT_MOST {
        return Ok(());
    }
    let span = Span::new(0, end);
    let first = match opener.held(span) {
        Some(first) => first,
        None => {
            // the directory's record is needed in any case
            let read = gathered(source, &[span], |sink| source.clone().fetch_soon(vec![span], sink))?;
            let first = read.into_iter().next().unwrap_or_default();
            opener.push(0, first.clone());
            first
        }
    };
    source.recognise_by(&first);
    Ok(())
}

/// Where the last of these bytes ends, as the header tells.
fn end_of_identity(header: &Header) -> u64 {
    header.begin.saturating_add(u64::from(header.nbytes_name)).saturating_add(DIRECTORY_BYTES)
}

/// These bytes, out of the first ones of a file, and whether it is a ROOT file; none where more of it must be read first.
pub(crate) fn identity(head: &Bytes, size: u64) -> Option<(Bytes, bool)> {
    let mut opener = Opener::new(size);
    opener.push(0, head.clone());
    let (end, is_root) = match opener.read_header() {
        Ok(Step::Done(header)) => (end_of_identity(&header).max(COMPARED), true),
        Ok(Step::Need(_)) => return None,
        Err(_) => (COMPARED, false),
    };
    let end = usize::try_from(end.min(size)).ok()?;
    head.get(..end).map(|first| (Bytes::copy_from_slice(first), is_root))
}
