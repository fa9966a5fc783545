//! Which entries of a tree are intact, when some of its baskets are not, and the tree without the others.

use super::LostRange;
use super::partial_baskets::{Cut, Cutter, Held};
use super::ranges::Ranges;
use super::unlisted_baskets::{Largest, Rescued, not_told};
use crate::input::Reader;
use crate::recode::Recoder;
use sapwood_codec::Compression;
use sapwood_column::{Decoded, Layout, interpret};
use sapwood_edit::tree::TreeFacts;
use sapwood_format::Streamers;
use sapwood_format::tree::{BasketHead, Tree, split_basket};
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::ops::Range;

/// Blocks whose codec has a checksum: zlib, LZ4, LZMA.
const WITH_CHECKSUM: [&[u8]; 3] = [b"ZL", b"L4", b"XZ"];

/// A branch's readable baskets, with their bytes before compression.
type Good = Vec<(Held, u64)>;

/// What is left of a tree.
#[derive(Default)]
pub(super) struct Kept {
    /// The lost entries.
    pub(super) lost: Ranges,
    /// The reasons, basket by basket.
    pub(super) why: Vec<LostRange>,
    /// Baskets with both lost and intact entries.
    pub(super) cuts: Vec<Cut>,
}

/// The context for reading a tree.
pub(super) struct Reading<'a> {
    pub(super) reader: &'a Reader,
    pub(super) streamers: &'a Streamers,
    /// The compression of the output, if not that of the input.
    pub(super) compression: Option<Compression>,
    pub(super) check: &'a dyn Fn() -> Result<()>,
}

/// Removes the entries from a tree that are not intact in all of its branches. Baskets with some of these are cut;
/// those that cannot be are lost as a whole.
///
/// # Errors
/// When reading was interrupted.
pub(super) fn keep_whole(
    (facts, header): (&mut TreeFacts, &Tree),
    rescued: Option<&Rescued>,
    with: &Reading,
    recoder: &mut Recoder,
) -> Result<Kept> {
    let mut kept = Kept::default();
    let mut good: HashMap<usize, Good> = HashMap::new();
    let mut largest = rescued.map(Rescued::largest);
    for (i, branch) in facts.branches.iter().enumerate().filter(|(_, b)| b.filled) {
        let layout = if i < header.branches.len() { interpret(header, i, with.streamers).ok() } else { None };
        let name = header.branches.get(i).map(|b| b.name.as_str());
        let mut mine = Good::new();
        let in_file = branch.baskets.iter().map(|b| Held::File(*b));
        for held in in_file.chain(branch.embedded.iter().map(|e| Held::Header(Box::new(e.clone())))) {
            (with.check)()?;
            match intact(&held, (name, layout.as_ref()), (i, largest.as_mut()), with.reader, recoder) {
                Ok(bytes) => mine.push((held, bytes)),
                Err(e) if is_damage(&e, with.reader) => {
                    kept.lose(&held.entries(), &branch.schema.path, held.position(), e.what());
                }
                Err(e) => return Err(e),
            }
        }
        mine.sort_by_key(|(held, _)| held.entries().start);
        let mut at = 0;
        for (held, _) in &mine {
            let range = held.entries();
            // which of the two is right is unknown
            let why = "two baskets contain these entries";
            kept.lose(&(range.start..at.min(range.end)), &branch.schema.path, held.position(), why);
            kept.lose_rest(&(at..range.start), &branch.schema.path);
            at = at.max(range.end);
        }
        kept.lose_rest(&(at..branch.entry_number), &branch.schema.path);
        good.insert(i, mine);
    }
    if kept.lost.is_empty() && rescued.is_none() {
        return Ok(kept);
    }
    let file = Compression::from_settings(with.reader.compression()).unwrap_or_default();
    let mut cutter = Cutter::new(header, with.streamers, file, with.compression);
    let mut cuts: HashMap<(usize, usize), Cut> = HashMap::new();
    loop {
        let before = kept.lost.len();
        for (i, branch) in facts.branches.iter().enumerate() {
            for (n, (held, total)) in good.get(&i).map_or(&[][..], Vec::as_slice).iter().enumerate() {
                let entries = held.entries();
                if kept.lost.meets(&entries) != (true, false) || cuts.contains_key(&(i, n)) {
                    continue;
                }
                (with.check)()?;
                match cutter.cut((i, facts), (held, *total), with.reader, recoder)? {
                    Ok(cut) => drop(cuts.insert((i, n), cut)),
                    Err(why) => {
                        let why = format!("it contains lost entries and cannot be split: {why}");
                        kept.lose(&entries, &branch.schema.path, held.position(), &why);
                    }
                }
            }
        }
        if kept.lost.len() == before {
            break;
        }
    }
    take_out(facts, good, &mut kept, cuts);
    if let Some(largest) = largest {
        largest.set(facts);
    }
    Ok(kept)
}

