//! An ntuple being joined from those of the inputs, and its metadata once all pages have positions.

use super::canonical::{Meaning, Storage, converted};
use super::elements::{path_of, per_entry};
use super::reduced::whole;
use super::schema::{SchemaMap, SchemaSum};
use super::used::{QUANTIZED, check_missing, no_zero, used_columns};
use super::zeros::ZeroPages;
use super::{InputNtuple, PageChunk};
use crate::container::{Container, DirectoryId};
use crate::recode::Recoder;
use sapwood_codec::Compression;
use sapwood_edit::Label;
use sapwood_format::ntuple::{
    Anchor, Cluster, ClusterColumn, ClusterGroup, ColumnRange, LONGEST_BLOB, Ntuple, PAGE_CHECKSUM, Page,
    PageListPlace, PageTable, Schema, WRITTEN_VERSION, footer_envelope, header_envelope, page_list_envelope,
};
use sapwood_span::{Result, Span};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Pages after which a further page list begins.
const PAGES_OF_LIST: usize = 1 << 20;

/// An ntuple being joined.
pub(crate) struct NtupleSum {
    pub(crate) path: String,
    pub(crate) directory: DirectoryId,
    pub(crate) entries: u64,
    /// Number of ntuples joined.
    pub(crate) inputs: usize,
    label: Label,
    name: String,
    description: String,
    schema: SchemaSum,
    clusters: Vec<SumCluster>,
    pages: Vec<Page>,
}

/// A cluster of the joined ntuple.
struct SumCluster {
    entries: Range<u64>,
    /// Those that are used in it, ascending.
    columns: Vec<SumColumn>,
}

/// What a cluster has of a column.
struct SumColumn {
    column: usize,
    /// Elements without a page, in front of the others: zeros.
    missing: u64,
    pages: Range<usize>,
    compression: u32,
}

/// What a new cluster has of a column.
pub(super) struct NewColumn {
    pub(super) column: usize,
    pub(super) compression: u32,
    pub(super) pages: Vec<Page>,
}

/// The ntuple of the input that is being copied.
pub(crate) struct CurrentNtuple {
    /// Number of the one that it joins.
    pub(crate) sum: usize,
    /// Its first page in that.
    first_page: usize,
    /// Where its stored pages are now, and behind them what became of some.
    places: Vec<Page>,
    /// For each page of its table, the number of the place.
    place_of: Vec<u32>,
    conversions: Conversions,
    ntuple: Arc<Ntuple>,
    recoder: Recoder,
}

/// Stored pages that become others. Columns share pages of the same bytes, and what becomes of one of them does not have to
/// become of the other.
#[derive(Default)]
struct Conversions {
    all: Vec<Conversion>,
    /// Of a stored page, the numbers of its conversions.
    of_page: HashMap<usize, Vec<usize>>,
    /// Those that no column has as they are.
    replaced: HashSet<usize>,
}

/// What becomes of a page.
struct Conversion {
    from: Storage,
    to: Storage,
    elements: u32,
    compression: Compression,
    /// The column that has it.
    column: usize,
}

impl Conversion {
    /// What becomes of an uncompressed page.
    fn changed(&self, schema: &Schema, plain: &[u8]) -> Result<Vec<u8>> {
        let elements = self.elements as usize;
        let column = schema.columns.get(self.column).filter(|c| Meaning::of(c.code) == Meaning::Values);
        match column.and_then(|c| schema.fields.get(c.field).map(|field| (c, field))) {
            Some((column, field)) => whole(plain, elements, field, column, self.to),
            None => converted(plain, elements, self.from, self.to),
        }
    }
}

impl NtupleSum {
    /// An empty one like that of the first input.
    pub(crate) fn new(first: &InputNtuple, directory: DirectoryId, file: &str) -> Self {
        Self {
            path: first.path.clone(),
            directory,
            entries: 0,
            inputs: 0,
            label: first.label.clone(),
            name: first.ntuple.name.clone(),
            description: first.ntuple.description.clone(),
            schema: SchemaSum::new(file),
            clusters: Vec::new(),
            pages: Vec::new(),
        }
    }

