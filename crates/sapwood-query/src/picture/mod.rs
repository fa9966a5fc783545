//! Histograms and bar charts as pictures: text for a terminal, SVG, and PNG.
//!
//! A chart is first drawn on a [`Canvas`], which knows lines, areas and words; the canvas is then
//! written as SVG (with the reader's sans-serif font) or painted as PNG (with a stroke font of our
//! own, so that no font has to be installed).

mod bars;
mod canvas;
mod chart;
mod font;
mod format;
mod heat;
mod histogram;
mod labels;
mod plane;
mod png;
mod reads;
mod series;
mod shades;
mod surface;
mod svg;
mod terminal;
mod ticks;

pub use bars::{Bar, bar_chart};
pub use canvas::{Anchor, Canvas, Color, Stroke, fit, text_width};
pub use histogram::{Labels, histogram};
pub use reads::{Read, reads};
pub use terminal::terminal;

use crate::hist::Hist1D;
use crate::histogram::Histogram;
use sapwood_span::Result;

/// Draws what a draw made: lines for one variable, colours for two (three are added up over the last), points for
/// profiles, charts. `below` is what was drawn before in the same picture, with titles.
///
/// `labels.x` and `labels.y` are the variables; `variables` are those of a chart, in the order of the expressions.
pub fn canvas(
    hist: &Histogram,
    labels: &Labels<'_>,
    variables: &[&str],
    errors: bool,
    below: &[(&Histogram, String)],
) -> Canvas {
    if let Histogram::Rows(rows) = hist {
        return chart::chart(rows, variables, labels);
    }
    let mut all: Vec<(&Histogram, String)> = below.to_vec();
    all.push((hist, labels.title.to_owned()));
    if let Some(drawn) = simple(hist, labels, errors, below).or_else(|| series::series(&all, labels, errors)) {
        return drawn;
    }
    // the first that has two axes is the ground for all others
    let ground = all.iter().position(|(hist, _)| hist.axes().len() > 1).unwrap_or_default();
    match all.get(ground).and_then(|(hist, _)| heat::heat_map(hist, labels)) {
        Some((mut canvas, plane)) => {
            let others = all.iter().enumerate().filter(|(i, _)| *i != ground);
            for ((_, (hist, _)), color) in others.zip(OVER.iter().cycle()) {
                series::over(&mut canvas, &plane, hist, *color);
                if hist.axes().len() > 1 {
                    heat::boxes(&mut canvas, &plane, hist, *color);
                }
            }
            canvas
        }
        None => Canvas::new(800.0, 520.0, labels.title),
    }
}

/// Colors of what is drawn over a map of colors.
const OVER: [Color; 4] = [
    Color(0xc0, 0x28, 0x28, 255),
    Color(0x7a, 0x3f, 0x8a, 255),
    Color(0xd0, 0x7a, 0x1c, 255),
    Color(0x26, 0x2a, 0x2e, 255),
];

/// A histogram of one variable alone.
fn simple(hist: &Histogram, labels: &Labels<'_>, errors: bool, below: &[(&Histogram, String)]) -> Option<Canvas> {
    match hist {
        Histogram::One(h) if below.is_empty() && !errors => Some(histogram(h, labels)),
        _ => None,
    }
}

/// What a draw made, as lines of text: see [`terminal`](terminal()). `variables` are those of a chart.
pub fn in_characters(hist: &Histogram, variables: &[&str], width: usize, height: usize, unicode: bool) -> String {
    let (width, height) = (width.clamp(30, 1000), height.clamp(8, 500));
    match hist {
        Histogram::One(h) => terminal(h, width, height, unicode),
        Histogram::Rows(rows) => chart::in_characters(rows, variables),
        _ => shades::points(hist, width, height, unicode)
            .or_else(|| shades::cells(hist, width, height, unicode))
            .unwrap_or_default(),
    }
}

/// The histogram as a self-contained SVG document.
pub fn svg(hist: &Hist1D, labels: &Labels<'_>) -> String {
    histogram(hist, labels).to_svg()
}

/// The histogram as a PNG file's bytes; `scale` pixels per unit (2 looks good everywhere).
///
/// # Errors
/// `Invalid` when the picture would be too large.
pub fn png(hist: &Hist1D, labels: &Labels<'_>, scale: f64) -> Result<Vec<u8>> {
    histogram(hist, labels).to_png(scale)
}

/// Horizontal bars as a self-contained SVG document; `unit` stands behind the values.
pub fn bar_chart_svg(title: &str, unit: &str, bars: &[Bar<'_>]) -> String {
    bar_chart(title, unit, bars).to_svg()
}

/// Horizontal bars as a PNG file's bytes.
///
/// # Errors
/// `Invalid` when the picture would be too large.
pub fn bar_chart_png(title: &str, unit: &str, bars: &[Bar<'_>], scale: f64) -> Result<Vec<u8>> {
    bar_chart(title, unit, bars).to_png(scale)
}
