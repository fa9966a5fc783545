//! Compares the list of free segments with the bytes in use.

use super::Examination;
use super::records::Records;
use sapwood_engine::{File, RawFile};
use sapwood_format::{DIRECTORY_BYTES, Directory, Header};
use sapwood_span::Span;
use std::collections::HashMap;

/// Checks that free bytes are not in use; `baskets` are those of all trees, by position.
pub(super) fn check(out: &mut Examination, raw: &RawFile, file: &File, records: &Records, baskets: &HashMap<u64, u64>) {
    let h = raw.header();
    let segments = match raw.free_segments() {
        Ok(segments) => segments,
        Err(e) => return out.error("free list", "", Some(h.free), &e),
    };
    let mut used = None;
    let ntuples = file.list("", true).unwrap_or_default().iter().filter(|l| l.key.is_ntuple()).count() as u64;
    for free in &segments {
        let used = used.get_or_insert_with(|| in_use(file, h, baskets));
        let behind = used.partition_point(|s| s.start < free.end());
        if let Some(live) = behind.checked_sub(1).and_then(|i| used.get(i)).filter(|s| s.end() > free.start) {
            let what = format!("{} are marked free, but are in use", free.in_words());
            out.damage("free list", "", Some(*live), what);
            continue;
        }
        let Some((there, record)) = records.first_within(*free) else { continue };
        let what = format!("{} are marked free, but contain a record", free.in_words());
        if record.is_page && out.ntuples < ntuples {
            // perhaps of the ntuple that could not be read
            out.damage("free list", "", Some(there), what);
        } else {
            let why =
                "that nothing refers to: an update was interrupted before it marked them as free; the next update will";
            out.note("free list", "", Some(there), format!("{what} {why}"));
        }
    }
}

/// The spans that the header, directories and trees refer to: in order, without overlaps.
fn in_use(file: &File, h: &Header, baskets: &HashMap<u64, u64>) -> Vec<Span> {
    let names = u64::from(h.nbytes_name);
    let mut all = vec![Span::new(0, h.begin + names + DIRECTORY_BYTES - 18), h.info, h.free];
    all.extend(baskets.iter().map(|(&start, &len)| Span::new(start, len)));
    let mut directories = vec![Span::new(h.begin + names, DIRECTORY_BYTES)];
    for l in file.list("", true).unwrap_or_default() {
        all.push(l.key.span);
        if l.key.is_directory() {
            directories.push(l.key.payload());
        }
    }
    directories.retain_mut(|d| {
        d.len = d.len.min(file.size().saturating_sub(d.start));
        d.len > 0
    });
    for record in file.read(&directories).unwrap_or_default() {
        all.extend(Directory::parse(&record).map(|d| d.keys));
    }
    all.retain(|s| s.len > 0);
    all.sort_by_key(|s| s.start);
    let mut out: Vec<Span> = Vec::with_capacity(all.len());
    for span in all {
        match out.last_mut() {
            Some(last) if last.end() >= span.start => last.len = span.end().max(last.end()) - last.start,
            _ => out.push(span),
        }
    }
    out
}
