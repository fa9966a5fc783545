use sapwood_span::Span;

/// Ranges in one request: more are refused, as a server that means to live does.
const MOST: usize = 4096;

/// What a `Range` header asks of a file of this size.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The whole file: no header, or one that is to be ignored.
    Whole,
    /// These ranges, in the order asked for, none empty.
    Ranges(Vec<Span>),
    /// Nothing that the file has.
    Nothing,
}

/// Parses `bytes=0-99,200-,-50` (RFC 9110, section 14).
pub(crate) fn parse(header: Option<&str>, size: u64) -> Asked {
    let Some(list) = header.and_then(|h| h.trim().strip_prefix("bytes=")) else { return Asked::Whole };
    let mut out = Vec::new();
    for part in list.split(',') {
        let part = part.trim();
        let Some((from, to)) = part.split_once('-') else { return Asked::Whole };
        let span = match (from.parse::<u64>(), to.parse::<u64>()) {
            (Ok(from), Ok(to)) if from <= to => clip(from, to.saturating_add(1), size),
            (Ok(from), Err(_)) if to.is_empty() => clip(from, size, size),
            (Err(_), Ok(n)) if from.is_empty() => clip(size.saturating_sub(n), size, size),
            _ => return Asked::Whole,
        };
        out.extend(span);
        if out.len() > MOST {
            return Asked::Whole;
        }
    }
    if out.is_empty() { Asked::Nothing } else { Asked::Ranges(out) }
}

fn clip(from: u64, to: u64, size: u64) -> Option<Span> {
    let to = to.min(size);
    (from < to).then(|| Span::new(from, to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms() {
        let r = |s: &[(u64, u64)]| Asked::Ranges(s.iter().map(|&(a, b)| Span::new(a, b)).collect());
        assert_eq!(parse(None, 100), Asked::Whole);
        assert_eq!(parse(Some("bytes=0-9,-5, 90-"), 100), r(&[(0, 10), (95, 5), (90, 10)]));
        assert_eq!(parse(Some("bytes=50-200"), 100), r(&[(50, 50)]));
        assert_eq!(parse(Some("bytes=100-"), 100), Asked::Nothing);
        assert_eq!(parse(Some("bytes=9-1"), 100), Asked::Whole);
        assert_eq!(parse(Some("lines=1-2"), 100), Asked::Whole);
        assert_eq!(parse(Some("bytes=-0"), 100), Asked::Nothing);
    }
}
