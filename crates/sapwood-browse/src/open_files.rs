//! Files that stay open for the next request.

use sapwood::{File, OpenOptions, Result, is_remote};
use sapwood_span::sync::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Files held open at most.
const MOST: usize = 16;

/// What changes when a local file is replaced.
type FileStamp = Option<(u64, Option<SystemTime>)>;

/// A file that is being opened; what came of it, for those that wait.
type Opening = Arc<Mutex<Option<Result<File>>>>;

/// Open files, the one used last at the end.
pub(crate) struct OpenFiles {
    options: OpenOptions,
    open: Mutex<Vec<(String, FileStamp, File)>>,
    /// Locked by the request that opens a file: others wait for it, and find it open.
    opening: Mutex<HashMap<String, Opening>>,
}

impl OpenFiles {
    /// None yet; these options are for all.
    pub(crate) fn new(options: OpenOptions) -> Self {
        Self { options, open: Mutex::default(), opening: Mutex::default() }
    }

    /// How files are opened.
    pub(crate) fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// A file; one that is open already where it is the same.
    ///
    /// # Errors
    /// As [`File::open`].
    pub(crate) fn get(&self, url: &str) -> Result<File> {
        let version = version(url);
        if let Some(file) = self.held(url, version) {
            return Ok(file);
        }
        let opening = lock(&self.opening).entry(url.to_owned()).or_default().clone();
        let mut came = lock(&opening);
        if let Some(opened) = &*came {
            // also an error: each that waits would wait for another one
            return opened.clone();
        }
        if let Some(file) = self.held(url, version) {
            return Ok(file);
        }
        let opened = File::open(url, &self.options);
        if let Ok(file) = &opened {
            self.hold(url, version, file);
        }
        *came = Some(opened.clone());
        // those that wait have it still
        lock(&self.opening).remove(url);
        opened
    }

    /// A file that is open, in this version; another version is closed.
    fn held(&self, url: &str, version: FileStamp) -> Option<File> {
        let mut open = lock(&self.open);
        let (found, others): (Vec<_>, Vec<_>) = open.drain(..).partition(|(name, ..)| name == url);
        *open = others;
        let found = found.into_iter().find(|(_, held, _)| *held == version)?;
        let file = found.2.clone();
        open.push(found);
        Some(file)
    }

    fn hold(&self, url: &str, version: FileStamp, file: &File) {
        let mut open = lock(&self.open);
        open.push((url.to_owned(), version, file.clone()));
        let excess = open.len().saturating_sub(MOST);
        let closed: Vec<_> = open.drain(..excess).collect();
        drop(open);
        drop(closed);
    }

    /// Forgets a file that could not be read: the next request opens it again.
    pub(crate) fn forget(&self, url: &str) {
        let mut open = lock(&self.open);
        let (gone, kept): (Vec<_>, Vec<_>) = open.drain(..).partition(|(name, ..)| name == url);
        *open = kept;
        drop(open);
        drop(gone);
    }
}

fn version(url: &str) -> FileStamp {
    if is_remote(url) {
        return None;
    }
    let found = std::fs::metadata(sapwood::raw_text::path_of(url)).ok()?;
    Some((found.len(), found.modified().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn those_that_wait_for_a_failing_file_share_its_error() {
        const TOGETHER: usize = 8;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/a.root", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let counted = counted.clone();
                thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    while stream.read(&mut bytes).is_ok_and(|n| n > 0) {
                        counted.fetch_add(1, Ordering::SeqCst);
                        // time for the others to come and wait
                        thread::sleep(Duration::from_millis(500));
                        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
                    }
                });
            }
        });
        let alone = OpenFiles::new(OpenOptions::default());
        assert!(alone.get(&url).is_err());
        let of_one = asked.swap(0, Ordering::SeqCst);
        let files = OpenFiles::new(OpenOptions::default());
        let barrier = Barrier::new(TOGETHER);
        thread::scope(|scope| {
            for _ in 0..TOGETHER {
                scope.spawn(|| {
                    barrier.wait();
                    assert!(files.get(&url).is_err());
                });
            }
        });
        let of_all = asked.load(Ordering::SeqCst);
        assert!(of_one > 0 && of_all < TOGETHER * of_one, "{of_all} requests, {of_one} for one");
        assert!(lock(&files.opening).is_empty());
    }
}
