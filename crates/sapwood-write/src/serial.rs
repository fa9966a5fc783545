//! Objects as ROOT streams them: numbers big-endian, collections after a byte count and a version, classes after a byte
//! count and their version.

use crate::cpp::{Class, CppType};
use crate::layout::LONGEST_ENTRY;
use sapwood_column::{Array, Values};
use sapwood_span::{Error, Result};
use std::ops::Range;

/// The header before an object's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For a separate branch: no header for classes and strings.
    Whole,
    /// For a member of a class.
    Member,
    /// Several, within one entry of a split collection: one header for all.
    Items,
}

/// Marks a length as a byte count.
const BYTE_COUNT: u32 = 0x4000_0000;
/// The version of collections in ROOT 6.40.
const COLLECTION: u16 = 10;
/// Added to a collection's version where a collection of classes is written member by member.
const MEMBER_WISE: u16 = 0x4000;

/// The bytes of entries, and where each begins.
pub(crate) fn entries(
    ty: &CppType,
    array: &Array,
    range: Range<usize>,
    form: Form,
    member_wise: bool,
) -> Result<(Vec<u8>, Vec<i64>)> {
    let mut w = Writer { out: Vec::new(), member_wise };
    let mut offsets = Vec::with_capacity(range.len() + 1);
    offsets.push(0);
    for i in range {
        match (form, ty) {
            (Form::Whole, CppType::Text) => w.items(ty, array, i..i + 1),
            (Form::Whole, CppType::Class(class)) => w.members(class, array, i),
            _ => w.member(ty, array, i),
        }
        w.end_entry(&mut offsets)?;
    }
    Ok((w.out, offsets))
}

/// The bytes of the items of a split collection's entries, one header for each entry, even without items;
/// and where each entry begins.
pub(crate) fn item_entries(ty: &CppType, items: &Array, item_offsets: &[i64]) -> Result<(Vec<u8>, Vec<i64>)> {
    let mut w = Writer { out: Vec::new(), member_wise: false };
    let mut offsets = Vec::with_capacity(item_offsets.len());
    offsets.push(0);
    for (a, b) in item_offsets.iter().zip(item_offsets.get(1..).unwrap_or_default()) {
        let mark = w.begin();
        w.u16(COLLECTION);
        w.items(ty, items, *a as usize..*b as usize);
        w.end(mark);
        w.end_entry(&mut offsets)?;
    }
    Ok((w.out, offsets))
}

struct Writer {
    out: Vec<u8>,
    member_wise: bool,
}

impl Writer {
    fn u16(&mut self, n: u16) {
        self.out.extend_from_slice(&n.to_be_bytes());
    }

    fn u32(&mut self, n: u32) {
        self.out.extend_from_slice(&n.to_be_bytes());
    }

    fn begin(&mut self) -> usize {
        self.u32(0);
        self.out.len()
    }

    fn end(&mut self, mark: usize) {
        let count = (self.out.len() - mark) as u32 | BYTE_COUNT;
        if let Some(place) = self.out.get_mut(mark - 4..mark) {
            place.copy_from_slice(&count.to_be_bytes());
        }
    }

    fn end_entry(&self, offsets: &mut Vec<i64>) -> Result<()> {
        let (start, end) = (offsets.last().copied().unwrap_or(0), self.out.len() as i64);
        if (end - start) as u64 > LONGEST_ENTRY {
            return Err(Error::invalid(format!("an entry has {} bytes, more than 1 GiB", end - start)));
        }
        offsets.push(end);
        Ok(())
    }

    /// All members of a class, in sequence.
    fn members(&mut self, class: &Class, array: &Array, i: usize) {
        for (name, ty) in &class.members {
            if let Some(column) = field(array, name) {
                self.member(ty, column, i);
            }
        }
    }