    /// Adds an input's ntuple, whose pages follow. `number`: of this one. `compression`: of pages that are compressed
    /// again. `extends`: whether its fields may be others.
    ///
    /// # Errors
    /// `Invalid`, naming the first difference, when they cannot be joined; `Corrupt` when its columns do not have as many
    /// elements as its entries need.
    pub(crate) fn join(
        &mut self,
        input: InputNtuple,
        number: usize,
        compression: Option<Compression>,
        extends: bool,
    ) -> Result<CurrentNtuple> {
        let map = self.schema.join(&input.ntuple.schema, extends);
        let map = map.map_err(|e| {
            let what = format!("ntuple {}: {}", self.path, e.what());
            e.worded(what)
        })?;
        let first_page = self.pages.len();
        let setting = compression.map(|c| u32::try_from(c.settings()).unwrap_or(0));
        for cluster in &input.ntuple.table.clusters {
            let columns = used_columns(&input.ntuple, cluster)?.into_iter().map(|(column, missing)| {
                let stored = cluster.columns.get(column).cloned().unwrap_or_default();
                SumColumn {
                    column: map.columns.get(column).copied().unwrap_or(usize::MAX),
                    missing,
                    pages: first_page + stored.pages.start..first_page + stored.pages.end,
                    compression: setting.unwrap_or(stored.compression),
                }
            });
            let mut columns: Vec<SumColumn> = columns.collect();
            columns.sort_by_key(|c| c.column);
            let entries = self.entries + cluster.entries.start..self.entries + cluster.entries.end;
            self.clusters.push(SumCluster { entries, columns });
        }
        self.entries += input.ntuple.entries;
        self.inputs += 1;
        self.pages.extend(&input.ntuple.table.pages);
        let (conversions, place_of) = self.conversions(&input, &map, compression)?;
        let nowhere = Page { elements: 0, has_checksum: false, span: Span::default() };
        let places = vec![nowhere; input.stored.len() + conversions.all.len()];
        Ok(CurrentNtuple {
            sum: number,
            first_page,
            places,
            place_of,
            conversions,
            ntuple: input.ntuple,
            recoder: Recoder::default(),
        })
    }

    /// Which stored pages of an input become others, and for each page of its table the number of its place.
    fn conversions(
        &self,
        input: &InputNtuple,
        map: &SchemaMap,
        compression: Option<Compression>,
    ) -> Result<(Conversions, Vec<u32>)> {
        let mut out = Conversions::default();
        let mut place_of = input.stored_as.clone();
        if map.converted.is_empty() {
            return Ok((out, place_of));
        }
        let mut kept: HashSet<u32> = HashSet::new();
        let theirs = &input.ntuple.schema.columns;
        for cluster in &input.ntuple.table.clusters {
            for (c, column) in cluster.columns.iter().enumerate() {
                let ours = map.columns.get(c).and_then(|&c| self.schema.schema.columns.get(c));
                let (Some(their), Some(our), true) = (theirs.get(c), ours, map.converted.contains(&c)) else {
                    kept.extend(input.stored_as.get(column.pages.clone()).unwrap_or_default());
                    continue;
                };
                let (from, to) = (Storage::of(their)?, Storage::of(our)?);
                let own = Compression::from_settings(i32::try_from(column.compression).unwrap_or(0));
                let compression = compression.unwrap_or_else(|| own.unwrap_or(Compression::NONE));
                for page in column.pages.clone() {
                    let (Some(&stored), Some(place)) = (input.stored_as.get(page), place_of.get_mut(page)) else {
                        continue;
                    };
                    let known = out.of_page.entry(stored as usize).or_default();
                    let same = known.iter().copied().find(|&k| {
                        out.all.get(k).is_some_and(|known| {
                            known.to == to && (known.column == c || Meaning::of(their.code) == Meaning::Ends)
                        })
                    });
                    let number = same.unwrap_or_else(|| {
                        let elements = input.ntuple.table.pages.get(page).map_or(0, |p| p.elements);
                        out.all.push(Conversion { from, to, elements, compression, column: c });
                        known.push(out.all.len() - 1);
                        out.all.len() - 1
                    });
                    // the pages of the table are at most as many as fit, and so are these
                    *place = u32::try_from(input.stored.len() + number).unwrap_or(u32::MAX);
                }
            }
        }
        out.replaced = out.of_page.keys().copied().filter(|&page| !kept.contains(&(page as u32))).collect();
        Ok((out, place_of))
    }

