use crate::picture::canvas::{Anchor, Canvas, Color, fit, text_width};
use crate::picture::format::significant;

/// One bar.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bar<'a> {
    /// What was measured.
    pub label: &'a str,
    /// How long the bar is; what is not a finite positive number has no length.
    pub value: f64,
    /// A side remark behind the value.
    pub note: &'a str,
    /// Whether this is the one to look at: leaf green instead of wood brown.
    pub highlight: bool,
}

const WIDTH: f64 = 800.0;
const ROW: f64 = 50.0;
const THICK: f64 = 30.0;
const TOP: f64 = 74.0;
const LABEL: f64 = 16.0;
const NOTE: f64 = 13.0;

/// Draws horizontal bars on one scale from 0, each with its value, `unit` and note behind it.
pub fn bar_chart(title: &str, unit: &str, bars: &[Bar<'_>]) -> Canvas {
    let height = TOP + ROW * bars.len() as f64 + 14.0;
    let mut canvas = Canvas::new(WIDTH, height, title);
    canvas.text((24.0, 40.0), 21.0, Anchor::Left, Color::INK, &fit(title, 21.0, WIDTH - 48.0));
    let value = |b: &Bar<'_>| format!("{} {unit}", significant(b.value, 3)).trim_end().to_string();
    let widest = |f: &dyn Fn(&Bar<'_>) -> f64| bars.iter().map(f).fold(0.0, f64::max);
    let labels = widest(&|b| text_width(b.label, LABEL)).min(260.0);
    // Room behind the longest bar for its value and the longest note.
    let behind = widest(&|b| text_width(&value(b), LABEL) + text_width(b.note, NOTE)) + 44.0;
    let left = 24.0 + labels + 14.0;
    let longest = (WIDTH - left - behind).max(120.0);
    let length = |v: f64| if v.is_finite() { v.max(0.0) } else { 0.0 };
    let most = widest(&|b| length(b.value));
    for (i, bar) in bars.iter().enumerate() {
        let y = TOP + ROW * i as f64;
        let middle = y + THICK / 2.0 + 5.5;
        let width = if most > 0.0 { length(bar.value) / most * longest } else { 0.0 };
        canvas.rectangle(left, y, longest, THICK, Color(0xf3, 0xf4, 0xf4, 255));
        canvas.rectangle(left, y, width.max(1.5), THICK, if bar.highlight { Color::LEAF } else { Color::WOOD });
        let label = fit(bar.label, LABEL, labels + 1.0);
        canvas.text((left - 14.0, middle), LABEL, Anchor::Right, Color::INK, &label);
        let text = value(bar);
        let at = left + longest + 12.0;
        canvas.text((at, middle), LABEL, Anchor::Left, Color::INK, &text);
        let room = (WIDTH - 10.0 - at - text_width(&text, LABEL) - 14.0).max(0.0);
        if !bar.note.is_empty() {
            let at = at + text_width(&text, LABEL) + 14.0;
            canvas.text((at, middle), NOTE, Anchor::Left, Color::FAINT, &fit(bar.note, NOTE, room));
        }
    }
    canvas
}
