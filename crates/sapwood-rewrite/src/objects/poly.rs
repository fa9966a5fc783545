//! Histograms whose bins are polygons, added bin by bin (`TH2Poly::Add`).

use super::hist;
use super::numbers::{Places, real};
use super::part::Part;
use sapwood_edit::survey::{Changes, Edit, Field, Name};
use sapwood_format::streamer::code;
use sapwood_span::{Error, Result};

/// A bin and its content.
struct Bin<'p> {
    part: Part<'p>,
    content: &'p Field,
    value: f64,
}

/// The members that make two bins the same.
const EDGES: [Name; 5] = [Name::Xmin, Name::Xmax, Name::Ymin, Name::Ymax, Name::Area];

/// The sum of two histograms.
///
/// # Errors
/// `Invalid` when their bins differ, `Unsupported` when they do not match their class.
pub(super) fn add<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    let (a, b) = (bins(one)?, bins(two)?);
    if a.len() != b.len() {
        return Err(Error::invalid(format!("has {} bins, not {}", b.len(), a.len())));
    }
    for (i, (x, y)) in a.iter().zip(&b).enumerate() {
        let edges = |bin: &Bin| EDGES.map(|name| bin.part.survey.number(bin.part.node, name));
        if edges(x) != edges(y) {
            return Err(Error::invalid(format!("has a different polygon as bin {}", i + 1)));
        }
        changes.edits.push(Edit { at: x.content.at.clone(), bytes: real(x.content.code, x.value + y.value)? });
    }
    let (x, y) = (overflow(one)?, overflow(two)?);
    if x.1.len() != y.1.len() {
        return Err(Error::unsupported("has a different number of overflows"));
    }
    let sums: Vec<u8> = x.1.iter().zip(&y.1).flat_map(|(x, y)| (x + y).to_be_bytes()).collect();
    changes.edits.push(Edit { at: x.0.at.clone(), bytes: sums });
    // squares of weights are in the order of the overflows, then the bins
    let contents = |outside: &[f64], bins: &[Bin]| -> Vec<f64> {
        outside.iter().copied().chain(bins.iter().map(|b| b.value)).collect()
    };
    let cells = (contents(&x.1, &a), contents(&y.1, &b));
    hist::statistics_of_both(one, two, &mut changes.edits)?;
    let places = Places::same(cells.0.len());
    hist::variances(one, two, Name::Errors, (&cells.0, &cells.1), &places, &mut changes.edits);
    Ok(())
}

/// In the order of their numbers. Each is stored at its first occurrence: in the list of some cell that it covers.
fn bins<'p>(part: Part<'p>) -> Result<Vec<Bin<'p>>> {
    let s = part.survey;
    let within = s.nodes.get(part.node).map(|n| n.at.clone()).unwrap_or_default();
    let mut numbered = Vec::new();
    for node in s.find(|n| &*n.class == "TH2PolyBin" && within.contains(&n.at.start)) {
        let (content, value) = (s.field(node, Name::Content), s.number(node, Name::Content));
        let (Some(content), Some(value), Some(number)) = (content, value, s.integer(node, Name::BinNumber)) else {
            return Err(Error::unsupported("has bins without contents"));
        };
        numbered.push((number, Bin { part: part.at(node), content, value }));
    }
    numbered.sort_by_key(|(number, _)| *number);
    Ok(numbered.into_iter().map(|(_, bin)| bin).collect())
}

/// The contents outside of the bins: nine numbers, one for each side and corner.
fn overflow<'p>(part: Part<'p>) -> Result<(&'p Field, Vec<f64>)> {
    let lacks = || Error::unsupported("has its overflows in an unknown format");
    let f = part.survey.field(part.node, Name::Overflow).ok_or_else(lacks)?;
    let raw = part.survey.data.get(f.at.clone()).unwrap_or_default();
    let (items, rest) = raw.as_chunks::<8>();
    if f.code != code::OFFSET_L + code::DOUBLE || !rest.is_empty() {
        return Err(lacks());
    }
    Ok((f, items.iter().map(|b| f64::from_be_bytes(*b)).collect()))
}
