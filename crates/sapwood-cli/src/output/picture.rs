use sapwood::query::Histogram;
use sapwood::query::picture;
use sapwood::raw_text::text_of_path;
use sapwood::{Result, redacted};
use std::path::Path;

/// Pixels per unit of length: sharp on any screen.
pub(crate) const SCALE: f64 = 2.0;
/// Lines of a histogram on the terminal, at most.
const LINES: usize = 24;
/// Characters of a line when the terminal does not say, and at most.
const COLUMNS: (usize, usize) = (80, 120);

/// What a file drawn into holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Pixels.
    Png,
    /// Lines.
    Svg,
    /// Numbers: the UHI schema that boost-histogram, hist and uproot read.
    Json,
}

impl Kind {
    /// By the end of a file's name.
    ///
    /// # Errors
    /// The names that can be drawn into.
    pub(crate) fn of(path: &Path) -> Result<Self, String> {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("png") => Ok(Kind::Png),
            Some("svg") => Ok(Kind::Svg),
            Some("json") => Ok(Kind::Json),
            _ => Err(format!("-o {}: the file name must end with .png, .svg or .json", shown(path))),
        }
    }
}

/// A name for messages: somebody may have given a URL.
pub(crate) fn shown(path: &Path) -> String {
    redacted(&text_of_path(path))
}

/// The histogram in characters, as large as the terminal has room for; a locale without UTF-8 gets ASCII.
pub(crate) fn terminal(hist: &Histogram, variables: &[&str]) -> String {
    let (lines, columns) = match console::Term::stdout().size_checked() {
        Some((lines, columns)) => (usize::from(lines).saturating_sub(4), usize::from(columns).min(COLUMNS.1)),
        None => (LINES, COLUMNS.0),
    };
    picture::in_characters(hist, variables, columns, lines.min(LINES), is_utf8())
}

/// Whether the locale says UTF-8; the first variable that is set decides, as in setlocale(3).
fn is_utf8() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().filter_map(|v| std::env::var(v).ok()).find(|v| !v.is_empty());
    // containers and services set none, and are read through UTF-8 all the same
    set.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
