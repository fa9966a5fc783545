//! The map for a terminal.

use super::cells::{Cell, cells};
use super::{FileMap, Kind};
use crate::text::table::{Align, Table};
use crate::text::{clean, units};
use std::io::{self, Write};

/// Lines of the map, and characters of each.
const LINES: usize = 16;
const COLUMNS: usize = 64;
/// Letters for the groups.
const LETTERS: [char; super::MOST] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

impl FileMap {
    /// As text: the file line by line, and a table of the groups.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let step = self.bytes.div_ceil(LINES as u64);
        writeln!(
            out,
            "{}: {} in {LINES} lines of {}; . other baskets, # other records",
            clean(&self.file),
            units::bytes(self.bytes),
            units::bytes(step)
        )?;
        let all = cells(self.ranges(), self.bytes, LINES * COLUMNS);
        for (i, line) in all.chunks(COLUMNS).enumerate() {
            let text: String = line.iter().map(sign).collect();
            writeln!(out, "{:>8} |{text}|", units::bytes(step * i as u64))?;
        }
        writeln!(out)?;
        let titles = ["branches", "baskets", "bytes", "pieces", "from byte", "to"].map(|t| (t, Align::Right));
        let name = [("", Align::Left), ("chosen", Align::Left)];
        let mut table = Table::new(name.into_iter().chain(titles));
        for (letter, c) in LETTERS.iter().cycle().zip(&self.chosen) {
            let n = units::count;
            let numbers =
                [n(c.branches), n(c.baskets), units::bytes(c.bytes), n(c.pieces), n(c.extent.0), n(c.extent.1)];
            table.row([letter.to_string(), c.name.clone()].into_iter().chain(numbers));
        }
        table.write(out)
    }
}

fn sign(cell: &Cell) -> char {
    match cell {
        None => ' ',
        Some(Kind::Record) => '#',
        Some(Kind::Basket) => '.',
        Some(Kind::Chosen(c)) => LETTERS.get(*c).copied().unwrap_or('?'),
    }
}
