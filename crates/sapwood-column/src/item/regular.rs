//! Records of one size: their members are gathered one after the other, each in one pass over all records.
//!
//! Most classes qualify: numbers after headers that are always the same. The required bytes (byte counts, versions, no
//! process id after TObject's bits) are determined once per branch as a flat list of checks and numbers. Where a record
//! differs, the general reader takes over.

use crate::item::{Skip, bare};
use crate::{Array, DType, Item, Object, PackedFloat, Values, kernel};
use sapwood_format::cursor::Cursor;
use sapwood_span::{Error, Result};

/// Larger records gain nothing.
const MOST_BYTES: usize = 1 << 16;

/// The mark of a byte count.
const BYTE_COUNT: u32 = 0x4000_0000;

/// The status bit of referenced objects: two more bytes follow it.
const IS_REFERENCED: u32 = 1 << 4;

/// An item, and how a run of it is read when all its records have one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// The item itself.
    pub item: Item,
    /// The forms that its regular records may have: with class versions, with checksums instead.
    pub(crate) shapes: Vec<Shape>,
}

/// A record of one size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    size: usize,
    checks: Vec<Check>,
    number_members: Vec<NumberMember>,
}

/// Bytes that must have a certain value.
#[derive(Clone, Debug, PartialEq)]
struct Check {
    at: usize,
    /// 2 or 4 bytes.
    wide: bool,
    mask: u32,
    want: u32,
}

/// A member: `count` numbers in each record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NumberMember {
    at: usize,
    number: Number,
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Plain(DType),
    Packed(PackedFloat),
}

/// Replaces the records of one size within an item by [`Item::Fused`].
pub(crate) fn fuse(item: Item) -> Item {
    let boxed = |item: Box<Item>| Box::new(fuse(*item));
    let all = |members: Vec<(String, Item)>| members.into_iter().map(|(n, i)| (n, fuse(i))).collect();
    let object = |o: Object| Object { members: all(o.members), ..o };
    let item = match item {
        Item::Fixed(n, item) => Item::Fixed(n, boxed(item)),
        Item::Sequence(item) => Item::Sequence(boxed(item)),
        Item::Records(item) => Item::Records(boxed(item)),
        Item::Headed(item) => Item::Headed(boxed(item)),
        Item::Named(item) => Item::Named(boxed(item)),
        Item::Flagged(item) => Item::Flagged(boxed(item)),
        Item::Counted(by, item) => Item::Counted(by, boxed(item)),
        Item::Times(by, item) => Item::Times(by, boxed(item)),
        Item::Triangle(by, item) => Item::Triangle(by, boxed(item)),
        Item::Object(o) => Item::Object(object(o)),
        Item::Base(o) => Item::Base(object(o)),
        Item::Members(m) => Item::Members(all(m)),
        Item::Pair(pair) => Item::Pair(Box::new((fuse(pair.0), fuse(pair.1)))),
        Item::Pointer(classes) => Item::Pointer(all(classes)),
        Item::Clones(classes) => Item::Clones(all(classes)),
        Item::Listed { kind, item } => Item::Listed { kind, item: boxed(item) },
        Item::Graph { root, tables } => {
            let tables = tables.into_iter().map(|(name, item)| (name, item.map(fuse))).collect();
            Item::Graph { root: boxed(root), tables }
        }
        item => item,
    };
    if !matches!(item, Item::Object(_) | Item::Members(_) | Item::Pair(_)) {
        return item;
    }
    let mut shapes: Vec<Shape> = Vec::new();
    for by_checksum in [false, true] {
        shapes.extend(Shape::of(&item, by_checksum).filter(|s| !shapes.contains(s)));
    }
    if shapes.is_empty() { item } else { Item::Fused(Box::new(Fused { item, shapes })) }
}

impl Fused {
    /// The shape of the records, if all records in these bytes are regular; they are then read by [`Fused::read`].
    pub(crate) fn fits(&self, data: &[u8]) -> Option<&Shape> {
        self.shapes.iter().find(|s| data.len().is_multiple_of(s.size) && s.fitting(data) == data.len() / s.size)
    }
}

impl Shape {
    fn of(item: &Item, by_checksum: bool) -> Option<Self> {
        Self::of_part(item, by_checksum).filter(|shape| !shape.number_members.is_empty())
    }

    /// The same for a member, which may consist only of bytes to check.
    pub(crate) fn of_part(item: &Item, by_checksum: bool) -> Option<Self> {
        let mut shape = Shape { size: 0, checks: Vec::new(), number_members: Vec::new() };
        shape.add(item, by_checksum)?;
        (shape.size > 0).then_some(shape)
    }

    /// Its members.
    pub(crate) fn number_members(&self) -> &[NumberMember] {
        &self.number_members
    }

    /// Whether there are bytes to check.
    pub(crate) fn has_checks(&self) -> bool {
        !self.checks.is_empty()
    }

    /// Appends an item; none when its size or its bytes vary.
    fn add(&mut self, item: &Item, by_checksum: bool) -> Option<()> {
        match item {
            Item::Number(d) => self.number_member(Number::Plain(*d), 1, d.size()),
            Item::Packed(p, _) => self.number_member(Number::Packed(*p), 1, p.size()),
            Item::Bits => {
                self.check(self.size, true, IS_REFERENCED, 0);
                self.number_member(Number::Plain(DType::U32), 1, 4)
            }
            Item::Fixed(..) => {
                let (number, count, size) = fixed(item)?;
                self.number_member(number, count, size.checked_mul(count)?)
            }
            Item::Skip(Skip::Bytes(n)) => self.grow(*n),
            Item::Skip(Skip::Bits) => {
                self.check(self.size, true, IS_REFERENCED, 0);
                self.grow(4)
            }
            Item::Skip(Skip::TObject) => {
                self.check(self.size, false, BYTE_COUNT >> 16, 0);
                self.check(self.size + 6, true, IS_REFERENCED, 0);
                self.grow(10)
            }
            Item::Members(m) => m.iter().try_for_each(|(_, i)| self.add(i, by_checksum)),
            Item::Pair(pair) => {
                self.add(bare(&pair.0), by_checksum)?;
                self.add(bare(&pair.1), by_checksum)
            }
            Item::Object(o) | Item::Base(o) => self.object(o, by_checksum),
            Item::Fused(f) => self.add(&f.item, by_checksum),
            _ => None,
        }
    }

