//! Decodes items from bytes one by one, where no kernel applies.

mod containers;
mod graph;
pub(crate) mod members;

use crate::input::{FIRST_WITH_CLASS_VERSION, Input, Mode};
use crate::item::{Fields, Item, Object, OtherVersion, Skip, bare, misfit};
use crate::{Array, Values, kernel};
use sapwood_format::cursor::VersionHeader;
use sapwood_format::read_base_object;
use sapwood_span::{Error, Result};

use containers::{read_clones, read_listed, read_pointed};
use members::{by_members, one_of_all, read_members};

/// The status bit of referenced objects.
const IS_REFERENCED: u32 = 1 << 4;

/// The status bit of a TClonesArray whose objects are written member by member.
pub(crate) const BYPASSES_STREAMER: u32 = 1 << 12;

impl Item {
    /// Reads one value and appends it.
    pub(crate) fn read(&self, c: &mut Input, out: &mut Array) -> Result<()> {
        match (self, out) {
            (Item::Number(d), Array::Flat(values)) => kernel::extend(values, c.take(d.size())?),
            (Item::Bits, Array::Flat(Values::U32(values))) => {
                let bits = c.u32()?;
                if bits & IS_REFERENCED != 0 {
                    c.u16()?;
                }
                values.push(bits);
                Ok(())
            }
            (Item::Packed(p, _), Array::Flat(values)) => {
                kernel::push_real(values, p.read(c)?);
                Ok(())
            }
            (Item::Text, Array::Text { offsets, bytes }) => {
                bytes.extend_from_slice(c.string_bytes()?);
                offsets.push(bytes.len() as i64);
                Ok(())
            }
            (Item::LongText, Array::Text { offsets, bytes }) => {
                let n = c.count(1)?;
                bytes.extend_from_slice(c.take(n)?);
                offsets.push(bytes.len() as i64);
                Ok(())
            }
            (Item::Fixed(n, item), Array::Regular { len, content, .. }) => {
                item.read_many(c, *n, content)?;
                *len += 1;
                Ok(())
            }
            (Item::Sequence(item), Array::List { offsets, content }) => {
                let n = c.count(item.least_size())?;
                item.read_many(c, n, content)?;
                offsets.push(content.len() as i64);
                Ok(())
            }
            (Item::Records(item), Array::List { offsets, content }) => {
                let mode = c.take_mode();
                // written member by member, only records without members take no bytes
                let n =
                    c.count(if mode == Mode::Objects { item.least_size() } else { usize::from(!item.is_empty()) })?;
                match mode {
                    Mode::Objects => item.read_many(c, n, content)?,
                    Mode::Members(version) => item.read_by_members(c, n, version, content)?,
                }
                c.mode = mode;
                offsets.push(content.len() as i64);
                Ok(())
            }
            (Item::Headed(item), out) => item.headed(c, |c| item.read(c, out)),
            (Item::Object(object) | Item::Base(object), Array::Record { len, fields }) => {
                object.read(c, fields)?;
                *len += 1;
                Ok(())
            }
            (Item::Members(members), Array::Record { len, fields }) => {
                read_members(members, c, fields)?;
                *len += 1;
                Ok(())
            }
            (Item::Pair(pair), Array::Record { len, fields }) => {
                let [(_, key), (_, value)] = fields.as_mut_slice() else { return Err(misfit(self)) };
                bare(&pair.0).read(c, key)?;
                bare(&pair.1).read(c, value)?;
                *len += 1;
                Ok(())
            }
            (Item::Pointer(classes), out) => c.nested(|c| read_pointed(classes, c, out)),
            (Item::Clones(classes), out) => c.nested(|c| read_clones(classes, c, out)),
            (Item::Link(classes), out) => graph::read_link(classes, c, out),
            (Item::CloneLinks(classes), out) => graph::read_clone_links(classes, c, out),
            (Item::Graph { root, tables }, Array::Record { len, fields }) => {
                graph::read_graph(root, tables, c, fields)?;
                *len += 1;
                Ok(())
            }
            (Item::Listed { kind, item }, Array::List { offsets, content }) => {
                read_listed(*kind, item, c, content)?;
                offsets.push(content.len() as i64);
                Ok(())
            }
            (Item::Named(item), out) => {
                let n = usize::from(c.u8()?);
                c.skip(n + 1)?;
                item.read(c, out)
            }
            (Item::Skip(skip), Array::Record { len, .. }) => {
                skip.read(c)?;
                *len += 1;
                Ok(())
            }
            (Item::Fused(f), out) => match f.shapes.iter().find(|s| s.fitting(c.ahead(s.size())) == 1) {
                Some(shape) => shape.read(c.take(shape.size())?, out),
                None => f.item.read(c, out),
            },
            (Item::Enumeration(_), Array::Flat(Values::I32(values))) => {
                values.push(c.i32()?);
                Ok(())
            }
            (Item::Absent(class), _) => Err(Error::unsupported(format!("the file does not describe class {class}"))),
            (item, _) => Err(misfit(item)),
        }
    }

