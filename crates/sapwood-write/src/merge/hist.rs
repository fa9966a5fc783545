//! Histograms, added bin by bin in the bytes of the first one.

use super::axes::{self, Joined, centers};
use super::numbers::{Places, add_bare, array, real};
use super::rules::Part;
use crate::survey::{Changes, Edit, Name, put_integer};
use sapwood_span::{Error, Result};

/// Whether objects of a class are added: one to three dimensions of every kind of bin, and profiles.
pub(crate) fn is_histogram(class: &str) -> bool {
    let dimensions = ["TH1", "TH2", "TH3"].iter().find_map(|p| class.strip_prefix(p));
    matches!(class, "TProfile" | "TProfile2D" | "TProfile3D")
        || dimensions.is_some_and(|kind| matches!(kind, "C" | "S" | "I" | "L" | "F" | "D" | "K"))
}

/// The axes, and the statistics that grow with every fill.
const AXES: [Name; 3] = [Name::XAxis, Name::YAxis, Name::ZAxis];
const SUMS: [Name; 14] = [
    Name::Entries,
    Name::SumW,
    Name::SumW2,
    Name::SumWX,
    Name::SumWX2,
    Name::SumWY,
    Name::SumWY2,
    Name::SumWXY,
    Name::SumWZ,
    Name::SumWZ2,
    Name::SumWXZ,
    Name::SumWYZ,
    Name::SumWT,
    Name::SumWT2,
];

/// The sum of two histograms.
///
/// # Errors
/// `Invalid` when they cannot be added, with the difference.
pub(super) fn add<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    let (a, b) = (one.survey, two.survey);
    for p in [one, two] {
        if array(p.survey, p.node, Name::Buffer).is_some_and(|b| b.first().is_some_and(|&n| n != 0.0)) {
            return Err(Error::unsupported("still holds its fills in a buffer, without bins")
                .with_remedy("call BufferEmpty before it is written"));
        }
    }
    let axes = join_axes(one, two)?;
    let bins = |p: Part| array(p.survey, p.node, Name::Array).ok_or_else(|| Error::unsupported("has no bins"));
    let (ca, cb) = (bins(one)?, bins(two)?);
    let places = cells(one, &axes, (&ca, &cb))?;
    let edits = &mut changes.edits;
    if axes.iter().any(|j| !j.fits_first()) {
        for (name, joined) in AXES.iter().zip(&axes) {
            if let Some(axis) = a.child(one.node, *name) {
                joined.edits(one.at(axis), edits)?;
            }
        }
        if let Some(f) = a.field(one.node, Name::Ncells) {
            let mut bytes = Vec::new();
            put_integer(&mut bytes, f.code, places.len as i64)?;
            edits.push(Edit { at: f.at.clone(), bytes });
        }
    }
    statistics_of_both(one, two, edits)?;
    edits.extend(add_bare((a, one.node), (b, two.node), Name::Array, &places)?);
    // squares of weights are kept by some and not by others: without, they are the contents themselves
    variances(one, two, Name::Errors, (&ca, &cb), &places, edits);
    if one.class().starts_with("TProfile") {
        let entries = |p: Part| {
            array(p.survey, p.node, Name::BinEntries).ok_or_else(|| Error::unsupported("has no entries per bin"))
        };
        let (na, nb) = (entries(one)?, entries(two)?);
        edits.extend(add_bare((a, one.node), (b, two.node), Name::BinEntries, &places)?);
        variances(one, two, Name::BinSumw2, (&na, &nb), &places, edits);
    }
    Ok(())
}

/// The axes of both.
fn join_axes(one: Part, two: Part) -> Result<Vec<Joined>> {
    let mut out = Vec::new();
    for name in AXES {
        match (one.survey.child(one.node, name), two.survey.child(two.node, name)) {
            (None, None) => {}
            (Some(x), Some(y)) => {
                out.push(axes::join(one.at(x), two.at(y), name.text().trim_start_matches('f'))?);
            }
            _ => return Err(Error::invalid("has another number of axes")),
        }
    }
    Ok(out)
}

