//! Ntuples: their metadata, whose checksums were verified when they were read, and every page listed there.

use super::records::Records;
use super::{AT_ONCE, Examination};
use sapwood_codec::Decoder;
use sapwood_engine::{File, Tree};
use sapwood_format::ntuple::{Ntuple, Page};
use sapwood_span::{Error, Result, Span};
use std::collections::{HashMap, HashSet};

/// A page, and the names of what it belongs to.
struct Place {
    page: Page,
    column: usize,
    cluster: usize,
    /// Bytes that it decompresses to.
    size: Option<usize>,
}

impl Place {
    fn words(&self) -> String {
        format!("cluster {}, column {}", self.cluster, self.column)
    }
}

/// Checks positions and lengths of all pages; adds what the ntuple refers to.
pub(super) fn check(out: &mut Examination, tree: &Tree, name: &str, records: &Records, known: &mut HashMap<u64, u64>) {
    let Some(ntuple) = &tree.header().ntuple else { return };
    out.ntuples += 1;
    for (kind, span) in &ntuple.envelopes {
        known.insert(span.start, span.len);
        if !records.around(*span).is_some_and(|(_, r)| r.is_page) {
            out.damage("ntuple", name, Some(*span), format!("a {} is in no record of an ntuple", kind.name()));
        }
    }
    let mut all = places(ntuple);
    all.sort_by_key(|p| (p.page.span.start, p.page.span.len));
    let mut before: Option<&Place> = None;
    for place in &all {
        let span = place.page.stored();
        out.pages += 1;
        let field = || format!("{name}:{}", field_name(ntuple, place.column));
        if !records.around(span).is_some_and(|(_, r)| r.is_page) {
            let what = format!("a page is in no record of an ntuple ({})", place.words());
            out.damage("page", &field(), Some(span), what);
        }
        // pages with the same bytes may be stored once, also where these are elements of columns of different types
        if let Some(other) = before.filter(|b| b.page.stored().end() > span.start && b.page.span != place.page.span) {
            let what = format!("a page overlaps one of field {} ({})", field_name(ntuple, other.column), place.words());
            out.damage("page", &field(), Some(span), what);
        }
        before = Some(place);
        known.insert(span.start, span.len);
    }
}

/// Reads all pages, verifies their checksums and decompresses them. Returns the bad ones: also those of fields that this
/// version does not read are checked.
pub(super) fn pages(
    out: &mut Examination,
    file: &File,
    tree: &Tree,
    name: &str,
    decoder: &mut Decoder,
) -> HashSet<Span> {
    let mut bad = HashSet::new();
    let Some(ntuple) = &tree.header().ntuple else { return bad };
    let mut all = places(ntuple);
    all.retain(|p| p.page.stored().end() <= file.size());
    all.sort_by_key(|p| (p.page.span.start, p.page.span.len));
    all.dedup_by(|a, b| a.page == b.page && a.size == b.size);
    let mut buffer = Vec::new();
    let mut rest = all.as_slice();
    while !rest.is_empty() {
        let mut bytes = 0u64;
        let fits = rest.iter().take_while(|p| {
            bytes = bytes.saturating_add(p.page.stored().len);
            bytes <= AT_ONCE
        });
        let (now, later) = rest.split_at(fits.count().max(1));
        rest = later;
        let spans: Vec<Span> = now.iter().map(|p| p.page.stored()).collect();
        let stored = match file.read(&spans) {
            Ok(stored) => stored,
            Err(e) => {
                out.error("page", name, None, &e);
                continue;
            }
        };
        for (place, stored) in now.iter().zip(stored) {
            out.decompressed += 1;
            if let Err(e) = whole(place, &stored, decoder, &mut buffer) {
                let field = format!("{name}:{}", field_name(ntuple, place.column));
                let what = format!("{}: {}", place.words(), e.what());
                out.error("page", &field, Some(place.page.span), &e.worded(what));
                bad.insert(place.page.span);
            }
        }
    }
    bad
}

fn whole(place: &Place, stored: &[u8], decoder: &mut Decoder, buffer: &mut Vec<u8>) -> Result<()> {
    let packed = place.page.checked(stored)?;
    let size = place.size.ok_or_else(|| Error::corrupt("a page with too many elements"))?;
    place.page.unpack(packed, size, decoder, buffer).map(drop)
}

/// All pages that have bytes.
fn places(ntuple: &Ntuple) -> Vec<Place> {
    let mut out = Vec::new();
    for (cluster, k) in ntuple.table.clusters.iter().enumerate() {
        for (column, c) in k.columns.iter().enumerate() {
            let Some(described) = ntuple.schema.columns.get(column) else { continue };
            for page in ntuple.table.pages.get(c.pages.clone()).unwrap_or_default() {
                if page.stored().is_empty() {
                    continue;
                }
                let bits = u64::from(page.elements) * u64::from(described.bits);
                out.push(Place { page: *page, column, cluster, size: usize::try_from(bits.div_ceil(8)).ok() });
            }
        }
    }
    out
}

/// The path of a column's field, with the names in the file.
fn field_name(ntuple: &Ntuple, column: usize) -> String {
    let fields = &ntuple.schema.fields;
    let first = ntuple.schema.columns.get(column).map(|c| c.field);
    let above = |&at: &usize| fields.get(at).and_then(|f| f.parent);
    let mut names: Vec<&str> =
        std::iter::successors(first, above).filter_map(|f| fields.get(f)).map(|f| f.name.as_str()).collect();
    names.reverse();
    names.join(".")
}
