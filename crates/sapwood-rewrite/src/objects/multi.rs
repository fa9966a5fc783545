//! Histograms of any number of dimensions, with all bins (`THnT`) or only those that were filled (`THnSparseT`).

use super::axes::{self, Axis};
use super::numbers::{Places, add_bare, real, reals, sum_items};
use super::part::Part;
use sapwood_edit::survey::{Changes, Edit, Insert, Name, numbers_of, put_integer};
use sapwood_format::streamer::code;
use sapwood_format::tree::width;
use sapwood_span::{Error, Result};
use std::collections::HashMap;

/// The sum of two histograms that store all bins.
///
/// # Errors
/// `Invalid` when their axes differ, `Unsupported` when they do not match their class.
pub(super) fn add_dense<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    head(one, two, changes)?;
    let (x, y) = (Cells::of(one, Name::Array)?, Cells::of(two, Name::Array)?);
    if x.item != y.item || x.items.len() != y.items.len() {
        return Err(Error::invalid("has a different number of bins"));
    }
    let places = Places::same(x.items.len() / width(x.item)?);
    changes.edits.push(Edit { at: x.at.clone(), bytes: sum_items(x.items, y.items, x.item, &places)? });
    let (v, w) = (Cells::of(one, Name::Errors)?, Cells::of(two, Name::Errors)?);
    if v.items.is_empty() && w.items.is_empty() {
        return Ok(());
    }
    // without squares of weights, they are the contents themselves
    let squares = |kept: &Cells, contents: &Cells| {
        let from = if kept.items.is_empty() { contents } else { kept };
        reals(from.items, from.item).ok_or_else(|| Error::unsupported("has bins of an unknown type"))
    };
    let sums = places.sum(&squares(&v, &x)?, &squares(&w, &y)?, |v, w| v + w);
    let bytes: Vec<u8> = sums.iter().flat_map(|s| s.to_be_bytes()).collect();
    if !v.items.is_empty() {
        changes.edits.push(Edit { at: v.at, bytes });
        return Ok(());
    }
    // the first one's empty array becomes the second one's
    let (Some(from), Some(to)) = (two.survey.nodes.get(w.node), one.survey.nodes.get(v.node)) else { return Ok(()) };
    let mut whole = two.survey.data.get(from.at.clone()).unwrap_or_default().to_vec();
    let start = w.at.start - from.at.start;
    if let Some(items) = whole.get_mut(start..start + bytes.len()) {
        items.copy_from_slice(&bytes);
    }
    changes.edits.push(Edit { at: to.at.clone(), bytes: whole });
    Ok(())
}

/// The items of a `TNDArrayT`.
struct Cells<'p> {
    node: usize,
    item: i32,
    items: &'p [u8],
    at: std::ops::Range<usize>,
}

/// The header of a vector: byte count, version, number of items.
const VECTOR_HEAD: usize = 4 + 2 + 4;

impl<'p> Cells<'p> {
    fn of(part: Part<'p>, name: Name) -> Result<Self> {
        let s = part.survey;
        let found = s.child(part.node, name).and_then(|node| {
            let class = part.at(node).class().strip_prefix("TNDArrayT<")?;
            let item = numbers_of(&format!("vector<{class}"))?;
            let f = s.field(node, Name::Data)?;
            let at = f.at.start + VECTOR_HEAD..f.at.end;
            Some(Self { node, item, items: s.data.get(at.clone())?, at })
        });
        found.ok_or_else(|| Error::unsupported(format!("has its {} in an unknown format", name.text())))
    }
}