    /// Takes over the schema of an input that gets another layout; returns where each of its columns is.
    ///
    /// # Errors
    /// `Corrupt` when it is impossible.
    pub(crate) fn adopt(&mut self, input: &InputNtuple) -> Result<Vec<usize>> {
        self.inputs += 1;
        self.schema.join(&input.ntuple.schema, true).map(|map| map.columns)
    }

    /// Adds a cluster whose pages are written.
    pub(super) fn add_cluster(&mut self, entries: Range<u64>, columns: Vec<NewColumn>) {
        self.entries = entries.end;
        let add = |NewColumn { column, compression, pages }: NewColumn| {
            let first = self.pages.len();
            self.pages.extend(pages);
            SumColumn { column, missing: 0, pages: first..self.pages.len(), compression }
        };
        let mut columns: Vec<SumColumn> = columns.into_iter().map(add).collect();
        columns.sort_by_key(|c| c.column);
        self.clusters.push(SumCluster { entries, columns });
    }

    /// All pages of the input are written: returns how many there are.
    pub(crate) fn place(&mut self, current: &CurrentNtuple) -> u64 {
        let pages = self.pages.get_mut(current.first_page..).unwrap_or_default();
        for (page, &place) in pages.iter_mut().zip(&current.place_of) {
            if let Some(place) = current.places.get(place as usize) {
                (page.span, page.has_checksum) = (place.span, place.has_checksum);
            }
        }
        (current.places.len() - current.conversions.replaced.len()) as u64
    }

    /// Writes header, page lists, footer and anchor.
    ///
    /// # Errors
    /// When a field that an input lacks has no zero, or the metadata is too large.
    pub(crate) fn write(self, file: &mut Container) -> Result<()> {
        let schema = self.schema.finish();
        let (header, checksum) = header_envelope(&self.name, &self.description, crate::WRITER, &schema);
        let (header, header_len) = put_envelope(file, &header)?;
        let fields = FieldColumns::of(&self.schema)?;
        let mut zeros = ZeroPages::default();
        let mut elements = vec![0_u64; schema.columns.len()];
        let (mut groups, mut table, mut ranges) = (Vec::new(), PageTable::default(), Vec::new());
        let count = self.clusters.len();
        for (i, cluster) in self.clusters.into_iter().enumerate() {
            let used = fields.of_cluster(&self.schema, cluster.columns, &cluster.entries, file.compression)?;
            let mut columns = Vec::with_capacity(used.len());
            let mut of_cluster = Vec::with_capacity(used.len());
            for (column, used) in used.into_iter().enumerate() {
                let first = table.pages.len();
                let bits = schema.columns.get(column).map_or(0, |c| c.bits);
                let compression = used.as_ref().map_or(0, |u| u.compression);
                if let Some(used) = &used {
                    zeros.add(used.missing, bits, file, &mut table.pages)?;
                    table.pages.extend(self.pages.get(used.pages.clone()).unwrap_or_default());
                }
                let pages = first..table.pages.len();
                let here: u64 =
                    table.pages.get(first..).unwrap_or_default().iter().map(|p| u64::from(p.elements)).sum();
                // all representations of a column count together
                let counter = elements.get_mut(fields.first_of.get(column).copied().unwrap_or(column));
                let first_element = counter.map_or(0, |c| std::mem::replace(c, c.saturating_add(here)));
                let first_element = if used.is_some() { first_element } else { 0 };
                of_cluster.push(ColumnRange { first_element, compression });
                columns.push(ClusterColumn { pages, is_suppressed: used.is_none(), compression });
            }
            table.clusters.push(Cluster { entries: cluster.entries, columns });
            ranges.push(of_cluster);
            if table.pages.len() >= PAGES_OF_LIST || i + 1 == count {
                groups.push(put_group(file, checksum, &table, &ranges)?);
                (table, ranges) = (PageTable::default(), Vec::new());
            }
        }
        let footer = footer_envelope(WRITTEN_VERSION, checksum, (&schema, schema.size()), &groups);
        let (footer, footer_len) = put_envelope(file, &footer)?;
        let anchor =
            Anchor { version: WRITTEN_VERSION, header, header_len, footer, footer_len, longest_blob: LONGEST_BLOB }
                .bytes();
        let label = Label { big: self.label.big || file.needs_big(), ..self.label };
        file.put(self.directory, label, anchor.len() as u32, &anchor)?;
        Ok(())
    }
}

