//! `Range` and `Content-Range` headers (RFC 9110, section 14).

use sapwood_span::Span;
use std::fmt::Write;

/// How much one `Range` header may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    ranges: usize,
    bytes: usize,
}

/// For any server: Apache answers more than 200 ranges with 200 and the whole file, others refuse lines above 4 kB.
pub(crate) const USUAL: Line = Line { ranges: 180, bytes: 3900 };
/// For servers that take one range only.
pub(crate) const SINGLE: Line = Line { ranges: 1, bytes: 3900 };
/// For nginx, which does not count ranges and accepts header lines up to 8 kB unless configured otherwise.
pub(crate) const LONG: Line = Line { ranges: 400, bytes: 7600 };

impl Line {
    /// Whether a header of this length needs a server like nginx.
    pub(crate) fn is_long(header: &str) -> bool {
        header.len() > USUAL.bytes
    }

    /// Ranges that always fit into one request for a file of this size.
    pub(crate) fn most(self, size: u64) -> usize {
        ((self.bytes - 6) / (2 * digits(size) + 2)).min(self.ranges)
    }
}

/// The ranges of one request.
#[derive(Clone, Copy)]
pub(crate) struct RangeRequest<'a> {
    /// The value of the header.
    pub(crate) header: &'a str,
    pub(crate) ranges: usize,
    /// The bytes in them, as far as they matter for the choice of a connection.
    pub(crate) bytes: u64,
}

impl<'a> RangeRequest<'a> {
    /// Few bytes, which any connection brings at once.
    pub(crate) fn short(header: &'a str, ranges: usize) -> Self {
        Self { header, ranges, bytes: 0 }
    }
}

/// The value of a `Range` header: ascending, without blanks, as the strictest servers require.
pub(crate) fn header(spans: &[Span]) -> String {
    let mut out = String::from("bytes=");
    for (i, span) in spans.iter().filter(|s| !s.is_empty()).enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(out, "{comma}{}-{}", span.start, span.end() - 1);
    }
    out
}

/// Divides ascending disjoint spans into requests of at most `line.ranges` ranges and about
/// `max_bytes` bytes; longer spans are cut.
pub(crate) fn requests(spans: &[Span], line: Line, max_bytes: u64) -> Vec<Vec<Span>> {
    let max_bytes = max_bytes.max(1);
    let mut out: Vec<Vec<Span>> = Vec::new();
    let (mut text, mut bytes) = (0, 0);
    for &span in spans {
        let mut rest = span;
        while !rest.is_empty() {
            let piece = Span::new(rest.start, rest.len.min(max_bytes));
            rest = Span::new(piece.end(), rest.len - piece.len);
            let width = 2 + digits(piece.start) + digits(piece.end());
            let fits = text + width <= line.bytes && bytes + piece.len <= max_bytes;
            match out.last_mut() {
                Some(last) if fits && last.len() < line.ranges => {
                    last.push(piece);
                    text += width;
                    bytes += piece.len;
                }
                _ => {
                    out.push(vec![piece]);
                    (text, bytes) = (6 + width, piece.len);
                }
            }
        }
    }
    out
}

fn digits(n: u64) -> usize {
    n.checked_ilog10().map_or(1, |d| d as usize + 1)
}

/// What a `Content-Range` header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentRange {
    /// The bytes that follow; none for `bytes */123`, sent with status 416.
    pub span: Option<Span>,
    /// Size of the file; none for `*`.
    pub total: Option<u64>,
}

/// Parses `bytes 0-9/100`, `bytes 0-9/*` and `bytes */100`; none for anything else or a contradiction.
pub(crate) fn content_range(value: &str) -> Option<ContentRange> {
    let value = value.trim();
    let unit = value.get(..5)?;
    let rest = value.get(5..)?;
    if !unit.eq_ignore_ascii_case("bytes") || !rest.starts_with([' ', '=']) {
        return None;
    }
    let (range, total) = rest.get(1..)?.trim().split_once('/')?;
    let total = match total.trim() {
        "*" => None,
        n => Some(number(n)?),
    };
    if range.trim() == "*" {
        return Some(ContentRange { span: None, total });
    }
    let (first, last) = range.split_once('-')?;
    let (first, last) = (number(first)?, number(last)?);
    let len = last.checked_sub(first)?.checked_add(1)?;
    if total.is_some_and(|t| last >= t) {
        return None;
    }
    Some(ContentRange { span: Some(Span::new(first, len)), total })
}

/// The size that a `Content-Range` states, even if its range is outside: XrdHttp 5.5 answers a range that reaches
/// beyond the end with `bytes 0-999/700`.
pub(crate) fn stated_total(value: &str) -> Option<u64> {
    number(value.rsplit_once('/')?.1)
}

/// Digits only: `parse` alone would take `+5`.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_is_terse() {
        assert_eq!(header(&[Span::new(0, 10), Span::new(20, 1)]), "bytes=0-9,20-20");
    }

    #[test]
    fn requests_stay_within_every_limit() {
        let spans: Vec<Span> = (0..1000).map(|i| Span::new(100_000_000_000_000_000 + i * 100, 10)).collect();
        for line in [USUAL, LONG] {
            let most = line.most(100_000_000_000_100_000);
            let groups = requests(&spans, line, 1 << 20);
            assert!(groups.iter().all(|g| g.len() <= most && header(g).len() <= line.bytes));
            assert_eq!(groups.concat(), spans);
            // what a planner counts as one request is one
            assert!(groups.len() == 1000usize.div_ceil(most) && most > 90, "{most}");
        }
        assert_eq!(
            requests(&[Span::new(5, 25)], USUAL, 10),
            [vec![Span::new(5, 10)], vec![Span::new(15, 10)], vec![Span::new(25, 5)]]
        );
        assert_eq!(requests(&[Span::new(0, 4), Span::new(8, 4), Span::new(20, 4)], USUAL, 10).len(), 2);
        assert_eq!(requests(&spans, SINGLE, 1 << 20).len(), 1000);
    }

    #[test]
    fn content_ranges() {
        let span = |s| content_range(s).and_then(|c| c.span).map(|s| (s.start, s.len));
        assert_eq!(span("bytes 0-9/100"), Some((0, 10)));
        assert_eq!(span("Bytes 5-5/*"), Some((5, 1)));
        assert_eq!(content_range("bytes */7"), Some(ContentRange { span: None, total: Some(7) }));
        assert_eq!(stated_total("bytes 0-999/700"), Some(700));
        assert_eq!(stated_total("bytes 0-999/*"), None);
        for bad in [
            "",
            "bytes",
            "bytes 9-0/100",
            "bytes 0-100/100",
            "bytes 0-9",
            "items 0-9/100",
            "bytes -5-9/100",
            "bytes 0-18446744073709551615/*",
            "bytes +0-9/100",
            "bytes 0-9/1e3",
            "bytés 0-9/100",
            "bytes 0-9/-",
        ] {
            assert_eq!(content_range(bad), None, "{bad}");
        }
    }
}
