//! Histograms of strings: a bar for each.

use crate::hist::Hist1D;
use crate::picture::canvas::{Anchor, Canvas, Color, fit, text_width};
use crate::picture::format::{significant, statistics};
use sapwood_span::printable;

/// Characters of a label on the terminal, at most.
const LONGEST: usize = 32;

/// A line of text for each string: label, bar, sum of weights. At most `height` lines; a last one counts the rest.
pub(super) fn terminal(hist: &Hist1D, labels: &[String], width: usize, height: usize, unicode: bool) -> String {
    let values = hist.values(false);
    let shown = if labels.len() > height - 1 { height - 2 } else { labels.len() };
    let names: Vec<String> = labels.iter().take(shown).map(|l| shortened(l, unicode)).collect();
    let numbers: Vec<String> = values.iter().take(shown).map(|v| significant(*v, 6)).collect();
    let widest = |texts: &[String]| texts.iter().map(|t| t.chars().count()).max().unwrap_or(0);
    let (name, number) = (widest(&names), widest(&numbers));
    let room = width.saturating_sub(name + number + 3).max(4);
    let most = values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);

    let mut out = String::new();
    let words: Vec<String> = statistics(hist).iter().map(|(n, v)| format!("{n} {v}")).collect();
    out.push_str(&format!("{}\n", words.join("  ")));
    let (wall, full, half) = if unicode { ('│', '█', '▌') } else { ('|', '#', '#') };
    for ((label, text), value) in names.iter().zip(&numbers).zip(values) {
        let halves = if most > 0.0 { (value / most * 2.0 * room as f64).round() as usize } else { 0 };
        let halves = halves.min(2 * room).max(usize::from(*value > 0.0));
        let mut bar: String = std::iter::repeat_n(full, halves / 2).collect();
        bar.extend((halves % 2 == 1).then_some(half));
        out.push_str(&format!("{label:>name$} {wall}{bar} {text}\n"));
    }
    if shown < labels.len() {
        let (n, rest) = (labels.len() - shown, values.iter().skip(shown).sum::<f64>());
        out.push_str(&format!("{n} more with {} in all\n", significant(rest, 6)));
    }
    out
}

/// A label that cannot steer the terminal, cut where it is too long.
fn shortened(label: &str, unicode: bool) -> String {
    let label = printable(label);
    let ascii = |c: char| if !unicode && !c.is_ascii() { '?' } else { c };
    let mut out: String = label.chars().take(LONGEST).map(ascii).collect();
    if label.chars().count() > LONGEST {
        out.pop();
        out.push(if unicode { '…' } else { '~' });
    }
    out
}

/// Labels below the bins of a picture, along the base line while they fit, else upward, else some of them. `bins` gives
/// the middle of a bin; `room` is what there is below `base`.
pub(super) fn axis(canvas: &mut Canvas, labels: &[String], middle: impl Fn(usize) -> f64, base: f64, room: f64) {
    let width = if labels.len() > 1 { middle(1) - middle(0) } else { 200.0 };
    let size = 14.0;
    if labels.iter().all(|l| text_width(l, size) < width - 6.0) {
        for (i, label) in labels.iter().enumerate() {
            canvas.text((middle(i), base + 22.0), size, Anchor::Middle, Color::INK, label);
        }
        return;
    }
    let size = 12.0;
    let every = ((size + 2.0) / width.max(1e-9)).ceil().max(1.0) as usize;
    for (i, label) in labels.iter().enumerate().step_by(every) {
        let label = fit(label, size, room - 12.0);
        canvas.text_upward((middle(i) + size / 3.0, base + 8.0), size, Anchor::Right, Color::INK, &label);
    }
}

#[cfg(test)]
mod tests {
    use crate::TextHist;
    use crate::picture;
    use sapwood_column::Array;

    fn filled(words: &[&str]) -> crate::Hist1D {
        let mut offsets = vec![0];
        let mut bytes = Vec::new();
        for w in words {
            bytes.extend_from_slice(w.as_bytes());
            offsets.push(bytes.len() as i64);
        }
        let mut h = TextHist::new();
        h.fill(&Array::Text { offsets, bytes }, &vec![1.0; words.len()]).unwrap();
        h.finish().unwrap()
    }

    #[test]
    fn a_line_for_each_string() {
        let h = filled(&["even", "odd", "odd", "\u{1b}[31m", "odd", "odd"]);
        let text = picture::terminal(&h, 30, 10, true);
        let wanted = "\
Entries 6
      even │████ 1
       odd │████████████████ 4
\\u{1b}[31m │████ 1
";
        assert_eq!(text, wanted, "\n{text}");
        assert!(picture::terminal(&h, 30, 10, false).is_ascii());
        let words: Vec<String> = (0..50).map(|i| format!("word{i}")).collect();
        let many = filled(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let text = picture::terminal(&many, 80, 10, true);
        assert_eq!(text.lines().count(), 10);
        assert!(text.ends_with("42 more with 42 in all\n"), "{text}");
        assert_eq!(picture::terminal(&filled(&[]), 40, 10, true).lines().count(), 2);
    }

    #[test]
    fn labels_stand_below_the_bins() {
        let names = picture::Labels { title: "t", x: "s", ..picture::Labels::default() };
        let few = picture::svg(&filled(&["even", "odd", "even", "<&>"]), &names);
        assert!(few.contains(">even</text>") && few.contains(">odd</text>") && few.contains("&lt;&amp;&gt;"));
        let words: Vec<String> = (0..400).map(|i| format!("a rather long word {i}")).collect();
        let many = picture::svg(&filled(&words.iter().map(String::as_str).collect::<Vec<_>>()), &names);
        let labels = many.matches("a rath").count();
        assert!((20..100).contains(&labels), "{labels}");
        assert!(picture::png(&filled(&["x"]), &names, 1.0).is_ok());
    }
}
