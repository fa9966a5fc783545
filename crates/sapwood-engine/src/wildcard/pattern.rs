//! Patterns of file names as a shell has them: `*`, `?`, `[ab]`, `[!a-z]`, `{a,b}`.

/// The patterns that one with `{a,b}` stands for, in the order of the alternatives. Braces without a comma stay.
pub(super) fn alternatives(pattern: &str, most: usize) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut open = vec![pattern.to_owned()];
    // the last one comes next
    while let Some(one) = open.pop() {
        match first_braces(&one) {
            None => out.push(one),
            Some((start, parts, end)) => {
                let made = parts.iter().rev().map(|part| format!("{}{part}{}", &one[..start], &one[end..]));
                open.extend(made);
            }
        }
        if out.len() + open.len() > most {
            return None;
        }
    }
    Some(out)
}

/// Where the first braces with a comma begin, what they contain, and where they end.
fn first_braces(text: &str) -> Option<(usize, Vec<&str>, usize)> {
    text.match_indices('{').find_map(|(start, _)| {
        let (mut depth, mut begin, mut parts) = (0usize, start + 1, Vec::new());
        for (i, c) in text[start..].char_indices().map(|(i, c)| (start + i, c)) {
            match c {
                '{' => depth += 1,
                ',' if depth == 1 => {
                    parts.push(&text[begin..i]);
                    begin = i + 1;
                }
                '}' if depth == 1 => {
                    parts.push(&text[begin..i]);
                    return (parts.len() > 1).then_some((start, parts, i + 1));
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        None
    })
}

/// What one place of a pattern fits.
#[derive(Debug)]
enum Part {
    /// Any letters.
    Any,
    /// One letter.
    One,
    /// One letter of these ranges, or one of no other.
    Class(Vec<(char, char)>, bool),
    Letter(char),
}

fn parts(pattern: &str) -> Vec<Part> {
    let letters: Vec<char> = pattern.chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    while let Some(&c) = letters.get(i) {
        i += 1;
        out.push(match c {
            '*' => Part::Any,
            '?' => Part::One,
            '[' => match class(&letters[i..]) {
                Some((class, length)) => {
                    i += length;
                    class
                }
                None => Part::Letter('['),
            },
            c => Part::Letter(c),
        });
    }
    out
}

/// The class of letters behind `[`, and its length with the `]`. A `]` that comes first is one of its letters.
fn class(rest: &[char]) -> Option<(Part, usize)> {
    let not = matches!(rest.first(), Some('!' | '^'));
    let first = usize::from(not);
    let end = rest.iter().skip(first + 1).position(|&c| c == ']')? + first + 1;
    let mut ranges = Vec::new();
    let mut i = first;
    while i < end {
        if i + 2 < end && rest[i + 1] == '-' {
            ranges.push((rest[i], rest[i + 2]));
            i += 3;
        } else {
            ranges.push((rest[i], rest[i]));
            i += 1;
        }
    }
    Some((Part::Class(ranges, not), end + 1))
}

/// Whether a part of a path is a pattern. Behind a question mark a URL has no names: `?` is a letter there.
pub(super) fn is_pattern(part: &str, in_url: bool) -> bool {
    let is_wild = |p: &Part| match p {
        Part::Any | Part::Class(..) => true,
        Part::One => !in_url,
        Part::Letter(_) => false,
    };
    parts(part).iter().any(is_wild)
}

/// Whether a name fits a pattern without braces.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let (p, n): (Vec<Part>, Vec<char>) = (parts(pattern), name.chars().collect());
    let (mut i, mut j) = (0, 0);
    // where to go on when what follows the last star does not fit
    let mut back = None;
    while let Some(&c) = n.get(j) {
        let one = match p.get(i) {
            Some(Part::Any) => {
                back = Some((i + 1, j));
                i += 1;
                continue;
            }
            Some(Part::One) => true,
            Some(Part::Letter(letter)) => *letter == c,
            Some(Part::Class(ranges, not)) => ranges.iter().any(|(a, b)| (*a..=*b).contains(&c)) != *not,
            None => false,
        };
        match (one, back) {
            (true, _) => (i, j) = (i + 1, j + 1),
            (false, Some((star, at))) => {
                (i, j) = (star, at + 1);
                back = Some((star, at + 1));
            }
            (false, None) => return false,
        }
    }
    p.get(i..).unwrap_or_default().iter().all(|p| matches!(p, Part::Any))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("*.root", "a.root", true),
            ("a?c*", "abcde", true),
            ("[ab].root", "b.root", true),
            ("[ab].root", "c.root", false),
            ("run[0-9][0-9]", "run07", true),
            ("[!a-c]x", "dx", true),
            ("[^a-c]x", "bx", false),
            ("[]a]", "]", true),
            ("[a-]", "-", true),
            ("a[", "a[", true),
            ("[", "[", true),
            ("*[0-9]*_x", "ab3c_y_x", true),
            ("ü[ß]", "üß", true),
            ("", "", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
        assert!(
            is_pattern("a?", false) && !is_pattern("a?", true) && is_pattern("[a]", true) && !is_pattern("[a", false)
        );
    }

    #[test]
    fn braces_are_alternatives() {
        let of = |text: &str| alternatives(text, 100).unwrap();
        assert_eq!(of("a{b,c}d"), ["abd", "acd"]);
        assert_eq!(of("{a,b}{1,2}"), ["a1", "a2", "b1", "b2"]);
        assert_eq!(of("a{,b{1,2}}"), ["a", "ab1", "ab2"]);
        assert_eq!(of("a{b}{c"), ["a{b}{c"]);
        assert_eq!(of("{x}{a,b}"), ["{x}a", "{x}b"]);
        assert_eq!(of("a,b}"), ["a,b}"]);
        assert_eq!(of("{a{b,c}"), ["{ab", "{ac"]);
        assert_eq!(alternatives(&"{a,b}".repeat(40), 1000), None);
    }
}
