//! Clusters and where their pages are.

use super::envelope::Frame;
use sapwood_span::{Error, Result, Span};
use std::ops::Range;

/// Bytes of the checksum behind a page.
pub const PAGE_CHECKSUM: u64 = 8;

/// A page: consecutive elements of a column, compressed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its elements.
    pub elements: u32,
    /// Whether its checksum follows it.
    pub has_checksum: bool,
    /// Its bytes in the file, without the checksum.
    pub span: Span,
}

impl Page {
    /// The bytes to read: the page, and the checksum where it has one.
    pub fn stored(&self) -> Span {
        let sum = if self.has_checksum { PAGE_CHECKSUM } else { 0 };
        Span::new(self.span.start, self.span.len.saturating_add(sum))
    }
}

/// What a cluster has of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterColumn {
    /// Its pages, in the order of elements; indices into [`PageTable::pages`].
    pub pages: Range<usize>,
    /// Whether another representation of the field is used in this cluster.
    pub is_suppressed: bool,
    /// ROOT's number of the pages' compression setting.
    pub compression: u32,
}

/// A range of entries whose data are stored together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Its entries.
    pub entries: Range<u64>,
    /// By column. Columns that were added later may be missing at the end.
    pub columns: Vec<ClusterColumn>,
}

/// All clusters and pages.
#[derive(Clone, Debug, Default)]
pub struct PageTable {
    /// The clusters, by entry.
    pub clusters: Vec<Cluster>,
    /// All pages: cluster by cluster, column by column.
    pub pages: Vec<Page>,
}

/// Bytes that a cluster's summary, a column's list and a page take at least.
const SUMMARY: usize = 8 + 16;
const COLUMN: usize = 8 + 4 + 8;
const PAGE: usize = 4 + 12;

/// Set in a cluster whose columns are spread over several.
const SHARDED: u64 = 1;

impl PageTable {
    /// Adds the clusters of a page list. `header`: the checksum of the header that it must belong to.
    ///
    /// # Errors
    /// `Corrupt` for another header's page list and for impossible counts; `Unsupported` for clusters of a later format
    /// version.
    pub(super) fn extend(&mut self, frame: &mut Frame<'_>, header: u64) -> Result<()> {
        if frame.u64()? != header {
            return Err(Error::corrupt("a page list belongs to another RNTuple than its header"));
        }
        let first = self.clusters.len();
        let (mut list, n) = frame.list(SUMMARY)?;
        for _ in 0..n {
            let mut f = list.record()?;
            let (start, rest) = (f.u64()?, f.u64()?);
            let (entries, flags) = (rest & ((1 << 56) - 1), rest >> 56);
            if flags & SHARDED != 0 {
                return Err(
                    Error::unsupported("sharded clusters, of a later format version").with_remedy("update Sapwood")
                );
            }
            let end = start.checked_add(entries).filter(|&end| end <= i64::MAX as u64);
            let end = end.ok_or_else(|| Error::corrupt("a cluster with more entries than there can be"))?;
            self.clusters.push(Cluster { entries: start..end, columns: Vec::new() });
        }
        let (mut list, stated) = frame.list(12)?;
        if stated != n {
            return Err(Error::corrupt(format!("page locations of {stated} clusters, of {n}")));
        }
        for cluster in first..first + n {
            let (mut columns, number) = list.list(COLUMN)?;
            let mut out = Vec::with_capacity(number);
            for _ in 0..number {
                out.push(self.column(&mut columns)?);
            }
            self.clusters[cluster].columns = out;
        }
        Ok(())
    }

    fn column(&mut self, columns: &mut Frame<'_>) -> Result<ClusterColumn> {
        let (mut list, n) = columns.list(PAGE)?;
        let first = self.pages.len();
        self.pages.reserve(n);
        for _ in 0..n {
            let elements = list.i32()?;
            let span = list.locator()?;
            self.pages.push(Page { elements: elements.unsigned_abs(), has_checksum: elements < 0, span });
        }
        // the element offset; the compression setting follows
        let is_suppressed = list.i64()? < 0;
        let compression = if is_suppressed { 0 } else { list.u32()? };
        Ok(ClusterColumn { pages: first..self.pages.len(), is_suppressed, compression })
    }
}
