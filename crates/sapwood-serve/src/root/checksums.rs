//! Checksums of whole files: computed piece by piece, a few at a time, and remembered while the file stays the same.

use crate::files::{FilesError, OpenFile, ServedPath};
use sapwood_span::Span;
use sapwood_xrd::answer::{ChecksumKind, frames};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Files read at once for their checksums: disks and processors are there for the others as well.
const AT_ONCE: usize = 2;
/// Bytes read at a time.
const PIECE: u64 = 1 << 20;
/// Checksums remembered.
const MOST: usize = 1000;

/// A file's path, its version, and what was computed.
type Known = (Vec<Vec<u8>>, String, ChecksumKind, u32);

pub(crate) struct Checksums {
    gate: Semaphore,
    /// The one used last comes last.
    known: Mutex<VecDeque<Known>>,
    /// Files that were read to their end.
    #[cfg(test)]
    computed: std::sync::atomic::AtomicUsize,
}

impl Checksums {
    pub fn new() -> Self {
        Self {
            gate: Semaphore::new(AT_ONCE),
            known: Mutex::default(),
            #[cfg(test)]
            computed: std::sync::atomic::AtomicUsize::new(0),
        }
    }

    /// The checksum of a file.
    ///
    /// # Errors
    /// The file changes meanwhile, or cannot be read.
    pub async fn of(&self, path: &ServedPath, file: &dyn OpenFile, kind: ChecksumKind) -> Result<u32, FilesError> {
        if let Some(value) = self.look(path, file, kind) {
            return Ok(value);
        }
        let _turn = self.gate.acquire().await;
        // Somebody who came before may have wanted the same.
        if let Some(value) = self.look(path, file, kind) {
            return Ok(value);
        }
        let mut sum = kind.begin();
        for (piece, _) in frames(Span::new(0, file.size()), PIECE) {
            for bytes in file.read(vec![piece]).await? {
                sum.update(&bytes);
            }
            tokio::task::yield_now().await;
        }
        #[cfg(test)]
        self.computed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let version = file.version();
        if version.is_strong {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.push_back((path.parts().to_vec(), version.etag.clone(), kind, sum.value()));
            if known.len() > MOST {
                known.pop_front();
            }
        }
        Ok(sum.value())
    }

    fn look(&self, path: &ServedPath, file: &dyn OpenFile, kind: ChecksumKind) -> Option<u32> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let version = file.version();
        let fits = |k: &Known| k.2 == kind && k.1 == version.etag && k.0 == path.parts();
        let at = known.iter().position(fits).filter(|_| version.is_strong)?;
        let found = known.remove(at)?;
        let value = found.3;
        known.push_back(found);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Files, Found};
    use crate::folder::FolderFiles;
    use std::sync::atomic::Ordering;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_version_is_read_once() {
        let folder = std::env::temp_dir().join(format!("sapwood-sums-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("f"), "123456789").unwrap();
        let rt = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        rt.block_on(async {
            let files = FolderFiles::new(folder.canonicalize().unwrap());
            let path = ServedPath::of_bytes(b"/f").unwrap();
            let sums = Checksums::new();
            let of = async |kind| {
                let Ok(Found::File(file)) = files.find(&path).await else { panic!("it is there") };
                sums.of(&path, &*file, kind).await.unwrap()
            };
            let computed = || sums.computed.load(Ordering::Relaxed);
            assert_eq!(of(ChecksumKind::Crc32c).await, 0xe306_9283);
            assert_eq!(of(ChecksumKind::Adler32).await, 0x091e_01de);
            assert_eq!(computed(), 2);
            assert!(sums.known.lock().unwrap().is_empty(), "a file that was just written may change unseen");
            // until it is no longer young
            let old = SystemTime::now() + Duration::from_secs(20);
            while sums.known.lock().unwrap().is_empty() && SystemTime::now() < old {
                tokio::time::sleep(Duration::from_millis(100)).await;
                assert_eq!(of(ChecksumKind::Crc32c).await, 0xe306_9283);
            }
            let before = computed();
            assert_eq!(of(ChecksumKind::Crc32c).await, 0xe306_9283);
            assert_eq!(computed(), before, "it is remembered");
            std::fs::write(folder.join("f"), "123456780").unwrap();
            assert_ne!(of(ChecksumKind::Crc32c).await, 0xe306_9283);
            assert_eq!(computed(), before + 1);
        });
        std::fs::remove_dir_all(folder).unwrap();
    }
}
