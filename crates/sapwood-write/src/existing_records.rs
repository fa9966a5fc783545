//! Records of an existing file: objects and directories, read when they are needed.

use crate::core::Core;
use crate::directory::{CLASS, Directory, DirectoryId};
use crate::key::{self, Key};
use sapwood_codec::Decoder;
use sapwood_format::cursor::Cursor;
use sapwood_format::{inflate_header, keys_behind, parse_key_list};
use sapwood_span::{Error, Result, Span};

/// The remedy for a file that is not complete.
pub(crate) const RECOVER: &str =
    "close it in the program that writes it, or save its content to a new file: `sapwood recover IN OUT`";

/// Whether there is a record whose label has the same position and length.
///
/// # Errors
/// Errors of reading.
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

/// The key and the decompressed payload of a tree's header or the class descriptions.
pub(crate) fn object(core: &mut Core, span: Span) -> Result<(sapwood_format::Key, Vec<u8>)> {
    let record = core.sink.read(span)?;
    let key = sapwood_format::Key::read(&mut Cursor::new(&record, 0))?;
    let payload = record.get(key.key_len as usize..).unwrap_or_default();
    let payload = inflate_header(&key, payload, &mut Decoder::new())?;
    Ok((key, payload))
}

/// Reads a directory from its record; `names` bytes of key and names come first, or its label alone.
pub(crate) fn directory(
    record: &[u8],
    names: Option<u64>,
    seek: u64,
    parent: Option<DirectoryId>,
) -> Result<Directory> {
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
        // the file's directory has its name and title again, after the key
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

pub(crate) fn read_keys(core: &mut Core, id: DirectoryId) -> Result<()> {
    let list = core.directory(id)?.list;
    if list.len > 0 {
        let record = core.sink.read(list)?;
        let keys = parse_key_list(&record)?;
        nothing_behind(core, &record, &keys)?;
        core.directory_mut(id)?.keys = keys.iter().map(Key::from_read).collect();
    }
    Ok(())
}

/// Refuses a list of keys that continues after its stated number, because rewriting it would lose objects. Keys of
/// deleted objects do no harm.
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
                "{};{} is in the file, but after the end of its directory's list of keys: it would be lost",
                key.name, key.cycle
            );
            return Err(Error::corrupt(what).at(key.span).with_remedy(RECOVER));
        }
    }
    Ok(())
}

/// The directory of this name within another, read from the file if not done before.
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
        // followed, it could lead to a cycle
        Some((_, d)) => {
            return Err(Error::corrupt(format!("directory {name} is at the position of directory {}", d.name))
                .at(found.span())
                .with_remedy("copy its contents to another file"));
        }
        None => {}
    }
    let record = core.sink.read(found.span())?;
    let directory = directory(&record, None, found.seek, Some(parent))?;
    let id = DirectoryId(core.directories.len());
    core.directories.push(directory);
    if let Err(e) = read_keys(core, id) {
        // it must not be written again without the keys that could not be read
        core.directories.truncate(id.0);
        return Err(e);
    }
    Ok(Some(id))
}
