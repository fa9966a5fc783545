use crate::commit;
use crate::core::{Core, Shared, State};
use crate::directory::{Directory, DirectoryId};
use crate::key::{BIG, FIRST_RECORD, Key};
use crate::schema::{BranchSpec, BranchType, check_name, check_title};
use crate::sink::{Sink, failed};
use crate::storage::{NewFile, Storage};
use crate::target::Placement;
use crate::tree::{TreeOptions, TreeWriter};
use sapwood_codec::Compression;
use sapwood_edit::stamp;
use sapwood_format::cursor::Cursor;
use sapwood_format::{ClassInfo, Streamers};
use sapwood_span::raw_text::{text_of_os, text_of_path};
use sapwood_span::{Error, Result, Span, printable, setters};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Options of a new file.
///
/// ```no_run
/// use sapwood_write::FileOptions;
///
/// # fn main() -> sapwood_span::Result<()> {
/// let file = FileOptions::new().compression("zstd:5".parse::<sapwood_codec::Compression>()?).replace(false).create("events.root")?;
/// # file.finish() }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileOptions {
    /// Compression of the headers, and of trees without their own setting.
    pub compression: Compression,
    /// The file's title.
    pub title: String,
    /// The creation time in the file; now when `None`. With `uuid` it makes equal files equal byte for byte.
    pub created: Option<SystemTime>,
    /// The file's unique id; a random one when `None`.
    pub uuid: Option<[u8; 16]>,
    /// Threads that compress; 0 for all cores.
    pub threads: usize,
    /// Whether a file of this name may be replaced.
    pub replace: bool,
    /// Whether finishing waits until the file and its name are durable. Without it, a power failure soon after may
    /// leave an empty file; and network file systems that write late may lose it silently.
    pub sync: bool,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            compression: Compression::default(),
            title: String::new(),
            created: None,
            uuid: None,
            threads: 0,
            replace: true,
            sync: true,
        }
    }
}

setters!(FileOptions { compression: Compression, threads: usize, replace: bool, sync: bool } into { title: String, created: Option<SystemTime>, uuid: Option<[u8; 16]> });

impl FileOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a file with these options.
    ///
    /// # Errors
    /// As [`FileWriter::create_with`].
    pub fn create(self, path: impl AsRef<Path>) -> Result<FileWriter> {
        FileWriter::create_with(path, self)
    }
}

/// Writes a ROOT file: a new one, or more into an existing one.
///
/// A new file's bytes are written to a temporary file next to the final one (its name followed by the process ID and
/// `.part`), which is renamed in [`FileWriter::finish`]: there is never half a file under the final name. If dropped
/// without finishing, nothing remains. When the process is killed the temporary file remains, and is a complete ROOT
/// file as of the last autosave. An updated file does not change until `finish` or [`FileWriter::commit`].
pub struct FileWriter {
    core: Shared,
}

