use sapwood_span::{Error, Result, Span};

/// Refuses spans that leave a file of `size` bytes.
pub(crate) fn check(spans: &[Span], size: u64, name: &str) -> Result<()> {
    for &span in spans {
        let end = span.start.checked_add(span.len);
        if end.is_none_or(|end| end > size) {
            return Err(Error::corrupt(format!("requested bytes beyond the end of the file, which has {size} bytes"))
                .at(span)
                .in_file(name)
                .with_remedy("the file is truncated or its index is damaged: compare its size with the original"));
        }
    }
    Ok(())
}

/// Bytes covered by the spans, overlaps counted once.
pub(crate) fn covered(spans: &[Span]) -> u64 {
    sapwood_span::coalesce(spans, 0, u64::MAX).iter().map(|c| c.span.len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_must_stay_inside() {
        assert!(check(&[Span::new(0, 10), Span::new(10, 0)], 10, "f").is_ok());
        let e = check(&[Span::new(5, 6)], 10, "f").unwrap_err();
        assert!(e.to_string().contains("beyond the end"), "{e}");
        assert!(check(&[Span::new(u64::MAX, 2)], u64::MAX, "f").is_err());
    }

    #[test]
    fn overlaps_count_once() {
        assert_eq!(covered(&[Span::new(0, 10), Span::new(5, 10), Span::new(20, 1)]), 16);
    }
}
