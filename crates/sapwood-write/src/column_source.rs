//! Turns given columns into the bytes of branches: checked once, then passed on piece by piece.

use crate::cpp::CppType;
use crate::layout::{LONGEST_ENTRY, Sizes};
use crate::serial::{self, Form, field, nth_field};
use sapwood_column::{Array, DType, Values};
use sapwood_span::{Error, Result};
use std::borrow::Cow;
use std::ops::Range;

/// The branches that a given column fills.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ColumnSource {
    /// `n` numbers per entry, given as one array or, if `regular`, as an array of arrays.
    Numbers { column: usize, dtype: DType, n: usize, regular: bool },
    /// A list of numbers per entry, counted by an input.
    Jagged { column: usize, dtype: DType, counter: usize },
    /// An object per entry.
    Object { column: usize, ty: CppType, form: Form, member_wise: bool },
    /// A class, member by member.
    Class { column: usize, members: Vec<(String, ColumnSource)> },
    /// A list of classes (or pairs of key and value), member by member.
    Collection { column: usize, members: Vec<(String, ColumnSource)>, map: bool },
}

/// The entries given for one branch.
#[derive(Debug)]
pub(crate) struct EntryValues<'a> {
    pub(crate) values: Cow<'a, Values>,
    shape: Shape<'a>,
}

#[derive(Debug)]
enum Shape<'a> {
    /// `n` items per entry, from the first on.
    Regular { first: usize, n: usize },
    /// Where each entry's items begin, times `scale`.
    Jagged { offsets: Cow<'a, [i64]>, scale: usize },
}

impl<'a> EntryValues<'a> {
    /// One number per entry.
    pub(crate) fn counts(values: Vec<i32>) -> EntryValues<'a> {
        EntryValues { values: Cow::Owned(Values::I32(values)), shape: Shape::Regular { first: 0, n: 1 } }
    }

    /// Entries whose bytes exist already: of `size` bytes each, or delimited by offsets if there are any.
    pub(crate) fn bytes(values: &'a Values, size: u32, offsets: &'a [i64]) -> EntryValues<'a> {
        let shape = if offsets.is_empty() {
            Shape::Regular { first: 0, n: size as usize }
        } else {
            Shape::Jagged { offsets: Cow::Borrowed(offsets), scale: 1 }
        };
        EntryValues { values: Cow::Borrowed(values), shape }
    }

    /// The largest of counts, at least 0.
    pub(crate) fn largest(&self) -> i64 {
        fn most<T: Copy + Ord + Into<i64>>(values: &[T]) -> i64 {
            values.iter().copied().max().map_or(0, Into::into)
        }
        match &*self.values {
            Values::I32(v) => most(v).max(0),
            Values::U32(v) => most(v),
            Values::I8(v) => most(v).max(0),
            Values::U8(v) => most(v),
            Values::I16(v) => most(v).max(0),
            Values::U16(v) => most(v),
            Values::I64(v) => most(v).max(0),
            _ => 0,
        }
    }

    /// Bytes of the longest entry.
    pub(crate) fn longest(&self) -> i64 {
        match self.sizes() {
            Sizes::Fixed(size) => i64::try_from(size).unwrap_or(i64::MAX),
            Sizes::Jagged(offsets, item) => {
                let most = offsets.windows(2).map(|w| w.last().unwrap_or(&0) - w.first().unwrap_or(&0)).max();
                most.unwrap_or(0).saturating_mul(item as i64)
            }
        }
    }

    /// How many bytes the entries take.
    pub(crate) fn sizes(&self) -> Sizes<'_> {
        let item = self.values.dtype().size() as u64;
        match &self.shape {
            Shape::Regular { n, .. } => Sizes::Fixed(item * *n as u64),
            Shape::Jagged { offsets, scale } => Sizes::Jagged(offsets, item * *scale as u64),
        }
    }

    /// The items of entries `from` to `to`, as a range of all items.
    pub(crate) fn items(&self, from: usize, to: usize) -> Range<usize> {
        match &self.shape {
            Shape::Regular { first, n } => first + from * n..first + to * n,
            Shape::Jagged { offsets, scale } => {
                let at = |i: usize| offsets.get(i).and_then(|&o| usize::try_from(o).ok()).unwrap_or(0) * scale;
                at(from)..at(to)
            }
        }
    }
}

