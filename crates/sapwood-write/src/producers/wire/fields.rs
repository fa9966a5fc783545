//! Fields and columns of an ntuple on the way between processes; see the module above.
//!
//! A column has the lengths of its lists and texts, 32 bits each, and its numbers; inner columns follow their outer one.

use super::{DEEPEST, get_bytes, get_dtype, get_text, get_u8, get_u32, put_dtype, put_text, put_u32, strange};
use crate::ntuple::{FieldSpec, FieldType, Precision};
use sapwood_column::{Array, Values, with_values};
use std::io::{self, Read, Write};

/// Sends columns.
pub(super) fn put_columns(to: &mut impl Write, columns: &[Array]) -> io::Result<()> {
    columns.iter().try_for_each(|column| put_column(to, column))
}

fn put_column(to: &mut impl Write, column: &Array) -> io::Result<()> {
    match column {
        Array::Flat(values) => with_values!(values, v => {
            v.iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))
        }),
        Array::Regular { content, .. } => put_column(to, content),
        Array::List { offsets, content } => {
            put_lengths(to, offsets)?;
            put_column(to, content)
        }
        Array::Text { offsets, bytes } => {
            put_lengths(to, offsets)?;
            to.write_all(bytes)
        }
        Array::Record { fields, .. } => fields.iter().try_for_each(|(_, column)| put_column(to, column)),
    }
}

fn put_lengths(to: &mut impl Write, offsets: &[i64]) -> io::Result<()> {
    offsets.windows(2).try_for_each(|pair| put_u32(to, usize::try_from(pair[1] - pair[0]).unwrap_or(usize::MAX)))
}

/// Reads this many entries into columns that are empty.
pub(super) fn get_columns(from: &mut impl Read, entries: usize, columns: &mut [Array]) -> io::Result<()> {
    columns.iter_mut().try_for_each(|column| get_column(from, entries, column))
}

fn get_column(from: &mut impl Read, n: usize, column: &mut Array) -> io::Result<()> {
    match column {
        Array::Flat(values) => get_values(from, n, values),
        Array::Regular { size, len, content } => {
            *len = n;
            get_column(from, n.checked_mul(*size).ok_or_else(strange)?, content)
        }
        Array::List { offsets, content } => {
            let items = get_lengths(from, n, offsets)?;
            get_column(from, items, content)
        }
        Array::Text { offsets, bytes } => {
            let len = get_lengths(from, n, offsets)?;
            get_bytes(from, len as u64, bytes)
        }
        Array::Record { len, fields } => {
            *len = n;
            fields.iter_mut().try_for_each(|(_, column)| get_column(from, n, column))
        }
    }
}

/// Reads lengths; returns their sum. Memory grows as they arrive.
fn get_lengths(from: &mut impl Read, n: usize, offsets: &mut Vec<i64>) -> io::Result<usize> {
    offsets.clear();
    offsets.push(0);
    // a sum of at most 2^32 numbers of 32 bits
    let mut end = 0_i64;
    for _ in 0..n {
        end = end.checked_add(get_u32(from)? as i64).ok_or_else(strange)?;
        offsets.push(end);
    }
    usize::try_from(end).map_err(|_| strange())
}

/// Numbers in their order of bytes on the way.
trait Little: Sized {
    const SIZE: usize = size_of::<Self>();
    fn of(bytes: &[u8]) -> Self;
}

macro_rules! little {
    ($($t:ty),*) => { $(impl Little for $t {
        fn of(bytes: &[u8]) -> Self {
            bytes.try_into().map(<$t>::from_le_bytes).unwrap_or_default()
        }
    })* };
}

little!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

fn extend<T: Little>(values: &mut Vec<T>, bytes: &[u8]) {
    values.extend(bytes.chunks_exact(T::SIZE).map(T::of));
}

fn get_values(from: &mut impl Read, n: usize, values: &mut Values) -> io::Result<()> {
    let len = (n as u64).checked_mul(values.dtype().size() as u64).ok_or_else(strange)?;
    let mut bytes = Vec::new();
    get_bytes(from, len, &mut bytes)?;
    values.clear();
    with_values!(values, v => extend(v, &bytes));
    Ok(())
}

/// Encodes fields.
pub(super) fn put_fields(out: &mut Vec<u8>, fields: &[FieldSpec]) -> io::Result<()> {
    put_u32(out, fields.len())?;
    fields.iter().try_for_each(|field| {
        put_text(out, &field.name)?;
        put_type(out, &field.ty)
    })
}

