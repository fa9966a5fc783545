//! Errors that show where in the text they arose.

use sapwood_span::{Error, ErrorKind};

/// Characters of the expression shown on either side of the caret.
const CONTEXT: usize = 60;

/// An `Invalid` error: the message, the text, and a caret below the byte `at`.
pub(crate) fn error_at(text: &str, at: usize, message: &str) -> Error {
    kind_at(ErrorKind::Invalid, text, at, message)
}

/// Like [`error_at`], of another kind.
pub(crate) fn kind_at(kind: ErrorKind, text: &str, at: usize, message: &str) -> Error {
    Error::new(kind, shown_at(text, at, message))
}

/// The message, the text, and a caret below the byte `at`.
pub(crate) fn shown_at(text: &str, at: usize, message: &str) -> String {
    let before: Vec<char> = text.char_indices().take_while(|(i, _)| *i < at).map(|(_, c)| c).collect();
    let column = before.len();
    let from = column.saturating_sub(CONTEXT);
    let shown: String =
        text.chars().skip(from).take(2 * CONTEXT).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let caret = " ".repeat(column - from);
    format!("{message} (column {})\n    {shown}\n    {caret}^", column + 1)
}

/// The candidates that look like `name`, best first, at most three.
pub(crate) fn near_misses<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(64).collect();
    let allowed = (wanted.len() / 4).clamp(1, 3);
    // of a member, what stands behind the last dot
    let last = |name: &[char]| name.rsplit(|c| *c == '.').next().unwrap_or_default().to_vec();
    let wanted_last = last(&wanted);
    let mut found: Vec<(usize, &str)> = candidates
        .filter_map(|c| {
            let lower: Vec<char> = c.to_lowercase().chars().take(64).collect();
            let distance = edit_distance(&wanted, &lower);
            let contains = wanted.len() >= 3 && lower.ends_with(&wanted);
            if distance <= allowed {
                return Some((distance, c));
            }
            let member = if wanted_last.len() >= 3 { edit_distance(&wanted_last, &last(&lower)) } else { usize::MAX };
            (contains || member <= (wanted_last.len() / 4).clamp(1, 3)).then(|| (allowed + 1 + member.min(64), c))
        })
        .collect();
    found.sort();
    found.dedup_by_key(|(_, c)| *c);
    found.into_iter().map(|(_, c)| c).take(3).collect()
}

/// Levenshtein's distance: insertions, deletions and replacements.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_column() {
        let e = error_at("a + é $", 7, "no");
        assert_eq!(e.what(), "no (column 7)\n    a + é $\n          ^");
    }

    #[test]
    fn near_misses_are_ranked() {
        let names = ["Muon_pt", "Muon_eta", "Jet_pt", "nMuon"];
        assert_eq!(near_misses("muon_pt", names.into_iter()), ["Muon_pt"]);
        assert_eq!(near_misses("Muon_pd", names.into_iter()), ["Muon_pt"]);
        assert_eq!(near_misses("zzz", names.into_iter()), Vec::<&str>::new());
        let members = ["event.fTracks.fPx", "event.fTracks.fPy", "fTracks.fPx", "fTracks.fPx", "event.fType"];
        assert_eq!(near_misses("fPz", members.into_iter())[0], "event.fTracks.fPx");
        assert_eq!(near_misses("fTracks.fPxx", members.into_iter())[0], "fTracks.fPx");
    }
}
