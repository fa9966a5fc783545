//! The protocol between a producer's process and the merger's, over a local socket; numbers are little-endian.
//!
//! - The producer greets: [`MAGIC`], [`VERSION`], its process ID.
//! - The merger answers with the schema of its tree or ntuple: its length, its bytes; and with the bytes that the producer may hold.
//! - The producer sends [`PIECE`]s, each answered by [`GOOD`] and the bytes it may hold from now on, or by [`BAD`] and
//!   the reason, and finally [`END`], answered likewise. It sends no other piece while one is unanswered.
//!
//! A piece is a number of entries; then, for each branch with data, the content of an [`EncodedBranch`]: the largest count of a
//! branch that counts, the size of each entry of one whose entries differ, and the entries' bytes. Of an ntuple it has the
//! columns of its fields (`fields`).

mod fields;

use super::encoded_entries::{EncodedBranch, EncodedEntries, EntryLayout};
use super::gathered::{Gathered, Schema};
use crate::column::{Data, Input};
use crate::column_source::ColumnSource;
use crate::cpp::{Class, CppType};
use crate::ntuple::gathered::Fields;
use crate::serial::Form;
use sapwood_column::DType;
use sapwood_span::{Error, ErrorKind, Result};
use std::io::{self, Read, Write};
use std::sync::Arc;

pub(super) const MAGIC: [u8; 4] = *b"SapM";
pub(super) const VERSION: u32 = 2;
pub(super) const PIECE: u8 = 1;
pub(super) const END: u8 = 2;
pub(super) const GOOD: u8 = 3;
pub(super) const BAD: u8 = 4;
/// Maximum nesting of types.
pub(super) const DEEPEST: usize = 64;
/// Bytes of a message's text.
const LONGEST_TEXT: usize = 1 << 20;

pub(super) fn put_u32(to: &mut impl Write, n: usize) -> io::Result<()> {
    let n = u32::try_from(n).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    to.write_all(&n.to_le_bytes())
}

pub(super) fn put_u64(to: &mut impl Write, n: u64) -> io::Result<()> {
    to.write_all(&n.to_le_bytes())
}

pub(super) fn put_text(to: &mut impl Write, text: &str) -> io::Result<()> {
    put_u32(to, text.len())?;
    to.write_all(text.as_bytes())
}

/// Whether the other end is gone.
pub(super) fn is_gone(e: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(e.kind(), UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe)
}

pub(super) fn get_u8(from: &mut impl Read) -> io::Result<u8> {
    let mut bytes = [0];
    from.read_exact(&mut bytes)?;
    Ok(bytes[0])
}

pub(super) fn get_u32(from: &mut impl Read) -> io::Result<usize> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes) as usize)
}

