//! From the path in a request to a file below the root, and nowhere else.

use crate::stamp::{Stamp, Version};
use bytes::Bytes;
use sapwood_span::{Span, percent};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// What a path leads to.
pub(crate) enum Found {
    File(Served),
    Folder(Folder),
    Nothing,
}

/// An open file and what tells its versions apart.
#[derive(Clone)]
pub(crate) struct Served {
    file: Arc<File>,
    stamp: Stamp,
    pub version: Version,
}

impl Served {
    fn new(file: File) -> io::Result<Self> {
        let stamp = Stamp::of(&file.metadata()?);
        Ok(Self { file: Arc::new(file), stamp, version: stamp.version(SystemTime::now()) })
    }

    pub fn size(&self) -> u64 {
        self.stamp.size
    }

    /// Reads some of it, of the version that was opened.
    ///
    /// # Errors
    /// The file has changed, or cannot be read.
    pub fn read(&self, span: Span) -> io::Result<Bytes> {
        let len = usize::try_from(span.len).map_err(io::Error::other)?;
        let mut buffer = vec![0; len];
        self.file.read_exact_at(&mut buffer, span.start)?;
        // Looked at after reading: whoever writes moves the time of change before the bytes.
        if Stamp::of(&self.file.metadata()?) != self.stamp {
            return Err(io::Error::other("the file changed while it was sent"));
        }
        Ok(buffer.into())
    }
}

/// An open folder.
pub(crate) struct Folder {
    file: File,
    /// Where it lay when it was opened.
    pub path: PathBuf,
}

impl Folder {
    /// A path that leads to this very folder, even if others take its names meanwhile.
    pub fn stable_path(&self) -> PathBuf {
        let by_number = number_path(&self.file);
        if by_number.exists() { by_number } else { self.path.clone() }
    }
}

/// How Linux names what is open.
fn number_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Opens what lies at a path without links and asks where that is: between looking and opening, somebody may have put a
/// link in a folder's place. None where it lies outside of the root.
fn open_below(root: &Path, real: &Path) -> io::Result<Option<(File, PathBuf)>> {
    // Opening a pipe would wait for its writer.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(real)?;
    let lies = match std::fs::read_link(number_path(&file)) {
        Ok(lies) => lies,
        // Without /proc: the path must lead to the same file still, and without links.
        Err(_) => {
            let again = real.canonicalize()?;
            let (here, there) = (file.metadata()?, again.metadata()?);
            if (here.dev(), here.ino()) != (there.dev(), there.ino()) {
                return Ok(None);
            }
            again
        }
    };
    // By component: `/data` does not hold `/database`.
    Ok(lies.starts_with(root).then_some((file, lies)))
}

/// The decoded components of a path; none if one of them could lead astray.
fn components(path: &str) -> Option<Vec<Vec<u8>>> {
    let mut out = Vec::new();
    for part in path.split('/') {
        let part = percent::decode_strict(part.as_bytes())?;
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
        // Devices may do anything when they are opened.
        let meta = real.metadata()?;
        if !meta.is_file() && !meta.is_dir() {
            return Ok(Found::Nothing);
        }
        let Some((file, path)) = open_below(root, &real)? else { return Ok(Found::Nothing) };
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Ok(Found::Folder(Folder { file, path }));
        }
        if !meta.is_file() {
            return Ok(Found::Nothing);
        }
        Ok::<_, io::Error>(Found::File(Served::new(file)?))
    })();
    opened.unwrap_or(Found::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_put_in_a_folders_place_leads_nowhere() {
        let folder = std::env::temp_dir().join(format!("sapwood-swap-{}", std::process::id()));
        let (root, outside) = (folder.join("root"), folder.join("outside"));
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(root.join("a/f"), "inside").unwrap();
        std::fs::write(outside.join("f"), "secret").unwrap();
        let root = root.canonicalize().unwrap();
        let looked_at = root.join("a/f").canonicalize().unwrap();
        assert!(open_below(&root, &looked_at).unwrap().is_some());
        std::fs::remove_dir_all(root.join("a")).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("a")).unwrap();
        assert!(open_below(&root, &looked_at).unwrap().is_none(), "a link in its folder's place");
        std::fs::remove_file(root.join("a")).unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink(outside.join("f"), root.join("a/f")).unwrap();
        assert!(open_below(&root, &looked_at).is_err(), "a link in its own place");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn nothing_is_read_of_another_version() {
        let path = std::env::temp_dir().join(format!("sapwood-version-{}", std::process::id()));
        std::fs::write(&path, "old").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let served = Served::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(served.read(Span::new(0, 3)).unwrap(), "old");
        file.write_all_at(b"new", 0).unwrap();
        assert!(served.read(Span::new(0, 3)).is_err());
        assert!(served.read(Span::new(0, 0)).is_err());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn paths_cannot_climb() {
        for bad in ["/../x", "/a/%2e%2e/x", "/a/..", "/a%2fb", "/%00", "/%zz", "/%2"] {
            assert!(components(bad).is_none(), "{bad}");
        }
        assert_eq!(components("//a/./b%20c/"), Some(vec![b"a".to_vec(), b"b c".to_vec()]));
        assert_eq!(components("/...").unwrap().len(), 1);
    }
}
