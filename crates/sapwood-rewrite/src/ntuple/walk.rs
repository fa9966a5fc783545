//! The elements of a field for a range of entries, and of all fields below it, whatever clusters and pages they are in.
//!
//! Ends of lists and positions in alternatives count from the beginning of a cluster. They are passed on as lengths and
//! tags, which mean the same anywhere.

use super::canonical::{Meaning, Storage, number};
use super::copy::verified;
use super::elements::path_of;
use super::used::used_columns;
use crate::input::Reader;
use sapwood_codec::Decoder;
use sapwood_format::ntuple::{Cluster, Ntuple, Role};
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of the position in an element that selects an alternative; its tag follows.
const POSITION: usize = 8;
const SWITCH: usize = 12;

/// Takes the elements of a column: values as they are, lengths of lists (8 bytes each), tags of alternatives (4 bytes).
pub(super) trait Take {
    fn take(&mut self, column: usize, elements: &[u8]) -> Result<()>;
}

/// Reads the clusters of an ntuple, field by field.
pub(super) struct Walk<'a> {
    reader: &'a Reader,
    ntuple: Arc<Ntuple>,
    decoder: Decoder,
    stored: Vec<u8>,
    packed: Vec<u8>,
    /// The cluster, and the columns that are used in it, with the elements that each lacks.
    cluster: usize,
    used: HashMap<usize, Used>,
    /// Of each column, the page that was unpacked last.
    unpacked: HashMap<usize, (usize, Vec<u8>)>,
}

/// A column that is used in the cluster.
struct Used {
    missing: u64,
    /// The element after the last one of each page.
    ends: Vec<u64>,
    first_page: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(reader: &'a Reader, ntuple: Arc<Ntuple>) -> Self {
        Self {
            reader,
            ntuple,
            decoder: Decoder::new(),
            stored: Vec::new(),
            packed: Vec::new(),
            cluster: usize::MAX,
            used: HashMap::new(),
            unpacked: HashMap::new(),
        }
    }

    fn enter(&mut self, number: usize, cluster: &Cluster) -> Result<()> {
        if self.cluster == number {
            return Ok(());
        }
        self.unpacked.clear();
        self.used.clear();
        for (column, missing) in used_columns(&self.ntuple, cluster)? {
            let pages = cluster.columns.get(column).map_or(0..0, |c| c.pages.clone());
            let mut end = missing;
            let ends = self.ntuple.table.pages.get(pages.clone()).unwrap_or_default().iter().map(|page| {
                end += u64::from(page.elements);
                end
            });
            let ends = ends.collect();
            self.used.insert(column, Used { missing, ends, first_page: pages.start });
        }
        self.cluster = number;
        Ok(())
    }

    /// Passes the elements of these entries of a field at the top to `out`, with those of all fields below it.
    ///
    /// # Errors
    /// `Corrupt` for damaged pages and impossible numbers, with the field; `Unsupported` for alternatives out of order.
    pub(super) fn entries(&mut self, field: usize, entries: &Range<u64>, out: &mut impl Take) -> Result<()> {
        let ntuple = self.ntuple.clone();
        let first = ntuple.table.clusters.partition_point(|c| c.entries.end <= entries.start);
        for (number, cluster) in ntuple.table.clusters.iter().enumerate().skip(first) {
            if cluster.entries.start >= entries.end {
                break;
            }
            let from = entries.start.max(cluster.entries.start) - cluster.entries.start;
            let to = entries.end.min(cluster.entries.end) - cluster.entries.start;
            self.enter(number, cluster)?;
            self.field(&ntuple, field, from..to, out)?;
        }
        Ok(())
    }

    fn field(&mut self, ntuple: &Ntuple, id: usize, range: Range<u64>, out: &mut impl Take) -> Result<()> {
        let schema = &ntuple.schema;
        let Some(field) = schema.fields.get(id) else { return Ok(()) };
        // those of others are theirs
        let own = field.columns.iter().filter(|&&c| schema.columns.get(c).is_some_and(|c| c.field == id));
        let columns: Vec<usize> = own.copied().filter(|c| self.used.contains_key(c)).collect();
        let named = |e: Error| if e.branch().is_none() { e.in_branch(path_of(schema, id)) } else { e };
        let times = field.array_size.unwrap_or(1);
        let scaled = |n: u64| n.checked_mul(times).ok_or_else(|| Error::corrupt("more items than there can be"));
        let range = scaled(range.start).map_err(named)?..scaled(range.end).map_err(named)?;
        let mut below = vec![range.clone(); field.children.len()];
        let mut range = range;
        for &column in &columns {
            let meaning = schema.columns.get(column).map_or(Meaning::Values, |c| Meaning::of(c.code));
            let passed = match meaning {
                Meaning::Values => self.values(ntuple, column, range.clone(), out),
                Meaning::Ends => self.ends(ntuple, column, range.clone(), out).map(|items| {
                    below.fill(items.clone());
                    // the bytes of strings and streamed objects
                    range = items;
                }),
                Meaning::Switches => self.switches(ntuple, column, range.clone(), out, &mut below),
            };
            passed.map_err(named)?;
        }
        if field.role == Role::Variant && columns.is_empty() {
            return Err(named(Error::corrupt("a variant without a column")));
        }
        for (&child, range) in field.children.iter().zip(below) {
            self.field(ntuple, child, range, out)?;
        }
        Ok(())
    }