    fn object(&mut self, o: &Object, by_checksum: bool) -> Option<()> {
        let start = self.size;
        self.grow(6)?;
        if by_checksum {
            self.check(start + 4, false, 0xffff, 0);
            self.check(start + 6, true, u32::MAX, o.checksum);
            self.grow(4)?;
        } else {
            let version = u16::try_from(o.version).ok().filter(|v| (1..0x4000).contains(v))?;
            self.check(start + 4, false, 0xffff, u32::from(version));
        }
        o.members.iter().try_for_each(|(_, i)| self.add(i, by_checksum))?;
        let count = u32::try_from(self.size - start - 4).ok()?;
        self.check(start, true, u32::MAX, BYTE_COUNT | count);
        Some(())
    }

    fn number_member(&mut self, number: Number, count: usize, bytes: usize) -> Option<()> {
        self.number_members.push(NumberMember { at: self.size, number, count });
        self.grow(bytes)
    }

    fn check(&mut self, at: usize, wide: bool, mask: u32, want: u32) {
        self.checks.push(Check { at, wide, mask, want });
    }

    fn grow(&mut self, bytes: usize) -> Option<()> {
        self.size = self.size.checked_add(bytes).filter(|&s| s <= MOST_BYTES)?;
        Some(())
    }

    /// Bytes of a record.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// How many records at the beginning of the bytes are regular.
    pub(crate) fn fitting(&self, data: &[u8]) -> usize {
        let mut fit = data.len() / self.size;
        for check in &self.checks {
            let end = fit * self.size;
            let records = data.get(..end).unwrap_or_default().chunks_exact(self.size);
            fit = records.take_while(|r| check.holds(r)).count();
        }
        fit
    }

    /// Appends the records in these bytes, all of which are regular.
    pub(crate) fn read(&self, data: &[u8], out: &mut Array) -> Result<()> {
        let mut number_members = self.number_members.iter();
        self.fill(data, data.len() / self.size, &mut number_members, out)
    }

    fn fill(
        &self,
        data: &[u8],
        n: usize,
        number_members: &mut std::slice::Iter<NumberMember>,
        out: &mut Array,
    ) -> Result<()> {
        match out {
            Array::Record { len, fields } => {
                *len += n;
                fields.iter_mut().try_for_each(|(_, field)| self.fill(data, n, number_members, field))
            }
            out => {
                let number_member = number_members.next().ok_or_else(misfit)?;
                number_member.fill(|| std::iter::once(data), self.size, n, 1, out)
            }
        }
    }
}

impl Check {
    #[inline]
    fn holds(&self, record: &[u8]) -> bool {
        let found = if self.wide {
            record.get(self.at..self.at + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
        } else {
            record.get(self.at..self.at + 2).map(|b| u32::from(u16::from_be_bytes([b[0], b[1]])))
        };
        found.is_some_and(|x| x & self.mask == self.want)
    }
}

impl NumberMember {
    /// Appends the member of all records: `n` of them, `stride` bytes each, in the slices that `rows` returns.
    pub(crate) fn fill<'a, I: Iterator<Item = &'a [u8]>>(
        &self,
        rows: impl Fn() -> I,
        stride: usize,
        n: usize,
        inner: usize,
        out: &mut Array,
    ) -> Result<()> {
        match out {
            Array::Regular { size, len, content } => {
                *len += n.saturating_mul(inner);
                let inner = inner.saturating_mul(*size);
                self.fill(rows, stride, n, inner, content)
            }
            Array::Flat(values) if inner == self.count => {
                values.reserve(n.saturating_mul(self.count));
                match self.number {
                    Number::Plain(d) if d == values.dtype() => {
                        kernel::gather(values, rows(), stride, self.at, self.count);
                        Ok(())
                    }
                    Number::Packed(p) => rows().try_for_each(|data| self.unpack(p, data, stride, values)),
                    Number::Plain(_) => Err(misfit()),
                }
            }
            _ => Err(misfit()),
        }
    }

    fn unpack(&self, packed: PackedFloat, data: &[u8], stride: usize, values: &mut Values) -> Result<()> {
        for record in data.chunks_exact(stride) {
            let mut c = Cursor::new(record.get(self.at..).unwrap_or_default(), 0);
            for _ in 0..self.count {
                kernel::push_real(values, packed.read(&mut c)?);
            }
        }
        Ok(())
    }
}

/// The innermost number of arrays of fixed extents, how many there are, and the bytes of one.
fn fixed(item: &Item) -> Option<(Number, usize, usize)> {
    match item {
        Item::Fixed(n, inner) => {
            let (number, count, size) = fixed(inner)?;
            Some((number, count.checked_mul(*n).filter(|&n| n > 0)?, size))
        }
        Item::Number(d) => Some((Number::Plain(*d), 1, d.size())),
        Item::Packed(p, _) => Some((Number::Packed(*p), 1, p.size())),
        _ => None,
    }
}

fn misfit() -> Error {
    Error::invalid("regular records do not go into this column")
}
