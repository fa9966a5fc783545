//! Arrays of numbers in surveyed objects: read, added item by item, written.

use sapwood_edit::survey::{Edit, Name, Survey, put_integer};
use sapwood_format::cursor::Cursor;
use sapwood_format::streamer::code;
use sapwood_format::tree::{integer, width};
use sapwood_span::{Error, Result};

/// A number in the type of a member.
///
/// # Errors
/// `Unsupported` when it does not fit.
pub(super) fn real(k: i32, value: f64) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    match k {
        code::DOUBLE => out.extend_from_slice(&value.to_be_bytes()),
        code::FLOAT | code::DOUBLE32 => out.extend_from_slice(&(value as f32).to_be_bytes()),
        k => put_integer(&mut out, k, value as i64)?,
    }
    Ok(out)
}

/// The items of an array, bare or counted.
pub(super) fn array(s: &Survey, node: usize, name: Name) -> Option<Vec<f64>> {
    let f = s.field(node, name)?;
    let raw = s.data.get(f.at.clone())?;
    // a counted array begins with a flag, a bare one with its length
    let (item, skip) = if f.code > code::OFFSET_P && f.code < 60 { (f.code - code::OFFSET_P, 1) } else { (f.code, 4) };
    reals(raw.get(skip..).unwrap_or_default(), item)
}

/// Items as real numbers.
pub(super) fn reals(items: &[u8], item: i32) -> Option<Vec<f64>> {
    let n = items.len() / width(item).ok()?;
    let mut c = Cursor::new(items, 0);
    (0..n)
        .map(|_| match item {
            code::FLOAT => c.f32().ok().map(f64::from),
            code::DOUBLE => c.f64().ok(),
            k => integer(&mut c, k).ok().map(|n| n as f64),
        })
        .collect()
}

/// The positions of two arrays' items in their sum: its length, and for each item of one array its position, if that
/// differs.
#[derive(Default)]
pub(super) struct Places {
    pub(super) len: usize,
    pub(super) first: Option<Vec<usize>>,
    pub(super) second: Option<Vec<usize>>,
}

impl Places {
    /// Every item keeps its position.
    pub(super) fn same(len: usize) -> Self {
        Self { len, first: None, second: None }
    }

    /// The sum of `x` and `y`, each item at its position.
    pub(super) fn sum<T: Copy + Default>(&self, x: &[T], y: &[T], add: impl Fn(T, T) -> T) -> Vec<T> {
        let mut out = vec![T::default(); self.len];
        for (items, places) in [(x, &self.first), (y, &self.second)] {
            for (i, &value) in items.iter().enumerate() {
                let at = places.as_ref().map_or(Some(i), |p| p.get(i).copied());
                if let Some(sum) = at.and_then(|at| out.get_mut(at)) {
                    *sum = add(*sum, value);
                }
            }
        }
        out
    }
}

/// The smallest and the largest value in a bin of integers.
pub(super) fn limits(item: i32) -> (i64, i64) {
    match item {
        code::CHAR => (-127, 127),
        code::SHORT => (-32767, 32767),
        code::INT => (-i64::from(i32::MAX), i64::from(i32::MAX)),
        code::UCHAR => (0, 255),
        code::USHORT => (0, 65535),
        code::UINT => (0, i64::from(u32::MAX)),
        _ => (-i64::MAX, i64::MAX),
    }
}

/// The sum of two runs of items of one type. Integers stay within their type, as in ROOT.
///
/// # Errors
/// `Corrupt` when the runs end within an item.
pub(super) fn sum_items(x: &[u8], y: &[u8], item: i32, places: &Places) -> Result<Vec<u8>> {
    let n = width(item)?;
    let mut out = Vec::with_capacity(places.len.saturating_mul(n));
    let (mut cx, mut cy) = (Cursor::new(x, 0), Cursor::new(y, 0));
    let (nx, ny) = (x.len() / n, y.len() / n);
    match item {
        code::DOUBLE => {
            let x: Vec<f64> = (0..nx).map(|_| cx.f64()).collect::<Result<_>>()?;
            let y: Vec<f64> = (0..ny).map(|_| cy.f64()).collect::<Result<_>>()?;
            for sum in places.sum(&x, &y, |a, b| a + b) {
                out.extend_from_slice(&sum.to_be_bytes());
            }
        }
        code::FLOAT => {
            let x: Vec<f32> = (0..nx).map(|_| cx.f32()).collect::<Result<_>>()?;
            let y: Vec<f32> = (0..ny).map(|_| cy.f32()).collect::<Result<_>>()?;
            for sum in places.sum(&x, &y, |a, b| a + b) {
                out.extend_from_slice(&sum.to_be_bytes());
            }
        }
        _ => {
            let (least, most) = limits(item);
            let x: Vec<i64> = (0..nx).map(|_| integer(&mut cx, item)).collect::<Result<_>>()?;
            let y: Vec<i64> = (0..ny).map(|_| integer(&mut cy, item)).collect::<Result<_>>()?;
            for sum in places.sum(&x, &y, i64::saturating_add) {
                put_integer(&mut out, item, sum.clamp(least, most))?;
            }
        }
    }
    Ok(out)
}

/// Numbers as consecutive items of a type.
///
/// # Errors
/// `Unsupported` when one does not fit.
pub(super) fn items(numbers: &[f64], item: i32) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(numbers.len().saturating_mul(width(item)?));
    for n in numbers {
        out.extend(real(item, *n)?);
    }
    Ok(out)
}

/// Replaces a bare array (its length, then items) by the sum of both.
///
/// # Errors
/// `Invalid` when the arrays are of two kinds.
pub(super) fn add_bare(
    (a, n): (&Survey, usize),
    (b, m): (&Survey, usize),
    name: Name,
    places: &Places,
) -> Result<Option<Edit>> {
    let (Some(f), Some(g)) = (a.field(n, name), b.field(m, name)) else { return Ok(None) };
    let (x, y) = (a.data.get(f.at.clone()).unwrap_or_default(), b.data.get(g.at.clone()).unwrap_or_default());
    let (Some((_, x)), Some((_, y))) = (x.split_at_checked(4), y.split_at_checked(4)) else { return Ok(None) };
    if f.code != g.code {
        return Err(Error::invalid(format!("has {} of a different type", name.text())));
    }
    let mut bytes = (places.len as u32).to_be_bytes().to_vec();
    bytes.extend(sum_items(x, y, f.code, places)?);
    Ok(Some(Edit { at: f.at.clone(), bytes }))
}
