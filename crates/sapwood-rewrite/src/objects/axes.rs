//! Axes of two histograms: whether their bins are the same, and otherwise where bins go.

use super::numbers::{array, real};
use super::part::Part;
use sapwood_edit::survey::{Edit, Name, Survey, put_integer};
use sapwood_span::{Error, Result};

/// `TAxis::fBits2`: the axis has labels (1), and extends for values outside (2).
pub(super) const NAMED: i64 = 1;
pub(super) const EXTENDS: i64 = 2;

/// `TAxis::kIsInteger`, a bit of the object.
const WHOLE_NUMBERS: i64 = 1 << 22;

/// An axis.
#[derive(Clone)]
pub(super) struct Axis<'p> {
    pub(super) part: Part<'p>,
    /// Bins, without underflow and overflow.
    pub(super) bins: usize,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Edges of its bins where these differ in width.
    pub(super) edges: Vec<f64>,
    /// Labels of bins, by bin; none where it has no list of them, which may be empty.
    pub(super) labels: Option<Vec<(usize, Vec<u8>)>>,
    /// Whether it extends for values outside.
    pub(super) extends: bool,
}

impl<'p> Axis<'p> {
    pub(super) fn of(part: Part<'p>) -> Self {
        let (s, node) = (part.survey, part.node);
        let number = |name| s.number(node, name).unwrap_or(0.0);
        let bins = number(Name::Nbins);
        let bins = if (0.0..1e9).contains(&bins) { bins as usize } else { 0 };
        Self {
            part,
            bins,
            low: number(Name::Xmin),
            high: number(Name::Xmax),
            edges: array(s, node, Name::Xbins).unwrap_or_default(),
            labels: labels(s, node, bins),
            extends: s.integer(node, Name::AxisBits).unwrap_or(0) & EXTENDS != 0,
        }
    }

    /// Whether it has limits; without, ROOT chooses them from the first fills.
    pub(super) fn has_limits(&self) -> bool {
        self.low < self.high
    }

    /// Whether ROOT chooses limits and bins for it as whole numbers (`TAxis::kIsInteger`).
    pub(super) fn whole_numbers(&self) -> bool {
        self.part.survey.integer(self.part.node, Name::Bits).unwrap_or(0) & WHOLE_NUMBERS != 0
    }

    /// Whether the bins are the same as those of another axis.
    pub(super) fn same_bins(&self, other: &Self) -> bool {
        (self.bins, self.low, self.high) == (other.bins, other.low, other.high) && self.edges == other.edges
    }

    /// The label of a bin.
    pub(super) fn label(&self, bin: usize) -> Option<&[u8]> {
        let names = self.names();
        let at = names.partition_point(|(b, _)| *b < bin);
        names.get(at).filter(|(b, _)| *b == bin).map(|(_, name)| name.as_slice())
    }

    /// Labels of bins.
    pub(super) fn names(&self) -> &[(usize, Vec<u8>)] {
        self.labels.as_deref().unwrap_or_default()
    }

    /// The centre of a bin, 0 being the underflow.
    pub(super) fn center(&self, bin: usize) -> f64 {
        if let Some([low, high]) = bin.checked_sub(1).and_then(|b| self.edges.get(b..b + 2)) {
            return 0.5 * (low + high);
        }
        let width = (self.high - self.low) / self.bins.max(1) as f64;
        self.low + (bin as f64 - 0.5) * width
    }

    /// The bin of a value (`TAxis::FindFixBin`).
    pub(super) fn find(&self, x: f64) -> usize {
        if x < self.low {
            0
        } else if x < self.high {
            match self.edges.is_empty() {
                true => 1 + ((self.bins as f64 * (x - self.low) / (self.high - self.low)) as usize).min(self.bins),
                false => self.edges.partition_point(|edge| *edge <= x),
            }
        } else {
            self.bins + 1
        }
    }

    /// The limits after extending for a value (`TH1::FindNewAxisLimits`): doubled until it is inside.
    pub(super) fn grown(&self, x: f64) -> Option<(f64, f64)> {
        let (mut low, mut high) = (self.low, self.high);
        if !x.is_finite() || low >= high || self.bins == 0 {
            return None;
        }
        for _ in 0..64 {
            let range = high - low;
            if x < low {
                low -= range;
            } else if x >= high {
                high += range;
            } else {
                return Some((low, high));
            }
        }
        None
    }
}

/// The axis for both.
pub(super) struct Joined {
    /// Bins, without underflow and overflow.
    pub(super) bins: usize,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) edges: Vec<f64>,
    /// For each bin of the first and the second its new number, including underflow and overflow; none where nothing
    /// moves.
    pub(super) first: Option<Vec<usize>>,
    pub(super) second: Option<Vec<usize>>,
    /// Whether the first and the second may have underflow and overflow.
    pub(super) outside: [[bool; 2]; 2],
    /// Bins of the second whose labels the first one lacks, with their new numbers.
    pub(super) named: Vec<(usize, usize)>,
}

impl Joined {
    /// The first one's axis, in which the bins of the second keep their numbers.
    pub(super) fn same(axis: &Axis) -> Self {
        Self {
            bins: axis.bins,
            low: axis.low,
            high: axis.high,
            edges: axis.edges.clone(),
            first: None,
            second: None,
            outside: [[true; 2]; 2],
            named: Vec::new(),
        }
    }

