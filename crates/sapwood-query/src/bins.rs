//! The binning that was asked for, of any number of variables, with gaps.

use crate::binning::{automatic_axis_near, automatic_axis_of};
use crate::hist::Axis;
use sapwood_span::{Error, Result};

/// What was asked for one axis. What was not asked for follows from the values, as in ROOT.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AxisBins {
    /// How many bins.
    pub count: Option<usize>,
    /// Lower and upper edge.
    pub limits: Option<(f64, f64)>,
    /// The whole axis, where its edges were given one by one.
    pub axis: Option<Axis>,
}

impl From<Axis> for AxisBins {
    fn from(axis: Axis) -> Self {
        Self { count: None, limits: None, axis: Some(axis) }
    }
}

/// The binning that was asked for: of x, then y, then z.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bins {
    /// Of each axis, as far as something was said.
    pub axes: Vec<AxisBins>,
    /// Whether the numbers of bins are kept for whole numbers, and limits without those of all other axes. If not, both are
    /// as behind `>>` in ROOT: whole numbers may get more or fewer bins, and the limits of all axes follow from the values
    /// unless those of all are given.
    pub exactly: bool,
}

impl Bins {
    /// The binning of these axes.
    pub fn of(axes: Vec<Axis>) -> Self {
        Self { axes: axes.into_iter().map(AxisBins::from).collect(), exactly: true }
    }

    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().all(|a| *a == AxisBins::default())
    }

    /// Reads `100,0,40` and so on: number of bins, lower and upper edge of x, then of y and z. Any of them may be left out
    /// (`300,,,300,,`). Limits that are the same (`200,0,0`) and a lower limit alone (`100,60`) are as if they were left out,
    /// as in ROOT; beside an upper limit alone (`100,,60`), the lower one is 0. `[0,1,5,20]` in place of the three numbers are the edges of bins of unequal width.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut axes = Vec::new();
        let mut rest = Some(text.trim());
        while let Some(text) = rest.take() {
            if axes.len() == MOST_AXES {
                return Err(format!("a histogram has at most {MOST_AXES} axes"));
            }
            let (axis, behind) = match text.strip_prefix('[') {
                Some(inner) => edges(inner)?,
                None => numbers(text)?,
            };
            axes.push(axis);
            rest = behind;
        }
        Ok(Self { axes, exactly: false })
    }

    /// The same with the numbers of bins kept exactly: the binning of `--bins`, which must not be empty.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse_exactly(text: &str) -> Result<Self, String> {
        let bins = Self::parse(text)?;
        let numbers = text.split(['[', ']']).step_by(2);
        let lone_limit = bins.axes.iter().any(|a| a.axis.is_none() && a.limits.is_none())
            && numbers.flat_map(|n| n.split(',').enumerate()).any(|(i, n)| i % 3 != 0 && !n.trim().is_empty());
        if bins.is_empty() || lone_limit && bins.axes.len() == 1 {
            return Err(
                "write the number of bins, and optionally the edges, as in 100,0,40; for several variables, start with x"
                    .to_owned(),
            );
        }
        Ok(Self { exactly: true, ..bins })
    }

    /// As many axes as there are dimensions.
    ///
    /// # Errors
    /// `Invalid` where more was asked for.
    pub(crate) fn of_dimensions(&self, dimensions: usize) -> Result<Vec<AxisBins>> {
        if self.axes.len() > dimensions {
            let (n, s) = (dimensions, if dimensions == 1 { "axis" } else { "axes" });
            return Err(Error::invalid(format!(
                "the binning is for {} axes, the histogram has {n} {s}",
                self.axes.len()
            ))
            .with_remedy("specify the number of bins, the lower and the upper edge for each axis, x first"));
        }
        let mut axes = self.axes.clone();
        axes.resize(dimensions, AxisBins::default());
        Ok(axes)
    }

    /// The axes, if the values are not needed to choose them; `defaults` are ROOT's numbers of bins.
    ///
    /// # Errors
    /// As [`Axis::new`], and where more axes were asked for.
    pub(crate) fn given(&self, defaults: &[usize]) -> Result<Option<Vec<Axis>>> {
        let asked = self.of_dimensions(defaults.len())?;
        let axes = asked.iter().zip(defaults).map(|(a, n)| a.given(*n)).collect::<Result<Vec<_>>>()?;
        Ok(axes.into_iter().collect())
    }

    /// Whether the values of an axis that is not of strings are needed to choose it, where some axes are.
    ///
    /// # Errors
    /// As [`Bins::given`].
    pub(crate) fn wait_beside_texts(&self, defaults: &[usize], texts: &[bool]) -> Result<bool> {
        for ((asked, default), text) in self.of_dimensions(defaults.len())?.iter().zip(defaults).zip(texts) {
            let fixed = *text || (self.exactly || asked.axis.is_some()) && asked.given(*default)?.is_some();
            if !fixed {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The axes where there are no values: from 0 to 1 where nothing else was said.
    ///
    /// # Errors
    /// As [`Axis::new`].
    pub(crate) fn unit(&self, defaults: &[usize]) -> Result<Vec<Axis>> {
        let asked = self.of_dimensions(defaults.len())?;
        let unit = |(a, n): (&AxisBins, &usize)| match a.given(*n)? {
            Some(axis) => Ok(axis),
            None => Axis::new(a.count.unwrap_or(*n), 0.0, 1.0),
        };
        asked.iter().zip(defaults).map(unit).collect()
    }

    /// The axes for values in these ranges. `integer` says of each whether its values are whole numbers. `wider` is the factor
    /// by which ROOT's axes of several variables reach beyond their upper limits: [`widening`].
    ///
    /// # Errors
    /// `Invalid` when no binning spans the values.
    pub(crate) fn fitted(
        &self,
        defaults: &[usize],
        ranges: &[(f64, f64)],
        integer: &[bool],
        wider: u8,
    ) -> Result<Vec<Axis>> {
        let asked = self.of_dimensions(defaults.len())?;
        let mut axes = Vec::new();
        for (((a, default), (min, max)), integer) in asked.iter().zip(defaults).zip(ranges).zip(integer) {
            let given = if self.exactly || a.axis.is_some() { a.given(*default)? } else { None };
            axes.push(match (given, a.count) {
                (Some(axis), _) => axis,
                (None, Some(n)) if self.exactly => automatic_axis_of(n, *min, *max, *integer)?,
                (None, count) => {
                    let axis = automatic_axis_near(count.unwrap_or(*default), *min, *max, *integer)?;
                    match wider {
                        _ if self.exactly => axis,
                        1 => axis,
                        factor => {
                            let high = axis.low() + f64::from(factor) * (axis.high() - axis.low());
                            Axis::new(axis.bins(), axis.low(), high)?
                        }
                    }
                }
            });
        }
        Ok(axes)
    }
}

/// Rows that ROOT keeps before it fills them.
const BUFFERED: usize = 1000;

/// By how much ROOT's automatic axes of a histogram (not of a profile) with several variables are wider than the values ask
/// for: twice if there are more rows than it keeps before it fills them, four times if it scales what it has kept.
pub(crate) fn widening(rows: usize, norm: bool) -> u8 {
    match (rows > BUFFERED, norm) {
        (true, _) => 2,
        (false, true) => 4,
        (false, false) => 1,
    }
}

impl AxisBins {
    /// The axis, if it does not depend on the values.
    fn given(&self, default: usize) -> Result<Option<Axis>> {
        match (&self.axis, self.limits) {
            (Some(axis), _) => Ok(Some(axis.clone())),
            (None, Some((low, high))) => Axis::new(self.count.unwrap_or(default), low, high).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// Axes of a histogram, at most.
const MOST_AXES: usize = 3;

/// An axis, and what stands behind its comma.
type Parsed<'t> = (AxisBins, Option<&'t str>);

/// Edges up to `]`.
fn edges(text: &str) -> Result<Parsed<'_>, String> {
    let (inner, behind) = text.split_once(']').ok_or("the edges end with ']'")?;
    let edges = inner.split(',').map(|e| number(e.trim())).collect::<Result<Vec<f64>, String>>()?;
    let axis = Axis::variable(&edges).map_err(|e| e.to_string())?;
    let behind = match behind.trim() {
        "" => None,
        behind => Some(behind.strip_prefix(',').ok_or("a comma is expected behind ']'")?.trim_start()),
    };
    Ok((axis.into(), behind))
}

/// Up to three numbers, any of which may be left out.
fn numbers(text: &str) -> Result<Parsed<'_>, String> {
    let mut fields = [None; 3];
    let mut rest = Some(text);
    for field in &mut fields {
        let Some(text) = rest.take() else { break };
        let (this, behind) = text.split_once(',').map_or((text, None), |(this, behind)| (this, Some(behind.trim())));
        *field = match this.trim() {
            "" => None,
            this => Some(number(this)?),
        };
        rest = behind;
    }
    let count = fields[0].map(whole).transpose()?;
    let limits = match (fields[1], fields[2]) {
        (Some(low), Some(high)) if low != high => Some((low, high)),
        // as in ROOT, where a limit that is not given is 0
        (None, Some(high)) if high > 0.0 => Some((0.0, high)),
        _ => None,
    };
    if let Some((low, high)) = limits {
        Axis::new(count.unwrap_or(1), low, high).map_err(|e| e.to_string())?;
    }
    Ok((AxisBins { count, limits, axis: None }, rest))
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number"))
}

fn whole(bins: f64) -> Result<usize, String> {
    if bins.fract() != 0.0 || !(1.0..=1e9).contains(&bins) {
        return Err("the number of bins is a whole number of at least 1".to_owned());
    }
    // the axis itself says how many there can be
    Axis::new(bins as usize, 0.0, 1.0).map(|a| a.bins()).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<AxisBins> {
        Bins::parse(text).unwrap().axes
    }

    fn axis(count: Option<usize>, limits: Option<(f64, f64)>) -> AxisBins {
        AxisBins { count, limits, axis: None }
    }

    #[test]
    fn gaps_are_left_to_the_values() {
        assert_eq!(parsed("100,0,40"), [axis(Some(100), Some((0.0, 40.0)))]);
        assert_eq!(parsed("300,,,300,,"), [axis(Some(300), None), axis(Some(300), None)]);
        assert_eq!(parsed("200,0,0"), [axis(Some(200), None)]);
        assert_eq!(parsed("100,60"), [axis(Some(100), None)]);
        assert_eq!(parsed("100,,60"), [axis(Some(100), Some((0.0, 60.0)))]);
        assert_eq!(parsed("100,,-60"), [axis(Some(100), None)]);
        assert_eq!(parsed(" ,-1e3, 6 ,4"), [axis(None, Some((-1000.0, 6.0))), axis(Some(4), None)]);
        assert_eq!(parsed("1,0,1,2,0,2,3,0,3").len(), 3);
        let edges = AxisBins::from(Axis::variable(&[0.0, 1.0, 5.0]).unwrap());
        assert_eq!(parsed("[0,1, 5]"), std::slice::from_ref(&edges));
        assert_eq!(parsed("[0,1,5], 20,0,10"), [edges.clone(), axis(Some(20), Some((0.0, 10.0)))]);
        assert_eq!(parsed("20,,,[0,1,5]"), [axis(Some(20), None), edges]);
        assert!(Bins::parse("").unwrap().is_empty());
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["x", "1.5", "0", "3,1,0", "1,0,1,1,0,1,1,0,1,1", "[0,1", "[0]", "[1,0]", "[0,1]2", "1e9", "3,0,nan"]
        {
            assert!(Bins::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_of_one_axis_alone_count_only_where_they_are_exact() {
        let mut bins = Bins::parse("10,0,5").unwrap();
        let fitted = |bins: &Bins| bins.fitted(&[40, 40], &[(0.0, 1.0), (0.0, 1.0)], &[false, false], 1).unwrap();
        assert!(bins.given(&[40, 40]).unwrap().is_none() && bins.given(&[40]).unwrap().is_some());
        assert_ne!(fitted(&bins)[0].high(), 5.0);
        bins.exactly = true;
        assert_eq!((fitted(&bins)[0].high(), fitted(&bins)[1].bins()), (5.0, 40));
        assert!(Bins::parse("1,0,1,1,0,1").unwrap().given(&[100]).is_err());
    }
}