impl CurrentNtuple {
    /// Writes a chunk of its pages, as one record.
    pub(crate) fn write(&mut self, chunk: &PageChunk, file: &mut Container) -> Result<()> {
        if (chunk.first..chunk.first + chunk.pages.len()).any(|page| self.conversions.of_page.contains_key(&page)) {
            return self.write_converted(chunk, file);
        }
        // what is next to each other in the chunk is written at once
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut size = 0_u64;
        for page in &chunk.pages {
            size = size.saturating_add(page.size);
            match runs.last_mut() {
                Some(run) if run.end == page.at => run.end = page.at + page.len,
                _ => runs.push(page.at..page.at + page.len),
            }
        }
        let parts: Vec<&[u8]> = runs.into_iter().map(|run| chunk.data.get(run).unwrap_or_default()).collect();
        let mut at = file.put_blob(size, &parts)?;
        let places = self.places.get_mut(chunk.first..).unwrap_or_default();
        for (place, page) in places.iter_mut().zip(&chunk.pages) {
            let checksum = if page.has_checksum { PAGE_CHECKSUM } else { 0 };
            let span = Span::new(at, (page.len as u64).saturating_sub(checksum));
            *place = Page { elements: 0, has_checksum: page.has_checksum, span };
            at += page.len as u64;
        }
        Ok(())
    }

    /// The same for a chunk of which some pages become others.
    fn write_converted(&mut self, chunk: &PageChunk, file: &mut Container) -> Result<()> {
        let stored = self.places.len() - self.conversions.all.len();
        // with the number of its place, and whether a checksum is at its end
        let mut parts: Vec<(usize, bool, Cow<'_, [u8]>)> = Vec::with_capacity(chunk.pages.len());
        let mut size = 0_u64;
        for (i, page) in chunk.pages.iter().enumerate() {
            let number = chunk.first + i;
            let bytes = chunk.data.get(page.at..page.at + page.len).unwrap_or_default();
            if !self.conversions.replaced.contains(&number) {
                size += page.size;
                parts.push((number, page.has_checksum, Cow::Borrowed(bytes)));
            }
            let checksum = if page.has_checksum { PAGE_CHECKSUM as usize } else { 0 };
            let content = bytes.get(..bytes.len().saturating_sub(checksum)).unwrap_or_default();
            for &k in self.conversions.of_page.get(&number).into_iter().flatten() {
                let Some(how) = self.conversions.all.get(k) else { continue };
                let changed = self
                    .recoder
                    .changed_page(content, page.size, how.compression, |plain| how.changed(&self.ntuple.schema, plain));
                let field = self.ntuple.schema.columns.get(how.column).map_or(0, |c| c.field);
                let changed = changed.map_err(|e| e.in_branch(path_of(&self.ntuple.schema, field)))?;
                size += how.to.page_len(how.elements as usize) as u64;
                parts.push((stored + k, true, Cow::Owned(changed)));
            }
        }
        let slices: Vec<&[u8]> = parts.iter().map(|(_, _, part)| part.as_ref()).collect();
        let mut at = file.put_blob(size, &slices)?;
        for (place, has_checksum, part) in &parts {
            let (checksum, len) = (if *has_checksum { PAGE_CHECKSUM } else { 0 }, part.len() as u64);
            if let Some(place) = self.places.get_mut(*place) {
                let span = Span::new(at, len.saturating_sub(checksum));
                *place = Page { elements: 0, has_checksum: *has_checksum, span };
            }
            at += len;
        }
        Ok(())
    }
}

/// What is known of the columns of each field.
struct FieldColumns {
    /// Elements of the first column for each entry; none where that depends on the values.
    per_entry: Vec<Option<u64>>,
    /// Of each column: the one of the first representation.
    first_of: Vec<usize>,
}

impl FieldColumns {
    fn of(sum: &SchemaSum) -> Result<Self> {
        let per_entry = (0..sum.schema.fields.len()).map(|id| per_entry(&sum.schema, id)).collect::<Result<_>>()?;
        let mut first_of: Vec<usize> = (0..sum.schema.columns.len()).collect();
        for all in &sum.representations {
            let Some(first) = all.first() else { continue };
            for (&column, &first) in all.iter().flat_map(|columns| columns.iter().zip(first)) {
                if let Some(place) = first_of.get_mut(column) {
                    *place = first;
                }
            }
        }
        Ok(Self { per_entry, first_of })
    }

