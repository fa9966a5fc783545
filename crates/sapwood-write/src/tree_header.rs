use crate::basket::{Branch, OFFSETS_AT_FIRST};
use crate::buffer::ObjectBuffer;
use crate::classes;
use crate::column::{C_STRING, Column, ElementFacts, Leaf};
use crate::core::Table;
use crate::layout::Cluster;
use crate::progress::Progress;
use sapwood_codec::Compression;
use sapwood_span::{Error, Result};

/// Objects that others release on destruction (`TObject::kMustCleanup`): trees.
const MUST_CLEANUP: u32 = 1 << 3;
/// Set by ROOT on branches without a map of their buffer (`TBranch::kDoNotUseBufferMap`).
const NO_BUFFER_MAP: u32 = 1 << 22;
/// Set by ROOT on branches of objects that are not a `TObject` (`TBranchElement::kBranchAny`).
const BRANCH_ANY: u32 = 1 << 17;
/// ROOT's default limits of a tree (`TTree::TTree`).
const MAX_ENTRIES: i64 = 1_000_000_000_000;
const ESTIMATE: i64 = 1_000_000;
const SCAN_FIELD: i32 = 25;
/// ROOT's tables of baskets have at least this much room (`TBranch::fMaxBaskets`).
const LEAST_BASKETS: usize = 10;

/// The header's data about the tree as a whole.
pub(crate) struct TreeFacts<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) progress: &'a Progress,
}

/// The payload of a tree of these columns without entries, for an empty label: it determines how they are read.
pub(crate) fn layout_of(columns: &[Column]) -> Result<Vec<u8>> {
    let progress = Progress::new(Cluster::Never);
    let branch = |c: &Column| Branch::new(c.clone(), "", 0, 32_000, Compression::NONE);
    let branches: Vec<Branch> = columns.iter().map(branch).collect();
    let tables = vec![Table::default(); columns.len()];
    payload(&TreeFacts { name: "", title: "", progress: &progress }, &branches, &tables, 0)
}

struct Writer<'a> {
    b: ObjectBuffer,
    branches: &'a [Branch],
    tables: &'a [Table],
    /// Entries of the tree.
    entries: u64,
    /// Sub-branches of each branch.
    children: Vec<Vec<usize>>,
    /// References of the leaves written so far, by branch.
    leaves: Vec<Option<u32>>,
    /// References of the branches started so far.
    begun: Vec<u32>,
}

/// The payload of a tree's key: `TTree` version 20, with `TBranch` 13, `TBranchElement` 10 and `TLeaf` 2.
pub(crate) fn payload(tree: &TreeFacts<'_>, branches: &[Branch], tables: &[Table], key_len: usize) -> Result<Vec<u8>> {
    let mut children = vec![Vec::new(); branches.len()];
    for (i, branch) in branches.iter().enumerate() {
        if let Some(above) = branch.column.parent.and_then(|p| children.get_mut(p)) {
            above.push(i);
        }
    }
    let (entries, leaves, begun) = (tree.progress.entries, vec![None; branches.len()], vec![0; branches.len()]);
    let mut w = Writer { b: ObjectBuffer::new(key_len), branches, tables, entries, children, leaves, begun };
    let whole = w.b.begin(20);
    w.b.named(MUST_CLEANUP, tree.name, tree.title);
    w.members(tree)?;
    let top: Vec<usize> =
        (0..branches.len()).filter(|&i| branches.get(i).is_some_and(|b| b.column.parent.is_none())).collect();
    let list = w.b.begin_array(top.len());
    for i in top {
        w.branch(i)?;
    }
    w.b.end(list);
    let leaves: Vec<u32> = w.leaves.iter().copied().flatten().collect();
    let list = w.b.begin_array(leaves.len());
    for leaf in leaves {
        w.b.u32(leaf);
    }
    w.b.end(list);
    w.aliases(&tree.progress.aliases);
    // No values in fIndexValues and fIndex, no fTreeIndex, fFriends, fUserInfo, fBranchRef.
    for _ in 0..6 {
        w.b.u32(0);
    }
    w.b.end(whole);
    w.b.finish()
}

