//! An ntuple with other clusters and pages: its columns are cut and joined, and nothing of their meaning is needed but
//! where lists end. Every element is verified: the output is read back and its sums compared.

use super::InputNtuple;
use super::canonical::{Meaning, Storage, number};
use super::sum::{NewColumn, NtupleSum};
use super::used::used_columns;
use super::walk::{Take, Walk};
use crate::input::Reader;
use crate::ordered::ordered;
use sapwood_codec::{Compression, Digest, Encoder, xxh3};
use sapwood_format::ntuple::{Cluster, Ntuple, PAGE_CHECKSUM, Page};
use sapwood_span::{Error, Result, Span};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The new layout of an ntuple.
pub(crate) struct NtuplePlan {
    /// Boundaries of its clusters, with the number of entries at the end.
    pub(crate) boundaries: Vec<u64>,
    /// Uncompressed bytes of the largest page.
    pub(crate) page_bytes: usize,
    /// Of all pages; by default each column keeps its own.
    pub(crate) compression: Option<Compression>,
    pub(crate) threads: usize,
}

/// Sums over the elements of each column, by cluster and by field at the top, and the number of elements of each column.
#[derive(Default)]
pub(crate) struct NtupleSums {
    sums: Vec<BTreeMap<usize, u64>>,
    elements: BTreeMap<usize, u64>,
}

/// The part of a field in a new cluster.
struct FieldPart {
    columns: Vec<ColumnPart>,
    sums: BTreeMap<usize, u64>,
    elements: BTreeMap<usize, u64>,
}

/// A cluster that is being written: its columns by their number in the input.
struct NewCluster {
    number: usize,
    entries: Range<u64>,
    columns: BTreeMap<usize, NewColumn>,
}

/// The pages of a column in a new cluster.
struct ColumnPart {
    column: usize,
    pages: Vec<NewPage>,
}

/// A page with its checksum.
struct NewPage {
    elements: u32,
    size: u64,
    bytes: Vec<u8>,
}

/// The sums of the columns' elements, and how many there are.
#[derive(Default)]
struct Summing {
    columns: BTreeMap<usize, (Digest, u64)>,
    widths: Arc<Vec<usize>>,
}

impl Take for Summing {
    fn take(&mut self, column: usize, elements: &[u8]) -> Result<()> {
        let width = self.widths.get(column).copied().unwrap_or(1).max(1);
        let (digest, n) = self.columns.entry(column).or_default();
        digest.update(elements);
        *n += (elements.len() / width) as u64;
        Ok(())
    }
}

impl Summing {
    fn new(widths: &Arc<Vec<usize>>) -> Self {
        Self { columns: BTreeMap::new(), widths: widths.clone() }
    }

    fn sums(&self) -> BTreeMap<usize, u64> {
        self.columns.iter().map(|(&column, (digest, _))| (column, digest.value())).collect()
    }
}

/// Bytes of each column's elements as [`Walk`] passes them.
fn widths(ntuple: &Ntuple) -> Result<Arc<Vec<usize>>> {
    let width = |c: &sapwood_format::ntuple::Column| match Meaning::of(c.code) {
        Meaning::Values => Storage::of(c).map(Storage::width),
        Meaning::Ends => Ok(8),
        Meaning::Switches => Ok(4),
    };
    ntuple.schema.columns.iter().map(width).collect::<Result<Vec<_>>>().map(Arc::new)
}

/// Builds the pages of a cluster.
struct Building<'a> {
    ntuple: &'a Ntuple,
    plan: &'a NtuplePlan,
    summing: Summing,
    encoder: Encoder,
    columns: BTreeMap<usize, BuiltColumn>,
    /// The old cluster with the first entry, whose columns' compressions are kept.
    old: Option<&'a Cluster>,
}

/// A column of the cluster.
struct BuiltColumn {
    storage: Storage,
    meaning: Meaning,
    /// The elements of the page that is being filled.
    buffer: Vec<u8>,
    /// Items of lists so far, and values of each alternative.
    items: u64,
    values: BTreeMap<u32, u64>,
    compression: Compression,
    pages: Vec<NewPage>,
}

