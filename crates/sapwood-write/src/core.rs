//! State shared by a file and its trees during writing: where records go, and what is known of them.

use crate::classes::Described;
use crate::directory::{Directory, DirectoryId};
use crate::key::{self, BIG, Key};
use crate::parts::Parts;
use crate::pool::Pool;
use crate::sink::Sink;
use crate::space::Space;
use sapwood_codec::{Compression, Encoder};
use sapwood_edit::ROOT_VERSION;
use sapwood_span::raw_text::text_of_path;
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result, Span};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// Bytes of baskets that wait to be compressed or written; beyond it, the thread that adds more helps. At the end of a
/// cluster all baskets come at once: the rest is what other cores do while the next cluster fills, and uses memory in
/// addition to that cluster's.
const IN_FLIGHT: u64 = 16 << 20;

/// A basket's additional bytes in its key: version, buffer size, entry size, entries, end of data, flag.
pub(crate) const BASKET_EXTRA: usize = 2 + 4 * 4 + 1;

/// A handle to the file, shared by all its writers.
#[derive(Clone)]
pub(crate) struct Shared(pub(crate) Arc<Mutex<Core>>);

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        // a panic elsewhere leaves the file unfinished, as `state` shows
        lock(&self.0)
    }
}

/// The state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Records can be appended.
    Open,
    /// A record failed half-way; later ones would be at wrong positions.
    Failed,
    /// It is complete and has its name.
    Finished,
    /// It was abandoned before it was complete.
    GivenUp,
}

/// A basket in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) span: Span,
    pub(crate) first_entry: u64,
}

/// A branch's baskets in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) baskets: Vec<Written>,
    /// Entries in them.
    pub(crate) entries: u64,
    /// Their bytes before compression, keys included.
    pub(crate) total_bytes: u64,
    /// The same as stored in the file.
    pub(crate) zip_bytes: u64,
}

/// A basket being written to the file.
pub(crate) struct Basket {
    /// Its tree and branch among the core's tables.
    pub(crate) tree: usize,
    pub(crate) branch: usize,
    pub(crate) name: Arc<str>,
    pub(crate) title: Arc<str>,
    /// Position of the tree's directory.
    pub(crate) parent: u64,
    pub(crate) entries: u64,
    /// Bytes of an entry, or room in the table of offsets.
    pub(crate) entry_size: u32,
    /// Buffer size that a reader should use.
    pub(crate) buffer: u32,
    /// Bytes before the table of offsets, the key included.
    pub(crate) end_of_data: u32,
    /// Feature bits, and whether they mean that its offsets are derived from the counter.
    pub(crate) features: u8,
    pub(crate) left_out: bool,
}

/// A basket's flag where its offsets are derived from the counter (ROOT's kGenerateOffsetMap).
const OFFSETS_LEFT_OUT: u8 = 80;

impl Basket {
    /// Bytes of the key of a basket of this branch and tree, with these feature bits.
    pub(crate) fn key_len(name: &str, tree: &str, features: u8) -> usize {
        key::len("TBasket", name, tree, true) + BASKET_EXTRA + usize::from(features != 0)
    }
}

/// An unfinished tree, by its key: other keys may refer to trees with the same name inside.
pub(crate) struct OpenTree {
    /// Its number in [`Core::tables`].
    pub(crate) tree: usize,
    pub(crate) directory: DirectoryId,
    pub(crate) name: String,
    /// That of a tree that existed in the file before; a new one has none before it is saved.
    pub(crate) cycle: Option<u16>,
}

impl OpenTree {
    /// Whether a name and a cycle (none: any) refer to this tree, or may do so.
    fn may_be(&self, directory: DirectoryId, name: &str, cycle: Option<u16>) -> bool {
        let cycles = self.cycle.zip(cycle);
        self.directory == directory && self.name == name && cycles.is_none_or(|(ours, other)| ours == other)
    }
}

