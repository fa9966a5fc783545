//! Operations on a store as a whole: its state, its files, a check, a purge.

use crate::evict::{Claim, claim};
use crate::id::{FileId, LONGEST, version_hash};
use crate::load::read_slots;
use crate::locked;
use crate::pieces::Pieces;
use crate::report::{HeldFile, Purged, Status, Verified};
use crate::segment::Segment;
use crate::segment_index::{Parsed, Slot, payload_checksum};
use crate::store::{Inner, Store};
use crate::store_directory::{self, is_folder, lock, open_file, read_small};
use crate::survey::{Survey, VersionFolder};
use sapwood_span::{Error, Result};
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

impl Store {
    /// The state of the store, and the counters of this process. Reads all indexes.
    pub fn status(&self) -> Status {
        let inner = self.here();
        let survey = Survey::of(&inner.directory).unwrap_or_default();
        let held: Vec<HeldFile> = held_files(&inner, &survey);
        let counts = &inner.counts;
        Status {
            directory: inner.directory.clone(),
            max_bytes: inner.limit.max_bytes(),
            bytes: survey.bytes,
            files: held.len() as u64,
            pieces: held.iter().map(|f| f.pieces).sum(),
            hits: counts.hits.load(Relaxed),
            hit_bytes: counts.hit_bytes.load(Relaxed),
            misses: counts.misses.load(Relaxed),
            missed_bytes: counts.missed_bytes.load(Relaxed),
            left_out_bytes: counts.left_out.load(Relaxed),
            warnings: inner.warnings.all(),
        }
    }

    /// All versions of all files, by URL, the one that was validated last first.
    pub fn list(&self) -> Vec<HeldFile> {
        let inner = self.here();
        let mut out = held_files(&inner, &Survey::of(&inner.directory).unwrap_or_default());
        out.sort_by(|a, b| (&a.id.url, !a.latest, b.last_used).cmp(&(&b.id.url, !b.latest, a.last_used)));
        out
    }

    /// Reads everything and compares all checksums. What does not match is dropped. `progress` gets the bytes that were
    /// read and the total.
    pub fn verify(&self, progress: &dyn Fn(u64, u64)) -> Verified {
        let inner = self.here();
        self.flush();
        let mut out = Verified::default();
        if !inner.is_usable() {
            return out;
        }
        let survey = Survey::of(&inner.directory).unwrap_or_default();
        let (mut done, all) = (0, survey.bytes);
        progress(0, all);
        for version in survey.urls.iter().flat_map(|u| &u.versions) {
            match Opened::of(version) {
                Some(opened) => {
                    out.files += 1;
                    verify_segments(&inner, version, &opened, &mut out, &mut |bytes| {
                        done += bytes;
                        progress(done.min(all), all);
                    });
                }
                None => out.damaged += u64::from(remove_damaged(&inner, version)),
            }
        }
        progress(all, all);
        if out.damaged > 0 {
            inner.warnings.damaged(&inner.files());
            for version in inner.in_use() {
                let mut disk = locked(&version.disk);
                version.detach(&mut disk);
                version.look(&mut disk);
            }
            if let Ok(lock) = lock(&inner.directory) {
                let _ = inner.recount(&lock);
            }
        }
        out
    }

    /// Removes all versions of a URL, or everything: also what is in use. Readers continue with open files, or find
    /// nothing.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn purge(&self, url: Option<&str>) -> Result<Purged> {
        let inner = self.here();
        let failed = |e: io::Error| {
            let folder = inner.directory.display().to_string();
            Error::io("cannot remove files from the local cache", e).in_file(folder)
        };
        self.flush();
        if url.is_some() && !inner.is_usable() {
            return Ok(Purged::default());
        }
        let lock = lock(&inner.directory).map_err(failed)?;
        let before = Survey::of(&inner.directory).map_err(failed)?;
        let top = url.map_or_else(|| inner.files(), |url| inner.url_folder(url));
        if url.is_some() && !is_folder(&inner.files()) {
            return Ok(Purged::default());
        }
        if top.is_symlink() {
            std::fs::remove_file(&top).map_err(failed)?;
        } else if is_folder(&top) {
            std::fs::remove_dir_all(&top).map_err(failed)?;
        }
        if url.is_none() && !inner.is_usable() {
            store_directory::write_format(&inner.directory).map_err(failed)?;
            inner.set_usable();
        }
        inner.recount(&lock).map_err(failed)?;
        let versions = |s: &Survey| s.urls.iter().map(|u| u.versions.len() as u64).sum::<u64>();
        let after = Survey::of(&inner.directory).map_err(failed)?;
        // the writer waits for the directory's lock while it has a version's
        drop(lock);
        for version in inner.in_use().into_iter().filter(|v| url.is_none_or(|url| url == v.id.url)) {
            version.detach(&mut locked(&version.disk));
        }
        Ok(Purged {
            files: versions(&before).saturating_sub(versions(&after)),
            bytes: before.bytes.saturating_sub(after.bytes),
        })
    }
}

