//! Histograms, added bin by bin in the bytes of the first one.

use crate::survey::{Edit, Name, Survey, put_integer, survey, width};
use sapwood_format::Streamers;
use sapwood_format::cursor::Cursor;
use sapwood_format::streamer::code;
use sapwood_span::{Error, Result};

/// Whether objects of a class are added: one to three dimensions of every kind of bin, and profiles.
pub(crate) fn is_histogram(class: &str) -> bool {
    let dimensions = ["TH1", "TH2", "TH3"].iter().find_map(|p| class.strip_prefix(p));
    matches!(class, "TProfile" | "TProfile2D" | "TProfile3D")
        || dimensions.is_some_and(|kind| matches!(kind, "C" | "S" | "I" | "L" | "F" | "D" | "K"))
}

/// Whether objects of a class are numbers that are added (`TParameter`).
pub(crate) fn is_parameter(class: &str) -> bool {
    class.starts_with("TParameter<")
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

/// An object: inflated payload, length of its label, class, and its file's class descriptions.
#[derive(Clone, Copy)]
pub(crate) struct Streamed<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) base: usize,
    pub(crate) class: &'a str,
    pub(crate) streamers: &'a Streamers,
}

impl<'a> Streamed<'a> {
    pub(super) fn survey(&self) -> Result<Survey<'a>> {
        survey(self.data, self.base, self.class, self.streamers)
    }
}

/// The sum of two histograms, in the bytes of the first and behind its label.
///
/// # Errors
/// `Invalid` when they cannot be added, with the difference.
pub(crate) fn add(one: Streamed, two: Streamed) -> Result<Vec<u8>> {
    if one.class != two.class {
        return Err(Error::invalid(format!("is a {}, not a {}", two.class, one.class)));
    }
    let (a, b) = (one.survey()?, two.survey()?);
    same_axes(&a, &b)?;
    for s in [&a, &b] {
        if reals(s, Name::Buffer).is_some_and(|b| b.first().is_some_and(|&n| n != 0.0)) {
            return Err(Error::unsupported("still holds its fills in a buffer, without bins")
                .with_remedy("call BufferEmpty before it is written"));
        }
    }
    let mut edits = Vec::new();
    let (sa, sb) = (statistics(&a, one.class), statistics(&b, two.class));
    for (i, name) in SUMS.into_iter().enumerate() {
        if let (Some(f), Some(x), Some(y)) = (a.field(0, name), sa[i], sb[i]) {
            edits.push(Edit { at: f.at.clone(), bytes: real(f.code, x + y)? });
        }
    }
    let (Some(ca), Some(cb)) = (reals(&a, Name::Array), reals(&b, Name::Array)) else {
        return Err(Error::unsupported("has no bins"));
    };
    if ca.len() != cb.len() {
        return Err(Error::invalid(format!("has {} bins, not {}", cb.len(), ca.len())));
    }
    edit_bins(&a, &b, Name::Array, &mut edits)?;
    let profile = one.class.starts_with("TProfile");
    // squares of weights are kept by some and not by others: without, they are the contents themselves
    variances(&a, &b, Name::Errors, (&ca, &cb), &mut edits);
    if profile {
        let (Some(na), Some(nb)) = (reals(&a, Name::BinEntries), reals(&b, Name::BinEntries)) else {
            return Err(Error::unsupported("has no entries per bin"));
        };
        edit_bins(&a, &b, Name::BinEntries, &mut edits)?;
        variances(&a, &b, Name::BinSumw2, (&na, &nb), &mut edits);
    }
    a.rewrite(&mut edits, one.base)
}

