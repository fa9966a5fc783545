use crate::basket::{Branch, OFFSETS_AT_FIRST};
use crate::buffer::{Mark, ObjectBuffer};
use crate::classes::IO_FEATURES_CHECKSUM;
use crate::schema::Shape;
use sapwood_codec::Compression;
use sapwood_column::DType;
use sapwood_span::{Error, Result};

/// Objects that others clean up when they go (`TObject::kMustCleanup`): trees.
const MUST_CLEANUP: u32 = 1 << 3;
/// What ROOT sets on branches that keep no map of their buffer (`TBranch::kDoNotUseBufferMap`).
const NO_BUFFER_MAP: u32 = 1 << 22;
/// ROOT's standing limits of a tree (`TTree::TTree`).
const MAX_ENTRIES: i64 = 1_000_000_000_000;
const AUTO_SAVE: i64 = -300_000_000;
const ESTIMATE: i64 = 1_000_000;
const SCAN_FIELD: i32 = 25;
/// ROOT's tables of baskets have at least so many places (`TBranch::fMaxBaskets`).
const LEAST_BASKETS: usize = 10;

/// What the header says of the tree as a whole.
pub(crate) struct TreeFacts<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) entries: u64,
    pub(crate) auto_flush: i64,
    /// Compressed bytes at the last flush of all baskets.
    pub(crate) flushed_bytes: u64,
    pub(crate) basket_bytes: u32,
    pub(crate) compression: Compression,
}

/// The payload of a tree's key: `TTree` version 20, with `TBranch` 13 and `TLeaf` 2.
pub(crate) fn payload(tree: &TreeFacts<'_>, branches: &[Branch], key_len: usize) -> Result<Vec<u8>> {
    let mut b = ObjectBuffer::new(key_len);
    let whole = b.begin(20);
    b.named(MUST_CLEANUP, tree.name, tree.title);
    attributes(&mut b);
    b.i64(signed(tree.entries)?);
    b.i64(signed(branches.iter().map(|x| x.total_bytes).sum())?);
    b.i64(signed(branches.iter().map(|x| x.zip_bytes).sum())?);
    b.i64(0);
    b.i64(signed(tree.flushed_bytes)?);
    b.f64(1.0);
    // fTimerInterval, fScanField, fUpdate, fDefaultEntryOffsetLen, fNClusterRange.
    for n in [0, SCAN_FIELD, 0, OFFSETS_AT_FIRST, 0] {
        b.i32(n);
    }
    // fMaxEntries, fMaxEntryLoop, fMaxVirtualSize, fAutoSave, fAutoFlush, fEstimate.
    for n in [MAX_ENTRIES, MAX_ENTRIES, 0, AUTO_SAVE, tree.auto_flush, ESTIMATE] {
        b.i64(n);
    }
    // fClusterRangeEnd and fClusterSize are tables of length 0: one byte says that they are not there.
    b.u8(0);
    b.u8(0);
    io_features(&mut b);
    let list = b.begin_array(branches.len());
    let mut leaves = Vec::with_capacity(branches.len());
    for branch in branches {
        let leaf = write_branch(&mut b, tree, branch, &leaves)?;
        leaves.push(leaf);
    }
    b.end(list);
    let list = b.begin_array(leaves.len());
    for leaf in leaves {
        b.u32(leaf);
    }
    b.end(list);
    // No fAliases, no values in fIndexValues and fIndex, no fTreeIndex, fFriends, fUserInfo, fBranchRef.
    for _ in 0..7 {
        b.u32(0);
    }
    b.end(whole);
    b.finish()
}

/// The tree's line, fill and marker attributes: ROOT's defaults.
fn attributes(b: &mut ObjectBuffer) {
    let line = b.begin(2);
    for n in [602, 1, 1] {
        b.u16(n);
    }
    b.end(line);
    fill(b);
    let marker = b.begin(3);
    b.u16(1);
    b.u16(1);
    b.f32(1.0);
    b.end(marker);
}

fn fill(b: &mut ObjectBuffer) {
    let fill = b.begin(2);
    b.u16(0);
    b.u16(1001);
    b.end(fill);
}

/// `ROOT::TIOFeatures`, a class without a version: its checksum follows a version of 0.
fn io_features(b: &mut ObjectBuffer) {
    let features = b.begin(0);
    b.u32(IO_FEATURES_CHECKSUM);
    b.u8(0);
    b.end(features);
}

