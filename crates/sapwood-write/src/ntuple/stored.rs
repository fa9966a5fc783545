//! What an ntuple in the file consists of: its metadata, and the records of its pages.

use crate::core::Core;
use crate::existing_records::{is_record, object};
use sapwood_codec::Decoder;
use sapwood_format::ntuple::{Anchor, Footer, Ntuple};
use sapwood_span::{Error, Result, Span};

/// Whether this is an ntuple that can be read.
pub(crate) fn is_ntuple(class: &str) -> bool {
    class == "ROOT::RNTuple"
}

/// The metadata of an ntuple.
pub(super) struct Stored {
    pub(super) anchor: Anchor,
    pub(super) footer: Footer,
    pub(super) ntuple: Ntuple,
    pub(super) header_checksum: u64,
}

/// Bytes that ntuples have in the file, beside their anchors.
pub(crate) struct Blob {
    /// The record, or as much as is known of it.
    pub(crate) span: Span,
    /// Whether it is a whole record, and all of it belongs to the ntuple.
    pub(crate) is_record: bool,
}

/// Reads an ntuple's metadata. `key`: the record of its anchor.
///
/// # Errors
/// `Corrupt` for damage, `Unsupported` for later format versions.
pub(super) fn read(core: &mut Core, key: Span) -> Result<Stored> {
    let (_, payload) = object(core, key)?;
    let anchor = Anchor::parse(&payload)?;
    let stored = [anchor.header.len, anchor.footer.len];
    if stored.iter().any(|&len| anchor.divides(len)) {
        return Err(divided());
    }
    let mut decoder = Decoder::new();
    let footer = Footer::open(&anchor, &envelope(core, anchor.footer)?, &mut decoder)?;
    let header = envelope(core, anchor.header)?;
    let (mut ntuple, header_checksum) = Ntuple::open(&anchor, &header, &footer, &mut decoder)?;
    for list in &footer.lists {
        if anchor.divides(list.span.len) {
            return Err(divided());
        }
        let stored = envelope(core, list.span)?;
        ntuple.add_pages(list, &stored, header_checksum, &mut decoder)?;
    }
    ntuple.finish()?;
    if ntuple.table.pages.iter().any(|page| anchor.divides(page.stored().len)) {
        return Err(divided());
    }
    Ok(Stored { anchor, footer, ntuple, header_checksum })
}

/// What is written anew has no divided parts.
fn divided() -> Error {
    Error::unsupported("a part of the RNTuple is divided into several records")
        .with_remedy("merge or convert it into a new file first")
}

fn envelope(core: &mut Core, span: Span) -> Result<Vec<u8>> {
    if span.end() > core.sink.end() {
        return Err(Error::corrupt("a part of the RNTuple is beyond the end of the file").at(span));
    }
    core.sink.read(span)
}

/// The records of an ntuple's pages and metadata, by position. `key`: the record of its anchor.
///
/// # Errors
/// As [`read`]; `Corrupt` when pages overlap, `Unsupported` when it refers to other ntuples.
pub(crate) fn blobs(core: &mut Core, key: Span) -> Result<Vec<Blob>> {
    let Stored { ntuple, .. } = read(core, key)?;
    if !ntuple.attributes.is_empty() {
        return Err(Error::unsupported("it has attributes, which are not read"));
    }
    let pages = ntuple.table.pages.iter().map(|page| page.stored());
    let mut spans: Vec<Span> = pages.chain(ntuple.envelopes.iter().map(|(_, span)| *span)).collect();
    spans.retain(|span| span.len > 0);
    spans.sort_unstable();
    // pages of the same bytes are stored once
    spans.dedup();
    let mut runs: Vec<Span> = Vec::new();
    for span in spans {
        match runs.last_mut() {
            Some(run) if span.start < run.end() => return Err(Error::corrupt("pages overlap").at(span)),
            Some(run) if span.start == run.end() => run.len = run.len.saturating_add(span.len),
            _ => runs.push(span),
        }
    }
    let longest = crate::key::len("RBlob", "", "", true) as u64;
    runs.into_iter()
        .map(|run| {
            let found = record(core, run)?;
            let start = run.start.saturating_sub(longest);
            let span = found.unwrap_or(Span::new(start, (run.start - start).saturating_add(run.len)));
            Ok(Blob { span, is_record: found.is_some() })
        })
        .collect()
}

/// The record of a blob, from its payload, if there is one at that place: its label has 32-bit or 64-bit positions.
pub(super) fn record(core: &mut Core, payload: Span) -> Result<Option<Span>> {
    for big in [true, false] {
        let label = crate::key::len("RBlob", "", "", big) as u64;
        let Some(start) = payload.start.checked_sub(label) else { continue };
        let span = Span::new(start, payload.len.saturating_add(label));
        if is_record(core, span)? {
            return Ok(Some(span));
        }
    }
    Ok(None)
}
