//! Numbers (`TParameter`): added, or combined as their bits request.

use super::numbers::real;
use super::part::Part;
use sapwood_edit::survey::{Changes, Edit, Name, put_integer};
use sapwood_format::streamer::code;
use sapwood_span::{Error, Result};

/// The sum of two `TParameter`, or the combination that their bits request.
///
/// # Errors
/// `Invalid` when it overflows.
pub(super) fn add<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    let (a, b) = (one.survey, two.survey);
    let (Some(f), Some(_)) = (a.field(one.node, Name::Value), b.field(two.node, Name::Value)) else {
        return Err(Error::unsupported("has no value"));
    };
    let bits = a.integer(one.node, Name::Bits).unwrap_or(0);
    // TParameter::EStatusBits
    let has = |bit: u32| bits >> bit & 1 == 1;
    let (multiply, most, least, first, last) = (has(16), has(17), has(18), has(19), has(20));
    let bytes = if matches!(f.code, code::DOUBLE | code::FLOAT) {
        let x = a.number(one.node, Name::Value).unwrap_or(0.0);
        let y = b.number(two.node, Name::Value).unwrap_or(0.0);
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
        let x = a.integer(one.node, Name::Value).unwrap_or(0);
        let y = b.integer(two.node, Name::Value).unwrap_or(0);
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
    changes.edits.push(Edit { at: f.at.clone(), bytes });
    Ok(())
}
