//! Histograms as bytes: what a process that draws some of the entries sends to the one that adds all parts.
//!
//! All sums are sent, ROOT's statistics included, so that the order of adding alone decides about the result.

use crate::grid::Grid;
use crate::hist::{Axis, Hist1D};
use crate::hist_nd::HistND;
use crate::histogram::Histogram;
use crate::profile::Profile;
use sapwood_span::{Error, Result};
use std::ops::RangeInclusive;

/// The first bytes: what this is, and its version.
const MAGIC: &[u8] = b"sapwood histogram 1\n";

impl Histogram {
    /// The histogram as bytes, for [`Histogram::from_bytes`].
    ///
    /// # Errors
    /// `Unsupported` for rows of a chart, and axes of strings beside others.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let variables = self.variables();
        if matches!(self, Self::Rows(_)) || (variables > 1 && (0..variables).any(|i| self.labels(i).is_some())) {
            return Err(Error::unsupported("strings beside other variables, and charts, cannot be drawn in parts")
                .with_remedy("draw them in one process"));
        }
        let mut out = PartWriter(MAGIC.to_vec());
        match self {
            Self::One(h) => {
                out.byte(1);
                h.write_part(&mut out);
            }
            Self::Many(h) => {
                out.byte(2);
                h.write_part(&mut out);
            }
            Self::Profile(p) => {
                out.byte(3);
                p.write_part(&mut out);
            }
            Self::Rows(_) => {}
        }
        Ok(out.0)
    }

    /// The histogram that [`Histogram::to_bytes`] made bytes of.
    ///
    /// # Errors
    /// `Invalid` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut part = PartReader(bytes.strip_prefix(MAGIC).ok_or_else(damaged)?);
        let hist = match part.byte()? {
            1 => Self::One(Hist1D::read_part(&mut part)?),
            2 => Self::Many(HistND::read_part(&mut part)?),
            3 => Self::Profile(Profile::read_part(&mut part)?),
            _ => return Err(damaged()),
        };
        if part.0.is_empty() { Ok(hist) } else { Err(damaged()) }
    }

    /// Adds what was drawn of the entries that follow.
    ///
    /// # Errors
    /// `Invalid` when the axes differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::One(a), Self::One(b)) if a.labels().is_some() && b.labels().is_some() => a.merge_texts(b),
            (Self::One(a), Self::One(b)) => a.merge(b),
            (Self::Many(a), Self::Many(b)) => a.merge(b),
            (Self::Profile(a), Self::Profile(b)) => a.merge(b),
            _ => Err(Error::invalid("histograms of different kinds cannot be added")),
        }
    }
}

impl Hist1D {
    /// Adds the bins of strings, with new ones behind those that are there: the order in which they first occur.
    fn merge_texts(&mut self, other: &Self) -> Result<()> {
        if other.entries() == 0 {
            return Ok(());
        }
        let mut names = if self.entries() == 0 { Vec::new() } else { self.labels().unwrap_or_default().to_vec() };
        let mut cells: Vec<[f64; 2]> =
            self.values(false).iter().zip(self.variances(false)).map(|(w, ww)| [*w, *ww]).take(names.len()).collect();
        let mut places: std::collections::HashMap<String, usize> = names.iter().cloned().zip(0..).collect();
        let theirs = other.values(false).iter().zip(other.variances(false));
        for (name, (w, ww)) in other.labels().unwrap_or_default().iter().zip(theirs) {
            let place = *places.entry(name.clone()).or_insert_with(|| {
                names.push(name.clone());
                cells.push([0.0; 2]);
                names.len() - 1
            });
            if let Some(cell) = cells.get_mut(place) {
                *cell = [cell[0] + w, cell[1] + ww];
            }
        }
        let mut made = Self::new(Axis::new(names.len().max(1), 0.0, names.len().max(1) as f64)?);
        let mut sums = [0.0; 4];
        for (i, [w, ww]) in cells.into_iter().enumerate() {
            made.add_bin(i + 1, 0, [w, ww]);
            let x = i as f64 + 0.5;
            sums = [sums[0] + w, sums[1] + ww, sums[2] + w * x, sums[3] + w * x * x];
        }
        made.set_sums(sums);
        made.set_labels(names);
        made.add_bin(0, self.entries() + other.entries(), [0.0; 2]);
        *self = made;
        Ok(())
    }
}

