use crate::picture::canvas::{Anchor, Canvas, Color, Item, Text};
use crate::picture::font;
use sapwood_span::{Error, ErrorKind, Result};
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, Stroke, Transform};

/// Most pixels along either side.
const MAX_SIDE: f64 = 16_384.0;

impl Canvas {
    /// The drawing as a PNG file's bytes, `scale` pixels per unit.
    ///
    /// # Errors
    /// `Invalid` when a side would have no pixel or more than 16384.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>> {
        let side = |x: f64| {
            let pixels = (x * scale).ceil();
            if (1.0..=MAX_SIDE).contains(&pixels) { Some(pixels as u32) } else { None }
        };
        let pixmap = side(self.width).zip(side(self.height)).and_then(|(w, h)| Pixmap::new(w, h));
        let Some(mut pixmap) = pixmap else {
            return Err(Error::invalid(format!(
                "a picture of {} by {} times {scale} cannot be made",
                self.width, self.height
            ))
            .with_remedy(format!("each side has 1 to {MAX_SIDE} pixels")));
        };
        pixmap.fill(tiny_skia::Color::WHITE);
        let transform = Transform::from_scale(scale as f32, scale as f32);
        for item in &self.items {
            match item {
                Item::Path { points, fill, stroke } => {
                    let Some(path) = polyline(points, fill.is_some()) else { continue };
                    if let Some(c) = fill {
                        pixmap.fill_path(&path, &paint(*c), FillRule::Winding, transform, None);
                    }
                    if let Some(s) = stroke {
                        pixmap.stroke_path(&path, &paint(s.color), &pen(s.width), transform, None);
                    }
                }
                Item::Text(t) => draw_text(&mut pixmap, t, transform),
            }
        }
        encode(pixmap.width(), pixmap.height(), pixmap.data())
    }
}

fn polyline(points: &[(f64, f64)], close: bool) -> Option<tiny_skia::Path> {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        if i == 0 { path.move_to(*x as f32, *y as f32) } else { path.line_to(*x as f32, *y as f32) }
    }
    if close {
        path.close();
    }
    path.finish()
}

fn paint(Color(r, g, b, a): Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(r, g, b, a);
    paint
}

fn pen(width: f64) -> Stroke {
    Stroke { width: width as f32, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() }
}

fn draw_text(pixmap: &mut Pixmap, t: &Text, transform: Transform) {
    let scale = font::scale(t.size);
    let width = font::advance(&t.words) * scale;
    let back = match t.anchor {
        Anchor::Left => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::Right => width,
    };
    let mut path = PathBuilder::new();
    for line in font::strokes(&t.words) {
        for (i, (x, y)) in line.iter().enumerate() {
            let (along, up) = (x * scale - back, y * scale);
            let (x, y) = if t.upward { (t.at.0 - up, t.at.1 - along) } else { (t.at.0 + along, t.at.1 - up) };
            if i == 0 { path.move_to(x as f32, y as f32) } else { path.line_to(x as f32, y as f32) }
        }
    }
    if let Some(path) = path.finish() {
        pixmap.stroke_path(&path, &paint(t.color), &pen(t.size * font::WEIGHT), transform, None);
    }
}

/// The background is opaque, so that the pixels need no opacity.
fn encode(width: u32, height: u32, rgba: &[u8]) -> Result<Vec<u8>> {
    let rgb: Vec<u8> = rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut w| w.write_image_data(&rgb));
    written.map_err(|e| Error::new(ErrorKind::Io, "the picture cannot be encoded").with_source(e))?;
    Ok(out)
}
