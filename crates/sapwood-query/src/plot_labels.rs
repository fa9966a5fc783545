use crate::hist::Axis;
use sapwood_column::Array;
use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, Result};
use std::collections::HashMap;

/// An axis of strings beside others: a bin for each, in the order in which they first occur.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelAxis {
    numbers: HashMap<Vec<u8>, usize>,
}

impl LabelAxis {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The middle of the bin of each string of a column.
    ///
    /// # Errors
    /// `Invalid` when the column holds no strings.
    pub(crate) fn numbers(&mut self, column: &Array) -> Result<Vec<f64>> {
        let Array::Text { offsets, bytes } = column else { return Err(Error::invalid("the column holds no strings")) };
        let mut out = Vec::with_capacity(offsets.len().saturating_sub(1));
        for w in offsets.windows(2) {
            let part = usize::try_from(w[0]).ok().zip(usize::try_from(w[1]).ok());
            let text = part.and_then(|(from, to)| bytes.get(from..to));
            let text = text.ok_or_else(|| Error::invalid("the column's offsets do not fit its content"))?;
            let number = match self.numbers.get(text) {
                Some(&number) => number,
                None => {
                    let number = self.numbers.len();
                    self.numbers.insert(text.to_vec(), number);
                    number
                }
            };
            out.push(number as f64 + 0.5);
        }
        Ok(out)
    }

    /// The axis of the strings that there are; of none it has one bin.
    pub(crate) fn axis(&self) -> Result<Axis> {
        let n = self.numbers.len().max(1);
        Axis::new(n, 0.0, n as f64)
    }

    /// An axis with room for more.
    pub(crate) fn roomy_axis(&self) -> Result<Axis> {
        let n = (2 * self.numbers.len()).next_power_of_two().max(16);
        Axis::new(n, 0.0, n as f64)
    }

    /// Whether there are strings that an axis has no bin for.
    pub(crate) fn is_beyond(&self, axis: &Axis) -> bool {
        self.numbers.len() > axis.bins()
    }

    /// The strings, in the order of the bins.
    pub(crate) fn names(self) -> Vec<String> {
        let mut names = vec![String::new(); self.numbers.len().max(1)];
        for (text, i) in self.numbers {
            if let Some(name) = names.get_mut(i) {
                *name = text_of(&text);
            }
        }
        names
    }
}