impl Take for Building<'_> {
    fn take(&mut self, column: usize, elements: &[u8]) -> Result<()> {
        self.summing.take(column, elements)?;
        let Some(described) = self.ntuple.schema.columns.get(column) else { return Ok(()) };
        let setting = self.old.and_then(|old| old.columns.get(column)).map_or(0, |c| c.compression);
        let place = match self.columns.entry(column) {
            std::collections::btree_map::Entry::Occupied(place) => place.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => place.insert(BuiltColumn {
                storage: Storage::of(described)?,
                meaning: Meaning::of(described.code),
                buffer: Vec::new(),
                items: 0,
                values: BTreeMap::new(),
                compression: match self.plan.compression {
                    Some(compression) => compression,
                    None => {
                        Compression::from_settings(i32::try_from(setting).unwrap_or(0)).unwrap_or(Compression::NONE)
                    }
                },
                pages: Vec::new(),
            }),
        };
        place.take(elements, self.plan.page_bytes, &mut self.encoder)
    }
}

impl BuiltColumn {
    fn take(&mut self, elements: &[u8], page_bytes: usize, encoder: &mut Encoder) -> Result<()> {
        let width = self.storage.width();
        let full = (page_bytes / width).max(1) * width;
        match self.meaning {
            Meaning::Values => {
                let mut rest = elements;
                while !rest.is_empty() {
                    let (now, later) = rest.split_at(rest.len().min(full - self.buffer.len()));
                    self.buffer.extend_from_slice(now);
                    rest = later;
                    if self.buffer.len() >= full {
                        self.end_page(encoder);
                    }
                }
            }
            Meaning::Ends => {
                for length in elements.chunks_exact(8).map(number) {
                    self.items = self.items.saturating_add(length);
                    if width == 4 && self.items > u64::from(u32::MAX) {
                        return Err(Error::unsupported("more items in a cluster than its 32-bit positions can count")
                            .with_remedy("choose smaller clusters"));
                    }
                    self.buffer.extend_from_slice(self.items.to_le_bytes().get(..width).unwrap_or_default());
                    if self.buffer.len() >= full {
                        self.end_page(encoder);
                    }
                }
            }
            Meaning::Switches => {
                for tag in elements.chunks_exact(4) {
                    let tag = number(tag) as u32;
                    let next = self.values.entry(tag).or_default();
                    let position = if tag == 0 { 0 } else { std::mem::replace(next, *next + 1) };
                    self.buffer.extend_from_slice(&position.to_le_bytes());
                    self.buffer.extend_from_slice(&tag.to_le_bytes());
                    if self.buffer.len() >= full {
                        self.end_page(encoder);
                    }
                }
            }
        }
        Ok(())
    }

    fn end_page(&mut self, encoder: &mut Encoder) {
        if self.buffer.is_empty() {
            return;
        }
        let (mut page, mut bytes) = (Vec::new(), Vec::new());
        self.storage.pack(&self.buffer, &mut page);
        let size = page.len() as u64;
        if !encoder.compress_planes(&page, self.storage.planes(), self.compression, &mut bytes) {
            bytes = page;
        }
        let checksum = xxh3(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        let elements = (self.buffer.len() / self.storage.width()) as u32;
        self.pages.push(NewPage { elements, size, bytes });
        self.buffer.clear();
    }
}

impl InputNtuple {
    /// Boundaries at which the encodings of columns change: no new cluster may span one.
    pub(crate) fn fixed_boundaries(&self) -> Result<Vec<u64>> {
        let mut out = Vec::new();
        let mut before: Option<Vec<usize>> = None;
        for cluster in &self.ntuple.table.clusters {
            let used: Vec<usize> = used_columns(&self.ntuple, cluster)?.into_iter().map(|(column, _)| column).collect();
            if before.as_ref().is_some_and(|before| *before != used) {
                out.push(cluster.entries.start);
            }
            before = Some(used);
        }
        Ok(out)
    }

    /// Compressed bytes of its pages.
    pub(crate) fn zip_bytes(&self) -> u64 {
        self.stored.iter().map(|page| page.span.len).sum()
    }

    /// The fields at the top that have values of their own.
    fn tops(&self) -> Vec<usize> {
        let fields = &self.ntuple.schema.fields;
        (0..fields.len())
            .filter(|&id| fields.get(id).is_some_and(|f| f.parent.is_none() && f.source.is_none()))
            .collect()
    }