impl ColumnSource {
    /// The branch to which it belongs.
    pub(crate) fn column(&self) -> usize {
        match self {
            ColumnSource::Numbers { column, .. }
            | ColumnSource::Jagged { column, .. }
            | ColumnSource::Object { column, .. }
            | ColumnSource::Class { column, .. }
            | ColumnSource::Collection { column, .. } => *column,
        }
    }

    /// The expected type, for messages.
    pub(crate) fn type_name(&self) -> String {
        let record = |members: &[(String, ColumnSource)]| {
            let fields: Vec<String> = members.iter().map(|(n, m)| format!("{n}: {}", m.type_name())).collect();
            format!("{{{}}}", fields.join(", "))
        };
        match self {
            ColumnSource::Numbers { dtype, regular: false, .. } => dtype.name().to_owned(),
            ColumnSource::Numbers { dtype, n, .. } => format!("{n} * {}", dtype.name()),
            ColumnSource::Jagged { dtype, .. } => format!("var * {}", dtype.name()),
            ColumnSource::Object { ty, .. } => ty.spelled(),
            ColumnSource::Class { members, .. } => record(members),
            ColumnSource::Collection { members, .. } => format!("var * {}", record(members)),
        }
    }

    /// Whether the bytes are created here, so that large columns are better processed in steps.
    pub(crate) fn makes_bytes(&self) -> bool {
        match self {
            ColumnSource::Numbers { .. } | ColumnSource::Jagged { .. } => false,
            ColumnSource::Object { .. } => true,
            ColumnSource::Class { members, .. } | ColumnSource::Collection { members, .. } => {
                members.iter().any(|(_, m)| m.makes_bytes())
            }
        }
    }

    /// Checks a whole column: types, lengths, offsets. Returns its entries.
    pub(crate) fn check(&self, array: &Array) -> Result<usize> {
        match (self, array) {
            (ColumnSource::Numbers { dtype, regular: false, .. }, Array::Flat(v)) => {
                check_dtype(*dtype, v).map(|()| v.len())
            }
            (ColumnSource::Numbers { dtype, n, regular: true, .. }, array) => check_regular(*dtype, *n, array),
            (ColumnSource::Numbers { dtype, .. }, _) => {
                Err(Error::invalid(format!("each entry is one {}: pass a flat array", dtype.name())))
            }
            (ColumnSource::Jagged { dtype, .. }, Array::List { offsets, content }) => {
                let Array::Flat(v) = &**content else { return Err(not_a_list(*dtype)) };
                check_dtype(*dtype, v)?;
                check_offsets(offsets, v.len())?;
                let most = (LONGEST_ENTRY / dtype.size() as u64) as i64;
                for (i, pair) in offsets.windows(2).enumerate() {
                    if let &[a, b] = pair
                        && b - a > most
                    {
                        let what = format!("entry {i} of the batch has {} values, more than fit into 1 GiB", b - a);
                        return Err(Error::invalid(what));
                    }
                }
                Ok(offsets.len() - 1)
            }
            (ColumnSource::Jagged { dtype, .. }, _) => Err(not_a_list(*dtype)),
            (ColumnSource::Object { ty, .. }, array) => check_value(ty, array).map(|()| array.len()),
            (ColumnSource::Class { members, .. }, Array::Record { len, .. }) => {
                check_members(members, array, *len).map(|()| *len)
            }
            (ColumnSource::Class { .. }, _) => Err(Error::invalid("each entry is a record: pass a record array")),
            (ColumnSource::Collection { members, map, .. }, Array::List { offsets, content }) => {
                let Array::Record { len, .. } = &**content else { return Err(not_records(*map)) };
                check_offsets(offsets, *len)?;
                counts_of(offsets)?;
                check_members(members, content, *len)?;
                Ok(offsets.len() - 1)
            }
            (ColumnSource::Collection { map, .. }, _) => Err(not_records(*map)),
        }
    }

