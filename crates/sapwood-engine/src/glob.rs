//! Patterns for the names of branches.

/// Whether a name fits a pattern of letters, `*` (any letters) and `?` (one).
pub fn fits(pattern: &str, name: &str) -> bool {
    let (p, n): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut i, mut j) = (0, 0);
    // where to go on when what follows the last star does not fit
    let mut back = None;
    while j < n.len() {
        match p.get(i) {
            Some('*') => {
                back = Some((i + 1, j));
                i += 1;
            }
            Some(&c) if c == '?' || c == n[j] => (i, j) = (i + 1, j + 1),
            _ => match back {
                Some((star, at)) => {
                    (i, j) = (star, at + 1);
                    back = Some((star, at + 1));
                }
                None => return false,
            },
        }
    }
    p.get(i..).unwrap_or_default().iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name, expected) in [
            ("Muon_*", "Muon_pt", true),
            ("Muon_*", "nMuon", false),
            ("*", "", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*_*_t", "x_y_z_t", true),
            ("*ab", "aab", true),
            ("x", "xy", false),
            ("", "x", false),
            ("*a*b", "xaybzb", true),
            ("ü?", "üß", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