    /// A value in the form of a class member.
    fn member(&mut self, ty: &CppType, array: &Array, i: usize) {
        match (ty, array) {
            (CppType::Text, _) => {
                let mark = self.begin();
                self.u16(COLLECTION);
                self.items(ty, array, i..i + 1);
                self.end(mark);
            }
            (CppType::Vector(item), Array::List { offsets, content }) => {
                let mark = self.begin();
                let range = span(offsets, i);
                match &**item {
                    CppType::Class(class) if self.member_wise => self.by_member(class, content, range),
                    _ => {
                        self.u16(COLLECTION);
                        self.u32(range.len() as u32);
                        self.items(item, content, range);
                    }
                }
                self.end(mark);
            }
            (CppType::Map(key, value), Array::List { offsets, content }) => {
                self.map(key, value, content, span(offsets, i));
            }
            _ => self.items(ty, array, i..i + 1),
        }
    }

    /// A map in ROOT's form: all its keys, then all its values.
    fn map(&mut self, key: &CppType, value: &CppType, content: &Array, pairs: Range<usize>) {
        let (Some(keys), Some(values)) = (nth_field(content, 0), nth_field(content, 1)) else { return };
        let mark = self.begin();
        self.u16(COLLECTION | MEMBER_WISE);
        // pairs have no version but a checksum: uproot, too, reads only this form
        self.u16(0);
        self.u32(CppType::pair(key, value).checksum());
        self.u32(pairs.len() as u32);
        self.same_member(key, keys, pairs.clone());
        self.same_member(value, values, pairs);
        self.end(mark);
    }

    /// A member of all items of a collection that is written member by member.
    fn same_member(&mut self, ty: &CppType, column: &Array, range: Range<usize>) {
        match ty {
            _ if range.is_empty() => {}
            // maps in maps pair by pair, the only form that uproot reads there
            CppType::Text | CppType::Vector(_) | CppType::Map(..) => {
                let mark = self.begin();
                self.u16(COLLECTION);
                self.items(ty, column, range);
                self.end(mark);
            }
            _ => self.items(ty, column, range),
        }
    }

    /// A collection of classes member by member: the class's version, then each member of all items.
    fn by_member(&mut self, class: &Class, content: &Array, range: Range<usize>) {
        self.u16(COLLECTION | MEMBER_WISE);
        self.u16(class.version);
        self.u32(range.len() as u32);
        for (name, ty) in &class.members {
            let Some(column) = field(content, name) else { continue };
            self.same_member(ty, column, range.clone());
        }
    }

    /// Values in the form of a collection's items.
    fn items(&mut self, ty: &CppType, array: &Array, range: Range<usize>) {
        match (ty, array) {
            (_, Array::Flat(values)) => big_endian(values, range, &mut self.out),
            (_, Array::Regular { size, content, .. }) => {
                if let Array::Flat(values) = &**content {
                    big_endian(values, range.start * size..range.end * size, &mut self.out);
                }
            }
            (_, Array::Text { offsets, bytes }) => {
                for i in range {
                    let text = bytes.get(span(offsets, i)).unwrap_or_default();
                    match u8::try_from(text.len()) {
                        Ok(n) if n < 255 => self.out.push(n),
                        _ => {
                            self.out.push(255);
                            self.u32(text.len() as u32);
                        }
                    }
                    self.out.extend_from_slice(text);
                }
            }
            (CppType::Vector(item), Array::List { offsets, content }) => {
                for i in range {
                    let inner = span(offsets, i);
                    self.u32(inner.len() as u32);
                    self.items(item, content, inner);
                }
            }
            (CppType::Map(key, value), Array::List { offsets, content }) => {
                let (Some(keys), Some(values)) = (nth_field(content, 0), nth_field(content, 1)) else { return };
                for i in range {
                    let inner = span(offsets, i);
                    self.u32(inner.len() as u32);
                    for j in inner {
                        self.items(key, keys, j..j + 1);
                        self.items(value, values, j..j + 1);
                    }
                }
            }
            (CppType::Class(class), _) => {
                for i in range {
                    let mark = self.begin();
                    self.u16(class.version);
                    self.members(class, array, i);
                    self.end(mark);
                }
            }
            _ => {}
        }
    }
}

/// The items of entry `i`.
fn span(offsets: &[i64], i: usize) -> Range<usize> {
    match (offsets.get(i), offsets.get(i + 1)) {
        (Some(&a), Some(&b)) => a as usize..b as usize,
        _ => 0..0,
    }
}