impl Writer<'_> {
    /// From the attributes of lines to the clusters.
    fn members(&mut self, tree: &TreeFacts<'_>) -> Result<()> {
        attributes(&mut self.b);
        let b = &mut self.b;
        let p = tree.progress;
        b.i64(signed(p.entries)?);
        b.i64(signed(self.tables.iter().map(|x| x.total_bytes).sum())?);
        b.i64(signed(self.tables.iter().map(|x| x.zip_bytes).sum())?);
        b.i64(signed(zip_bytes_until(self.tables, p.saved))?);
        b.i64(signed(zip_bytes_until(self.tables, p.flushed))?);
        b.f64(1.0);
        let ranges = i32::try_from(p.ranges.len()).map_err(|_| Error::unsupported("too many ranges of clusters"))?;
        // fTimerInterval, fScanField, fUpdate, fDefaultEntryOffsetLen, fNClusterRange.
        for n in [0, SCAN_FIELD, 0, OFFSETS_AT_FIRST as i32, ranges] {
            b.i32(n);
        }
        // fMaxEntries, fMaxEntryLoop, fMaxVirtualSize, fAutoSave, fAutoFlush, fEstimate.
        for n in [MAX_ENTRIES, MAX_ENTRIES, 0, p.auto_save, p.cluster.auto_flush(), ESTIMATE] {
            b.i64(n);
        }
        // fClusterRangeEnd and fClusterSize: one byte says whether they are present.
        b.u8(u8::from(ranges > 0));
        for (last, _) in &p.ranges {
            b.i64(signed(*last)?);
        }
        b.u8(u8::from(ranges > 0));
        for (_, size) in &p.ranges {
            b.i64(signed(*size)?);
        }
        io_features(b);
        Ok(())
    }

    /// A list of named expressions, or none.
    fn aliases(&mut self, aliases: &[(String, String)]) {
        let b = &mut self.b;
        if aliases.is_empty() {
            b.u32(0);
            return;
        }
        let (object, _) = b.begin_object("TList");
        let list = b.begin(5);
        b.object(0);
        b.string("");
        b.i32(aliases.len() as i32);
        for (name, expression) in aliases {
            let (object, _) = b.begin_object("TNamed");
            b.named(0, name, expression);
            b.end(object);
            b.u8(0);
        }
        b.end(list);
        b.end(object);
    }

    /// Writes a branch with its sub-branches.
    fn branch(&mut self, i: usize) -> Result<()> {
        let (Some(branch), Some(table)) = (self.branches.get(i), self.tables.get(i)) else { return Ok(()) };
        let column = &branch.column;
        let class = if column.element.is_some() { "TBranchElement" } else { "TBranch" };
        let (object, reference) = self.b.begin_object(class);
        if let Some(place) = self.begun.get_mut(i) {
            *place = reference;
        }
        let element = column.element.as_ref().map(|facts| (self.b.begin(10), facts));
        let body = self.b.begin(13);
        let bits = match &column.element {
            Some(e) if e.of_class && !branch.has_data() => NO_BUFFER_MAP | BRANCH_ANY,
            Some(e) if e.of_class && e.kind == 4 => NO_BUFFER_MAP | BRANCH_ANY,
            Some(e) if e.of_class => BRANCH_ANY,
            _ => NO_BUFFER_MAP,
        };
        let b = &mut self.b;
        b.named(bits, &column.name, &column.title);
        fill(b);
        b.i32(branch.compression.settings());
        b.i32(branch.basket_bytes as i32);
        b.i32(branch.offsets_len as i32);
        let baskets = i32::try_from(table.baskets.len())
            .map_err(|_| Error::unsupported("a branch has more than 2147483647 baskets").in_branch(&column.name))?;
        b.i32(baskets);
        b.i64(signed(table.entries)?);
        io_features(b);
        b.i32(0);
        let places = LEAST_BASKETS.max(table.baskets.len() + 1);
        b.i32(places as i32);
        b.i32(column.split_level);
        b.i64(signed(self.entries)?);
        b.i64(0);
        b.i64(signed(table.total_bytes)?);
        b.i64(signed(table.zip_bytes)?);
        let children = self.children.get(i).cloned().unwrap_or_default();
        let list = self.b.begin_array(children.len());
        for child in children {
            self.branch(child)?;
        }
        self.b.end(list);
        let list = self.b.begin_array(usize::from(column.leaf.is_some()));
        if column.leaf.is_some() {
            self.leaf_of(i);
        }
        self.b.end(list);
        // Every basket is in the file: an empty slot for each, and one for the next, as in ROOT.
        let empty = if table.baskets.is_empty() { 0 } else { table.baskets.len() + 1 };
        let list = self.b.begin_array(empty);
        for _ in 0..empty {
            self.b.u32(0);
        }
        self.b.end(list);
        basket_tables(&mut self.b, table, places)?;
        self.b.string("");
        self.b.end(body);
        if let Some((mark, facts)) = element {
            let counter = column.leaf.as_ref().and_then(|l| l.count);
            self.element(facts, branch.largest, counter);
            self.b.end(mark);
        }
        self.b.end(object);
        Ok(())
    }

    /// The additional members of a `TBranchElement` over a `TBranch`.
    fn element(&mut self, facts: &ElementFacts, largest: i64, counter: Option<usize>) {
        let counter = counter.and_then(|i| self.begun.get(i).copied()).unwrap_or(0);
        let b = &mut self.b;
        b.string(&facts.class);
        b.string(&facts.parent);
        b.string(&facts.clones);
        b.u32(facts.checksum);
        b.u16(facts.version);
        b.i32(facts.id);
        b.i32(facts.kind);
        b.i32(facts.streamer_type);
        b.i32(if facts.kind == 4 { largest as i32 } else { 0 });
        // fBranchCount, and fBranchCount2, which only arrays within collections have
        b.u32(counter);
        b.u32(0);
    }

    /// Points to the leaf of a branch: writes it at its first occurrence, even within another leaf that it counts.
    fn leaf_of(&mut self, i: usize) {
        if let Some(reference) = self.leaves.get(i).copied().flatten() {
            self.b.u32(reference);
            return;
        }
        let Some(branch) = self.branches.get(i) else { return };
        match &branch.column.leaf {
            Some(leaf) => self.leaf(i, leaf, branch.largest),
            None => self.b.u32(0),
        }
    }

    fn leaf(&mut self, i: usize, leaf: &Leaf, largest: i64) {
        let (object, reference) = self.b.begin_object(leaf.class);
        if let Some(place) = self.leaves.get_mut(i) {
            *place = Some(reference);
        }
        let b = &mut self.b;
        let body = b.begin(1);
        let base = b.begin(2);
        b.named(0, &leaf.name, &leaf.title);
        let c_string = leaf.class == C_STRING;
        // readers make room for the longest C string
        b.i32(if c_string { largest.max(1) as i32 } else { leaf.len as i32 });
        b.i32(leaf.len_type as i32);
        b.i32(0);
        b.u8(u8::from(leaf.range));
        b.u8(u8::from(leaf.unsigned));
        match leaf.count {
            Some(counter) => self.leaf_of(counter),
            None => b.u32(0),
        }
        let b = &mut self.b;
        b.end(base);
        match leaf.element {
            Some((id, ty)) => {
                b.i32(id);
                b.i32(ty);
            }
            // The smallest and the largest value, kept for counters and C strings only; all of them are 32-bit.
            None if leaf.counts || c_string => {
                b.i32(0);
                b.u32(largest as u32);
            }
            None => (0..2 * leaf.len_type).for_each(|_| b.u8(0)),
        }
        b.end(body);
        b.end(object);
    }
}