/// Entries, statistics and axes, common to both kinds.
fn head<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    let axes = |p: Part<'p>| -> Result<Vec<Part<'p>>> {
        let list = p.survey.child(p.node, Name::Axes).ok_or_else(|| Error::unsupported("has no axes"))?;
        Ok(p.survey.children(list).map(|n| p.at(n)).collect())
    };
    let (x, y) = (axes(one)?, axes(two)?);
    if x.len() != y.len() {
        return Err(Error::invalid(format!("has {} dimensions, not {}", y.len(), x.len())));
    }
    for (i, (x, y)) in x.into_iter().zip(y).enumerate() {
        let (x, y) = (Axis::of(x), Axis::of(y));
        let joined = axes::join(&x, &y, &format!("axis {i}"))?;
        if !joined.fits_first() || joined.places(true).is_some() || x.names() != y.names() {
            return Err(Error::invalid(format!("has different limits or labels on its axis {i}")));
        }
    }
    for name in [Name::Entries, Name::SumW, Name::SumW2] {
        let (x, y) = (one.survey.number(one.node, name), two.survey.number(two.node, name));
        // a negative value means that no squares are stored, and adds nothing to those of the other
        let (x, y) = match (x, y) {
            (Some(x), Some(y)) if name == Name::SumW2 && y < 0.0 => (Some(x), Some(0.0)),
            (Some(x), Some(y)) if name == Name::SumW2 && x < 0.0 => (Some(0.0), Some(y)),
            both => both,
        };
        if let (Some(f), Some(x), Some(y)) = (one.survey.field(one.node, name), x, y) {
            changes.edits.push(Edit { at: f.at.clone(), bytes: real(f.code, x + y)? });
        }
    }
    for name in [Name::SumWX, Name::SumWX2] {
        let length = |p: Part| p.survey.field(p.node, name).map_or(0, |f| f.at.len().saturating_sub(4) / 8);
        if length(one) == length(two) {
            let places = Places::same(length(one));
            let sums = add_bare((one.survey, one.node), (two.survey, two.node), name, &places)?;
            changes.edits.extend(sums);
        }
    }
    Ok(())
}

/// The filled bins of one object.
struct Filled<'p> {
    /// Its chunks.
    chunks: Vec<Part<'p>>,
    /// Their position: from the first one to the end of their list, whose items begin there.
    list: usize,
    /// Bytes that identify a bin.
    key: usize,
    /// Type of the contents.
    item: i32,
    has_squares: bool,
    /// Bins in order: key, content, square of weights.
    bins: Vec<(&'p [u8], f64, f64)>,
}

impl<'p> Filled<'p> {
    fn of(part: Part<'p>) -> Result<Self> {
        let s = part.survey;
        let wrong = || Error::unsupported("is a sparse histogram in an unknown format");
        let list = s.child(part.node, Name::BinContent).ok_or_else(wrong)?;
        let mut out = Self { chunks: Vec::new(), list, key: 0, item: 0, has_squares: false, bins: Vec::new() };
        for node in s.children(list) {
            let chunk = part.at(node);
            let content = s.child(node, Name::Content).ok_or_else(wrong)?;
            let values = s.field(content, Name::Array).ok_or_else(wrong)?;
            let key = s.integer(node, Name::CoordinateSize).and_then(|n| usize::try_from(n).ok()).ok_or_else(wrong)?;
            let coordinates = s.field(node, Name::Coordinates).ok_or_else(wrong)?;
            // preceded by a flag
            let coordinates = s.data.get(coordinates.at.start + 1..coordinates.at.end).unwrap_or_default();
            if key == 0 || (out.key != 0 && out.key != key) || (out.item != 0 && out.item != values.code) {
                return Err(wrong());
            }
            (out.key, out.item) = (key, values.code);
            let items = s.data.get(values.at.start + 4..values.at.end).and_then(|v| reals(v, values.code));
            let items = items.ok_or_else(wrong)?;
            let squares = s.child(node, Name::Errors).and_then(|n| s.field(n, Name::Array));
            let squares = squares.and_then(|f| reals(s.data.get(f.at.start + 4..f.at.end)?, f.code));
            out.has_squares |= squares.is_some();
            for (i, bin) in coordinates.chunks_exact(key).enumerate() {
                let content = items.get(i).copied().ok_or_else(wrong)?;
                let square = squares.as_ref().map_or(Some(content), |q| q.get(i).copied()).ok_or_else(wrong)?;
                out.bins.push((bin, content, square));
            }
            out.chunks.push(chunk);
        }
        Ok(out)
    }
}

