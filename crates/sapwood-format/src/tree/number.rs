//! Numbers of a tree's header, whose types differ between versions, and arrays of them.

use crate::cursor::Cursor;
use crate::streamer::{Element, code};
use sapwood_span::{Error, Result};

/// State from the members of one object that later members depend on.
pub(super) struct Counts {
    /// Version of the class that is being read.
    pub version: i16,
    /// Counters, by name, for the arrays whose length they give.
    pub values: Vec<(String, i64)>,
}

/// A number whose type differs between versions.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Int(i64),
    Real(f64),
}

impl Number {
    pub(super) fn as_i64(self) -> i64 {
        match self {
            Number::Int(i) => i,
            Number::Real(x) => x as i64,
        }
    }
}

pub(super) fn unsigned(n: i64) -> u64 {
    n.max(0) as u64
}

/// Bytes of a number of a type ([`code`]).
///
/// # Errors
/// `Unsupported` when it is not a number's code.
pub fn width(k: i32) -> Result<usize> {
    Ok(match k {
        code::CHAR | code::LEGACY_CHAR | code::UCHAR | code::BOOL => 1,
        code::SHORT | code::USHORT => 2,
        code::INT | code::COUNTER | code::FLOAT | code::UINT | code::BITS | code::DOUBLE32 => 4,
        // an exponent and two bytes of mantissa
        code::FLOAT16 => 3,
        code::LONG | code::DOUBLE | code::ULONG | code::LONG64 | code::ULONG64 => 8,
        other => return Err(Error::unsupported(format!("a number of type code {other}"))),
    })
}

pub(super) fn number(c: &mut Cursor, k: i32) -> Result<Number> {
    Ok(match k {
        code::CHAR | code::LEGACY_CHAR => Number::Int(c.i8()?.into()),
        code::UCHAR | code::BOOL => Number::Int(c.u8()?.into()),
        code::SHORT => Number::Int(c.i16()?.into()),
        code::USHORT => Number::Int(c.u16()?.into()),
        code::INT | code::COUNTER => Number::Int(c.i32()?.into()),
        code::UINT | code::BITS => Number::Int(c.u32()?.into()),
        code::LONG | code::LONG64 => Number::Int(c.i64()?),
        code::ULONG | code::ULONG64 => Number::Int(c.u64()? as i64),
        code::FLOAT | code::DOUBLE32 => Number::Real(c.f32()?.into()),
        // only occurs as the range of a TLeafF16, which is never used
        code::FLOAT16 => c.skip(3).map(|()| Number::Real(0.0))?,
        code::DOUBLE => Number::Real(c.f64()?),
        other => return Err(Error::unsupported(format!("a number of type code {other}"))),
    })
}

/// Reads a number that counts something, whatever its type is.
///
/// # Errors
/// `Corrupt` where the bytes end, `Unsupported` when it is not a number's code.
pub fn integer(c: &mut Cursor, k: i32) -> Result<i64> {
    number(c, k).map(Number::as_i64)
}

/// An array of numbers: after a byte that says whether it is present (2: with 64-bit items), as many as another member
/// gives; or, in branches of ROOT 2, after their number.
pub(super) fn counted(c: &mut Cursor, e: &Element, counts: &Counts) -> Result<Vec<u64>> {
    if e.code == code::ANY {
        let n = c.count(4)?;
        return items(c, n, code::INT);
    }
    let n = counts.values.iter().rev().find(|(name, _)| *name == e.count_name).map_or(0, |&(_, n)| n);
    let flag = c.u8()?;
    if flag == 0 || n <= 0 {
        return Ok(Vec::new());
    }
    // until version 9 only the flag showed whether positions were long, whatever the description says
    let k = match flag {
        2 if e.name == "fBasketSeek" => code::LONG64,
        _ if e.name == "fBasketSeek" && counts.version <= 9 => code::INT,
        _ => e.code - code::OFFSET_P,
    };
    let n = usize::try_from(n).map_err(|_| Error::corrupt(format!("{} has {n} items", e.name)))?;
    items(c, n, k)
}

/// This many numbers of a type.
fn items(c: &mut Cursor, n: usize, k: i32) -> Result<Vec<u64>> {
    let data = c.take(n.saturating_mul(width(k)?))?;
    // the tables of many branches with room for many baskets are most of a header
    Ok(match k {
        code::INT | code::COUNTER => {
            data.as_chunks::<4>().0.iter().map(|b| i32::from_be_bytes(*b).max(0) as u64).collect()
        }
        code::LONG | code::LONG64 => {
            data.as_chunks::<8>().0.iter().map(|b| i64::from_be_bytes(*b).max(0) as u64).collect()
        }
        _ => {
            let mut items = Cursor::new(data, 0);
            (0..n).map(|_| integer(&mut items, k).map(unsigned)).collect::<Result<_>>()?
        }
    })
}
