//! Items from bytes, one by one: for whatever has no layout that a kernel could run over.

use crate::evolve::push_nothing;
use crate::input::{FIRST_WITH_CLASS_VERSION, Input, Mode};
use crate::item::{Item, Listing, Object, OtherVersion, Skip, bare};
use crate::{Array, Values, graph, kernel};
use sapwood_format::cursor::Version;
use sapwood_format::{Pointed, read_base_object, read_pointer};
use sapwood_span::{Error, Result};

/// The status bit of objects that others refer to.
const IS_REFERENCED: u32 = 1 << 4;

/// The status bit of a TClonesArray whose objects are written member by member.
pub(crate) const BYPASSES_STREAMER: u32 = 1 << 12;

type Fields = [(String, Array)];

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
        // items without any bytes: a count out of a damaged file must not make a loop of them
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
        while c.left() > 0 {
            let before = c.left();
            self.read(c, out)?;
            if c.left() == before {
                return Err(Error::corrupt(format!("{before} bytes of an entry belong to items without bytes")));
            }
        }
        Ok(())
    }

    /// Appends `n` values that are nothing but numbers.
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

    /// Reads what stands behind a byte count and a version; `self` is what `read` reads.
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

    /// Reads `n` records member by member: first the first member of all, then the second of all, …
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
                one_of_all("key", &pair.0, c, n, key)?;
                one_of_all("value", &pair.1, c, n, value)?;
            }
            // no members that anyone described: the header's length tells whether there were any
            Item::Absent(_) => {}
            _ => return Err(Error::unsupported("a collection written member by member of this type")),
        }
        *len += n;
        Ok(())
    }
}

impl Skip {
    fn read(self, c: &mut Input) -> Result<()> {
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

/// Whether an object was read to the end that its byte count gives: a class with a streamer of its own writes what its
/// description does not say.
pub(crate) fn all_read(c: &mut Input, v: &Version, class: impl FnOnce() -> String) -> Result<()> {
    match v.end {
        Some(end) if c.pos() < end => Err(Error::unsupported(format!(
            "{} bytes of class {} are not described in the file",
            end - c.pos(),
            class()
        ))),
        _ => c.finish(v),
    }
}

enum Variant<'o> {
    Same,
    Other(&'o OtherVersion),
}

impl Object {
    /// Reads an object behind its header into its columns.
    fn read(&self, c: &mut Input, fields: &mut Fields) -> Result<()> {
        let v = c.version()?;
        // a class that says of itself to have version 0 has neither
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

    /// Which of the described versions the bytes are in.
    fn variant(&self, written: Option<(i16, u32)>) -> Result<Variant<'_>> {
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
            "an object of class {} in version {version}, of which the branch says {}",
            self.class, self.version
        )))
    }
}

fn misfit(item: &Item) -> Error {
    Error::invalid(format!("{item:?} does not go into this column"))
}

/// Reads the members of one object, each into its column.
fn read_members(members: &[(String, Item)], c: &mut Input, fields: &mut Fields) -> Result<()> {
    let mut at = 0;
    for (name, member) in members {
        let (done, rest) = fields.split_at_mut(at.min(fields.len()));
        match member {
            Item::Skip(skip) => skip.read(c)?,
            Item::Base(base) => base.read(c, rest)?,
            member => {
                let Some((_, out)) = rest.first_mut() else { return Err(misfit(member)) };
                read_member(member, c, done, out).map_err(|e| in_member(e, name))?;
            }
        }
        at += member.columns();
    }
    Ok(())
}

fn in_member(e: Error, name: &str) -> Error {
    Error::new(e.kind(), format!("member {name}: {}", e.what()))
}

