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
const MAGIC: &[u8] = b"sapwood histogram 2\n";

impl Histogram {
    /// The histogram as bytes, for [`Histogram::from_bytes`].
    ///
    /// # Errors
    /// `Unsupported` for rows of a chart.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
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
            Self::Rows(_) => {
                return Err(
                    Error::unsupported("charts cannot be drawn in parts").with_remedy("draw them in one process")
                );
            }
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
        let rows = [("b", "u", 0.5, 1.0), ("ä", "v", 1.5, 2.0)];
        let (beside, profiled) = (labelled(&rows, &[1], false), labelled(&rows, &[0], true));
        [Histogram::One(one), Histogram::One(weighted), Histogram::Many(many), Histogram::Profile(profile)]
            .into_iter()
            .chain([Histogram::One(texts), beside, profiled])
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

    /// Rows of strings with numbers beside them, filled as a draw does.
    fn labelled(rows: &[(&str, &str, f64, f64)], texts: &[usize], profile: bool) -> Histogram {
        let mut names: Vec<Vec<String>> = vec![Vec::new(); 2];
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); 3];
        for (a, b, x, _) in rows {
            for (i, name) in [a, b].into_iter().enumerate() {
                let names = &mut names[i];
                let place = names.iter().position(|n| n == name).unwrap_or_else(|| {
                    names.push((*name).to_owned());
                    names.len() - 1
                });
                columns[i].push(if texts.contains(&i) { place as f64 + 0.5 } else { *x * (i + 1) as f64 });
            }
            columns[2].push(*x);
        }
        let weights: Vec<f64> = rows.iter().map(|row| row.3).collect();
        let numbers = Axis::new(4, 0.0, 4.0).unwrap();
        let axis = |i: &usize| if texts.contains(i) { Axis::new(16, 0.0, 16.0).unwrap() } else { numbers.clone() };
        let axes: Vec<Axis> = (0..if profile { 2 } else { 3 }).map(|i| axis(&i)).collect();
        let is_text: Vec<bool> = (0..axes.len()).map(|i| texts.contains(&i)).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let mut hist = if profile {
            let mut p = Profile::new(axes, ProfileError::Mean).unwrap();
            p.expect_labels(is_text.into_iter());
            Histogram::Profile(p)
        } else {
            let mut h = HistND::new(axes).unwrap();
            h.expect_labels(is_text.into_iter());
            Histogram::Many(h)
        };
        hist.fill(&columns, &weights);
        for &i in texts {
            let n = names[i].len().max(1);
            let mut names = std::mem::take(&mut names[i]);
            names.resize(n, String::new());
            let axis = Axis::new(n, 0.0, n as f64).unwrap();
            match &mut hist {
                Histogram::Many(h) => h.label_axis(i, axis, names).unwrap(),
                Histogram::Profile(p) => p.label_axis(i, axis, names).unwrap(),
                _ => panic!(),
            }
        }
        hist
    }

    #[test]
    fn strings_beside_other_variables_add_up() {
        let rows = [
            ("b", "u", 0.5, 1.0),
            ("a", "v", 1.5, 1.0),
            ("b", "v", 9.0, 1.0),
            ("c", "u", 2.5, 1.0),
            ("a", "w", 0.5, 1.0),
            ("d", "u", 1.0, 1.0),
            ("b", "w", 1.0, 1.0),
        ];
        let weighted = rows.map(|(a, b, x, _)| (a, b, x, x / 2.0));
        for (rows, profile) in [(rows, false), (rows, true), (weighted, false), (weighted, true)] {
            for texts in [&[0][..], &[1], &[0, 1]] {
                let whole = labelled(&rows, texts, profile);
                for cut in [0, 1, 3, 6, 7] {
                    let mut sum = labelled(&rows[..cut], texts, profile);
                    let part = labelled(&rows[cut..], texts, profile).to_bytes().unwrap();
                    sum.merge(&Histogram::from_bytes(&part).unwrap()).unwrap();
                    // all of these numbers are exact in binary
                    assert_eq!(sum, whole, "{texts:?} {cut}");
                    assert_eq!(sum.to_bytes().unwrap(), whole.to_bytes().unwrap());
                }
                assert!(labelled(&rows, &[0], profile).merge(&labelled(&rows, &[1], profile)).is_err());
            }
        }
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
