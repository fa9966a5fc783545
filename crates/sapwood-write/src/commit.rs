//! Completes a file: streamer info, key lists, free segments, and the header that points to them.
//!
//! The order of writes makes a crash harmless. Everything new is placed where the committed state has nothing; then one
//! write replaces the header and the record of the file's directory, which are adjacent in the first bytes. Before that
//! write readers find the old state, after it the new one. Directories below are not changed in place: their records
//! are written again, up to the first one that is not committed yet.

use crate::core::Core;
use crate::directory::DirectoryId;
use crate::key::{self, BIG, FIRST_RECORD, Key};
use crate::streamers;
use sapwood_edit::{FileHead, growth, put_segment, stamp};
use sapwood_span::{Error, ErrorKind, Result, Span};

/// The longest gap that a gap's own length can express (`TFile::MakeFree`).
pub(crate) const LONGEST_GAP: u64 = 2_000_000_000;

/// Makes everything written so far visible to readers.
pub(crate) fn write(core: &mut Core) -> Result<()> {
    core.drain()?;
    if core.updating && !is_changed(core) {
        return Ok(());
    }
    check_unchanged(core)?;
    if core.described.take_changed() {
        core.space.free(core.info);
        core.info = streamer_info(core)?;
    }
    let moved = directories(core)?;
    core.space.free(core.free_list);
    core.free_list = free_segments(core)?;
    core.sink.sync()?;
    let head = head(core)?;
    // when the write or the sync after it fails, the header on disk may be this one or the previous one
    core.sink.committing();
    core.sink.write_at(0, &head)?;
    core.sink.sync()?;
    if core.updating {
        core.head = head;
        core.sink.begin_marked();
    }
    core.space.commit();
    mark_gaps(core)?;
    for (seek, patch) in moved {
        core.sink.write_at(seek, &patch)?;
    }
    core.sink.check()?;
    core.sink.committed();
    Ok(())
}

/// Whether there is anything to commit: a file opened and closed without changes is not written to.
fn is_changed(core: &Core) -> bool {
    core.sink.is_touched() || core.described.is_changed() || core.directories.iter().any(|d| d.dirty)
}

/// Refuses to commit into a file that another program has changed meanwhile, or that no longer has its name.
fn check_unchanged(core: &mut Core) -> Result<()> {
    core.sink.check()?;
    if core.updating && core.sink.read(Span::new(0, core.head.len() as u64))? != core.head {
        return Err(Error::new(ErrorKind::Io, "another program has written to the file: its header has changed")
            .with_remedy("open it again and repeat the update"));
    }
    Ok(())
}

fn streamer_info(core: &mut Core) -> Result<Span> {
    let mut key = core.new_key(DirectoryId(0), "TList", "StreamerInfo", "Doubly linked list")?;
    key.cycle = 1;
    let payload = streamers::record(&core.described, key.len())?;
    key.size = payload.len();
    let mut packed = Vec::new();
    let stored = if core.encoder.compress(&payload, core.compression, &mut packed) { &packed } else { &payload };
    core.write_record(&mut key, &[], &[stored], true)
}

/// Writes the changed directories; returns the records of directories within moved ones, to be updated with the new
/// position.
fn directories(core: &mut Core) -> Result<Vec<(u64, Vec<u8>)>> {
    let mut moved = Vec::new();
    // a directory comes after its parent: from the last on, a record that moves changes its parent's keys
    for i in (1..core.directories.len()).rev() {
        let Some(d) = core.directories.get(i).filter(|d| d.dirty && d.committed) else { continue };
        let (old, cycle) = (Span::new(d.seek, d.record_len() as u64), cycle_of(core, i));
        // beyond 2 GB the record needs a wider label
        let widened = core.sink.position() > BIG && !d.big;
        let len = old.len + if widened { 8 } else { 0 };
        let gap = core.take_gap(len)?;
        let seek = gap.unwrap_or(core.sink.position());
        if gap.is_none() {
            // written finally below
            core.sink.append(&[&vec![0; len as usize]])?;
        }
        core.space.free(old);
        moved.push(i);
        let Some(d) = core.directories.get_mut(i) else { continue };
        d.seek = seek;
        d.big |= widened;
        for k in &mut d.keys {
            k.parent = seek;
            if seek > BIG {
                k.widen();
            }
        }
        let parent = d.parent.unwrap_or(DirectoryId(0));
        let m = core.directory_mut(parent)?;
        m.dirty = true;
        if let Some(key) = m.keys.iter_mut().find(|k| k.seek == old.start && k.cycle == cycle) {
            key.seek = seek;
            if widened {
                key.widen();
                key.label_len = key.label_len.map(|n| n + 8);
            }
        }
    }
    for i in 0..core.directories.len() {
        let Some(d) = core.directories.get(i).filter(|d| d.dirty) else { continue };
        let (payload, old) = (d.key_list()?, d.list);
        let mut key = d.key(if d.is_root() { FIRST_RECORD } else { d.seek });
        (key.size, key.datime, key.big) = (payload.len(), core.datime, core.sink.position() > BIG);
        core.space.free(old);
        let list = core.write_record(&mut key, &[], &[&payload], true)?;
        let (datime, cycle) = (core.datime, cycle_of(core, i));
        let Some(d) = core.directories.get_mut(i) else { continue };
        (d.list, d.dirty, d.committed, d.modified) = (list, false, true, datime);
        if let Some(parent) = d.parent {
            let (seek, d) = (core.directory(parent)?.seek, core.directory(DirectoryId(i))?);
            let (at, record) = (d.seek, d.record(seek, cycle));
            core.sink.write_at(at, &record)?;
        }
    }
    patches(core, &moved)
}

