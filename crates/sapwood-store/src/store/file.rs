//! The interface for readers: one version of a file.

use crate::locked;
use crate::pieces::Found;
use crate::segment::Segment;
use crate::segment_index::{LONGEST_PIECE, Slot, payload_checksum};
use crate::store::Store;
use crate::store::queue::Waiting;
use crate::store::version::FileVersion;
use bytes::Bytes;
use sapwood_span::Span;
use std::fmt;
use std::io;
use std::sync::{Arc, TryLockError};

/// One version of a file. As long as one lives, no process evicts cached bytes of this version.
///
/// Cheap to clone. All clones, and all handles from [`Store::file`] for the same identity, share the same data.
#[derive(Clone)]
pub struct CachedFile(pub(crate) Arc<FileVersion>);

impl CachedFile {
    /// The version in this process: a forked child has its own.
    fn here(&self) -> Arc<FileVersion> {
        if self.0.store.process == std::process::id() {
            return self.0.clone();
        }
        Store::in_child(&self.0.store).adopted(&self.0.id)
    }

    /// The parts of the span that are held, in order. Does no I/O.
    pub fn held(&self, span: Span) -> Vec<Span> {
        locked(&self.here().pieces).held(span)
    }

    /// All of the span; none if any of it is missing or damaged. Reads from the disk; every piece is checked against
    /// its checksum, and dropped if it does not match.
    pub fn read(&self, span: Span) -> Option<Bytes> {
        let version = self.here();
        let read = version.read(span);
        version.store.count(read.is_some(), span.len);
        read
    }

    /// Passes bytes to be kept. Never waits: what the queue has no room for is left out and counted.
    pub fn insert(&self, start: u64, bytes: Bytes) {
        self.here().insert(start, &bytes);
    }

    /// Bytes held of this version.
    pub fn bytes_held(&self) -> u64 {
        locked(&self.here().pieces).bytes()
    }

    /// Looks for additions by other processes. [`Store::file`] does so as well, and a read that misses, at most once a
    /// second.
    pub fn refresh(&self) {
        let version = self.here();
        if version.is_usable() {
            version.look(&mut locked(&version.disk));
        }
    }

    /// The origin has just confirmed this version: [`Store::latest`] returns it from now on.
    pub fn validated(&self) {
        let version = self.here();
        if version.is_usable()
            && let Err(e) = version.note_validated()
        {
            version.store.write_failed(&e);
        }
    }
}

impl fmt::Debug for CachedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedFile")
            .field("url", &self.0.id.url)
            .field("folder", &self.0.folder)
            .finish_non_exhaustive()
    }
}

impl FileVersion {
    fn insert(self: &Arc<Self>, start: u64, bytes: &Bytes) {
        let span = Span::new(start, bytes.len() as u64);
        let fits = start.checked_add(span.len).is_some_and(|end| end <= self.id.version.size);
        if span.is_empty() || !fits || !self.is_usable() || !self.store.is_writable() {
            self.store.left_out(span.len);
            return;
        }
        self.store.start_writer();
        let mut pieces = locked(&self.pieces);
        for gap in pieces.missing(span) {
            let from = (gap.start - start) as usize;
            for from in (from..from + gap.len as usize).step_by(LONGEST_PIECE) {
                let end = (from + LONGEST_PIECE).min((gap.end() - start) as usize);
                let piece = bytes.slice(from..end);
                let at = start + from as u64;
                // the writer waits for `pieces` before it takes the piece out again
                if self.store.queue.add(Waiting { version: self.clone(), start: at, bytes: piece.clone() }) {
                    pieces.add_memory(at, piece);
                } else {
                    self.store.left_out(piece.len() as u64);
                }
            }
        }
    }

    fn read(&self, span: Span) -> Option<Bytes> {
        if span.start.checked_add(span.len)? > self.id.version.size {
            return None;
        }
        let first = locked(&self.pieces).find(span);
        let found = match first {
            Some(found) => found,
            None => {
                // not while the writer is at work: a read does not wait for it
                match self.disk.try_lock() {
                    Ok(mut disk) => self.look_again(&mut disk),
                    Err(TryLockError::Poisoned(disk)) => self.look_again(&mut disk.into_inner()),
                    Err(TryLockError::WouldBlock) => return None,
                }
                locked(&self.pieces).find(span)?
            }
        };
        if let [one] = found.as_slice() {
            return match one {
                Found::Memory(bytes) => Some(bytes.clone()),
                Found::Disk { segment, slot, skip, len } => {
                    let piece = self.piece(segment, slot, *len < slot.len)?;
                    Some(piece.slice(*skip as usize..(*skip + *len) as usize))
                }
            };
        }
        let mut out = vec![0; usize::try_from(span.len).ok()?];
        let mut rest = out.as_mut_slice();
        for part in &found {
            let len = match part {
                Found::Memory(bytes) => bytes.len(),
                Found::Disk { len, .. } => *len as usize,
            };
            let (into, after) = rest.split_at_mut_checked(len)?;
            rest = after;
            match part {
                Found::Memory(bytes) => into.copy_from_slice(bytes),
                Found::Disk { segment, slot, len, .. } if *len == slot.len => self.fill(segment, slot, into)?,
                Found::Disk { segment, slot, skip, len } => {
                    let piece = self.piece(segment, slot, true)?;
                    into.copy_from_slice(&piece[*skip as usize..(*skip + *len) as usize]);
                }
            }
        }
        Some(out.into())
    }

    /// A whole piece, checked; a piece read in part is kept in memory for a while, as the next part is likely to be
    /// read soon.
    fn piece(&self, segment: &Arc<Segment>, slot: &Slot, keep: bool) -> Option<Bytes> {
        if let Some(recent) = self.store.recent.get(segment, slot) {
            return Some(recent);
        }
        let mut piece = vec![0; slot.len as usize];
        self.fill(segment, slot, &mut piece)?;
        let piece = Bytes::from(piece);
        if keep {
            self.store.recent.add(segment, slot, &piece);
        }
        Some(piece)
    }

    /// Reads a whole piece and checks it.
    fn fill(&self, segment: &Arc<Segment>, slot: &Slot, into: &mut [u8]) -> Option<()> {
        let damaged = match segment.read(slot, into, &self.store.open_files) {
            Ok(()) => payload_checksum(self.hash, slot.start, into) != slot.checksum,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                // purged by another process
                locked(&self.pieces).remove_disk(segment, None);
                return None;
            }
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => true,
            // too many open files, for example: the piece is not damaged
            Err(_) => return None,
        };
        if !damaged {
            return Some(());
        }
        locked(&self.pieces).remove_disk(segment, Some(slot.position));
        self.store.warnings.damaged(&segment.data);
        // where this fails, the next process finds the damage itself
        let wrong = slot.encode(self.hash);
        let _ = segment.erase(|found| *found == wrong);
        None
    }
}
