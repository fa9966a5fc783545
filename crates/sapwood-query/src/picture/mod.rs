//! Histograms and bar charts as pictures: text for a terminal, SVG, and PNG.
//!
//! A chart is first drawn on a [`Canvas`], which knows lines, areas and words; the canvas is then
//! written as SVG (with the reader's sans-serif font) or painted as PNG (with a stroke font of our
//! own, so that no font has to be installed).

mod bars;
mod canvas;
mod font;
mod format;
mod histogram;
mod labels;
mod png;
mod reads;
mod svg;
mod terminal;
mod ticks;

pub use bars::{Bar, bar_chart};
pub use canvas::{Anchor, Canvas, Color, Stroke, fit, text_width};
pub use histogram::{Labels, histogram};
pub use reads::{Read, reads};
pub use terminal::terminal;

use crate::hist::Hist1D;
use sapwood_span::Result;

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
