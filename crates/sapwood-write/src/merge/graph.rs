//! Graphs: the points of the second behind those of the first (`TGraph::Merge`).

use super::hist::Streamed;
use crate::survey::{Edit, Name, Survey, put_integer};
use sapwood_format::streamer::code;
use sapwood_span::{Error, Result};

/// Whether objects of a class are points that are appended; those with errors are kept as they are.
pub(crate) fn is_graph(class: &str) -> bool {
    class == "TGraph"
}

/// What there is of each point.
const COLUMNS: [Name; 2] = [Name::X, Name::Y];

/// Set when the frame that is kept with a graph no longer fits its points (`TGraph::kResetHisto`).
const RESET_FRAME: u32 = 1 << 17;

/// Both graphs, in the bytes of the first and behind its label.
///
/// # Errors
/// `Unsupported` when they are of different classes, or not as their class has it.
pub(crate) fn append(one: Streamed, two: Streamed) -> Result<Vec<u8>> {
    if one.class != two.class {
        return Err(Error::unsupported(format!("is a {}, not a {}", two.class, one.class)));
    }
    let (a, b) = (one.survey()?, two.survey()?);
    let (Some(points), Some(n), Some(m)) =
        (a.field(0, Name::Points), a.integer(0, Name::Points), b.integer(0, Name::Points))
    else {
        return Err(Error::unsupported("has no points"));
    };
    let mut edits = Vec::new();
    let mut bytes = Vec::new();
    put_integer(&mut bytes, points.code, n.saturating_add(m))?;
    edits.push(Edit { at: points.at.clone(), bytes });
    for name in COLUMNS {
        let (x, y) = (column(&a, name, n)?, column(&b, name, m)?);
        let (Some(f), Some(x), Some(y)) = (a.field(0, name), x, y) else { continue };
        let mut bytes = vec![u8::from(n.saturating_add(m) > 0)];
        bytes.extend_from_slice(x);
        bytes.extend_from_slice(y);
        edits.push(Edit { at: f.at.clone(), bytes });
    }
    if let (Some(f), Some(bits)) = (a.field(0, Name::Bits), a.integer(0, Name::Bits)) {
        let bits = u32::try_from(bits).unwrap_or(0) | RESET_FRAME;
        edits.push(Edit { at: f.at.clone(), bytes: bits.to_be_bytes().to_vec() });
    }
    edits.sort_by_key(|e| e.at.start);
    a.rewrite(&mut edits, one.base)
}

/// The bytes of a column of `n` points, without the flag in front; none where the class has no such column.
fn column<'a>(s: &Survey<'a>, name: Name, n: i64) -> Result<Option<&'a [u8]>> {
    let Some(f) = s.field(0, name) else { return Ok(None) };
    let raw = s.data.get(f.at.clone()).and_then(<[u8]>::split_first);
    let items = raw.map_or(&[][..], |(flag, items)| if *flag == 0 { &[] } else { items });
    if f.code != code::OFFSET_P + code::DOUBLE || i64::try_from(items.len() / 8) != Ok(n) {
        return Err(Error::unsupported(format!("has not {n} values of {}", name.text())));
    }
    Ok(Some(items))
}
