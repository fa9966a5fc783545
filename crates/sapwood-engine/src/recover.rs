//! Opening files whose directories cannot be relied on.

use crate::free_segments::free_segments;
use crate::options::{OnRecovery, OpenOptions};
use crate::read_source::{answer, read};
use crate::unlisted_keys::unlisted;
use sapwood_format::{Header, Listing, Opener, Recovered, Recovery, Step, UNCOMMITTED};
use sapwood_source::Source;
use sapwood_span::{Error, ErrorKind, Result, Setting, Span};
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
    let all = options.recover_all;
    let header = answer(source, opener, Opener::read_header)?;
    let listed = answer(source, opener, |o| o.list("", all));
    let whole = header.end <= size;
    // one that was saved now and then, but never closed, lists what it held then; more may have been written since.
    // Far away a whole walk would cost more than that is worth.
    let stale = header.free.start == 0 && header.end < size && (all || source.is_local());
    let too_little = match &listed {
        Ok(keys) if all && whole => lists_too_little(source, &header, keys, size)?,
        _ => false,
    };
    match &listed {
        Ok(keys) if whole && !stale && !keys.is_empty() && !too_little => {
            let found = if all { behind(source, &header, keys, size, options)? } else { None };
            if let Some(found) = &found {
                opener.recover(found)?;
            }
            return Ok(found);
        }
        Err(e) if e.kind() != ErrorKind::Corrupt => return listed.map(|_| None),
        _ if options.recover == Some(false) => return listed.map(|_| None),
        _ => {}
    }
    if options.recover.is_none() && !source.is_local() && size > UNASKED_FAR {
        return Err(unasked(&header, size, listed.err()));
    }
    let mut found = walk(source, header.begin, size, options)?;
    found.stated_size = (header.end > size).then_some(header.end);
    if found.keys.is_empty() {
        return match listed {
            // a file that was closed with nothing in it
            Ok(_) if whole => Ok(None),
            _ if !whole => Err(Error::corrupt(format!(
                "the file is truncated: it has {size} of {} bytes, and contains no complete object or tree header",
                header.end
            ))
            .with_remedy("fetch the file again from its source")),
            listed => listed.map(|_| None),
        };
    }
    opener.recover(&found)?;
    Ok(Some(found))
}

/// Whether a directory says that it lists less than it does.
fn lists_too_little(source: &Arc<dyn Source>, header: &Header, listed: &[Listing], size: u64) -> Result<bool> {
    let free = free_segments(source, header, size).unwrap_or_default();
    Ok(!unlisted(source, header, listed, &free, size)?.is_empty())
}

/// All of a large file would have to be read.
fn unasked(header: &Header, size: u64, error: Option<Error>) -> Error {
    let why = match &error {
        Some(e) => format!("its directory cannot be read ({})", e.what()),
        None if header.end > size => format!("the file is truncated: it has {size} of {} bytes", header.end),
        None => "its directory is empty".to_owned(),
    };
    let what = format!("{why}. Recovery may find its objects, but has to read all {} MB", size / 1_000_000);
    let error = error.unwrap_or_else(|| Error::corrupt("")).worded(what);
    error
        .with_remedy("open it with recovery enabled, or fetch the file again from its source")
        .with_setting(Setting::Recover)
}

/// Bytes to read at once while all records are looked at.
pub(crate) fn window(source: &Arc<dyn Source>) -> u64 {
    if source.is_local() { WINDOW_HERE } else { WINDOW_FAR }
}

/// What lies behind the end of a file that is whole up to there, beside what its directories list: a program that wrote
/// more into it was killed. None when nothing does, or when it was one of ours, which had not committed it.
fn behind(
    source: &Arc<dyn Source>,
    header: &Header,
    listed: &[Listing],
    size: u64,
    options: &OpenOptions,
) -> Result<Option<Recovered>> {
    let begin = Span::new(header.end, (size - header.end).min(window(source)));
    if begin.is_empty() {
        return Ok(None);
    }
    let bytes = read(source, &[begin])?.into_iter().next().unwrap_or_default();
    let first = bytes.iter().position(|&b| b != 0).unwrap_or(bytes.len());
    if bytes.get(first..).is_some_and(|b| b.starts_with(&UNCOMMITTED)) {
        return Ok(None);
    }
    let mut found = walk(source, header.end, size, options)?;
    if found.keys.is_empty() && found.orphans.is_empty() {
        return Ok(None);
    }
    found.directories.extend(listed.iter().filter(|l| l.key.is_directory()).map(|l| l.key.span.start));
    found.keys.splice(..0, listed.iter().map(|l| l.key.clone()));
    found.info.get_or_insert(header.info);
    Ok(Some(found))
}

/// Walks over all records of a file from one on.
fn walk(source: &Arc<dyn Source>, from: u64, size: u64, options: &OpenOptions) -> Result<Recovered> {
    let mut recovery = Recovery::new(from, size, window(source)).with_orphans(options.recover_all);
    let progress = options.on_recovery.as_ref();
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
