use crate::adler::adler32;
use crate::block::{self, Codec, HEADER};

/// Bytes of a stored block of deflate at most: two bytes of length (RFC 1951, 3.2.4).
const STORED: usize = 0xffff;
/// As many of them as a block of ROOT's has room for.
const PART: usize = 255 * STORED;
/// zlib's two-byte header, for a window of 32 KiB (RFC 1950, 2.2); its checksum follows the data.
const ZLIB: [u8; 2] = [0x78, 0x01];
const CHECKSUM: usize = 4;

/// Appends `data` to `out` as zlib blocks without compression: 15 bytes more for each 16.7 MB, and 5 for each 64 KiB.
pub fn store(data: &[u8], out: &mut Vec<u8>) {
    for part in data.chunks(PART) {
        let packed = ZLIB.len() + part.len() + 5 * part.len().div_ceil(STORED) + CHECKSUM;
        out.reserve(HEADER + packed);
        // always fits: `PART` and the overhead are below the limit of three bytes
        out.extend_from_slice(&block::header(Codec::Zlib, packed, part.len()).unwrap_or_default());
        out.extend_from_slice(&ZLIB);
        let mut left = part.len();
        for stored in part.chunks(STORED) {
            left -= stored.len();
            let len = stored.len() as u16;
            out.push(u8::from(left == 0));
            out.extend_from_slice(&len.to_le_bytes());
            out.extend_from_slice(&(!len).to_le_bytes());
            out.extend_from_slice(stored);
        }
        out.extend_from_slice(&adler32(part).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;

    #[test]
    fn what_is_stored_comes_back() {
        let data: Vec<u8> = (0..PART + STORED + 1).map(|i| ((i * i) >> 7) as u8).collect();
        for len in [0, 1, STORED, STORED + 1, 2 * STORED, PART, data.len()] {
            let (part, mut out, mut back) = (&data[..len], b"before".to_vec(), Vec::new());
            store(part, &mut out);
            assert!(out.len() <= 6 + len + 30 + 5 * len.div_ceil(STORED), "{len}");
            Decoder::new().decompress_vec(&out[6..], &mut back, len).unwrap();
            assert!(back == part, "{len}");
        }
    }
}
