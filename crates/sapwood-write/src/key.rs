use crate::buffer::{put_string, string_len};
pub(crate) use sapwood_edit::{BIG, FIRST_RECORD, put_position};
use sapwood_span::Span;

/// The shortest record: a label without texts.
pub(crate) const SHORTEST: u64 = 29;

/// The content of a record's key.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) cycle: u16,
    pub(crate) datime: u32,
    /// Position of the record.
    pub(crate) seek: u64,
    /// Position of its directory; 0 for the file itself.
    pub(crate) parent: u64,
    /// Bytes on disk after the key.
    pub(crate) stored: usize,
    /// Bytes when decompressed.
    pub(crate) size: usize,
    /// Whether its positions have 64 bits.
    pub(crate) big: bool,
    /// The length of the record's label, where that differs from what these names take: a directory's key may have
    /// another class than the label.
    pub(crate) label_len: Option<usize>,
}

impl Key {
    /// From a key that was read.
    pub(crate) fn from_read(key: &sapwood_format::Key) -> Self {
        let (told, big) = (key.key_len as usize, len(&key.class, &key.name, &key.title, true));
        let small = len(&key.class, &key.name, &key.title, false);
        Self {
            class: key.class.clone(),
            name: key.name.clone(),
            title: key.title.clone(),
            cycle: key.cycle as u16,
            datime: key.datetime,
            seek: key.span.start,
            parent: key.parent,
            stored: key.payload().len as usize,
            size: key.object_len as usize,
            // if it cannot be determined, the width follows from the position
            big: told == big || (told != small && key.span.start > BIG),
            label_len: Some(told).filter(|&n| n != small && n != big),
        }
    }

    /// Bytes of the key, from its nbytes to its title.
    pub(crate) fn len(&self) -> usize {
        self.label_len.unwrap_or_else(|| self.own_len())
    }

    /// Bytes of the key as written from these names.
    fn own_len(&self) -> usize {
        len(&self.class, &self.name, &self.title, self.big)
    }

    /// The whole record.
    pub(crate) fn span(&self) -> Span {
        Span::new(self.seek, (self.len() + self.stored) as u64)
    }

    /// Makes room for positions of 64 bits in a directory's copy of the key; the record's label is not changed.
    pub(crate) fn widen(&mut self) {
        if !self.big {
            (self.label_len, self.big) = (Some(self.len()), true);
        }
    }

    /// Appends the key, counting `extra` more bytes as part of it.
    pub(crate) fn write(&self, out: &mut Vec<u8>, extra: usize) {
        let key_len = self.len() + extra;
        out.extend_from_slice(&((key_len + self.stored) as u32).to_be_bytes());
        out.extend_from_slice(&if self.big { 1004_u16 } else { 4 }.to_be_bytes());
        out.extend_from_slice(&(self.size as u32).to_be_bytes());
        out.extend_from_slice(&self.datime.to_be_bytes());
        out.extend_from_slice(&(key_len as u16).to_be_bytes());
        out.extend_from_slice(&self.cycle.to_be_bytes());
        for position in [self.seek, self.parent] {
            put_position(out, position, self.big);
        }
        for text in [&self.class, &self.name, &self.title] {
            put_string(out, text);
        }
    }
}

/// Bytes of a key with these names.
pub(crate) fn len(class: &str, name: &str, title: &str, big: bool) -> usize {
    18 + if big { 16 } else { 8 } + string_len(class) + string_len(name) + string_len(title)
}
