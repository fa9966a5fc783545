//! From the path in a request to a file below the root, and nowhere else.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// HTTP's dates end with the year 9999.
const LAST_DATE: Duration = Duration::from_secs(253_402_300_799);

/// What a path leads to.
pub(crate) enum Found {
    File(Served),
    Folder(PathBuf),
    Nothing,
}

/// An open file and what tells its versions apart.
#[derive(Clone)]
pub(crate) struct Served {
    pub file: Arc<File>,
    pub size: u64,
    pub etag: String,
    pub modified: String,
}

/// The decoded components of a path; none if one of them could lead astray.
fn components(path: &str) -> Option<Vec<Vec<u8>>> {
    let mut out = Vec::new();
    for part in path.split('/') {
        let part = decode(part)?;
        match part.as_slice() {
            b"" | b"." => {}
            // After decoding, a component is a name: it neither climbs nor holds a separator.
            b".." => return None,
            name if name.contains(&b'/') || name.contains(&0) => return None,
            _ => out.push(part),
        }
    }
    Some(out)
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        if b != b'%' {
            out.push(b);
            continue;
        }
        let mut digit = || bytes.next().and_then(|d| (d as char).to_digit(16));
        out.push((digit()? * 16 + digit()?) as u8);
    }
    Some(out)
}

/// Looks a path up. `root` must be canonical. Links are followed as long as they stay below it.
pub(crate) fn find(root: &Path, path: &str) -> Found {
    let Some(parts) = components(path) else { return Found::Nothing };
    let mut full = root.to_path_buf();
    for part in parts {
        full.push(std::ffi::OsStr::from_bytes(&part));
    }
    let opened = (|| {
        let real = full.canonicalize()?;
        // By component: `/data` does not hold `/database`.
        if !real.starts_with(root) {
            return Ok(Found::Nothing);
        }
        let meta = real.metadata()?;
        if meta.is_dir() {
            return Ok(Found::Folder(real));
        }
        // Opening a pipe would wait for its writer.
        if !meta.is_file() {
            return Ok(Found::Nothing);
        }
        let file = File::open(real)?;
        let meta = file.metadata()?;
        let modified = meta.modified()?;
        let time = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok::<_, io::Error>(Found::File(Served {
            file: Arc::new(file),
            size: meta.len(),
            etag: format!("\"{:x}-{:x}-{:x}\"", meta.len(), time.as_nanos(), meta.ino()),
            modified: httpdate::fmt_http_date(modified.clamp(UNIX_EPOCH, UNIX_EPOCH + LAST_DATE)),
        }))
    })();
    opened.unwrap_or(Found::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_cannot_climb() {
        for bad in ["/../x", "/a/%2e%2e/x", "/a/..", "/a%2fb", "/%00", "/%zz", "/%2"] {
            assert!(components(bad).is_none(), "{bad}");
        }
        assert_eq!(components("//a/./b%20c/"), Some(vec![b"a".to_vec(), b"b c".to_vec()]));
        assert_eq!(components("/...").unwrap().len(), 1);
    }
}
