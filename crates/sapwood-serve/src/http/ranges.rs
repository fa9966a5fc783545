//! The `Range` header of a request (RFC 9110, section 14.2).

use sapwood_span::{Span, coalesce};

/// With more ranges than this the header is ignored.
const MAX_RANGES: usize = 2000;

/// What a request wants of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RequestedRange {
    /// No range, or none that can be parsed: the standard says to ignore it.
    Whole,
    /// These, in the requested order; where some overlap, joined and ascending. Never empty.
    Ranges(Vec<Span>),
    /// All of them begin after the end.
    Nothing,
}

/// Parses a `Range` header for a file of this size.
pub(crate) fn wanted(header: Option<&str>, size: u64) -> RequestedRange {
    let Some(list) = header.and_then(list_of_bytes) else { return RequestedRange::Whole };
    let mut spans = Vec::new();
    for (i, item) in list.split(',').map(str::trim).filter(|i| !i.is_empty()).enumerate() {
        let Some(range) = one(item, size) else { return RequestedRange::Whole };
        if i >= MAX_RANGES {
            return RequestedRange::Whole;
        }
        spans.extend(range);
    }
    if spans.is_empty() {
        return RequestedRange::Nothing;
    }
    // Overlaps could make an answer of any size from a small file: overlapping bytes are served once.
    let joined = coalesce(&spans, 0, 0);
    if joined.len() < spans.len() {
        spans = joined.into_iter().map(|c| c.span).collect();
    }
    RequestedRange::Ranges(spans)
}

/// The text after the unit, whose case is ignored.
fn list_of_bytes(header: &str) -> Option<&str> {
    let (unit, list) = header.trim().split_once('=')?;
    unit.eq_ignore_ascii_case("bytes").then_some(list)
}

/// One range clipped to the file: outer none if it is malformed, inner none if it is outside.
fn one(item: &str, size: u64) -> Option<Option<Span>> {
    let number = |text: &str| {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            None
        } else {
            Some(text.parse().unwrap_or(u64::MAX))
        }
    };
    let (first, last) = item.split_once('-')?;
    let (first, last) = (first.trim(), last.trim());
    if first.is_empty() {
        let len = number(last)?.min(size);
        return Some((len > 0).then(|| Span::new(size - len, len)));
    }
    let first = number(first)?;
    let end = if last.is_empty() { size } else { number(last).filter(|&l| l >= first)?.saturating_add(1).min(size) };
    Some((first < end).then(|| Span::new(first, end - first)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranges(header: &str) -> Option<Vec<(u64, u64)>> {
        match wanted(Some(header), 100) {
            RequestedRange::Ranges(spans) => Some(spans.into_iter().map(|s| (s.start, s.len)).collect()),
            _ => None,
        }
    }

    #[test]
    fn every_form() {
        assert_eq!(ranges("bytes=0-9"), Some(vec![(0, 10)]));
        assert_eq!(ranges("bytes=0-9,-5"), Some(vec![(0, 10), (95, 5)]));
        assert_eq!(ranges("bytes= 90- , 0-0"), Some(vec![(90, 10), (0, 1)]));
        assert_eq!(ranges("bytes=-500"), Some(vec![(0, 100)]));
        assert_eq!(ranges("Bytes=0-9"), Some(vec![(0, 10)]));
        assert_eq!(ranges("bytes=0-999,200-300"), Some(vec![(0, 100)]));
        assert_eq!(ranges("bytes=0-99,0-99,5-10"), Some(vec![(0, 100)]));
        assert_eq!(ranges("bytes=0-99999999999999999999999"), Some(vec![(0, 100)]));
        for nothing in ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes="] {
            assert_eq!(wanted(Some(nothing), 100), RequestedRange::Nothing, "{nothing}");
        }
        for whole in ["bytes=9-0", "bytes=a-b", "bytes=-", "items=0-1", "bytes=+1-2", "bytes=1"] {
            assert_eq!(wanted(Some(whole), 100), RequestedRange::Whole, "{whole}");
        }
        assert_eq!(wanted(Some(&format!("bytes={}", "0-0,".repeat(MAX_RANGES + 1))), 100), RequestedRange::Whole);
        assert_eq!(wanted(Some("bytes=0-0"), 0), RequestedRange::Nothing);
    }

    proptest! {
        #[test]
        fn never_more_than_the_file(text in "bytes=[0-9, -]{0,60}", size in 0u64..1000) {
            if let RequestedRange::Ranges(spans) = wanted(Some(&text), size) {
                prop_assert!(!spans.is_empty());
                prop_assert!(spans.iter().all(|s| !s.is_empty() && s.end() <= size));
                prop_assert!(spans.iter().map(|s| s.len).sum::<u64>() <= size);
            }
        }
    }
}
