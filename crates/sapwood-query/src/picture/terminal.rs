use crate::hist::{Axis, Hist1D};
use crate::picture::format::{significant, statistics};
use crate::picture::ticks::Ticks;

/// Eighths of a block, and what replaces them without Unicode.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN: [char; 4] = [' ', '.', ':', '#'];

/// The histogram as lines of text: statistics above, columns of blocks (of `.:#` without
/// `unicode`), axes with round numbers. `width` and `height` are those of the whole, in characters;
/// less than 30 by 8 is not used. A histogram of strings has a line for each. Every line ends with a newline.
pub fn terminal(hist: &Hist1D, width: usize, height: usize, unicode: bool) -> String {
    let (width, height) = (width.clamp(30, 1000), height.clamp(8, 500));
    if let Some(labels) = hist.labels() {
        return crate::picture::labels::terminal(hist, labels, width, height, unicode);
    }
    let rows = height - 3;
    let values: Vec<f64> = hist.values(false).iter().map(|v| if v.is_finite() { *v } else { 0.0 }).collect();

    // The left margin depends on the labels, the labels on the joined bins, those on the margin: twice is enough.
    let mut margin = 8;
    let mut columns = columns(&values, width - margin - 1);
    let mut scale = Scale::new(&columns.values, rows);
    for _ in 0..2 {
        margin = scale.labels.iter().map(|(_, l)| l.chars().count()).max().unwrap_or(0) + 1;
        columns = self::columns(&values, width - margin - 1);
        scale = Scale::new(&columns.values, rows);
    }

    let mut out = String::new();
    let words: Vec<String> = statistics(hist).iter().map(|(n, v)| format!("{n} {v}")).collect();
    out.push_str(&words.join(if unicode { "  ·  " } else { "   " }));
    out.push('\n');
    let wall = if unicode { '┤' } else { '+' };
    let plain_wall = if unicode { '│' } else { '|' };
    for row in (0..rows).rev() {
        let label = scale.labels.iter().find(|(r, _)| *r == row).map_or("", |(_, l)| l);
        out.push_str(&format!("{label:>margin$}"));
        out.push(if label.is_empty() { plain_wall } else { wall });
        for v in &columns.values {
            let c = scale.cell(*v, row, unicode);
            out.extend(std::iter::repeat_n(c, columns.wide));
        }
        trim_end(&mut out);
        out.push('\n');
    }
    let plotted = columns.values.len() * columns.wide;
    axis(&mut out, &hist.axis(), margin, plotted, columns.bins_shown, unicode);
    out
}

/// Bins as they are shown: joined so that they fit, or several characters wide.
struct Columns {
    values: Vec<f64>,
    wide: usize,
    /// Bins that the columns stand for; more than there are where the last column is not full.
    bins_shown: usize,
}

fn columns(values: &[f64], room: usize) -> Columns {
    let room = room.max(1);
    let least = values.len().div_ceil(room).max(1);
    // A divisor, where there is one nearby, makes all columns equal.
    let group = (least..=2 * least).find(|g| values.len().is_multiple_of(*g)).unwrap_or(least);
    let joined: Vec<f64> = values.chunks(group).map(|v| v.iter().sum()).collect();
    let wide = (room / joined.len().max(1)).max(1);
    Columns { bins_shown: joined.len() * group, values: joined, wide }
}

struct Scale {
    low: f64,
    step: f64,
    labels: Vec<(usize, String)>,
}

impl Scale {
    fn new(values: &[f64], rows: usize) -> Self {
        let high = values.iter().copied().fold(0.0, f64::max);
        let low = values.iter().copied().fold(0.0, f64::min);
        let high = if high > low { high } else { low + 1.0 };
        let step = (high - low) / rows as f64;
        let ticks = Ticks::new(low, high, (rows / 3).clamp(2, 8));
        let labels = ticks
            .at
            .iter()
            // The upper edge of the row is what the label says, except for the lowest.
            .map(|&x| ((((x - low) / step - 1e-6).ceil() - 1.0).max(0.0) as usize, significant(x, 6)))
            .filter(|(row, _)| *row < rows)
            .collect();
        Self { low, step, labels }
    }

