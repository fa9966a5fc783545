//! Several files of one directory that belong together, such as a report and its pictures: all of them are written, or none.

use crate::durable::{Folder, close};
use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, ErrorKind, Result};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where new files are until all are complete. One name for all runs: the lock keeps others away, and the next run removes what a killed
/// one has left.
const UNFINISHED: &str = ".sapwood-unfinished";

/// A directory into which a set of files is written; no other [`FileSet`] writes there meanwhile.
#[derive(Debug)]
pub struct FileSet {
    folder: PathBuf,
    /// Whether it was created for this set.
    created: bool,
    _lock: File,
}

impl FileSet {
    /// Creates the directory if there is none, and excludes other sets from it. What an earlier process has left that was killed is
    /// removed.
    ///
    /// # Errors
    /// That it is no directory, or that a set is written there already.
    pub fn begin(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let named = |e: Error| e.in_file(text_of_path(folder));
        if sapwood_span::is_remote(&folder.to_string_lossy()) {
            return Err(named(Error::invalid("only local directories are written")));
        }
        let created = match fs::create_dir(folder) {
            Ok(()) => true,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let made = fs::create_dir_all(folder);
                made.map_err(|e| named(Error::io("cannot make the directory", e)))?;
                true
            }
            Err(_) if folder.is_dir() => false,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                let what = Error::invalid("exists and is not a directory").with_remedy("give the name of a directory");
                return Err(named(what));
            }
            Err(e) => return Err(named(Error::io("cannot make the directory", e))),
        };
        let lock = File::open(folder).map_err(|e| named(Error::io("cannot be opened", e)))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let what = Error::new(ErrorKind::Io, "another process is writing into this directory");
                return Err(named(what.with_remedy("wait until it has ended, or give another directory")));
            }
            // on a file system without locks nothing is excluded, but each file is whole
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let set = Self { folder: folder.to_owned(), created, _lock: lock };
        set.remove_unfinished();
        Ok(set)
    }

    /// Writes the files. `others` are names of such files that an earlier set may have and this one has not: they are removed. Before the
    /// new files take their names the old ones go: whenever the process is killed, no files of two sets are beside each other.
    ///
    /// # Errors
    /// Errors of the system: then the files of before are there, unless it is one of removing or renaming a file at the end. Then some are
    /// missing.
    pub fn write<'a>(&self, files: &[(&'a str, &[u8])], others: &[&'a str]) -> Result<()> {
        let unfinished = self.folder.join(UNFINISHED);
        let done = self.stage(&unfinished, files);
        if done.is_err() {
            self.remove_unfinished();
            return done;
        }
        let names = || files.iter().map(|f| f.0);
        let failed = |what: &str, name: &str, e| Error::io(what, e).in_file(text_of_path(&self.folder.join(name)));
        for name in names().chain(others.iter().copied().filter(|&other| names().all(|name| name != other))) {
            match fs::remove_file(self.folder.join(name)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("cannot be replaced", name, e));
                }
                _ => {}
            }
        }
        for name in names() {
            let renamed = fs::rename(unfinished.join(name), self.folder.join(name));
            renamed.map_err(|e| failed("cannot get its name", name, e))?;
        }
        self.remove_unfinished();
        let synced = Folder::of(&self.folder.join(UNFINISHED)).and_then(|folder| folder.sync());
        synced.map_err(|e| Error::io("cannot sync the directory to the disk", e).in_file(text_of_path(&self.folder)))
    }

    /// All files, complete and on the disk, under other names. That none of the names is one of a directory is seen before anything changes.
    fn stage(&self, unfinished: &Path, files: &[(&str, &[u8])]) -> Result<()> {
        let failed = |what: &str, path: &Path, e| Error::io(what, e).in_file(text_of_path(path));
        fs::create_dir(unfinished).map_err(|e| failed("cannot write into the directory", &self.folder, e))?;
        for &(name, bytes) in files {
            let path = self.folder.join(name);
            if path.is_dir() {
                return Err(
                    Error::invalid("is a directory; remove it or give another directory").in_file(text_of_path(&path))
                );
            }
            put(&unfinished.join(name), bytes).map_err(|e| failed("cannot write", &path, e))?;
        }
        Ok(())
    }

    /// What of a set has not become complete.
    fn remove_unfinished(&self) {
        // what stays is in the way of the next set only, which says so
        let unfinished = self.folder.join(UNFINISHED);
        let _ = fs::remove_dir_all(&unfinished).or_else(|_| fs::remove_file(&unfinished));
    }
}

impl Drop for FileSet {
    fn drop(&mut self) {
        if self.created {
            // only if nothing is in it
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    close(file)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("sapwood-set-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut all: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    }

    #[test]
    fn a_set_replaces_the_one_before_it_and_nothing_else() {
        let folder = folder("replaces").join("made/too");
        let set = FileSet::begin(&folder).unwrap();
        set.write(&[("a", b"1"), ("b", b"1")], &[]).unwrap();
        fs::write(folder.join("notes"), b"mine").unwrap();
        // another one has to wait, and what a killed one has left goes
        let told = FileSet::begin(&folder).unwrap_err().to_string();
        assert!(told.contains("another process is writing into this directory") && told.contains("made/too"), "{told}");
        drop(set);
        fs::write(folder.join(UNFINISHED), b"half").unwrap();
        drop(FileSet::begin(&folder).unwrap());
        fs::create_dir(folder.join(UNFINISHED)).unwrap();
        fs::write(folder.join(UNFINISHED).join("b"), b"half").unwrap();
        let set = FileSet::begin(&folder).unwrap();
        assert_eq!(names(&folder), ["a", "b", "notes"]);
        set.write(&[("a", b"2"), ("c", b"2")], &["b", "c", "d"]).unwrap();
        assert_eq!(names(&folder), ["a", "c", "notes"]);
        assert_eq!(fs::read(folder.join("a")).unwrap(), b"2");
        fs::remove_dir_all(folder.parent().unwrap().parent().unwrap()).unwrap();
    }

    #[test]
    fn what_cannot_be_written_leaves_what_was_there() {
        let folder = folder("fails");
        FileSet::begin(&folder).unwrap().write(&[("a", b"1")], &[]).unwrap();
        fs::create_dir(folder.join("b")).unwrap();
        let set = FileSet::begin(&folder).unwrap();
        let told = set.write(&[("a", b"2"), ("b", b"2")], &[]).unwrap_err().to_string();
        assert!(told.contains("is a directory") && told.contains("fails"), "{told}");
        assert_eq!(
            (names(&folder), fs::read(folder.join("a")).unwrap()),
            (vec!["a".into(), "b".into()], b"1".to_vec())
        );
        // a name that cannot be created, in a directory that was made for it
        drop(set);
        let new = folder.join("new");
        assert!(FileSet::begin(&new).unwrap().write(&[("x/y", b"2")], &[]).is_err());
        assert!(!new.exists());
        fs::write(folder.join("file"), b"").unwrap();
        let told = FileSet::begin(folder.join("file")).unwrap_err().to_string();
        assert!(told.contains("is not a directory"), "{told}");
        assert!(FileSet::begin("http://host/dir").unwrap_err().to_string().contains("local"));
        // a link to a directory is one
        std::os::unix::fs::symlink(&folder, folder.join("link")).unwrap();
        FileSet::begin(folder.join("link")).unwrap().write(&[("linked", b"2")], &[]).unwrap();
        assert!(folder.join("linked").exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
