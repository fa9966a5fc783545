//! A segment's index: a header and slots of one size, so that damage to one does not hide the next.

use twox_hash::XxHash3_64;

/// Bytes of a slot, and of the header.
pub(crate) const SLOT: usize = 40;
/// Bytes of a piece at most: longer insertions become several, so that reading a part does not check everything.
pub(crate) const LONGEST_PIECE: usize = crate::policy::LONGEST_PIECE as usize;

const MAGIC: &[u8; 8] = b"SWINDX\0\x01";

/// Position of a piece in the file, its position in the segment's data, and its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot {
    /// Offset in the remote file.
    pub start: u64,
    /// Offset in the segment's data.
    pub position: u64,
    /// Bytes; never zero.
    pub len: u32,
    /// The [`payload_checksum`] of the bytes.
    pub checksum: u64,
}

/// The meaning of an index slot's bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A piece.
    Piece(Slot),
    /// Zeros: the piece was dropped, or never became durable.
    Empty,
    /// Anything else.
    Damaged,
}

impl Slot {
    pub(crate) fn encode(&self, version: u128) -> [u8; SLOT] {
        let mut out = [0; SLOT];
        out[..8].copy_from_slice(&self.start.to_le_bytes());
        out[8..16].copy_from_slice(&self.position.to_le_bytes());
        out[16..20].copy_from_slice(&self.len.to_le_bytes());
        out[24..32].copy_from_slice(&self.checksum.to_le_bytes());
        let sum = XxHash3_64::oneshot_with_seed(fold(version), &out[..32]);
        out[32..].copy_from_slice(&sum.to_le_bytes());
        out
    }

    /// Decodes a slot; `size` is that of the remote file.
    pub(crate) fn decode(bytes: &[u8; SLOT], version: u128, size: u64) -> Parsed {
        let number = |at: usize| bytes[at..].first_chunk::<8>().map_or(0, |b| u64::from_le_bytes(*b));
        if XxHash3_64::oneshot_with_seed(fold(version), &bytes[..32]) != number(32) {
            return if bytes == &[0; SLOT] { Parsed::Empty } else { Parsed::Damaged };
        }
        // the upper half of the third number is zero
        let (start, position, len) = (number(0), number(8), number(16));
        let fits = len > 0 && len <= LONGEST_PIECE as u64;
        match (fits, start.checked_add(len), position.checked_add(len)) {
            (true, Some(end), Some(_)) if end <= size => {
                Parsed::Piece(Self { start, position, len: len as u32, checksum: number(24) })
            }
            _ => Parsed::Damaged,
        }
    }

    /// Offset after the piece in the remote file.
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
}

/// The header of an index.
pub(crate) fn header(version: u128) -> [u8; SLOT] {
    let mut out = [0; SLOT];
    out[..8].copy_from_slice(MAGIC);
    out[8..24].copy_from_slice(&version.to_le_bytes());
    let sum = XxHash3_64::oneshot(&out[..32]);
    out[32..].copy_from_slice(&sum.to_le_bytes());
    out
}

/// The checksum of a piece's bytes, which also covers their position and file, so that no other piece or file has the
/// same one.
pub(crate) fn payload_checksum(version: u128, start: u64, bytes: &[u8]) -> u64 {
    let place = XxHash3_64::oneshot_with_seed(fold(version), &start.to_le_bytes());
    XxHash3_64::oneshot_with_seed(place ^ bytes.len() as u64, bytes)
}

fn fold(version: u128) -> u64 {
    (version as u64) ^ ((version >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_survives_and_a_changed_bit_does_not() {
        let slot = Slot { start: 7, position: 9, len: 11, checksum: 13 };
        let bytes = slot.encode(5);
        assert_eq!(Slot::decode(&bytes, 5, 18), Parsed::Piece(slot));
        assert_eq!(Slot::decode(&bytes, 5, 17), Parsed::Damaged, "behind the end of the file");
        assert_eq!(Slot::decode(&bytes, 6, 18), Parsed::Damaged, "another version");
        for bit in 0..SLOT * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Slot::decode(&damaged, 5, 18), Parsed::Damaged, "bit {bit}");
        }
        assert_eq!(Slot::decode(&[0; SLOT], 5, 18), Parsed::Empty);
    }

    #[test]
    fn lengths_that_lie_are_damage() {
        for (start, position, len) in [(0, 0, 0), (u64::MAX, 0, 1), (0, u64::MAX, 1), (0, 0, LONGEST_PIECE as u32 + 1)]
        {
            let bytes = Slot { start, position, len, checksum: 0 }.encode(1);
            assert_eq!(Slot::decode(&bytes, 1, u64::MAX), Parsed::Damaged);
        }
    }

    #[test]
    fn a_checksum_belongs_to_one_place() {
        let sum = payload_checksum(1, 2, b"abc");
        assert_ne!(sum, payload_checksum(1, 3, b"abc"));
        assert_ne!(sum, payload_checksum(2, 2, b"abc"));
    }
}
