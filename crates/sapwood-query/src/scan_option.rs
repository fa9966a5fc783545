//! The option of TTree::Scan: how its columns are printed.
//!
//! Measured with ROOT 6.40: keys are found anywhere in the option and in any case (`col=20LLD` is `col=20lld`); a column
//! without a format of its own is printed as `%S.Pg`, where `S` is `colsize` (9) and `P` is `precision` (`colsize`, 18 at
//! most); a number without a letter (`col=12`) is printed as `%12g`. What is too long loses digits in front of its
//! exponent, and is cut off where it has none. Where this differs: a word that ROOT does not know is refused, and so are a
//! key that is given twice and letters without a meaning.

use crate::printf::{Conversion, Format, Number, Size};
use crate::rows::Cell;
use sapwood_span::{Error, Result};
use std::str::FromStr;

/// How many characters a column has.
const WIDEST: usize = 1000;
/// Columns that can have formats of their own.
const MOST_COLUMNS: usize = 10_000;
/// The most digits that `colsize` chooses by itself.
const MOST_DIGITS: usize = 18;

/// What the option of TTree::Scan says.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanOption {
    /// Characters of a column.
    pub size: usize,
    /// Significant digits.
    pub precision: usize,
    /// Formats of the first columns; `None` for those that have none of their own.
    columns: Vec<Option<Format>>,
    /// Rows of an entry at most.
    pub most_instances: Option<u32>,
    /// The entry to begin with.
    pub first: Option<u64>,
    /// Entries to read.
    pub count: Option<u64>,
}

impl Default for ScanOption {
    fn default() -> Self {
        Self { size: 9, precision: 9, columns: Vec::new(), most_instances: None, first: None, count: None }
    }
}

impl FromStr for ScanOption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let lower = text.to_lowercase();
        const KEYS: &str =
            "the keys are colsize=N, precision=N, col=FORMAT:FORMAT:..., lenmax=N, first=ENTRY and n=ENTRIES";
        let wrong = |what: String| Error::invalid(format!("option {text:?}: {what}")).with_remedy(KEYS);
        let mut option = Self::default();
        let (mut size, mut precision, mut col) = (None, None, None);
        let (mut lenmax, mut first, mut count) = (None, None, None);
        let mut rest = lower.as_str();
        loop {
            rest = rest.trim_start_matches([' ', '\t', ':', ',', ';']);
            if rest.is_empty() {
                break;
            }
            let key =
                ["colsize=", "precision=", "lenmax=", "first=", "n=", "col="].into_iter().find(|k| rest.starts_with(k));
            let Some(key) = key else {
                let word = rest.split([' ', '\t', ',', ';']).next().unwrap_or_default();
                let place = if word == text { String::new() } else { format!(" in {text:?}") };
                return Err(Error::invalid(format!("unknown option {word:?}{place}")).with_remedy(KEYS));
            };
            rest = &rest[key.len()..];
            let is_value = |c: char| c.is_ascii_digit() || key == "col=" && "cdioxufeglhs#.:".contains(c);
            let end = rest.find(|c| !is_value(c)).unwrap_or(rest.len());
            let (value, behind) = rest.split_at(end);
            rest = behind;
            let slot = match key {
                "colsize=" => &mut size,
                "precision=" => &mut precision,
                "lenmax=" => &mut lenmax,
                "first=" => &mut first,
                "n=" => &mut count,
                _ => {
                    if col.replace(value).is_some() {
                        return Err(wrong("col= occurs twice".to_owned()));
                    }
                    continue;
                }
            };
            let number = value.parse::<u64>().map_err(|_| wrong(format!("{key} requires a number")))?;
            if slot.replace(number).is_some() {
                return Err(wrong(format!("{key} occurs twice")));
            }
        }
        let small = |key: &str, n: u64, from: usize| {
            let fits = usize::try_from(n).ok().filter(|n| (from..=WIDEST).contains(n));
            fits.ok_or_else(|| wrong(format!("{key} is {n}: from {from} to {WIDEST} are possible")))
        };
        if let Some(n) = size {
            option.size = small("colsize", n, 1)?;
            option.precision = option.size.min(MOST_DIGITS);
        }
        if let Some(n) = precision {
            option.precision = small("precision", n, 0)?;
        }
        option.most_instances = lenmax.filter(|n| *n > 0).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        (option.first, option.count) = (first, count);
        for one in col.into_iter().flat_map(|all| all.split(':')).take(MOST_COLUMNS) {
            let format = if one.is_empty() { Ok(None) } else { format(one).map(Some) };
            option.columns.push(format.map_err(|why| wrong(format!("{one:?}: {why}")))?);
        }
        Ok(option)
    }
}