impl FileWriter {
    /// Creates a file with this path, replacing an existing one when it is finished.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn create(path: impl AsRef<Path>, compression: Compression) -> Result<Self> {
        Self::create_with(path, FileOptions { compression, ..FileOptions::default() })
    }

    /// The same with all options.
    ///
    /// # Errors
    /// Errors of the operating system; `Invalid` when the file exists and may not be replaced.
    pub fn create_with(path: impl AsRef<Path>, options: FileOptions) -> Result<Self> {
        let path = path.as_ref();
        if path.file_name().is_none() || path.is_dir() {
            let what = format!("\"{}\" is not the name of a file", printable(&text_of_path(path)));
            return Err(Error::invalid(what).with_remedy("specify the name of a file"));
        }
        let storage = NewFile::begin(path, Placement { replace: options.replace, sync: options.sync })
            .map_err(|e| failed(path, 0, e))?;
        Self::create_on(Box::new(storage), path, options)
    }

    /// The same on any storage; the path is for names and messages.
    ///
    /// # Errors
    /// Errors of the storage.
    pub fn create_on(storage: Box<dyn Storage>, path: &Path, options: FileOptions) -> Result<Self> {
        check_title(&options.title)?;
        let name = path.file_name().map(text_of_os).unwrap_or_default();
        let datime = stamp::datime(options.created.unwrap_or_else(SystemTime::now));
        let root = Directory {
            class: "TFile".to_owned(),
            name,
            title: options.title,
            parent: None,
            seek: FIRST_RECORD,
            big: false,
            keys: Vec::new(),
            list: Span::default(),
            created: datime,
            modified: datime,
            uuid: options.uuid.unwrap_or_else(stamp::uuid),
            dirty: true,
            committed: true,
        };
        let sink = Sink::new(storage, path, 0);
        let mut core = Core::new(sink, root, options.compression, datime, options.threads);
        commit::begin(&mut core)?;
        Ok(Self::of(core))
    }

    pub(crate) fn of(core: Core) -> Self {
        Self { core: Shared(Arc::new(Mutex::new(core))) }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.core
    }

    /// The file's own directory.
    pub fn root(&self) -> DirectoryId {
        DirectoryId(0)
    }

    /// Where the next record will begin, unless it fits into a gap.
    ///
    /// # Errors
    /// Errors of writing pending baskets.
    pub fn position(&mut self) -> Result<u64> {
        let mut core = self.core.lock();
        core.attempt(Core::drain)?;
        Ok(core.sink.position())
    }

    /// Starts a tree in the file's own directory. Several may be written at the same time; each must be finished before
    /// the file.
    ///
    /// # Errors
    /// `Invalid` for an invalid name or invalid branches.
    pub fn tree(
        &mut self,
        name: &str,
        title: &str,
        branches: &[BranchSpec],
        options: TreeOptions,
    ) -> Result<TreeWriter> {
        self.tree_in(DirectoryId(0), name, title, branches, options)
    }

    /// The same in any directory.
    ///
    /// # Errors
    /// `Invalid` for an invalid name or invalid branches.
    pub fn tree_in(
        &mut self,
        directory: DirectoryId,
        name: &str,
        title: &str,
        branches: &[BranchSpec],
        options: TreeOptions,
    ) -> Result<TreeWriter> {
        let mut core = self.core.lock();
        core.check()?;
        check_name("tree", name).and_then(|()| core.no_directory(directory, name)).map_err(|e| core.named(e))?;
        check_title(title).map_err(|e| core.named(e))?;
        if core.writes_tree(directory, name, None) {
            return Err(core.named(
                Error::invalid(format!("tree {name} is already being written")).with_remedy("use another name"),
            ));
        }
        let mut seen = HashMap::new();
        for spec in branches {
            if let BranchType::Object(ty) = &spec.ty {
                let checked = ty.check_classes(&core.described, &mut seen);
                checked.map_err(|e| core.named(e.in_branch(&spec.name)))?;
            }
        }
        let tree = TreeWriter::begin(&self.core, &mut core, directory, name, title, branches, options);
        tree.map_err(|e| core.named(e))
    }

    /// Appends a whole record unchanged, key and payload: only the key's own position and its directory's are updated.
    /// The key's length stays, so that offsets in baskets remain valid. It is not added to a directory.
    ///
    /// # Errors
    /// `Corrupt` when it is not a record; `Unsupported` when its key has 32-bit positions and the file is beyond 2 GB.
    pub fn append_record(&mut self, record: &mut [u8]) -> Result<Span> {
        self.core.lock().attempt(|core| {
            core.drain()?;
            append_record(core, DirectoryId(0), 0, record)
        })
    }

    /// Appends an object's whole record unchanged, and adds it to a directory with the next cycle of its name.
    ///
    /// # Errors
    /// As [`FileWriter::append_record`].
    pub fn copy_object(&mut self, directory: DirectoryId, record: &mut [u8]) -> Result<Span> {
        self.core.lock().attempt(|core| {
            core.drain()?;
            let mut key = Key::from_read(&sapwood_format::Key::read(&mut Cursor::new(record, 0))?);
            let within = core.directory(directory)?;
            (key.cycle, key.parent) = (within.next_cycle(&key.name), within.seek);
            let span = append_record(core, directory, key.cycle, record)?;
            key.seek = span.start;
            let within = core.directory_mut(directory)?;
            within.enter(key);
            within.dirty = true;
            Ok(span)
        })
    }

    /// Writes an object into a directory, with the next cycle of its name.
    ///
    /// `payload` creates its bytes from the length of its key, from whose beginning references count; they are
    /// compressed with the file's setting, or the given one.
    ///
    /// # Errors
    /// Those of `payload` and of the disk.
    pub fn append_object(
        &mut self,
        directory: DirectoryId,
        class: &str,
        name: &str,
        title: &str,
        compression: Option<Compression>,
        payload: impl FnOnce(usize) -> Result<Vec<u8>>,
    ) -> Result<Span> {
        let mut core = self.core.lock();
        core.check()?;
        check_name("object", name).and_then(|()| core.no_directory(directory, name)).map_err(|e| core.named(e))?;
        check_title(title).map_err(|e| core.named(e))?;
        let key = core.new_key(directory, class, name, title)?;
        let compression = compression.unwrap_or(core.compression);
        core.attempt(|core| core.append_object(key, directory, compression, payload)).map(|key| key.span())
    }

    /// Adds a class description to the file.
    pub fn describe(&mut self, class: &ClassInfo) {
        self.core.lock().described.add(class);
    }

    /// Adds all class descriptions of another file, and keeps its rules for reading old data.
    pub fn describe_all(&mut self, streamers: &Streamers) {
        self.core.lock().described.add_all(streamers);
    }

    /// Describes one of ROOT's own classes and all classes that it uses, if known to this crate: trees, histograms,
    /// graphs and their parts.
    pub fn describe_own(&mut self, class: &str) {
        self.core.lock().described.add_own(class);
    }

    /// The directory of this path, created where it does not exist; `""` is the file's own.
    ///
    /// # Errors
    /// `Invalid` when an object has the name of a directory.
    pub fn mkdir(&mut self, path: &str) -> Result<DirectoryId> {
        let mut core = self.core.lock();
        core.check()?;
        let names = || path.split('/').filter(|n| !n.is_empty());
        names().try_for_each(|name| check_name("directory", name)).map_err(|e| core.named(e))?;
        let mut at = DirectoryId(0);
        for name in names() {
            if core.writes_tree(at, name, None) {
                let what = format!("{name} is a tree that is being written, not a directory");
                return Err(core.named(Error::invalid(what).with_remedy("use another name")));
            }
            let there = crate::existing_records::subdirectory(&mut core, at, name).map_err(|e| core.named(e))?;
            at = match there {
                Some(there) => there,
                None => core.attempt(|core| commit::mkdir(core, at, name))?,
            };
        }
        Ok(at)
    }

    /// Leaves `bytes` unwritten, like a deleted record: at least 8, less than 2 GB.
    ///
    /// For tests of large files without writing them out.
    #[doc(hidden)]
    pub fn leave_gap(&mut self, bytes: u32) -> Result<()> {
        let size = i32::try_from(bytes).ok().filter(|&n| n >= 8);
        let size = size.ok_or_else(|| Error::invalid(format!("a gap cannot have {bytes} bytes")))?;
        self.core.lock().attempt(|core| {
            core.drain()?;
            let gap = Span::new(core.sink.position(), u64::from(bytes));
            core.sink.append(&[&(-size).to_be_bytes()])?;
            core.sink.skip(gap.len - 4)?;
            core.space.free(gap);
            Ok(())
        })
    }

    /// Makes everything finished so far visible to readers of the file, as [`FileWriter::finish`] does, and continues.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn commit(&mut self) -> Result<()> {
        self.core.lock().attempt(commit::write)
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// `Invalid`, and no file, when a tree was started and not finished; errors of the disk.
    pub fn finish(self) -> Result<()> {
        let mut core = self.core.lock();
        core.check()?;
        if let Some(open) = core.open_trees.first() {
            return Err(core.named(
                Error::invalid(format!("{} is not finished", open.name))
                    .with_remedy("finish each tree and ntuple before the file"),
            ));
        }
        core.attempt(|core| {
            commit::write(core)?;
            core.sink.complete()
        })?;
        core.state = State::Finished;
        Ok(())
    }
}