/// The sum of two histograms that store only filled bins.
///
/// # Errors
/// `Invalid` when their axes differ, `Unsupported` when they do not match their class.
pub(super) fn add_sparse<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    head(one, two, changes)?;
    let (x, y) = (Filled::of(one)?, Filled::of(two)?);
    let size = |p: Part| p.survey.integer(p.node, Name::ChunkSize).and_then(|n| usize::try_from(n).ok());
    let room = size(one).filter(|n| *n > 0).ok_or_else(|| Error::unsupported("has no chunk size"))?;
    // a chunk used as the template for all: one with squares of weights, if there are any
    let of = if y.has_squares && !x.has_squares { &y } else { &x };
    let other = if std::ptr::eq(of, &x) { &y } else { &x };
    let Some(&pattern) = of.chunks.first().or(other.chunks.first()) else { return Ok(()) };
    if x.key != 0 && y.key != 0 && (x.key, x.item) != (y.key, y.item) {
        return Err(Error::invalid("has bins of a different type"));
    }
    let mut at: HashMap<&[u8], usize> = HashMap::with_capacity(x.bins.len());
    let mut bins: Vec<(&[u8], f64, f64)> = Vec::with_capacity(x.bins.len());
    for &(bin, content, square) in x.bins.iter().chain(&y.bins) {
        let i = *at.entry(bin).or_insert(bins.len());
        match bins.get_mut(i) {
            Some(sum) => (sum.1, sum.2) = (sum.1 + content, sum.2 + square),
            None => bins.push((bin, content, square)),
        }
    }
    let a = one.survey;
    let (Some(list), Some(count)) = (a.nodes.get(x.list), a.field(x.list, Name::Size)) else {
        return Err(Error::unsupported("is a sparse histogram in an unknown format"));
    };
    if let Some(f) = a.field(one.node, Name::FilledBins) {
        let mut bytes = Vec::new();
        put_integer(&mut bytes, f.code, bins.len() as i64)?;
        changes.edits.push(Edit { at: f.at.clone(), bytes });
    }
    let mut bytes = Vec::new();
    put_integer(&mut bytes, count.code, bins.len().div_ceil(room) as i64)?;
    changes.edits.push(Edit { at: count.at.clone(), bytes });
    // the lower bound is between the count and the chunks
    let first = count.at.end + 4;
    changes.edits.push(Edit { at: first..list.at.end, bytes: Vec::new() });
    for some in bins.chunks(room) {
        let Some(node) = pattern.survey.nodes.get(pattern.node) else { continue };
        changes.inserts.push(Insert {
            at: list.at.end,
            within: first,
            from: pattern.survey,
            part: node.at.clone(),
            edits: chunk(pattern, some, room)?,
            after: &[],
        });
    }
    Ok(())
}

/// Creates a chunk from the template: room for `room` bins, of which these are filled.
fn chunk(pattern: Part, bins: &[(&[u8], f64, f64)], room: usize) -> Result<Vec<Edit>> {
    let (s, node) = (pattern.survey, pattern.node);
    let mut edits = Vec::new();
    let coordinates: Vec<u8> = bins.iter().flat_map(|b| b.0.iter().copied()).collect();
    if let Some(f) = s.field(node, Name::CoordinatesSize) {
        let mut bytes = Vec::new();
        put_integer(&mut bytes, f.code, coordinates.len() as i64)?;
        edits.push(Edit { at: f.at.clone(), bytes });
    }
    if let Some(f) = s.field(node, Name::Coordinates) {
        let bytes = [1].into_iter().chain(coordinates).collect();
        edits.push(Edit { at: f.at.clone(), bytes });
    }
    for (name, square) in [(Name::Content, false), (Name::Errors, true)] {
        let Some(f) = s.child(node, name).and_then(|n| s.field(n, Name::Array)) else { continue };
        let mut bytes = (room as u32).to_be_bytes().to_vec();
        for b in bins {
            bytes.extend(real(f.code, if square { b.2 } else { b.1 })?);
        }
        bytes.resize(4 + room.saturating_mul(width(f.code)?), 0);
        debug_assert!(!square || f.code == code::DOUBLE);
        edits.push(Edit { at: f.at.clone(), bytes });
    }
    Ok(edits)
}
