//! The third argument of TTree::Draw.

use crate::profile::ProfileError;
use crate::text::suggestion;
use sapwood_engine::ListKind;
use sapwood_span::{Error, Result};
use std::str::FromStr;

/// A picture of all variables of each row side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chart {
    /// A line for each row across parallel axes.
    Parallel,
    /// A box for each variable: quartiles, median, range.
    Candle,
}

/// What the option text of TTree::Draw asks for. As in ROOT, words may be joined (`profs same`, `PROFcolz`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawOption {
    /// The mean of the first variable in bins of the others.
    pub profile: Option<ProfileError>,
    /// Into the picture of what was drawn before.
    pub same: bool,
    /// Scaled so that the contents add up to 1.
    pub norm: bool,
    /// Errors are shown and stored.
    pub errors: bool,
    /// Instead of a histogram.
    pub chart: Option<Chart>,
    /// What `>>list` makes, where no expression is drawn.
    pub list: ListKind,
}

/// Words that choose how ROOT paints; here a histogram has one picture, and they change nothing.
const STYLES: &[&str] = &[
    "goff", "colz", "col", "scat", "box", "text", "lego", "surf", "cont", "hist", "func", "axis", "hbar", "bar", "arr",
    "tri", "list", "violin",
];
/// Letters that do.
const LETTERS: &str = "eplcabxyz*][0123456789 ";

impl FromStr for DrawOption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut rest = text.trim().to_lowercase();
        let mut take = |word: &str| {
            let found = rest.contains(word);
            if found {
                rest = rest.replace(word, " ");
            }
            found
        };
        if take("gl5d") {
            return Err(unsupported(text, "gl5d").with_remedy("draw the variables with para or candle"));
        }
        let list = match (take("entrylistarray"), take("entrylist")) {
            (true, _) => ListKind::TEntryListArray,
            (_, true) => ListKind::TEntryList,
            _ => ListKind::TEventList,
        };
        let (same, norm) = (take("same"), take("norm"));
        let chart = match (take("para"), take("candle")) {
            (true, _) => Some(Chart::Parallel),
            (_, true) => Some(Chart::Candle),
            _ => None,
        };
        let kinds = [
            ("profs", ProfileError::Spread),
            ("profi", ProfileError::Integer),
            ("profg", ProfileError::Gauss),
            ("prof", ProfileError::Mean),
        ];
        let profile = kinds.into_iter().find(|(word, _)| take(word)).map(|(_, kind)| kind);
        STYLES.iter().for_each(|style| {
            take(style);
        });
        if let Some(wrong) = rest.chars().find(|c| !LETTERS.contains(*c)) {
            let part = rest.split(' ').find(|w| w.contains(wrong)).unwrap_or_default();
            let word = text.split_whitespace().find(|w| w.to_lowercase().contains(part)).unwrap_or(part);
            return Err(unsupported(text, word));
        }
        Ok(Self { profile, same, norm, errors: rest.contains('e'), chart, list })
    }
}

/// The words that people write by themselves.
const WORDS: [&str; 11] =
    ["prof", "profs", "profi", "profg", "norm", "same", "para", "candle", "entrylist", "entrylistarray", "goff"];

fn unsupported(text: &str, word: &str) -> Error {
    let near = suggestion(&word.to_lowercase(), WORDS.into_iter());
    let place = if word == text { String::new() } else { format!(" in {text:?}") };
    let error = Error::invalid(format!("unknown option {word:?}{place}{near}"));
    if !near.is_empty() {
        return error;
    }
    error.with_remedy(
        "options are prof, profs, profi, profg, norm, same, e, para, candle, entrylist, entrylistarray, goff and the styles of \
         ROOT's histograms",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_may_be_joined() {
        let of = |text: &str| text.parse::<DrawOption>().unwrap();
        assert_eq!(of("PROFs").profile, Some(ProfileError::Spread));
        assert_eq!(of("prof colz").profile, Some(ProfileError::Mean));
        assert_eq!((of("profgsame").profile, of("profgsame").same), (Some(ProfileError::Gauss), true));
        assert_eq!(of("para").chart, Some(Chart::Parallel));
        assert_eq!((of("e same norm").errors, of("e same norm").norm), (true, true));
        assert_eq!(of("").list, ListKind::TEventList);
        assert_eq!((of("EntryListgoff").list, of("entrylistgoff").errors), (ListKind::TEntryList, false));
        assert_eq!(of("goff entrylistarray same").list, ListKind::TEntryListArray);
        for text in ["colz0", "E1 goff", "hist same", "surf3", "BOX1", "text45", "", "*", "c"] {
            assert!(text.parse::<DrawOption>().is_ok(), "{text}");
        }
        for text in ["nonsense", "gl5d", "profq"] {
            assert!(text.parse::<DrawOption>().is_err(), "{text}");
        }
        let e = "same Proff".parse::<DrawOption>().unwrap_err().to_string();
        assert!(e.contains("unknown option \"Proff\" in \"same Proff\"; did you mean prof"), "{e}");
    }
}
