//! Which branches readers read of which trees, kept across restarts.

use sapwood_prefetch::{Memory, Reader};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// A longer file is not read: the proxy did not write it.
const LONGEST: u64 = 4 << 20;

/// The sets of branches that readers read together.
pub(crate) struct BranchUsage {
    memory: RwLock<Memory>,
    /// The file they are kept in; none keeps them in memory only.
    path: Option<PathBuf>,
}

impl BranchUsage {
    /// Loads those kept in this directory. An unreadable file counts as empty.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        let path = folder.map(|folder| folder.join("branches"));
        let memory = path.as_deref().and_then(read).map(|text| Memory::parse(&text)).unwrap_or_default();
        Self { memory: RwLock::new(memory), path }
    }

    /// Calls `look` with them.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&Memory) -> T) -> T {
        look(&self.memory.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A client has closed a file.
    pub(crate) fn remember(&self, reader: &Reader) {
        reader.remember(&mut self.memory.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Saves them. Only guesses are lost if that fails.
    pub(crate) fn save(&self) {
        let Some(path) = &self.path else { return };
        let text = self.with(Memory::to_text);
        if read(path).is_some_and(|kept| kept == text) {
            return;
        }
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let written = options.open(&new).and_then(|mut file| file.write_all(text.as_bytes()));
        if written.and_then(|()| std::fs::rename(&new, path)).is_err() {
            let _ = std::fs::remove_file(&new);
        }
    }
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}
