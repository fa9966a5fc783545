//! Histograms, added bin by bin in the bytes of the first one.

use super::axes::{Axis, Joined};
use super::buffer;
use super::filled::Filled;
use super::labels;
use super::members::SUMS;
use super::numbers::{Places, array, items, real, sum_items};
use super::part::Part;
use sapwood_edit::survey::{Changes, Edit, Name, put_integer};
use sapwood_span::{Error, Result};
use std::borrow::Cow;

/// The sum of two histograms.
///
/// # Errors
/// `Invalid` when they cannot be added, with the difference.
pub(super) fn add<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    let (mut x, mut y) = (Filled::of(one)?, Filled::of(two)?);
    let (mut rows, mut other_rows) = (x.waiting(), y.waiting());
    match (x.has_limits(), y.has_limits()) {
        _ if x.axes.len() != y.axes.len() => {}
        // contents set by hand, which neither a fill nor a choice of limits would preserve
        _ if x.is_set_without_limits() || y.is_set_without_limits() => {
            let same = x.axes.iter().zip(&y.axes).all(|(a, b)| a.same_bins(b));
            if !same || !rows.is_empty() || !other_rows.is_empty() {
                return Err(Error::unsupported("has entries in bins, but an axis without limits"));
            }
        }
        (true, true) => {
            x.settle(&rows)?;
            y.settle(&other_rows)?;
        }
        (false, false) => {
            if buffer::join(&mut x, &y, &rows, &other_rows, changes)? {
                return Ok(());
            }
            rows.append(&mut other_rows);
            y.take_bins(&x);
            x.pour(&rows)?;
        }
        // fills without limits go into the bins of the other
        (false, true) => {
            buffer::check(&x, &rows)?;
            y.settle(&other_rows)?;
            x.take_bins(&y);
            x.pour(&rows)?;
        }
        (true, false) => {
            buffer::check(&y, &other_rows)?;
            x.settle(&rows)?;
            y.take_bins(&x);
            for (a, b) in x.axes.iter().zip(&mut y.axes) {
                b.extends = a.extends;
            }
            y.pour(&other_rows)?;
        }
    }
    let axes = labels::join_axes(&x, &y, &mut changes.notes)?;
    let places = cells(&x, &y, &axes)?;
    for ((joined, a), b) in axes.iter().zip(&x.axes).zip(&y.axes) {
        joined.edits(a.part, &mut changes.edits)?;
        labels::add_names(joined, a, b, changes)?;
    }
    let (a, edits) = (one.survey, &mut changes.edits);
    if let Some(f) = a.field(one.node, Name::Ncells) {
        let mut bytes = Vec::new();
        put_integer(&mut bytes, f.code, places.len as i64)?;
        edits.push(Edit { at: f.at.clone(), bytes });
    }
    buffer::clear(one, edits);
    add_sums(one, &statistics(&x), &statistics(&y), edits)?;
    if x.item != y.item {
        return Err(Error::invalid("has bins of a different type"));
    }
    let sum = sum_items(&raw(&x)?, &raw(&y)?, x.item, &places)?;
    edits.extend(bare(one, Name::Array, places.len, &sum));
    // squares of weights are stored by some and not by others: without, they are the contents themselves
    squares(&x, &y, Name::Errors, |f| (&f.squares, &f.contents), &places, edits);
    if x.profile {
        let entries = places.sum(&x.entries, &y.entries, |a, b| a + b);
        edits.extend(bare(one, Name::BinEntries, places.len, &doubles(&entries)));
        squares(&x, &y, Name::BinSumw2, |f| (&f.entry_squares, &f.entries), &places, edits);
    }
    Ok(())
}

/// The contents as items of their type.
fn raw<'p>(f: &Filled<'p>) -> Result<Cow<'p, [u8]>> {
    if f.poured {
        return items(&f.contents, f.item).map(Cow::Owned);
    }
    let s = f.part.survey;
    let at = s.field(f.part.node, Name::Array).map_or(0..0, |f| f.at.clone());
    Ok(Cow::Borrowed(s.data.get(at).and_then(|raw| raw.get(4..)).unwrap_or_default()))
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_be_bytes()).collect()
}

/// Replaces a bare array: its length, then items.
fn bare(part: Part, name: Name, len: usize, items: &[u8]) -> Option<Edit> {
    let f = part.survey.field(part.node, name)?;
    let mut bytes = (len as u32).to_be_bytes().to_vec();
    bytes.extend_from_slice(items);
    Some(Edit { at: f.at.clone(), bytes })
}

/// Adds squares of weights, if one of both has them.
fn squares<'f, 'p>(
    x: &'f Filled<'p>,
    y: &'f Filled<'p>,
    name: Name,
    of: impl Fn(&'f Filled<'p>) -> (&'f Vec<f64>, &'f Vec<f64>),
    places: &Places,
    edits: &mut Vec<Edit>,
) {
    let ((v, without), (w, other_without)) = (of(x), of(y));
    if v.is_empty() && w.is_empty() {
        return;
    }
    let v = if v.is_empty() { without } else { v };
    let w = if w.is_empty() { other_without } else { w };
    let sum = places.sum(v, w, |a, b| a + b);
    edits.extend(bare(x.part, name, places.len, &doubles(&sum)));
}

/// Cells of a sum, at most: ROOT accepts records of up to a gigabyte.
const MOST_CELLS: usize = 1 << 27;

