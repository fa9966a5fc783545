//! Writes envelopes and the frames in them: the inverse of [`super::envelope`].

use super::Kind;
use sapwood_codec::xxh3;
use sapwood_span::Span;
use sapwood_span::raw_text::bytes_of;

/// Blocks from this size on need a large locator.
const LARGE: u64 = 1 << 31;

/// An envelope that is being written.
#[derive(Debug)]
pub(super) struct FrameWriter {
    bytes: Vec<u8>,
}

macro_rules! number {
    ($name:ident, $t:ty) => {
        pub(super) fn $name(&mut self, n: $t) {
            self.bytes.extend_from_slice(&n.to_le_bytes());
        }
    };
}

impl FrameWriter {
    /// An envelope of this kind. Its length is filled in by [`FrameWriter::finish`].
    pub(super) fn envelope(kind: Kind) -> Self {
        let mut out = Self { bytes: Vec::new() };
        out.u64(kind as u64);
        out
    }

    number!(u16, u16);
    number!(u32, u32);
    number!(i32, i32);
    number!(u64, u64);
    number!(i64, i64);
    number!(f64, f64);

    /// Its length in bytes, then its bytes.
    pub(super) fn string(&mut self, text: &str) {
        self.text_bytes(&bytes_of(text));
    }

    /// Their number, then the bytes.
    pub(super) fn text_bytes(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.bytes.extend_from_slice(bytes);
    }

    fn place_len(&mut self, start: usize, sign: i64) {
        let len = (self.bytes.len() - start) as i64 * sign;
        if let Some(place) = self.bytes.get_mut(start..start + 8) {
            place.copy_from_slice(&len.to_le_bytes());
        }
    }

    /// A record frame of what `write` writes.
    pub(super) fn record(&mut self, write: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.i64(0);
        write(self);
        self.place_len(start, 1);
    }

    /// A list frame of `n` items, which `write` writes.
    pub(super) fn list(&mut self, n: usize, write: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.i64(0);
        self.u32(n as u32);
        write(self);
        self.place_len(start, -1);
    }

    /// The place of a block in the file.
    pub(super) fn locator(&mut self, span: Span) {
        if span.len < LARGE {
            self.u32(span.len as u32);
            self.u64(span.start);
        } else {
            // type 1, and the bytes of the locator
            self.i32(-((1 << 24) | 20));
            self.u64(span.len);
            self.u64(span.start);
        }
    }

    /// The whole envelope, and its checksum.
    pub(super) fn finish(mut self) -> (Vec<u8>, u64) {
        let len = self.bytes.len() as u64 + 8;
        let kind = self.bytes.first().copied().unwrap_or(0);
        if let Some(place) = self.bytes.get_mut(..8) {
            place.copy_from_slice(&(len << 16 | u64::from(kind)).to_le_bytes());
        }
        let checksum = xxh3(&self.bytes);
        self.u64(checksum);
        (self.bytes, checksum)
    }
}
