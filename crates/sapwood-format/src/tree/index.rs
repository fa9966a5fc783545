//! A tree's index (TTreeIndex): entries by the values of two expressions.

use crate::cursor::Cursor;
use crate::object::{Pointed, read_pointer};
use sapwood_span::{Error, Result};

/// Entries of a tree by the values of two expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeIndex {
    /// Its class; only that of `TTreeIndex` is read.
    pub class: String,
    /// The first expression.
    pub major: String,
    /// The second; `0` where there is none.
    pub minor: String,
    /// Values of both and the entry, as they are stored: ascending.
    pub rows: Vec<(i64, i64, u64)>,
    /// Why it cannot be used, where it cannot.
    pub refused: Option<String>,
}

/// Bytes of a row.
const ROW: usize = 24;

/// Reads a pointer to a tree's index. One that cannot be read does not stop the tree from being read.
///
/// # Errors
/// `Corrupt` when its end is unknown.
pub(super) fn read_index(c: &mut Cursor) -> Result<Option<TreeIndex>> {
    let (class, end) = match read_pointer(c)? {
        Pointed::Null | Pointed::Reference(_) => return Ok(None),
        Pointed::Object { class, end: Some(end), .. } => (class, end),
        Pointed::Object { class, .. } => {
            return Err(Error::corrupt(format!("the tree's index, a {class}, has no length")));
        }
    };
    let mut index = TreeIndex { class, ..TreeIndex::default() };
    if index.class == "TTreeIndex" {
        index.refused = fill(c, &mut index).err().map(|e| e.what().to_owned());
    } else {
        index.refused = Some(format!("an index of the class {} is not supported", index.class));
    }
    c.seek(end)?;
    Ok(Some(index))
}

fn fill(c: &mut Cursor, index: &mut TreeIndex) -> Result<()> {
    let version = c.version()?;
    let base = c.version()?;
    c.seek(base.end.ok_or_else(|| Error::corrupt("the base of the tree's index has no length"))?)?;
    index.major = c.string()?;
    index.minor = c.string()?;
    let count = c.i64()?;
    let per_row = if version.number > 1 { ROW } else { ROW - 8 };
    let count = usize::try_from(count).ok().filter(|n| *n <= c.left() / per_row);
    let count = count.ok_or_else(|| Error::corrupt("the tree's index has more rows than bytes"))?;
    let mut numbers = |n: usize| (0..n).map(|_| c.i64()).collect::<Result<Vec<i64>>>();
    let major = numbers(count)?;
    // the first version has both values in one number
    let (major, minor) = if version.number > 1 {
        (major, numbers(count)?)
    } else {
        (major.iter().map(|v| v >> 31).collect(), major.iter().map(|v| v & 0x7fff_ffff).collect())
    };
    let entries = numbers(count)?;
    let entry = |e: i64| u64::try_from(e).map_err(|_| Error::corrupt("the tree's index has a negative entry"));
    let rows = major.into_iter().zip(minor).zip(entries).map(|((major, minor), e)| Ok((major, minor, entry(e)?)));
    index.rows = rows.collect::<Result<_>>()?;
    Ok(())
}
