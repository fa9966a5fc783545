//! Positions, texts and ids in ROOT's form.

/// Beyond this offset ROOT writes 64-bit positions (`TFile::kStartBigFile`).
pub const BIG: u64 = 2_000_000_000;

/// Position of the first record: after the file's head.
pub const FIRST_RECORD: u64 = 100;

/// Appends a position in the file, of 64 or 32 bits.
pub fn put_position(out: &mut Vec<u8>, position: u64, big: bool) {
    if big {
        out.extend_from_slice(&position.to_be_bytes());
    } else {
        out.extend_from_slice(&(position as u32).to_be_bytes());
    }
}

/// Appends a `TString`: one byte of length, or 255 and four bytes. Texts are bytes: nothing guarantees that they are
/// UTF-8.
pub fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    match u8::try_from(text.len()) {
        Ok(n) if n < 255 => out.push(n),
        _ => {
            out.push(255);
            out.extend_from_slice(&(text.len() as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(text);
}

/// Bytes that a `TString` takes.
pub fn text_len(text: &[u8]) -> usize {
    text.len() + if text.len() < 255 { 1 } else { 5 }
}

/// Appends a `TUUID` with its version.
pub fn put_uuid(out: &mut Vec<u8>, uuid: &[u8; 16]) {
    out.extend_from_slice(&1_u16.to_be_bytes());
    out.extend_from_slice(uuid);
}
