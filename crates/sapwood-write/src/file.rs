use crate::ending;
use crate::key::{FIRST_RECORD, Key};
use crate::schema::BranchSpec;
use crate::sink::Sink;
use crate::stamp;
use crate::tree::{TreeOptions, TreeWriter};
use sapwood_codec::{Compression, Encoder};
use sapwood_span::{Error, Result, Span};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// What a new file is like.
#[derive(Clone, Debug, Default)]
pub struct FileOptions {
    /// Of the headers, and of trees that do not say otherwise.
    pub compression: Compression,
    /// The file's title.
    pub title: String,
    /// When the file says it was made; now when `None`. With `uuid` it makes equal files equal
    /// byte for byte.
    pub created: Option<SystemTime>,
    /// The file's unique id; a random one when `None`.
    pub uuid: Option<[u8; 16]>,
}

/// Writes a new ROOT file.
///
/// The bytes go to a hidden file beside the final one, which takes its name in
/// [`FileWriter::finish`]: there is never half a file under the final name. Dropped without
/// finishing, nothing stays.
pub struct FileWriter {
    core: Shared,
}

/// What the file and its trees share.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Core>>);

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        // A panic elsewhere leaves the file unfinished, which `state` tells.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far a file has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Records can be appended.
    Open,
    /// A record failed half-way; what follows would lie wrongly.
    Failed,
    /// It is complete under its name.
    Finished,
}

/// The file as it is being written.
pub(crate) struct Core {
    pub(crate) sink: Sink,
    pub(crate) encoder: Encoder,
    /// The last compressed basket, kept for its memory.
    pub(crate) packed: Vec<u8>,
    /// The file's name, without its directory.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) compression: Compression,
    pub(crate) datime: u32,
    pub(crate) uuid: [u8; 16],
    /// The keys of the file's directory.
    pub(crate) keys: Vec<Key>,
    /// What lies free between records.
    pub(crate) gaps: Vec<Span>,
    /// Names of the trees that were begun.
    trees: Vec<String>,
    pub(crate) state: State,
}

impl FileWriter {
    /// Begins a file that will have this path, replacing what is there when it is finished.
    pub fn create(path: impl AsRef<Path>, compression: Compression) -> Result<Self> {
        Self::create_with(path, FileOptions { compression, ..FileOptions::default() })
    }

    /// The same with all that can be said about a file.
    pub fn create_with(path: impl AsRef<Path>, options: FileOptions) -> Result<Self> {
        let path = path.as_ref();
        crate::schema::check_title(&options.title)?;
        let sink = Sink::create(path)?;
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let mut core = Core {
            sink,
            encoder: Encoder::new(),
            packed: Vec::new(),
            name,
            title: options.title,
            compression: options.compression,
            datime: stamp::datime(options.created.unwrap_or_else(SystemTime::now)),
            uuid: options.uuid.unwrap_or_else(stamp::uuid),
            keys: Vec::new(),
            gaps: Vec::new(),
            trees: Vec::new(),
            state: State::Open,
        };
        // Both are written over at the end, when all positions are known.
        core.sink.append(&[0; FIRST_RECORD as usize])?;
        let directory = ending::directory_record(&core, Span::default());
        core.sink.append(&directory)?;
        Ok(Self { core: Shared(Arc::new(Mutex::new(core))) })
    }

    /// Begins a tree. Several may be written at the same time; each must be finished before the file.
    pub fn tree(
        &mut self,
        name: &str,
        title: &str,
        branches: &[BranchSpec],
        options: TreeOptions,
    ) -> Result<TreeWriter> {
        let mut core = self.core.lock();
        core.check()?;
        if core.trees.iter().any(|t| t == name) {
            return Err(core.named(
                Error::invalid(format!("there is a tree {name} in it already")).with_remedy("give it another name"),
            ));
        }
        let default = core.compression;
        let tree =
            TreeWriter::new(self.core.clone(), name, title, branches, options, default).map_err(|e| core.named(e))?;
        core.trees.push(name.to_owned());
        Ok(tree)
    }

    /// Leaves `bytes` unwritten, as a deleted record leaves them: at least 8, less than 2 GB.
    ///
    /// For trying large files without writing them out.
    #[doc(hidden)]
    pub fn leave_gap(&mut self, bytes: u32) -> Result<()> {
        let mut core = self.core.lock();
        core.check()?;
        let size = i32::try_from(bytes).ok().filter(|&n| n >= 8);
        let size = size.ok_or_else(|| Error::invalid(format!("a gap cannot have {bytes} bytes")))?;
        let gap = Span::new(core.sink.position(), u64::from(bytes));
        core.attempt(|core| {
            core.sink.append(&(-size).to_be_bytes())?;
            core.sink.skip(gap.len - 4)
        })?;
        core.gaps.push(gap);
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// An error, and no file, when a tree was begun and not finished.
    pub fn finish(self) -> Result<()> {
        let mut core = self.core.lock();
        core.check()?;
        let open = core.trees.iter().find(|t| !core.keys.iter().any(|k| k.name == **t));
        if let Some(open) = open {
            return Err(core.named(
                Error::invalid(format!("tree {open} is not finished")).with_remedy("finish each tree before the file"),
            ));
        }
        core.attempt(ending::write)?;
        core.state = State::Finished;
        Ok(())
    }
}

impl std::fmt::Debug for FileWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileWriter").field("path", &self.core.lock().sink.target()).finish_non_exhaustive()
    }
}

impl Core {
    /// Whether records can be appended.
    pub(crate) fn check(&self) -> Result<()> {
        match self.state {
            State::Open => Ok(()),
            State::Finished => Err(self.named(Error::invalid("the file is finished already"))),
            State::Failed => {
                Err(self.named(Error::invalid("writing failed before").with_remedy("write the file anew")))
            }
        }
    }

    /// Writes; after a failure the file takes no more.
    pub(crate) fn attempt<T>(&mut self, write: impl FnOnce(&mut Core) -> Result<T>) -> Result<T> {
        self.state = State::Failed;
        let done = write(self)?;
        self.state = State::Open;
        Ok(done)
    }

    /// The error with the file's name.
    pub(crate) fn named(&self, error: Error) -> Error {
        error.in_file(self.sink.target().display().to_string())
    }

    /// Appends a record with its key; `payload` gets the length of the key.
    pub(crate) fn append_record(
        &mut self,
        class: &'static str,
        name: &str,
        title: &str,
        payload: impl FnOnce(usize) -> Result<Vec<u8>>,
    ) -> Result<Key> {
        let mut key = Key {
            class,
            name: name.to_owned(),
            title: title.to_owned(),
            cycle: 1,
            datime: self.datime,
            seek: self.sink.position(),
            parent: FIRST_RECORD,
            stored: 0,
            size: 0,
        };
        let payload = payload(key.len())?;
        key.size = payload.len();
        let mut packed = Vec::new();
        let stored = match self.encoder.compress(&payload, self.compression, &mut packed) {
            true => &packed,
            false => &payload,
        };
        key.stored = stored.len();
        let mut head = Vec::with_capacity(key.len());
        key.write(&mut head);
        self.sink.append(&head)?;
        self.sink.append(stored)?;
        Ok(key)
    }
}
