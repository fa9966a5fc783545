use super::{Mark, Survey};
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

const BYTE_COUNT: u32 = 0x4000_0000;
const NEW_CLASS: u32 = 0xffff_ffff;
const KNOWN_CLASS: u32 = 0x8000_0000;
/// References count from here, so that 0 stays "no object" (ROOT's kMapOffset).
pub(super) const FIRST_REFERENCE: usize = 2;

/// Other bytes for a part of an object. They hold no class names and no references.
#[derive(Clone, Debug)]
pub struct Edit {
    /// What is exchanged.
    pub at: Range<usize>,
    /// For what.
    pub bytes: Vec<u8>,
}

/// Objects of another survey that are put in.
pub struct Insert<'p> {
    /// Where: the end of a list.
    pub at: usize,
    /// Where the list's own items begin: what one of these counts ends before what is put in.
    pub within: usize,
    /// The survey that they are taken from.
    pub from: &'p Survey<'p>,
    /// Their bytes there: whole objects.
    pub part: Range<usize>,
    /// What is exchanged in them.
    pub edits: Vec<Edit>,
    /// Bytes behind them.
    pub after: &'static [u8],
}

/// What is exchanged in an object, and what is put in.
#[derive(Default)]
pub struct Changes<'p> {
    /// Parts that get other bytes.
    pub edits: Vec<Edit>,
    /// Objects that are put in.
    pub inserts: Vec<Insert<'p>>,
    /// What a user should know of it.
    pub notes: Vec<String>,
}

/// The payload of a key while objects are written into it one after the other.
pub struct Stream {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// Length of the key's label, which references count in.
    base: usize,
    /// Where classes were named.
    classes: HashMap<Arc<str>, u32>,
}

impl Stream {
    /// For the payload behind a label of `base` bytes.
    pub fn new(base: usize) -> Self {
        Self { bytes: Vec::new(), base, classes: HashMap::new() }
    }

    fn reference(&self) -> Result<u32> {
        let at = self.bytes.len() + self.base + FIRST_REFERENCE;
        if at >= BYTE_COUNT as usize {
            return Err(Error::unsupported("the object would have more than 1 GiB, ROOT's limit")
                .with_remedy("merge into several files"));
        }
        Ok(at as u32)
    }

    /// Begins what a byte count covers; [`Stream::end`] fills it in.
    pub fn begin(&mut self) -> usize {
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.len()
    }

    /// Fills in the byte count of what was begun.
    pub fn end(&mut self, begun: usize) -> Result<()> {
        self.reference()?;
        let count = (self.bytes.len() - begun) as u32;
        set_count(&mut self.bytes, begun - 4, count);
        Ok(())
    }

    /// Writes a class tag.
    pub fn class(&mut self, class: &Arc<str>) -> Result<()> {
        if let Some(at) = self.classes.get(class) {
            self.bytes.extend_from_slice(&(KNOWN_CLASS | at).to_be_bytes());
            return Ok(());
        }
        let at = self.reference()?;
        self.classes.insert(class.clone(), at);
        self.bytes.extend_from_slice(&NEW_CLASS.to_be_bytes());
        self.bytes.extend_from_slice(&sapwood_span::raw_text::bytes_of(class));
        self.bytes.push(0);
        Ok(())
    }
}

fn set_count(bytes: &mut [u8], at: usize, count: u32) {
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&(count | BYTE_COUNT).to_be_bytes());
    }
}

/// A part of an object that is written anew, from its first byte to its last.
struct Emission<'e> {
    survey: &'e Survey<'e>,
    /// What is still to be exchanged and put in, ascending.
    edits: &'e [Edit],
    inserts: &'e [Insert<'e>],
    out: &'e mut Stream,
    /// The first byte of the object that is not written or left out yet.
    at: usize,
    /// Where old positions lie now: (old, new), valid from there on.
    moved: Vec<(usize, usize)>,
    /// Byte counts and references, which can be set when everything has its place.
    open: Vec<&'e (usize, Mark)>,
    grown: Vec<Growth>,
}

/// What was put in.
struct Growth {
    /// Where, as the object counts.
    at: usize,
    /// Where the items begin of which it is one more.
    within: usize,
    /// How much.
    bytes: usize,
}

