use crate::buffer::{put_string, string_len};

/// Beyond this offset ROOT writes 64-bit positions (`TFile::kStartBigFile`).
pub(crate) const BIG: u64 = 2_000_000_000;

/// Where the first record begins: behind the file header.
pub(crate) const FIRST_RECORD: u64 = 100;

/// What a record's key says beside its sizes.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) class: &'static str,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) cycle: u16,
    pub(crate) datime: u32,
    /// Where the record begins.
    pub(crate) seek: u64,
    /// Where its directory begins; 0 for the file itself.
    pub(crate) parent: u64,
    /// Bytes on disk behind the key.
    pub(crate) stored: usize,
    /// Bytes when unpacked.
    pub(crate) size: usize,
}

impl Key {
    /// Bytes of the key, from its nbytes to its title.
    pub(crate) fn len(&self) -> usize {
        len(self.class, &self.name, &self.title, self.seek > BIG)
    }

    /// Appends the key.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.write_padded(out, self.seek > BIG, 0);
    }

    /// Appends the key of a basket: always with 64-bit positions, and `extra` bytes more to follow.
    pub(crate) fn write_basket(&self, out: &mut Vec<u8>, extra: usize) {
        self.write_padded(out, true, extra);
    }

    fn write_padded(&self, out: &mut Vec<u8>, big: bool, extra: usize) {
        let key_len = len(self.class, &self.name, &self.title, big) + extra;
        out.extend_from_slice(&((key_len + self.stored) as u32).to_be_bytes());
        out.extend_from_slice(&if big { 1004_u16 } else { 4 }.to_be_bytes());
        out.extend_from_slice(&(self.size as u32).to_be_bytes());
        out.extend_from_slice(&self.datime.to_be_bytes());
        out.extend_from_slice(&(key_len as u16).to_be_bytes());
        out.extend_from_slice(&self.cycle.to_be_bytes());
        for position in [self.seek, self.parent] {
            put_position(out, position, big);
        }
        for text in [self.class, &self.name, &self.title] {
            put_string(out, text);
        }
    }
}

/// Bytes of a key with these names.
pub(crate) fn len(class: &str, name: &str, title: &str, big: bool) -> usize {
    18 + if big { 16 } else { 8 } + string_len(class) + string_len(name) + string_len(title)
}

/// Appends a position in the file, of 64 or 32 bits.
pub(crate) fn put_position(out: &mut Vec<u8>, position: u64, big: bool) {
    if big {
        out.extend_from_slice(&position.to_be_bytes());
    } else {
        out.extend_from_slice(&(position as u32).to_be_bytes());
    }
}