fn put_types(out: &mut Vec<u8>, types: &[FieldType]) -> io::Result<()> {
    put_u32(out, types.len())?;
    types.iter().try_for_each(|ty| put_type(out, ty))
}

fn put_type(out: &mut Vec<u8>, ty: &FieldType) -> io::Result<()> {
    match ty {
        FieldType::Number(dtype) => {
            out.push(0);
            put_dtype(out, *dtype);
            Ok(())
        }
        FieldType::Text => {
            out.push(1);
            Ok(())
        }
        FieldType::Array(item, n) => {
            out.push(2);
            put_u32(out, *n)?;
            put_type(out, item)
        }
        FieldType::Vector(item) => {
            out.push(3);
            put_type(out, item)
        }
        FieldType::Map(key, value) => {
            out.push(4);
            put_type(out, key)?;
            put_type(out, value)
        }
        FieldType::Record(members) => {
            out.push(5);
            put_u32(out, members.len())?;
            members.iter().try_for_each(|(name, ty)| {
                put_text(out, name)?;
                put_type(out, ty)
            })
        }
        FieldType::Optional(item) => {
            out.push(6);
            put_type(out, item)
        }
        FieldType::Tuple(items) => {
            out.push(7);
            put_types(out, items)
        }
        FieldType::Variant(items) => {
            out.push(8);
            put_types(out, items)
        }
        FieldType::Reduced(dtype, precision) => {
            out.push(9);
            put_dtype(out, *dtype);
            let (kind, bits, least, most) = match *precision {
                Precision::Half => (0, 0, 0.0, 0.0),
                Precision::Truncated(bits) => (1, bits, 0.0, 0.0),
                Precision::Quantized(bits, least, most) => (2, bits, least, most),
            };
            out.push(kind);
            out.extend_from_slice(&bits.to_le_bytes());
            out.extend([least, most].iter().flat_map(|x: &f64| x.to_le_bytes()));
            Ok(())
        }
    }
}

/// Decodes fields.
pub(super) fn get_fields(from: &mut &[u8]) -> io::Result<Vec<FieldSpec>> {
    let n = get_u32(from)?;
    (0..n).map(|_| Ok(FieldSpec::new(get_text(from)?, get_type(from, DEEPEST)?))).collect()
}

fn get_type(from: &mut &[u8], deep: usize) -> io::Result<FieldType> {
    let deep = deep.checked_sub(1).ok_or_else(strange)?;
    let inner = |from: &mut &[u8]| get_type(from, deep).map(Box::new);
    let types = |from: &mut &[u8]| {
        let n = get_u32(from)?;
        (0..n).map(|_| get_type(from, deep)).collect::<io::Result<Vec<_>>>()
    };
    Ok(match get_u8(from)? {
        0 => FieldType::Number(get_dtype(from)?),
        1 => FieldType::Text,
        2 => {
            let n = get_u32(from)?;
            FieldType::Array(inner(from)?, n)
        }
        3 => FieldType::Vector(inner(from)?),
        4 => FieldType::Map(inner(from)?, inner(from)?),
        5 => {
            let n = get_u32(from)?;
            let member = |_| Ok((get_text(from)?, get_type(from, deep)?));
            FieldType::Record((0..n).map(member).collect::<io::Result<_>>()?)
        }
        6 => FieldType::Optional(inner(from)?),
        7 => FieldType::Tuple(types(from)?),
        8 => FieldType::Variant(types(from)?),
        9 => {
            let (dtype, kind) = (get_dtype(from)?, get_u8(from)?);
            let (mut bits, mut least, mut most) = ([0; 2], [0; 8], [0; 8]);
            from.read_exact(&mut bits)?;
            from.read_exact(&mut least)?;
            from.read_exact(&mut most)?;
            let bits = u16::from_le_bytes(bits);
            FieldType::Reduced(
                dtype,
                match kind {
                    0 => Precision::Half,
                    1 => Precision::Truncated(bits),
                    2 => Precision::Quantized(bits, f64::from_le_bytes(least), f64::from_le_bytes(most)),
                    _ => return Err(strange()),
                },
            )
        }
        _ => return Err(strange()),
    })
}

#[cfg(test)]
mod tests {
    use super::super as wire;
    use crate::ntuple::gathered::Fields;
    use crate::ntuple::{FieldSpec, FieldType, Precision};
    use crate::producers::gathered::{Gathered, Schema};
    use sapwood_column::{Array, DType, Values};
    use std::sync::Arc;

