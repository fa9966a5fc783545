//! Ends of clusters: their pages are written, column by column; and the metadata, which makes the ntuple complete.

use super::NtupleWriter;
use super::saved::{Continued, Saved};
use crate::commit;
use crate::core::Core;
use crate::key::Key;
use sapwood_codec::Compression;
use sapwood_format::ntuple::{
    Anchor, Cluster, ClusterColumn, ClusterGroup, ColumnRange, LONGEST_BLOB, PAGE_CHECKSUM, Page, PageListPlace,
    WRITTEN_VERSION, footer_envelope, header_envelope_of, page_list_envelope,
};
use sapwood_span::{Error, Result, Span};
use std::collections::HashMap;

/// The largest record of pages, which keeps within every reader's limits.
const LARGEST_RECORD: u64 = 512 << 20;

/// The program that wrote it, as the header names it.
const WRITER: &str = concat!("Sapwood ", env!("CARGO_PKG_VERSION"));

/// A page of the cluster, compressed.
struct Stored {
    /// With its checksum.
    bytes: Vec<u8>,
    /// Before compression.
    size: u64,
}

impl NtupleWriter {
    /// Writes the pages of the cluster that is being filled, if it has entries.
    pub(super) fn end_cluster(&mut self, core: &mut Core) -> Result<()> {
        if self.entries == self.cluster_start {
            return Ok(());
        }
        for column in &mut self.columns {
            column.end_page(&mut core.pool);
        }
        let mut stored: Vec<Stored> = Vec::new();
        // pages of the same bytes are written once
        let mut known: HashMap<([u8; PAGE_CHECKSUM as usize], usize), usize> = HashMap::new();
        // by page, in the order of columns: the one of `stored`
        let mut places: Vec<usize> = Vec::new();
        for page in self.columns.iter().flat_map(|c| &c.pages) {
            core.pool.wait_for(&page.job);
            let bytes = page.job.take()?.ok_or_else(|| Error::invalid("a page was taken twice"))?;
            let checksum = bytes.last_chunk::<{ PAGE_CHECKSUM as usize }>().copied().unwrap_or_default();
            let place = *known.entry((checksum, bytes.len())).or_insert(stored.len());
            let found = stored.get(place).map(|other| other.bytes == bytes);
            match found {
                Some(true) => places.push(place),
                _ => {
                    places.push(stored.len());
                    stored.push(Stored { bytes, size: page.size });
                }
            }
        }
        let spans = self.write_pages(core, &stored)?;
        self.zip_bytes += stored.iter().map(|s| s.bytes.len() as u64).sum::<u64>();
        self.total_bytes += self.cluster_bytes;
        let mut places = places.into_iter();
        let settings = u32::try_from(self.compression.settings()).unwrap_or(0);
        let (mut columns, mut ranges): (Vec<ClusterColumn>, Vec<ColumnRange>) = Default::default();
        for column in &mut self.columns {
            let first = self.table.pages.len();
            for (page, place) in column.pages.iter().zip(&mut places) {
                let span = spans.get(place).copied().unwrap_or_default();
                self.table.pages.push(Page { elements: page.elements, has_checksum: true, span });
            }
            let pages = first..self.table.pages.len();
            columns.push(ClusterColumn { pages, is_suppressed: false, compression: settings });
            ranges.push(ColumnRange { first_element: column.first_element, compression: settings });
            column.next_cluster();
        }
        // in the order of the columns in the file
        let order = &self.described.order;
        columns = order.iter().map(|&c| columns.get(c).cloned().unwrap_or_default()).collect();
        ranges = order.iter().filter_map(|&c| ranges.get(c).copied()).collect();
        self.table.clusters.push(Cluster { entries: self.cluster_start..self.entries, columns });
        self.ranges.push(ranges);
        (self.cluster_start, self.cluster_bytes) = (self.entries, 0);
        // as compressible as what was written so far
        let ratio = self.total_bytes as f64 / self.zip_bytes.max(1) as f64;
        let limit = (self.options.cluster_bytes as f64 * ratio) as u64;
        self.cluster_limit = limit.clamp(1, self.options.largest_cluster);
        Ok(())
    }

    /// Writes pages in records of many; returns the place of each, without its checksum.
    fn write_pages(&self, core: &mut Core, pages: &[Stored]) -> Result<Vec<Span>> {
        let mut spans = Vec::with_capacity(pages.len());
        let mut rest = pages;
        while !rest.is_empty() {
            let mut len = 0;
            let fits = |page: &&Stored| {
                len += page.bytes.len() as u64;
                len <= LARGEST_RECORD
            };
            let (now, later) = rest.split_at(rest.iter().take_while(fits).count().max(1));
            rest = later;
            let parts: Vec<&[u8]> = now.iter().map(|page| &*page.bytes).collect();
            let mut at = self.write_blob(core, now.iter().map(|page| page.size).sum(), &parts)?.start;
            for page in now {
                let len = page.bytes.len() as u64;
                spans.push(Span::new(at, len.saturating_sub(PAGE_CHECKSUM)));
                at += len;
            }
        }
        Ok(spans)
    }