/// Updates in directories for the new position of their parent. Readers do not need it, so it may be written last.
fn patches(core: &Core, moved: &[usize]) -> Result<Vec<(u64, Vec<u8>)>> {
    let mut out = Vec::new();
    for (i, d) in core.directories.iter().enumerate() {
        if let Some(parent) = d.parent.filter(|p| moved.contains(&p.0) && !moved.contains(&i)) {
            out.push((d.seek, d.record(core.directory(parent)?.seek, cycle_of(core, i))));
        }
    }
    Ok(out)
}

/// The cycle of a directory's key in its parent.
fn cycle_of(core: &Core, i: usize) -> u16 {
    let found = core.directories.get(i).and_then(|d| {
        let above = core.directories.get(d.parent?.0)?;
        above.keys.iter().find(|k| k.seek == d.seek).map(|k| k.cycle)
    });
    found.unwrap_or(1)
}

/// The free bytes: the gaps, and from the end of the file to the limit of its growth.
fn free_segments(core: &mut Core) -> Result<Span> {
    let big = core.sink.position() > BIG;
    let Some(root) = core.directories.first() else { return Ok(Span::default()) };
    let mut key = Key { datime: core.datime, big, ..root.key(FIRST_RECORD) };
    if let Some(mark) = core.sink.take_mark() {
        core.space.free(mark);
    }
    // Each segment is a version and its first and last byte. The last one's width follows from where the record ends,
    // and that from the width: at the boundary both are valid.
    let width = |last: u64| if last > BIG { 18 } else { 10 };
    if core.updating {
        // the gap used for the record may be split in two: there is room for one more segment, zero if it is not needed
        let gaps: u64 = core.space.after_commit().iter().map(|g| width(g.end() - 1)).sum();
        let end = core.sink.end();
        key.size = (gaps + 2 * width(end)) as usize;
        if let Some(at) = core.take_gap((key.len() + key.size) as u64)? {
            let mut payload = segments(&core.space.after_commit(), end);
            payload.resize(key.size, 0);
            return core.write_record_at(&mut key, &[], &[&payload], Some(at));
        }
    }
    core.sink.put_mark();
    if let Some(mark) = core.sink.take_mark() {
        core.space.free(mark);
    }
    let gaps = core.space.after_commit();
    let size: u64 = gaps.iter().map(|g| width(g.end() - 1)).sum();
    let least = core.sink.position() + key.len() as u64 + size + 10;
    let end = if least > BIG { least + 8 } else { least };
    let payload = segments(&gaps, end);
    key.size = payload.len();
    core.write_record_at(&mut key, &[], &[&payload], None)
}

/// The gaps, and the free bytes after the end of the file.
fn segments(gaps: &[Span], end: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    for gap in gaps {
        put_segment(&mut payload, gap.start, gap.end() - 1);
    }
    put_segment(&mut payload, end, growth(end));
    payload
}

/// The first bytes of the file: the header and the record of the file's directory.
fn head(core: &Core) -> Result<Vec<u8>> {
    let root = core.directory(DirectoryId(0))?;
    let mut out = FileHead {
        version: core.root_version,
        end: core.sink.end(),
        info: core.info,
        free: core.free_list,
        segments: core.space.after_commit().len() as u32 + 1,
        name_len: root.name_len() as u32,
        compression: core.compression,
        uuid: &core.uuid,
    }
    .bytes();
    out.extend_from_slice(&root.record(0, 1));
    Ok(out)
}

/// Writes each gap's length into it, for tools that recover a file by its records.
fn mark_gaps(core: &mut Core) -> Result<()> {
    let gaps: Vec<Span> = core.space.gaps().to_vec();
    for gap in gaps {
        let len = gap.len.min(LONGEST_GAP) as i32;
        core.sink.write_at(gap.start, &(-len).to_be_bytes())?;
    }
    Ok(())
}

/// The bytes before the first object: an empty header, and the directory without keys.
pub(crate) fn begin(core: &mut Core) -> Result<()> {
    let mut head = vec![0; FIRST_RECORD as usize];
    head.extend_from_slice(&core.directory(DirectoryId(0))?.record(0, 1));
    core.sink.append(&[&head]).map(drop)
}

/// Adds a new directory to its parent; its record is written on commit.
pub(crate) fn mkdir(core: &mut Core, parent: DirectoryId, name: &str) -> Result<DirectoryId> {
    core.drain()?;
    let mut key = core.new_key(parent, crate::directory::CLASS, name, name)?;
    let mut directory = crate::directory::Directory {
        class: crate::directory::CLASS.to_owned(),
        name: name.to_owned(),
        title: name.to_owned(),
        parent: Some(parent),
        seek: 0,
        big: key.big,
        keys: Vec::new(),
        list: Span::default(),
        created: core.datime,
        modified: core.datime,
        uuid: stamp::uuid(),
        dirty: true,
        committed: false,
    };
    let body = vec![0; directory.record_len() - key::len(&key.class, name, name, key.big)];
    key.size = body.len();
    directory.seek = core.write_record(&mut key, &[], &[&body], true)?.start;
    let id = DirectoryId(core.directories.len());
    core.directories.push(directory);
    let above = core.directory_mut(parent)?;
    above.enter(key);
    above.dirty = true;
    Ok(id)
}
