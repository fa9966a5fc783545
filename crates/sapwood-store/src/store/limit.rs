//! The byte limit: bytes are reserved, under the directory's lock, before they are written.

use crate::evict::evict;
use crate::store::Inner;
use crate::store_directory::{lock, read_small};
use crate::survey::Survey;
use crate::{locked, policy};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use twox_hash::XxHash3_64;

/// After nothing could be evicted, eviction is not tried again for this long.
const REST: Duration = Duration::from_secs(1);

/// The limit, and what this process has reserved of it.
#[derive(Debug, Default)]
pub(crate) struct Limit {
    max_bytes: AtomicU64,
    grant: Mutex<Grant>,
}

#[derive(Debug, Default)]
struct Grant {
    left: u64,
    refused: Option<Instant>,
}

impl Limit {
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn set_max_bytes(&self, max: u64) {
        self.max_bytes.store(max, Ordering::Relaxed);
        self.try_again();
    }

    /// Something may now be evicted that could not be before.
    pub(crate) fn try_again(&self) {
        locked(&self.grant).refused = None;
    }

    /// Bytes of a segment at most: fine enough for evicting the least recently used.
    pub(crate) fn segment_bytes(&self) -> u64 {
        policy::segment_bytes(self.max_bytes())
    }

    /// Bytes that are reserved at once, and written in one batch.
    pub(crate) fn step(&self) -> u64 {
        policy::step(self.max_bytes())
    }

    /// The bytes that may be reserved. The rest is for reservations that a survey cannot see: those of other processes.
    fn ceiling(&self) -> u64 {
        policy::ceiling(self.max_bytes())
    }
}

impl Inner {
    /// Reserves room for bytes that are about to be written. False if there is none.
    pub(crate) fn reserve(&self, bytes: u64) -> io::Result<bool> {
        let mut grant = locked(&self.limit.grant);
        if grant.left >= bytes {
            grant.left -= bytes;
            return Ok(true);
        }
        if grant.refused.is_some_and(|at| at.elapsed() < REST) {
            return Ok(false);
        }
        drop(grant);
        let folder_lock = lock(&self.directory)?;
        grant = locked(&self.limit.grant);
        let least = bytes.saturating_sub(grant.left);
        let ceiling = self.limit.ceiling();
        let mut used = match read_used(&folder_lock) {
            Some(used) => used,
            None => Survey::of(&self.directory)?.bytes,
        };
        let mut wanted = least.max(self.limit.step());
        if let Some(goal) = policy::goal(self.limit.max_bytes(), used, wanted) {
            used = evict(Survey::of(&self.directory)?, goal);
            if used.saturating_add(wanted) > ceiling {
                wanted = least;
            }
        }
        let fits = used.saturating_add(wanted) <= ceiling;
        if fits {
            grant.left = (grant.left + wanted).saturating_sub(bytes);
            used += wanted;
        } else {
            grant.refused = Some(Instant::now());
        }
        write_used(&folder_lock, used)?;
        Ok(fits)
    }

    /// Counts again, after something was removed. The directory's lock must be held.
    pub(crate) fn recount(&self, folder_lock: &File) -> io::Result<()> {
        self.limit.try_again();
        write_used(folder_lock, Survey::of(&self.directory)?.bytes)
    }
}

/// Bytes in use, as counted by processes; none if they must be counted again.
fn read_used(file: &File) -> Option<u64> {
    let bytes = read_small(file, 16).ok()?;
    let (used, sum) = bytes.split_first_chunk::<8>()?;
    (XxHash3_64::oneshot(used).to_le_bytes() == sum).then(|| u64::from_le_bytes(*used))
}

fn write_used(file: &File, used: u64) -> io::Result<()> {
    let mut out = used.to_le_bytes().to_vec();
    out.extend(XxHash3_64::oneshot(&used.to_le_bytes()).to_le_bytes());
    file.write_all_at(&out, 0)?;
    file.set_len(out.len() as u64)
}
