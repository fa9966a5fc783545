//! Files that are there: what is read of one before more is written into it.

use crate::classes::Described;
use crate::core::Core;
use crate::directory::{CLASS, Directory, DirectoryId};
use crate::existing_file::ExistingFile;
use crate::file::{FileOptions, FileWriter};
use crate::key::{self, Key};
use crate::sink::{MARK, Sink, failed};
use crate::space::{LEAST, Space};
use crate::storage::Storage;
use sapwood_codec::{Compression, Decoder};
use sapwood_edit::stamp;
use sapwood_format::cursor::Cursor;
use sapwood_format::{Header, Streamers, inflate_header, keys_behind, parse_free_list, parse_key_list};
use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::path::Path;
use std::time::SystemTime;

/// What to do with a file that is not whole.
const RECOVER: &str =
    "close it in the program that writes it, or save its content to a new file: `sapwood recover IN OUT`";

/// Bytes that are read at once behind a file's end.
const CHUNK: u64 = 1 << 20;

/// Bytes that hold a file's header and the record of its directory, unless its names are very long.
const HEAD: u64 = 1 << 16;

impl FileWriter {
    /// Opens a file to write more into it. Until [`FileWriter::finish`] or [`FileWriter::commit`] it stays what it was
    /// for everybody else, whatever happens.
    ///
    /// # Errors
    /// `NotFound` when it is not there; `Corrupt` when it is no whole ROOT file.
    pub fn update(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = || text_of_path(path);
        let storage = ExistingFile::open(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::new(ErrorKind::NotFound, "no such file")
                .with_remedy("an update needs an existing file; create a new one instead")
                .in_file(name()),
            _ => failed(path, 0, e),
        })?;
        let len = storage.len();
        Self::update_on(Box::new(storage), len, path, 0)
    }

    /// The same on any storage, which has `len` bytes.
    ///
    /// # Errors
    /// `Corrupt` when it is no whole ROOT file.
    pub fn update_on(storage: Box<dyn Storage>, len: u64, path: &Path, threads: usize) -> Result<Self> {
        let sink = Sink::new(storage, path, len);
        read(sink, len, threads).map(Self::of).map_err(|e| e.in_file(text_of_path(path)))
    }

    /// Opens a file to write more into it, or begins it where there is none.
    ///
    /// # Errors
    /// As [`FileWriter::update`] and [`FileWriter::create_with`].
    pub fn update_or_create(path: impl AsRef<Path>, options: FileOptions) -> Result<Self> {
        if path.as_ref().exists() { Self::update(path) } else { Self::create_with(path, options) }
    }
}

/// What a file that is written into is like before.
fn read(mut sink: Sink, len: u64, threads: usize) -> Result<Core> {
    let head = sink.read(Span::new(0, len.min(HEAD)))?;
    let header = Header::parse(&head)?;
    if header.begin != key::FIRST_RECORD {
        return Err(Error::unsupported(format!("updating a file whose first record is at byte {}", header.begin))
            .with_remedy("copy it with ROOT 4 or newer first"));
    }
    if header.end > len || header.end < header.begin {
        return Err(Error::corrupt(format!(
            "the header says that the file ends at byte {}, but it has {len}: it was truncated",
            header.end
        ))
        .with_remedy(RECOVER));
    }
    if header.end < len && !is_free(&mut sink, header.end, len)? {
        return Err(Error::corrupt(format!(
            "the header says that the file ends at byte {}, but records follow up to byte {len}: it was not closed, or \
             another program is writing it",
            header.end
        ))
        .with_remedy(RECOVER));
    }
    if header.free.start == 0 {
        return Err(Error::corrupt("the file was never closed: it has no list of free segments").with_remedy(RECOVER));
    }
    let datime = stamp::datime(SystemTime::now());
    let record = sink.read(Span::new(header.begin, (len - header.begin).min(HEAD)))?;
    let root = directory(&record, Some(u64::from(header.nbytes_name)), header.begin, None)?;
    let compression = Compression::from_settings(header.compression).unwrap_or_default();
    let mut core = Core::new(sink, root, compression, datime, threads);
    core.updating = true;
    core.root_version = header.version;
    core.sink.begin_marked();
    let seen = header.begin as usize + core.directory(DirectoryId(0))?.record_len();
    core.head = head.get(..seen.min(head.len())).unwrap_or_default().to_vec();
    core.space = Space::new(free_segments(&mut core, &header)?);
    if len - header.end >= LEAST {
        // nothing is cut off: what lies behind the end is used once the header tells that it is free
        core.space.free(Span::new(header.end, len - header.end));
    }
    core.described = described(&mut core, header.info)?;
    core.info = record_at(&mut core, header.info)?;
    core.free_list = record_at(&mut core, header.free)?;
    read_keys(&mut core, DirectoryId(0))?;
    Ok(core)
}

