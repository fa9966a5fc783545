//! Reads the data left by other processes and earlier sessions into memory.

use crate::locked;
use crate::segment::{Segment, read_up_to};
use crate::segment_index::{Parsed, SLOT, Slot, header};
use crate::store::version::{Disk, FileVersion, Known};
use crate::store_directory::open_file;
use std::collections::hash_map::Entry;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Slots read at once.
const CHUNK: usize = 1024;
/// Additions by other processes are looked for at most this often.
const PAUSE: Duration = Duration::from_secs(1);

impl FileVersion {
    /// Looks for additions by other processes, unless that was done a moment ago.
    pub(crate) fn look_again(&self, disk: &mut Disk) {
        if self.is_usable() && disk.looked.is_none_or(|at| at.elapsed() >= PAUSE) {
            self.look(disk);
        }
    }

    /// Looks for held data. What cannot be read is treated as absent.
    pub(crate) fn look(&self, disk: &mut Disk) {
        disk.looked = Some(Instant::now());
        if let Ok(true) = self.attach(disk)
            && let Ok(entries) = self.folder.read_dir()
        {
            for entry in entries.flatten() {
                if let Some(name) = entry.file_name().to_str().and_then(|n| n.strip_suffix(".index")) {
                    self.look_at(disk, name);
                }
            }
            disk.looked = Some(Instant::now());
        }
    }

    fn look_at(&self, disk: &mut Disk, name: &str) {
        let known = match disk.known.entry(name.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                free.insert(Known { segment: Arc::new(Segment::new(&self.folder, name)), next: 0, sound: true })
            }
        };
        match index_len(&known.segment.index) {
            Some(len) if len >= known.next + SLOT as u64 => {}
            _ => return,
        }
        let segment = known.segment.clone();
        let read = read_slots(&segment, known.next, self.hash, self.id.version.size, |slots| {
            let mut pieces = locked(&self.pieces);
            let number = pieces.add_segment(&segment);
            slots.iter().for_each(|slot| pieces.add_disk(number, slot));
        });
        match read {
            Ok(read) => {
                known.next = read.next;
                if read.damaged > 0 {
                    known.sound = false;
                    self.store.warnings.damaged(&segment.index);
                }
            }
            Err(e) if e.kind() == io::ErrorKind::InvalidData => {
                known.next = u64::MAX - SLOT as u64;
                known.sound = false;
                self.store.warnings.damaged(&segment.index);
            }
            // removed meanwhile, or unreadable for us
            Err(_) => {}
        }
    }
}

/// Bytes of an index; none if it is not a regular file.
fn index_len(path: &Path) -> Option<u64> {
    path.symlink_metadata().ok().filter(|m| m.is_file()).map(|m| m.len())
}

/// How an index was read.
#[derive(Debug, Default)]
pub(crate) struct SlotsRead {
    /// Where the next slot will be.
    pub next: u64,
    /// Slots that are neither pieces nor empty, or whose data are missing.
    pub damaged: u64,
}

/// Reads an index from `next` on (zero: with its header), some slots at a time.
///
/// # Errors
/// Errors of the system; invalid data if the header is not that of this version.
pub(crate) fn read_slots(
    segment: &Segment,
    next: u64,
    version: u128,
    size: u64,
    mut pieces: impl FnMut(&[Slot]),
) -> io::Result<SlotsRead> {
    let index = open_file(&segment.index, false)?;
    let mut read = SlotsRead { next, damaged: 0 };
    let mut chunk = vec![0; SLOT * CHUNK];
    // each slot was written with at least one byte of data; otherwise a growing index would be read forever
    let slots = index.metadata()?.len() / SLOT as u64;
    if slots > 2 && slots - 2 > segment.data.symlink_metadata()?.len() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    if next == 0 {
        let first = chunk.get_mut(..SLOT).unwrap_or_default();
        let got = read_up_to(&index, first, 0)?;
        if got == 0 {
            // just created, or its process was killed then
            return Ok(read);
        }
        if got < SLOT || first != header(version) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        read.next = SLOT as u64;
    }
    loop {
        let got = read_up_to(&index, &mut chunk, read.next)?;
        let (slots, _) = chunk.get(..got).unwrap_or_default().as_chunks::<SLOT>();
        if slots.is_empty() {
            return Ok(read);
        }
        // the data of a slot were written before it
        let data = open_file(&segment.data, false)?.metadata()?.len();
        let mut found = Vec::with_capacity(slots.len());
        for bytes in slots {
            match Slot::decode(bytes, version, size) {
                Parsed::Piece(slot) if slot.position + u64::from(slot.len) <= data => found.push(slot),
                Parsed::Empty => {}
                Parsed::Piece(_) | Parsed::Damaged => read.damaged += 1,
            }
        }
        read.next += (slots.len() * SLOT) as u64;
        found.sort_unstable_by_key(|s| s.start);
        pieces(&found);
    }
}
