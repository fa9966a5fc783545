use crate::picture::canvas::{Anchor, Canvas, Color, Item, Text};
use std::fmt::Write as _;

impl Canvas {
    /// The drawing as a self-contained SVG document.
    pub fn to_svg(&self) -> String {
        let (w, h) = (number(self.width), number(self.height));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" \
             font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n<title>{}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
            escaped(&self.title)
        );
        for item in &self.items {
            match item {
                Item::Path { points, fill, stroke } => {
                    out.push_str("<path d=\"");
                    for (i, (x, y)) in points.iter().enumerate() {
                        let _ = write!(out, "{}{} {}", if i == 0 { "M" } else { "L" }, number(*x), number(*y));
                    }
                    out.push('"');
                    match fill {
                        Some(c) => out.push_str(&paint("fill", *c)),
                        None => out.push_str(" fill=\"none\""),
                    }
                    if let Some(s) = stroke {
                        let _ = write!(out, "{} stroke-width=\"{}\"", paint("stroke", s.color), number(s.width));
                        out.push_str(" stroke-linejoin=\"round\" stroke-linecap=\"round\"");
                    }
                    out.push_str("/>\n");
                }
                Item::Text(t) => text(&mut out, t),
            }
        }
        out.push_str("</svg>\n");
        out
    }
}

fn text(out: &mut String, t: &Text) {
    let (x, y) = (number(t.at.0), number(t.at.1));
    let anchor = match t.anchor {
        Anchor::Left => "start",
        Anchor::Middle => "middle",
        Anchor::Right => "end",
    };
    let turn = if t.upward { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\"{}{turn}>{}</text>",
        number(t.size),
        paint("fill", t.color),
        escaped(&t.words)
    );
}

/// Two decimals are finer than a pixel.
fn number(x: f64) -> String {
    let s = format!("{x:.2}");
    let s = s.trim_end_matches('0').trim_end_matches('.');
    if s == "-0" { "0".to_string() } else { s.to_string() }
}

fn paint(what: &str, Color(r, g, b, opacity): Color) -> String {
    let mut out = format!(" {what}=\"#{r:02x}{g:02x}{b:02x}\"");
    if opacity != 255 {
        let _ = write!(out, " {what}-opacity=\"{}\"", number(f64::from(opacity) / 255.0));
    }
    out
}

/// Text inside an element; control characters, which XML forbids, become blanks.
fn escaped(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