pub(super) fn get_u64(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Reads this many bytes; memory grows as they arrive.
pub(super) fn get_bytes(from: &mut impl Read, len: u64, into: &mut Vec<u8>) -> io::Result<()> {
    into.clear();
    if from.by_ref().take(len).read_to_end(into)? as u64 == len {
        Ok(())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

pub(super) fn get_text(from: &mut impl Read) -> io::Result<String> {
    let len = get_u32(from)?;
    if len > LONGEST_TEXT {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    get_bytes(from, len as u64, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Sends a piece.
pub(super) fn put_piece(to: &mut impl Write, gathered: &Gathered) -> io::Result<()> {
    to.write_all(&[PIECE])?;
    put_u32(to, gathered.entries())?;
    match gathered {
        Gathered::Tree(entries) => put_strands(to, entries)?,
        Gathered::Ntuple(entries) => fields::put_columns(to, &entries.columns)?,
    }
    to.flush()
}

fn put_strands(to: &mut impl Write, gathered: &EncodedEntries) -> io::Result<()> {
    for strand in &gathered.strands {
        if strand.layout.counts {
            put_u64(to, strand.largest as u64)?;
        }
        for pair in strand.offsets.windows(2) {
            put_u32(to, usize::try_from(pair[1] - pair[0]).unwrap_or(usize::MAX))?;
        }
        to.write_all(strand.bytes())?;
    }
    Ok(())
}

/// Reads a piece, after its kind was read, and checks it.
pub(super) fn get_piece(from: &mut impl Read, into: &mut Gathered) -> Result<()> {
    let read = |e: io::Error| match e.kind() {
        _ if is_gone(&e) => {
            Error::new(ErrorKind::Io, "its process ended or closed the connection while it sent entries")
        }
        // from the socket's own timeout
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            Error::new(ErrorKind::Timeout, "it stopped in the middle of sending entries")
        }
        _ => Error::io("its entries arrived incomplete", e),
    };
    let entries = get_u32(from).map_err(read)?;
    match into {
        Gathered::Tree(into) => {
            into.entries = entries;
            for strand in &mut into.strands {
                get_strand(from, entries, strand).map_err(read)?;
            }
            into.check()
        }
        Gathered::Ntuple(into) => {
            into.entries = entries;
            fields::get_columns(from, entries, &mut into.columns).map_err(read)?;
            into.check()
        }
    }
}

fn get_strand(from: &mut impl Read, entries: usize, strand: &mut EncodedBranch) -> io::Result<()> {
    if strand.layout.counts {
        strand.largest = get_u64(from)? as i64;
    }
    let len = match strand.layout.data {
        Data::None => 0,
        Data::Fixed(size) => entries as u64 * u64::from(size),
        Data::Offsets => {
            strand.offsets.truncate(1);
            let mut end = 0_i64;
            for _ in 0..entries {
                end += get_u32(from)? as i64;
                strand.offsets.push(end);
            }
            end as u64
        }
    };
    strand.with_bytes(|bytes| get_bytes(from, len, bytes))
}

/// Encodes a schema.
pub(super) fn of_schema(schema: &Schema) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let (inputs, layouts) = match schema {
        Schema::Tree { inputs, layouts } => (inputs, layouts),
        Schema::Ntuple(fields) => {
            out.push(1);
            fields::put_fields(&mut out, &fields.specs)?;
            return Ok(out);
        }
    };
    out.push(0);
    put_u32(&mut out, layouts.len())?;
    for layout in layouts.iter() {
        let (kind, size) = match layout.data {
            Data::None => (0, 0),
            Data::Fixed(size) => (1, size),
            Data::Offsets => (2, 0),
        };
        out.extend_from_slice(&[kind, u8::from(layout.counts)]);
        put_u32(&mut out, size as usize)?;
    }
    put_u32(&mut out, inputs.len())?;
    for input in inputs.iter() {
        out.push(u8::from(input.automatic));
        put_feed(&mut out, &input.name, &input.feed)?;
    }
    Ok(out)
}

pub(super) fn put_dtype(out: &mut Vec<u8>, dtype: DType) {
    out.push(crate::schema::code(dtype) as u8);
}

fn put_feed(out: &mut Vec<u8>, name: &str, feed: &ColumnSource) -> io::Result<()> {
    put_text(out, name)?;
    let members = |out: &mut Vec<u8>, members: &[(String, ColumnSource)]| {
        put_u32(out, members.len())?;
        members.iter().try_for_each(|(name, feed)| put_feed(out, name, feed))
    };
    let kind = match feed {
        ColumnSource::Numbers { .. } => 0,
        ColumnSource::Jagged { .. } => 1,
        ColumnSource::Object { .. } => 2,
        ColumnSource::Class { .. } => 3,
        ColumnSource::Collection { .. } => 4,
    };
    out.push(kind);
    put_u32(out, feed.column())?;
    match feed {
        ColumnSource::Numbers { dtype, n, regular, .. } => {
            put_dtype(out, *dtype);
            out.push(u8::from(*regular));
            put_u32(out, *n)
        }
        ColumnSource::Jagged { dtype, counter, .. } => {
            put_dtype(out, *dtype);
            put_u32(out, *counter)
        }
        ColumnSource::Object { ty, form, member_wise, .. } => {
            out.extend_from_slice(&[*form as u8, u8::from(*member_wise)]);
            put_type(out, ty)
        }
        ColumnSource::Class { members: m, .. } => members(out, m),
        ColumnSource::Collection { members: m, map, .. } => {
            out.push(u8::from(*map));
            members(out, m)
        }
    }
}

fn put_type(out: &mut Vec<u8>, ty: &CppType) -> io::Result<()> {
    match ty {
        CppType::Number(d) => {
            out.push(0);
            put_dtype(out, *d);
            Ok(())
        }
        CppType::Array(d, n) => {
            out.push(1);
            put_dtype(out, *d);
            put_u32(out, *n)
        }
        CppType::Text => {
            out.push(2);
            Ok(())
        }
        CppType::Vector(item) => {
            out.push(3);
            put_type(out, item)
        }
        CppType::Map(key, value) => {
            out.push(4);
            put_type(out, key)?;
            put_type(out, value)
        }
        CppType::Class(class) => {
            out.push(5);
            put_text(out, &class.name)?;
            put_u32(out, usize::from(class.version))?;
            put_u32(out, class.members.len())?;
            class.members.iter().try_for_each(|(name, ty)| {
                put_text(out, name)?;
                put_type(out, ty)
            })
        }
    }
}

/// Decodes a schema.
pub(super) fn schema(bytes: &[u8]) -> io::Result<Schema> {
    let from = &mut &*bytes;
    match get_u8(from)? {
        0 => {}
        1 => return Ok(Schema::Ntuple(Arc::new(Fields::of(fields::get_fields(from)?)))),
        _ => return Err(strange()),
    }
    let layout = |from: &mut &[u8]| {
        let (kind, counts) = (get_u8(from)?, get_u8(from)? != 0);
        let size = get_u32(from)? as u32;
        let data = match kind {
            0 => Data::None,
            1 => Data::Fixed(size),
            2 => Data::Offsets,
            _ => return Err(strange()),
        };
        Ok(EntryLayout { data, counts })
    };
    let n = get_u32(from)?;
    let layouts = Arc::new((0..n).map(|_| layout(from)).collect::<io::Result<_>>()?);
    let n = get_u32(from)?;
    let input = |from: &mut &[u8]| {
        let automatic = get_u8(from)? != 0;
        let (name, feed) = get_feed(from, DEEPEST)?;
        Ok(Input { name, feed, automatic })
    };
    let inputs = Arc::new((0..n).map(|_| input(from)).collect::<io::Result<_>>()?);
    Ok(Schema::Tree { inputs, layouts })
}

pub(super) fn strange() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

pub(super) fn get_dtype(from: &mut &[u8]) -> io::Result<DType> {
    use DType::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let code = char::from(get_u8(from)?);
    let all = [Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64];
    all.into_iter().find(|&d| crate::schema::code(d) == code).ok_or_else(strange)
}

fn get_feed(from: &mut &[u8], deep: usize) -> io::Result<(String, ColumnSource)> {
    let deep = deep.checked_sub(1).ok_or_else(strange)?;
    let (name, kind, column) = (get_text(from)?, get_u8(from)?, get_u32(from)?);
    let members = |from: &mut &[u8]| {
        let n = get_u32(from)?;
        (0..n).map(|_| get_feed(from, deep)).collect::<io::Result<_>>()
    };
    let feed = match kind {
        0 => {
            let (dtype, regular) = (get_dtype(from)?, get_u8(from)? != 0);
            ColumnSource::Numbers { column, dtype, n: get_u32(from)?, regular }
        }
        1 => ColumnSource::Jagged { column, dtype: get_dtype(from)?, counter: get_u32(from)? },
        2 => {
            let form = match get_u8(from)? {
                0 => Form::Whole,
                1 => Form::Member,
                2 => Form::Items,
                _ => return Err(strange()),
            };
            let member_wise = get_u8(from)? != 0;
            ColumnSource::Object { column, ty: get_type(from, DEEPEST)?, form, member_wise }
        }
        3 => ColumnSource::Class { column, members: members(from)? },
        4 => {
            let map = get_u8(from)? != 0;
            ColumnSource::Collection { column, members: members(from)?, map }
        }
        _ => return Err(strange()),
    };
    Ok((name, feed))
}

fn get_type(from: &mut &[u8], deep: usize) -> io::Result<CppType> {
    let deep = deep.checked_sub(1).ok_or_else(strange)?;
    Ok(match get_u8(from)? {
        0 => CppType::Number(get_dtype(from)?),
        1 => CppType::Array(get_dtype(from)?, get_u32(from)?),
        2 => CppType::Text,
        3 => CppType::vector(get_type(from, deep)?),
        4 => CppType::Map(Box::new(get_type(from, deep)?), Box::new(get_type(from, deep)?)),
        5 => {
            let name = get_text(from)?;
            let version = u16::try_from(get_u32(from)?).map_err(|_| strange())?;
            let n = get_u32(from)?;
            let members = (0..n).map(|_| Ok((get_text(from)?, get_type(from, deep)?))).collect::<io::Result<_>>()?;
            CppType::Class(Arc::new(Class { name, version, members }))
        }
        _ => return Err(strange()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::BranchSpec;
    use crate::split_branches::resolve;
    use sapwood_column::{Array, Values};

    fn example() -> Schema {
        let number = |d| CppType::Number(d);
        let map = CppType::Map(Box::new(CppType::Text), Box::new(CppType::vector(number(DType::I16))));
        let hit =
            CppType::class("Hit", vec![("x".into(), number(DType::F64)), ("a".into(), CppType::Array(DType::U8, 3))]);
        let event = CppType::class("Event", vec![("hits".into(), CppType::vector(hit.clone())), ("one".into(), hit)]);
        let (columns, inputs) = resolve(&[
            BranchSpec::fixed("w", DType::U16, 4),
            BranchSpec::jagged_by("x", DType::F32, "n"),
            BranchSpec::jagged_by("y", DType::Bool, "n"),
            BranchSpec::object("map", map.clone()),
            BranchSpec::object("kept", map).unsplit(),
            BranchSpec::object("event", event.clone()),
            BranchSpec::object("whole", event).member_wise(),
        ])
        .unwrap();
        Schema::Tree { inputs: Arc::new(inputs), layouts: Arc::new(columns.iter().map(EntryLayout::of).collect()) }
    }

    #[test]
    fn a_schema_comes_back_and_a_damaged_one_is_refused() {
        let schema = example();
        let bytes = of_schema(&schema).unwrap();
        let back = super::schema(&bytes).unwrap();
        assert_eq!(format!("{back:?}"), format!("{schema:?}"));
        for cut in 0..bytes.len() {
            assert!(super::schema(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x55;
            let _ = super::schema(&wrong);
        }
    }

    #[test]
    fn a_piece_comes_back_and_a_damaged_one_is_refused() {
        let (columns, inputs) =
            resolve(&[BranchSpec::jagged("x", DType::F32), BranchSpec::scalar("i", DType::I16)]).unwrap();
        let layouts: Vec<EntryLayout> = columns.iter().map(EntryLayout::of).collect();
        let x = Array::List {
            offsets: vec![1, 3, 3, 4],
            content: Box::new(Array::Flat(Values::F32(vec![9., 1., 2., 3.]))),
        };
        let i = Array::Flat(Values::I16(vec![7, 8, 9]));
        let batch = crate::batch::check_batch(&inputs, &[("x", &x), ("i", &i)]).unwrap();
        let mut pieces = vec![None, None, None];
        let mut gathered = EncodedEntries::new(&layouts);
        for range in [0..1, 1..3] {
            let n = range.len();
            batch.distribute(&inputs, range, &mut pieces).unwrap();
            gathered.append(&pieces, n).unwrap();
        }
        assert_eq!(gathered.strands[1].offsets, [0, 8, 8, 12]);
        assert_eq!((gathered.strands[0].largest, gathered.bytes()), (2, 12 + 12 + 3 * 8 + 6));
        let mut bytes = Vec::new();
        let gathered = Gathered::Tree(gathered);
        put_piece(&mut bytes, &gathered).unwrap();
        let mut back = Gathered::Tree(EncodedEntries::new(&layouts));
        get_piece(&mut &bytes[1..], &mut back).unwrap();
        assert_eq!(format!("{back:?}"), format!("{gathered:?}"));
        for cut in 1..bytes.len() {
            assert!(get_piece(&mut &bytes[1..cut], &mut back).is_err(), "cut at {cut}");
        }
        // an entry of more than 1 GiB, and one of 4 GiB that is not present
        for size in [0x4000_0001_u32, u32::MAX] {
            let at = 1 + 4 + 12 + 8;
            bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
            assert!(get_piece(&mut &bytes[1..], &mut back).is_err());
        }
    }
}