    fn values(&mut self, ntuple: &Ntuple, column: usize, range: Range<u64>, out: &mut impl Take) -> Result<()> {
        self.elements(ntuple, column, range, &mut |part| out.take(column, part))
    }

    /// Passes the lengths of lists; returns the range of their items.
    fn ends(&mut self, ntuple: &Ntuple, column: usize, range: Range<u64>, out: &mut impl Take) -> Result<Range<u64>> {
        let width = ntuple.schema.columns.get(column).map(Storage::of).transpose()?.map_or(8, Storage::width);
        let mut first = 0;
        if range.start > 0 {
            self.elements(ntuple, column, range.start - 1..range.start, &mut |part| {
                first = number(part);
                Ok(())
            })?;
        }
        let (mut last, mut lengths) = (first, Vec::new());
        self.elements(ntuple, column, range, &mut |part| {
            lengths.clear();
            for end in part.chunks_exact(width).map(number) {
                let length = end.checked_sub(last);
                let length = length.ok_or_else(|| Error::corrupt("the positions of its items are not increasing"))?;
                lengths.extend_from_slice(&length.to_le_bytes());
                last = end;
            }
            out.take(column, &lengths)
        })?;
        Ok(first..last)
    }

    /// Passes the tags of alternatives; `below` becomes the range of each alternative's values.
    fn switches(
        &mut self,
        ntuple: &Ntuple,
        column: usize,
        range: Range<u64>,
        out: &mut impl Take,
        below: &mut [Range<u64>],
    ) -> Result<()> {
        let mut seen: Vec<Option<Range<u64>>> = vec![None; below.len()];
        let mut tags = Vec::new();
        self.elements(ntuple, column, range, &mut |part| {
            tags.clear();
            for element in part.chunks_exact(SWITCH) {
                let (position, tag) = element.split_at(POSITION);
                let (position, tag_number) = (number(position), number(tag) as usize);
                tags.extend_from_slice(tag);
                // 0: no alternative
                let Some(alternative) = tag_number.checked_sub(1) else { continue };
                let Some(seen) = seen.get_mut(alternative) else {
                    return Err(Error::corrupt(format!("alternative {tag_number} of a variant with fewer")));
                };
                let seen = seen.get_or_insert(position..position);
                if seen.end != position {
                    return Err(Error::unsupported("a variant whose values are not in order"));
                }
                seen.end = position.saturating_add(1);
            }
            out.take(column, &tags)
        })?;
        for (below, seen) in below.iter_mut().zip(seen) {
            *below = seen.unwrap_or(0..0);
        }
        Ok(())
    }

    /// Passes elements of a column in the current cluster, page by page.
    fn elements(
        &mut self,
        ntuple: &Ntuple,
        column: usize,
        range: Range<u64>,
        out: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let Some(storage) = ntuple.schema.columns.get(column).map(Storage::of).transpose()? else { return Ok(()) };
        let Some(used) = self.used.get(&column) else { return Ok(()) };
        let (missing, first_page) = (used.missing, used.first_page);
        let end = used.ends.last().copied().unwrap_or(missing);
        if range.end > end {
            let what = format!("its pages have {end} elements in a cluster that needs {}", range.end);
            return Err(Error::corrupt(what));
        }
        let mut at = range.start;
        let zeros = vec![0; 4096 * storage.width()];
        while at < range.end.min(missing) {
            let n = (range.end.min(missing) - at).min(4096);
            out(zeros.get(..n as usize * storage.width()).unwrap_or_default())?;
            at += n;
        }
        let mut page = self.used.get(&column).map_or(0, |used| used.ends.partition_point(|&end| end <= at));
        while at < range.end {
            let Some(used) = self.used.get(&column) else { return Ok(()) };
            let start = page.checked_sub(1).and_then(|p| used.ends.get(p)).copied().unwrap_or(missing);
            let Some(&end) = used.ends.get(page) else { return Ok(()) };
            let bytes = self.page(ntuple, column, storage, first_page + page)?;
            let (from, to) = ((at - start) as usize, (range.end.min(end) - start) as usize);
            let part = bytes.get(from * storage.width()..to * storage.width());
            out(part.ok_or_else(|| Error::corrupt("a page with fewer elements than its list says"))?)?;
            at = range.end.min(end);
            page += 1;
        }
        Ok(())
    }

    /// The elements of a page.
    fn page(&mut self, ntuple: &Ntuple, column: usize, storage: Storage, index: usize) -> Result<&[u8]> {
        if self.unpacked.get(&column).is_none_or(|(known, _)| *known != index) {
            let mut elements = self.unpacked.remove(&column).map(|(_, bytes)| bytes).unwrap_or_default();
            elements.clear();
            let Some(page) = ntuple.table.pages.get(index) else { return Err(Error::corrupt("no such page")) };
            let span = page.stored();
            let n = page.elements as usize;
            let size = storage.page_len(n);
            let read = (|| {
                self.reader.read(span, &mut self.stored)?;
                let stored = self.stored.get(..span.len as usize).unwrap_or_default();
                let content = verified(stored, page.has_checksum)?;
                if content.len() == size {
                    storage.unpack(content, n, &mut elements);
                } else {
                    self.decoder.decompress_vec(content, &mut self.packed, size)?;
                    storage.unpack(&self.packed, n, &mut elements);
                }
                Ok(())
            })();
            read.map_err(|e: Error| e.at(span).in_file(self.reader.name()))?;
            self.unpacked.insert(column, (index, elements));
        }
        Ok(self.unpacked.get(&column).map_or(&[], |(_, bytes)| bytes))
    }
}