    /// Reads `n` values one after another.
    pub(crate) fn read_many(&self, c: &mut Input, n: usize, out: &mut Array) -> Result<()> {
        if let (Some(_), Some(size)) = (self.plain(), self.fixed_size()) {
            let bytes = n.checked_mul(size).ok_or_else(|| Error::corrupt(format!("{n} items of {size} bytes")))?;
            return self.extend_plain(c.take(bytes)?, n, out);
        }
        if let Item::Fused(f) = self {
            for shape in &f.shapes {
                let ahead = c.ahead(n.saturating_mul(shape.size()));
                let fit = shape.fitting(ahead);
                if fit > 0 {
                    shape.read(c.take(fit * shape.size())?, out)?;
                    return f.item.read_many(c, n - fit, out);
                }
            }
            return f.item.read_many(c, n, out);
        }
        // items without any bytes: a count from a damaged file must not cause a long loop
        if n > c.left().saturating_add(1) && self.fixed_size() == Some(0) {
            return Err(Error::corrupt(format!("{n} items without bytes")));
        }
        let most = c.left();
        for i in 0..n {
            let before = c.left();
            self.read(c, out)?;
            if c.left() == before && i > most {
                return Err(Error::corrupt(format!("{n} items without bytes")));
            }
        }
        Ok(())
    }

    /// Reads values until the bytes end; returns when there is none left.
    pub(crate) fn read_all(&self, c: &mut Input, out: &mut Array) -> Result<()> {
        if let Some(size) = self.fixed_size().filter(|&size| size > 0) {
            self.read_many(c, c.left() / size, out)?;
        }
        while c.left() > 0 {
            let before = c.left();
            self.read(c, out)?;
            if c.left() == before {
                return Err(Error::corrupt(format!("{before} bytes of an entry belong to items without bytes")));
            }
        }
        Ok(())
    }

    /// Appends `n` values that are only numbers.
    pub(crate) fn extend_plain(&self, data: &[u8], n: usize, out: &mut Array) -> Result<()> {
        match (self, out) {
            (Item::Number(_), Array::Flat(values)) => kernel::extend(values, data),
            (Item::Fixed(size, item), Array::Regular { len, content, .. }) => {
                *len = len.saturating_add(n);
                item.extend_plain(data, n.saturating_mul(*size), content)
            }
            (item, _) => Err(Error::invalid(format!("{item:?} is not made of plain numbers"))),
        }
    }

    /// Reads what follows a byte count and a version; `self` is the item that `read` reads.
    pub(crate) fn headed(&self, c: &mut Input, read: impl FnOnce(&mut Input) -> Result<()>) -> Result<()> {
        let v = c.version()?;
        let before = c.take_mode();
        if v.member_wise {
            let class = if v.number >= FIRST_WITH_CLASS_VERSION {
                let version = c.i16()?;
                Some((version, if version <= 0 { c.u32()? } else { 0 }))
            } else {
                None
            };
            if !self.takes_mode() {
                return Err(Error::unsupported("a collection written member by member of this type"));
            }
            c.mode = Mode::Members(class);
        }
        read(c)?;
        c.mode = before;
        all_read(c, &v, || self.class())
    }