    /// The old cluster with the first of these entries.
    fn old_cluster(&self, entries: &Range<u64>) -> Option<&Cluster> {
        let clusters = &self.ntuple.table.clusters;
        clusters.get(clusters.partition_point(|c| c.entries.end <= entries.start))
    }

    /// Writes it with the new layout to `sum`, an empty ntuple with its schema, in which its columns are those of `map`;
    /// `put` writes pages, and returns where the first one is. Returns the sums of all elements.
    ///
    /// # Errors
    /// As [`Walk::entries`], and those of `put`.
    pub(crate) fn lay_out(
        &self,
        reader: &Reader,
        plan: &NtuplePlan,
        (sum, map): (&mut NtupleSum, &[usize]),
        mut put: impl FnMut(u64, &[&[u8]]) -> Result<u64>,
        check: impl Fn() -> Result<()> + Sync,
    ) -> Result<NtupleSums> {
        let tops = self.tops();
        let widths = widths(&self.ntuple)?;
        let clusters = plan.boundaries.windows(2).map(|w| w[0]..w[1]);
        let jobs = clusters.enumerate().flat_map(|(i, entries)| tops.iter().map(move |&f| (i, entries.clone(), f)));
        let jobs: Vec<(usize, Range<u64>, usize)> = jobs.collect();
        let mut sums = NtupleSums::default();
        ordered(
            plan.threads,
            2 * plan.threads,
            jobs.into_iter(),
            || Walk::new(reader, self.ntuple.clone()),
            |walk, (number, entries, field)| {
                check()?;
                let part = self.part(walk, plan, &widths, field, &entries)?;
                Ok::<_, Error>((number, entries, part))
            },
            |results| {
                let place = |column: usize| map.get(column).copied().unwrap_or(usize::MAX);
                let mut current: Option<NewCluster> = None;
                for result in results {
                    let (number, entries, part) = result?;
                    if current.as_ref().is_none_or(|current| current.number != number)
                        && let Some(done) =
                            current.replace(self.begin_cluster(number, entries, plan.compression, place)?)
                    {
                        sum.add_cluster(done.entries, done.columns.into_values().collect());
                    }
                    let pages: Vec<&NewPage> = part.columns.iter().flat_map(|c| &c.pages).collect();
                    let mut at = 0;
                    if !pages.is_empty() {
                        let parts: Vec<&[u8]> = pages.iter().map(|page| &*page.bytes).collect();
                        at = put(pages.iter().map(|page| page.size).sum(), &parts)?;
                    }
                    for column in &part.columns {
                        let places = column.pages.iter().map(|page| {
                            let len = page.bytes.len() as u64;
                            let span = Span::new(at, len.saturating_sub(PAGE_CHECKSUM));
                            at += len;
                            Page { elements: page.elements, has_checksum: true, span }
                        });
                        let places: Vec<Page> = places.collect();
                        let of_cluster = current.as_mut().and_then(|c| c.columns.get_mut(&column.column));
                        if let Some(of_cluster) = of_cluster {
                            of_cluster.pages = places;
                        }
                    }
                    sums.sums.push(part.sums.into_iter().map(|(column, sum)| (place(column), sum)).collect());
                    for (column, n) in part.elements {
                        *sums.elements.entry(column).or_default() += n;
                    }
                }
                if let Some(done) = current {
                    sum.add_cluster(done.entries, done.columns.into_values().collect());
                }
                Ok::<(), Error>(())
            },
        )?;
        self.check_numbers(&sums)?;
        Ok(sums)
    }

    /// A new cluster with the columns that are used in it, still without pages.
    fn begin_cluster(
        &self,
        number: usize,
        entries: Range<u64>,
        compression: Option<Compression>,
        place: impl Fn(usize) -> usize,
    ) -> Result<NewCluster> {
        let mut columns = BTreeMap::new();
        let old = self.old_cluster(&entries);
        for (column, _) in old.map(|old| used_columns(&self.ntuple, old)).transpose()?.unwrap_or_default() {
            let own = old.and_then(|old| old.columns.get(column)).map_or(0, |c| c.compression);
            let setting = compression.map_or(own, |c| u32::try_from(c.settings()).unwrap_or(0));
            columns.insert(column, NewColumn { column: place(column), compression: setting, pages: Vec::new() });
        }
        Ok(NewCluster { number, entries, columns })
    }

