//! Histograms as bytes: what a process that draws some of the entries sends to the one that adds all parts.
//!
//! All sums are sent, ROOT's statistics included, so that the order of adding alone decides about the result.

use crate::hist::{Axis, Hist1D};
use crate::hist_nd::HistND;
use crate::histogram::Histogram;
use crate::part_bytes::{PartReader, PartWriter, damaged};
use crate::profile::Profile;
use sapwood_span::{Error, Result};

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