/// The state of a file during writing.
pub(crate) struct Core {
    pub(crate) sink: Sink,
    pub(crate) pool: Pool,
    pub(crate) encoder: Encoder,
    in_flight: VecDeque<(Parts, Basket)>,
    in_flight_bytes: u64,
    pub(crate) compression: Compression,
    /// The version of ROOT in the file's header: an update keeps it, since the file's content is read by its rules.
    pub(crate) root_version: u32,
    pub(crate) datime: u32,
    pub(crate) uuid: [u8; 16],
    pub(crate) directories: Vec<Directory>,
    pub(crate) space: Space,
    /// Whether an existing file is updated, so that its free bytes are used.
    pub(crate) updating: bool,
    /// Records of ntuples that are being written, with the number of each: no anchor leads to them yet.
    pub(crate) pending_blobs: Vec<(usize, Span)>,
    /// Checks the file's list of free bytes against the live records; nothing to check in a new file.
    pub(crate) check_gaps: fn(&mut Core) -> Result<()>,
    /// The first bytes of a file that is updated, as this writer knows them.
    pub(crate) head: Vec<u8>,
    pub(crate) described: Described,
    /// The records of streamer info and free segments, as committed last.
    pub(crate) info: Span,
    pub(crate) free_list: Span,
    /// Baskets of each tree's branches.
    pub(crate) tables: Vec<Vec<Table>>,
    /// Trees that were begun and are not finished.
    pub(crate) open_trees: Vec<OpenTree>,
    pub(crate) state: State,
    /// The first failure: later callers, perhaps on other threads, get it.
    failure: Option<Error>,
}

impl Core {
    /// The core of a file whose records go to this sink; the file's own directory is the first of the directories.
    pub(crate) fn new(sink: Sink, root: Directory, compression: Compression, datime: u32, threads: usize) -> Self {
        Self {
            sink,
            pool: Pool::new(threads),
            encoder: Encoder::new(),
            in_flight: VecDeque::new(),
            in_flight_bytes: 0,
            compression,
            root_version: ROOT_VERSION,
            datime,
            uuid: root.uuid,
            directories: vec![root],
            space: Space::default(),
            updating: false,
            check_gaps: |_| Ok(()),
            pending_blobs: Vec::new(),
            head: Vec::new(),
            described: Described::default(),
            info: Span::default(),
            free_list: Span::default(),
            tables: Vec::new(),
            open_trees: Vec::new(),
            state: State::Open,
            failure: None,
        }
    }

    /// Whether records can be appended.
    pub(crate) fn check(&self) -> Result<()> {
        match self.state {
            State::Open => Ok(()),
            State::Finished => Err(self.named(Error::invalid("the file is already finished"))),
            State::GivenUp => Err(self.named(Error::invalid("the file was abandoned").with_remedy("write it again"))),
            State::Failed => Err(self.named(match &self.failure {
                Some(e) => e.clone().worded(format!("writing has already failed: {}", e.what())),
                // after a panic
                None => Error::invalid("writing has already failed").with_remedy("write the file again"),
            })),
        }
    }

    /// Abandons the file; incomplete parts of it are discarded.
    pub(crate) fn give_up(&mut self) {
        if self.state != State::Finished {
            self.state = State::GivenUp;
            self.sink.give_up();
        }
    }

    /// Whether a tree of this name and cycle (none: any) is being written.
    pub(crate) fn writes_tree(&self, directory: DirectoryId, name: &str, cycle: Option<u16>) -> bool {
        self.open_trees.iter().any(|t| t.may_be(directory, name, cycle))
    }

    /// Refuses the name of a directory: its content could no longer be found.
    pub(crate) fn no_directory(&self, within: DirectoryId, name: &str) -> Result<()> {
        let mut keys = self.directory(within)?.keys.iter().filter(|k| k.name == name);
        if keys.any(|k| matches!(&*k.class, crate::directory::CLASS | "TDirectoryFile")) {
            return Err(Error::invalid(format!("{name} is already a directory")).with_remedy("use another name"));
        }
        Ok(())
    }

