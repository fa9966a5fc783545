use sapwood_edit::{put_text, text_len};
use sapwood_span::raw_text::bytes_of;
use sapwood_span::{Error, Result};
use std::collections::HashMap;

/// Marks a length as a byte count; also the limit of counts, so that the mark has room.
const BYTE_COUNT: u32 = 0x4000_0000;
/// Marks the first occurrence of a class name.
const NEW_CLASS: u32 = 0xffff_ffff;
/// Marks a reference to an earlier class name, together with its position.
const KNOWN_CLASS: u32 = 0x8000_0000;
/// References count from here, so that 0 can mean "no object".
const FIRST_REFERENCE: usize = 2;

/// Position of a byte count to be filled in.
#[must_use]
#[derive(Debug)]
pub struct Mark(usize);

/// Bytes of ROOT objects, big-endian, with byte counts, class tags and references, as `TBufferFile` writes them.
/// References count from the beginning of the key, not of its payload.
#[derive(Debug)]
pub struct ObjectBuffer {
    bytes: Vec<u8>,
    key_len: usize,
    classes: HashMap<String, u32>,
}

impl ObjectBuffer {
    /// An empty buffer for the payload after a key of `key_len` bytes.
    pub fn new(key_len: usize) -> Self {
        Self { bytes: Vec::new(), key_len, classes: HashMap::new() }
    }

    /// One byte.
    pub fn u8(&mut self, v: u8) {
        self.bytes.push(v);
    }

    /// These bytes.
    pub fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes.extend_from_slice(&bytes);
    }

    /// A big-endian number of 16 bits.
    pub fn u16(&mut self, v: u16) {
        self.put(v.to_be_bytes());
    }

    /// A big-endian number of 32 bits.
    pub fn u32(&mut self, v: u32) {
        self.put(v.to_be_bytes());
    }

    /// A big-endian number of 32 bits.
    pub fn i32(&mut self, v: i32) {
        self.put(v.to_be_bytes());
    }

    /// A big-endian number of 64 bits.
    pub fn i64(&mut self, v: i64) {
        self.put(v.to_be_bytes());
    }

    /// A big-endian number of 32 bits.
    pub fn f32(&mut self, v: f32) {
        self.put(v.to_be_bytes());
    }

    /// A big-endian number of 64 bits.
    pub fn f64(&mut self, v: f64) {
        self.put(v.to_be_bytes());
    }

    /// A `TString`.
    pub fn string(&mut self, text: &str) {
        put_string(&mut self.bytes, text);
    }

    /// Starts the part of an object that one class wrote: byte count and class version.
    pub fn begin(&mut self, version: u16) -> Mark {
        let mark = Mark(self.bytes.len());
        self.u32(0);
        self.u16(version);
        mark
    }

    /// Starts an object behind a pointer: byte count and class; returns its reference for later use.
    pub fn begin_object(&mut self, class: &str) -> (Mark, u32) {
        let mark = Mark(self.bytes.len());
        let reference = self.reference();
        self.u32(0);
        match self.classes.get(class) {
            Some(&tag) => self.u32(KNOWN_CLASS | tag),
            None => {
                self.classes.insert(class.to_owned(), self.reference());
                self.u32(NEW_CLASS);
                self.bytes.extend_from_slice(&bytes_of(class));
                self.u8(0);
            }
        }
        (mark, reference)
    }

    /// Fills in the byte count of a started part.
    pub fn end(&mut self, mark: Mark) {
        let count = (self.bytes.len() - mark.0 - 4) as u32 | BYTE_COUNT;
        if let Some(slot) = self.bytes.get_mut(mark.0..mark.0 + 4) {
            slot.copy_from_slice(&count.to_be_bytes());
        }
    }

    /// `TObject`: version, no unique id, these bits.
    pub fn object(&mut self, bits: u32) {
        self.u16(1);
        self.u32(0);
        self.u32(bits);
    }

    /// `TNamed`.
    pub fn named(&mut self, bits: u32, name: &str, title: &str) {
        let mark = self.begin(1);
        self.object(bits);
        self.string(name);
        self.string(title);
        self.end(mark);
    }

    /// Starts a `TObjArray` of `len` objects, which follow.
    pub fn begin_array(&mut self, len: usize) -> Mark {
        let mark = self.begin(3);
        self.object(0);
        self.string("");
        self.i32(len as i32);
        self.i32(0);
        mark
    }

    /// The bytes; an error when they are more than byte counts and references can span.
    pub fn finish(self) -> Result<Vec<u8>> {
        if self.bytes.len() + self.key_len + FIRST_REFERENCE >= BYTE_COUNT as usize {
            return Err(Error::unsupported(format!(
                "the header would be {} bytes long, more than ROOT's limit of 1 GiB",
                self.bytes.len()
            ))
            .with_remedy("use larger baskets or several files"));
        }
        Ok(self.bytes)
    }

    /// The reference of an object that begins here.
    pub fn reference(&self) -> u32 {
        (self.bytes.len() + self.key_len + FIRST_REFERENCE) as u32
    }
}

/// Appends a `TString`.
pub(crate) fn put_string(out: &mut Vec<u8>, text: &str) {
    put_text(out, &bytes_of(text));
}

/// Bytes that a `TString` takes.
pub(crate) fn string_len(text: &str) -> usize {
    text_len(&bytes_of(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_long_and_short() {
        for n in [0, 1, 254, 255, 256, 70_000] {
            let (text, mut out) = ("x".repeat(n), Vec::new());
            put_string(&mut out, &text);
            assert_eq!(out.len(), string_len(&text), "{n}");
        }
    }

    #[test]
    fn counts_and_references() {
        let mut b = ObjectBuffer::new(10);
        let (mark, first) = b.begin_object("T");
        b.end(mark);
        let (mark, second) = b.begin_object("T");
        b.end(mark);
        assert_eq!((first, second), (12, 22));
        // Count 6: the class tag, its name and the zero after it; the second object names byte 4, +10, +2.
        assert_eq!(b.finish().unwrap(), [0x40, 0, 0, 6, 255, 255, 255, 255, b'T', 0, 0x40, 0, 0, 4, 0x80, 0, 0, 16]);
    }
}
