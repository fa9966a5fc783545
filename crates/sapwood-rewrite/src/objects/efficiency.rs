//! Efficiencies: passed and total histograms are added, as in `TEfficiency::Merge`.

use super::hist;
use super::numbers::real;
use super::part::Part;
use sapwood_edit::survey::{Changes, Edit, Name};
use sapwood_format::is_histogram;
use sapwood_span::{Error, Result};

/// The sum of two efficiencies.
///
/// # Errors
/// As for the histograms in them.
pub(super) fn add<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    for (name, what) in [(Name::Passed, "passed"), (Name::Total, "total")] {
        let (Some(a), Some(b)) = (one.survey.child(one.node, name), two.survey.child(two.node, name)) else {
            return Err(Error::unsupported(format!("has no histogram of what {what}")));
        };
        let (a, b) = (one.at(a), two.at(b));
        if a.class() != b.class() || !is_histogram(a.class()) {
            let text = format!("counts what {what} in a {}, not a {}", b.class(), a.class());
            return Err(Error::invalid(text));
        }
        hist::add(a, b, changes)?;
    }
    let weight = |p: Part| p.survey.number(p.node, Name::Weight).filter(|w| *w > 0.0);
    if let (Some(f), Some(v), Some(w)) = (one.survey.field(one.node, Name::Weight), weight(one), weight(two)) {
        // TEfficiency::operator+=: samples of different luminosity share one weight
        changes.edits.push(Edit { at: f.at.clone(), bytes: real(f.code, v * w / (v + w))? });
    }
    Ok(())
}