/// Writes a branch; the reference of its leaf.
fn write_branch(b: &mut ObjectBuffer, tree: &TreeFacts<'_>, branch: &Branch, leaves: &[u32]) -> Result<u32> {
    let column = &branch.column;
    let jagged = matches!(column.shape, Shape::Jagged(_));
    let (object, _) = b.begin_object("TBranch");
    let body = b.begin(13);
    b.named(NO_BUFFER_MAP, &column.name, &column.title);
    fill(b);
    b.i32(tree.compression.settings());
    b.i32(tree.basket_bytes as i32);
    b.i32(if jagged { OFFSETS_AT_FIRST } else { 0 });
    let baskets = i32::try_from(branch.baskets.len())
        .map_err(|_| Error::unsupported("a branch has more than 2147483647 baskets").in_branch(&column.name))?;
    b.i32(baskets);
    b.i64(signed(branch.written)?);
    io_features(b);
    b.i32(0);
    let places = LEAST_BASKETS.max(branch.baskets.len() + 1);
    b.i32(places as i32);
    b.i32(0);
    b.i64(signed(branch.written)?);
    b.i64(0);
    b.i64(signed(branch.total_bytes)?);
    b.i64(signed(branch.zip_bytes)?);
    let none = b.begin_array(0);
    b.end(none);
    let list = b.begin_array(1);
    let leaf = write_leaf(b, branch, leaves);
    b.end(list);
    // Every basket is in the file: so many empty places, and one for the next, as ROOT leaves them.
    let empty = if branch.baskets.is_empty() { 0 } else { branch.baskets.len() + 1 };
    let list = b.begin_array(empty);
    for _ in 0..empty {
        b.u32(0);
    }
    b.end(list);
    basket_tables(b, branch, places)?;
    b.string("");
    b.end(body);
    b.end(object);
    Ok(leaf)
}

/// fBasketBytes, fBasketEntry (with the end behind the last) and fBasketSeek, each after a byte that
/// says it is there.
fn basket_tables(b: &mut ObjectBuffer, branch: &Branch, places: usize) -> Result<()> {
    let padding = || std::iter::repeat_n(0, places - branch.baskets.len());
    b.u8(1);
    for n in branch.baskets.iter().map(|x| x.span.len).chain(padding()) {
        b.u32(n as u32);
    }
    b.u8(1);
    let mut end = Some(branch.written);
    let ends = padding().map(|n| end.take().unwrap_or(n));
    for n in branch.baskets.iter().map(|x| x.first_entry).chain(ends) {
        b.i64(signed(n)?);
    }
    b.u8(1);
    for n in branch.baskets.iter().map(|x| x.span.start).chain(padding()) {
        b.i64(signed(n)?);
    }
    Ok(())
}

/// Writes a leaf; its reference.
fn write_leaf(b: &mut ObjectBuffer, branch: &Branch, leaves: &[u32]) -> u32 {
    let column = &branch.column;
    let (object, reference) = b.begin_object(leaf_class(column.dtype));
    let body: Mark = b.begin(1);
    let base = b.begin(2);
    b.named(0, &column.name, &column.leaf_title);
    b.i32(match column.shape {
        Shape::Fixed(n) => n as i32,
        Shape::Scalar | Shape::Jagged(_) => 1,
    });
    b.i32(column.dtype.size() as i32);
    b.i32(0);
    b.u8(u8::from(column.counts));
    b.u8(u8::from(matches!(column.dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64)));
    b.u32(match column.shape {
        Shape::Jagged(counter) => leaves.get(counter).copied().unwrap_or(0),
        Shape::Scalar | Shape::Fixed(_) => 0,
    });
    b.end(base);
    // The smallest and the largest value, kept for counters only; all of them are 32-bit.
    if column.counts {
        b.i32(0);
        b.u32(branch.largest as u32);
    } else {
        for _ in 0..2 * column.dtype.size() {
            b.u8(0);
        }
    }
    b.end(body);
    b.end(object);
    reference
}

/// The class of leaf that holds a type.
const fn leaf_class(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "TLeafO",
        DType::I8 | DType::U8 => "TLeafB",
        DType::I16 | DType::U16 => "TLeafS",
        DType::I32 | DType::U32 => "TLeafI",
        DType::I64 | DType::U64 => "TLeafL",
        DType::F32 => "TLeafF",
        DType::F64 => "TLeafD",
    }
}

fn signed(n: u64) -> Result<i64> {
    i64::try_from(n).map_err(|_| Error::unsupported(format!("{n} does not fit into ROOT's 63 bits")))
}