    /// Passes entries of a checked column to the branches.
    pub(crate) fn hand<'a>(
        &self,
        array: &'a Array,
        range: Range<usize>,
        out: &mut [Option<EntryValues<'a>>],
    ) -> Result<()> {
        let mut give = |column: usize, values: Cow<'a, Values>, shape: Shape<'a>| {
            if let Some(slot) = out.get_mut(column) {
                *slot = Some(EntryValues { values, shape });
            }
        };
        match (self, array) {
            (ColumnSource::Numbers { column, n, .. }, array) => {
                if let Some(v) = flat(array) {
                    give(*column, Cow::Borrowed(v), Shape::Regular { first: range.start * n, n: *n });
                }
            }
            (ColumnSource::Jagged { column, .. }, Array::List { offsets, content }) => {
                if let Some(v) = flat(content) {
                    give(*column, Cow::Borrowed(v), Shape::Jagged { offsets: window(offsets, &range), scale: 1 });
                }
            }
            (ColumnSource::Object { column, ty, form, member_wise }, array) => {
                let (bytes, offsets) = serial::entries(ty, array, range, *form, *member_wise)?;
                give(*column, Cow::Owned(Values::U8(bytes)), Shape::Jagged { offsets: Cow::Owned(offsets), scale: 1 });
            }
            (ColumnSource::Class { members, .. }, array) => {
                for (name, feed) in members {
                    if let Some(field) = field(array, name) {
                        feed.hand(field, range.clone(), out)?;
                    }
                }
            }
            (ColumnSource::Collection { column, members, map }, Array::List { offsets, content }) => {
                let offsets = window(offsets, &range);
                give(*column, Cow::Owned(Values::I32(counts_of(&offsets)?)), Shape::Regular { first: 0, n: 1 });
                for (i, (name, feed)) in members.iter().enumerate() {
                    let items = if *map { nth_field(content, i) } else { field(content, name) };
                    if let Some(items) = items {
                        feed.hand_items(items, offsets.clone(), out)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Passes the items of a collection's entries to their branch.
    fn hand_items<'a>(
        &self,
        items: &'a Array,
        offsets: Cow<'a, [i64]>,
        out: &mut [Option<EntryValues<'a>>],
    ) -> Result<()> {
        let (values, shape) = match self {
            ColumnSource::Numbers { n, .. } => match flat(items) {
                Some(v) => (Cow::Borrowed(v), Shape::Jagged { offsets, scale: *n }),
                None => return Ok(()),
            },
            ColumnSource::Object { ty, .. } => {
                let (bytes, offsets) = serial::item_entries(ty, items, &offsets)?;
                (Cow::Owned(Values::U8(bytes)), Shape::Jagged { offsets: Cow::Owned(offsets), scale: 1 })
            }
            _ => return Ok(()),
        };
        if let Some(slot) = out.get_mut(self.column()) {
            *slot = Some(EntryValues { values, shape });
        }
        Ok(())
    }
}

fn window<'a>(offsets: &'a [i64], range: &Range<usize>) -> Cow<'a, [i64]> {
    Cow::Borrowed(offsets.get(range.start..=range.end).unwrap_or_default())
}

/// The numbers of a flat or regular column.
fn flat(array: &Array) -> Option<&Values> {
    match array {
        Array::Flat(v) => Some(v),
        Array::Regular { content, .. } => flat(content),
        _ => None,
    }
}

/// The number of items between offsets.
pub(crate) fn counts_of(offsets: &[i64]) -> Result<Vec<i32>> {
    let pairs = offsets.iter().zip(offsets.get(1..).unwrap_or_default());
    pairs
        .map(|(a, b)| i32::try_from(b - a))
        .collect::<Result<_, _>>()
        .map_err(|_| Error::invalid("an entry has more than 2147483647 values"))
}

pub(crate) fn check_dtype(dtype: DType, values: &Values) -> Result<()> {
    if values.dtype() == dtype {
        return Ok(());
    }
    Err(Error::invalid(format!("it contains {}, not {}", dtype.name(), values.dtype().name()))
        .with_remedy("convert the values first"))
}

fn check_regular(dtype: DType, n: usize, array: &Array) -> Result<usize> {
    let wrong = || Error::invalid(format!("each entry is {n} {}: pass a regular array of flat content", dtype.name()));
    let Array::Regular { size, len, content } = array else { return Err(wrong()) };
    let Array::Flat(v) = &**content else { return Err(wrong()) };
    if *size != n {
        return Err(Error::invalid(format!("an entry has {n} values, not {size}")));
    }
    if n.checked_mul(*len) != Some(v.len()) {
        return Err(Error::invalid(format!("{len} entries of {n} values are not {} values", v.len())));
    }
    check_dtype(dtype, v)?;
    Ok(*len)
}

fn check_members(members: &[(String, ColumnSource)], array: &Array, len: usize) -> Result<()> {
    for (i, (name, feed)) in members.iter().enumerate() {
        let found = field(array, name).or_else(|| if name == PAIR[i.min(1)] { nth_field(array, i) } else { None });
        let Some(column) = found else { return Err(Error::invalid(format!("the records have no field {name}"))) };
        let n = feed.check(column).map_err(|e| within(&e, name))?;
        if n != len {
            return Err(Error::invalid(format!("field {name} has {n} values in {len} records")));
        }
    }
    Ok(())
}

/// The member names of a map's items.
const PAIR: [&str; 2] = ["first", "second"];

fn within(e: &Error, name: &str) -> Error {
    Error::new(e.kind(), format!("field {name}: {}", e.what()))
}

/// Checks all values of a column against the type that they will have.
fn check_value(ty: &CppType, array: &Array) -> Result<()> {
    match (ty, array) {
        (CppType::Number(d), Array::Flat(v)) => check_dtype(*d, v),
        (CppType::Array(d, n), array) => check_regular(*d, *n, array).map(drop),
        (CppType::Text, Array::Text { offsets, bytes }) => check_offsets(offsets, bytes.len()),
        (CppType::Vector(item), Array::List { offsets, content }) => {
            check_offsets(offsets, content.len())?;
            counts_of(offsets)?;
            check_value(item, content)
        }
        (CppType::Map(key, value), Array::List { offsets, content }) => {
            check_offsets(offsets, content.len())?;
            counts_of(offsets)?;
            let (Some(k), Some(v)) = (nth_field(content, 0), nth_field(content, 1)) else {
                return Err(not_records(true));
            };
            if k.len() != content.len() || v.len() != content.len() {
                return Err(Error::invalid("a map has as many keys as values"));
            }
            check_value(key, k)?;
            check_value(value, v)
        }
        (CppType::Class(class), Array::Record { len, .. }) => {
            for (name, member) in &class.members {
                let Some(column) = field(array, name) else {
                    return Err(Error::invalid(format!("the records have no field {name}")));
                };
                if column.len() != *len {
                    return Err(Error::invalid(format!("field {name} has {} values in {len} records", column.len())));
                }
                check_value(member, column).map_err(|e| within(&e, name))?;
            }
            Ok(())
        }
        _ => Err(Error::invalid(format!("each value is a {}: the array has the wrong kind", ty.name()))),
    }
}

pub(crate) fn check_offsets(offsets: &[i64], items: usize) -> Result<()> {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return Err(Error::invalid("there are no offsets, not even the first"));
    };
    if let Some((i, pair)) = offsets.windows(2).enumerate().find(|(_, p)| p[1] < p[0]) {
        return Err(Error::invalid(format!(
            "its offsets decrease from {} to {} at entry {i} of the batch",
            pair[0], pair[1]
        )));
    }
    if first < 0 || last as u64 > items as u64 {
        return Err(Error::invalid(format!("its offsets go from {first} to {last}, beyond its {items} values")));
    }
    Ok(())
}

fn not_a_list(dtype: DType) -> Error {
    Error::invalid(format!("each entry is a list of {}: pass a list array of flat content", dtype.name()))
}

fn not_records(map: bool) -> Error {
    Error::invalid(if map {
        "each entry is a map: pass a list array of records of key and value"
    } else {
        "each entry is a list of records: pass a list array of records"
    })
}
