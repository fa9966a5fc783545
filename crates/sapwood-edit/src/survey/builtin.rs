//! Classes with custom streamers: no description gives the layout of their bytes.

use super::Name;
use super::walk::Walk;
use sapwood_format::cursor::Cursor;
use sapwood_format::read_base_object;
use sapwood_format::streamer::code;
use sapwood_format::tree::width;
use sapwood_span::{Error, Result};

impl Walk<'_, '_> {
    pub(super) fn object(&mut self, c: &mut Cursor, node: usize) -> Result<()> {
        let start = c.pos();
        read_base_object(c)?;
        self.field(node, Some(Name::UniqueId), code::UINT, start + 2..start + 6, 0);
        self.field(node, Some(Name::Bits), code::BITS, start + 6..start + 10, 0);
        Ok(())
    }

    /// A string object.
    pub(super) fn string(&mut self, c: &mut Cursor, node: usize) -> Result<()> {
        let v = c.version()?;
        self.count(&v);
        self.object(c, node)?;
        let start = c.pos();
        c.string_bytes()?;
        self.field(node, Some(Name::Text), code::TSTRING, start..c.pos(), v.number);
        c.finish(&v)
    }

    /// A class description, which is itself not described in any file.
    pub(super) fn info(&mut self, c: &mut Cursor, node: usize) -> Result<()> {
        let v = c.version()?;
        self.count(&v);
        let named = self.name("TNamed");
        self.class(c, &named, node)?;
        for (name, code) in [(Name::CheckSum, code::UINT), (Name::ClassVersion, code::INT)] {
            let start = c.pos();
            c.skip(4)?;
            self.field(node, Some(name), code, start..c.pos(), v.number);
        }
        self.pointer(c, None, node)?;
        c.finish(&v)
    }

    /// A tree's index, which has a custom streamer: names, and three arrays of one length.
    pub(super) fn index(&mut self, c: &mut Cursor, node: usize) -> Result<()> {
        let v = c.version()?;
        self.count(&v);
        if v.number != 2 {
            return Err(Error::unsupported(format!("an index in its version {}", v.number)));
        }
        let base = self.name("TVirtualIndex");
        self.class(c, &base, node)?;
        for name in [Name::Major, Name::Minor] {
            let start = c.pos();
            c.string_bytes()?;
            self.field(node, Some(name), code::TSTRING, start..c.pos(), v.number);
        }
        let start = c.pos();
        let n = usize::try_from(c.i64()?).unwrap_or(usize::MAX);
        self.field(node, Some(Name::IndexSize), code::LONG64, start..c.pos(), v.number);
        for name in [Name::IndexValues, Name::MinorValues, Name::Index] {
            let start = c.pos();
            c.skip(n.saturating_mul(8))?;
            self.field(node, Some(name), code::LONG64, start..c.pos(), v.number);
        }
        c.finish(&v)
    }

    /// `TArrayD` and similar classes: a length and the items.
    pub(super) fn bare(
        &mut self,
        c: &mut Cursor,
        item: i32,
        node: usize,
        name: Option<Name>,
        version: i16,
    ) -> Result<()> {
        let start = c.pos();
        let n = c.count(width(item)?)?;
        c.skip(n * width(item)?)?;
        self.field(node, name, item, start..c.pos(), version);
        Ok(())
    }

    pub(super) fn array(&mut self, c: &mut Cursor, node: usize) -> Result<()> {
        let v = c.version()?;
        self.count(&v);
        if v.number > 2 {
            self.object(c, node)?;
        }
        if v.number > 1 {
            let start = c.pos();
            c.string_bytes()?;
            self.field(node, Some(Name::Identifier), code::TSTRING, start..c.pos(), v.number);
        }
        let start = c.pos();
        let n = c.count(4)?;
        self.field(node, Some(Name::Size), code::INT, start..c.pos(), v.number);
        c.i32()?;
        let via = self.survey.nodes.get(node).and_then(|n| n.via);
        for _ in 0..n {
            self.pointer(c, via, node)?;
        }
        c.finish(&v)
    }

    pub(super) fn list(&mut self, c: &mut Cursor, node: usize) -> Result<()> {
        let v = c.version()?;
        self.count(&v);
        if v.number <= 3 {
            return Err(Error::unsupported(format!("a list in its version {}", v.number)));
        }
        self.object(c, node)?;
        let start = c.pos();
        c.string_bytes()?;
        self.field(node, Some(Name::Identifier), code::TSTRING, start..c.pos(), v.number);
        let start = c.pos();
        let n = c.count(5)?;
        self.field(node, Some(Name::Size), code::INT, start..c.pos(), v.number);
        let via = self.survey.nodes.get(node).and_then(|n| n.via);
        for _ in 0..n {
            self.pointer(c, via, node)?;
            let option = match c.u8()? {
                255 => c.count(1)?,
                n => usize::from(n),
            };
            c.skip(option)?;
        }
        c.finish(&v)
    }
}
