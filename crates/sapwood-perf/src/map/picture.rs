//! The map as a picture.

use super::cells::{Cell, cells};
use super::{FileMap, Kind, MOST};
use crate::text::units;
use sapwood_query::picture::{Anchor, Canvas, Color, Stroke, fit, text_width};

const WIDTH: f64 = 860.0;
const LEFT: f64 = 82.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 84.0;
/// Lines of the file, their height, and the space between two.
const LINES: usize = 48;
const LINE: f64 = 9.0;
const SPACE: f64 = 1.0;
/// Cells of a line: a unit of length each.
const CELLS: usize = (WIDTH - LEFT - RIGHT) as usize;
/// Colours that are easy to distinguish, for most colour-blind people as well.
const COLORS: [Color; MOST] = [
    Color(0x2c, 0x6e, 0x49, 255),
    Color(0xd5, 0x5e, 0x00, 255),
    Color(0x00, 0x72, 0xb2, 255),
    Color(0xcc, 0x79, 0xa7, 255),
    Color(0xe6, 0x9f, 0x00, 255),
    Color(0x56, 0xb4, 0xe9, 255),
    Color(0x7a, 0x3e, 0x9d, 255),
    Color(0x8c, 0x51, 0x0a, 255),
];
const BASKET: Color = Color(0xd3, 0xd8, 0xdc, 255);
const RECORD: Color = Color(0x6b, 0x72, 0x78, 255);

impl FileMap {
    /// Draws the map: the file continues line after line, each cell in the colour of its content.
    pub fn picture(&self) -> Canvas {
        let legend = self.legend();
        let top = TOP + 22.0 * (legend.len().saturating_sub(1)) as f64;
        let height = top + LINES as f64 * (LINE + SPACE) + 20.0;
        let title = format!("baskets in {}", self.file);
        let mut canvas = Canvas::new(WIDTH, height, &title);
        let room = WIDTH - LEFT - RIGHT;
        canvas.text((LEFT, 34.0), 20.0, Anchor::Left, Color::INK, &fit(&self.file, 20.0, room - 240.0));
        let step = self.bytes.div_ceil(LINES as u64);
        let note = format!("{} in {LINES} lines of {}", units::bytes(self.bytes), units::bytes(step));
        canvas.text((WIDTH - RIGHT, 34.0), 14.0, Anchor::Right, Color::FAINT, &note);
        for (i, line) in legend.iter().enumerate() {
            let mut x = LEFT;
            let y = 62.0 + 22.0 * i as f64;
            for (color, words) in line {
                canvas.rectangle(x, y - 11.0, 12.0, 12.0, *color);
                canvas.text((x + 18.0, y), 14.0, Anchor::Left, Color::INK, words);
                x += 18.0 + text_width(words, 14.0) + GAP;
            }
        }
        let all = cells(self.ranges(), self.bytes, LINES * CELLS);
        for (i, line) in all.chunks(CELLS).enumerate() {
            let y = top + i as f64 * (LINE + SPACE);
            if i % 8 == 0 {
                let offset = units::bytes(step * i as u64);
                canvas.text((LEFT - 10.0, y + LINE), 13.0, Anchor::Right, Color::INK, &offset);
            }
            let mut x = LEFT;
            for run in line.chunk_by(|a, b| a == b) {
                if let Some(color) = run.first().and_then(color) {
                    canvas.rectangle(x, y, run.len() as f64, LINE, color);
                }
                x += run.len() as f64;
            }
        }
        let bottom = top + LINES as f64 * (LINE + SPACE);
        let frame =
            [(LEFT, top - 4.0), (LEFT, bottom + 3.0), (WIDTH - RIGHT, bottom + 3.0), (WIDTH - RIGHT, top - 4.0)];
        canvas.line(&frame, Stroke { color: Color::GRID, width: 1.0 });
        canvas
    }

    /// Colours and their meaning, line by line.
    fn legend(&self) -> Vec<Vec<(Color, String)>> {
        let chosen = self.chosen.iter().enumerate().map(|(i, c)| {
            let words = format!("{}: {} in {} pieces", c.name, units::bytes(c.bytes), units::count(c.pieces));
            (COLORS[i % MOST], fit(&words, 14.0, 360.0))
        });
        let others = [(BASKET, "other baskets".to_owned()), (RECORD, "other records".to_owned())];
        let mut lines: Vec<Vec<(Color, String)>> = vec![Vec::new()];
        let mut x = LEFT;
        for (color, words) in chosen.chain(others) {
            let width = 18.0 + text_width(&words, 14.0) + GAP;
            if x + width > WIDTH - RIGHT + GAP {
                lines.push(Vec::new());
                x = LEFT;
            }
            x += width;
            if let Some(line) = lines.last_mut() {
                line.push((color, words));
            }
        }
        lines
    }
}

/// Space between two items of the legend.
const GAP: f64 = 22.0;

fn color(cell: &Cell) -> Option<Color> {
    Some(match cell.as_ref()? {
        Kind::Record => RECORD,
        Kind::Basket => BASKET,
        Kind::Chosen(c) => COLORS[c % MOST],
    })
}