    /// Writes; after a failure the file accepts no more.
    pub(crate) fn attempt<T>(&mut self, write: impl FnOnce(&mut Core) -> Result<T>) -> Result<T> {
        self.check()?;
        self.state = State::Failed;
        let done = write(self);
        match &done {
            Ok(_) => self.state = State::Open,
            Err(e) => self.failure = Some(e.clone()),
        }
        done
    }

    /// The error with the file's name.
    pub(crate) fn named(&self, error: Error) -> Error {
        error.in_file(text_of_path(self.sink.path()))
    }

    pub(crate) fn directory(&self, id: DirectoryId) -> Result<&Directory> {
        self.directories.get(id.0).ok_or_else(|| Error::invalid("this directory belongs to another file"))
    }

    pub(crate) fn directory_mut(&mut self, id: DirectoryId) -> Result<&mut Directory> {
        self.directories.get_mut(id.0).ok_or_else(|| Error::invalid("this directory belongs to another file"))
    }

    /// This many free bytes, if there is a gap for them. The file's list is checked against the live records before the
    /// first of its gaps is written into.
    pub(crate) fn take_gap(&mut self, len: u64) -> Result<Option<u64>> {
        if self.space.take_unchecked() {
            (self.check_gaps)(self)?;
        }
        Ok(self.space.take(len))
    }

    /// Writes a record, completing its key with the position: into a gap that fits, if `reuse`, or at the end.
    pub(crate) fn write_record(&mut self, key: &mut Key, extra: &[u8], payload: &[&[u8]], reuse: bool) -> Result<Span> {
        key.stored = payload.iter().map(|part| part.len()).sum();
        let len = (key.len() + extra.len() + key.stored) as u64;
        let gap = if reuse { self.take_gap(len)? } else { None };
        self.write_record_at(key, extra, payload, gap)
    }

    /// The same into a gap already taken for it, or at the end.
    pub(crate) fn write_record_at(
        &mut self,
        key: &mut Key,
        extra: &[u8],
        payload: &[&[u8]],
        gap: Option<u64>,
    ) -> Result<Span> {
        key.stored = payload.iter().map(|part| part.len()).sum();
        let len = (key.len() + extra.len() + key.stored) as u64;
        key.seek = gap.unwrap_or(self.sink.position());
        let mut head = Vec::with_capacity(key.len() + extra.len());
        key.write(&mut head, extra.len());
        head.extend_from_slice(extra);
        match gap {
            None => {
                let mut parts: Vec<&[u8]> = Vec::with_capacity(1 + payload.len());
                parts.push(&head);
                parts.extend_from_slice(payload);
                self.sink.append(&parts)
            }
            Some(at) => {
                payload.iter().for_each(|part| head.extend_from_slice(part));
                self.sink.write_at(at, &head)?;
                Ok(Span::new(at, len))
            }
        }
    }

    /// A key for a new record in this directory.
    pub(crate) fn new_key(&self, directory: DirectoryId, class: &str, name: &str, title: &str) -> Result<Key> {
        let within = self.directory(directory)?;
        Ok(Key {
            class: class.to_owned(),
            name: name.to_owned(),
            title: title.to_owned(),
            cycle: within.next_cycle(name),
            datime: self.datime,
            seek: self.sink.position(),
            parent: within.seek,
            stored: 0,
            size: 0,
            big: self.sink.position() > BIG,
            label_len: None,
        })
    }

    /// Appends an object and adds it to its directory; `payload` gets the length of the key.
    pub(crate) fn append_object(
        &mut self,
        mut key: Key,
        directory: DirectoryId,
        compression: Compression,
        payload: impl FnOnce(usize) -> Result<Vec<u8>>,
    ) -> Result<Key> {
        self.drain()?;
        key.big = self.sink.position() > BIG;
        let payload = payload(key.len())?;
        key.size = payload.len();
        let mut packed = Vec::new();
        let stored = match self.encoder.compress(&payload, compression, &mut packed) {
            true => &packed,
            false => &payload,
        };
        self.write_record(&mut key, &[], &[stored], true)?;
        let within = self.directory_mut(directory)?;
        within.enter(key.clone());
        within.dirty = true;
        Ok(key)
    }