    /// Cells, including underflow and overflow.
    pub(super) fn cells(&self) -> usize {
        self.bins.saturating_add(2)
    }

    /// New numbers of the bins of the first or the second.
    pub(super) fn places(&self, second: bool) -> Option<&[usize]> {
        if second { self.second.as_deref() } else { self.first.as_deref() }
    }

    /// Whether the first one's bins are those of both.
    pub(super) fn fits_first(&self) -> bool {
        self.first.is_none()
    }

    /// The changes to the first one's axis in its file.
    pub(super) fn edits(&self, axis: Part, edits: &mut Vec<Edit>) -> Result<()> {
        let was = Axis::of(axis);
        let (s, n) = (axis.survey, axis.node);
        if let Some(f) = s.field(n, Name::Nbins).filter(|_| was.bins != self.bins) {
            let mut bytes = Vec::new();
            put_integer(&mut bytes, f.code, self.bins as i64)?;
            edits.push(Edit { at: f.at.clone(), bytes });
        }
        for (name, was, value) in [(Name::Xmin, was.low, self.low), (Name::Xmax, was.high, self.high)] {
            if let Some(f) = s.field(n, name).filter(|_| was != value) {
                edits.push(Edit { at: f.at.clone(), bytes: real(f.code, value)? });
            }
        }
        if let Some(f) = s.field(n, Name::Xbins).filter(|_| was.edges != self.edges) {
            let mut bytes = (self.edges.len() as u32).to_be_bytes().to_vec();
            bytes.extend(self.edges.iter().flat_map(|e| e.to_be_bytes()));
            edits.push(Edit { at: f.at.clone(), bytes });
        }
        Ok(())
    }
}

/// The common axis of two. Bins of one width, or of widths that are multiples of each other, become an axis over both,
/// as in ROOT.
///
/// # Errors
/// `Invalid` when the bins do not match, with the difference; `letter` names the axis.
pub(super) fn join(a: &Axis, b: &Axis, letter: &str) -> Result<Joined> {
    let mut out = Joined::same(a);
    if (a.bins, a.low, a.high) != (b.bins, b.low, b.high) {
        if !a.edges.is_empty() || !b.edges.is_empty() || !over_both(a, b, &mut out) {
            let text = |a: &Axis| format!("{} bins from {} to {}", a.bins, a.low, a.high);
            return Err(Error::invalid(format!("has {} on its {letter}, not {}", text(b), text(a)))
                .with_remedy("rebin one of them, or omit it"));
        }
    } else if a.edges != b.edges {
        return Err(Error::invalid(format!("has different bin edges on its {letter}")));
    }
    Ok(out)
}

/// The axis over two, with the wider bins of both (`TH1::RecomputeAxisLimits`); each bin goes where its centre is.
fn over_both(a: &Axis, b: &Axis, out: &mut Joined) -> bool {
    let width = |a: &Axis| if a.bins > 0 { (a.high - a.low) / a.bins as f64 } else { 0.0 };
    let (v, w) = (width(a), width(b));
    let wide = v.max(w);
    let whole = |x: f64| (x - x.round()).abs() < 1e-8;
    // written so that NaN is refused
    if !(v > 0.0 && w > 0.0 && whole(wide / v) && whole(wide / w)) {
        return false;
    }
    // up to the next edge of each
    let missing = |gap: f64, width: f64| {
        let n = gap / width;
        if whole(n) { 0.0 } else { (n.ceil() - n) * width }
    };
    let (mut low, mut high) = (a.low.min(b.low), a.high.max(b.high));
    low -= missing(a.low - low, v);
    low -= missing(b.low - low, w);
    high += missing(high - a.high, v);
    high += missing(high - b.high, w);
    let bins = ((high - low) / wide).round();
    if !whole((a.low - low) / v) || !whole((high - a.high) / v) || !(1.0..1e8).contains(&bins) {
        return false;
    }
    (out.bins, out.low, out.high) = (bins as usize, low, high);
    let union = Axis { bins: out.bins, low, high, edges: Vec::new(), labels: None, ..*a };
    let places = |from: &Axis| {
        let inner = (1..=from.bins).map(|bin| union.find(from.center(bin)));
        Some([0].into_iter().chain(inner).chain([union.bins + 1]).collect::<Vec<usize>>())
    };
    // values outside of an axis that was extended may be inside now
    let beyond = |from: &Axis| {
        let (below, above) = (from.center(0), from.center(from.bins + 1));
        [!a.extends && below <= low, !a.extends && above >= high]
    };
    let same = (a.bins, a.low, a.high) == (union.bins, low, high);
    out.first = if same { None } else { places(a) };
    out.second = places(b);
    out.outside = [if same { [true; 2] } else { beyond(a) }, beyond(b)];
    true
}

/// The labels of an axis with their bins, by bin; none where it has no list of them. Labels of bins that it does not
/// have (it has underflow and overflow) are ignored: the axis would be extended for them.
fn labels(s: &Survey, axis: usize, bins: usize) -> Option<Vec<(usize, Vec<u8>)>> {
    let list = s.child(axis, Name::Labels)?;
    let items = s.children(list);
    let mut out: Vec<(usize, Vec<u8>)> = items
        .filter_map(|i| {
            let bin = usize::try_from(s.integer(i, Name::UniqueId)?).ok().filter(|bin| *bin <= bins + 1)?;
            Some((bin, s.text(i, Name::Text)?.to_vec()))
        })
        .collect();
    out.sort();
    Some(out)
}
