//! A ROOT file assembled from records: directories, keys and payloads of any class, copied from other files or new. It
//! does not interpret the payloads.

mod closing;
mod directory;
mod part;

pub(crate) use part::Part;

use sapwood_codec::{Compression, Encoder};
use sapwood_edit::{BIG, FIRST_RECORD, Label, PlacedLabel, ROOT_VERSION, stamp};
use sapwood_span::raw_text::{bytes_of, text_of_os};
use sapwood_span::{Error, Result, Span};
use sapwood_write::target::Placement;
use std::path::Path;
use std::time::SystemTime;

/// A directory of the file; 0 is the file's own.
pub(crate) type DirectoryId = usize;

/// The file's own directory.
pub(crate) const ROOT_DIRECTORY: DirectoryId = 0;

/// A file being assembled.
pub(crate) struct Container {
    part: Part,
    encoder: Encoder,
    /// For new objects, and for the file's header.
    pub(crate) compression: Compression,
    name: Vec<u8>,
    title: Vec<u8>,
    /// The version of ROOT in the file's header.
    pub(crate) root_version: u32,
    datime: u32,
    uuid: [u8; 16],
    directories: Vec<directory::Directory>,
}

impl Container {
    /// Creates a file with this path; an existing one is replaced or refused.
    ///
    /// # Errors
    /// `Invalid` when it exists, or errors of the system.
    pub(crate) fn create(path: &Path, place: Placement, compression: Compression) -> Result<Self> {
        let part = Part::create(path, place)?;
        let name = path.file_name().map(|n| bytes_of(&text_of_os(n)).into_owned()).unwrap_or_default();
        let mut file = Self {
            part,
            encoder: Encoder::new(),
            compression,
            name,
            title: Vec::new(),
            root_version: ROOT_VERSION,
            datime: stamp::datime(SystemTime::now()),
            uuid: stamp::uuid(),
            directories: Vec::new(),
        };
        file.part.append(&[0; FIRST_RECORD as usize])?;
        file.open_root()?;
        Ok(file)
    }

    /// Position of the next record.
    pub(crate) fn position(&self) -> u64 {
        self.part.position()
    }

    /// Appends the bytes of complete records.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.part.append(bytes)
    }

    /// Position of a directory's record: the parent in its keys.
    pub(crate) fn seek_of(&self, directory: DirectoryId) -> u64 {
        self.directories.get(directory).map_or(FIRST_RECORD, |d| d.seek)
    }

    /// Compresses a payload with the file's setting: `None` when it stays uncompressed.
    pub(crate) fn compress(&mut self, payload: &[u8], compression: Compression) -> Option<Vec<u8>> {
        let mut packed = Vec::new();
        self.encoder.compress(payload, compression, &mut packed).then_some(packed)
    }

    /// Appends an object's record and adds its key; the label's cycle becomes the next free one.
    pub(crate) fn put(&mut self, directory: DirectoryId, label: Label, size: u32, stored: &[u8]) -> Result<Span> {
        let cycle = self.next_cycle(directory, &label.name);
        let placed = PlacedLabel {
            label: Label { cycle, ..label },
            seek: self.position(),
            parent: self.seek_of(directory),
            stored: u32::try_from(stored.len()).map_err(|_| Error::unsupported("an object of more than 4 GiB"))?,
            size,
        };
        let mut head = Vec::with_capacity(placed.label.len());
        placed.write(&mut head)?;
        self.part.append(&head)?;
        self.part.append(stored)?;
        let span = Span::new(placed.seek, head.len() as u64 + stored.len() as u64);
        self.enter(directory, placed);
        Ok(span)
    }

    /// Appends a new object: `payload` gets the length of its label.
    pub(crate) fn put_object(
        &mut self,
        directory: DirectoryId,
        mut label: Label,
        payload: impl FnOnce(usize) -> Result<Vec<u8>>,
    ) -> Result<Span> {
        label.big = label.big || self.needs_big();
        label.datime = self.datime;
        let payload = payload(label.len())?;
        let packed = self.compress(&payload, self.compression);
        self.put(directory, label, payload.len() as u32, packed.as_deref().unwrap_or(&payload))
    }

    /// Whether a record at the end needs positions of 64 bits.
    pub(crate) fn needs_big(&self) -> bool {
        self.position() > BIG
    }
}
