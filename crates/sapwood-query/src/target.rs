use crate::bins::Bins;
use crate::text::error_at;
use sapwood_span::Result;

/// Where a draw goes: what stands behind `>>` in TTree::Draw's first argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Name of the histogram; `htemp` where none is given, as in ROOT.
    pub name: String,
    /// Whether it was written `>>+name`: add to what is there.
    pub append: bool,
    /// The binning, as far as it was given.
    pub bins: Bins,
}

/// Splits `expression>>name(bins,low,high)` into the expression and the target.
///
/// As in ROOT, the last `>>` outside of parentheses and quotes begins the target; a shift in an
/// expression is written in parentheses. Without a target the name is `htemp`.
///
/// # Errors
/// `Invalid` when there is a `>>` but no name, or the binning makes no sense ([`Bins::parse`]).
pub fn parse_target(text: &str) -> Result<(String, Target)> {
    let Some(at) = target_start(text) else {
        return Ok((text.trim().to_string(), Target { name: "htemp".into(), append: false, bins: Bins::default() }));
    };
    let rest = text[at + 2..].trim();
    let (append, rest) = match rest.strip_prefix('+') {
        Some(r) => (true, r.trim_start()),
        None => (false, rest),
    };
    let (name, binning) = match rest.split_once('(') {
        None => (rest, None),
        Some((name, inner)) => match inner.trim_end().strip_suffix(')') {
            Some(inner) => (name, Some(inner)),
            None => return Err(error_at(text, text.len(), "the binning ends with ')'")),
        },
    };
    let name = name.trim();
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == ')') {
        return Err(error_at(text, at + 2, "a histogram name is expected after '>>', as in x>>h(100,0,40)"));
    }
    let bins = match binning {
        None => Bins::default(),
        Some(inner) => Bins::parse(inner).map_err(|e| error_at(text, at + 2, &format!("the binning: {e}")))?,
    };
    Ok((text[..at].trim().to_string(), Target { name: name.to_string(), append, bins }))
}

fn target_start(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    let mut quote = None;
    let mut found = None;
    let mut skip = 0;
    for (i, c) in text.char_indices() {
        if i < skip {
            continue;
        }
        match (quote, c) {
            (Some(q), _) => quote = (c != q).then_some(q),
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth -= 1,
            (None, '>') if depth == 0 && text[i..].starts_with(">>") => {
                found = Some(i);
                skip = i + 2;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_split_off() {
        let case = |text: &str| {
            let (e, t) = parse_target(text).unwrap();
            (e, t.name, t.append, t.bins)
        };
        let none = Bins::default;
        let bins = |text: &str| Bins::parse(text).unwrap();
        assert_eq!(case("x"), ("x".into(), "htemp".into(), false, none()));
        assert_eq!(case("x >> h"), ("x".into(), "h".into(), false, none()));
        assert_eq!(case("x>>+h"), ("x".into(), "h".into(), true, none()));
        assert_eq!(case("x>>h(100,0,40)"), ("x".into(), "h".into(), false, bins("100,0,40")));
        assert_eq!(case("(x>>1)>>h()").0, "(x>>1)");
        assert!(case("(x>>1)>>h()").3.is_empty());
        assert_eq!(case("n==\">>\""), ("n==\">>\"".into(), "htemp".into(), false, none()));
        assert_eq!(case("x>>h( 10 )").3, bins("10"));
        assert_eq!(case("y:x>>h2(4,0,40,3,-1e3,6)").3, bins("4,0,40,3,-1e3,6"));
        assert_eq!(case("y:x>>h2(300,,,300,,)").3, bins("300,,,300,,"));
        assert_eq!(case("x>>h([0,1,5])").3, bins("[0,1,5]"));
    }

    #[test]
    fn malformed_targets_are_refused() {
        for text in [
            "x>>",
            "x>>(1,2,3)",
            "x>>h(a,0,1)",
            "x>>h(1.5,0,1)",
            "x>>h(3,1,0)",
            "x>>h(3,0,1",
            "x>>h)",
            "x>>h(0)",
            "x>>h(x)",
            "x>>h(1e9)",
        ] {
            assert!(parse_target(text).is_err(), "{text}");
        }
    }
}
