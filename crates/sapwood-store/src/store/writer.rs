//! The one thread of a process that writes to the store.

use crate::locked;
use crate::segment::{Appending, Segment};
use crate::segment_index::SLOT;
use crate::store::queue::{Queue, Waiting};
use crate::store::version::{Disk, FileVersion, Known, is_same};
use crate::store_directory::{is_folder, lock, remake, unique};
use bytes::Bytes;
use sapwood_span::Span;
use sapwood_span::defect::caught;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// After a failure, nothing is written for this long.
const REST: Duration = Duration::from_secs(10);
/// Blocks that a new version and a new segment occupy besides their pieces.
const VERSION_BLOCKS: u64 = 24 << 10;
const SEGMENT_BLOCKS: u64 = 12 << 10;

/// Writes what is queued until the store is closed.
pub(crate) fn run(queue: &Queue, batch_bytes: u64) {
    let mut resting: Option<Instant> = None;
    while let Some(mut batch) = queue.take(batch_bytes) {
        for group in by_version(std::mem::take(&mut batch.pieces)) {
            let Some(version) = group.first().map(|w| w.version.clone()) else { continue };
            let rests = resting.is_some_and(|since| since.elapsed() < REST) || !version.store.is_writable();
            let written = if rests { Ok(Ok(false)) } else { caught(|| Ok(version.write_patiently(&group))) };
            let bytes = group.iter().map(|w| w.bytes.len() as u64).sum();
            match written {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => version.store.left_out(bytes),
                Ok(Err(e)) => {
                    version.store.left_out(bytes);
                    version.store.write_failed(&e);
                    resting = Some(Instant::now());
                }
                Err(defect) => {
                    version.store.left_out(bytes);
                    version.store.defect(&defect);
                    resting = Some(Instant::now());
                }
            }
            let mut pieces = locked(&version.pieces);
            group.iter().for_each(|w| pieces.remove_memory(w.start));
        }
    }
}

/// Groups pieces by version, in the order in which they were inserted.
fn by_version(pieces: Vec<Waiting>) -> Vec<Vec<Waiting>> {
    let mut groups: Vec<Vec<Waiting>> = Vec::new();
    for piece in pieces {
        let known = groups.iter_mut().find(|g| g.first().is_some_and(|f| Arc::ptr_eq(&f.version, &piece.version)));
        match known {
            Some(group) => group.push(piece),
            None => groups.push(vec![piece]),
        }
    }
    groups
}

impl FileVersion {
    /// Writes, even while another process purges the same directory, or after it was removed.
    fn write_patiently(&self, waiting: &[Waiting]) -> io::Result<bool> {
        for _ in 0..3 {
            match self.write(waiting) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    if !is_folder(&self.store.directory) {
                        remake(&self.store.directory)?;
                    }
                }
                done => return done,
            }
        }
        Ok(false)
    }

    /// Writes what no process has written yet; false if there is no room.
    fn write(&self, waiting: &[Waiting]) -> io::Result<bool> {
        let mut disk = locked(&self.disk);
        self.look_again(&mut disk);
        let new = self.not_written(waiting);
        let bytes: u64 = new.iter().map(|(_, b)| b.len() as u64).sum();
        if bytes == 0 {
            return Ok(true);
        }
        let slots = (new.len() * SLOT) as u64;
        if !self.store.reserve(bytes + slots + self.blocks_to_come(&mut disk))? {
            self.store.warnings.no_room(&self.store.directory, self.store.limit.max_bytes());
            return Ok(false);
        }
        self.create(&mut disk)?;
        self.append(&mut disk, &new)?;
        Ok(true)
    }

    fn not_written(&self, waiting: &[Waiting]) -> Vec<(u64, Bytes)> {
        let pieces = locked(&self.pieces);
        let mut new = Vec::with_capacity(waiting.len());
        for w in waiting {
            for gap in pieces.not_on_disk(Span::new(w.start, w.bytes.len() as u64)) {
                let from = (gap.start - w.start) as usize;
                new.push((gap.start, w.bytes.slice(from..from + gap.len as usize)));
            }
        }
        new
    }

    /// Bytes that directories and file ends will occupy.
    fn blocks_to_come(&self, disk: &mut Disk) -> u64 {
        disk.appending.take_if(|a| !a.is_linked());
        if disk.appending.as_ref().is_some_and(|a| a.len() < self.store.segment_bytes()) {
            return 0;
        }
        if is_folder(&self.folder) { SEGMENT_BLOCKS } else { VERSION_BLOCKS + SEGMENT_BLOCKS }
    }

    fn append(&self, disk: &mut Disk, new: &[(u64, Bytes)]) -> io::Result<()> {
        let longest = self.store.segment_bytes();
        disk.appending.take_if(|a| a.len() >= longest || !a.is_linked());
        if disk.appending.is_none() {
            disk.appending = Some(match self.left_segment(disk, longest) {
                Some(left) => left,
                None => self.new_segment(disk)?,
            });
        }
        let Some(appending) = disk.appending.as_mut() else { return Ok(()) };
        let before = appending.next_slot();
        let slots = match appending.append(new, self.hash) {
            Ok(slots) => slots,
            Err(e) => {
                disk.appending = None;
                return Err(e);
            }
        };
        if let Some(known) = disk.known.values_mut().find(|k| Arc::ptr_eq(&k.segment, &appending.segment))
            && known.next == before
        {
            known.next = appending.next_slot();
        }
        let mut pieces = locked(&self.pieces);
        let number = pieces.add_segment(&appending.segment);
        slots.iter().for_each(|slot| pieces.add_disk(number, slot));
        Ok(())
    }

    /// A segment that another process or an earlier session left.
    fn left_segment(&self, disk: &Disk, longest: u64) -> Option<Appending> {
        let left = disk.known.values().filter(|k| k.sound);
        left.filter_map(|k| Appending::adopt(k.segment.clone(), self.hash, longest).ok().flatten()).next()
    }

    fn new_segment(&self, disk: &mut Disk) -> io::Result<Appending> {
        let name = unique();
        let segment = Arc::new(Segment::new(&self.folder, &name));
        // otherwise a purge by another process could remove the data file and leave the index, which is created after
        // it
        let _lock = lock(&self.store.directory)?;
        if !disk.pin.as_ref().is_some_and(|pin| is_same(pin, &self.folder.join("identity"))) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let new = Appending::create(segment.clone(), self.hash)?;
        disk.known.insert(name, Known { segment, next: new.next_slot(), sound: true });
        Ok(new)
    }
}
