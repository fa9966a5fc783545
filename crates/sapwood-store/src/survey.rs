//! The contents of the directory, by names and sizes only.

use crate::store_directory::{is_folder, open_file, read_small};
use std::collections::BTreeMap;
use std::fs::{DirEntry, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use twox_hash::XxHash3_64;

/// All files of a store.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub urls: Vec<UrlFolder>,
    /// Bytes of everything, in the blocks that it occupies.
    pub bytes: u64,
}

/// The versions of one URL.
#[derive(Debug)]
pub(crate) struct UrlFolder {
    pub path: PathBuf,
    pub versions: Vec<VersionFolder>,
    /// Bytes of the directory itself and what is directly in it.
    pub bytes: u64,
}

/// A version of a file.
#[derive(Debug)]
pub(crate) struct VersionFolder {
    pub path: PathBuf,
    /// Whether a version of this URL was validated after this one.
    pub outdated: bool,
    pub segments: Vec<SegmentFiles>,
    /// Bytes without the segments.
    pub bytes: u64,
    pub used: SystemTime,
    /// Files that were not finished.
    pub leftovers: Vec<PathBuf>,
}

/// A segment's two files, or those of them that exist.
#[derive(Debug)]
pub(crate) struct SegmentFiles {
    pub name: String,
    pub bytes: u64,
    pub used: SystemTime,
    /// Whether both files exist.
    pub complete: bool,
}

impl Survey {
    /// Walks the directory. What disappears meanwhile does not count.
    pub(crate) fn of(directory: &Path) -> io::Result<Self> {
        let mut out = Self { urls: Vec::new(), bytes: occupied(&directory.metadata()?) };
        for (entry, meta) in entries(directory)? {
            out.bytes += occupied(&meta);
            if entry.file_name() == "files" && meta.is_dir() {
                for (entry, meta) in entries(&entry.path())? {
                    if meta.is_dir() {
                        let url = url_folder(entry.path(), &meta)?;
                        let inside = |v: &VersionFolder| v.bytes + v.segments.iter().map(|s| s.bytes).sum::<u64>();
                        out.bytes += url.bytes + url.versions.iter().map(inside).sum::<u64>();
                        out.urls.push(url);
                    } else {
                        out.bytes += occupied(&meta);
                    }
                }
            }
        }
        Ok(out)
    }
}

fn url_folder(path: PathBuf, meta: &Metadata) -> io::Result<UrlFolder> {
    let latest = read_latest(&path).map(|hash| format!("{hash:032x}"));
    let latest = latest.filter(|name| is_folder(&path.join(name)));
    let mut out = UrlFolder { bytes: occupied(meta), versions: Vec::new(), path };
    for (entry, meta) in entries(&out.path)? {
        if meta.is_dir() {
            let outdated = latest.as_ref().is_some_and(|name| entry.file_name() != name.as_str());
            out.versions.push(version_folder(entry.path(), &meta, outdated)?);
        } else {
            out.bytes += occupied(&meta);
        }
    }
    Ok(out)
}

fn version_folder(path: PathBuf, meta: &Metadata, outdated: bool) -> io::Result<VersionFolder> {
    let used = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let mut out = VersionFolder { bytes: occupied(meta), outdated, used, segments: vec![], leftovers: vec![], path };
    let mut parts: BTreeMap<String, SegmentFiles> = BTreeMap::new();
    for (entry, meta) in entries(&out.path)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        match name.rsplit_once('.') {
            Some((stem, "data" | "index")) => {
                let used = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                let known = parts.get_mut(stem);
                let bytes = occupied(&meta);
                if let Some(known) = known {
                    known.bytes += bytes;
                    known.used = known.used.max(used);
                    known.complete = true;
                } else {
                    let name = stem.to_owned();
                    parts.insert(stem.to_owned(), SegmentFiles { name, bytes, used, complete: false });
                }
            }
            other => {
                out.bytes += occupied(&meta);
                if other.is_some_and(|(_, extension)| extension == "tmp") {
                    out.leftovers.push(entry.path());
                }
            }
        }
    }
    out.segments = parts.into_values().collect();
    Ok(out)
}

/// The entries of a directory; links are not followed.
fn entries(folder: &Path) -> io::Result<Vec<(DirEntry, Metadata)>> {
    let entries = match folder.read_dir() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    Ok(entries.flatten().filter_map(|e| e.metadata().ok().map(|m| (e, m))).collect())
}

/// Bytes that a file or directory occupies.
pub(crate) fn occupied(meta: &Metadata) -> u64 {
    meta.len().max(meta.blocks().saturating_mul(512))
}

const MAGIC: &[u8; 8] = b"SWLAST\0\x01";

/// The version that was validated last: the name of its directory as a number.
pub(crate) fn read_latest(url_folder: &Path) -> Option<u128> {
    let bytes = open_file(&url_folder.join("latest"), false).and_then(|f| read_small(&f, 32)).ok()?;
    decode_latest(&bytes)
}

fn decode_latest(bytes: &[u8]) -> Option<u128> {
    let (content, sum) = bytes.split_last_chunk::<8>()?;
    if XxHash3_64::oneshot(content).to_le_bytes() != *sum {
        return None;
    }
    let hash = content.strip_prefix(MAGIC)?;
    hash.try_into().ok().map(u128::from_le_bytes)
}

/// The content that [`read_latest`] reads.
pub(crate) fn encode_latest(version: u128) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(version.to_le_bytes());
    let sum = XxHash3_64::oneshot(&out);
    out.extend(sum.to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_version_survives_and_a_changed_bit_does_not() {
        let bytes = encode_latest(77);
        assert_eq!(decode_latest(&bytes), Some(77));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode_latest(&damaged), None);
        }
        assert!((0..bytes.len()).all(|len| decode_latest(&bytes[..len]).is_none()));
    }
}