/// A format without its `%`: flags, size, precision, length and letter, all of which can be left out.
fn format(text: &str) -> std::result::Result<Format, String> {
    let flags = text.len() - text.trim_start_matches(['#', '0']).len();
    let (flags, rest) = text.split_at(flags);
    let digits = |s: &str| s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
    let number = |s: &str| match s.parse::<usize>() {
        _ if s.is_empty() => Ok(None),
        Ok(n) if n <= WIDEST => Ok(Some(n)),
        _ => Err(format!("up to {WIDEST} characters are possible")),
    };
    let (width, rest) = rest.split_at(digits(rest));
    let (precision, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let (precision, rest) = rest.split_at(digits(rest));
            (Some(number(precision)?.unwrap_or(0)), rest)
        }
        None => (None, rest),
    };
    let length = rest.find(|c| !matches!(c, 'h' | 'l')).unwrap_or(rest.len());
    let (length, letter) = rest.split_at(length);
    let size = match length {
        "" => Size::Int,
        "h" => Size::Short,
        "l" | "ll" => Size::Long,
        _ => return Err(format!("the length {length:?} is unknown")),
    };
    let conversion = match letter {
        "" if length.is_empty() => Conversion::General,
        "g" => Conversion::General,
        "d" | "i" => Conversion::Decimal,
        "u" => Conversion::Unsigned,
        "x" => Conversion::Hexadecimal,
        "o" => Conversion::Octal,
        "c" => Conversion::Character,
        "f" => Conversion::Fixed,
        "e" => Conversion::Exponent,
        "s" => Conversion::Text,
        _ => return Err("a format ends with one of d i u x o c f e g s".to_owned()),
    };
    Ok(Format {
        alternate: flags.contains('#'),
        zeros: flags.contains('0'),
        width: number(width)?.filter(|w| *w > 0),
        precision,
        size,
        conversion,
    })
}

impl ScanOption {
    /// The format of a column.
    fn format(&self, column: usize) -> Format {
        let own = self.columns.get(column).copied().flatten();
        own.unwrap_or(Format { width: Some(self.size), precision: Some(self.precision), ..Format::GENERAL })
    }

    /// A value as its column shows it: the caller cuts what is too long.
    pub fn text(&self, column: usize, cell: &Cell<'_>) -> Vec<u8> {
        let number = match cell {
            // strings go without a format
            Cell::Text(text) => return text.to_vec(),
            Cell::Bool(x) => Number::Whole(i128::from(*x)),
            Cell::Int(x) => Number::Whole(i128::from(*x)),
            Cell::UInt(x) => Number::Whole(i128::from(*x)),
            Cell::F32(x) => Number::Real(f64::from(*x)),
            Cell::F64(x) => Number::Real(*x),
        };
        let format = self.format(column);
        let mut text = format.number(number).unwrap_or_default();
        let limit = format.width.unwrap_or(self.width(column));
        if let Some(exponent) = text.find('e').filter(|_| format.is_real() && text.len() > limit) {
            // the digits in front of the exponent go, and of the exponent itself where they are not enough
            let excess = text.len() - limit;
            text = match exponent.checked_sub(excess) {
                Some(kept) => text[..kept].to_owned() + &text[exponent..],
                None => text.split_off(excess),
            };
        }
        text.into_bytes()
    }

    /// Refuses formats that a query's columns cannot have.
    ///
    /// # Errors
    /// `Invalid` for `s` and an expression that is a number.
    pub fn check(&self, query: &crate::Query) -> Result<()> {
        for (i, title) in query.titles().iter().enumerate() {
            if self.format(i).conversion == Conversion::Text && !query.is_text(i) {
                return Err(Error::invalid(format!("{title} is a number, and its format is one for strings"))
                    .with_remedy("omit the s"));
            }
        }
        Ok(())
    }

    /// How many characters a column has.
    pub fn width(&self, column: usize) -> usize {
        let format = self.columns.get(column).copied().flatten();
        match format {
            // as in ROOT: a number behind a flag is not the size of the column
            Some(format) if !format.alternate => format.width.unwrap_or(self.size),
            _ => self.size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_anywhere() {
        let of = |text: &str| text.parse::<ScanOption>().unwrap();
        assert_eq!(of(""), ScanOption::default());
        assert_eq!((of("colsize=25").size, of("colsize=25").precision), (25, 18));
        let both = of("COLSIZE=12:precision=3");
        assert_eq!((both.size, both.precision), (12, 3));
        assert_eq!(of("precision=3 colsize=12"), both);
        assert_eq!(of("colsize=12precision=3"), both);
        let all = of("col=8d::#x lenmax=2 first=7,n=10");
        assert_eq!((all.columns.len(), all.most_instances, all.first, all.count), (3, Some(2), Some(7), Some(10)));
        assert_eq!((all.width(0), all.width(1), all.width(2), all.width(3)), (8, 9, 9, 9));
        for text in ["foo", "colsize=0", "colsize=", "col=+8d", "col=8k", "col=8lll", "n=-1", "n=1 n=2", "colsize=1e9"]
        {
            assert!(text.parse::<ScanOption>().is_err(), "{text}");
        }
    }
}