/// The new numbers of the cells of both.
fn cells(x: &Filled, y: &Filled, axes: &[Joined]) -> Result<Places> {
    if axes.iter().all(|j| j.fits_first() && j.places(true).is_none()) {
        return Ok(Places::same(x.contents.len()));
    }
    let len = axes.iter().try_fold(1usize, |n, j| n.checked_mul(j.cells())).filter(|n| *n < MOST_CELLS);
    let len = len.ok_or_else(|| Error::unsupported("would have too many bins"))?;
    let side = |second: bool, filled: &Filled| -> Result<Option<Vec<usize>>> {
        if axes.iter().all(|j| j.places(second).is_none()) && filled.contents.len() == len {
            return Ok(None);
        }
        let mut places = Vec::with_capacity(filled.contents.len());
        for cell in 0..filled.contents.len() {
            let (mut rest, mut at, mut stride) = (cell, 0, 1);
            for j in axes {
                let n = j.places(second).map_or(j.cells(), <[usize]>::len).max(1);
                let bin = rest % n;
                rest /= n;
                let to = j.places(second).map_or(Some(bin), |p| p.get(bin).copied()).unwrap_or(bin);
                let [below, above] = j.outside[usize::from(second)];
                if ((bin == 0 && !below) || (bin + 1 == n && !above)) && filled.holds(cell) {
                    return Err(Error::invalid("has different limits, and entries below or above them")
                        .with_remedy("rebin one of them, or omit it"));
                }
                at += to * stride;
                stride *= j.cells();
            }
            places.push(at);
        }
        Ok(Some(places))
    };
    Ok(Places { len, first: side(false, x)?, second: side(true, y)? })
}

/// Adds the statistics that grow with every fill, as stored.
pub(super) fn statistics_of_both<'p>(one: Part<'p>, two: Part<'p>, edits: &mut Vec<Edit>) -> Result<()> {
    let kept = |p: Part| SUMS.map(|name| p.survey.number(p.node, name));
    add_sums(one, &kept(one), &kept(two), edits)
}

fn add_sums(one: Part, x: &[Option<f64>; 14], y: &[Option<f64>; 14], edits: &mut Vec<Edit>) -> Result<()> {
    for ((name, x), y) in SUMS.into_iter().zip(x).zip(y) {
        if let (Some(f), Some(x), Some(y)) = (one.survey.field(one.node, name), x, y) {
            edits.push(Edit { at: f.at.clone(), bytes: real(f.code, x + y)? });
        }
    }
    Ok(())
}

/// Adds the squares of weights, if one of both has them; the other uses `contents` instead.
pub(super) fn variances(
    one: Part,
    two: Part,
    name: Name,
    contents: (&[f64], &[f64]),
    places: &Places,
    edits: &mut Vec<Edit>,
) {
    let Some(f) = one.survey.field(one.node, name) else { return };
    let squares = |p: Part| array(p.survey, p.node, name).unwrap_or_default();
    let (x, y) = (squares(one), squares(two));
    if x.is_empty() && y.is_empty() {
        return;
    }
    let x = if x.is_empty() { contents.0 } else { &x };
    let y = if y.is_empty() { contents.1 } else { &y };
    let mut bytes = (places.len as u32).to_be_bytes().to_vec();
    for sum in places.sum(x, y, |x, y| x + y) {
        bytes.extend_from_slice(&sum.to_be_bytes());
    }
    edits.push(Edit { at: f.at.clone(), bytes });
}

/// The statistics in the order of [`SUMS`]. Where none are stored though there are entries (contents set by hand), they
/// are computed from the bins, as in `TH1::GetStats` and its variants.
fn statistics(f: &Filled) -> [Option<f64>; 14] {
    let has_entries = f.profile || f.sums[0].unwrap_or(0.0) > 0.0;
    if f.sums[1] != Some(0.0) || !has_entries {
        return f.sums;
    }
    // labelled bins have no numeric meaning where labels may occur: ROOT's sums skip them
    let centers: Vec<Option<&Axis>> =
        f.axes.iter().map(|a| Some(a).filter(|a| a.labels.is_none() || !a.extends)).collect();
    // in three dimensions, only profiles never count underflow and overflow
    let counts_outside = f.counts_outside() && !(f.profile && f.axes.len() == 3);
    let mut sums = [0.0; 14];
    sums[0] = f.sums[0].unwrap_or(0.0);
    for (cell, &content) in f.contents.iter().enumerate() {
        let mut rest = cell;
        let mut at = [0.0; 3];
        let mut inside = true;
        for ((axis, center), at) in f.axes.iter().zip(&centers).zip(&mut at) {
            let bin = rest % (axis.bins + 2);
            rest /= axis.bins + 2;
            inside &= bin >= 1 && bin <= axis.bins;
            *at = center.map_or(0.0, |a| a.center(bin));
        }
        if !inside && !counts_outside {
            continue;
        }
        let [x, y, z] = at;
        let kept = |numbers: &[f64]| numbers.get(cell).copied();
        let (w, w2) = if f.profile {
            let w = kept(&f.entries).unwrap_or(0.0);
            (w, kept(&f.entry_squares).unwrap_or(w))
        } else {
            // the error squared again, as in ROOT, to the last bit
            let error = kept(&f.squares).unwrap_or(content.abs()).sqrt();
            (content, error * error)
        };
        let terms = [w, w2, w * x, w * x * x, w * y, w * y * y, w * x * y, w * z, w * z * z, w * x * z, w * y * z];
        for (sum, term) in sums[1..].iter_mut().zip(terms) {
            *sum += term;
        }
        if let Some([sum, squares]) = f.averaged().and_then(|at| sums.get_mut(at)) {
            *sum += content;
            *squares += kept(&f.squares).unwrap_or(0.0);
        }
    }
    let mut out = f.sums;
    for (value, sum) in out.iter_mut().zip(sums) {
        *value = value.map(|_| sum);
    }
    out
}
