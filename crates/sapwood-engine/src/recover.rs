//! Opening files whose directories cannot be relied on.

use crate::file::{answer, read};
use crate::options::{OnRecovery, OpenOptions};
use sapwood_format::{Header, Opener, Recovered, Recovery, Step};
use sapwood_source::Source;
use sapwood_span::{Error, ErrorKind, Result};
use std::sync::Arc;

/// Bytes read at once when all records of a local file are looked at.
const WINDOW_HERE: u64 = 16 << 10;

/// Bytes read at once when all records of a remote file are looked at: round trips cost more than bytes.
const WINDOW_FAR: u64 = 4 << 20;

/// A damaged file far away is walked over without being asked for if it is no larger: a second or two.
const UNASKED_FAR: u64 = 64 << 20;

/// Reads the root directory's keys; when they cannot be relied on, all records are looked at, as ROOT does.
pub(crate) fn root_keys(
    source: &Arc<dyn Source>,
    opener: &mut Opener,
    size: u64,
    options: &OpenOptions,
) -> Result<Option<Recovered>> {
    let header = answer(source, opener, Opener::read_header)?;
    let listed = answer(source, opener, |o| o.list("", false));
    let whole = header.end <= size;
    // one that was saved now and then, but never closed, lists what it held then; more may have been written since.
    // Far away a whole walk would cost more than that is worth.
    let stale = header.free.start == 0 && header.end < size && source.is_local();
    match &listed {
        Ok(keys) if whole && !stale && !keys.is_empty() => return Ok(None),
        Err(e) if e.kind() != ErrorKind::Corrupt => return listed.map(|_| None),
        _ if options.recover == Some(false) => return listed.map(|_| None),
        _ => {}
    }
    if options.recover.is_none() && !source.is_local() && size > UNASKED_FAR {
        return Err(unasked(&header, size, listed.err()));
    }
    let found = walk(source, &header, size, options.on_recovery.as_ref())?;
    if found.keys.is_empty() {
        return match listed {
            // a file that was closed with nothing in it
            Ok(_) if whole => Ok(None),
            Ok(_) => Err(Error::corrupt(format!(
                "the file is cut short: it has {} bytes, its header says {}; no object is left",
                size, header.end
            ))
            .with_remedy("fetch the file again from its source")),
            Err(e) => Err(e),
        };
    }
    opener.recover(&found)?;
    Ok(Some(found))
}

/// All of a large file would have to be read.
fn unasked(header: &Header, size: u64, error: Option<Error>) -> Error {
    let why = match &error {
        Some(e) => format!("its directory cannot be read ({})", e.what()),
        None if header.end > size => format!("it is cut short: it has {size} bytes, its header says {}", header.end),
        None => "its directory lists nothing".to_owned(),
    };
    let what = format!("{why}. Its objects may be found by reading all of it, {} MB", size / 1_000_000);
    let error = error.unwrap_or_else(|| Error::corrupt("")).worded(what);
    error.with_remedy("--recover (in Python recover=True) does that; or fetch the file again from its source")
}

/// Bytes to read at once while all records are looked at.
pub(crate) fn window(source: &Arc<dyn Source>) -> u64 {
    if source.is_local() { WINDOW_HERE } else { WINDOW_FAR }
}

/// Walks over all records of a file.
fn walk(source: &Arc<dyn Source>, header: &Header, size: u64, progress: Option<&OnRecovery>) -> Result<Recovered> {
    let mut recovery = Recovery::new(header.begin, size, window(source));
    loop {
        match recovery.step()? {
            Step::Done(found) => return Ok(found),
            Step::Need(spans) => {
                for (span, bytes) in spans.iter().zip(read(source, &spans)?) {
                    recovery.push(span.start, bytes);
                    if let Some(OnRecovery(tell)) = progress.filter(|_| !source.is_local()) {
                        tell(span.end(), size);
                    }
                }
            }
        }
    }
}
