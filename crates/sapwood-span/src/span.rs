use std::fmt;

/// A byte range of a file: `start` is the offset of its first byte, `len` its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte, from the beginning of the file.
    pub start: u64,
    /// Length in bytes; zero is allowed and means "nothing".
    pub len: u64,
}

impl Span {
    /// A span from its offset and length, both in bytes.
    pub const fn new(start: u64, len: u64) -> Self {
        Self { start, len }
    }

    /// The offset just after the last byte; saturates instead of wrapping.
    pub const fn end(self) -> u64 {
        self.start.saturating_add(self.len)
    }

    /// The bytes in words, from the first to the last: `bytes 4-7`, or `byte 4` for one or none.
    pub fn in_words(self) -> String {
        match self.len {
            0 | 1 => format!("byte {}", self.start),
            _ => format!("bytes {}-{}", self.start, self.end() - 1),
        }
    }

    /// Whether the span holds no byte at all.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Whether every byte of `other` is inside this span.
    pub const fn contains(self, other: Span) -> bool {
        other.start >= self.start && other.end() <= self.end()
    }

    /// Whether the two spans share at least one byte.
    pub const fn overlaps(self, other: Span) -> bool {
        !self.is_empty() && !other.is_empty() && self.start < other.end() && other.start < self.end()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.start, self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn words_name_the_first_and_the_last_byte() {
        assert_eq!(Span::new(4, 4).in_words(), "bytes 4-7");
        assert_eq!(Span::new(4, 1).in_words(), "byte 4");
        assert_eq!(Span::new(4, 0).in_words(), "byte 4");
        assert_eq!(Span::new(4, u64::MAX).in_words(), format!("bytes 4-{}", u64::MAX - 1));
    }

    #[test]
    fn ends_and_overlaps() {
        let a = Span::new(10, 5);
        assert_eq!(a.end(), 15);
        assert!(a.overlaps(Span::new(14, 1)));
        assert!(!a.overlaps(Span::new(15, 1)));
        assert!(!a.overlaps(Span::new(12, 0)));
        assert!(a.contains(Span::new(10, 5)));
        assert!(!a.contains(Span::new(10, 6)));
        assert_eq!(Span::new(u64::MAX, 9).end(), u64::MAX);
    }
}
