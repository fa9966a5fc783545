//! Numbers for people.

use crate::histogram::Histogram;

/// A number with `digits` significant digits, without needless zeros.
pub(crate) fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let exponent = x.abs().log10().floor() as i32;
    if !(-4..7).contains(&exponent) {
        let text = format!("{x:.*e}", digits.saturating_sub(1));
        let Some((mantissa, power)) = text.split_once('e') else { return text };
        return format!("{}e{power}", trimmed(mantissa));
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trimmed(&format!("{x:.decimals$}")).to_string()
}

fn trimmed(s: &str) -> &str {
    if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.') } else { s }
}

/// A count with blanks between thousands.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

/// The statistics that stand beside a histogram.
pub(crate) fn statistics(hist: &crate::Hist1D) -> Vec<(&'static str, String)> {
    let mut out = vec![("Entries", grouped(hist.entries()))];
    if hist.labels().is_some() {
        // the middles of bins of strings say nothing to a reader
        return out;
    }
    out.extend([("Mean", significant(hist.mean(), 5)), ("Std Dev", significant(hist.std_dev(), 5))]);
    let all = hist.values(true);
    for (name, value) in [("Underflow", all.first()), ("Overflow", all.last())] {
        if let Some(&value) = value
            && value != 0.0
        {
            out.push((name, significant(value, 5)));
        }
    }
    out
}

/// The statistics of what a draw made.
pub(crate) fn statistics_of(hist: &Histogram) -> Vec<(&'static str, String)> {
    let axes = hist.axes().len();
    let (moments, means): (Vec<(f64, f64)>, _) = match hist {
        Histogram::One(h) => return statistics(h),
        Histogram::Many(h) => ((0..axes).map(|i| (h.mean(i), h.std_dev(i))).collect(), ["Mean x", "Mean y", "Mean z"]),
        Histogram::Profile(p) => {
            ((0..=axes).map(|i| (p.mean(i), p.std_dev(i))).collect(), ["Mean x", "Mean y", "Mean z"])
        }
        Histogram::Rows(_) => (Vec::new(), [""; 3]),
    };
    let deviations = ["Std Dev x", "Std Dev y", "Std Dev z"];
    let mut out = vec![("Entries", grouped(hist.entries()))];
    for (i, (mean, deviation)) in moments.into_iter().enumerate().take(3) {
        if hist.labels(i).is_none() {
            out.extend([(means[i], significant(mean, 4)), (deviations[i], significant(deviation, 4))]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(significant(1.0, 5), "1");
        assert_eq!(significant(22.503_91, 5), "22.504");
        assert_eq!(significant(-0.000_123_456, 3), "-0.000123");
        assert_eq!(significant(1.5e-7, 3), "1.5e-7");
        assert_eq!(significant(123_456_789.0, 4), "1.235e8");
        assert_eq!(significant(0.0, 4), "0");
        assert_eq!(grouped(2_980_359), "2 980 359");
        assert_eq!(grouped(100), "100");
    }
}
