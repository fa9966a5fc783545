//! Warnings for users, each given once.

use crate::locked;
use std::io;
use std::path::Path;
use std::sync::Mutex;

/// Kinds of warnings: each is given once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    ReadOnly,
    Full,
    Failed,
    Damaged,
    OtherFormat,
    Busy,
    NoRoom,
    NotKept,
}

/// The warnings so far.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<Vec<(Kind, String)>>);

impl Warnings {
    /// Adds a warning unless there is one of its kind.
    pub(crate) fn add(&self, kind: Kind, text: impl FnOnce() -> String) {
        let mut all = locked(&self.0);
        if all.iter().all(|(k, _)| *k != kind) {
            all.push((kind, text()));
        }
    }

    /// A write failed; returns whether a retry makes no sense.
    pub(crate) fn write_failed(&self, directory: &Path, error: &io::Error) -> bool {
        let folder = directory.display();
        match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                self.add(Kind::ReadOnly, || {
                    format!("the local cache {folder} cannot be written ({error}): no more data are cached")
                });
                true
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                self.add(Kind::Full, || {
                    format!(
                        "no space for the local cache {folder} ({error}): no more data are cached until there is space"
                    )
                });
                false
            }
            io::ErrorKind::ResourceBusy => {
                self.add(Kind::Busy, || {
                    format!("another process keeps the local cache {folder} locked: no more data are cached until it is unlocked")
                });
                false
            }
            _ => {
                self.add(Kind::Failed, || format!("writing to the local cache {folder} failed ({error})"));
                false
            }
        }
    }

    /// There is no room below the limit: everything held is in use.
    pub(crate) fn no_room(&self, directory: &Path, max_bytes: u64) {
        self.add(Kind::NoRoom, || {
            let (folder, limit) = (directory.display(), sapwood_span::units::bytes(max_bytes));
            format!(
                "the local cache {folder} is too small for all data that are read (limit {limit}): the rest is not cached; \
                 raise the limit with `sapwood cache on --max SIZE`"
            )
        });
    }

    /// Something in the directory did not match its checksum.
    pub(crate) fn damaged(&self, path: &Path) {
        self.add(Kind::Damaged, || {
            let path = path.display();
            format!(
                "the local cache is damaged ({path}): damaged data are fetched again; `sapwood cache verify` removes it"
            )
        });
    }

    /// All of them, in order.
    pub(crate) fn all(&self) -> Vec<String> {
        locked(&self.0).iter().map(|(_, text)| text.clone()).collect()
    }
}