fn read_member(member: &Item, c: &mut Input, done: &Fields, out: &mut Array) -> Result<()> {
    match member {
        Item::Counted(by, item) => {
            let n = last_count(done, *by)?;
            let there = c.u8()? != 0;
            read_list(item, c, if there { n } else { 0 }, out)
        }
        Item::Times(by, item) => read_list(item, c, last_count(done, *by)?, out),
        Item::Triangle(by, item) => {
            let rows = last_count(done, *by)?;
            read_list(item, c, rows.saturating_mul(rows.saturating_add(1)) / 2, out)
        }
        // as many objects as the counter says, behind one header
        Item::Headed(inner) if matches!(**inner, Item::Times(..)) => {
            inner.headed(c, |c| read_member(inner, c, done, out))
        }
        item => item.read(c, out),
    }
}

fn read_list(item: &Item, c: &mut Input, n: usize, out: &mut Array) -> Result<()> {
    let Array::List { offsets, content } = out else {
        return Err(Error::invalid("a counted array goes into a list"));
    };
    if n.saturating_mul(item.least_size().max(1)) > c.left() {
        return Err(Error::corrupt(format!("{n} items announced, but {} bytes are left", c.left())));
    }
    item.read_many(c, n, content)?;
    offsets.push(content.len() as i64);
    Ok(())
}

/// The counter's value in the record that is being read.
fn last_count(done: &Fields, by: usize) -> Result<usize> {
    match done.get(by) {
        Some((_, Array::Flat(values))) if !values.is_empty() => {
            Ok(values.get_f64(values.len() - 1).map_or(0, |x| if x > 0.0 { x as usize } else { 0 }))
        }
        _ => Err(Error::corrupt("an array stands in front of its counter")),
    }
}

/// Reads a pointer: nothing, an object that was read before, or one that follows.
fn read_pointed(classes: &[(String, Item)], c: &mut Input, out: &mut Array) -> Result<()> {
    let (which, end) = match read_pointer(c)? {
        Pointed::Null => return none_of(classes, out),
        Pointed::Reference(at) => return c.at(at, |c| read_pointed(classes, c, out)),
        Pointed::Object { class, end, .. } => match classes.iter().position(|(n, _)| *n == class) {
            Some(i) => (i, end),
            None => return Err(Error::unsupported(format!("a pointer to an object of class {class}"))),
        },
    };
    let (class, item) = &classes[which];
    let Array::List { offsets, content } = list_of(classes, which, out)? else { return Err(misfit(item)) };
    item.read(c, content)?;
    offsets.push(content.len() as i64);
    match end {
        Some(end) if c.pos() != end => Err(Error::corrupt(format!(
            "an object of class {class} ends at byte {}, but its pointer says {end}",
            c.pos()
        ))),
        _ => Ok(()),
    }
}

/// The list that objects of this class go to; those of the other classes get nothing.
fn list_of<'a>(classes: &[(String, Item)], which: usize, out: &'a mut Array) -> Result<&'a mut Array> {
    let misfit = || Error::invalid("objects of several classes go into a record");
    if classes.len() == 1 {
        return Ok(out);
    }
    let Array::Record { len, fields } = out else { return Err(misfit()) };
    *len += 1;
    for (i, (_, field)) in fields.iter_mut().enumerate() {
        if i != which {
            push_nothing(field, 1)?;
        }
    }
    fields.get_mut(which).map(|(_, field)| field).ok_or_else(misfit)
}

/// Reads a TObjArray, TList or TMap: TObject, name, number of objects, lower bound (of an array), objects, and an option
/// behind each (of a list).
fn read_listed(kind: Listing, item: &Item, c: &mut Input, out: &mut Array) -> Result<()> {
    let v = c.version()?;
    if v.number < if kind == Listing::Linked { 4 } else { 3 } {
        return Err(Error::unsupported(format!("a list of objects in version {}", v.number)));
    }
    read_base_object(c)?;
    c.string_bytes()?;
    let n = c.count(4)?;
    if kind == Listing::Array {
        c.skip(4)?;
    }
    for _ in 0..n {
        item.read(c, out)?;
        if kind == Listing::Linked {
            c.string_bytes()?;
        }
    }
    all_read(c, &v, || "TList".to_owned())
}

