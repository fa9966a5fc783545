//! File permissions: what a new file takes over from the one that it replaces.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Mode, owner, group and POSIX ACL of a file.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    mode: u32,
    owner: (u32, u32),
    acl: Option<Vec<u8>>,
}

impl Access {
    /// Those of an existing file.
    pub(crate) fn of(path: &Path, there: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { mode: there.mode() & 0o7777, owner: (there.uid(), there.gid()), acl: acl::get(path) }
    }

    /// Applies them to a new file as far as the system permits this user, so that nobody gains read access. The owner
    /// keeps access until [`Access::complete`].
    pub(crate) fn give(&mut self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt, fchown};
        let made = file.metadata()?;
        let (user, group) = self.owner;
        let mut kept = (made.uid(), made.gid()) == self.owner;
        if !kept {
            // only root may change the owner, but users may set another group of theirs
            let given = fchown(file, Some(user), Some(group)).or_else(|_| fchown(file, None, Some(group)));
            kept = given.is_ok();
        }
        // an ACL's mask is stored in place of the mode's group bits
        let kept = match &self.acl {
            Some(acl) => kept && acl::set(file, acl),
            // the directory may give an ACL to new files
            None => acl::remove(file) && kept,
        };
        if !kept {
            // its group differs: that group gets the permissions of others
            self.mode = self.mode & 0o707 | (self.mode & 0o7) << 3;
        }
        if file.metadata()?.uid() != user {
            // a program that runs as its owner must not run as another user
            self.mode &= 0o777;
        }
        self.set(file, self.mode | 0o600)
    }

    /// The final mode.
    pub(crate) fn complete(&self, file: &File) -> io::Result<()> {
        if self.mode & 0o600 == 0o600 { Ok(()) } else { self.set(file, self.mode) }
    }

    fn set(&self, file: &File, mode: u32) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        match file.set_permissions(std::fs::Permissions::from_mode(mode)) {
            // file systems without modes accept files anyway
            Err(e) if matches!(e.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) => Ok(()),
            done => done,
        }
    }
}

/// POSIX access control lists, as Linux stores them: in an extended attribute, whose bytes are copied.
#[cfg(target_os = "linux")]
mod acl {
    use std::ffi::CString;
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    const NAME: &std::ffi::CStr = c"system.posix_acl_access";
    /// Maximum size of an extended attribute.
    const LONGEST: usize = 64 << 10;

    /// The file's ACL, if it has one and the file system supports them.
    pub(super) fn get(path: &Path) -> Option<Vec<u8>> {
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        let mut bytes = vec![0_u8; LONGEST];
        // SAFETY: both names end with a zero, and `bytes` has the length passed
        let len =
            unsafe { libc::getxattr(path.as_ptr(), NAME.as_ptr(), bytes.as_mut_ptr().cast::<libc::c_void>(), LONGEST) };
        bytes.truncate(usize::try_from(len).ok()?);
        Some(bytes)
    }

    /// Sets the file's ACL; returns whether that succeeded.
    pub(super) fn set(file: &File, acl: &[u8]) -> bool {
        let bytes = acl.as_ptr().cast::<libc::c_void>();
        // SAFETY: the descriptor is open, the name ends with a zero, and `acl` has the length passed
        unsafe { libc::fsetxattr(file.as_raw_fd(), NAME.as_ptr(), bytes, acl.len(), 0) == 0 }
    }

    /// Removes the file's ACL; returns whether it has none now.
    pub(super) fn remove(file: &File) -> bool {
        // SAFETY: the descriptor is open and the name ends with a zero
        let done = unsafe { libc::fremovexattr(file.as_raw_fd(), NAME.as_ptr()) };
        let known = [Some(libc::ENODATA), Some(libc::ENOTSUP), Some(libc::ENOSYS)];
        done == 0 || known.contains(&std::io::Error::last_os_error().raw_os_error())
    }
}

#[cfg(not(target_os = "linux"))]
mod acl {
    use std::fs::File;
    use std::path::Path;

    pub(super) fn get(_path: &Path) -> Option<Vec<u8>> {
        None
    }

    pub(super) fn set(_file: &File, _acl: &[u8]) -> bool {
        false
    }

    pub(super) fn remove(_file: &File) -> bool {
        true
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::target::{Placement, Target};
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    const PLACE: Placement = Placement { replace: true, sync: false };

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("sapwood-access-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Mode, owner and group.
    fn who(path: &Path) -> (u32, u32, u32) {
        let there = fs::metadata(path).unwrap();
        (there.mode() & 0o7777, there.uid(), there.gid())
    }

    #[test]
    fn a_temporary_file_is_never_open_to_more_than_the_old_one() {
        let folder = folder("mode");
        let path = folder.join("a");
        for mode in [0o600, 0o400, 0o440, 0o640, 0o664, 0o666] {
            fs::write(&path, b"secret").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            // only root can change owners; others keep theirs
            let _ = chown(&path, Some(4321), Some(1234));
            let before = who(&path);
            let mut target = Target::begin(&path, PLACE).unwrap();
            assert_eq!(who(target.temporary()), (mode | 0o600, before.1, before.2), "before anything is written");
            target.file().unwrap().write_all(b"new").unwrap();
            target.complete().unwrap();
            assert_eq!((who(&path), fs::read(&path).unwrap()), ((mode, before.1, before.2), b"new".to_vec()));
            fs::remove_file(&path).unwrap();
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    /// An ACL that lets user 1234 read and write, as the kernel stores it: version, then tag, permissions and number.
    fn list(group: u8, mask: u8) -> Vec<u8> {
        let entries: [(u8, u8, u32); 5] =
            [(1, 6, u32::MAX), (2, 6, 1234), (4, group, u32::MAX), (0x10, mask, u32::MAX), (0x20, 0, u32::MAX)];
        let entry = |(tag, may, who): (u8, u8, u32)| [&[tag, 0, may, 0][..], &who.to_le_bytes()].concat();
        [&2_u32.to_le_bytes()[..], &entries.into_iter().flat_map(entry).collect::<Vec<u8>>()].concat()
    }

    #[test]
    fn access_control_lists_are_kept_and_none_is_made() {
        let folder = folder("acl");
        let path = folder.join("a");
        fs::write(&path, b"old").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        if !acl::set(&file, &list(0, 6)) {
            eprintln!("no access control lists here");
            fs::remove_dir_all(&folder).unwrap();
            return;
        }
        let was = acl::get(&path).unwrap();
        let put = |bytes: &[u8]| {
            let mut target = Target::begin(&path, PLACE).unwrap();
            target.file().unwrap().write_all(bytes).unwrap();
            target.complete().unwrap();
        };
        put(b"new");
        assert_eq!((acl::get(&path), fs::metadata(&path).unwrap().mode() & 0o777), (Some(was), 0o660));
        // its mask is stored in place of the mode's group bits, which must not become the group's own
        assert!(acl::remove(&File::open(&path).unwrap()) && acl::get(&path).is_none());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        // a directory that gives an ACL to new files
        let name = c"system.posix_acl_default";
        let at = std::ffi::CString::new(folder.to_str().unwrap()).unwrap();
        let given = list(6, 6);
        // SAFETY: both names end with a zero, and `given` has the length passed
        let done = unsafe { libc::setxattr(at.as_ptr(), name.as_ptr(), given.as_ptr().cast(), given.len(), 0) };
        assert_eq!(done, 0);
        put(b"newer");
        assert_eq!((acl::get(&path), fs::metadata(&path).unwrap().mode() & 0o777), (None, 0o640));
        fs::remove_dir_all(&folder).unwrap();
    }
}
