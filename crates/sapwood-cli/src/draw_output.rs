//! Output of `sapwood draw`: terminal, files, JSON.

use crate::output::picture::{self, Kind, SCALE, shown};
use crate::output::{self, clean};
use sapwood::query::picture::{Labels, canvas};
use sapwood::query::{Histogram, histogram_json};
use sapwood::{Error, Result};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// What a file that is drawn into holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// A picture, or numbers as JSON.
    Picture(Kind),
    /// The histogram as ROOT reads it.
    Root,
}

impl FileKind {
    /// Whether a list of entries can be written there.
    pub(crate) fn holds_lists(self) -> bool {
        matches!(self, Self::Root | Self::Picture(Kind::Json))
    }

    /// By the end of a file's name.
    ///
    /// # Errors
    /// The names that can be drawn into.
    pub(crate) fn of(path: &Path) -> Result<Self, String> {
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("root")) {
            return Ok(Self::Root);
        }
        let wrong = |_| format!("-o {}: the file name must end with .png, .svg, .json or .root", shown(path));
        Kind::of(path).map(Self::Picture).map_err(wrong)
    }
}

/// What came out of one draw.
pub(crate) struct Drawn {
    /// What was filled.
    pub hist: Histogram,
    /// The name behind `>>`.
    pub name: String,
    /// All variables as they were written.
    pub expression: String,
    /// Each of them, x first.
    pub variables: Vec<String>,
    /// The selection.
    pub cut: Option<String>,
    /// Whether it is drawn into the picture of those before.
    pub same: bool,
    /// Whether errors are shown.
    pub errors: bool,
}

impl Drawn {
    /// Expression and selection, as ROOT titles its histograms.
    pub(crate) fn title(&self) -> String {
        match &self.cut {
            Some(cut) => format!("{} {{{cut}}}", self.expression),
            None => self.expression.clone(),
        }
    }

    /// What stands around the picture.
    fn labels(&self) -> Labels<'_> {
        let title = if self.name == "htemp" { &self.expression } else { &self.name };
        let variable = |i: usize| self.variables.get(i).map_or("", String::as_str);
        let y = if self.hist.variables() == 1 { "entries" } else { variable(1) };
        Labels { title, x: variable(0), y, note: self.cut.as_deref().unwrap_or_default() }
    }

    /// Writes a file that shows it; `below` is what it is drawn over.
    ///
    /// # Errors
    /// `Unsupported` for what such a file cannot hold; those of the disk.
    pub(crate) fn write(&self, path: &Path, kind: Kind, below: &[Drawn]) -> Result<()> {
        let variables: Vec<&str> = self.variables.iter().map(String::as_str).collect();
        let picture = || {
            let expressions: Vec<&str> = variables.iter().rev().copied().collect();
            let below: Vec<(&Histogram, String)> = below.iter().map(|d| (&d.hist, d.title())).collect();
            canvas(&self.hist, &self.labels(), &expressions, self.errors, &below)
        };
        let bytes = match kind {
            Kind::Png => picture().to_png(SCALE)?,
            Kind::Svg => picture().to_svg().into_bytes(),
            Kind::Json => {
                let json = self.hist.to_json(&self.name, &variables);
                json.ok_or_else(|| {
                    Error::unsupported("para and candle make a picture, not a histogram")
                        .with_remedy("write it to a .png or .svg file, or print the values with `sapwood scan`")
                })?
                .into_bytes()
            }
        };
        output::write_file(path, &bytes)
    }

    /// Shows it on the terminal.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(crate) fn print(&self, out: &mut impl Write, below: &[Drawn]) -> std::io::Result<()> {
        for drawn in below.iter().chain(std::iter::once(self)) {
            writeln!(out, "{}", clean(&drawn.title()))?;
            let variables: Vec<&str> = drawn.variables.iter().rev().map(String::as_str).collect();
            write!(out, "{}", picture::terminal(&drawn.hist, &variables))?;
        }
        Ok(())
    }

    /// The same as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let histogram = histogram_json(&self.hist, &self.name, &self.expression, &self.variables, self.cut.as_deref());
        json!({ "histogram": histogram })
    }
}
