//! The end of a file: class descriptions, key lists, free segments, and the header that points to them.

use super::{Container, Part};
use sapwood_edit::{BIG, FIRST_RECORD, FileHead, Label, PlacedLabel, growth, put_segment};
use sapwood_span::{Result, Span};

impl Container {
    /// Writes the end of the file; `classes` creates the payload of the class descriptions' record from the length of
    /// its label. The part is complete, and gets its name when it is committed.
    pub(crate) fn close(mut self, classes: impl FnOnce(usize) -> Result<Vec<u8>>) -> Result<Part> {
        let mut label = Label::new("TList", b"StreamerInfo", b"Doubly linked list");
        label.big = self.needs_big();
        label.datime = self.datime;
        let payload = classes(label.len())?;
        let packed = self.compress(&payload, self.compression);
        let stored = packed.as_deref().unwrap_or(&payload);
        let placed = PlacedLabel {
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

    /// The free bytes: from the end of the file to the limit of its growth.
    fn write_free(&mut self) -> Result<Span> {
        let label = Label::new("TFile", &self.name, &self.title);
        let key_len = Label { big: self.needs_big(), ..label.clone() }.len() as u64;
        // a segment is a version and its first and last byte; the width follows from where the record ends, and that
        // from the width: at the boundary both are valid
        let least = self.position() + key_len + 10;
        let end = if least > BIG { least + 8 } else { least };
        let mut payload = Vec::new();
        put_segment(&mut payload, end, growth(end));
        self.own_record(label, FIRST_RECORD, &payload)
    }

    /// The first bytes of the file, up to its first record.
    fn header(&self, info: Span, free: Span) -> Vec<u8> {
        FileHead {
            version: self.root_version,
            end: self.position(),
            info,
            free,
            segments: 1,
            name_len: self.root_name_len(),
            compression: self.compression,
            uuid: &self.uuid,
        }
        .bytes()
    }
}