/// The positions of an old key and its directory, and the cycle, are overwritten; the rest stays.
pub(crate) fn append_record(core: &mut Core, directory: DirectoryId, cycle: u16, record: &mut [u8]) -> Result<Span> {
    let key = sapwood_format::Key::read(&mut Cursor::new(record, 0))?;
    if key.span.len != record.len() as u64 {
        let what = format!("a record of {} bytes states a size of {}", record.len(), key.span.len);
        return Err(core.named(Error::corrupt(what)));
    }
    let gap = if core.updating { core.take_gap(key.span.len)? } else { None };
    let seek = gap.unwrap_or(core.sink.position());
    let parent = core.directory(directory)?.seek;
    let big = record.get(4..6).is_some_and(|v| u16::from_be_bytes([v[0], v[1]]) > 1000);
    let mut positions = Vec::with_capacity(18);
    positions.extend_from_slice(&cycle.to_be_bytes());
    if !big && seek.max(parent) > BIG {
        return Err(core.named(
            Error::unsupported(format!("the record of {} {} has 32-bit positions", key.class, key.name))
                .with_remedy("write it again: it cannot be copied beyond 2 GB"),
        ));
    }
    for n in [seek, parent] {
        crate::key::put_position(&mut positions, n, big);
    }
    // nbytes, version, size, date, key length; then the cycle and the positions
    if let Some(place) = record.get_mut(16..16 + positions.len()) {
        place.copy_from_slice(&positions);
    }
    match gap {
        Some(at) => core.sink.write_at(at, record).map(|()| Span::new(at, record.len() as u64)),
        None => core.sink.append(&[record]),
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        // trees that are still held must not keep the file open, or its lock
        self.core.lock().give_up();
    }
}

impl std::fmt::Debug for FileWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileWriter").field("path", &self.core.lock().sink.path()).finish_non_exhaustive()
    }
}