/// Where the cells of both go.
fn cells(one: Part, axes: &[Joined], (ca, cb): (&[f64], &[f64])) -> Result<Places> {
    let moved = axes.iter().any(|j| !j.fits_first() || j.places(true).is_some());
    if !moved {
        if ca.len() != cb.len() {
            return Err(Error::invalid(format!("has {} bins, not {}", cb.len(), ca.len())));
        }
        return Ok(Places::same(ca.len()));
    }
    // every histogram has three axes, of which as many count as it has dimensions
    let axes = axes.get(..dimensions(one.class())).unwrap_or(axes);
    let len = axes.iter().try_fold(1usize, |n, j| n.checked_mul(j.cells())).filter(|n| *n < 1 << 30);
    let len = len.ok_or_else(|| Error::unsupported("would have too many bins"))?;
    let side = |second: bool, contents: &[f64]| -> Result<Option<Vec<usize>>> {
        if axes.iter().all(|j| j.places(second).is_none()) {
            return Ok(None);
        }
        let mut places = Vec::with_capacity(contents.len());
        for (cell, content) in contents.iter().enumerate() {
            let (mut rest, mut at, mut stride) = (cell, 0, 1);
            for j in axes {
                let n = j.places(second).map_or(j.cells(), <[usize]>::len);
                let bin = rest % n.max(1);
                rest /= n.max(1);
                let to = j.places(second).map_or(Some(bin), |p| p.get(bin).copied()).unwrap_or(bin);
                if !j.fits_first() && (bin == 0 || bin + 1 == n) && *content != 0.0 {
                    return Err(Error::invalid("has other limits, and entries below or above them")
                        .with_remedy("rebin one of them, or leave it out"));
                }
                at += to * stride;
                stride *= j.cells();
            }
            places.push(at);
        }
        Ok(Some(places))
    };
    Ok(Places { len, first: side(false, ca)?, second: side(true, cb)? })
}

/// Dimensions of a histogram or profile of a class.
fn dimensions(class: &str) -> usize {
    let digit = class.trim_start_matches("TH").trim_start_matches("TProfile").as_bytes().first();
    digit.filter(|d| d.is_ascii_digit()).map_or(1, |d| usize::from(d - b'0'))
}

/// Adds what grows with every fill.
pub(super) fn statistics_of_both<'p>(one: Part<'p>, two: Part<'p>, edits: &mut Vec<Edit>) -> Result<()> {
    for ((name, x), y) in SUMS.into_iter().zip(statistics(one)).zip(statistics(two)) {
        if let (Some(f), Some(x), Some(y)) = (one.survey.field(one.node, name), x, y) {
            edits.push(Edit { at: f.at.clone(), bytes: real(f.code, x + y)? });
        }
    }
    Ok(())
}

/// Adds the squares of weights, if one of both keeps them; who does not has `contents` instead.
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

/// The statistics in the order of [`SUMS`]. Where none were kept though there are entries (contents set by hand), they
/// are worked out from the bins, as `TH1::GetStats` does.
fn statistics(part: Part) -> [Option<f64>; 14] {
    let (s, class) = (part.survey, part.class());
    let mut out = SUMS.map(|name| s.number(part.node, name));
    let kept = out[1] != Some(0.0) || out[0].unwrap_or(0.0) <= 0.0;
    if kept || class.starts_with("TProfile") {
        return out;
    }
    let Some(contents) = array(s, part.node, Name::Array) else { return out };
    let errors = array(s, part.node, Name::Errors).filter(|e| e.len() == contents.len());
    let centers: Vec<Vec<f64>> = AXES
        .iter()
        .take(dimensions(class))
        .filter_map(|&name| s.child(part.node, name))
        .map(|axis| centers(s, axis))
        .collect();
    let mut sums = [0.0; 14];
    sums[0] = out[0].unwrap_or(0.0);
    for (cell, &w) in contents.iter().enumerate() {
        let mut rest = cell;
        let mut at = [0.0; 3];
        let mut inside = true;
        for (d, axis) in centers.iter().enumerate() {
            let (bin, n) = (rest % (axis.len() + 2), axis.len());
            rest /= axis.len() + 2;
            inside &= bin >= 1 && bin <= n;
            at[d] = axis.get(bin.wrapping_sub(1)).copied().unwrap_or(0.0);
        }
        if !inside {
            continue;
        }
        let [x, y, z] = at;
        let w2 = errors.as_ref().and_then(|e| e.get(cell)).copied().unwrap_or(w.abs());
        let terms = [w, w2, w * x, w * x * x, w * y, w * y * y, w * x * y, w * z, w * z * z, w * x * z, w * y * z];
        for (sum, term) in sums[1..].iter_mut().zip(terms) {
            *sum += term;
        }
    }
    for (value, sum) in out.iter_mut().zip(sums) {
        *value = value.map(|_| sum);
    }
    out
}
