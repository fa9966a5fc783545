//! The bytes of a page: checked and decompressed.

use super::{PAGE_CHECKSUM, Page};
use sapwood_codec::{Decoder, xxh3};
use sapwood_span::{Error, Result};

/// Bytes that a page may decompress to however little was stored of it, and per stored byte.
const ANY_PAGE: u64 = 256 << 20;
const PER_BYTE: u64 = 100;

impl Page {
    /// Its bytes without its checksum, which they must match.
    ///
    /// # Errors
    /// `Corrupt` when they do not, or are not as many as they should be.
    pub fn checked<'a>(&self, stored: &'a [u8]) -> Result<&'a [u8]> {
        if stored.len() as u64 != self.stored().len {
            return Err(Error::corrupt(format!("a page has {} bytes, not {}", stored.len(), self.stored().len)));
        }
        if !self.has_checksum {
            return Ok(stored);
        }
        let (packed, sum) = stored.split_at(stored.len() - PAGE_CHECKSUM as usize);
        let stated = sum.try_into().map_or(0, u64::from_le_bytes);
        let actual = xxh3(packed);
        if stated != actual {
            return Err(Error::corrupt(format!(
                "a page does not match its checksum: {actual:016x}, not {stated:016x}"
            ))
            .with_remedy("the file is damaged: fetch it again"));
        }
        Ok(packed)
    }

    /// Decompresses what [`Page::checked`] returned into `out`, which it empties first: `size` bytes. Whether there was
    /// anything to decompress.
    ///
    /// # Errors
    /// `Corrupt` when they are not as many, `Unsupported` when they would be impossibly many.
    pub fn unpack(&self, packed: &[u8], size: usize, decoder: &mut Decoder, out: &mut Vec<u8>) -> Result<bool> {
        if size as u64 > ANY_PAGE.max(PER_BYTE.saturating_mul(self.span.len)) {
            let what = format!("a page claims {size} bytes, of {} compressed", self.span.len);
            return Err(Error::unsupported(what));
        }
        out.clear();
        if packed.len() == size {
            out.extend_from_slice(packed);
            return Ok(false);
        }
        decoder.decompress_vec(packed, out, size)?;
        Ok(true)
    }
}
