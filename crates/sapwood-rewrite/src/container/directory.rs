use super::{Container, DirectoryId, ROOT_DIRECTORY};
use sapwood_edit::{BIG, FIRST_RECORD, Label, PlacedLabel, put_position, put_text, put_uuid};
use sapwood_span::{Error, Result, Span};

/// A directory while its keys are collected.
pub(super) struct Directory {
    /// Position of its record.
    pub(super) seek: u64,
    parent: DirectoryId,
    /// Its label; also the names of its record and its key list.
    label: Label,
    /// Position of its own members, to be written again once its key list has a position.
    members: u64,
    /// Bytes before the members: ROOT's length of its name.
    name_len: u32,
    keys: Vec<PlacedLabel>,
}

/// Bytes of `TDirectoryFile`'s own part, at its largest: version, two dates, two lengths, three positions of 64 bits,
/// and its id with a version.
const MEMBERS: usize = 2 + 4 * 4 + 3 * 8 + 18;

impl Container {
    /// The file's own directory: its record repeats name and title.
    pub(super) fn open_root(&mut self) -> Result<()> {
        let label = Label { datime: self.datime, ..Label::new("TFile", &self.name, &self.title) };
        let mut names = Vec::new();
        put_text(&mut names, &self.name);
        put_text(&mut names, &self.title);
        let size = (names.len() + MEMBERS) as u32;
        let placed = PlacedLabel { label: label.clone(), seek: self.position(), parent: 0, stored: size, size };
        let mut record = Vec::new();
        placed.write(&mut record)?;
        record.extend_from_slice(&names);
        let name_len = record.len() as u32;
        record.resize(record.len() + MEMBERS, 0);
        self.part.append(&record)?;
        self.directories.push(Directory {
            seek: placed.seek,
            parent: ROOT_DIRECTORY,
            label,
            members: placed.seek + u64::from(name_len),
            name_len,
            keys: Vec::new(),
        });
        Ok(())
    }

    /// Bytes of the first record up to its members.
    pub(super) fn root_name_len(&self) -> u32 {
        self.directories.first().map_or(0, |d| d.name_len)
    }

    /// Creates a directory; its key has `label` (class `TDirectory` or `TDirectoryFile`).
    pub(crate) fn mkdir(&mut self, parent: DirectoryId, label: Label) -> Result<DirectoryId> {
        let label = Label { big: self.needs_big(), datime: self.datime, pid: 0, ..label };
        let seek = self.position();
        let name_len = label.len() as u32;
        self.put(parent, label.clone(), MEMBERS as u32, &[0; MEMBERS])?;
        self.directories.push(Directory {
            seek,
            parent,
            label,
            members: seek + u64::from(name_len),
            name_len,
            keys: Vec::new(),
        });
        Ok(self.directories.len() - 1)
    }

    /// The cycle that the next object of a name gets.
    pub(super) fn next_cycle(&self, directory: DirectoryId, name: &[u8]) -> u16 {
        let keys = self.directories.get(directory).map_or(&[][..], |d| &d.keys);
        keys.iter().filter(|k| k.label.name == name).map(|k| k.label.cycle).max().unwrap_or(0).saturating_add(1)
    }

    /// Adds a key: newer cycles come before older ones, as in ROOT.
    pub(super) fn enter(&mut self, directory: DirectoryId, key: PlacedLabel) {
        if let Some(d) = self.directories.get_mut(directory) {
            let at = d.keys.iter().position(|k| k.label.name == key.label.name).unwrap_or(d.keys.len());
            d.keys.insert(at, key);
        }
    }

    /// Writes the key list of every directory and updates the directories with its position.
    pub(super) fn write_key_lists(&mut self) -> Result<()> {
        for id in (0..self.directories.len()).rev() {
            let keys = self.write_key_list(id)?;
            let Some(d) = self.directories.get(id) else { continue };
            let parent = if id == ROOT_DIRECTORY { 0 } else { self.seek_of(d.parent) };
            let (members, seek, name_len) = (d.members, d.seek, d.name_len);
            let bytes = self.members(seek, parent, keys, name_len);
            self.part.patch(members, &bytes)?;
        }
        Ok(())
    }

    fn write_key_list(&mut self, id: DirectoryId) -> Result<Span> {
        let Some(d) = self.directories.get(id) else { return Ok(Span::default()) };
        let count = u32::try_from(d.keys.len()).map_err(|_| Error::unsupported("there are too many objects"))?;
        let mut payload = count.to_be_bytes().to_vec();
        for key in &d.keys {
            key.write(&mut payload)?;
        }
        // the list has the names of its directory; in a subdirectory ROOT uses the class that it has in memory
        let class = if id == ROOT_DIRECTORY { "TFile" } else { "TDirectoryFile" };
        let label = Label { class: class.into(), cycle: 1, ..d.label.clone() };
        let parent = d.seek;
        self.own_record(label, parent, &payload)
    }

    /// Appends a record of parts of ntuples, which no directory lists: `size` bytes uncompressed. Returns the position
    /// of the first byte behind its label.
    ///
    /// # Errors
    /// When it would be too large, or errors of the system.
    pub(crate) fn put_blob(&mut self, size: u64, parts: &[&[u8]]) -> Result<u64> {
        let stored: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let label = Label { big: true, datime: self.datime, ..Label::new("RBlob", b"", b"") };
        let placed = PlacedLabel {
            label,
            seek: self.position(),
            parent: FIRST_RECORD,
            stored: u32::try_from(stored).map_err(|_| Error::unsupported("a record of more than 4 GiB"))?,
            size: u32::try_from(size).unwrap_or(u32::MAX),
        };
        let mut head = Vec::with_capacity(placed.label.len());
        placed.write(&mut head)?;
        self.part.append(&head)?;
        let start = self.position();
        parts.iter().try_for_each(|part| self.part.append(part))?;
        Ok(start)
    }

    /// Appends a record that no directory lists.
    pub(super) fn own_record(&mut self, mut label: Label, parent: u64, payload: &[u8]) -> Result<Span> {
        label.big = self.needs_big();
        label.datime = self.datime;
        let size = payload.len() as u32;
        let placed = PlacedLabel { label, seek: self.position(), parent, stored: size, size };
        let mut record = Vec::with_capacity(placed.label.len() + payload.len());
        placed.write(&mut record)?;
        record.extend_from_slice(payload);
        self.part.append(&record)?;
        Ok(Span::new(placed.seek, record.len() as u64))
    }

    fn members(&self, seek: u64, parent: u64, keys: Span, name_len: u32) -> Vec<u8> {
        let big = seek > BIG || keys.start > BIG;
        let mut out = (5 + if big { 1000_u16 } else { 0 }).to_be_bytes().to_vec();
        for n in [self.datime, self.datime, keys.len as u32, name_len] {
            out.extend_from_slice(&n.to_be_bytes());
        }
        for position in [seek, parent, keys.start] {
            put_position(&mut out, position, big);
        }
        put_uuid(&mut out, &self.uuid);
        // room for positions of 64 bits
        out.resize(MEMBERS, 0);
        debug_assert!(FIRST_RECORD <= seek);
        out
    }
}
