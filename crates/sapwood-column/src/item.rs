use crate::{Array, ColumnType, DType, Packed, Values, kernel};
use sapwood_format::cursor::Cursor;
use sapwood_span::{Error, Result};

/// Collections in collections: deeper is damage or nobody's data.
pub(crate) const DEEPEST: usize = 30;

/// The status bit of objects that others refer to.
const IS_REFERENCED: u32 = 1 << 4;

/// How one value lies in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A big-endian number.
    Number(DType),
    /// A number with fewer bits than in memory: `F32` for Float16_t, `F64` for Double32_t.
    Packed(Packed, DType),
    /// TObject's status bits: two more bytes follow for an object that others refer to.
    Bits,
    /// A string with its length in front: one byte, or 255 and four.
    Text,
    /// A C string: a four-byte length, then the bytes (`char*` members).
    LongText,
    /// `n` items without a length.
    Fixed(usize, Box<Item>),
    /// A four-byte count, then the items: what a collection inside another one looks like.
    Sequence(Box<Item>),
    /// Byte count and version in front of the item.
    Headed(Box<Item>),
    /// Byte count and version, then a collection of records, either object by object or member by member.
    Objects(Box<Item>),
    /// Byte count and version in front of named members.
    Object(Object),
    /// A base class: as an object, except that in a collection written member by member its members stand as if they
    /// were those of the class itself.
    Base(Object),
    /// Named members without anything in front.
    Members(Vec<(String, Item)>),
    /// A flag byte, then as many numbers as the member of this number (counted from the first) says.
    Counted(usize, Box<Item>),
    /// As many items as the member of this number says, without anything in front.
    Times(usize, Box<Item>),
}

/// A class in the version that the file describes.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Class name.
    pub class: String,
    /// Class version.
    pub version: i32,
    /// Checksum of its members: written in place of the version by classes that have none.
    pub checksum: u32,
    /// Members, bases first.
    pub members: Vec<(String, Item)>,
}

impl Object {
    /// Whether bytes of this version follow this description; the checksum is read where no version stands.
    fn check(&self, version: i16, c: &mut Cursor) -> Result<()> {
        let fits = if version > 0 { i32::from(version) == self.version } else { c.u32()? == self.checksum };
        if fits {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "an object of class {} in version {version}, of which the branch says {}",
            self.class, self.version
        )))
    }
}

impl Item {
    /// The type of the column it makes.
    pub fn column_type(&self) -> ColumnType {
        let list = |item: &Item| ColumnType::List { item: Box::new(item.column_type()) };
        let record = |members: &[(String, Item)]| ColumnType::Record {
            fields: members.iter().map(|(n, i)| (n.clone(), i.column_type())).collect(),
        };
        match self {
            Item::Number(d) | Item::Packed(_, d) => ColumnType::Number(*d),
            Item::Bits => ColumnType::Number(DType::U32),
            Item::Text | Item::LongText => ColumnType::Text,
            Item::Fixed(size, item) => ColumnType::Regular { size: *size, item: Box::new(item.column_type()) },
            Item::Sequence(item) | Item::Objects(item) | Item::Counted(_, item) | Item::Times(_, item) => list(item),
            Item::Headed(item) => item.column_type(),
            Item::Object(o) | Item::Base(o) => record(&o.members),
            Item::Members(m) => record(m),
        }
    }

    /// Bytes of the value, where all have the same.
    pub fn fixed_size(&self) -> Option<usize> {
        match self {
            Item::Number(d) => Some(d.size()),
            Item::Packed(p, _) => Some(p.size()),
            Item::Fixed(n, item) => item.fixed_size()?.checked_mul(*n),
            Item::Members(m) => m.iter().try_fold(0usize, |sum, (_, i)| sum.checked_add(i.fixed_size()?)),
            _ => None,
        }
    }

    /// The number, when a value is nothing but numbers of one type (fixed arrays included).
    pub(crate) fn plain(&self) -> Option<DType> {
        match self {
            Item::Number(d) => Some(*d),
            Item::Fixed(_, item) => item.plain(),
            _ => None,
        }
    }

