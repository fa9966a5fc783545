//! The bytes of one entry, and the state kept while they are read.

use crate::links::Links;
use sapwood_format::cursor::Cursor;
use sapwood_span::{Error, Result};
use std::ops::{Deref, DerefMut};

/// References to objects that were read before: an entry of real data has far fewer, and following them must not take
/// disproportionate time.
const MOST_REFERENCES: u32 = 1 << 16;

/// Maximum nesting of objects: deeper is damage (or a cyclic chain of references).
const DEEPEST_OBJECTS: u32 = 60;

/// Since this version of a collection's header it is followed by the version of the class when members are written in
/// sequence (in `m_AreaSet.m_dims` of an ATLAS file of 2010, version 8, it is).
pub(crate) const FIRST_WITH_CLASS_VERSION: i16 = 8;

/// How the collection behind a header was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Object by object.
    Objects,
    /// Member by member: the class version, and the checksum where a class has no version.
    Members(Option<(i16, u32)>),
}

/// A cursor over one entry (or a whole basket of entries without pointers), with the mode that the last header set.
pub(crate) struct Input<'a> {
    cursor: Cursor<'a>,
    /// Set by a header for the collection directly after it, which takes it.
    pub mode: Mode,
    /// The objects behind links, while a graph is read.
    pub links: Option<Links>,
    references: u32,
    depth: u32,
}

impl<'a> Input<'a> {
    /// The bytes of an entry; `origin` is the position of the first of them in ROOT's references.
    pub(crate) fn new(data: &'a [u8], origin: usize) -> Self {
        let cursor = Cursor::new(data, origin);
        Self { cursor, mode: Mode::Objects, links: None, references: MOST_REFERENCES, depth: 0 }
    }

    /// The next bytes, at most `most`, without consuming them.
    pub(crate) fn ahead(&self, most: usize) -> &'a [u8] {
        let rest = self.cursor.rest();
        rest.get(..most).unwrap_or(rest)
    }

    /// The mode for the collection that begins here; its content is written object by object again.
    pub(crate) fn take_mode(&mut self) -> Mode {
        std::mem::replace(&mut self.mode, Mode::Objects)
    }

    /// Reads an object elsewhere in the entry, and returns to the current position.
    pub(crate) fn at<T>(&mut self, reference: u64, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let here = self.pos();
        // references count from the origin, plus two (ROOT's kMapOffset)
        let origin = self.reference() - here as u64;
        let there = reference.checked_sub(origin + 2).and_then(|p| usize::try_from(p).ok()).filter(|&p| p < here);
        let Some(there) = there else {
            return Err(Error::corrupt(format!("a pointer refers to position {reference}, which is not in its entry")));
        };
        self.references = self
            .references
            .checked_sub(1)
            .ok_or_else(|| Error::corrupt("more pointers to earlier objects than an entry can have"))?;
        self.seek(there)?;
        let value = self.nested(read)?;
        self.seek(here)?;
        Ok(value)
    }

    /// Reads one level deeper.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > DEEPEST_OBJECTS {
            return Err(Error::corrupt("objects that point to each other in a cycle"));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }
}

impl<'a> Deref for Input<'a> {
    type Target = Cursor<'a>;

    fn deref(&self) -> &Cursor<'a> {
        &self.cursor
    }
}

impl DerefMut for Input<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}
