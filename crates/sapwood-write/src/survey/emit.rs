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
pub(crate) struct Edit {
    /// What is exchanged.
    pub(crate) at: Range<usize>,
    /// For what.
    pub(crate) bytes: Vec<u8>,
}

/// Objects of another survey that are put in.
pub(crate) struct Insert<'p> {
    /// Where: the end of a list.
    pub(crate) at: usize,
    /// Where the list's own items begin: what one of these counts ends before what is put in.
    pub(crate) within: usize,
    /// Whole objects of which survey, with what is exchanged in them.
    pub(crate) from: &'p Survey<'p>,
    pub(crate) part: Range<usize>,
    pub(crate) edits: Vec<Edit>,
    /// Bytes behind them.
    pub(crate) after: &'static [u8],
}

/// What is exchanged in an object, and what is put in.
#[derive(Default)]
pub(crate) struct Changes<'p> {
    pub(crate) edits: Vec<Edit>,
    pub(crate) inserts: Vec<Insert<'p>>,
    /// What a user should know of it.
    pub(crate) notes: Vec<String>,
}

/// The payload of a key while objects are written into it one after the other.
pub(crate) struct Stream {
    /// The bytes so far.
    pub(crate) bytes: Vec<u8>,
    /// Length of the key's label, which references count in.
    base: usize,
    /// Where classes were named.
    classes: HashMap<Arc<str>, u32>,
}

impl Stream {
    /// For the payload behind a label of `base` bytes.
    pub(crate) fn new(base: usize) -> Self {
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
    pub(crate) fn begin(&mut self) -> usize {
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.len()
    }

    /// Fills in the byte count of what was begun.
    pub(crate) fn end(&mut self, begun: usize) -> Result<()> {
        self.reference()?;
        let count = (self.bytes.len() - begun) as u32;
        set_count(&mut self.bytes, begun - 4, count);
        Ok(())
    }

    /// Writes a class tag.
    pub(crate) fn class(&mut self, class: &Arc<str>) -> Result<()> {
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

impl Survey<'_> {
    /// Appends the bytes of a part of the object (whole objects, or all), with some of them exchanged.
    ///
    /// # Errors
    /// `Unsupported` when a reference leads out of the part, or the result would be larger than ROOT can read.
    pub(crate) fn emit(&self, part: Range<usize>, edits: &mut [Edit], out: &mut Stream) -> Result<()> {
        self.emit_with(part, edits, &[], out)
    }

    fn emit_with(&self, part: Range<usize>, edits: &mut [Edit], inserts: &[Insert], out: &mut Stream) -> Result<()> {
        edits.sort_by_key(|e| (e.at.start, e.at.end));
        let edits = &*edits;
        let first = self.marks.partition_point(|(at, _)| *at < part.start);
        let marks = self.marks.get(first..).unwrap_or_default();
        let marks = marks.get(..marks.partition_point(|(at, _)| *at < part.end)).unwrap_or_default();
        // where old positions lie now: (old, new), valid from there on
        let mut moved = vec![(part.start, out.bytes.len())];
        let mut fixes = Vec::new();
        let mut at = part.start;
        let mut next_edit = 0;
        let copy = |out: &mut Stream, from: usize, to: usize| {
            out.bytes.extend_from_slice(self.data.get(from..to).unwrap_or_default());
        };
        let mut next_insert = 0;
        // how many bytes were put in where
        let mut grown: Vec<(usize, usize, usize)> = Vec::new();
        let mut apply = |until: usize, at: &mut usize, out: &mut Stream, moved: &mut Vec<(usize, usize)>| {
            loop {
                let edit = edits.get(next_edit).filter(|e| e.at.start < until);
                let insert = inserts.get(next_insert).filter(|i| i.at < until);
                if let Some(i) = insert.filter(|i| edit.is_none_or(|e| i.at <= e.at.start)) {
                    copy(out, *at, i.at);
                    let before = out.bytes.len();
                    i.from.emit(i.part.clone(), &mut i.edits.clone(), out)?;
                    out.bytes.extend_from_slice(i.after);
                    grown.push((i.at, i.within, out.bytes.len() - before));
                    *at = (*at).max(i.at);
                    moved.push((i.at, out.bytes.len()));
                    next_insert += 1;
                } else if let Some(e) = edit {
                    copy(out, *at, e.at.start);
                    out.bytes.extend_from_slice(&e.bytes);
                    *at = (*at).max(e.at.end);
                    moved.push((e.at.end, out.bytes.len()));
                    next_edit += 1;
                } else {
                    return Ok::<(), Error>(());
                }
            }
        };
        for (pos, mark) in marks {
            apply(*pos + 1, &mut at, out, &mut moved)?;
            if *pos < at {
                continue; // within what was exchanged
            }
            match mark {
                Mark::Count { end } => {
                    fixes.push((*pos, *end, true));
                }
                Mark::Object { target } => fixes.push((*pos, *target, false)),
                Mark::Class { len, class } => {
                    copy(out, at, *pos);
                    out.class(class)?;
                    at = pos + len;
                    moved.push((at, out.bytes.len()));
                }
            }
        }
        apply(usize::MAX, &mut at, out, &mut moved)?;
        copy(out, at, part.end);
        moved.push((part.end, out.bytes.len()));
        let find = |old: usize| {
            let i = moved.partition_point(|(from, _)| *from <= old);
            let (from, to) = moved.get(i.checked_sub(1)?)?;
            Some(to + (old - from))
        };
        for (pos, other, counts) in fixes {
            let (Some(at), Some(there)) = (find(pos), find(other)) else {
                return Err(Error::unsupported("an object refers to another outside of it"));
            };
            if counts {
                // what was put in behind the last item of a list is not part of that item
                let behind = grown.iter().filter(|(end, within, _)| *end == other && pos >= *within);
                let there = there - behind.map(|(_, _, len)| len).sum::<usize>();
                set_count(&mut out.bytes, at, (there - at - 4) as u32);
            } else {
                let reference = (there + out.base + FIRST_REFERENCE) as u32;
                if let Some(place) = out.bytes.get_mut(at..at + 4) {
                    place.copy_from_slice(&reference.to_be_bytes());
                }
            }
        }
        out.reference().map(|_| ())
    }

    /// The whole object behind a label of `base` bytes, with some parts exchanged.
    ///
    /// # Errors
    /// As [`Survey::emit`].
    pub(crate) fn rewrite(&self, edits: &mut [Edit], base: usize) -> Result<Vec<u8>> {
        let mut out = Stream::new(base);
        self.emit(0..self.data.len(), edits, &mut out)?;
        Ok(out.bytes)
    }
    /// The whole object behind a label of `base` bytes, with some parts exchanged and others put in.
    ///
    /// # Errors
    /// As [`Survey::emit`]; `Unsupported` when something moves that may hold references unknown to us.
    pub(crate) fn rewrite_with(&self, changes: &mut Changes, base: usize) -> Result<Vec<u8>> {
        changes.inserts.sort_by_key(|i| i.at);
        for i in &changes.inserts {
            if let Some((_, class)) = i.from.unknown.iter().find(|(at, _)| i.part.contains(&at.start)) {
                return Err(Error::unsupported(format!("holds {class}, which cannot be moved")));
            }
        }
        let mut out = Stream::new(base);
        self.emit_with(0..self.data.len(), &mut changes.edits, &changes.inserts, &mut out)?;
        if out.bytes.len() != self.data.len()
            && let Some((_, class)) = self.unknown.first()
        {
            return Err(Error::unsupported(format!("holds {class}, which cannot be moved")));
        }
        Ok(out.bytes)
    }
}