    /// What is seen of a column in one row; columns grow from 0, also downwards.
    fn cell(&self, value: f64, row: usize, unicode: bool) -> char {
        let (bottom, top) = (self.low + row as f64 * self.step, self.low + (row + 1) as f64 * self.step);
        let full = if unicode { 8 } else { 3 };
        let part = if value >= 0.0 {
            if bottom < -0.5 * self.step { 0.0 } else { (value - bottom) / self.step }
        } else if top > 0.5 * self.step {
            0.0
        } else {
            // There are no blocks that hang from above: half a row decides.
            ((top - value) / self.step).round()
        };
        let mut level = (part.clamp(0.0, 1.0) * f64::from(full)).round() as usize;
        // What is there is seen.
        if level == 0 && value > 0.0 && bottom <= 0.0 && top > 0.0 {
            level = 1;
        }
        if unicode { BLOCKS[level.min(8)] } else { PLAIN[level.min(3)] }
    }
}

pub(super) fn axis(out: &mut String, axis: &Axis, margin: usize, plotted: usize, bins: usize, unicode: bool) {
    let (low, shown) = (axis.low(), (axis.high() - axis.low()) * bins as f64 / axis.bins() as f64);
    let ticks = Ticks::new(low, axis.high(), (plotted / 10).clamp(2, 12));
    let (corner, line, mark) = if unicode { ('└', '─', '┬') } else { ('+', '-', '+') };
    let mut rule = vec![line; plotted];
    let mut labels = vec![' '; margin + 1 + plotted + 12];
    let mut free = 0;
    for (x, label) in ticks.at.iter().zip(&ticks.labels) {
        let column = ((x - low) / shown * plotted as f64) as usize;
        if let Some(c) = rule.get_mut(column) {
            *c = mark;
        }
        let from = (margin + 1 + column).saturating_sub(label.chars().count() / 2);
        if from >= free && column <= plotted {
            for (i, c) in label.chars().enumerate() {
                if let Some(place) = labels.get_mut(from + i) {
                    *place = c;
                }
            }
            free = from + label.chars().count() + 1;
        }
    }
    out.extend(std::iter::repeat_n(' ', margin));
    out.push(corner);
    out.extend(rule);
    out.push('\n');
    out.extend(labels);
    trim_end(out);
    match ticks.power_words() {
        Some(words) if unicode => out.push_str(&format!("  {words}")),
        Some(_) => out.push_str(&format!("  x1e{}", ticks.power)),
        None => {}
    }
    out.push('\n');
}

pub(super) fn trim_end(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(counts: &[f64]) -> Hist1D {
        let mut h = Hist1D::new(Axis::new(counts.len(), 0.0, counts.len() as f64).unwrap());
        for (i, n) in counts.iter().enumerate() {
            h.fill(&[i as f64 + 0.5], &[*n]);
        }
        h
    }

    #[test]
    fn columns_stand_on_their_axis() {
        let text = terminal(&filled(&[1.0, 4.0, 2.0, 0.0]), 30, 8, true);
        let wanted = "\
Entries 4  ·  Mean 1.6429  ·  Std Dev 0.63888
 4┤      ██████
  │      ██████
 2┤      ██████▄▄▄▄▄▄
  │▂▂▂▂▂▂████████████
 0┤██████████████████
  └┬───────────┬───────────
   0           2           4
";
        assert_eq!(text, wanted, "\n{text}");
        let plain = terminal(&filled(&[1.0, 4.0, 2.0, 0.0]), 30, 8, false);
        assert!(plain.is_ascii() && plain.contains("#######"), "{plain}");
    }

    #[test]
    fn any_size_and_content_stays_in_its_frame() {
        let negative = filled(&[-3.0, 2.0, -1.0, f64::NAN]);
        let many = filled(&vec![1.0; 997]);
        let empty = Hist1D::new(Axis::new(100, -1e-9, 1e12).unwrap());
        for h in [negative, many, empty] {
            for (w, n) in [(0, 0), (80, 24), (31, 9), (200, 50)] {
                for unicode in [false, true] {
                    let text = terminal(&h, w, n, unicode);
                    assert!(text.lines().skip(1).all(|l| l.chars().count() <= w.max(30) + 12), "{text}");
                    assert_eq!(text.lines().count(), n.max(8), "{text}");
                }
            }
        }
    }
}