    /// The columns of a cluster, by number; none for those that are not used in it. Fields that its input lacks are zero.
    fn of_cluster(
        &self,
        sum: &SchemaSum,
        columns: Vec<SumColumn>,
        entries: &Range<u64>,
        compression: Compression,
    ) -> Result<Vec<Option<SumColumn>>> {
        let mut out: Vec<Option<SumColumn>> = sum.schema.columns.iter().map(|_| None).collect();
        for used in columns {
            if let Some(place) = out.get_mut(used.column) {
                *place = Some(used);
            }
        }
        for (id, all) in sum.representations.iter().enumerate() {
            let Some(first) = all.first() else { continue };
            let has_columns = all.iter().flatten().any(|&c| matches!(out.get(c), Some(Some(_))));
            if has_columns {
                continue;
            }
            let each = self.per_entry.get(id).copied().flatten();
            let missing = each.map_or(0, |n| n.saturating_mul(entries.end - entries.start));
            check_missing(missing, &sum.schema, id)?;
            let is_quantized = |&c: &usize| sum.schema.columns.get(c).is_some_and(|c| c.code == QUANTIZED);
            if missing > 0 && (sum.is_streamed(id) || first.iter().any(is_quantized)) {
                return Err(no_zero(path_of(&sum.schema, id)));
            }
            for (place, &column) in first.iter().enumerate() {
                let missing = if place == 0 { missing } else { 0 };
                let compression = u32::try_from(compression.settings()).unwrap_or(0);
                if let Some(slot) = out.get_mut(column) {
                    *slot = Some(SumColumn { column, missing, pages: 0..0, compression });
                }
            }
        }
        Ok(out)
    }
}

/// Writes an envelope; returns its place and uncompressed length.
fn put_envelope(file: &mut Container, envelope: &[u8]) -> Result<(Span, u64)> {
    let packed = file.compress(envelope, file.compression);
    let stored = packed.as_deref().unwrap_or(envelope);
    let start = file.put_blob(envelope.len() as u64, &[stored])?;
    Ok((Span::new(start, stored.len() as u64), envelope.len() as u64))
}

/// Writes the page list of a group of clusters.
fn put_group(
    file: &mut Container,
    header: u64,
    table: &PageTable,
    ranges: &[Vec<ColumnRange>],
) -> Result<ClusterGroup> {
    let clusters = table.clusters.len();
    let (list, _) = page_list_envelope(header, table, 0..clusters, ranges);
    let (span, len) = put_envelope(file, &list)?;
    let first = table.clusters.first().map_or(0, |c| c.entries.start);
    let last = table.clusters.last().map_or(0, |c| c.entries.end);
    Ok(ClusterGroup { entries: first..last, clusters: clusters as u32, list: PageListPlace { span, len } })
}