/// The sum of two `TParameter`, or what their bits say instead of a sum.
///
/// # Errors
/// `Invalid` when they are of two kinds.
pub(crate) fn add_parameters(one: Streamed, two: Streamed) -> Result<Vec<u8>> {
    if one.class != two.class {
        return Err(Error::invalid(format!("is a {}, not a {}", two.class, one.class)));
    }
    let (a, b) = (one.survey()?, two.survey()?);
    let (Some(f), Some(g)) = (a.field(0, Name::Value), b.field(0, Name::Value)) else {
        return Err(Error::unsupported("has no value"));
    };
    let bits = a.integer(0, Name::Bits).unwrap_or(0);
    // TParameter::EStatusBits
    let has = |bit: u32| bits >> bit & 1 == 1;
    let (multiply, most, least, first, last) = (has(16), has(17), has(18), has(19), has(20));
    let bytes = if matches!(f.code, code::DOUBLE | code::FLOAT) {
        let (x, y) = (a.number(0, Name::Value).unwrap_or(0.0), b.number(0, Name::Value).unwrap_or(0.0));
        let sum = match () {
            () if multiply => x * y,
            () if most => x.max(y),
            () if least => x.min(y),
            () if first => x,
            () if last => y,
            () => x + y,
        };
        real(f.code, sum)?
    } else {
        let (x, y) = (a.integer(0, Name::Value).unwrap_or(0), b.integer(0, Name::Value).unwrap_or(0));
        let sum = match () {
            () if multiply => x.checked_mul(y),
            () if most => Some(x.max(y)),
            () if least => Some(x.min(y)),
            () if first => Some(x),
            () if last => Some(y),
            () if f.code == code::BOOL => Some(x | y),
            () => x.checked_add(y),
        };
        let sum = sum.ok_or_else(|| Error::invalid("overflows its type"))?;
        let mut bytes = Vec::new();
        put_integer(&mut bytes, f.code, sum)?;
        bytes
    };
    debug_assert_eq!(f.code, g.code);
    a.rewrite(&mut [Edit { at: f.at.clone(), bytes }], one.base)
}

/// Bins of both must be the same.
fn same_axes(a: &Survey, b: &Survey) -> Result<()> {
    for name in AXES {
        let axis = |s: &Survey| s.find(|n| n.parent == 0 && n.via == Some(name)).next();
        let (x, y) = match (axis(a), axis(b)) {
            (None, None) => continue,
            (Some(x), Some(y)) => (x, y),
            _ => return Err(Error::invalid("has another number of axes")),
        };
        let facts = |s: &Survey, n: usize| {
            let number = |name| s.number(n, name).unwrap_or(0.0);
            (number(Name::Nbins), number(Name::Xmin), number(Name::Xmax))
        };
        let (p, q) = (facts(a, x), facts(b, y));
        let letter = name.text().trim_start_matches('f');
        if p != q {
            let text = |(n, low, high): (f64, f64, f64)| format!("{n} bins from {low} to {high}");
            return Err(Error::invalid(format!("has {} on its {letter}, not {}", text(q), text(p)))
                .with_remedy("rebin one of them, or leave it out"));
        }
        if array(a, x, Name::Xbins) != array(b, y, Name::Xbins) {
            return Err(Error::invalid(format!("has other bin edges on its {letter}")));
        }
        let (l, m) = (labels(a, x), labels(b, y));
        if l != m {
            return Err(Error::invalid(format!("has other labels on its {letter}: {}, not {}", names(&m), names(&l)))
                .with_remedy("give all of them the same labels in the same order, or leave it out"));
        }
    }
    Ok(())
}

/// The labels of an axis with their bins, by bin.
fn labels(s: &Survey, axis: usize) -> Vec<(i64, Vec<u8>)> {
    let Some(list) = s.find(|n| n.parent == axis && n.via == Some(Name::Labels)).next() else { return Vec::new() };
    let items = s.find(|n| n.parent == list);
    let mut out: Vec<(i64, Vec<u8>)> =
        items.filter_map(|i| Some((s.integer(i, Name::UniqueId)?, s.text(i, Name::Text)?.to_vec()))).collect();
    out.sort();
    out
}

fn names(labels: &[(i64, Vec<u8>)]) -> String {
    if labels.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = labels.iter().take(5).map(|(_, n)| String::from_utf8_lossy(n).into_owned()).collect();
    format!("{}{}", shown.join(", "), if labels.len() > 5 { ", …" } else { "" })
}

/// The items of a bare array.
fn array(s: &Survey, node: usize, name: Name) -> Option<Vec<f64>> {
    let f = s.field(node, name)?;
    let raw = s.data.get(f.at.clone())?;
    // a counted array begins with a flag, a bare one with its length
    let (item, skip) = if f.code > code::OFFSET_P && f.code < 60 { (f.code - code::OFFSET_P, 1) } else { (f.code, 4) };
    let items = raw.get(skip..).unwrap_or_default();
    let n = items.len() / width(item).ok()?;
    let mut c = Cursor::new(items, 0);
    (0..n).map(|_| read_real(&mut c, item).ok()).collect()
}

fn reals(s: &Survey, name: Name) -> Option<Vec<f64>> {
    array(s, 0, name)
}

fn read_real(c: &mut Cursor, k: i32) -> Result<f64> {
    Ok(match k {
        code::FLOAT => f64::from(c.f32()?),
        code::DOUBLE => c.f64()?,
        k => crate::survey::read_integer(c, k)? as f64,
    })
}

