//! Keys in a directory's list that follow after the number of keys that the list states.

use crate::read_source::read;
use sapwood_format::{DIRECTORY_BYTES, Directory, Header, Key, Listing, keys_behind};
use sapwood_source::Source;
use sapwood_span::{Result, Span};
use std::collections::HashSet;
use std::sync::Arc;

/// The keys of objects that exist: a record with this label is where the key says, none of `listed` is the same, and it
/// is not in what is `free`. Some writers leave the keys of deleted objects behind.
///
/// # Errors
/// When the source fails.
pub(crate) fn unlisted(
    source: &Arc<dyn Source>,
    header: &Header,
    listed: &[Listing],
    free: &[Span],
    size: u64,
) -> Result<Vec<Key>> {
    let within = |s: &Span| s.start != 0 && !s.is_empty() && s.end() <= size;
    let root = header.begin + u64::from(header.nbytes_name);
    let mut directories = vec![Span::new(root, DIRECTORY_BYTES.min(size.saturating_sub(root)))];
    directories.extend(listed.iter().filter(|l| l.key.is_directory()).map(|l| l.key.payload()));
    directories.retain(within);
    let mut lists: Vec<Span> =
        read(source, &directories)?.iter().filter_map(|d| Directory::parse(d).ok()).map(|d| d.keys).collect();
    lists.retain(within);
    let keys: Vec<Key> = read(source, &lists)?.iter().flat_map(|list| keys_behind(list)).collect();
    confirmed(source, keys, listed, free, size)
}

/// Those of `keys` whose objects exist, as [`unlisted`] says.
///
/// # Errors
/// When the source fails.
pub(crate) fn confirmed(
    source: &Arc<dyn Source>,
    mut keys: Vec<Key>,
    listed: &[Listing],
    free: &[Span],
    size: u64,
) -> Result<Vec<Key>> {
    let within = |s: &Span| s.start != 0 && !s.is_empty() && s.end() <= size;
    let known: HashSet<u64> = listed.iter().map(|l| l.key.span.start).collect();
    keys.retain(|k| {
        within(&k.span)
            && !known.contains(&k.span.start)
            && !free.iter().any(|f| f.start < k.span.end() && k.span.start < f.end())
    });
    // whole records do not overlap: together they take no more than the file
    let mut left = size;
    keys.retain(|k| {
        let glob_match = k.span.len <= left;
        left -= if glob_match { k.span.len } else { 0 };
        glob_match
    });
    let labels: Vec<Span> = keys.iter().map(|k| Span::new(k.span.start, k.key_len.into())).collect();
    let labels = read(source, &labels)?;
    Ok(keys.into_iter().zip(labels).filter(|(k, label)| k.is_told_by(label)).map(|(k, _)| k).collect())
}