    /// Submits a basket, to be written after earlier ones as soon as it is compressed.
    pub(crate) fn submit(&mut self, basket: Basket, parts: Parts) -> Result<()> {
        self.in_flight_bytes += parts.size as u64;
        self.in_flight.push_back((parts, basket));
        while let Some((parts, _)) = self.in_flight.front() {
            if self.in_flight_bytes > IN_FLIGHT {
                parts.wait(&mut self.pool);
            } else if parts.stored_len().is_none() {
                break;
            }
            self.write_front()?;
        }
        Ok(())
    }

    /// Writes all pending baskets.
    pub(crate) fn drain(&mut self) -> Result<()> {
        while let Some((parts, _)) = self.in_flight.front() {
            parts.wait(&mut self.pool);
            self.write_front()?;
        }
        Ok(())
    }

    /// Writes the oldest basket, whose parts are done.
    fn write_front(&mut self) -> Result<()> {
        let Some((parts, basket)) = self.in_flight.pop_front() else { return Ok(()) };
        let packed = parts.take()?;
        let first_entry = self.table(&basket).map_or(0, |t| t.entries);
        let mut key = Key {
            class: "TBasket".to_owned(),
            name: basket.name.to_string(),
            title: basket.title.to_string(),
            cycle: 0,
            datime: self.datime,
            seek: 0,
            parent: basket.parent,
            stored: 0,
            size: parts.size,
            big: true,
            label_len: None,
        };
        let mut extra = Vec::with_capacity(BASKET_EXTRA + 1);
        extra.extend_from_slice(&3_u16.to_be_bytes());
        extra.extend_from_slice(&basket.buffer.to_be_bytes());
        // a negative sign means that a byte of feature bits follows
        match basket.features {
            0 => extra.extend_from_slice(&basket.entry_size.to_be_bytes()),
            bits => {
                extra.extend_from_slice(&basket.entry_size.wrapping_neg().to_be_bytes());
                extra.push(bits);
            }
        }
        for n in [basket.entries as u32, basket.end_of_data] {
            extra.extend_from_slice(&n.to_be_bytes());
        }
        extra.push(if basket.left_out { OFFSETS_LEFT_OUT } else { 0 });
        let reuse = self.updating;
        let packed: Vec<&[u8]> = packed.iter().map(Vec::as_slice).collect();
        let span = self.write_record(&mut key, &extra, &packed, reuse)?;
        let whole = (key.len() + extra.len() + parts.size) as u64;
        if let Some(table) = self.table(&basket) {
            table.baskets.push(Written { span, first_entry });
            table.entries += basket.entries;
            table.total_bytes += whole;
            table.zip_bytes += span.len;
        }
        self.in_flight_bytes -= parts.size as u64;
        Ok(())
    }

    fn table(&mut self, basket: &Basket) -> Option<&mut Table> {
        self.tables.get_mut(basket.tree)?.get_mut(basket.branch)
    }

    /// Whether the compressed bytes of a tree exceed `limit`: exact, but without waiting for a basket whose compressed
    /// size cannot change the answer.
    pub(crate) fn exceeds(&mut self, tree: usize, limit: u64) -> Result<bool> {
        loop {
            let written: u64 = self.tables.get(tree).map_or(0, |t| t.iter().map(|b| b.zip_bytes).sum());
            let (mut least, mut most) = (written, written);
            let mut unknown = None;
            for (i, (parts, basket)) in self.in_flight.iter().enumerate().filter(|(_, (_, b))| b.tree == tree) {
                let key = Basket::key_len(&basket.name, &basket.title, basket.features) as u64;
                let stored = parts.stored_len();
                least += key + stored.unwrap_or(0);
                most += key + stored.unwrap_or(parts.size as u64);
                if stored.is_none() && unknown.is_none() {
                    unknown = Some(i);
                }
            }
            if least > limit {
                return Ok(true);
            }
            match unknown.and_then(|i| self.in_flight.get(i)) {
                Some((parts, _)) if most > limit => parts.wait(&mut self.pool),
                _ => return Ok(false),
            }
        }
    }
}
