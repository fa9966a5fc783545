//! Axes of two histograms: whether bins are the same, and where they go where they are not.

use super::numbers::{array, real};
use super::rules::Part;
use crate::survey::{Edit, Name, Survey, put_integer};
use sapwood_span::{Error, Result};

/// The axis of both.
pub(super) struct Joined {
    /// Bins, without those below and above.
    bins: usize,
    low: f64,
    high: f64,
    /// For each bin of the one and the other its place here, those below and above counted; none where nothing moves.
    first: Option<Vec<usize>>,
    second: Option<Vec<usize>>,
}

impl Joined {
    /// Cells, those below and above counted.
    pub(super) fn cells(&self) -> usize {
        self.bins.saturating_add(2)
    }

    /// Where bins of the first and of the second go.
    pub(super) fn places(&self, second: bool) -> Option<&[usize]> {
        if second { self.second.as_deref() } else { self.first.as_deref() }
    }

    /// Whether the first one's bins are those of both.
    pub(super) fn fits_first(&self) -> bool {
        self.first.is_none()
    }

    /// What this changes in the first one's axis.
    pub(super) fn edits(&self, axis: Part, edits: &mut Vec<Edit>) -> Result<()> {
        let (s, n) = (axis.survey, axis.node);
        if let Some(f) = s.field(n, Name::Nbins) {
            let mut bytes = Vec::new();
            put_integer(&mut bytes, f.code, self.bins as i64)?;
            edits.push(Edit { at: f.at.clone(), bytes });
        }
        for (name, value) in [(Name::Xmin, self.low), (Name::Xmax, self.high)] {
            if let Some(f) = s.field(n, name) {
                edits.push(Edit { at: f.at.clone(), bytes: real(f.code, value)? });
            }
        }
        Ok(())
    }
}

/// What two axes have in common. Bins of one width on one grid become an axis over both, as ROOT has it; where all bins
/// have labels they are matched by these.
///
/// # Errors
/// `Invalid` when the bins are others, with the difference; `letter` names the axis.
pub(super) fn join(one: Part, two: Part, letter: &str) -> Result<Joined> {
    let (a, b) = (one.survey, two.survey);
    let facts = |p: Part| {
        let number = |name| p.survey.number(p.node, name).unwrap_or(0.0);
        (number(Name::Nbins), number(Name::Xmin), number(Name::Xmax))
    };
    let (p, q) = (facts(one), facts(two));
    let edges = |p: Part| array(p.survey, p.node, Name::Xbins).unwrap_or_default();
    let (e, f) = (edges(one), edges(two));
    let (l, m) = (labels(a, one.node), labels(b, two.node));
    let bins = if p.0 >= 0.0 && p.0 < 1e9 { p.0 as usize } else { 0 };
    let mut out = Joined { bins, low: p.1, high: p.2, first: None, second: None };
    if p != q {
        if l.is_empty() && m.is_empty() && e.is_empty() && f.is_empty() && on_one_grid(p, q, &mut out) {
            return Ok(out);
        }
        let text = |(n, low, high): (f64, f64, f64)| format!("{n} bins from {low} to {high}");
        return Err(Error::invalid(format!("has {} on its {letter}, not {}", text(q), text(p)))
            .with_remedy("rebin one of them, or leave it out"));
    }
    if e != f {
        return Err(Error::invalid(format!("has other bin edges on its {letter}")));
    }
    if l != m {
        let Some(places) = by_label(&l, &m, bins) else {
            return Err(Error::invalid(format!("has other labels on its {letter}: {}, not {}", names(&m), names(&l)))
                .with_remedy("give all of them the same labels, or leave it out"));
        };
        out.second = Some(places);
    }
    Ok(out)
}

/// The axis over two with bins of one width, whose edges fall together.
fn on_one_grid(p: (f64, f64, f64), q: (f64, f64, f64), out: &mut Joined) -> bool {
    let (v, w) = ((p.2 - p.1) / p.0, (q.2 - q.1) / q.0);
    let shift = (q.1 - p.1) / v;
    let fits =
        p.0 >= 1.0 && q.0 >= 1.0 && v > 0.0 && ((v - w) / v).abs() < 1e-10 && (shift - shift.round()).abs() < 1e-6;
    let (low, high) = (p.1.min(q.1), p.2.max(q.2));
    let bins = ((high - low) / v).round();
    if !fits || !(1.0..1e8).contains(&bins) {
        return false;
    }
    let bins = bins as usize;
    let places = |(n, from, _): (f64, f64, f64)| {
        let first = ((from - low) / v).round() as usize;
        let n = n as usize;
        let inner = (1..=n).map(|i| first + i);
        Some([0].into_iter().chain(inner).chain([bins + 1]).collect::<Vec<usize>>())
    };
    *out = Joined { bins, low, high, first: places(p), second: places(q) };
    true
}

/// Where bins go that all have labels, the same ones in another order.
fn by_label(l: &[(i64, Vec<u8>)], m: &[(i64, Vec<u8>)], bins: usize) -> Option<Vec<usize>> {
    if l.len() != bins || m.len() != bins {
        return None;
    }
    let mut places: Vec<usize> = (0..bins + 2).collect();
    for (from, label) in m {
        let (to, _) = l.iter().find(|(_, other)| other == label)?;
        let to = usize::try_from(*to).ok().filter(|to| (1..=bins).contains(to))?;
        *places.get_mut(usize::try_from(*from).ok()?)? = to;
    }
    let mut seen = places.clone();
    seen.sort_unstable();
    seen.dedup();
    (seen.len() == bins + 2).then_some(places)
}

/// The labels of an axis with their bins, by bin.
fn labels(s: &Survey, axis: usize) -> Vec<(i64, Vec<u8>)> {
    let Some(list) = s.child(axis, Name::Labels) else { return Vec::new() };
    let items = s.children(list);
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

/// The middle of each bin of an axis.
pub(super) fn centers(s: &Survey, axis: usize) -> Vec<f64> {
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
