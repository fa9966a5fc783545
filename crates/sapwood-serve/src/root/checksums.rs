//! Checksums of whole files: computed piece by piece, a few at a time, and remembered while the file stays the same.

use super::RootShared;
use super::link::{Gone, failure, refuse};
use super::reply::Reply;
use crate::client_request::ServedPath;
use crate::error::FilesError;
use crate::files::OpenFile;
use sapwood_span::Span;
use sapwood_span::sync::lock;
use sapwood_xrd::answer::{ChecksumKind, checksum_wanted, encode_checksum, frames};
use sapwood_xrd::code::{error, status};
use sapwood_xrd::reply::{Failure, late};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// Files read at once for their checksums: other requests need disks and processors, too.
const AT_ONCE: usize = 2;
/// Bytes read at a time.
const PIECE: u64 = 1 << 20;
/// Seconds for which a client is asked to wait for a checksum.
const WAIT: u32 = 3600;
/// Checksums remembered.
const MOST: usize = 1000;

/// A file's path, its version, and what was computed.
type Known = (Vec<Vec<u8>>, String, ChecksumKind, u32);

pub(crate) struct Checksums {
    gate: Semaphore,
    /// The one used last is at the end.
    known: Mutex<VecDeque<Known>>,
    /// Files that were read to their end.
    #[cfg(test)]
    computed: std::sync::atomic::AtomicUsize,
}

impl Checksums {
    pub(super) fn new() -> Self {
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
    pub(super) async fn of(
        &self,
        path: &ServedPath,
        file: &dyn OpenFile,
        kind: ChecksumKind,
    ) -> Result<u32, FilesError> {
        if let Some(value) = self.look(path, file, kind) {
            return Ok(value);
        }
        let _turn = self.gate.acquire().await;
        // An earlier request may have wanted the same.
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
            let mut known = lock(&self.known);
            known.push_back((path.parts().to_vec(), version.etag.clone(), kind, sum.value()));
            if known.len() > MOST {
                known.pop_front();
            }
        }
        Ok(sum.value())
    }

    fn look(&self, path: &ServedPath, file: &dyn OpenFile, kind: ChecksumKind) -> Option<u32> {
        let mut known = lock(&self.known);
        let version = file.version();
        let fits = |k: &Known| k.2 == kind && k.1 == version.etag && k.0 == path.parts();
        let at = known.iter().position(fits).filter(|_| version.is_strong)?;
        let found = known.remove(at)?;
        let value = found.3;
        known.push_back(found);
        Some(value)
    }
}

/// Answers a query for the checksum of a file, after a request to wait where it takes long.
pub(super) async fn answer(
    mut reply: Reply,
    shared: &RootShared,
    path: &ServedPath,
    file: &dyn OpenFile,
) -> Result<(), Gone> {
    let kind = checksum_wanted(&path.opaque);
    let mut sum = std::pin::pin!(given_or_computed(&shared.checksums, path, file, &kind));
    let answer = |sum: Result<Option<String>, FilesError>| match sum {
        Ok(Some(digits)) => Ok(encode_checksum(&kind, &digits)),
        Ok(None) => Err(refuse(error::UNSUPPORTED, "this kind of checksum is not supported: adler32 and crc32c are")),
        Err(e) => Err(failure(&e)),
    };
    let (link, stream) = (Arc::clone(&reply.link), reply.stream);
    tokio::select! {
        sum = &mut sum => {
            return match answer(sum) {
                Ok(body) => reply.ok(&body).await,
                Err(failure) => reply.fail(&failure).await,
            };
        }
        () = tokio::time::sleep(shared.patience) => {}
    }
    link.reply(stream, status::WAITRESP, &WAIT.to_be_bytes()).await?;
    let answer: Result<Vec<u8>, Failure> = answer(sum.await);
    if let Err(failure) = &answer {
        reply.status(failure);
    }
    let (status, body) = answer.map_or_else(|failure| (status::ERROR, failure.encode()), |body| (status::OK, body));
    link.reply(0, status::ATTN, &late(stream, status, &body)).await
}

/// The file's own checksum, or one computed from its bytes; none for an unknown kind.
async fn given_or_computed(
    sums: &Checksums,
    path: &ServedPath,
    file: &dyn OpenFile,
    kind: &str,
) -> Result<Option<String>, FilesError> {
    let given = file.checksum(kind).await?;
    if let Some(digits) = given.filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_hexdigit())) {
        return Ok(Some(digits));
    }
    match ChecksumKind::named(kind) {
        Some(kind) => sums.of(path, file, kind).await.map(|sum| Some(format!("{sum:08x}"))),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_request::{ClientRequest, Protocol};
    use crate::files::{Files, Found};
    use crate::local_directory::FolderFiles;
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
            let asked = ClientRequest::new(path.clone(), [127, 0, 0, 1].into(), Protocol::Root);
            let sums = Checksums::new();
            let of = async |kind| {
                let Ok(Found::File(file)) = files.find(&asked).await else { panic!("it is there") };
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