    /// Writes a record of ROOT's class for parts of ntuples; returns the place of its payload.
    fn write_blob(&self, core: &mut Core, size: u64, parts: &[&[u8]]) -> Result<Span> {
        let mut key = Key {
            class: "RBlob".to_owned(),
            name: String::new(),
            title: String::new(),
            cycle: 1,
            datime: core.datime,
            seek: 0,
            parent: core.directory(self.directory)?.seek,
            stored: 0,
            size: size as usize,
            big: true,
            label_len: None,
        };
        let reuse = core.updating;
        let record = core.write_record(&mut key, &[], parts, reuse)?;
        core.pending_blobs.push((self.tree, record));
        let len = key.len() as u64;
        Ok(Span::new(record.start + len, record.len - len))
    }

    /// Writes an envelope; returns its place and uncompressed length.
    fn write_envelope(&self, core: &mut Core, envelope: &[u8]) -> Result<(Span, u64)> {
        let mut packed = Vec::new();
        let stored = if core.encoder.compress(envelope, self.compression, &mut packed) { &packed } else { envelope };
        let span = self.write_blob(core, envelope.len() as u64, &[stored])?;
        Ok((span, envelope.len() as u64))
    }

    /// Writes header, page list, footer and anchor, in place of those written before. They are next to each other, so
    /// that a reader that requests the end of the file has them.
    pub(super) fn save(&mut self, core: &mut Core) -> Result<()> {
        core.drain()?;
        let old = self.saved.take();
        let mut blobs = Vec::new();
        let in_header = self.described.in_header;
        let (version, header, header_len, checksum) = match &self.continued {
            Some(Continued { anchor, header_checksum, .. }) => {
                // readers decide by it what to expect in the footer, and so does uproot when it continues the ntuple
                (anchor.version, anchor.header, anchor.header_len, *header_checksum)
            }
            None => {
                let (header, checksum) =
                    header_envelope_of(&self.name, &self.description, WRITER, &self.described.schema, in_header);
                let (header, header_len) = self.write_envelope(core, &header)?;
                blobs.push(record_of(header));
                (WRITTEN_VERSION, header, header_len, checksum)
            }
        };
        let clusters = self.table.clusters.len();
        let mut groups = self.continued.as_ref().map(|c| c.groups.clone()).unwrap_or_default();
        if clusters > 0 {
            let (list, _) = page_list_envelope(checksum, &self.table, 0..clusters, &self.ranges);
            let (span, len) = self.write_envelope(core, &list)?;
            blobs.push(record_of(span));
            let entries = groups.last().map_or(0, |g| g.entries.end)..self.cluster_start;
            groups.push(ClusterGroup { entries, clusters: clusters as u32, list: PageListPlace { span, len } });
        }
        let footer = footer_envelope(version, checksum, (&self.described.schema, in_header), &groups);
        let (footer, footer_len) = self.write_envelope(core, &footer)?;
        blobs.push(record_of(footer));
        let anchor = Anchor { version, header, header_len, footer, footer_len, longest_blob: LONGEST_BLOB };
        let mut key = core.new_key(self.directory, "ROOT::RNTuple", &self.name, "")?;
        if let Some(old) = old {
            key.cycle = old.anchor.cycle;
            core.space.free(old.anchor.span());
            old.blobs.iter().for_each(|&span| core.space.free(span));
            core.directory_mut(self.directory)?.keys.retain(|k| k.seek != old.anchor.seek);
        }
        let key = core.append_object(key, self.directory, Compression::NONE, |_| Ok(anchor.bytes()))?;
        if let Some(open) = core.open_trees.iter_mut().find(|open| open.tree == self.tree) {
            open.cycle = Some(key.cycle);
        }
        self.saved = Some(Saved { anchor: key, blobs });
        self.saved_bytes = self.zip_bytes;
        Ok(())
    }

    /// Completes the file when enough bytes were written since it was last complete. An updated file is not changed.
    pub(super) fn auto_save(&mut self, core: &mut Core) -> Result<()> {
        let bytes = self.options.auto_save_bytes;
        if bytes == 0 || core.updating || self.zip_bytes - self.saved_bytes < bytes {
            return Ok(());
        }
        self.save(core)?;
        commit::write(core)
    }
}

/// The record of a blob, from its payload.
fn record_of(payload: Span) -> Span {
    let label = crate::key::len("RBlob", "", "", true) as u64;
    Span::new(payload.start.saturating_sub(label), payload.len + label)
}
