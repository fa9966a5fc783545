use crate::hist::Axis;
use crate::text::error_at;
use sapwood_span::Result;

/// Where a draw goes: what stands behind `>>` in TTree::Draw's first argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Name of the histogram; `htemp` where none is given, as in ROOT.
    pub name: String,
    /// Whether it was written `>>+name`: add to what is there.
    pub append: bool,
    /// The binning, one axis per dimension; empty for automatic limits.
    pub axes: Vec<Axis>,
    /// How many bins between automatic limits: `x>>h(10)`.
    pub bins: Option<usize>,
}

/// Splits `expression>>name(bins,low,high)` into the expression and the target.
///
/// As in ROOT, the last `>>` outside of parentheses and quotes begins the target; a shift in an
/// expression is written in parentheses. Without a target the name is `htemp`.
///
/// # Errors
/// `Invalid` when there is a `>>` but no name, or the binning is not three numbers per axis.
pub fn parse_target(text: &str) -> Result<(String, Target)> {
    let Some(at) = target_start(text) else {
        return Ok((
            text.trim().to_string(),
            Target { name: "htemp".into(), append: false, axes: Vec::new(), bins: None },
        ));
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
    let (axes, bins) = match binning {
        None => (Vec::new(), None),
        Some(b) if b.trim().is_empty() => (Vec::new(), None),
        Some(b) if !b.contains(',') => (Vec::new(), Some(bins(text, at, b)?)),
        Some(b) => (axes(text, at, b)?, None),
    };
    Ok((text[..at].trim().to_string(), Target { name: name.to_string(), append, axes, bins }))
}

/// The number of bins alone: the limits follow the values.
fn bins(text: &str, at: usize, binning: &str) -> Result<usize> {
    let number = binning.trim().parse::<f64>();
    let number = number.map_err(|_| error_at(text, at + 2, "the binning is (bins) or (bins,low,high)"))?;
    // the axis itself says how many there can be
    whole(text, at, number).and_then(|n| Axis::new(n, 0.0, 1.0).map(|axis| axis.bins()))
}

fn whole(text: &str, at: usize, bins: f64) -> Result<usize> {
    if bins.fract() == 0.0 && (1.0..=1e9).contains(&bins) {
        return Ok(bins as usize);
    }
    Err(error_at(text, at + 2, "the number of bins is a whole number of at least 1"))
}

fn axes(text: &str, at: usize, binning: &str) -> Result<Vec<Axis>> {
    let wrong = || error_at(text, at + 2, "the binning is (bins,low,high), three numbers for each axis");
    let numbers: Vec<f64> =
        binning.split(',').map(|n| n.trim().parse::<f64>().map_err(|_| wrong())).collect::<Result<_>>()?;
    if !numbers.len().is_multiple_of(3) {
        return Err(wrong());
    }
    numbers.chunks(3).map(|n| Axis::new(whole(text, at, n[0])?, n[1], n[2])).collect()
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
        let axis = |n, a, b| Axis::new(n, a, b).unwrap();
        let case = |text: &str| {
            let (e, t) = parse_target(text).unwrap();
            (e, t.name, t.append, t.axes)
        };
        let none = Vec::new;
        assert_eq!(case("x"), ("x".into(), "htemp".into(), false, none()));
        assert_eq!(case("x >> h"), ("x".into(), "h".into(), false, none()));
        assert_eq!(case("x>>+h"), ("x".into(), "h".into(), true, none()));
        assert_eq!(case("x>>h(100,0,40)"), ("x".into(), "h".into(), false, vec![axis(100, 0.0, 40.0)]));
        assert_eq!(case("(x>>1)>>h()"), ("(x>>1)".into(), "h".into(), false, none()));
        assert_eq!(case("n==\">>\""), ("n==\">>\"".into(), "htemp".into(), false, none()));
        assert_eq!(parse_target("x>>h( 10 )").unwrap().1.bins, Some(10));
        assert_eq!(case("y:x>>h2(4,0,40,3,-1e3,6)").3, [axis(4, 0.0, 40.0), axis(3, -1000.0, 6.0)]);
    }

    #[test]
    fn malformed_targets_are_refused() {
        for text in [
            "x>>",
            "x>>(1,2,3)",
            "x>>h(1,2)",
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
