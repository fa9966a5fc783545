use crate::picture::font;
use sapwood_span::printable;

/// A colour: red, green, blue and opacity, 0 to 255 each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color(pub u8, pub u8, pub u8, pub u8);

impl Color {
    /// Text and axes.
    pub const INK: Color = Color(0x26, 0x2a, 0x2e, 255);
    /// Side notes.
    pub const FAINT: Color = Color(0x6b, 0x72, 0x78, 255);
    /// Grid lines.
    pub const GRID: Color = Color(0xe4, 0xe7, 0xe9, 255);
    /// Outlines: the green of leaves.
    pub const LEAF: Color = Color(0x2c, 0x6e, 0x49, 255);
    /// Areas: the same, light.
    pub const SHADE: Color = Color(0x2c, 0x6e, 0x49, 46);
    /// Bars that are compared with: the brown of wood.
    pub const WOOD: Color = Color(0xb0, 0x8d, 0x6a, 255);
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Colour of the line.
    pub color: Color,
    /// Width of the line, in units of the canvas.
    pub width: f64,
}

/// Where a word stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The point is the word's left end.
    Left,
    /// The point is the word's middle.
    Middle,
    /// The point is the word's right end.
    Right,
}

/// A drawing: white, with lines, areas and words. The origin is the upper left corner, y grows downwards.
#[derive(Clone, Debug)]
pub struct Canvas {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) title: String,
    pub(crate) items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Path { points: Vec<(f64, f64)>, fill: Option<Color>, stroke: Option<Stroke> },
    Text(Text),
}

#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub at: (f64, f64),
    pub words: String,
    pub size: f64,
    pub anchor: Anchor,
    pub color: Color,
    /// Reads from below.
    pub upward: bool,
}

impl Canvas {
    /// An empty drawing of this size; `title` is what a screen reader says.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        Self { width, height, title: title.to_string(), items: Vec::new() }
    }

    /// A line through these points.
    pub fn line(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        self.items.push(Item::Path { points: points.to_vec(), fill: None, stroke: Some(stroke) });
    }

    /// The area inside these points.
    pub fn area(&mut self, points: &[(f64, f64)], color: Color) {
        self.items.push(Item::Path { points: points.to_vec(), fill: Some(color), stroke: None });
    }

    /// A filled rectangle by its upper left corner.
    pub fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, color: Color) {
        self.area(&[(x, y), (x + width, y), (x + width, y + height), (x, y + height)], color);
    }

    /// Words on a base line that goes through `at`, `size` units high from line to line.
    pub fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, color: Color, words: &str) {
        self.items.push(Item::Text(Text {
            at,
            words: printable(words).into_owned(),
            size,
            anchor,
            color,
            upward: false,
        }));
    }

    /// Words that read from below.
    pub fn text_upward(&mut self, at: (f64, f64), size: f64, anchor: Anchor, color: Color, words: &str) {
        self.items.push(Item::Text(Text {
            at,
            words: printable(words).into_owned(),
            size,
            anchor,
            color,
            upward: true,
        }));
    }
}

/// How wide words are in the stroke font; close to what a sans-serif font takes.
pub fn text_width(words: &str, size: f64) -> f64 {
    font::advance(words) * font::scale(size)
}

/// The words, cut with an ellipsis where they are wider than allowed.
pub fn fit(words: &str, size: f64, width: f64) -> String {
    if text_width(words, size) <= width {
        return words.to_string();
    }
    let mut kept = String::new();
    for c in words.chars() {
        kept.push(c);
        if text_width(&kept, size) + text_width("…", size) > width {
            kept.pop();
            break;
        }
    }
    kept.push('…');
    kept
}