/// Whether what lies behind the end that a header names is nobody's: zeros, as file systems leave them behind, what an
/// update did not commit, or bytes that say of themselves that they are free.
fn is_free(sink: &mut Sink, end: u64, len: u64) -> Result<bool> {
    let mut at = end;
    while at < len {
        let bytes = sink.read(Span::new(at, (len - at).min(CHUNK)))?;
        if let Some(i) = bytes.iter().position(|&b| b != 0) {
            at += i as u64;
            let begin = sink.read(Span::new(at, (len - at).min(MARK.len() as u64)))?;
            let says = begin.first_chunk().map_or(0, |b| i32::from_be_bytes(*b));
            let to_the_end = says < 0 && at + u64::from(says.unsigned_abs()) >= len;
            // the mark may have been truncated itself
            return Ok(MARK.starts_with(&begin) || to_the_end);
        }
        at += bytes.len() as u64;
    }
    Ok(true)
}

/// The span, if a record lies there whose label says so; else nothing, so that nobody frees it.
fn record_at(core: &mut Core, span: Span) -> Result<Span> {
    Ok(if is_record(core, span)? { span } else { Span::default() })
}

/// Whether a record lies there of which the label tells the same position and length.
///
/// # Errors
/// What the disk says.
pub(crate) fn is_record(core: &mut Core, span: Span) -> Result<bool> {
    if span.len < key::SHORTEST || span.end() > core.sink.end() {
        return Ok(false);
    }
    let begin = core.sink.read(Span::new(span.start, key::SHORTEST))?;
    let mut c = Cursor::new(&begin, 0);
    let mut says = || -> Result<Span> {
        let len = u64::from(c.u32()?);
        let big = c.u16()? > 1000;
        c.skip(4 + 4 + 2 + 2)?;
        Ok(Span::new(if big { c.u64()? } else { c.u32()?.into() }, len))
    };
    Ok(says().is_ok_and(|told| told == span))
}

/// The gaps that a file's list of free segments names, the one behind its end left out.
fn free_segments(core: &mut Core, header: &Header) -> Result<Vec<Span>> {
    if header.free.len == 0 || header.free.end() > header.end {
        return Ok(Vec::new());
    }
    let record = core.sink.read(header.free)?;
    let mut gaps = parse_free_list(&record).map_err(|e| e.at(header.free))?;
    gaps.retain(|gap| gap.end() <= header.end);
    Ok(gaps)
}

fn described(core: &mut Core, info: Span) -> Result<Described> {
    if info.len == 0 {
        return Ok(Described::default());
    }
    let (key, payload) = object(core, info)?;
    Ok(Described::existing(&Streamers::parse(&payload, key.key_len as usize)?))
}

/// The key and the inflated payload of a tree's header or the class descriptions.
pub(crate) fn object(core: &mut Core, span: Span) -> Result<(sapwood_format::Key, Vec<u8>)> {
    let record = core.sink.read(span)?;
    let key = sapwood_format::Key::read(&mut Cursor::new(&record, 0))?;
    let payload = record.get(key.key_len as usize..).unwrap_or_default();
    let payload = inflate_header(&key, payload, &mut Decoder::new())?;
    Ok((key, payload))
}

