//! Segments: files that pieces are appended to.

use crate::locked;
use crate::policy::TOUCH;
use crate::segment_index::{SLOT, Slot, header, payload_checksum};
use crate::store_directory::{create_file, open_file};
use bytes::Bytes;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Instant, SystemTime};

/// Segments of one process that are open for reading at once.
const OPEN_FILES: usize = 64;
/// Pieces of fewer bytes are written together.
const LARGE: usize = 16 << 10;
/// The segments that are open for reading, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles(Mutex<VecDeque<Weak<Segment>>>);

impl OpenFiles {
    fn opened(&self, segment: &Arc<Segment>) {
        let mut all = locked(&self.0);
        all.push_back(Arc::downgrade(segment));
        let oldest = if all.len() > OPEN_FILES { all.pop_front() } else { None };
        drop(all);
        if let Some(oldest) = oldest.and_then(|s| s.upgrade()) {
            locked(&oldest.reading).file = None;
        }
    }
}

/// A segment as a reader sees it.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) data: PathBuf,
    pub(crate) index: PathBuf,
    reading: Mutex<Reading>,
}

#[derive(Debug, Default)]
struct Reading {
    file: Option<Arc<File>>,
    touched: Option<Instant>,
}

impl Segment {
    /// The segment of this name.
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        let data = folder.join(format!("{name}.data"));
        Self { data, index: folder.join(format!("{name}.index")), reading: Mutex::default() }
    }

    /// Reads the bytes of a piece; they are not checked yet.
    pub(crate) fn read(self: &Arc<Self>, slot: &Slot, into: &mut [u8], open: &OpenFiles) -> io::Result<()> {
        let mut reading = locked(&self.reading);
        let (file, new) = match &reading.file {
            Some(file) => (file.clone(), false),
            None => (reading.file.insert(Arc::new(open_file(&self.data, false)?)).clone(), true),
        };
        let touch = reading.touched.is_none_or(|at| at.elapsed() > TOUCH);
        if touch {
            reading.touched = Some(Instant::now());
        }
        drop(reading);
        if new {
            open.opened(self);
        }
        if touch {
            // a directory that cannot be written is still read
            let _ = file.set_modified(SystemTime::now());
        }
        file.read_exact_at(into, slot.position)
    }

    /// Reads the bytes of a piece without recording that they were used.
    pub(crate) fn read_unnoticed(&self, slot: &Slot, into: &mut [u8]) -> io::Result<()> {
        let known = locked(&self.reading).file.clone();
        let file = match known {
            Some(file) => file,
            None => locked(&self.reading).file.insert(Arc::new(open_file(&self.data, false)?)).clone(),
        };
        file.read_exact_at(into, slot.position)
    }

    /// Overwrites slots with zeros, so that no process uses them again: for example those of pieces that did not match.
    pub(crate) fn erase(&self, is_wrong: impl Fn(&[u8; SLOT]) -> bool) -> io::Result<()> {
        let file = open_file(&self.index, true)?;
        let mut at = SLOT as u64;
        let mut chunk = vec![0; SLOT * 1024];
        loop {
            let got = read_up_to(&file, &mut chunk, at)?;
            let (slots, _) = chunk.get(..got).unwrap_or_default().as_chunks::<SLOT>();
            if slots.is_empty() {
                return Ok(());
            }
            for slot in slots {
                if is_wrong(slot) {
                    file.write_all_at(&[0; SLOT], at)?;
                }
                at += SLOT as u64;
            }
        }
    }

    /// Removes the segment, unless some process appends to it.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let index = open_file(&self.index, true);
        if index.as_ref().is_ok_and(|file| file.try_lock().is_err()) {
            return Ok(());
        }
        std::fs::remove_file(&self.index)?;
        std::fs::remove_file(&self.data)
    }
}

/// Reads until the buffer is full or the file ends.
pub(crate) fn read_up_to(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut got = 0;
    while let Some(rest) = buffer.get_mut(got..).filter(|r| !r.is_empty()) {
        match file.read_at(rest, at + got as u64) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}

/// A segment that this process appends to. The lock on its index, which ends with the process, excludes others.
#[derive(Debug)]
pub(crate) struct Appending {
    pub(crate) segment: Arc<Segment>,
    data: File,
    index: File,
    /// Where the next bytes and the next slot are written.
    position: u64,
    next_slot: u64,
}

impl Appending {
    /// A new segment.
    pub(crate) fn create(segment: Arc<Segment>, version: u128) -> io::Result<Self> {
        let data = create_file(&segment.data)?;
        let index = create_file(&segment.index)?;
        index.try_lock()?;
        index.write_all_at(&header(version), 0)?;
        Ok(Self { segment, data, index, position: 0, next_slot: SLOT as u64 })
    }

    /// A segment that another process left, unless it is in use, damaged or full.
    pub(crate) fn adopt(segment: Arc<Segment>, version: u128, longest: u64) -> io::Result<Option<Self>> {
        let data = open_file(&segment.data, true)?;
        let position = data.metadata()?.len();
        if position >= longest {
            return Ok(None);
        }
        let index = open_file(&segment.index, true)?;
        if index.try_lock().is_err() {
            return Ok(None);
        }
        let mut first = [0; SLOT];
        if read_up_to(&index, &mut first, 0)? < SLOT || first != header(version) {
            return Ok(None);
        }
        // a slot that was being written when its process ended is overwritten
        let next_slot = index.metadata()?.len() / SLOT as u64 * SLOT as u64;
        let position = data.metadata()?.len().max(position);
        Ok(Some(Self { segment, data, index, position, next_slot }))
    }

    /// Bytes of data so far.
    pub(crate) fn len(&self) -> u64 {
        self.position
    }

    /// Where the next slot is written.
    pub(crate) fn next_slot(&self) -> u64 {
        self.next_slot
    }

    /// Whether the segment is still in its directory: another process may have purged it.
    pub(crate) fn is_linked(&self) -> bool {
        self.index.metadata().is_ok_and(|m| m.nlink() > 0) && self.data.metadata().is_ok_and(|m| m.nlink() > 0)
    }

    /// Appends pieces: all their bytes, then their slots.
    pub(crate) fn append(&mut self, pieces: &[(u64, Bytes)], version: u128) -> io::Result<Vec<Slot>> {
        let mut slots = Vec::with_capacity(pieces.len());
        let mut encoded = Vec::with_capacity(pieces.len() * SLOT);
        let mut joined = Vec::new();
        let mut position = self.position;
        let mut written = position;
        for (start, bytes) in pieces {
            let checksum = payload_checksum(version, *start, bytes);
            let slot = Slot { start: *start, position, len: bytes.len() as u32, checksum };
            encoded.extend(slot.encode(version));
            slots.push(slot);
            position += bytes.len() as u64;
            if bytes.len() >= LARGE {
                self.write_data(&joined, written)?;
                written += joined.len() as u64;
                joined.clear();
                self.write_data(bytes, written)?;
                written = position;
            } else {
                joined.extend_from_slice(bytes);
            }
        }
        self.write_data(&joined, written)?;
        // after an error the caller abandons the segment: its next owner starts after everything in it
        self.index.write_all_at(&encoded, self.next_slot)?;
        self.position = position;
        self.next_slot += encoded.len() as u64;
        Ok(slots)
    }

    fn write_data(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.data.write_all_at(bytes, at).inspect_err(|_| {
            // the bytes written have no slot: free their blocks
            let _ = self.data.set_len(self.position);
        })
    }
}
