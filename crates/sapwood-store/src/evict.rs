//! Chooses what to evict first, and removes it.

use crate::policy::{self, Rank};
use crate::store_directory::open_file;
use crate::survey::{SegmentFiles, Survey, VersionFolder};
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// Whether a version may be changed, and the lock while it is.
pub(crate) enum Claim {
    Free(Option<File>),
    InUse,
}

/// Claims a version for removal. The directory's lock must be held: no version is created meanwhile.
pub(crate) fn claim(version: &Path) -> Claim {
    let identity = version.join("identity");
    match open_file(&identity, true) {
        Ok(file) => match file.try_lock() {
            Ok(()) => Claim::Free(Some(file)),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => Claim::InUse,
        },
        // a link, a pipe, or nothing: no process of ours uses it
        Err(e) if e.kind() != io::ErrorKind::PermissionDenied => Claim::Free(None),
        Err(_) => Claim::InUse,
    }
}

/// What can be removed separately: a segment, or the rest of a version without any.
struct Candidate {
    rank: Rank,
    used: SystemTime,
    url: usize,
    version: usize,
    segment: Option<usize>,
}

/// Removes what was not used for the longest time until `goal` bytes are left, or all that remains is in use.
/// Returns the bytes that are left. The directory's lock must be held.
pub(crate) fn evict(mut survey: Survey, goal: u64) -> u64 {
    let now = SystemTime::now();
    let (used, all) = (survey.bytes, candidates(&survey, now));
    let mut claims: Vec<Vec<Option<Claim>>> =
        survey.urls.iter().map(|u| u.versions.iter().map(|_| None).collect()).collect();
    let remove = |c: Candidate| {
        let mut freed = 0;
        let Some(url) = survey.urls.get_mut(c.url) else { return 0 };
        let Some(version) = url.versions.get_mut(c.version) else { return 0 };
        let Some(held) = claims.get_mut(c.url).and_then(|u| u.get_mut(c.version)) else { return 0 };
        if let Claim::InUse = held.get_or_insert_with(|| claim(&version.path)) {
            return 0;
        }
        if let Some(segment) = c.segment.and_then(|i| version.segments.get_mut(i)) {
            freed += remove_segment(&version.path, segment);
        }
        if version.segments.iter().all(|s| s.bytes == 0) && remove_version(version) {
            freed += std::mem::take(&mut version.bytes);
            if remove_url(&url.path) {
                freed += std::mem::take(&mut url.bytes);
            }
        }
        freed
    };
    policy::evict(all, |c| (c.rank, c.used), used, goal, remove)
}

fn candidates(survey: &Survey, now: SystemTime) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (url, folder) in survey.urls.iter().enumerate() {
        for (version, v) in folder.versions.iter().enumerate() {
            let rank = if v.outdated { Rank::Outdated } else { Rank::Current };
            if v.segments.is_empty() {
                out.push(Candidate { rank, used: v.used.min(now), url, version, segment: None });
            }
            for (i, s) in v.segments.iter().enumerate() {
                let rank = if s.complete { rank } else { Rank::Incomplete };
                // a time in the future is meaningless: the clock was set back
                out.push(Candidate { rank, used: s.used.min(now), url, version, segment: Some(i) });
            }
        }
    }
    out
}

/// Removes a segment: its index first, so that no index is without data. Returns the bytes that this frees.
fn remove_segment(version: &Path, segment: &mut SegmentFiles) -> u64 {
    let name = |extension| version.join(format!("{}.{extension}", segment.name));
    let gone = |r: io::Result<()>| r.is_ok() || r.is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
    if gone(std::fs::remove_file(name("index"))) && gone(std::fs::remove_file(name("data"))) {
        std::mem::take(&mut segment.bytes)
    } else {
        0
    }
}

fn remove_version(version: &VersionFolder) -> bool {
    for leftover in &version.leftovers {
        let _ = std::fs::remove_file(leftover);
    }
    let _ = std::fs::remove_file(version.path.join("identity"));
    std::fs::remove_dir(&version.path).is_ok()
}

/// Removes the directory of a URL that has no version any more.
fn remove_url(url: &Path) -> bool {
    let Ok(entries) = url.read_dir() else { return false };
    let names: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    if names.iter().any(|n| n.is_dir() && !n.is_symlink()) {
        return false;
    }
    for name in names {
        let _ = std::fs::remove_file(name);
    }
    std::fs::remove_dir(url).is_ok()
}