    /// Whether a collection of it may be written member by member.
    fn takes_mode(&self) -> bool {
        match self {
            Item::Records(_) => true,
            Item::Fixed(_, item) => item.takes_mode(),
            _ => false,
        }
    }

    /// Reads `n` records member by member: the first member of all, then the second of all, …
    pub(crate) fn read_by_members(
        &self,
        c: &mut Input,
        n: usize,
        version: Option<(i16, u32)>,
        out: &mut Array,
    ) -> Result<()> {
        if n == 0 {
            // then the headers of its members are left out as well
            return Ok(());
        }
        if let Item::Enumeration(class) = self {
            return Err(Error::unsupported(format!("the file does not describe class {class}")));
        }
        if let Item::Fused(f) = self {
            return f.item.read_by_members(c, n, version, out);
        }
        let Array::Record { len, fields } = out else { return Err(misfit(self)) };
        match self {
            Item::Object(object) => match object.variant(version)? {
                Variant::Same => by_members(&object.members, c, n, fields)?,
                Variant::Other(other) => {
                    let mut scratch = other.scratch();
                    by_members(&other.members, c, n, &mut scratch)?;
                    other.put(&scratch, n, fields)?;
                }
            },
            Item::Pair(pair) => {
                let [(_, key), (_, value)] = fields.as_mut_slice() else { return Err(misfit(self)) };
                one_of_all(&pair.0, c, n, &[], key)?;
                one_of_all(&pair.1, c, n, &[], value)?;
            }
            // undescribed members: the header's length shows whether there were any
            Item::Absent(_) => {}
            _ => return Err(Error::unsupported("a collection written member by member of this type")),
        }
        *len += n;
        Ok(())
    }
}

impl Skip {
    pub(crate) fn read(self, c: &mut Input) -> Result<()> {
        match self {
            Skip::Bytes(n) => c.skip(n),
            Skip::TObject => read_base_object(c).map(|_| ()),
            Skip::Bits => match c.u32()? & IS_REFERENCED {
                0 => Ok(()),
                _ => c.skip(2),
            },
        }
    }
}

/// Whether an object was read to the end given by its byte count: a class with a custom streamer writes more than its
/// description says.
pub(crate) fn all_read(c: &mut Input, v: &VersionHeader, class: impl FnOnce() -> String) -> Result<()> {
    match v.end {
        Some(end) if c.pos() < end => Err(Error::unsupported(format!(
            "{} bytes of class {} are left over: it has a custom streamer, which the file does not describe",
            end - c.pos(),
            class()
        ))),
        _ => c.finish(v),
    }
}

/// The described version of a class that some bytes have.
pub(crate) enum Variant<'o> {
    Same,
    Other(&'o OtherVersion),
}

impl Object {
    /// Reads an object behind its header into its columns.
    pub(crate) fn read(&self, c: &mut Input, fields: &mut Fields) -> Result<()> {
        let v = c.version()?;
        // a class whose own version is 0 has neither
        let checksum = if v.number <= 0 && self.version != 0 { c.u32()? } else { 0 };
        match self.variant(Some((v.number, checksum)))? {
            Variant::Same => read_members(&self.members, c, fields)?,
            Variant::Other(other) => {
                let mut scratch = other.scratch();
                read_members(&other.members, c, &mut scratch)?;
                other.put(&scratch, 1, fields)?;
            }
        }
        all_read(c, &v, || self.class.clone())
    }

    /// The described version that the bytes have.
    pub(crate) fn variant(&self, written: Option<(i16, u32)>) -> Result<Variant<'_>> {
        let Some((version, checksum)) = written else { return Ok(Variant::Same) };
        let fits = |v: i32, sum: u32| {
            if version > 0 || v == 0 { i32::from(version) == v } else { checksum == sum }
        };
        if self.version < 0 || fits(self.version, self.checksum) {
            return Ok(Variant::Same);
        }
        if let Some(other) = self.others.iter().find(|o| fits(o.version, o.checksum)) {
            return Ok(Variant::Other(other));
        }
        Err(Error::unsupported(format!(
            "an object of class {} has version {version}, the branch says {}: it has a custom streamer, which the file does not describe",
            self.class, self.version
        )))
    }
}
