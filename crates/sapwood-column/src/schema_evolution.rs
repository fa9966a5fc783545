//! Objects in other versions of their class: members that were added, removed or changed their type.

use crate::item::{Fields, OtherVersion, columns_of};
use crate::{Array, Values};
use sapwood_span::{Error, Result};

impl OtherVersion {
    pub(crate) fn scratch(&self) -> Vec<(String, Array)> {
        columns_of(&self.members).into_iter().map(|(n, t)| (n, t.empty())).collect()
    }

    /// Appends `n` records of this version: members missing in it are zero or empty, as in ROOT.
    pub(crate) fn put(&self, scratch: &Fields, n: usize, fields: &mut Fields) -> Result<()> {
        for (i, (_, field)) in fields.iter_mut().enumerate() {
            let from = self.places.iter().position(|p| *p == Some(i)).and_then(|k| scratch.get(k));
            match from {
                Some((_, column)) => append(field, column)?,
                None => push_nothing(field, n)?,
            }
        }
        Ok(())
    }
}

/// Appends a column of another version: numbers may have changed their type, as in ROOT.
fn append(out: &mut Array, from: &Array) -> Result<()> {
    match (out, from) {
        (Array::Flat(a), Array::Flat(b)) if a.dtype() != b.dtype() => {
            cast(a, b);
            Ok(())
        }
        (out, from) => out.append(from),
    }
}

/// Appends numbers of another type, with C++ conversions.
#[allow(clippy::unnecessary_cast)]
fn cast(out: &mut Values, from: &Values) {
    macro_rules! into {
        ($out:expr, $t:ty) => {
            match from {
                Values::F32(v) => $out.extend(v.iter().map(|&x| x as $t)),
                Values::F64(v) => $out.extend(v.iter().map(|&x| x as $t)),
                Values::Bool(v) | Values::U8(v) => $out.extend(v.iter().map(|&x| x as $t)),
                Values::I8(v) => $out.extend(v.iter().map(|&x| x as $t)),
                Values::I16(v) => $out.extend(v.iter().map(|&x| x as $t)),
                Values::U16(v) => $out.extend(v.iter().map(|&x| x as $t)),
                Values::I32(v) => $out.extend(v.iter().map(|&x| x as $t)),
                Values::U32(v) => $out.extend(v.iter().map(|&x| x as $t)),
                Values::I64(v) => $out.extend(v.iter().map(|&x| x as $t)),
                Values::U64(v) => $out.extend(v.iter().map(|&x| x as $t)),
            }
        };
    }
    match out {
        Values::Bool(v) => v.extend((0..from.len()).map(|i| u8::from(from.get_f64(i).is_some_and(|x| x != 0.0)))),
        Values::U8(v) => into!(v, u8),
        Values::I8(v) => into!(v, i8),
        Values::I16(v) => into!(v, i16),
        Values::U16(v) => into!(v, u16),
        Values::I32(v) => into!(v, i32),
        Values::U32(v) => into!(v, u32),
        Values::I64(v) => into!(v, i64),
        Values::U64(v) => into!(v, u64),
        Values::F32(v) => into!(v, f32),
        Values::F64(v) => into!(v, f64),
    }
}

/// Values filled in at once, at most: a damaged description must not take all memory.
const MOST_NOTHING: usize = 1 << 24;

/// Appends `n` values of a member that was not written.
pub(crate) fn push_nothing(out: &mut Array, n: usize) -> Result<()> {
    if n > MOST_NOTHING {
        return Err(Error::corrupt(format!("{n} values that were not written")));
    }
    match out {
        Array::Flat(values) => crate::with_values!(values, v => v.resize(v.len() + n, Default::default())),
        Array::Regular { size, len, content } => {
            *len += n;
            push_nothing(content, n.saturating_mul(*size))?;
        }
        Array::List { offsets, .. } | Array::Text { offsets, .. } => {
            let last = offsets.last().copied().unwrap_or(0);
            offsets.resize(offsets.len() + n, last);
        }
        Array::Record { len, fields } => {
            *len += n;
            fields.iter_mut().try_for_each(|(_, field)| push_nothing(field, n))?;
        }
    }
    Ok(())
}
