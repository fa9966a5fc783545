//! Pages read in chunks, verified, and compressed again where that is wanted.

use super::InputNtuple;
use super::elements::place_of_page;
use super::input::StoredPage;
use crate::copy::{Pool, gap_and_chunk};
use crate::input::Reader;
use crate::recode::Recoder;
use sapwood_codec::{Compression, xxh3};
use sapwood_format::ntuple::{Ntuple, PAGE_CHECKSUM};
use sapwood_span::{Error, Result, Span};
use std::sync::Arc;

/// Pages of an ntuple that are read at once.
pub(crate) struct PagePlan {
    /// Number of the ntuple in its input.
    number: usize,
    ntuple: Arc<Ntuple>,
    stored: Arc<[StoredPage]>,
    span: Span,
    /// Their numbers among the stored ones.
    pages: std::ops::Range<usize>,
}

/// Verified pages, ready to be written.
pub(crate) struct PageChunk {
    pub(crate) data: Vec<u8>,
    /// Number of the ntuple in its input.
    pub(crate) ntuple: usize,
    /// Number of the first among the stored pages; the others follow.
    pub(crate) first: usize,
    pub(crate) pages: Vec<CopiedPage>,
}

/// A page within a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopiedPage {
    /// Its position in the chunk, and its bytes there with its checksum.
    pub(crate) at: usize,
    pub(crate) len: usize,
    pub(crate) has_checksum: bool,
    /// Uncompressed bytes.
    pub(crate) size: u64,
}

impl InputNtuple {
    /// Its pages in chunks, in the order of the file.
    pub(crate) fn plans(&self, number: usize, is_local: bool) -> Vec<PagePlan> {
        let (gap, most) = gap_and_chunk(is_local);
        let begin = |first: usize, span: Span| PagePlan {
            number,
            ntuple: self.ntuple.clone(),
            stored: self.stored.clone(),
            span,
            pages: first..first + 1,
        };
        let mut out: Vec<PagePlan> = Vec::new();
        for (i, page) in self.stored.iter().enumerate() {
            let span = page.span;
            match out.last_mut() {
                Some(plan)
                    if span.start >= plan.span.end()
                        && span.start - plan.span.end() <= gap
                        && span.end() - plan.span.start <= most =>
                {
                    plan.span.len = span.end() - plan.span.start;
                    plan.pages.end = i + 1;
                }
                _ => out.push(begin(i, span)),
            }
        }
        out
    }
}

/// Reads pages and verifies their checksums, on any thread.
///
/// # Errors
/// `Corrupt` for a damaged page, with its field, cluster and position.
pub(crate) fn copy_pages(
    reader: &Reader,
    plan: &PagePlan,
    pool: &Pool,
    recoder: &mut Recoder,
    compression: Option<Compression>,
) -> Result<PageChunk> {
    let mut data = pool.take();
    reader.read(plan.span, &mut data)?;
    let mut packed = compression.map(|_| pool.take());
    if let Some(packed) = &mut packed {
        packed.clear();
    }
    let mut pages = Vec::with_capacity(plan.pages.len());
    for page in plan.stored.get(plan.pages.clone()).unwrap_or_default() {
        let at = (page.span.start - plan.span.start) as usize;
        let bytes = data.get(at..at + page.span.len as usize).unwrap_or_default();
        let here = verified(bytes, page.has_checksum).and_then(|content| {
            let (Some(compression), Some(packed)) = (compression, &mut packed) else {
                let (len, has_checksum) = (bytes.len(), page.has_checksum);
                return Ok(CopiedPage { at, len, has_checksum, size: page.size });
            };
            let at = packed.len();
            recoder.page(content, page.size, compression, packed)?;
            Ok(CopiedPage { at, len: packed.len() - at, has_checksum: true, size: page.size })
        });
        pages.push(here.map_err(|e| {
            let (field, place) = place_of_page(&plan.ntuple, page.page as usize);
            let what = format!("{place}: {}", e.what());
            e.worded(what).in_branch(field).at(page.span).in_file(reader.name())
        })?);
    }
    if let Some(packed) = packed {
        pool.give(std::mem::replace(&mut data, packed));
    }
    Ok(PageChunk { data, ntuple: plan.number, first: plan.pages.start, pages })
}

/// The page without its checksum, which must match.
pub(super) fn verified(bytes: &[u8], has_checksum: bool) -> Result<&[u8]> {
    if !has_checksum {
        return Ok(bytes);
    }
    let Some((content, stated)) = bytes.split_last_chunk::<{ PAGE_CHECKSUM as usize }>() else {
        return Err(Error::corrupt("it ends before its checksum"));
    };
    let (stated, found) = (u64::from_le_bytes(*stated), xxh3(content));
    if stated == found {
        return Ok(content);
    }
    Err(Error::corrupt(format!("it does not match its checksum: {found:016x}, not {stated:016x}"))
        .with_remedy("copy the file again from its origin, or omit it"))
}
