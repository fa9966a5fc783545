use crate::hist::{Axis, Hist1D};
use sapwood_column::Array;
use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, Result};
use std::collections::HashMap;

/// A histogram of strings: a bin for each, in the order in which they first occur, as TTree::Draw makes it.
///
/// ROOT's statistics are kept: they are those of the middles of the bins, 0.5, 1.5, and so on.
#[derive(Clone, Debug, Default)]
pub struct TextHist {
    numbers: HashMap<Vec<u8>, usize>,
    bins: Vec<Bin>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    entries: u64,
    /// Weights and their squares.
    sums: [f64; 2],
}

impl TextHist {
    /// An empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the strings of a column, each with its weight.
    ///
    /// # Errors
    /// `Invalid` when the column holds no strings.
    pub fn fill(&mut self, column: &Array, weights: &[f64]) -> Result<()> {
        let Array::Text { offsets, bytes } = column else { return Err(Error::invalid("the column holds no strings")) };
        for (w, weight) in offsets.windows(2).zip(weights) {
            let part = usize::try_from(w[0]).ok().zip(usize::try_from(w[1]).ok());
            let text = part.and_then(|(from, to)| bytes.get(from..to));
            let text = text.ok_or_else(|| Error::invalid("the column's offsets do not fit its content"))?;
            let number = match self.numbers.get(text) {
                Some(&number) => number,
                None => {
                    self.numbers.insert(text.to_vec(), self.bins.len());
                    self.bins.push(Bin::default());
                    self.bins.len() - 1
                }
            };
            if let Some(bin) = self.bins.get_mut(number) {
                bin.entries += 1;
                bin.sums[0] += weight;
                bin.sums[1] += weight * weight;
            }
        }
        Ok(())
    }

    /// The histogram, with [`Hist1D::labels`]; of nothing it has one bin without a label.
    ///
    /// # Errors
    /// `Invalid` for more strings than a histogram has bins.
    pub fn finish(self) -> Result<Hist1D> {
        let n = self.bins.len().max(1);
        let mut hist = Hist1D::new(Axis::new(n, 0.0, n as f64)?);
        let mut sums = [0.0; 4];
        for (i, Bin { entries, sums: [w, ww] }) in self.bins.into_iter().enumerate() {
            hist.add_bin(i + 1, entries, [w, ww]);
            let x = i as f64 + 0.5;
            sums = [sums[0] + w, sums[1] + ww, sums[2] + w * x, sums[3] + w * x * x];
        }
        hist.set_sums(sums);
        let mut labels = vec![String::new(); n];
        for (text, i) in self.numbers {
            if let Some(label) = labels.get_mut(i) {
                *label = text_of(&text);
            }
        }
        hist.set_labels(labels);
        Ok(hist)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_column::Values;

    #[test]
    fn a_bin_for_each_string_in_the_order_of_appearance() {
        let mut h = TextHist::new();
        h.fill(&Array::Text { offsets: vec![0, 1, 3, 4], bytes: b"bab\"b".to_vec() }, &[1.0, 2.0, 1.0]).unwrap();
        h.fill(&Array::Text { offsets: vec![0, 0, 1], bytes: vec![255] }, &[1.0, 0.5]).unwrap();
        assert!(h.fill(&Array::Flat(Values::I32(vec![1])), &[1.0]).is_err());
        assert!(h.fill(&Array::Text { offsets: vec![0, 9], bytes: Vec::new() }, &[1.0]).is_err());
        let h = h.finish().unwrap();
        assert_eq!(h.labels().unwrap(), ["b", "ab", "\"", "", "\u{10ffff}"]);
        assert_eq!(h.values(true), [0.0, 1.0, 2.0, 1.0, 1.0, 0.5, 0.0]);
        assert_eq!(h.variances(false), [1.0, 4.0, 1.0, 1.0, 0.25]);
        assert_eq!((h.entries(), h.sums()[..2].to_vec()), (5, vec![5.5, 7.25]));
        assert_eq!(h.mean(), (0.5 + 3.0 + 2.5 + 3.5 + 2.25) / 5.5);
        let json: serde_json::Value = serde_json::from_str(&h.to_json("h", "s")).unwrap();
        assert_eq!(json["axes"][0]["categories"], serde_json::json!(["b", "ab", "\"", "", "\u{10ffff}"]));
        assert_eq!(json["storage"]["values"].as_array().unwrap().len(), 5);
        let empty = TextHist::new().finish().unwrap();
        assert_eq!((empty.labels().unwrap(), empty.values(false)), ([String::new()].as_slice(), [0.0].as_slice()));
    }
}