fn real(k: i32, value: f64) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    match k {
        code::DOUBLE => out.extend_from_slice(&value.to_be_bytes()),
        code::FLOAT | code::DOUBLE32 => out.extend_from_slice(&(value as f32).to_be_bytes()),
        k => put_integer(&mut out, k, value as i64)?,
    }
    Ok(out)
}

/// Exchanges an array for the sum of both, item by item. Whole numbers stay within their type, as in ROOT.
fn edit_bins(a: &Survey, b: &Survey, name: Name, edits: &mut Vec<Edit>) -> Result<()> {
    let (Some(f), Some(g)) = (a.field(0, name), b.field(0, name)) else { return Ok(()) };
    let (x, y) = (a.data.get(f.at.clone()).unwrap_or_default(), b.data.get(g.at.clone()).unwrap_or_default());
    let (Some((head, x)), Some((_, y))) = (x.split_at_checked(4), y.split_at_checked(4)) else { return Ok(()) };
    if x.len() != y.len() || f.code != g.code {
        return Err(Error::invalid("has another number of bins"));
    }
    let mut bytes = head.to_vec();
    let (mut x, mut y) = (Cursor::new(x, 0), Cursor::new(y, 0));
    while x.left() > 0 {
        let most = match f.code {
            code::DOUBLE => {
                bytes.extend_from_slice(&(x.f64()? + y.f64()?).to_be_bytes());
                continue;
            }
            code::FLOAT => {
                bytes.extend_from_slice(&(x.f32()? + y.f32()?).to_be_bytes());
                continue;
            }
            code::CHAR => 127,
            code::SHORT => 32767,
            code::INT => i64::from(i32::MAX),
            _ => i64::MAX,
        };
        let sum =
            crate::survey::read_integer(&mut x, f.code)?.saturating_add(crate::survey::read_integer(&mut y, f.code)?);
        put_integer(&mut bytes, f.code, sum.clamp(-most, most))?;
    }
    edits.push(Edit { at: f.at.clone(), bytes });
    Ok(())
}

/// Adds the squares of weights, if one of both keeps them; who does not has `contents` instead.
fn variances(a: &Survey, b: &Survey, name: Name, contents: (&[f64], &[f64]), edits: &mut Vec<Edit>) {
    let Some(f) = a.field(0, name) else { return };
    let (x, y) = (array(a, 0, name).unwrap_or_default(), array(b, 0, name).unwrap_or_default());
    if x.is_empty() && y.is_empty() {
        return;
    }
    let x = if x.is_empty() { contents.0 } else { &x };
    let y = if y.is_empty() { contents.1 } else { &y };
    let mut bytes = (x.len() as u32).to_be_bytes().to_vec();
    for (x, y) in x.iter().zip(y) {
        bytes.extend_from_slice(&(x + y).to_be_bytes());
    }
    edits.push(Edit { at: f.at.clone(), bytes });
}

/// The statistics in the order of [`SUMS`]. Where none were kept though there are entries (contents set by hand), they
/// are worked out from the bins, as `TH1::GetStats` does.
fn statistics(s: &Survey, class: &str) -> [Option<f64>; 14] {
    let mut out = SUMS.map(|name| s.number(0, name));
    let kept = out[1] != Some(0.0) || out[0].unwrap_or(0.0) <= 0.0;
    if kept || class.starts_with("TProfile") {
        return out;
    }
    let dimensions = class.as_bytes().get(2).map_or(1, |d| usize::from(d.saturating_sub(b'0')));
    let Some(contents) = reals(s, Name::Array) else { return out };
    let errors = reals(s, Name::Errors).filter(|e| e.len() == contents.len());
    let centers: Vec<Vec<f64>> = AXES
        .iter()
        .take(dimensions)
        .filter_map(|&name| s.find(|n| n.parent == 0 && n.via == Some(name)).next())
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

/// The middle of each bin of an axis.
fn centers(s: &Survey, axis: usize) -> Vec<f64> {
    let edges = array(s, axis, Name::Xbins).unwrap_or_default();
    if edges.len() > 1 {
        return edges.windows(2).map(|w| (w[0] + w[1]) / 2.0).collect();
    }
    let n = s.integer(axis, Name::Nbins).unwrap_or(0).clamp(0, 1 << 30);
    // bins that are named mean no number: ROOT's sums leave them out
    if n > 0 && labels(s, axis).len() as i64 == n {
        return vec![0.0; n as usize];
    }
    let (low, high) = (s.number(axis, Name::Xmin).unwrap_or(0.0), s.number(axis, Name::Xmax).unwrap_or(0.0));
    let step = (high - low) / n.max(1) as f64;
    (0..n).map(|i| low + (i as f64 + 0.5) * step).collect()
}
