use super::{Mark, Survey};
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

const BYTE_COUNT: u32 = 0x4000_0000;
const NEW_CLASS: u32 = 0xffff_ffff;
const KNOWN_CLASS: u32 = 0x8000_0000;
/// References count from here, so that 0 can mean "no object" (ROOT's kMapOffset).
pub(super) const FIRST_REFERENCE: usize = 2;

/// Replacement bytes for a part of an object. They hold no class names and no references.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The part to replace.
    pub at: Range<usize>,
    /// Its new bytes.
    pub bytes: Vec<u8>,
}

/// Objects of another survey to insert.
pub struct Insert<'p> {
    /// Position: the end of a list.
    pub at: usize,
    /// Where the list's own items begin: byte counts of these end before the inserted objects.
    pub within: usize,
    /// The survey that contains them.
    pub from: &'p Survey<'p>,
    /// Their bytes there: whole objects.
    pub part: Range<usize>,
    /// Replacements within them.
    pub edits: Vec<Edit>,
    /// Bytes to add after them.
    pub after: &'static [u8],
}

/// Replacements and insertions for an object.
#[derive(Default)]
pub struct Changes<'p> {
    /// Parts to replace.
    pub edits: Vec<Edit>,
    /// Objects to insert.
    pub inserts: Vec<Insert<'p>>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// The payload of a key while objects are written into it in sequence.
pub struct Stream {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// Length of the key's label, which references include.
    base: usize,
    /// Where classes were named.
    classes: HashMap<Arc<str>, u32>,
}

impl Stream {
    /// For the payload after a label of `base` bytes.
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

    /// Starts a part with a byte count; [`Stream::end`] fills it in.
    pub fn begin(&mut self) -> usize {
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.len()
    }

    /// Fills in the byte count of a started part.
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

/// A part of an object that is written again, from its first byte to its last.
struct ObjectWriter<'e> {
    survey: &'e Survey<'e>,
    /// The remaining replacements and insertions, ascending.
    edits: &'e [Edit],
    inserts: &'e [Insert<'e>],
    out: &'e mut Stream,
    /// The first byte of the object that is not written or skipped yet.
    at: usize,
    /// New positions: (old, new), valid from there on.
    moved: Vec<(usize, usize)>,
    /// Byte counts and references, which can be set once everything has its position.
    open: Vec<&'e (usize, Mark)>,
    grown: Vec<InsertedPart>,
}

/// An inserted part.
struct InsertedPart {
    /// Position, in the original object.
    at: usize,
    /// Where the items of its list begin.
    within: usize,
    /// Its size.
    bytes: usize,
}

impl ObjectWriter<'_> {
    /// Copies the object's bytes unchanged.
    fn copy_to(&mut self, to: usize) {
        self.out.bytes.extend_from_slice(self.survey.data.get(self.at..to).unwrap_or_default());
        self.at = self.at.max(to);
    }

    /// Records that `old` is now at the end.
    fn has_moved(&mut self, old: usize) {
        self.moved.push((old, self.out.bytes.len()));
    }

    /// Applies all edits and inserts before a position, and copies the bytes before them.
    fn exchange_until(&mut self, until: usize) -> Result<()> {
        loop {
            let edit = self.edits.split_first().filter(|(e, _)| e.at.start < until);
            let insert = self.inserts.split_first().filter(|(i, _)| i.at < until);
            if let Some((i, rest)) = insert.filter(|(i, _)| edit.is_none_or(|(e, _)| i.at <= e.at.start)) {
                self.copy_to(i.at);
                let before = self.out.bytes.len();
                i.from.emit(i.part.clone(), &mut i.edits.clone(), self.out)?;
                self.out.bytes.extend_from_slice(i.after);
                self.grown.push(InsertedPart { at: i.at, within: i.within, bytes: self.out.bytes.len() - before });
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

    /// Writes a class tag in place of another.
    fn class(&mut self, pos: usize, len: usize, class: &Arc<str>) -> Result<()> {
        self.copy_to(pos);
        self.out.class(class)?;
        self.at = pos + len;
        self.has_moved(self.at);
        Ok(())
    }

    /// The new position of an old one.
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
                    // objects inserted after the last item of a list are not part of that item
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
    /// Appends the bytes of a part of the object (whole objects, or all), with some of them replaced.
    ///
    /// # Errors
    /// `Unsupported` when a reference points out of the part, or the result would be larger than ROOT can read.
    pub fn emit(&self, part: Range<usize>, edits: &mut [Edit], out: &mut Stream) -> Result<()> {
        self.emit_with(part, edits, &[], out)
    }

    fn emit_with(&self, part: Range<usize>, edits: &mut [Edit], inserts: &[Insert], out: &mut Stream) -> Result<()> {
        edits.sort_by_key(|e| (e.at.start, e.at.end));
        let first = self.marks.partition_point(|(at, _)| *at < part.start);
        let marks = self.marks.get(first..).unwrap_or_default();
        let marks = marks.get(..marks.partition_point(|(at, _)| *at < part.end)).unwrap_or_default();
        let mut emission = ObjectWriter {
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
                continue; // inside a replaced part
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

    /// The whole object for a label of `base` bytes, with some parts replaced.
    ///
    /// # Errors
    /// As [`Survey::emit`].
    pub fn rewrite(&self, edits: &mut [Edit], base: usize) -> Result<Vec<u8>> {
        let mut out = Stream::new(base);
        self.emit(0..self.data.len(), edits, &mut out)?;
        Ok(out.bytes)
    }

    /// The whole object for a label of `base` bytes, with some parts replaced and others inserted.
    ///
    /// # Errors
    /// As [`Survey::emit`]; `Unsupported` when a part moves that may hold references unknown to us.
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
