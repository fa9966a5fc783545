//! Fills buffered in histograms until ROOT chooses limits for their axes.

use super::filled::Filled;
use super::part::Part;
use sapwood_edit::survey::{Changes, Edit, Name};
use sapwood_span::{Error, Result};

/// Refuses fills that ROOT itself cannot fill into the bins of another histogram.
///
/// # Errors
/// `Invalid` when there are such fills.
pub(super) fn check(f: &Filled, rows: &[f64]) -> Result<()> {
    let why = if rows.is_empty() {
        return Ok(());
    } else if f.profile {
        "is a profile with fills in its buffer and no axis limits yet"
    } else if f.in_powers_of_two() {
        "still has its fills in a buffer, and chooses its limits as powers of two"
    } else {
        return Ok(());
    };
    Err(Error::invalid(why).with_remedy("set the limits of its axes, or call BufferEmpty before it is written"))
}

/// Both histograms' fills in the buffer of the first one, for the limits that ROOT will choose from all of them. False
/// when there is no room for them: ROOT then chooses from those that fit, and the first one has bins with such limits
/// from here on.
///
/// # Errors
/// `Invalid` when fills do not determine limits.
pub(super) fn join<'p>(
    x: &mut Filled<'p>,
    y: &Filled<'p>,
    rows: &[f64],
    other_rows: &[f64],
    changes: &mut Changes<'p>,
) -> Result<bool> {
    check(x, rows)?;
    check(y, other_rows)?;
    if other_rows.is_empty() {
        return Ok(true);
    }
    let row = x.row();
    let Some(f) = x.part.survey.field(x.part.node, Name::Buffer).filter(|_| row == y.row()) else {
        return Err(Error::unsupported("has a buffer in an unknown format"));
    };
    let all: Vec<f64> = rows.iter().chain(other_rows).copied().collect();
    // preceded by a flag; the first number is the number of fills
    let size = f.at.len().saturating_sub(1) / 8;
    let room = size.saturating_sub(1) / row * row;
    if all.len() > room {
        let first = all.get(..room).filter(|first| !first.is_empty() && all.iter().all(|x| x.is_finite()));
        let first = first.filter(|_| x.axes.iter().all(|a| !a.whole_numbers() && a.labels.is_none()));
        let Some(first) = first else {
            return Err(Error::invalid("has no limits for its axes, and more fills than its buffer can contain")
                .with_remedy("set the limits of its axes, or a larger buffer with SetBuffer"));
        };
        x.choose_limits(first);
        return Ok(false);
    }
    let count = (all.len() / row) as f64;
    let mut bytes = vec![1];
    for number in std::iter::once(count).chain(all).chain(std::iter::repeat(0.0)).take(size) {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    changes.edits.push(Edit { at: f.at.clone(), bytes });
    Ok(true)
}

/// Marks the buffer as empty: the fills are in the bins. ROOT would record how many were filled, and on the next fill
/// discard all bins in favour of those, though they include the other histogram's entries.
pub(super) fn clear(part: Part, edits: &mut Vec<Edit>) {
    let Some(f) = part.survey.field(part.node, Name::Buffer) else { return };
    if f.at.len() > 8 {
        edits.push(Edit { at: f.at.start + 1..f.at.start + 9, bytes: 0f64.to_be_bytes().to_vec() });
    }
}
