//! Checks by its first bytes whether a file is the one that was opened.

use crate::assemble::Piece;
use crate::file_identity::first_bytes_differ;
use bytes::Bytes;
use sapwood_span::Result;

/// Compares received first bytes with those of the file that was opened.
pub(crate) struct FirstBytesCheck {
    then: Bytes,
    seen: usize,
    differs: bool,
}

impl FirstBytesCheck {
    pub(crate) fn new(then: Bytes) -> Self {
        Self { then, seen: 0, differs: false }
    }

    /// Checks received pieces before they are used.
    ///
    /// # Errors
    /// `Corrupt` where the file now begins with other bytes.
    pub(crate) fn look(&mut self, pieces: &[Piece]) -> Result<()> {
        for piece in pieces {
            let then = usize::try_from(piece.offset).ok().and_then(|from| self.then.get(from..)).unwrap_or_default();
            let most = then.len().min(piece.bytes.len());
            self.differs |= then[..most] != piece.bytes[..most];
            self.seen += most;
        }
        if self.differs { Err(first_bytes_differ()) } else { Ok(()) }
    }

    /// Whether some of them differed.
    pub(crate) fn differs(&self) -> bool {
        self.differs
    }

    /// Whether all of them have arrived and are the same.
    pub(crate) fn is_complete(&self) -> bool {
        self.seen >= self.then.len() && !self.differs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_first_bytes_are_seen_however_they_come() {
        let piece = |offset, bytes: &'static [u8]| Piece { offset, bytes: Bytes::from_static(bytes) };
        let mut seen = FirstBytesCheck::new(Bytes::from_static(b"root1234"));
        seen.look(&[piece(0, b"roo"), piece(900, b"xxxx")]).unwrap();
        assert!(!seen.is_complete());
        seen.look(&[piece(3, b"t1234 and more")]).unwrap();
        assert!(seen.is_complete());
        assert!(seen.look(&[piece(6, b"3x")]).is_err());
        assert!(seen.differs() && !seen.is_complete());
    }
}