impl Emission<'_> {
    /// Copies the object's bytes as they are.
    fn copy_to(&mut self, to: usize) {
        self.out.bytes.extend_from_slice(self.survey.data.get(self.at..to).unwrap_or_default());
        self.at = self.at.max(to);
    }

    /// What was at `old` lies at the end now.
    fn has_moved(&mut self, old: usize) {
        self.moved.push((old, self.out.bytes.len()));
    }

    /// Does all edits and inserts in front of a position, and copies what lies in front of these.
    fn exchange_until(&mut self, until: usize) -> Result<()> {
        loop {
            let edit = self.edits.split_first().filter(|(e, _)| e.at.start < until);
            let insert = self.inserts.split_first().filter(|(i, _)| i.at < until);
            if let Some((i, rest)) = insert.filter(|(i, _)| edit.is_none_or(|(e, _)| i.at <= e.at.start)) {
                self.copy_to(i.at);
                let before = self.out.bytes.len();
                i.from.emit(i.part.clone(), &mut i.edits.clone(), self.out)?;
                self.out.bytes.extend_from_slice(i.after);
                self.grown.push(Growth { at: i.at, within: i.within, bytes: self.out.bytes.len() - before });
                self.has_moved(i.at);
                self.inserts = rest;
            } else if let Some((e, rest)) = edit {
                self.copy_to(e.at.start);
                self.out.bytes.extend_from_slice(&e.bytes);
                self.at = self.at.max(e.at.end);
                self.has_moved(e.at.end);
                self.edits = rest;
            } else {
                return Ok(());
            }
        }
    }

    /// Writes a class tag in the place of another.
    fn class(&mut self, pos: usize, len: usize, class: &Arc<str>) -> Result<()> {
        self.copy_to(pos);
        self.out.class(class)?;
        self.at = pos + len;
        self.has_moved(self.at);
        Ok(())
    }

    /// Where a position of the object lies now.
    fn place_of(&self, old: usize) -> Option<usize> {
        let i = self.moved.partition_point(|(from, _)| *from <= old);
        let (from, to) = self.moved.get(i.checked_sub(1)?)?;
        Some(to + (old - from))
    }

    /// Sets byte counts and references.
    fn set_open(&mut self) -> Result<()> {
        let outside = || Error::unsupported("an object refers to another outside of it");
        for (pos, mark) in std::mem::take(&mut self.open) {
            let at = self.place_of(*pos).ok_or_else(outside)?;
            match mark {
                Mark::Count { end } => {
                    let there = self.place_of(*end).ok_or_else(outside)?;
                    // what was put in behind the last item of a list is not part of that item
                    let behind = self.grown.iter().filter(|g| g.at == *end && *pos >= g.within);
                    let there = there - behind.map(|g| g.bytes).sum::<usize>();
                    set_count(&mut self.out.bytes, at, (there - at - 4) as u32);
                }
                Mark::Object { target } => {
                    let there = self.place_of(*target).ok_or_else(outside)?;
                    let reference = (there + self.out.base + FIRST_REFERENCE) as u32;
                    if let Some(place) = self.out.bytes.get_mut(at..at + 4) {
                        place.copy_from_slice(&reference.to_be_bytes());
                    }
                }
                Mark::Class { .. } => {}
            }
        }
        Ok(())
    }
}

impl Survey<'_> {
    /// Appends the bytes of a part of the object (whole objects, or all), with some of them exchanged.
    ///
    /// # Errors
    /// `Unsupported` when a reference leads out of the part, or the result would be larger than ROOT can read.
    pub fn emit(&self, part: Range<usize>, edits: &mut [Edit], out: &mut Stream) -> Result<()> {
        self.emit_with(part, edits, &[], out)
    }

    fn emit_with(&self, part: Range<usize>, edits: &mut [Edit], inserts: &[Insert], out: &mut Stream) -> Result<()> {
        edits.sort_by_key(|e| (e.at.start, e.at.end));
        let first = self.marks.partition_point(|(at, _)| *at < part.start);
        let marks = self.marks.get(first..).unwrap_or_default();
        let marks = marks.get(..marks.partition_point(|(at, _)| *at < part.end)).unwrap_or_default();
        let mut emission = Emission {
            survey: self,
            edits,
            inserts,
            at: part.start,
            moved: vec![(part.start, out.bytes.len())],
            open: Vec::new(),
            grown: Vec::new(),
            out,
        };
        for marked in marks {
            let (pos, mark) = marked;
            emission.exchange_until(pos + 1)?;
            if *pos < emission.at {
                continue; // within what was exchanged
            }
            match mark {
                Mark::Class { len, class } => emission.class(*pos, *len, class)?,
                Mark::Count { .. } | Mark::Object { .. } => emission.open.push(marked),
            }
        }
        emission.exchange_until(usize::MAX)?;
        emission.copy_to(part.end);
        emission.has_moved(part.end);
        emission.set_open()?;
        out.reference().map(|_| ())
    }

    /// The whole object behind a label of `base` bytes, with some parts exchanged.
    ///
    /// # Errors
    /// As [`Survey::emit`].
    pub fn rewrite(&self, edits: &mut [Edit], base: usize) -> Result<Vec<u8>> {
        let mut out = Stream::new(base);
        self.emit(0..self.data.len(), edits, &mut out)?;
        Ok(out.bytes)
    }

    /// The whole object behind a label of `base` bytes, with some parts exchanged and others put in.
    ///
    /// # Errors
    /// As [`Survey::emit`]; `Unsupported` when something moves that may hold references unknown to us.
    pub fn rewrite_with(&self, changes: &mut Changes, base: usize) -> Result<Vec<u8>> {
        changes.inserts.sort_by_key(|i| i.at);
        for i in &changes.inserts {
            if let Some((_, class)) = i.from.unknown.iter().find(|(at, _)| i.part.contains(&at.start)) {
                return Err(Error::unsupported(format!("contains {class}, which cannot be moved")));
            }
        }
        let mut out = Stream::new(base);
        self.emit_with(0..self.data.len(), &mut changes.edits, &changes.inserts, &mut out)?;
        if out.bytes.len() != self.data.len()
            && let Some((_, class)) = self.unknown.first()
        {
            return Err(Error::unsupported(format!("contains {class}, which cannot be moved")));
        }
        Ok(out.bytes)
    }
}