/// Reads a directory from its record; `names` bytes of key and names come first, or its label alone.
fn directory(record: &[u8], names: Option<u64>, seek: u64, parent: Option<DirectoryId>) -> Result<Directory> {
    let key = sapwood_format::Key::read(&mut Cursor::new(record, 0))?;
    let names = names.unwrap_or(u64::from(key.key_len));
    let body = record.get(names as usize..).unwrap_or_default();
    let parsed = sapwood_format::Directory::parse(body)?;
    let mut c = Cursor::new(body, 0);
    let big = c.u16()? > 1000;
    let created = c.u32()?;
    let modified = c.u32()?;
    c.skip(8 + if big { 24 } else { 12 } + 2)?;
    let mut uuid = [0; 16];
    uuid.copy_from_slice(c.take(16)?);
    let (name, title) = if parent.is_none() {
        // the file's directory has its name and title once more, behind the key
        let mut c = Cursor::new(record, 0);
        c.seek(key.key_len as usize)?;
        (c.string()?, c.string()?)
    } else {
        (key.name.clone(), key.title.clone())
    };
    let directory = Directory {
        class: key.class.clone(),
        big: Key::from_read(&key).big,
        name,
        title,
        parent,
        seek,
        keys: Vec::new(),
        list: parsed.keys,
        created,
        modified,
        uuid,
        dirty: false,
        committed: true,
    };
    if directory.record_len() as u64 > key.span.len || directory.name_len() as u64 != names {
        return Err(Error::unsupported("a directory whose record has no room for 64-bit positions")
            .with_remedy("copy the file first: it was written by a program other than ROOT"));
    }
    Ok(directory)
}

fn read_keys(core: &mut Core, id: DirectoryId) -> Result<()> {
    let list = core.directory(id)?.list;
    if list.len > 0 {
        let record = core.sink.read(list)?;
        let keys = parse_key_list(&record)?;
        nothing_behind(core, &record, &keys)?;
        core.directory_mut(id)?.keys = keys.iter().map(Key::from_read).collect();
    }
    Ok(())
}

/// Refuses a list of keys that goes on behind as many as it says, where objects are lost when it is written anew. Keys of
/// objects that were deleted do no harm.
fn nothing_behind(core: &mut Core, record: &[u8], keys: &[sapwood_format::Key]) -> Result<()> {
    for key in keys_behind(record) {
        let label = Span::new(key.span.start, key.key_len.into());
        let listed = keys.iter().any(|k| k.span.start == key.span.start);
        let free = core.space.gaps().iter().any(|g| g.start < key.span.end() && key.span.start < g.end());
        if listed || free || key.span.start == 0 || key.span.end() > core.sink.end() {
            continue;
        }
        if core.sink.read(label).is_ok_and(|label| key.is_told_by(&label)) {
            let what = format!(
                "{};{} lies in it, but behind the end of its directory's list of keys: it would be lost",
                key.name, key.cycle
            );
            return Err(Error::corrupt(what).at(key.span).with_remedy(RECOVER));
        }
    }
    Ok(())
}

/// The directory of this name within another, read from the file where it was not yet.
pub(crate) fn subdirectory(core: &mut Core, parent: DirectoryId, name: &str) -> Result<Option<DirectoryId>> {
    let keys = core.directory(parent)?.keys.iter().filter(|k| k.name == name);
    let Some(found) = keys.max_by_key(|k| k.cycle).cloned() else { return Ok(None) };
    if !matches!(&*found.class, CLASS | "TDirectoryFile") {
        return Err(
            Error::invalid(format!("{name} is a {}, not a directory", found.class)).with_remedy("use another name")
        );
    }
    let known = core.directories.iter().enumerate().find(|(_, d)| d.seek == found.seek);
    match known {
        Some((i, d)) if d.parent == Some(parent) => return Ok(Some(DirectoryId(i))),
        // followed, it could lead in a circle
        Some((_, d)) => {
            return Err(Error::corrupt(format!("directory {name} is at the position of directory {}", d.name))
                .at(found.span())
                .with_remedy("copy what is in it to another file"));
        }
        None => {}
    }
    let record = core.sink.read(found.span())?;
    let directory = directory(&record, None, found.seek, Some(parent))?;
    let id = DirectoryId(core.directories.len());
    core.directories.push(directory);
    read_keys(core, id)?;
    Ok(Some(id))
}
