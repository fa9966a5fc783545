//! What closes a file: streamer info, key list, free segments, and the header and directory that
//! tell where they are.

use crate::buffer::{put_string, string_len};
use crate::file::Core;
use crate::key::{self, BIG, FIRST_RECORD, Key, put_position};
use crate::streamers;
use sapwood_span::{Error, Result, Span};

/// The version of ROOT that these files are like: 6.40.00.
const ROOT_VERSION: u32 = 64_000;
/// Added to versions where positions have 64 bits.
const BIG_VERSION: u32 = 1_000_000;
/// How far ROOT lets a file grow at a time, once it is large.
const GROWTH: u64 = 1_000_000_000;

/// Writes the closing records, fills in the beginning and gives the file its name.
pub(crate) fn write(core: &mut Core) -> Result<()> {
    let info = core.append_record("TList", "StreamerInfo", "Doubly linked list", streamers::record)?;
    let keys = key_list(core)?;
    let free = free_segments(core)?;
    let header = header(core, &info, free);
    core.sink.patch(0, &header)?;
    let directory = directory_record(core, keys);
    core.sink.patch(FIRST_RECORD, &directory)?;
    core.sink.commit()
}

/// Appends a record of the file itself, never compressed; where it lies.
fn file_record(core: &mut Core, payload: &[u8]) -> Result<Span> {
    let key = Key {
        class: "TFile",
        name: core.name.clone(),
        title: core.title.clone(),
        cycle: 1,
        datime: core.datime,
        seek: core.sink.position(),
        parent: FIRST_RECORD,
        stored: payload.len(),
        size: payload.len(),
    };
    let mut record = Vec::with_capacity(key.len() + payload.len());
    key.write(&mut record);
    record.extend_from_slice(payload);
    core.sink.append(&record)
}

fn key_list(core: &mut Core) -> Result<Span> {
    let count = u32::try_from(core.keys.len()).map_err(|_| Error::unsupported("there are too many objects"))?;
    let mut payload = count.to_be_bytes().to_vec();
    for key in &core.keys {
        key.write(&mut payload);
    }
    file_record(core, &payload)
}

/// What is free: the gaps, and from the end of the file as far as it may grow.
fn free_segments(core: &mut Core) -> Result<Span> {
    let big = core.sink.position() > BIG;
    let key_len = key::len("TFile", &core.name, &core.title, big);
    // Each segment is a version and its first and last byte. The last one's width follows from
    // where the record ends, and that from the width: at the brink both are right.
    let gaps: usize = core.gaps.iter().map(|g| if g.end() - 1 > BIG { 18 } else { 10 }).sum();
    let least = core.sink.position() + (key_len + gaps + 10) as u64;
    let end = if least > BIG { least + 8 } else { least };
    let limit = if end > BIG { (end / GROWTH + 1) * GROWTH } else { BIG };
    let mut payload = Vec::new();
    for gap in &core.gaps {
        segment(&mut payload, gap.start, gap.end() - 1);
    }
    segment(&mut payload, end, limit);
    file_record(core, &payload)
}

fn segment(out: &mut Vec<u8>, first: u64, last: u64) {
    let big = last > BIG;
    out.extend_from_slice(&if big { 1001_u16 } else { 1 }.to_be_bytes());
    put_position(out, first, big);
    put_position(out, last, big);
}

/// Bytes of the directory's key with the file's name and title behind it.
fn name_len(core: &Core) -> usize {
    key::len("TFile", &core.name, &core.title, false) + string_len(&core.name) + string_len(&core.title)
}

/// The first bytes of the file, up to its first record.
fn header(core: &Core, info: &Key, free: Span) -> Vec<u8> {
    let end = core.sink.position();
    let big = end > BIG;
    let mut out = b"root".to_vec();
    let version = ROOT_VERSION + if big { BIG_VERSION } else { 0 };
    for n in [version, FIRST_RECORD as u32] {
        out.extend_from_slice(&n.to_be_bytes());
    }
    put_position(&mut out, end, big);
    put_position(&mut out, free.start, big);
    for n in [free.len as u32, core.gaps.len() as u32 + 1, name_len(core) as u32] {
        out.extend_from_slice(&n.to_be_bytes());
    }
    // How many bytes a position has.
    out.push(if big { 8 } else { 4 });
    out.extend_from_slice(&core.compression.settings().to_be_bytes());
    put_position(&mut out, info.seek, big);
    out.extend_from_slice(&((info.len() + info.stored) as u32).to_be_bytes());
    put_uuid(&mut out, core);
    out.resize(FIRST_RECORD as usize, 0);
    out
}

/// The file's directory, whose key is the first record: `keys` is where its key list lies.
///
/// Its length does not depend on `keys`: it is written when the file begins, and again at the end.
pub(crate) fn directory_record(core: &Core, keys: Span) -> Vec<u8> {
    let size = string_len(&core.name) + string_len(&core.title) + DIRECTORY;
    let key = Key {
        class: "TFile",
        name: core.name.clone(),
        title: core.title.clone(),
        cycle: 1,
        datime: core.datime,
        seek: FIRST_RECORD,
        parent: 0,
        stored: size,
        size,
    };
    let length = key.len() + size;
    let mut out = Vec::with_capacity(length);
    key.write(&mut out);
    put_string(&mut out, &core.name);
    put_string(&mut out, &core.title);
    let big = keys.start > BIG;
    out.extend_from_slice(&if big { 1005_u16 } else { 5 }.to_be_bytes());
    for n in [core.datime, core.datime, keys.len as u32, name_len(core) as u32] {
        out.extend_from_slice(&n.to_be_bytes());
    }
    for position in [FIRST_RECORD, 0, keys.start] {
        put_position(&mut out, position, big);
    }
    put_uuid(&mut out, core);
    // Room for positions of 64 bits.
    out.resize(length, 0);
    out
}

/// Bytes of `TDirectoryFile`'s own part, at its largest: version, two dates, two lengths, three
/// positions of 64 bits, id.
const DIRECTORY: usize = 2 + 4 * 4 + 3 * 8 + UUID;
/// Bytes of a `TUUID` with its version.
const UUID: usize = 18;

fn put_uuid(out: &mut Vec<u8>, core: &Core) {
    out.extend_from_slice(&1_u16.to_be_bytes());
    out.extend_from_slice(&core.uuid);
}
