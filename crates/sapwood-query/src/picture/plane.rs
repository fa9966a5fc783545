//! The frame of a picture: where values of x and y lie, axes with round numbers or names.

use crate::picture::canvas::{Anchor, Canvas, Color, Stroke, fit};
use crate::picture::histogram::Labels;
use crate::picture::ticks::Ticks;

pub(super) const WIDTH: f64 = 800.0;
pub(super) const HEIGHT: f64 = 520.0;
pub(super) const LEFT: f64 = 82.0;
pub(super) const TOP: f64 = 82.0;
pub(super) const BOTTOM: f64 = 62.0;

/// Ranges of x and y, and how much room is left on the right.
pub(super) struct Plane {
    pub x: (f64, f64),
    pub y: (f64, f64),
    pub right: f64,
}

impl Plane {
    pub(super) fn x(&self, value: f64) -> f64 {
        LEFT + (value - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - self.right)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (value - self.y.0) / (self.y.1 - self.y.0) * (HEIGHT - TOP - BOTTOM)
    }

    /// Axes with their titles; names in place of numbers where the values were strings.
    pub(super) fn axes(&self, canvas: &mut Canvas, labels: &Labels<'_>, names: [Option<&[String]>; 2]) {
        let (ink, bottom, end) = (Stroke { color: Color::INK, width: 1.2 }, HEIGHT - BOTTOM, WIDTH - self.right);
        let (xs, ys) = (Ticks::new(self.x.0, self.x.1, 9), Ticks::new(self.y.0, self.y.1, 7));
        match names[1] {
            Some(names) => {
                let every = (names.len() as f64 * 14.0 / (bottom - TOP)).ceil().max(1.0) as usize;
                for (i, name) in names.iter().enumerate().step_by(every) {
                    let at = (LEFT - 10.0, self.y(i as f64 + 0.5) + 5.0);
                    canvas.text(at, 12.0, Anchor::Right, Color::INK, &fit(name, 12.0, LEFT - 14.0));
                }
            }
            None => {
                for (at, label) in ys.at.iter().zip(&ys.labels) {
                    let y = self.y(*at);
                    canvas.line(&[(LEFT - 5.0, y), (LEFT, y)], ink);
                    canvas.text((LEFT - 10.0, y + 5.0), 14.0, Anchor::Right, Color::INK, label);
                }
                if let Some(power) = ys.power_words() {
                    canvas.text((LEFT - 10.0, TOP - 14.0), 13.0, Anchor::Right, Color::INK, &power);
                }
                let title = fit(labels.y, 16.0, HEIGHT - TOP - BOTTOM);
                canvas.text_upward((22.0, TOP), 16.0, Anchor::Right, Color::INK, &title);
            }
        }
        match names[0] {
            Some(names) => crate::picture::labels::axis(canvas, names, |i| self.x(i as f64 + 0.5), bottom, BOTTOM),
            None => {
                for (at, label) in xs.at.iter().zip(&xs.labels) {
                    let x = self.x(*at);
                    canvas.line(&[(x, bottom), (x, bottom + 5.0)], ink);
                    canvas.text((x, bottom + 22.0), 14.0, Anchor::Middle, Color::INK, label);
                }
                let title = match xs.power_words() {
                    Some(power) => format!("{}  ({power})", labels.x).trim_start().to_owned(),
                    None => labels.x.to_owned(),
                };
                let title = fit(&title, 16.0, end - LEFT);
                canvas.text((end, HEIGHT - 14.0), 16.0, Anchor::Right, Color::INK, &title);
            }
        }
        canvas.line(&[(LEFT, TOP - 8.0), (LEFT, bottom), (end, bottom)], ink);
    }
}
