use crate::picture::canvas::{Anchor, Canvas, Color, Stroke, fit};
use crate::picture::ticks::Ticks;

/// One range of a file that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Read {
    /// The first entry that it is for.
    pub entry: u64,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// When it was asked for, in seconds from the beginning.
    pub time: f64,
}

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 82.0;
const RIGHT: f64 = 82.0;
const TOP: f64 = 82.0;
const BOTTOM: f64 = 62.0;
/// A bar is at least so high: ROOT's points have markers.
const LEAST: f64 = 3.0;

/// Draws what was read, as ROOT's `TTreePerfStats` does: entries along x, the place in the file along y, a bar as long
/// as each range; and on the right a second curve, the time at which it was asked for.
pub fn reads(title: &str, note: &str, reads: &[Read]) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT, if title.is_empty() { "what was read" } else { title });
    let room = WIDTH - LEFT - RIGHT;
    canvas.text((LEFT, 34.0), 20.0, Anchor::Left, Color::INK, &fit(title, 20.0, room));
    canvas.text((LEFT, 58.0), 14.0, Anchor::Left, Color::FAINT, &fit(note, 14.0, room));
    let largest = |f: &dyn Fn(&Read) -> f64| reads.iter().map(f).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let span = |most: f64| if most > 0.0 { 1.04 * most } else { 1.0 };
    let entries = span(largest(&|r| r.entry as f64));
    let megabytes = span(largest(&|r| (r.offset as f64 + r.len as f64) * 1e-6));
    let seconds = span(largest(&|r| r.time));
    let bottom = HEIGHT - BOTTOM;
    let x = |v: f64| LEFT + v / entries * room;
    let y = |v: f64, most: f64| bottom - (v / most).clamp(0.0, 1.0) * (bottom - TOP);

    let ys = Ticks::new(0.0, megabytes, 7);
    for (at, label) in ys.at.iter().zip(&ys.labels) {
        let y = y(*at, megabytes);
        if bottom - y > 0.5 {
            canvas.line(&[(LEFT, y), (WIDTH - RIGHT, y)], Stroke { color: Color::GRID, width: 1.0 });
        }
        canvas.text((LEFT - 10.0, y + 5.0), 14.0, Anchor::Right, Color::INK, label);
    }
    let times = Ticks::new(0.0, seconds, 7);
    for (at, label) in times.at.iter().zip(&times.labels) {
        canvas.text((WIDTH - RIGHT + 10.0, y(*at, seconds) + 5.0), 14.0, Anchor::Left, Color::WOOD, label);
    }
    let xs = Ticks::new(0.0, entries, 9);
    for (at, label) in xs.at.iter().zip(&xs.labels) {
        let line = [(x(*at), bottom), (x(*at), bottom + 5.0)];
        canvas.line(&line, Stroke { color: Color::INK, width: 1.2 });
        canvas.text((x(*at), bottom + 22.0), 14.0, Anchor::Middle, Color::INK, label);
    }
    let with = |name: &str, ticks: &Ticks| match ticks.power_words() {
        Some(power) => format!("{name} ({power})"),
        None => name.to_owned(),
    };
    canvas.text((WIDTH - RIGHT, HEIGHT - 14.0), 16.0, Anchor::Right, Color::INK, &with("entry", &xs));
    canvas.text_upward((22.0, TOP), 16.0, Anchor::Right, Color::INK, &with("place in the file, MB", &ys));
    canvas.text_upward((WIDTH - 14.0, TOP), 16.0, Anchor::Right, Color::WOOD, &with("real time, s", &times));

    for r in reads {
        let (from, to) = (r.offset as f64 * 1e-6, (r.offset as f64 + r.len as f64) * 1e-6);
        let (x, low, high) = (x(r.entry as f64), y(from, megabytes), y(to, megabytes));
        canvas.rectangle(x - 1.5, high.min(low - LEAST), 3.0, (low - high).max(LEAST), Color::LEAF);
    }
    let mut curve: Vec<(f64, f64)> = Vec::new();
    // along the entries: what was asked for together is for entries here and there
    let mut along: Vec<&Read> = reads.iter().filter(|r| r.time.is_finite()).collect();
    along.sort_by(|a, b| a.entry.cmp(&b.entry).then(a.time.total_cmp(&b.time)));
    for r in along {
        let point = (x(r.entry as f64), y(r.time, seconds));
        // ranges of one request lie on one another
        if curve.last().is_none_or(|last| (last.0 - point.0).abs() + (last.1 - point.1).abs() > 0.3) {
            curve.push(point);
        }
    }
    if curve.len() > 1 {
        canvas.line(&curve, Stroke { color: Color::WOOD, width: 1.6 });
    }
    let frame = [(LEFT, TOP - 8.0), (LEFT, bottom), (WIDTH - RIGHT, bottom), (WIDTH - RIGHT, TOP - 8.0)];
    canvas.line(&frame, Stroke { color: Color::INK, width: 1.2 });
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_for_each_range_and_a_curve() {
        let read = |entry: u64, offset: u64, time: f64| Read { entry, offset, len: 1_000_000, time };
        let svg = reads("t", "n", &[read(0, 0, 0.1), read(500, 50_000_000, 0.4), read(1000, 99_000_000, 0.9)]).to_svg();
        let (leaf, wood) = ("fill=\"#2c6e49\"", "stroke=\"#b08d6a\"");
        assert_eq!((svg.matches(leaf).count(), svg.matches(wood).count()), (3, 1), "{svg}");
        assert!(svg.contains(">entry</text>") && svg.contains(">1000</text>") && svg.contains("real time, s"));
        // a range of 1 MB on an axis of 104 MB and 376 units: 3.62 units high, at the left end and at the bottom
        assert!(svg.contains("M80.5 454.38L83.5 454.38L83.5 458L80.5 458\" fill"), "{svg}");
    }

    #[test]
    fn nothing_read_is_an_empty_frame() {
        assert!(reads("", "", &[]).to_png(1.0).is_ok());
        let odd = Read { entry: u64::MAX, offset: u64::MAX, len: u64::MAX, time: f64::NAN };
        assert!(reads("t", "", &[odd, odd]).to_png(1.0).is_ok());
    }
}
