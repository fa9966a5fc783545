use crate::buffer::{put_string, string_len};
use crate::key::{self, BIG, FIRST_RECORD, Key, put_position};
use sapwood_edit::put_uuid;
use sapwood_span::{Error, Result, Span};

/// Bytes of `TDirectoryFile`'s own part, at its largest: version, two dates, two lengths, three positions of 64 bits,
/// id.
const BODY: usize = 2 + 4 * 4 + 3 * 8 + 18;

/// The class name in directories' keys, for compatibility with old versions of ROOT (`TKey::FillBuffer`).
pub(crate) const CLASS: &str = "TDirectory";

/// A directory of a file, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DirectoryId(pub(crate) usize);

impl DirectoryId {
    /// The number, for languages that cannot hold an id.
    pub fn number(self) -> usize {
        self.0
    }

    /// The id of a number; an invalid one is refused where it is used.
    pub fn of_number(number: usize) -> Self {
        Self(number)
    }
}

/// A directory while its file is being written. Number 0 is the file's own.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// The class in its record's label, which may differ from that in the parent's key: the file's own is `TFile`.
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) parent: Option<DirectoryId>,
    /// Position of its record.
    pub(crate) seek: u64,
    /// Whether the record's key has 64-bit positions.
    pub(crate) big: bool,
    pub(crate) keys: Vec<Key>,
    /// Its key list, as last committed.
    pub(crate) list: Span,
    pub(crate) created: u32,
    pub(crate) modified: u32,
    pub(crate) uuid: [u8; 16],
    /// Whether its keys changed since the last commit.
    pub(crate) dirty: bool,
    /// Whether readers of the last commit know it, so that its record must not be changed.
    pub(crate) committed: bool,
}

impl Directory {
    pub(crate) fn is_root(&self) -> bool {
        self.parent.is_none()
    }

    /// Bytes of the record's key, and in the file's own directory of its name and title after it (`fNbytesName`).
    pub(crate) fn name_len(&self) -> usize {
        let key_len = key::len(&self.class, &self.name, &self.title, self.big);
        let names = if self.is_root() { string_len(&self.name) + string_len(&self.title) } else { 0 };
        key_len + names
    }

    /// Bytes of its record, which do not depend on positions.
    pub(crate) fn record_len(&self) -> usize {
        self.name_len() + BODY
    }

    /// The key of its record; `parent` is the position of the parent directory.
    pub(crate) fn key(&self, parent: u64) -> Key {
        let key_len = key::len(&self.class, &self.name, &self.title, self.big);
        let size = self.record_len() - key_len;
        Key {
            class: self.class.clone(),
            name: self.name.clone(),
            title: self.title.clone(),
            cycle: 1,
            datime: self.created,
            seek: self.seek,
            parent,
            stored: size,
            size,
            big: self.big,
            label_len: None,
        }
    }

    /// Its record: key and position of its key list.
    pub(crate) fn record(&self, parent: u64, cycle: u16) -> Vec<u8> {
        // the file's own record names itself as its parent
        let key_parent = if self.is_root() { FIRST_RECORD } else { parent };
        let mut out = Vec::with_capacity(self.record_len());
        Key { cycle, ..self.key(key_parent) }.write(&mut out, 0);
        if self.is_root() {
            put_string(&mut out, &self.name);
            put_string(&mut out, &self.title);
        }
        let big = [self.seek, parent, self.list.start].iter().any(|&p| p > BIG);
        out.extend_from_slice(&if big { 1005_u16 } else { 5 }.to_be_bytes());
        for n in [self.created, self.modified, self.list.len as u32, self.name_len() as u32] {
            out.extend_from_slice(&n.to_be_bytes());
        }
        for position in [self.seek, parent, self.list.start] {
            put_position(&mut out, position, big);
        }
        put_uuid(&mut out, &self.uuid);
        // room for positions of 64 bits
        out.resize(self.record_len(), 0);
        out
    }

    /// The payload of its key list.
    pub(crate) fn key_list(&self) -> Result<Vec<u8>> {
        let count = u32::try_from(self.keys.len()).map_err(|_| Error::unsupported("there are too many objects"))?;
        let mut payload = count.to_be_bytes().to_vec();
        for key in &self.keys {
            key.write(&mut payload, 0);
        }
        Ok(payload)
    }

    /// Adds a key: newer cycles come before older ones of their name, as in ROOT, which uses the first.
    pub(crate) fn enter(&mut self, key: Key) {
        let same = |k: &Key| k.name == key.name;
        let older = self.keys.iter().position(|k| same(k) && k.cycle <= key.cycle);
        let behind = || self.keys.iter().rposition(same).map(|last| last + 1);
        let at = older.or_else(behind).unwrap_or(self.keys.len());
        self.keys.insert(at, key);
    }

    /// The cycle that the next object of this name gets.
    pub(crate) fn next_cycle(&self, name: &str) -> u16 {
        self.keys.iter().filter(|k| k.name == name).map(|k| k.cycle).max().map_or(1, |c| c.saturating_add(1))
    }
}
