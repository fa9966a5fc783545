//! Existing files: what is read of one before more is written into it.

use crate::classes::Described;
use crate::core::Core;
use crate::directory::DirectoryId;
use crate::existing_file::ExistingFile;
use crate::existing_records::{RECOVER, directory, is_record, object, read_keys};
use crate::file::{FileOptions, FileWriter};
use crate::key;
use crate::sink::{MARK, Sink, failed};
use crate::space::{LEAST, Space};
use crate::storage::Storage;
use crate::used_bytes;
use sapwood_codec::Compression;
use sapwood_edit::stamp;
use sapwood_format::{Header, Streamers, parse_free_list};
use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::path::Path;
use std::time::SystemTime;

/// Bytes read at once after a file's end.
const CHUNK: u64 = 1 << 20;

/// Bytes that contain a file's header and the record of its directory, unless its names are very long.
const HEAD: u64 = 1 << 16;

impl FileWriter {
    /// Opens a file to write more into it. Until [`FileWriter::finish`] or [`FileWriter::commit`] it does not change
    /// for readers, whatever happens.
    ///
    /// # Errors
    /// `NotFound` when it does not exist; `Corrupt` when it is not a complete ROOT file.
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
    /// `Corrupt` when it is not a complete ROOT file.
    pub fn update_on(storage: Box<dyn Storage>, len: u64, path: &Path, threads: usize) -> Result<Self> {
        let sink = Sink::new(storage, path, len);
        read(sink, len, threads).map(Self::of).map_err(|e| e.in_file(text_of_path(path)))
    }

    /// Opens a file to write more into it, or creates it if it does not exist.
    ///
    /// # Errors
    /// As [`FileWriter::update`] and [`FileWriter::create_with`].
    pub fn update_or_create(path: impl AsRef<Path>, options: FileOptions) -> Result<Self> {
        if path.as_ref().exists() { Self::update(path) } else { Self::create_with(path, options) }
    }
}

/// Reads the current state of a file to be updated.
fn read(mut sink: Sink, len: u64, threads: usize) -> Result<Core> {
    let head = sink.read(Span::new(0, len.min(HEAD)))?;
    let header = Header::parse(&head)?;
    if header.begin != key::FIRST_RECORD {
        return Err(Error::unsupported(format!("updating a file whose first record is at byte {}", header.begin))
            .with_remedy("copy it with ROOT 4 or newer first"));
    }
    if header.end > len || header.end < header.begin {
        return Err(Error::corrupt(format!(
            "the file was truncated: it has {len} bytes, its header says {}",
            header.end
        ))
        .with_remedy("copy it again from its origin, or save what is left to a new file: `sapwood recover IN OUT`"));
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
    core.check_gaps = used_bytes::check_gaps;
    core.root_version = header.version;
    core.sink.begin_marked();
    let seen = header.begin as usize + core.directory(DirectoryId(0))?.record_len();
    core.head = head.get(..seen.min(head.len())).unwrap_or_default().to_vec();
    core.space = Space::new(free_segments(&mut core, &header)?);
    if len - header.end >= LEAST {
        // nothing is cut off: bytes after the end are used once the header marks them as free
        core.space.free(Span::new(header.end, len - header.end));
    }
    core.described = described(&mut core, header.info)?;
    core.info = record_at(&mut core, header.info)?;
    core.free_list = record_at(&mut core, header.free)?;
    read_keys(&mut core, DirectoryId(0))?;
    Ok(core)
}

/// Whether the bytes after the end that a header names are free: zeros, as file systems leave them, an uncommitted
/// update, or bytes marked as free.
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

/// The span, if a record with a matching label is there; otherwise empty, so that it is not freed.
fn record_at(core: &mut Core, span: Span) -> Result<Span> {
    Ok(if is_record(core, span)? { span } else { Span::default() })
}

/// The gaps in a file's list of free segments, without the one after its end.
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
