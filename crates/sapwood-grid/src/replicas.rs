//! Copies of whole files on the disks of sites, for policies that push.

use crate::clock::Time;
use crate::keys::{Map, key};
use sapwood_store::policy::{self, Rank};

#[derive(Clone, Copy, Debug)]
struct Replica {
    bytes: u64,
    used: Time,
    /// Jobs that wait for it or read it; rules that keep it.
    pins: u32,
    here: bool,
}

/// A copy that may be evicted: the file, its bytes, when it was used last.
pub(crate) type Candidate = (u64, u64, Time);
/// Which of these are evicted first, for so many bytes; none: those not used for longest.
pub(crate) type Choose<'a> = &'a mut dyn FnMut(u64, &[Candidate]) -> Option<Vec<usize>>;

/// The disk of a site.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    size: u64,
    used: u64,
    most: u64,
    files: Map<u64, Replica>,
    /// Bytes that were read of each part of a file.
    read: Map<u64, u64>,
    unread: u64,
    evicted: u64,
    /// After nothing could be evicted, it is not tried again before this.
    full_until: Time,
}

/// How long.
const REST: Time = 60_000_000_000;

impl Disk {
    pub(crate) fn new(size: u64) -> Self {
        Self { size, ..Self::default() }
    }

    /// Whether there are any, or some on their way.
    pub(crate) fn has_copies(&self) -> bool {
        !self.files.is_empty()
    }

    pub(crate) fn has(&self, file: u64) -> bool {
        self.files.get(&file).is_some_and(|r| r.here)
    }

    /// Reserves room for a file that is about to be copied, and evicts files for it that no job needs. Returns the files that are gone;
    /// none if there is no room.
    pub(crate) fn reserve(&mut self, now: Time, file: u64, bytes: u64, choose: Choose<'_>) -> Option<Vec<u64>> {
        let mut gone = Vec::new();
        if self.used.saturating_add(bytes) > self.size {
            let goal = self.size.checked_sub(bytes).filter(|_| now >= self.full_until)?;
            let free = |r: &Replica| r.here && r.pins == 0;
            let mut candidates: Vec<Candidate> =
                self.files.iter().filter(|(_, r)| free(r)).map(|(&f, r)| (f, r.bytes, r.used)).collect();
            let possible: u64 = self.files.values().filter(|r| free(r)).map(|r| r.bytes).sum();
            if self.used - possible > goal {
                self.full_until = now + REST;
                return None;
            }
            candidates.sort_unstable_by_key(|c| c.0);
            let before = self.used;
            if let Some(chosen) = choose(self.used - goal, &candidates) {
                for file in chosen.into_iter().filter_map(|i| candidates.get(i)).map(|c| c.0) {
                    if self.used <= goal {
                        break;
                    }
                    if let Some(replica) = self.files.remove(&file) {
                        self.used -= replica.bytes;
                        gone.push(file);
                    }
                }
                candidates.retain(|c| self.files.contains_key(&c.0));
            }
            // some more than is needed now, so that this is rare, as in the store
            let goal = if self.used <= goal { self.used } else { goal.saturating_sub(self.size / 16) };
            let files = &mut self.files;
            let used = policy::evict(
                candidates,
                |c| (Rank::Current, c.2),
                self.used,
                goal,
                |(file, ..)| {
                    gone.push(file);
                    files.remove(&file).map_or(0, |r| r.bytes)
                },
            );
            self.evicted += before - used;
            self.used = used;
        }
        self.used += bytes;
        self.most = self.most.max(self.used);
        self.files.insert(file, Replica { bytes, used: now, pins: 0, here: false });
        Some(gone)
    }

    /// Of an evicted file: what was moved and never read. `parts` is the number of its parts.
    pub(crate) fn forget(&mut self, file: u64, bytes: u64, parts: usize) {
        let read: u64 = (0..parts).filter_map(|p| self.read.remove(&key(file, p))).sum();
        self.unread += bytes.saturating_sub(read);
    }

    pub(crate) fn arrived(&mut self, now: Time, file: u64) {
        if let Some(r) = self.files.get_mut(&file) {
            (r.here, r.used) = (true, now);
        }
    }

    pub(crate) fn pin(&mut self, file: u64) {
        if let Some(r) = self.files.get_mut(&file) {
            r.pins += 1;
        }
    }

    pub(crate) fn unpin(&mut self, now: Time, file: u64) {
        if let Some(r) = self.files.get_mut(&file) {
            r.pins = r.pins.saturating_sub(1);
            r.used = now;
        }
    }

    /// The first bytes of a part of a file are read.
    pub(crate) fn read(&mut self, now: Time, file: u64, part: usize, bytes: u64) {
        if let Some(r) = self.files.get_mut(&file) {
            r.used = now;
            let read = self.read.entry(key(file, part)).or_default();
            *read = (*read).max(bytes);
        }
    }

    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// Bytes that were moved here and that no job has read.
    pub(crate) fn unread(&self) -> u64 {
        let here: u64 = self.files.values().filter(|r| r.here).map(|r| r.bytes).sum();
        self.unread + here.saturating_sub(self.read.values().sum())
    }

    pub(crate) fn evicted(&self) -> u64 {
        self.evicted
    }
}