/// Appends numbers, big-endian; booleans as 0 or 1.
pub(crate) fn big_endian(values: &Values, range: Range<usize>, out: &mut Vec<u8>) {
    macro_rules! swap {
        ($v:expr) => {{
            let from = $v.get(range).unwrap_or_default();
            let old = out.len();
            out.resize(old + size_of_val(from), 0);
            let to = out.get_mut(old..).unwrap_or_default();
            for (place, x) in to.chunks_exact_mut(values.dtype().size()).zip(from) {
                place.copy_from_slice(&x.to_be_bytes());
            }
        }};
    }
    match values {
        Values::Bool(v) => out.extend(v.get(range).unwrap_or_default().iter().map(|&b| u8::from(b != 0))),
        Values::U8(v) => out.extend_from_slice(v.get(range).unwrap_or_default()),
        Values::I8(v) => swap!(v),
        Values::I16(v) => swap!(v),
        Values::U16(v) => swap!(v),
        Values::I32(v) => swap!(v),
        Values::U32(v) => swap!(v),
        Values::I64(v) => swap!(v),
        Values::U64(v) => swap!(v),
        Values::F32(v) => swap!(v),
        Values::F64(v) => swap!(v),
    }
}

/// A record's column by name.
pub(crate) fn field<'a>(array: &'a Array, name: &str) -> Option<&'a Array> {
    let Array::Record { fields, .. } = array else { return None };
    fields.iter().find(|(n, _)| n == name).map(|(_, a)| a)
}

/// A record's column by position.
pub(crate) fn nth_field(array: &Array, i: usize) -> Option<&Array> {
    let Array::Record { fields, .. } = array else { return None };
    fields.get(i).map(|(_, a)| a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_column::DType;

    #[test]
    fn numbers_are_big_endian() {
        let mut out = Vec::new();
        big_endian(&Values::I16(vec![9, 1, -2, 9]), 1..3, &mut out);
        big_endian(&Values::F32(vec![1.0]), 0..1, &mut out);
        big_endian(&Values::Bool(vec![0, 1, 7]), 0..3, &mut out);
        big_endian(&Values::I8(vec![-1]), 0..1, &mut out);
        assert_eq!(out, [0, 1, 0xff, 0xfe, 0x3f, 0x80, 0, 0, 0, 1, 1, 0xff]);
    }

    /// The bytes are those that ROOT 6.40 wrote for a `map<string,double>` of {a: 0, b: 1} and none.
    #[test]
    fn maps_as_root_has_them() {
        let keys = Array::Text { offsets: vec![0, 1, 2], bytes: b"ab".to_vec() };
        let values = Array::Flat(Values::F64(vec![0.0, 1.0]));
        let fields = vec![("first".to_owned(), keys), ("second".to_owned(), values)];
        let array = Array::List { offsets: vec![0, 2, 2], content: Box::new(Array::Record { fields, len: 2 }) };
        let ty = CppType::Map(Box::new(CppType::Text), Box::new(CppType::Number(DType::F64)));
        let (bytes, offsets) = entries(&ty, &array, 0..2, Form::Whole, false).unwrap();
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        let (header, keys) = ("40000026400a0000fa9428b200000002", "40000006000a01610162");
        let values = "00000000000000003ff0000000000000";
        assert_eq!(hex, format!("{header}{keys}{values}4000000c400a0000fa9428b200000000"));
        assert_eq!(offsets, [0, 42, 58]);
    }

    /// The bytes are those that ROOT 6.40 wrote for a `vector<vector<float>>` of {{1, 2}, {}} and {{7}}.
    #[test]
    fn nested_vectors_as_root_has_them() {
        let floats =
            Array::List { offsets: vec![0, 2, 2, 3], content: Box::new(Array::Flat(Values::F32(vec![1., 2., 7.]))) };
        let array = Array::List { offsets: vec![0, 2, 3], content: Box::new(floats) };
        let ty = CppType::vector(CppType::vector(CppType::Number(DType::F32)));
        let (bytes, offsets) = entries(&ty, &array, 0..2, Form::Whole, true).unwrap();
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, "40000016000a00000002000000023f80000040000000000000004000000e000a000000010000000140e00000");
        assert_eq!(offsets, [0, 26, 44]);
    }
}