    /// Reads one value and appends it.
    pub(crate) fn read(&self, c: &mut Cursor, out: &mut Array) -> Result<()> {
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
                let n = c.count(item.fixed_size().unwrap_or(1).max(1))?;
                item.read_many(c, n, content)?;
                offsets.push(content.len() as i64);
                Ok(())
            }
            (Item::Headed(item), out) => {
                let v = c.version()?;
                if v.member_wise {
                    return Err(Error::unsupported("a collection written member by member of this type"));
                }
                item.read(c, out)?;
                c.finish(&v)
            }
            (Item::Objects(item), Array::List { offsets, content }) => {
                let v = c.version()?;
                read_objects(item, c, v.member_wise, content)?;
                offsets.push(content.len() as i64);
                c.finish(&v)
            }
            (Item::Object(object) | Item::Base(object), Array::Record { len, fields }) => {
                let v = c.version()?;
                object.check(v.number, c)?;
                read_members(&object.members, c, fields)?;
                *len += 1;
                c.finish(&v)
            }
            (Item::Members(members), Array::Record { len, fields }) => {
                read_members(members, c, fields)?;
                *len += 1;
                Ok(())
            }
            (item, _) => Err(Error::invalid(format!("{item:?} does not go into this column"))),
        }
    }

    /// Reads `n` values one after another.
    pub(crate) fn read_many(&self, c: &mut Cursor, n: usize, out: &mut Array) -> Result<()> {
        if let (Some(_), Some(size)) = (self.plain(), self.fixed_size()) {
            let bytes = n.checked_mul(size).ok_or_else(|| Error::corrupt(format!("{n} items of {size} bytes")))?;
            return self.extend_plain(c.take(bytes)?, n, out);
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
    pub(crate) fn read_all(&self, c: &mut Cursor, out: &mut Array) -> Result<()> {
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
}

fn read_members(members: &[(String, Item)], c: &mut Cursor, fields: &mut [(String, Array)]) -> Result<()> {
    for (i, (_, member)) in members.iter().enumerate() {
        let (done, rest) = fields.split_at_mut(i.min(fields.len()));
        let Some((_, out)) = rest.first_mut() else { return Err(Error::invalid("members go into fields")) };
        match member {
            Item::Counted(by, item) => {
                let n = last_count(done, *by)?;
                let there = c.u8()? != 0;
                read_list(item, c, if there { n } else { 0 }, out)?;
            }
            Item::Times(by, item) => read_list(item, c, last_count(done, *by)?, out)?,
            item => item.read(c, out)?,
        }
    }
    Ok(())
}

fn read_list(item: &Item, c: &mut Cursor, n: usize, out: &mut Array) -> Result<()> {
    let Array::List { offsets, content } = out else {
        return Err(Error::invalid("a counted array goes into a list"));
    };
    if n.saturating_mul(item.fixed_size().unwrap_or(1)) > c.left() {
        return Err(Error::corrupt(format!("{n} items announced, but {} bytes are left", c.left())));
    }
    item.read_many(c, n, content)?;
    offsets.push(content.len() as i64);
    Ok(())
}

/// The counter's value in the record that is being read.
fn last_count(done: &[(String, Array)], by: usize) -> Result<usize> {
    match done.get(by) {
        Some((_, Array::Flat(values))) if !values.is_empty() => {
            Ok(values.get_f64(values.len() - 1).map_or(0, |x| if x > 0.0 { x as usize } else { 0 }))
        }
        _ => Err(Error::corrupt("an array stands in front of its counter")),
    }
}

fn read_objects(item: &Item, c: &mut Cursor, member_wise: bool, out: &mut Array) -> Result<()> {
    if !member_wise {
        let n = c.count(item.fixed_size().map_or(1, |s| s.min(1)))?;
        return item.read_many(c, n, out);
    }
    let version = c.i16()?;
    let members = match item {
        Item::Object(object) => {
            object.check(version, c)?;
            &object.members
        }
        // a map's pairs: they have a checksum, but no description is needed to know them
        Item::Members(members) => {
            if version <= 0 {
                c.u32()?;
            }
            members
        }
        _ => return Err(Error::unsupported("a collection written member by member of this type")),
    };
    let n = c.count(usize::from(!members.is_empty()))?;
    // of no items there are no members, not even the headers of collections among them
    if n == 0 { Ok(()) } else { read_by_members(members, c, n, out) }
}

/// Reads `n` records member by member: first the first member of all, then the second of all, …
fn read_by_members(members: &[(String, Item)], c: &mut Cursor, n: usize, out: &mut Array) -> Result<()> {
    let Array::Record { len, fields } = out else {
        return Err(Error::invalid("objects go into records"));
    };
    for ((name, member), (_, field)) in members.iter().zip(fields.iter_mut()) {
        match member {
            Item::Counted(..) | Item::Times(..) => {
                return Err(Error::unsupported(format!("the counted array {name} of a collection written by members")));
            }
            // collections inside have one header for all items
            Item::Headed(inner) => {
                let v = c.version()?;
                if v.member_wise {
                    return Err(Error::unsupported(format!("the member {name} written by members within members")));
                }
                inner.read_many(c, n, field)?;
                c.finish(&v)?;
            }
            Item::Base(object) => read_by_members(&object.members, c, n, field)?,
            Item::Objects(_) => {
                return Err(Error::unsupported(format!("the member {name}: objects within objects by members")));
            }
            other => other.read_many(c, n, field)?,
        }
    }
    *len += n;
    Ok(())
}