/// A version's identity.
struct Opened {
    id: FileId,
    hash: u128,
    /// Holds the shared lock: nothing is evicted meanwhile.
    _pin: File,
    in_use: bool,
}

impl Opened {
    /// The identity, if it is intact and in its own directory.
    fn of(version: &VersionFolder) -> Option<Self> {
        let file = open_file(&version.path.join("identity"), false).ok()?;
        let in_use = file.try_lock().is_err();
        let _ = file.try_lock_shared();
        let bytes = read_small(&file, LONGEST).ok()?;
        let (id, hash) = (FileId::decode(&bytes)?, version_hash(&bytes));
        let place = |name: String, path: Option<&std::path::Path>| {
            path.and_then(|p| p.file_name()).is_some_and(|n| n == name.as_str())
        };
        let is_there = place(format!("{hash:032x}"), Some(&version.path))
            && place(crate::id::url_name(&id.url), version.path.parent());
        is_there.then_some(Self { id, hash, _pin: file, in_use })
    }

    fn slots(&self, segment: &Segment, pieces: impl FnMut(&[Slot])) -> io::Result<u64> {
        read_slots(segment, 0, self.hash, self.id.version.size, pieces).map(|read| read.damaged)
    }
}

fn held_files(inner: &Inner, survey: &Survey) -> Vec<HeldFile> {
    if !inner.is_usable() {
        return Vec::new();
    }
    let mut out = Vec::new();
    for version in survey.urls.iter().flat_map(|u| &u.versions) {
        let Some(opened) = Opened::of(version) else { continue };
        let mut pieces = Pieces::default();
        for files in &version.segments {
            let segment = Arc::new(Segment::new(&version.path, &files.name));
            let number = pieces.add_segment(&segment);
            let _ = opened.slots(&segment, |slots| slots.iter().for_each(|s| pieces.add_disk(number, s)));
        }
        out.push(HeldFile {
            bytes: pieces.bytes(),
            disk_bytes: version.bytes + version.segments.iter().map(|s| s.bytes).sum::<u64>(),
            pieces: pieces.count() as u64,
            last_used: version.segments.iter().map(|s| s.used).max().unwrap_or(version.used),
            latest: !version.outdated,
            in_use: opened.in_use,
            id: opened.id,
        });
    }
    out
}

/// Removes a version whose identity is damaged; false if it is intact after all, or was removed by another process.
fn remove_damaged(inner: &Inner, version: &VersionFolder) -> bool {
    let Ok(_lock) = lock(&inner.directory) else { return false };
    if !is_folder(&version.path) || Opened::of(version).is_some() {
        return false;
    }
    if let Claim::Free(_claim) = claim(&version.path)
        && let Err(e) = std::fs::remove_dir_all(&version.path)
    {
        inner.write_failed(&e);
    }
    true
}

/// Whether a segment has an index and no data, checked while no segments are removed.
fn lacks_data(inner: &Inner, segment: &Segment) -> bool {
    lock(&inner.directory).is_ok_and(|_lock| segment.index.exists() && !segment.data.exists())
}

/// Compares all checksums of a version, and erases the slots of what does not match.
fn verify_segments(
    inner: &Inner,
    version: &VersionFolder,
    opened: &Opened,
    out: &mut Verified,
    progress: &mut dyn FnMut(u64),
) {
    let mut buffer = Vec::new();
    for files in &version.segments {
        let segment = Arc::new(Segment::new(&version.path, &files.name));
        let data = segment.data.symlink_metadata().map_or(0, |m| m.len());
        let mut wrong = HashSet::new();
        let mut right = Verified::default();
        let read = opened.slots(&segment, |slots| {
            for slot in slots {
                buffer.resize(slot.len as usize, 0);
                let matches = match segment.read_unnoticed(slot, &mut buffer) {
                    Ok(()) => payload_checksum(opened.hash, slot.start, &buffer) == slot.checksum,
                    Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                    Err(_) => false,
                };
                if matches {
                    right.pieces += 1;
                    right.bytes += u64::from(slot.len);
                } else {
                    wrong.insert(*slot);
                }
                progress(u64::from(slot.len));
            }
        });
        out.pieces += right.pieces;
        out.bytes += right.bytes;
        let read = match read {
            // what another process removed, or is about to, is not damaged
            Err(e) if e.kind() == io::ErrorKind::NotFound && !lacks_data(inner, &segment) => continue,
            other => other,
        };
        out.damaged += wrong.len() as u64 + read.as_ref().map_or(1, |damaged| *damaged);
        out.damaged_bytes += wrong.iter().map(|s| u64::from(s.len)).sum::<u64>();
        match read {
            Ok(0) if wrong.is_empty() => {}
            // where this fails, reading finds the damage again
            Ok(_) => drop(segment.erase(|found| match Slot::decode(found, opened.hash, opened.id.version.size) {
                Parsed::Piece(slot) => wrong.contains(&slot) || slot.position + u64::from(slot.len) > data,
                Parsed::Damaged => true,
                Parsed::Empty => false,
            })),
            // without a header, or without data: it is no longer read
            Err(_) => drop(segment.remove()),
        }
    }
}
