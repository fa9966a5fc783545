//! A stroke font for painted pictures, drawn for Sapwood: round letters on a grid.
//!
//! Capitals are 14 units high, small letters 10, descenders reach 4.5 below the base line. A glyph
//! is a width and a path: `M x y` moves, `L x y` draws a line, `Q cx cy x y` a parabola,
//! `O cx cy rx ry from to` begins a new stroke with an elliptic arc (degrees, anticlockwise),
//! `A` is the same arc joined to the stroke so far.

/// Line width in parts of the text size.
pub(crate) const WEIGHT: f64 = 0.082;
/// Room between two glyphs.
const GAP: f64 = 3.3;
/// Units from line to line: what a font calls its size.
const EM: f64 = 19.6;

/// Canvas units per unit of the grid for a text size.
pub(crate) fn scale(size: f64) -> f64 {
    size / EM
}

#[rustfmt::skip]
static GLYPHS: &[(char, f64, &str)] = &[
    (' ', 3.0, ""),
    ('0', 9.0, "O 4.5 7 4.4 7 0 360"),
    ('1', 9.0, "M 1.8 11.4 L 5.4 14 L 5.4 0"),
    ('2', 9.0, "O 4.5 9.9 4.1 4.1 165 -38 L 0.5 0 L 8.8 0"),
    ('3', 9.0, "O 4.3 10.6 3.6 3.4 155 -90 A 4.3 3.6 4.3 3.6 90 -155"),
    ('4', 9.0, "M 9 4 L 0 4 L 6.6 14 L 6.6 0"),
    ('5', 9.0, "M 8 14 L 1.7 14 L 1 7.5 A 4.3 4.6 4.4 4.6 140 -155"),
    ('6', 9.0, "O 4.5 4.5 4.3 4.5 0 360 M 0.2 4.8 Q 0.4 11.2 6.8 14"),
    ('7', 9.0, "M 0.2 14 L 8.8 14 L 3.2 0"),
    ('8', 9.0, "O 4.5 10.6 3.6 3.4 0 360 O 4.5 3.6 4.3 3.6 0 360"),
    ('9', 9.0, "O 4.5 9.5 4.3 4.5 0 360 M 8.8 9.2 Q 8.6 2.8 2.2 0"),
    ('A', 10.0, "M 0 0 L 5 14 L 10 0 M 1.8 5 L 8.2 5"),
    ('B', 9.0, "M 0 7.3 L 4.8 7.3 A 4.8 10.65 3.4 3.35 -90 90 L 0 14 L 0 0 L 5 0 A 5 3.65 3.9 3.65 -90 90"),
    ('C', 10.0, "O 5.8 7 5.8 7 47 313"),
    ('D', 10.0, "M 0 0 L 0 14 L 4 14 A 4 7 6 7 90 -90 L 0 0"),
    ('E', 8.0, "M 8 14 L 0 14 L 0 0 L 8 0 M 0 7.3 L 7 7.3"),
    ('F', 7.6, "M 7.8 14 L 0 14 L 0 0 M 0 7 L 6.8 7"),
    ('G', 10.8, "O 5.9 7 5.9 7 47 320 L 10.5 6.4 L 6.6 6.4"),
    ('H', 9.6, "M 0 0 L 0 14 M 9.6 0 L 9.6 14 M 0 7.3 L 9.6 7.3"),
    ('I', 1.0, "M 0.5 0 L 0.5 14"),
    ('J', 6.4, "M 6.4 14 L 6.4 3.6 A 3.2 3.6 3.2 3.6 0 -170"),
    ('K', 9.0, "M 0 0 L 0 14 M 8.6 14 L 0 5.4 M 3.2 8.6 L 9 0"),
    ('L', 7.2, "M 0 14 L 0 0 L 7.4 0"),
    ('M', 12.0, "M 0 0 L 0 14 L 6 3 L 12 14 L 12 0"),
    ('N', 10.0, "M 0 0 L 0 14 L 10 0 L 10 14"),
    ('O', 11.8, "O 5.9 7 5.9 7 0 360"),
    ('P', 8.6, "M 0 0 L 0 14 L 4.8 14 A 4.8 10.2 3.8 3.8 90 -90 L 0 6.4"),
    ('Q', 11.8, "O 5.9 7 5.9 7 0 360 M 7.4 3.6 L 11.6 -1"),
    ('R', 8.9, "M 0 0 L 0 14 L 4.8 14 A 4.8 10.2 3.8 3.8 90 -90 L 0 6.4 M 4.8 6.4 L 9 0"),
    ('S', 8.9, "O 4.6 10.6 3.8 3.4 28 270 A 4.5 3.6 4.4 3.6 90 -152"),
    ('T', 9.6, "M 0 14 L 9.6 14 M 4.8 14 L 4.8 0"),
    ('U', 9.8, "M 0 14 L 0 4.9 A 4.9 4.9 4.9 4.9 180 360 L 9.8 14"),
    ('V', 9.8, "M 0 14 L 4.9 0 L 9.8 14"),
    ('W', 14.0, "M 0 14 L 3.5 0 L 7 12 L 10.5 0 L 14 14"),
    ('X', 9.2, "M 0 14 L 9.2 0 M 9.2 14 L 0 0"),
    ('Y', 9.6, "M 0 14 L 4.8 6.8 L 4.8 0 M 9.6 14 L 4.8 6.8"),
    ('Z', 9.0, "M 0.3 14 L 9 14 L 0 0 L 9.2 0"),
    ('a', 8.2, "O 4.1 5 4.1 5 0 360 M 8.2 10 L 8.2 0"),
    ('b', 8.2, "O 4.1 5 4.1 5 0 360 M 0 14.6 L 0 0"),
    ('c', 7.6, "O 4.6 5 4.5 5 50 310"),
    ('d', 8.2, "O 4.1 5 4.1 5 0 360 M 8.2 14.6 L 8.2 0"),
    ('e', 8.4, "M 0.1 5.2 L 8.4 5.2 A 4.25 5 4.2 5 2 312"),
    ('f', 4.6, "M 1.8 0 L 1.8 11.2 A 4.7 11.4 2.9 3.2 180 85 M 0 10 L 4.6 10"),
    ('g', 8.2, "O 4.1 5 4.1 5 0 360 M 8.2 10 L 8.2 -0.4 A 4.2 -0.4 4 4 0 -150"),
    ('h', 7.8, "M 0 0 L 0 14.6 M 0 6 A 3.9 6 3.9 4 180 0 L 7.8 0"),
    ('i', 1.0, "M 0.5 0 L 0.5 10 M 0.5 13.8 L 0.5 14.0"),
    ('j', 2.4, "M 1.9 10 L 1.9 -1.6 A -0.4 -1.6 2.3 2.8 0 -85 M 1.9 13.8 L 1.9 14.0"),
    ('k', 7.2, "M 0 0 L 0 14.6 M 6.9 10 L 0 3.6 M 2.7 6.2 L 7.4 0"),
    ('l', 1.0, "M 0.5 0 L 0.5 14.6"),
    ('m', 12.8, "M 0 0 L 0 10 M 0 6.6 A 3.2 6.6 3.2 3.4 180 0 L 6.4 0 M 6.4 6.6 A 9.6 6.6 3.2 3.4 180 0 L 12.8 0"),
    ('n', 7.8, "M 0 0 L 0 10 M 0 6 A 3.9 6 3.9 4 180 0 L 7.8 0"),
    ('o', 9.0, "O 4.5 5 4.5 5 0 360"),
    ('p', 8.2, "O 4.1 5 4.1 5 0 360 M 0 10 L 0 -4.5"),
    ('q', 8.2, "O 4.1 5 4.1 5 0 360 M 8.2 10 L 8.2 -4.5"),
    ('r', 4.4, "M 0 0 L 0 10 M 0 5.8 A 4 5.8 4 4.2 180 82"),
    ('s', 6.8, "O 3.5 7.5 2.9 2.5 28 270 A 3.4 2.5 3.3 2.5 90 -152"),
    ('t', 4.8, "M 1.8 13.4 L 1.8 2.8 A 4.4 2.8 2.6 2.8 180 275 M 0 10 L 4.7 10"),
    ('u', 7.8, "M 0 10 L 0 4 A 3.9 4 3.9 4 180 360 M 7.8 10 L 7.8 0"),
    ('v', 7.8, "M 0 10 L 3.9 0 L 7.8 10"),
    ('w', 11.6, "M 0 10 L 2.9 0 L 5.8 9 L 8.7 0 L 11.6 10"),
    ('x', 7.2, "M 0 10 L 7.2 0 M 7.2 10 L 0 0"),
    ('y', 7.8, "M 0 10 L 3.9 0 M 7.8 10 L 3.3 -2 Q 2.3 -4.5 0.3 -4.3"),
    ('z', 7.0, "M 0.2 10 L 7 10 L 0 0 L 7.2 0"),
    ('.', 1.0, "M 0.5 0 L 0.5 0.2"),
    (',', 1.4, "M 0.9 0.2 L 0.2 -2.6"),
    (':', 1.0, "M 0.5 0.4 L 0.5 0.6 M 0.5 8.4 L 0.5 8.6"),
    (';', 1.4, "M 0.9 0.2 L 0.2 -2.6 M 0.9 8.4 L 0.9 8.6"),
    ('!', 1.0, "M 0.5 14 L 0.5 4.4 M 0.5 0 L 0.5 0.2"),
    ('?', 7.4, "O 3.6 10.4 3.5 3.6 165 -50 Q 3.6 6.2 3.6 4.2 M 3.6 0 L 3.6 0.2"),
    ('\'', 1.0, "M 0.5 14 L 0.5 10.4"),
    ('"', 3.6, "M 0.3 14 L 0.3 10.4 M 3.3 14 L 3.3 10.4"),
    ('`', 2.6, "M 0.2 14 L 2.4 11.4"),
    ('-', 5.4, "M 0.2 5.4 L 5.2 5.4"),
    ('–', 8.0, "M 0 5.4 L 8 5.4"),
    ('−', 8.0, "M 0 5.8 L 8 5.8"),
    ('_', 8.2, "M 0 -2.2 L 8.2 -2.2"),
    ('+', 8.4, "M 0 5.8 L 8.4 5.8 M 4.2 10 L 4.2 1.6"),
    ('±', 8.4, "M 0 7.2 L 8.4 7.2 M 4.2 11.2 L 4.2 3.2 M 0 0.4 L 8.4 0.4"),
    ('=', 8.4, "M 0 7.8 L 8.4 7.8 M 0 3.8 L 8.4 3.8"),
    ('*', 6.0, "M 3 14 L 3 7.6 M 0.2 12.4 L 5.8 9.2 M 5.8 12.4 L 0.2 9.2"),
    ('×', 6.8, "M 0.2 9.2 L 6.6 2.6 M 6.6 9.2 L 0.2 2.6"),
    ('·', 1.0, "M 0.5 5.8 L 0.5 6.0"),
    ('/', 6.0, "M 0 -2 L 6 14.6"),
    ('\\', 6.0, "M 0 14.6 L 6 -2"),
    ('|', 1.0, "M 0.5 15 L 0.5 -3.6"),
    ('(', 3.2, "O 5.4 5.6 5.2 10.6 125 235"),
    (')', 3.2, "O -2.2 5.6 5.2 10.6 55 -55"),
    ('[', 3.2, "M 3.4 14.6 L 0.4 14.6 L 0.4 -3.2 L 3.4 -3.2"),
    (']', 3.2, "M -0.2 14.6 L 2.8 14.6 L 2.8 -3.2 L -0.2 -3.2"),
    ('{', 4.4, "M 4.2 14.6 Q 2.2 14.6 2.2 12.4 L 2.2 8 Q 2.2 5.7 0.2 5.7 Q 2.2 5.7 2.2 3.4 L 2.2 -1 Q 2.2 -3.2 4.2 -3.2"),
    ('}', 4.4, "M 0.2 14.6 Q 2.2 14.6 2.2 12.4 L 2.2 8 Q 2.2 5.7 4.2 5.7 Q 2.2 5.7 2.2 3.4 L 2.2 -1 Q 2.2 -3.2 0.2 -3.2"),
    ('<', 8.0, "M 8 10 L 0.2 5.8 L 8 1.6"),
    ('>', 8.0, "M 0 10 L 7.8 5.8 L 0 1.6"),
    ('^', 6.8, "M 0.2 9.4 L 3.4 14 L 6.6 9.4"),
    ('~', 8.4, "M 0 4.6 Q 2 8.2 4.2 5.8 Q 6.4 3.4 8.4 7"),
    ('#', 9.6, "M 3.4 14 L 1.6 0 M 8 14 L 6.2 0 M 0.6 9.4 L 9.6 9.4 M 0 4.6 L 9 4.6"),
    ('$', 8.9, "O 4.6 10 3.7 3 28 270 A 4.5 3.8 4.2 3.2 90 -152 M 4.5 15.4 L 4.5 -1.6"),
    ('%', 13.0, "O 2.9 10.8 2.8 3.2 0 360 O 10.1 3.2 2.8 3.2 0 360 M 10.4 14 L 2.6 0"),
    ('&', 10.2, "M 10.2 0 L 2.5 9.5 A 4.6 11.4 2.6 2.6 215 -40 L 2.2 6.4 A 3.9 3.6 3.8 3.6 118 330 L 9.6 7.4"),
    ('@', 13.4, "O 6.6 5.8 2.9 3.3 0 360 M 9.5 9.1 L 9.5 4.6 A 11.4 4.6 1.9 2.2 180 360 A 6.7 6 6.6 7.6 -4 300"),
    ('…', 9.0, "M 0.5 0 L 0.5 0.2 M 4.5 0 L 4.5 0.2 M 8.5 0 L 8.5 0.2"),
    ('µ', 7.8, "M 0 10 L 0 -4.5 M 0 4 A 3.9 4 3.9 4 180 360 M 7.8 10 L 7.8 0"),
    ('°', 4.4, "O 2.2 12 2.1 2.1 0 360"),
    ('¹', 4.0, "M 0.6 14.4 L 2.6 15.6 L 2.6 8.4"),
    ('²', 5.0, "O 2.5 13.4 2.2 2.2 165 -38 L 0.3 8.4 L 4.8 8.4"),
    ('³', 5.0, "O 2.4 13.9 1.9 1.7 155 -90 A 2.4 10.3 2.2 1.9 90 -155"),
    ('⁰', 5.0, "O 2.5 12 2.3 3.6 0 360"),
    ('⁴', 5.0, "M 4.9 10.4 L 0.1 10.4 L 3.6 15.6 L 3.6 8.4"),
    ('⁵', 5.0, "M 4.4 15.6 L 1 15.6 L 0.7 12.2 A 2.4 10.7 2.3 2.3 140 -155"),
    ('⁶', 5.0, "O 2.5 10.7 2.2 2.3 0 360 M 0.3 10.9 Q 0.4 14.2 3.6 15.6"),
    ('⁷', 5.0, "M 0.2 15.6 L 4.8 15.6 L 1.9 8.4"),
    ('⁸', 5.0, "O 2.5 13.9 1.9 1.7 0 360 O 2.5 10.3 2.2 1.9 0 360"),
    ('⁹', 5.0, "O 2.5 13.3 2.2 2.3 0 360 M 4.7 13.1 Q 4.6 9.8 1.4 8.4"),
    ('⁻', 4.2, "M 0 12 L 4.2 12"),
];