/// The tree's line, fill and marker attributes: ROOT's defaults.
pub(crate) fn attributes(b: &mut ObjectBuffer) {
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
    b.u32(classes::find("ROOT::TIOFeatures").map_or(0, |c| c.checksum));
    b.u8(0);
    b.end(features);
}

/// fBasketBytes, fBasketEntry (with the end after the last) and fBasketSeek, each after a byte that marks it as
/// present.
fn basket_tables(b: &mut ObjectBuffer, table: &Table, places: usize) -> Result<()> {
    let padding = || std::iter::repeat_n(0, places - table.baskets.len());
    b.u8(1);
    for n in table.baskets.iter().map(|x| x.span.len).chain(padding()) {
        b.u32(n as u32);
    }
    b.u8(1);
    let mut end = Some(table.entries);
    let ends = padding().map(|n| end.take().unwrap_or(n));
    for n in table.baskets.iter().map(|x| x.first_entry).chain(ends) {
        b.i64(signed(n)?);
    }
    b.u8(1);
    for n in table.baskets.iter().map(|x| x.span.start).chain(padding()) {
        b.i64(signed(n)?);
    }
    Ok(())
}

/// Compressed bytes of the baskets that begin before an entry.
fn zip_bytes_until(tables: &[Table], entry: u64) -> u64 {
    let before = |t: &Table| t.baskets.iter().filter(|b| b.first_entry < entry).map(|b| b.span.len).sum::<u64>();
    tables.iter().map(before).sum()
}

fn signed(n: u64) -> Result<i64> {
    i64::try_from(n).map_err(|_| Error::unsupported(format!("{n} does not fit into ROOT's 63 bits")))
}
