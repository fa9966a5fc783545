use crate::binning::round_up;

/// Round numbers along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    /// Where they stand.
    pub at: Vec<f64>,
    /// What they say, divided by `10^power`.
    pub labels: Vec<String>,
    /// Power of ten that was taken out of the labels; 0 for none.
    pub power: i32,
}

impl Ticks {
    /// At most `most` (but at least two where possible) ticks from `low` to `high`.
    pub(crate) fn new(low: f64, high: f64, most: usize) -> Self {
        let step = round_up((high - low) / most.max(1) as f64);
        if !(step > 0.0 && step.is_finite()) {
            return Self { at: Vec::new(), labels: Vec::new(), power: 0 };
        }
        let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        if !(first.abs() < 1e15 && last.abs() < 1e15) {
            return Self { at: Vec::new(), labels: Vec::new(), power: 0 };
        }
        let at: Vec<f64> = (first as i64..=last as i64).map(|i| i as f64 * step).collect();
        let largest = low.abs().max(high.abs());
        // Labels of up to five digits are easier to read than powers.
        let power = if (1e-3..1e5).contains(&largest) { 0 } else { largest.log10().floor() as i32 / 3 * 3 };
        let power = if largest < 1e-3 && 10f64.powi(power) > largest { power - 3 } else { power };
        let decimals = (f64::from(power) - (step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 12.0) as usize;
        let labels = at
            .iter()
            .map(|x| {
                let text = format!("{:.decimals$}", x / 10f64.powi(power));
                let zero = text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.'));
                if zero { text.trim_start_matches('-').to_string() } else { text }
            })
            .collect();
        Self { at, labels, power }
    }

    /// The power of ten as words: `×10³`.
    pub(crate) fn power_words(&self) -> Option<String> {
        let digits = |n: i32| n.to_string().chars().map(superscript).collect::<String>();
        (self.power != 0).then(|| format!("×10{}", digits(self.power)))
    }
}

fn superscript(c: char) -> char {
    match c {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁻',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let t = Ticks::new(-0.01, 1.1, 6);
        assert_eq!(t.labels, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(Ticks::new(0.0, 40.0, 8).labels, ["0", "5", "10", "15", "20", "25", "30", "35", "40"]);
        let t = Ticks::new(0.0, 2_400_000.0, 6);
        assert_eq!((t.labels.last().unwrap().as_str(), t.power_words().unwrap().as_str()), ("2.0", "×10⁶"));
        let t = Ticks::new(1e-5, 3e-5, 5);
        assert_eq!((t.labels.first().unwrap().as_str(), t.power_words().unwrap().as_str()), ("10", "×10⁻⁶"));
        assert!(Ticks::new(0.0, 0.0, 5).at.is_empty());
        assert!(Ticks::new(1e300, 1e300 + 1e284, 5).at.len() < 20);
    }
}