/// Whether an error of reading a basket means that it is lost; others end the work. If a disk cannot read a sector, all
/// other data are even more valuable.
fn is_damage(e: &Error, reader: &Reader) -> bool {
    match e.kind() {
        ErrorKind::Corrupt | ErrorKind::Unsupported => true,
        ErrorKind::Io => reader.is_local(),
        _ => false,
    }
}

impl Kept {
    fn lose(&mut self, entries: &Range<u64>, branch: &str, position: Option<u64>, why: &str) {
        if entries.is_empty() {
            return;
        }
        self.lost.add(entries.clone());
        self.why.push(LostRange {
            first: entries.start,
            last: entries.end - 1,
            branch: branch.to_owned(),
            position,
            reason: why.to_owned(),
        });
    }

    /// Entries in no basket, except those reported before.
    fn lose_rest(&mut self, entries: &Range<u64>, branch: &str) {
        let told = self.why.iter().rev().take_while(|w| w.branch == branch);
        let mut known = Ranges::default();
        told.for_each(|w| known.add(w.first..w.last + 1));
        for rest in known.rest_of(entries) {
            self.lose(&rest, branch, None, "no basket contains them");
        }
    }
}

/// A basket's bytes before compression, label included, after it was decompressed and compared with the header. Where
/// nothing else would detect damage, its values are decoded.
fn intact(
    held: &Held,
    (name, layout): (Option<&str>, Option<&Layout>),
    (branch, largest): (usize, Option<&mut Largest>),
    reader: &Reader,
    recoder: &mut Recoder,
) -> Result<u64> {
    let record = held.record(reader, recoder)?;
    let (head, key) = BasketHead::read(&record)?;
    if let Held::File(b) = held {
        // files of some programs keep old positions, renamed branches old names
        let is_here = key.span.start == b.span.start || name.is_none_or(|n| n == key.name);
        if key.class != "TBasket" || key.span.len != b.span.len || !is_here {
            return Err(Error::corrupt("another record is in its place"));
        }
    }
    let (says, wanted) = (u64::from(head.entries), held.entries().end - held.entries().start);
    if says != wanted {
        return Err(Error::corrupt(format!("it contains {says} entries, the tree's header says {wanted}")));
    }
    let (_, payload) = recoder.inflate(&record)?;
    let stored = record.get(key.key_len as usize..).unwrap_or_default();
    let basket = split_basket(&head, &payload)?;
    let guarded = stored.len() < payload.len() && WITH_CHECKSUM.iter().any(|m| stored.starts_with(m));
    let is_wanted = largest.as_ref().is_some_and(|l| l.wants(branch, &held.entries()));
    let decoded = layout.filter(|_| !guarded || is_wanted).map(|l| l.decode(&basket, None));
    match (decoded, largest.filter(|_| is_wanted)) {
        (Some(Ok(Decoded::Column(values))), Some(largest)) => largest.see(branch, &values)?,
        (Some(Err(e)), _) if e.kind() == ErrorKind::Corrupt => return Err(e),
        (_, Some(_)) => return Err(not_told()),
        _ => {}
    }
    Ok(u64::from(head.key_len) + payload.len() as u64)
}

/// Renumbers the rest.
fn take_out(
    facts: &mut TreeFacts,
    mut good: HashMap<usize, Good>,
    kept: &mut Kept,
    mut cuts: HashMap<(usize, usize), Cut>,
) {
    let lost = &kept.lost;
    for (i, branch) in facts.branches.iter_mut().enumerate() {
        branch.entries = lost.without(branch.entries);
        branch.entry_number = lost.without(branch.entry_number);
        let Some(mine) = good.remove(&i) else { continue };
        (branch.total_bytes, branch.zip_bytes) = (0, 0);
        (branch.baskets, branch.embedded) = (Vec::new(), Vec::new());
        for (n, (held, bytes)) in mine.into_iter().enumerate() {
            let entries = held.entries();
            match (lost.meets(&entries).0, held) {
                (true, _) => {
                    let Some(mut cut) = cuts.remove(&(i, n)) else { continue };
                    let rest = lost.rest_of(&entries).into_iter();
                    cut.keep = rest.map(|r| (r.clone(), lost.without(r.start))).collect();
                    kept.cuts.push(cut);
                }
                (false, Held::File(mut b)) => {
                    (b.first, b.last) = (lost.without(b.first), lost.without(b.last));
                    branch.total_bytes += bytes as i64;
                    branch.zip_bytes += b.span.len as i64;
                    branch.baskets.push(b);
                }
                (false, Held::Header(mut e)) => {
                    e.first = lost.without(e.first);
                    branch.embedded.push(*e);
                }
            }
        }
    }
    facts.clusters.iter_mut().for_each(|c| *c = lost.without(*c));
    facts.clusters.dedup();
    (facts.entries, facts.index, facts.is_cut) = (lost.without(facts.entries), None, true);
}