fn damaged() -> Error {
    Error::invalid("the bytes are not those of a part of a histogram")
        .with_remedy("use the same version of Sapwood in all processes")
}

/// The bins of several axes: of as many as there must be.
pub(crate) fn grid(part: &mut PartReader<'_>, number: RangeInclusive<usize>) -> Result<Grid> {
    let axes = part.length(1)?;
    if !number.contains(&axes) {
        return Err(damaged());
    }
    Grid::new((0..axes).map(|_| part.axis()).collect::<Result<_>>()?)
}

/// Writes numbers, little-endian.
pub(crate) struct PartWriter(Vec<u8>);

impl PartWriter {
    pub(crate) fn byte(&mut self, x: u8) {
        self.0.push(x);
    }

    pub(crate) fn count(&mut self, x: u64) {
        self.0.extend_from_slice(&x.to_le_bytes());
    }

    pub(crate) fn numbers(&mut self, numbers: &[f64]) {
        self.count(numbers.len() as u64);
        for x in numbers {
            self.0.extend_from_slice(&x.to_le_bytes());
        }
    }

    pub(crate) fn optional(&mut self, numbers: Option<&[f64]>) {
        self.byte(numbers.is_some().into());
        if let Some(numbers) = numbers {
            self.numbers(numbers);
        }
    }

    pub(crate) fn axis(&mut self, axis: &Axis) {
        self.count(axis.bins() as u64);
        self.numbers(&[axis.low(), axis.high()]);
        self.optional(axis.edges());
    }

    pub(crate) fn axes(&mut self, axes: &[Axis]) {
        self.count(axes.len() as u64);
        axes.iter().for_each(|axis| self.axis(axis));
    }

    pub(crate) fn texts(&mut self, texts: Option<&[String]>) {
        self.byte(texts.is_some().into());
        if let Some(texts) = texts {
            self.count(texts.len() as u64);
            for text in texts {
                self.count(text.len() as u64);
                self.0.extend_from_slice(text.as_bytes());
            }
        }
    }
}

/// Reads what [`PartWriter`] wrote.
pub(crate) struct PartReader<'a>(&'a [u8]);

