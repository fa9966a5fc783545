//! Histograms in UHI's serialization schema, version 1, which boost-histogram, hist and uproot read.

use std::fmt::Write as _;

/// What an axis says of its bins.
#[derive(Clone, Copy)]
pub(crate) struct AxisBins<'a> {
    pub bins: usize,
    pub low: f64,
    pub high: f64,
    /// Of bins of unequal width.
    pub edges: Option<&'a [f64]>,
}

/// An axis with bins for underflow and overflow, or of strings without them.
pub(crate) fn axis(axis: AxisBins<'_>, labels: Option<&[String]>, label: &str) -> String {
    let kind = match (labels, axis.edges) {
        (Some(labels), _) => {
            let labels: Vec<String> = labels.iter().map(|l| string(l)).collect();
            format!("\"type\":\"category_str\",\"categories\":[{}],\"flow\":false", labels.join(","))
        }
        (None, Some(edges)) => format!(
            "\"type\":\"variable\",\"edges\":{},\"underflow\":true,\"overflow\":true,\"circular\":false",
            list(edges)
        ),
        (None, None) => format!(
            "\"type\":\"regular\",\"lower\":{},\"upper\":{},\"bins\":{},\
             \"underflow\":true,\"overflow\":true,\"circular\":false",
            number(axis.low),
            number(axis.high),
            axis.bins
        ),
    };
    format!("{{{kind},\"metadata\":{{\"label\":{}}}}}", string(label))
}

/// JSON has no NaN and no infinity: they are null.
pub(crate) fn number(x: f64) -> String {
    if x.is_finite() { format!("{x}") } else { "null".to_string() }
}

pub(crate) fn list(v: &[f64]) -> String {
    let items: Vec<String> = v.iter().map(|&x| number(x)).collect();
    format!("[{}]", items.join(","))
}

/// Cells of several axes as nested lists; `shape` is how many cells each axis has, and the last runs fastest.
pub(crate) fn nested(cells: &[f64], shape: &[usize]) -> String {
    match shape {
        [] | [_] => list(cells),
        [_, inner @ ..] => {
            let size = inner.iter().product::<usize>().max(1);
            let items: Vec<String> = cells.chunks(size).map(|part| nested(part, inner)).collect();
            format!("[{}]", items.join(","))
        }
    }
}

pub(crate) fn string(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_nested_with_the_last_axis_innermost() {
        assert_eq!(nested(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN], &[3, 2]), "[[1,2],[3,4],[5,null]]");
        assert_eq!(nested(&[1.0, 2.0], &[1, 2, 1]), "[[[1],[2]]]");
    }

    #[test]
    fn axes_of_unequal_bins_have_edges() {
        let text = axis(AxisBins { bins: 2, low: 0.0, high: 10.0, edges: Some(&[0.0, 1.0, 10.0]) }, None, "x");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["type"], &value["edges"]), (&"variable".into(), &serde_json::json!([0, 1, 10])));
    }
}
