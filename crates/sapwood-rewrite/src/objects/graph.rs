//! Graphs: the points of the second after those of the first (`TGraph::Merge`).

use super::part::Part;
use sapwood_edit::survey::{Changes, Edit, Name, Survey, put_integer};
use sapwood_format::streamer::code;
use sapwood_span::{Error, Result};

/// The columns for the points of graphs of a class; none where graphs are kept separately (like graphs in two
/// dimensions in ROOT; it cannot append several errors of one point, `TGraphMultiErrors`, without a crash).
pub(super) fn columns(class: &str) -> Option<&'static [Name]> {
    use Name::{
        X, XBendHigh, XBendLow, XError, XErrorHigh, XErrorLow, Y, YBendHigh, YBendLow, YError, YErrorHigh, YErrorLow,
    };
    Some(match class {
        "TGraph" | "TCutG" => &[X, Y],
        "TGraphErrors" => &[X, Y, XError, YError],
        "TGraphAsymmErrors" => &[X, Y, XErrorLow, XErrorHigh, YErrorLow, YErrorHigh],
        "TGraphBentErrors" => {
            &[X, Y, XErrorLow, XErrorHigh, YErrorLow, YErrorHigh, XBendLow, XBendHigh, YBendLow, YBendHigh]
        }
        _ => return None,
    })
}

/// Set when the frame stored with a graph no longer fits its points (`TGraph::kResetHisto`).
const RESET_FRAME: u32 = 1 << 17;

/// Both graphs in one.
///
/// # Errors
/// `Unsupported` when they do not match their class.
pub(super) fn append<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    let (a, b) = (one.survey, two.survey);
    let (Some(points), Some(n), Some(m)) =
        (a.field(one.node, Name::Points), a.integer(one.node, Name::Points), b.integer(two.node, Name::Points))
    else {
        return Err(Error::unsupported("has no points"));
    };
    let mut bytes = Vec::new();
    put_integer(&mut bytes, points.code, n.saturating_add(m))?;
    changes.edits.push(Edit { at: points.at.clone(), bytes });
    for &name in columns(one.class()).unwrap_or_default() {
        let (x, y) = (column(a, one.node, name, n)?, column(b, two.node, name, m)?);
        let Some(f) = a.field(one.node, name) else { continue };
        let mut bytes = vec![u8::from(n.saturating_add(m) > 0)];
        bytes.extend_from_slice(x);
        bytes.extend_from_slice(y);
        changes.edits.push(Edit { at: f.at.clone(), bytes });
    }
    if let (Some(f), Some(bits)) = (a.field(one.node, Name::Bits), a.integer(one.node, Name::Bits)) {
        let bits = u32::try_from(bits).unwrap_or(0) | RESET_FRAME;
        changes.edits.push(Edit { at: f.at.clone(), bytes: bits.to_be_bytes().to_vec() });
    }
    Ok(())
}

/// The bytes of a column of `n` points, without the leading flag.
fn column<'a>(s: &Survey<'a>, node: usize, name: Name, n: i64) -> Result<&'a [u8]> {
    let lacks = || Error::unsupported(format!("does not have {n} values of {}", name.text()));
    let f = s.field(node, name).ok_or_else(lacks)?;
    let raw = s.data.get(f.at.clone()).and_then(<[u8]>::split_first);
    let items = raw.map_or(&[][..], |(flag, items)| if *flag == 0 { &[] } else { items });
    if f.code != code::OFFSET_P + code::DOUBLE || i64::try_from(items.len() / 8) != Ok(n) {
        return Err(lacks());
    }
    Ok(items)
}