/// What stands for a character that the font lacks.
const BOX: (f64, &str) = (7.0, "M 0 0 L 0 12 L 7 12 L 7 0 L 0 0");

fn glyph(c: char) -> (f64, &'static str) {
    GLYPHS.iter().find(|g| g.0 == c).map_or(BOX, |g| (g.1, g.2))
}

/// Width of the words on the grid.
pub(crate) fn advance(words: &str) -> f64 {
    let total: f64 = words.chars().map(|c| glyph(c).0 + GAP).sum();
    (total - GAP).max(0.0)
}

/// The words as lines on the grid, from the base line's left end, y upwards.
pub(crate) fn strokes(words: &str) -> Vec<Vec<(f64, f64)>> {
    let mut out = Vec::new();
    let mut x = 0.0;
    for c in words.chars() {
        let (width, path) = glyph(c);
        for mut line in lines(path) {
            line.iter_mut().for_each(|p| p.0 += x);
            out.push(line);
        }
        x += width + GAP;
    }
    out
}

/// A path as lines; curves become short ones.
fn lines(path: &str) -> Vec<Vec<(f64, f64)>> {
    let mut out: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut words = path.split_ascii_whitespace();
    while let Some(command) = words.next() {
        let count = match command {
            "Q" => 4,
            "O" | "A" => 6,
            _ => 2,
        };
        let n: Vec<f64> = words.by_ref().take(count).filter_map(|w| w.parse().ok()).collect();
        match (command, n.as_slice()) {
            ("M", [x, y]) => out.push(vec![(*x, *y)]),
            ("L", [x, y]) => {
                if let Some(line) = out.last_mut() {
                    line.push((*x, *y));
                }
            }
            ("Q", [cx, cy, x, y]) => {
                if let Some(line) = out.last_mut()
                    && let Some(&(x0, y0)) = line.last()
                {
                    line.extend((1..=12).map(|i| {
                        let t = f64::from(i) / 12.0;
                        let (a, b, c) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
                        (a * x0 + b * cx + c * x, a * y0 + b * cy + c * y)
                    }));
                }
            }
            ("O" | "A", [cx, cy, rx, ry, from, to]) => {
                if command == "O" || out.is_empty() {
                    out.push(Vec::new());
                }
                let steps = ((to - from).abs() / 9.0).ceil().max(1.0) as i32;
                let arc = (0..=steps).map(|i| {
                    let angle = (from + (to - from) * f64::from(i) / f64::from(steps)).to_radians();
                    (cx + rx * angle.cos(), cy + ry * angle.sin())
                });
                if let Some(line) = out.last_mut() {
                    line.extend(arc);
                }
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_character_has_a_well_formed_glyph() {
        for c in (' '..='~').chain("–−±×·…µ²³⁻⁰¹⁴⁵⁶⁷⁸⁹°".chars()) {
            let (_, width, path) = GLYPHS.iter().find(|g| g.0 == c).unwrap_or_else(|| panic!("{c:?} is missing"));
            assert_eq!(GLYPHS.iter().filter(|g| g.0 == c).count(), 1, "{c:?} is there twice");
            let lines = lines(path);
            assert!(lines.iter().all(|l| l.len() >= 2), "{c:?}");
            assert_eq!(lines.is_empty(), c == ' ');
            for (x, y) in lines.into_iter().flatten() {
                assert!(x > -3.0 && x < width + 1.5 && y > -5.0 && y < 17.0, "{c:?} reaches {x} {y}");
            }
        }
    }

    #[test]
    fn words_add_up() {
        assert_eq!(advance(""), 0.0);
        assert_eq!(advance("00"), 18.0 + GAP);
        assert_eq!(strokes("ii").len(), 4);
        assert_eq!(strokes("\u{4e00}").len(), 1);
    }
}
