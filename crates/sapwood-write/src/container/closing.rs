//! What closes a file: class descriptions, key lists, free segments, and the header that tells where they are.

use super::label::BIG;
use super::{Container, FIRST_RECORD, Label};
use sapwood_span::{Result, Span};

/// The version of ROOT that these files are like: 6.40.00.
const ROOT_VERSION: u32 = 64_000;
/// Added to versions where positions have 64 bits.
const BIG_VERSION: u32 = 1_000_000;
/// How far ROOT lets a file grow at a time, once it is large.
const GROWTH: u64 = 1_000_000_000;

/// Appends a position in the file, of 64 or 32 bits.
pub(super) fn put_position(out: &mut Vec<u8>, position: u64, big: bool) {
    if big {
        out.extend_from_slice(&position.to_be_bytes());
    } else {
        out.extend_from_slice(&(position as u32).to_be_bytes());
    }
}

impl Container {
    /// Writes what closes the file; `classes` makes the payload of the class descriptions' record from the length of its
    /// label. The part is complete, and has its name when it is committed.
    pub(crate) fn close(mut self, classes: impl FnOnce(usize) -> Result<Vec<u8>>) -> Result<super::Part> {
        let mut label = Label::new("TList", b"StreamerInfo", b"Doubly linked list");
        label.big = self.needs_big();
        label.datime = self.datime;
        let payload = classes(label.len())?;
        let packed = self.compress(&payload, self.compression);
        let stored = packed.as_deref().unwrap_or(&payload);
        let placed = super::PlacedLabel {
            seek: self.position(),
            parent: FIRST_RECORD,
            stored: stored.len() as u32,
            size: payload.len() as u32,
            label,
        };
        let mut head = Vec::new();
        placed.write(&mut head)?;
        self.part.append(&head)?;
        self.part.append(stored)?;
        let info = Span::new(placed.seek, (head.len() + stored.len()) as u64);
        self.write_key_lists()?;
        let free = self.write_free()?;
        let header = self.header(info, free);
        self.part.patch(0, &header)?;
        self.part.flush()?;
        Ok(self.part)
    }

    /// What is free: from the end of the file as far as it may grow.
    fn write_free(&mut self) -> Result<Span> {
        let label = Label::new("TFile", &self.name, &self.title);
        let key_len = Label { big: self.needs_big(), ..label.clone() }.len() as u64;
        // a segment is a version and its first and last byte; the width follows from where the record ends, and that
        // from the width: at the brink both are right
        let least = self.position() + key_len + 10;
        let end = if least > BIG { least + 8 } else { least };
        let limit = if end > BIG { (end / GROWTH + 1) * GROWTH } else { BIG };
        let big = limit > BIG;
        let mut payload = if big { 1001_u16 } else { 1 }.to_be_bytes().to_vec();
        put_position(&mut payload, end, big);
        put_position(&mut payload, limit, big);
        self.own_record(label, FIRST_RECORD, &payload)
    }

    /// The first bytes of the file, up to its first record.
    fn header(&self, info: Span, free: Span) -> Vec<u8> {
        let end = self.position();
        let big = end > BIG;
        let mut out = b"root".to_vec();
        let version = ROOT_VERSION + if big { BIG_VERSION } else { 0 };
        for n in [version, FIRST_RECORD as u32] {
            out.extend_from_slice(&n.to_be_bytes());
        }
        put_position(&mut out, end, big);
        put_position(&mut out, free.start, big);
        for n in [free.len as u32, 1, self.root_name_len()] {
            out.extend_from_slice(&n.to_be_bytes());
        }
        // how many bytes a position has
        out.push(if big { 8 } else { 4 });
        out.extend_from_slice(&self.compression.settings().to_be_bytes());
        put_position(&mut out, info.start, big);
        out.extend_from_slice(&(info.len as u32).to_be_bytes());
        out.extend_from_slice(&1_u16.to_be_bytes());
        out.extend_from_slice(&self.uuid);
        out.resize(FIRST_RECORD as usize, 0);
        out
    }
}