    fn schema() -> Schema {
        let number = FieldType::Number;
        let record = FieldType::Record(vec![("x".into(), number(DType::I16)), ("s".into(), FieldType::Text)]);
        let fields = [
            ("flag", number(DType::Bool)),
            ("rows", record.vector()),
            ("three", number(DType::F64).array(3)),
            ("map", FieldType::Map(Box::new(FieldType::Text), Box::new(number(DType::U32)))),
            ("perhaps", FieldType::Optional(Box::new(number(DType::F32)))),
            ("pair", FieldType::Tuple(vec![number(DType::I8), FieldType::Text])),
            ("either", FieldType::Variant(vec![number(DType::I64), FieldType::Text])),
            ("half", FieldType::Reduced(DType::F32, Precision::Half)),
            ("few", FieldType::Reduced(DType::F64, Precision::Quantized(9, -1.0, 1.0))),
        ];
        Schema::Ntuple(Arc::new(Fields::of(fields.map(|(name, ty)| FieldSpec::new(name, ty)).to_vec())))
    }

    /// Two entries. Members of records are in another order than the field's.
    fn batch() -> Vec<(&'static str, Array)> {
        let flat = Array::Flat;
        let text = |t: &[&str]| Array::Text {
            offsets: std::iter::once(0)
                .chain(t.iter().scan(0, |n, s| {
                    *n += s.len() as i64;
                    Some(*n)
                }))
                .collect(),
            bytes: t.concat().into_bytes(),
        };
        let list = |offsets: &[i64], content| Array::List { offsets: offsets.to_vec(), content: Box::new(content) };
        let record = |len, fields: Vec<(&str, Array)>| Array::Record {
            len,
            fields: fields.into_iter().map(|(n, a)| (n.to_owned(), a)).collect(),
        };
        let rows = record(3, vec![("s", text(&["a", "", "ccc"])), ("x", flat(Values::I16(vec![1, -2, 3])))]);
        let pairs = record(1, vec![("_0", text(&["k"])), ("_1", flat(Values::U32(vec![7])))]);
        let either = [list(&[0, 1, 1], flat(Values::I64(vec![5]))), list(&[0, 0, 1], text(&["t"]))];
        vec![
            ("flag", flat(Values::Bool(vec![1, 0]))),
            ("rows", list(&[0, 1, 3], rows)),
            ("three", Array::Regular { size: 3, len: 2, content: Box::new(flat(Values::F64(vec![1.0; 6]))) }),
            ("map", list(&[0, 0, 1], pairs)),
            ("perhaps", list(&[0, 1, 1], flat(Values::F32(vec![2.5])))),
            ("pair", record(2, vec![("a", flat(Values::I8(vec![1, 2]))), ("b", text(&["p", "q"]))])),
            ("either", record(2, vec![("l", either[0].clone()), ("t", either[1].clone())])),
            ("half", flat(Values::F32(vec![0.5, 1.5]))),
            ("few", flat(Values::F64(vec![-1.0, 1.0]))),
        ]
    }

    #[test]
    fn fields_come_back_and_damaged_ones_are_refused() {
        let schema = schema();
        let bytes = wire::of_schema(&schema).unwrap();
        assert_eq!(format!("{:?}", wire::schema(&bytes).unwrap()), format!("{schema:?}"));
        for cut in 0..bytes.len() {
            assert!(wire::schema(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x55;
            let _ = wire::schema(&wrong);
        }
    }

    #[test]
    fn a_piece_comes_back_and_a_damaged_one_is_refused() {
        let (schema, columns) = (schema(), batch());
        let given: Vec<(&str, &Array)> = columns.iter().map(|(n, a)| (*n, a)).collect();
        let batch = schema.check(&given).unwrap();
        let mut gathered = Gathered::new(&schema);
        for range in [1..2, 0..1, 0..2] {
            gathered.append(&schema, &batch, range).unwrap();
        }
        assert_eq!(gathered.entries(), 4);
        let mut bytes = Vec::new();
        wire::put_piece(&mut bytes, &gathered).unwrap();
        let mut back = Gathered::new(&schema);
        wire::get_piece(&mut &bytes[1..], &mut back).unwrap();
        assert_eq!(format!("{back:?}"), format!("{gathered:?}"));
        for cut in 1..bytes.len() {
            assert!(wire::get_piece(&mut &bytes[1..cut], &mut back).is_err(), "cut at {cut}");
        }
        for at in 1..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0xff;
            // refused, or other numbers
            let _ = wire::get_piece(&mut &wrong[1..], &mut back);
            back.clear(1 << 20);
        }
        gathered.clear(1);
        assert_eq!((gathered.entries(), gathered.bytes() < 100), (0, true));
    }
}