/// Reads a TClonesArray: TObject, name, `class;version`, number of objects, lower bound, objects: member by member, or
/// each behind a byte that says whether it is there.
fn read_clones(classes: &[(String, Item)], c: &mut Input, out: &mut Array) -> Result<()> {
    let v = c.version()?;
    if v.number < 4 {
        return Err(Error::unsupported(format!("a TClonesArray in version {}", v.number)));
    }
    let by_members = read_base_object(c)? & BYPASSES_STREAMER != 0;
    c.string_bytes()?;
    let named = c.string()?;
    let (class, version) = named.split_once(';').unwrap_or((&named, "0"));
    let n = c.count(usize::from(!by_members))?;
    c.skip(4)?;
    if n == 0 {
        push_nothing(out, 1)?;
        return all_read(c, &v, || named.clone());
    }
    let Some(which) = classes.iter().position(|(name, _)| name == class) else {
        return Err(Error::unsupported(format!("a TClonesArray of class {class}")));
    };
    let item = &classes[which].1;
    let Array::List { offsets, content } = list_of(classes, which, out)? else { return Err(misfit(item)) };
    if by_members {
        item.read_by_members(c, n, version.parse().ok().map(|version| (version, 0)), content)?;
    } else {
        for _ in 0..n {
            if c.u8()? == 0 {
                return Err(Error::unsupported("a TClonesArray with empty places"));
            }
            item.read(c, content)?;
        }
    }
    offsets.push(content.len() as i64);
    all_read(c, &v, || named.clone())
}

fn none_of(classes: &[(String, Item)], out: &mut Array) -> Result<()> {
    debug_assert!(!classes.is_empty());
    push_nothing(out, 1)
}

/// Reads `n` records member by member.
fn by_members(members: &[(String, Item)], c: &mut Input, n: usize, fields: &mut Fields) -> Result<()> {
    let mut at = 0;
    for (name, member) in members {
        let (done, rest) = fields.split_at_mut(at.min(fields.len()));
        match member {
            Item::Skip(skip) => {
                if n > c.left() {
                    return Err(Error::corrupt(format!("{n} objects announced, but {} bytes are left", c.left())));
                }
                (0..n).try_for_each(|_| skip.read(c))?;
            }
            // its members stand as if they were those of the class itself
            Item::Base(base) => match base.variant(None)? {
                Variant::Same => by_members(&base.members, c, n, rest)?,
                Variant::Other(_) => return Err(misfit(member)),
            },
            Item::Counted(by, item) => {
                let Some((_, out)) = rest.first_mut() else { return Err(misfit(member)) };
                for i in 0..n {
                    let count = count_at(done, *by, n, i)?;
                    let there = c.u8()? != 0;
                    read_list(item, c, if there { count } else { 0 }, out).map_err(|e| in_member(e, name))?;
                }
            }
            Item::Times(..) | Item::Triangle(..) => {
                return Err(Error::unsupported(format!("the counted array {name} of a collection written by members")));
            }
            member => {
                let Some((_, out)) = rest.first_mut() else { return Err(misfit(member)) };
                one_of_all(name, member, c, n, out)?;
            }
        }
        at += member.columns();
    }
    Ok(())
}

/// The counter's value in the record `i` of the `n` that were read last.
fn count_at(done: &Fields, by: usize, n: usize, i: usize) -> Result<usize> {
    match done.get(by) {
        Some((_, Array::Flat(values))) if values.len() >= n => {
            Ok(values.get_f64(values.len() - n + i).map_or(0, |x| if x > 0.0 { x as usize } else { 0 }))
        }
        _ => Err(Error::corrupt("an array stands in front of its counter")),
    }
}

/// Reads one member of `n` records: collections and strings have one header for all.
fn one_of_all(name: &str, member: &Item, c: &mut Input, n: usize, out: &mut Array) -> Result<()> {
    match member {
        Item::Headed(inner) if matches!(**inner, Item::Times(..)) => {
            Err(Error::unsupported("counted objects within a collection written member by member"))
        }
        Item::Headed(inner) if n > 0 => inner.headed(c, |c| inner.read_many(c, n, out)),
        other => other.read_many(c, n, out),
    }
    .map_err(|e| in_member(e, name))
}
