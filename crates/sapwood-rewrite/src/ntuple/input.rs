//! An ntuple of an input: its metadata, and its pages in the order of the file, each once.

use super::elements::place_of_page;
use sapwood_edit::Label;
use sapwood_engine::File;
use sapwood_format::ntuple::{Ntuple, Role};
use sapwood_span::{Error, Result, Span};
use std::sync::Arc;

/// The largest page that is copied, as stored.
const LARGEST_PAGE: u64 = 1 << 30;
/// Uncompressed bytes of a page: at least as many as are accepted, or per stored byte.
const ANY_PAGE: u64 = 256 << 20;
const PER_BYTE: u64 = 100;
/// The last type of columns that is known.
const LAST_COLUMN_TYPE: u16 = 0x1d;

/// An ntuple, read except for its pages.
pub(crate) struct InputNtuple {
    pub(crate) path: String,
    pub(crate) label: Label,
    pub(crate) ntuple: Arc<Ntuple>,
    /// Its pages in the order of the file: those stored once for several places are here once.
    pub(crate) stored: Arc<[StoredPage]>,
    /// For each page of its table, the number of the stored one.
    pub(crate) stored_as: Vec<u32>,
}

/// A page in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredPage {
    /// With its checksum.
    pub(crate) span: Span,
    pub(crate) has_checksum: bool,
    /// Uncompressed bytes.
    pub(crate) size: u64,
    /// One of the pages of the table that are stored here.
    pub(crate) page: u32,
    /// The type of their columns: others share bytes, but not what becomes of them.
    pub(super) code: u16,
}

impl InputNtuple {
    /// Reads the metadata of the ntuple at `path`, whose key has this cycle.
    ///
    /// # Errors
    /// `Corrupt` when it is damaged; `Unsupported` for what would be lost.
    pub(crate) fn open(file: &File, path: String, cycle: i16, label: Label) -> Result<Self> {
        let tree = file.tree(&format!("{path};{cycle}"))?;
        let ntuple = tree.header().ntuple.clone();
        let ntuple = ntuple.ok_or_else(|| Error::corrupt(format!("{path} is not an RNTuple")))?;
        check(&ntuple)?;
        let (stored, stored_as) = stored_pages(&ntuple, file.size())?;
        Ok(Self { path, label, ntuple, stored: stored.into(), stored_as })
    }
}

/// Refuses what copying would lose or could not check.
fn check(ntuple: &Ntuple) -> Result<()> {
    if let Some(first) = ntuple.attributes.first() {
        let what = format!("the ntuple has the set of attributes {first}, which this version does not copy");
        return Err(Error::unsupported(what).with_remedy("omit the file, or merge it with ROOT"));
    }
    let unknown = ntuple.schema.fields.iter().find(|f| matches!(f.role, Role::Unknown(_)));
    let column = || ntuple.schema.columns.iter().find(|c| c.code > LAST_COLUMN_TYPE);
    let unknown = unknown.or_else(|| column().and_then(|c| ntuple.schema.fields.get(c.field)));
    match unknown {
        Some(field) => Err(Error::unsupported("it is of a kind that a later format version added")
            .in_branch(&field.name)
            .with_remedy("update Sapwood")),
        None => Ok(()),
    }
}

/// The pages in the order of the file, and for each page of the table its number there.
fn stored_pages(ntuple: &Ntuple, file: u64) -> Result<(Vec<StoredPage>, Vec<u32>)> {
    let table = &ntuple.table;
    let mut all = Vec::with_capacity(table.pages.len());
    for cluster in &table.clusters {
        for (c, column) in cluster.columns.iter().enumerate() {
            let described = ntuple.schema.columns.get(c).map(|c| (u64::from(c.bits), c.code));
            for i in column.pages.clone() {
                let (Some(page), Some((bits, code))) = (table.pages.get(i), described) else {
                    return Err(Error::corrupt("a page list of the ntuple has more columns than its header"));
                };
                let (span, size) = (page.stored(), (u64::from(page.elements) * bits).div_ceil(8));
                let bounded = span.len <= LARGEST_PAGE && size <= ANY_PAGE.max(PER_BYTE * page.span.len);
                if span.end() > file || !bounded {
                    let (field, place) = place_of_page(ntuple, i);
                    let e = match bounded {
                        true => Error::corrupt(format!("{place} is beyond the end of the file")),
                        false => Error::unsupported(format!("{place} claims {size} bytes, {} compressed", span.len)),
                    };
                    return Err(e.in_branch(field).at(span));
                }
                all.push(StoredPage { span, has_checksum: page.has_checksum, size, page: i as u32, code });
            }
        }
    }
    if u32::try_from(table.pages.len()).is_err() {
        return Err(Error::unsupported("an ntuple with more than 4 billion pages"));
    }
    let place = |p: &StoredPage| (p.span.start, p.span.len, p.has_checksum, p.size, p.code);
    all.sort_unstable_by_key(place);
    let mut stored_as = vec![0; table.pages.len()];
    let mut stored: Vec<StoredPage> = Vec::new();
    for page in all {
        if stored.last().is_none_or(|last| place(last) != place(&page)) {
            stored.push(page);
        }
        if let Some(number) = stored_as.get_mut(page.page as usize) {
            *number = (stored.len() - 1) as u32;
        }
    }
    Ok((stored, stored_as))
}
