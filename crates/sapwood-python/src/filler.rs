//! A histogram of one variable that Python fills.

use crate::draw::{Drawn, GivenBins, bins, drawn};
use crate::error::{Missing, exception};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sapwood::query::{AutoHist, Axis, AxisBins, BinCount, Hist1D, Histogram};
use sapwood::{Error, Result};

/// What is filled: an axis that is known, or one that the values choose.
enum Filled {
    Given(Hist1D),
    Automatic(AutoHist),
}

/// A histogram that is filled with numbers.
#[pyclass(module = "sapwood._core")]
pub(crate) struct Filler(Option<Filled>);

#[pymethods]
impl Filler {
    /// The binning of its axis, if any; `integer` says whether the values are whole numbers.
    #[new]
    fn new(py: Python<'_>, given: Vec<GivenBins>, integer: bool) -> PyResult<Self> {
        made(given, integer).map(|filled| Self(Some(filled))).map_err(|e| exception(py, &e, Missing::Key))
    }

    /// Adds values with their weights: doubles in the order of bytes of this machine.
    fn fill(&mut self, py: Python<'_>, values: &[u8], weights: &[u8]) -> PyResult<()> {
        let (values, weights) = (doubles(values)?, doubles(weights)?);
        if values.len() != weights.len() {
            return Err(PyValueError::new_err("as many weights as values are expected"));
        }
        match &mut self.0 {
            Some(Filled::Given(hist)) => hist.fill(&values, &weights),
            Some(Filled::Automatic(hist)) => {
                hist.fill(&values, &weights).map_err(|e| exception(py, &e, Missing::Key))?;
            }
            None => {}
        }
        Ok(())
    }

    /// The histogram; nothing can be filled any more.
    fn finish(&mut self, py: Python<'_>, title: String) -> PyResult<Drawn> {
        let hist = match self.0.take() {
            Some(Filled::Given(hist)) => Ok(hist),
            Some(Filled::Automatic(hist)) => hist.finish(),
            None => Err(Error::invalid("the histogram is finished")),
        };
        let hist = hist.map_err(|e| exception(py, &e, Missing::Key))?;
        Ok(drawn(&Histogram::One(hist), vec![title]))
    }
}

fn made(given: Vec<GivenBins>, integer: bool) -> Result<Filled> {
    let bins = bins(given)?;
    if bins.axes.len() > 1 {
        return Err(Error::invalid("the histogram has one axis, and the binning is for several"));
    }
    let AxisBins { count, limits, axis } = bins.axes.into_iter().next().unwrap_or_default();
    Ok(match (axis, limits) {
        (Some(axis), _) => Filled::Given(Hist1D::new(axis)),
        (None, Some((low, high))) => Filled::Given(Hist1D::new(Axis::new(count.unwrap_or(100), low, high)?)),
        (None, None) => {
            Filled::Automatic(AutoHist::with_bins(integer, count.map_or(BinCount::Automatic, BinCount::Exactly)))
        }
    })
}

fn doubles(bytes: &[u8]) -> PyResult<Vec<f64>> {
    let (each, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(PyValueError::new_err("doubles have eight bytes each"));
    }
    Ok(each.iter().map(|b| f64::from_ne_bytes(*b)).collect())
}