    fn part(
        &self,
        walk: &mut Walk,
        plan: &NtuplePlan,
        widths: &Arc<Vec<usize>>,
        field: usize,
        entries: &Range<u64>,
    ) -> Result<FieldPart> {
        let mut building = Building {
            ntuple: &self.ntuple,
            plan,
            summing: Summing::new(widths),
            encoder: Encoder::new(),
            columns: BTreeMap::new(),
            old: self.old_cluster(entries),
        };
        walk.entries(field, entries, &mut building)?;
        let mut columns = Vec::new();
        for (column, mut built) in building.columns {
            built.end_page(&mut building.encoder);
            columns.push(ColumnPart { column, pages: built.pages });
        }
        let elements = building.summing.columns.iter().map(|(&column, (_, n))| (column, *n)).collect();
        Ok(FieldPart { columns, sums: building.summing.sums(), elements })
    }

    /// Every element of the input was taken once.
    fn check_numbers(&self, sums: &NtupleSums) -> Result<()> {
        let mut wanted: BTreeMap<usize, u64> = BTreeMap::new();
        for cluster in &self.ntuple.table.clusters {
            for (column, missing) in used_columns(&self.ntuple, cluster)? {
                let pages = cluster.columns.get(column).map_or(0..0, |c| c.pages.clone());
                let pages = self.ntuple.table.pages.get(pages).unwrap_or_default();
                let n: u64 = pages.iter().map(|page| u64::from(page.elements)).sum();
                *wanted.entry(column).or_default() += n + missing;
            }
        }
        wanted.retain(|_, n| *n > 0);
        let taken = |column: usize| sums.elements.get(&column).copied().unwrap_or(0);
        match wanted.iter().find(|&(&column, &n)| taken(column) != n) {
            None => Ok(()),
            Some((&column, &n)) => {
                let field = self.ntuple.schema.columns.get(column).map_or(0, |c| c.field);
                let what = format!("its column has {n} elements, of which its entries use {}", taken(column));
                Err(Error::corrupt(what).in_branch(super::elements::path_of(&self.ntuple.schema, field)))
            }
        }
    }

    /// Reads it and compares it with these sums of an ntuple of the same schema, with clusters at the same entries.
    ///
    /// # Errors
    /// `Corrupt` for a difference, with the field and the entries.
    pub(crate) fn compare(
        &self,
        reader: &Reader,
        plan: &NtuplePlan,
        sums: &NtupleSums,
        check: impl Fn() -> Result<()> + Sync,
    ) -> Result<()> {
        let tops = self.tops();
        let widths = widths(&self.ntuple)?;
        let clusters = plan.boundaries.windows(2).map(|w| w[0]..w[1]);
        let jobs = clusters.flat_map(|entries| tops.iter().map(move |&field| (entries.clone(), field)));
        let jobs: Vec<_> = jobs.zip(&sums.sums).collect();
        if jobs.len() != sums.sums.len() || self.ntuple.entries != plan.boundaries.last().copied().unwrap_or(0) {
            return Err(Error::corrupt("the output has other entries"));
        }
        ordered(
            plan.threads,
            4 * plan.threads,
            jobs.into_iter(),
            || Walk::new(reader, self.ntuple.clone()),
            |walk, ((entries, field), wanted)| {
                check()?;
                let mut found = Summing::new(&widths);
                walk.entries(field, &entries, &mut found)?;
                if found.sums() == *wanted {
                    return Ok(());
                }
                let (first, last) = (entries.start, entries.end.saturating_sub(1));
                let name = self.ntuple.schema.fields.get(field).map_or("", |f| &f.name);
                Err(Error::corrupt(format!("entries {first} to {last} differ in the output"))
                    .in_branch(name)
                    .with_remedy("this is a bug in Sapwood: please report it with a file that reproduces it"))
            },
            |results| results.collect::<Result<Vec<()>>>().map(drop),
        )
    }
}