impl<'a> PartReader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        self.take(1)?.first().copied().ok_or_else(damaged)
    }

    fn flag(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged()),
        }
    }

    pub(crate) fn count(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().map_err(|_| damaged())?))
    }

    /// A number of things that each take at least `size` bytes.
    pub(crate) fn length(&mut self, size: usize) -> Result<usize> {
        let length = usize::try_from(self.count()?).map_err(|_| damaged())?;
        if length.checked_mul(size).is_some_and(|bytes| bytes <= self.0.len()) { Ok(length) } else { Err(damaged()) }
    }

    pub(crate) fn numbers(&mut self) -> Result<Vec<f64>> {
        let length = self.length(8)?;
        let bytes = self.take(length * 8)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|x| f64::from_le_bytes(*x)).collect())
    }

    /// As many numbers as there must be.
    pub(crate) fn exactly(&mut self, length: usize) -> Result<Vec<f64>> {
        let numbers = self.numbers()?;
        if numbers.len() == length { Ok(numbers) } else { Err(damaged()) }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[f64; N]> {
        self.numbers()?.try_into().map_err(|_| damaged())
    }

    pub(crate) fn optional(&mut self, length: usize) -> Result<Option<Vec<f64>>> {
        Ok(if self.flag()? { Some(self.exactly(length)?) } else { None })
    }

    pub(crate) fn axis(&mut self) -> Result<Axis> {
        let bins = usize::try_from(self.count()?).map_err(|_| damaged())?;
        let [low, high] = self.array()?;
        let axis = if self.flag()? { Axis::variable(&self.numbers()?)? } else { Axis::new(bins, low, high)? };
        if axis.bins() == bins { Ok(axis) } else { Err(damaged()) }
    }

    pub(crate) fn texts(&mut self) -> Result<Option<Vec<String>>> {
        if !self.flag()? {
            return Ok(None);
        }
        let number = self.length(8)?;
        let mut texts = Vec::new();
        for _ in 0..number {
            let length = self.length(1)?;
            texts.push(String::from_utf8(self.take(length)?.to_vec()).map_err(|_| damaged())?);
        }
        Ok(Some(texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileError;

    fn examples() -> Vec<Histogram> {
        let axis = Axis::new(3, 0.0, 3.0).unwrap();
        let edges = Axis::variable(&[0.0, 1.0, 5.0]).unwrap();
        let x = [0.5, 1.5, 7.0, f64::NAN];
        let mut one = Hist1D::new(axis.clone());
        one.fill(&x, &[1.0; 4]);
        let mut weighted = Hist1D::new(edges.clone());
        weighted.fill(&x, &[0.1, 0.2, 0.3, 0.4]);
        let mut many = HistND::new(vec![axis.clone(), edges]).unwrap();
        many.fill(&[&x, &x], &[1.0, 1.0, 0.5, 1.0]);
        let mut profile = Profile::new(vec![axis], ProfileError::Spread).unwrap();
        profile.fill(&[&x, &x], &[1.0, 2.0, 0.5, 1.0]);
        let mut texts = Hist1D::new(Axis::new(2, 0.0, 2.0).unwrap());
        texts.add_bin(1, 2, [2.0, 2.0]);
        texts.add_bin(2, 1, [1.0, 1.0]);
        texts.set_labels(vec!["b".to_owned(), "ä".to_owned()]);
        [Histogram::One(one), Histogram::One(weighted), Histogram::Many(many), Histogram::Profile(profile)]
            .into_iter()
            .chain([Histogram::One(texts)])
            .collect()
    }

    #[test]
    fn bytes_are_the_same_histogram() {
        for hist in examples() {
            let bytes = hist.to_bytes().unwrap();
            let back = Histogram::from_bytes(&bytes).unwrap();
            // NaN is not equal to itself
            assert_eq!(back.to_bytes().unwrap(), bytes);
            assert_eq!((back.entries(), back.axes()), (hist.entries(), hist.axes()));
            for cut in 0..bytes.len() {
                assert!(Histogram::from_bytes(&bytes[..cut]).is_err(), "{cut}");
            }
            for at in 0..bytes.len() {
                let mut wrong = bytes.clone();
                wrong[at] ^= 0xff;
                drop(Histogram::from_bytes(&wrong));
            }
        }
    }

    #[test]
    fn parts_add_up() {
        for hist in examples() {
            let mut twice = hist.clone();
            twice.merge(&hist).unwrap();
            assert_eq!(twice.entries(), 2 * hist.entries());
        }
        let all = examples();
        assert!(all[0].clone().merge(&all[1]).is_err());
        assert!(all[0].clone().merge(&all[2]).is_err());
    }

    #[test]
    fn strings_that_come_later_get_bins_behind_the_others() {
        let text = |names: &[&str]| {
            let mut h = Hist1D::new(Axis::new(names.len(), 0.0, names.len() as f64).unwrap());
            names.iter().enumerate().for_each(|(i, _)| h.add_bin(i + 1, 1, [1.0, 1.0]));
            h.set_labels(names.iter().map(|n| (*n).to_owned()).collect());
            Histogram::One(h)
        };
        let mut h = text(&["b", "a"]);
        h.merge(&text(&["c", "a"])).unwrap();
        assert_eq!(h.labels(0).unwrap(), ["b", "a", "c"]);
        let Histogram::One(h) = h else { panic!() };
        assert_eq!((h.values(true), h.entries(), h.sums()), (&[0.0, 1.0, 2.0, 1.0, 0.0][..], 4, [4.0, 4.0, 6.0, 11.0]));
    }
}
