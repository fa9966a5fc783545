//! The local cache: `sapwood.cache`.

use crate::error::{Missing, exception};
use crate::text::{Text, told};
use crate::wait::wait;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sapwood::local_cache::{self, HeldFile, LocalCache, Store, Verify};
use sapwood::raw_text::path_of;
use sapwood::{Error, ErrorKind, OpenOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

/// Which local cache a file is read through: a directory, or False for none.
#[derive(FromPyObject)]
pub(crate) enum Choice {
    Off(bool),
    In(Text),
}

/// The choice as the core has it; `None` is what is configured.
pub(crate) fn choice(given: Option<Choice>) -> PyResult<LocalCache> {
    match given {
        None => Ok(LocalCache::Configured),
        Some(Choice::Off(false)) => Ok(LocalCache::Off),
        Some(Choice::Off(true)) => Err(PyValueError::new_err("local_cache must be a directory, or False for none")),
        Some(Choice::In(folder)) => Ok(LocalCache::In { directory: path_of(&folder).into_owned(), max_bytes: None }),
    }
}

/// A whole file that is being fetched in the background; it stops when this is dropped.
pub(crate) struct Whole(Arc<AtomicBool>);

impl Whole {
    /// Of a file that can be fetched.
    ///
    /// # Errors
    /// `Invalid` where the local cache is off.
    pub(crate) fn of(url: &str, options: &OpenOptions) -> sapwood::Result<Self> {
        if local_cache::resolve(&options.local_cache)?.is_none() && sapwood::is_remote(url) {
            let e = Error::invalid("cacheread=True needs a local cache");
            return Err(e.with_remedy("pass its directory as local_cache=, or call sapwood.cache.configure()"));
        }
        Ok(Self(Arc::default()))
    }

    /// Begins. What fails is read remotely; what is here already is not fetched again.
    pub(crate) fn start(self, url: Text, options: OpenOptions) -> Self {
        let cancel = self.0.clone();
        if sapwood::is_remote(&url) && !options.offline {
            let work = move || {
                let done = local_cache::fetch_whole(&url, &options, Verify::IfFetched, &|_, _| {}, &cancel);
                if let Err(e) = done
                    && e.kind() == ErrorKind::Corrupt
                {
                    local_cache::warn(&options.local_cache, &e.to_string());
                }
            };
            // without another thread it is read remotely
            let _ = std::thread::Builder::new().name("sapwood-cacheread".to_owned()).spawn(work);
        }
        self
    }

    /// Ends it; what came stays.
    pub(crate) fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Sets the local cache of this process: in this directory (`None`: the default one), or none (`False`).
#[pyfunction]
pub(crate) fn cache_configure(py: Python<'_>, directory: Option<Choice>, max_bytes: Option<u64>) -> PyResult<()> {
    let cache = match choice(directory)? {
        LocalCache::Off => LocalCache::Off,
        LocalCache::In { directory, .. } => LocalCache::In { directory, max_bytes },
        LocalCache::Configured => {
            let directory = local_cache::default_directory().map_err(|e| exception(py, &e, Missing::File))?;
            LocalCache::In { directory, max_bytes }
        }
    };
    if let Some(bytes) = max_bytes {
        local_cache::check_size(bytes).map_err(|e| exception(py, &e, Missing::File))?;
    }
    local_cache::configure(cache);
    Ok(())
}

/// Does something with the local cache that is configured.
fn with_store<T: Send + 'static>(
    py: Python<'_>,
    what: impl FnOnce(&Store) -> sapwood::Result<T> + Send + 'static,
) -> PyResult<T> {
    let work = move || local_cache::store(&LocalCache::Configured).and_then(|store| what(&store));
    wait(py, |_| Ok(()), work)?.map_err(|e| exception(py, &e, Missing::File))
}

/// Directory, limit and contents; `None` when the local cache is off.
#[pyfunction]
pub(crate) fn cache_status(py: Python<'_>) -> PyResult<Option<Bound<'_, PyDict>>> {
    let options = local_cache::resolve(&LocalCache::Configured).map_err(|e| exception(py, &e, Missing::File))?;
    if options.is_none() {
        return Ok(None);
    }
    let s = with_store(py, |store| Ok(store.status()))?;
    let d = PyDict::new(py);
    d.set_item("directory", s.directory)?;
    d.set_item("max_bytes", s.max_bytes)?;
    d.set_item("bytes", s.bytes)?;
    d.set_item("files", s.files)?;
    d.set_item("pieces", s.pieces)?;
    d.set_item("hits", s.hits)?;
    d.set_item("hit_bytes", s.hit_bytes)?;
    d.set_item("misses", s.misses)?;
    d.set_item("missed_bytes", s.missed_bytes)?;
    d.set_item("left_out_bytes", s.left_out_bytes)?;
    d.set_item("warnings", s.warnings.iter().map(|w| told(w)).collect::<Vec<_>>())?;
    Ok(Some(d))
}

/// The versions of files of which something is held.
#[pyfunction]
pub(crate) fn cache_list(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    with_store(py, |store| Ok(store.list()))?.into_iter().map(|file| held(py, file)).collect()
}

fn held(py: Python<'_>, file: HeldFile) -> PyResult<Bound<'_, PyDict>> {
    let d = PyDict::new(py);
    let used = file.last_used.duration_since(UNIX_EPOCH).unwrap_or_default();
    d.set_item("whole", file.is_whole())?;
    d.set_item("url", Text::from(file.id.url))?;
    d.set_item("size", file.id.version.size)?;
    d.set_item("etag", file.id.version.etag)?;
    d.set_item("modified", file.id.version.modified)?;
    d.set_item("checksum", file.id.version.checksum)?;
    d.set_item("bytes", file.bytes)?;
    d.set_item("disk_bytes", file.disk_bytes)?;
    d.set_item("pieces", file.pieces)?;
    d.set_item("latest", file.latest)?;
    d.set_item("in_use", file.in_use)?;
    d.set_item("last_used", used.as_secs())?;
    Ok(d)
}

/// Reads all that is held and compares its checksums; what is damaged is dropped.
#[pyfunction]
pub(crate) fn cache_verify(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let found = with_store(py, |store| Ok(store.verify(&|_, _| {})))?;
    let d = PyDict::new(py);
    d.set_item("files", found.files)?;
    d.set_item("pieces", found.pieces)?;
    d.set_item("bytes", found.bytes)?;
    d.set_item("damaged", found.damaged)?;
    d.set_item("damaged_bytes", found.damaged_bytes)?;
    Ok(d)
}

/// Removes what is held of a file, or everything.
#[pyfunction]
pub(crate) fn cache_purge(py: Python<'_>, url: Option<Text>) -> PyResult<Bound<'_, PyDict>> {
    let name = url.map(|url| local_cache::name_of(&url, &sapwood::S3Options::default()));
    let purged = with_store(py, move |store| store.purge(name.as_deref()))?;
    let d = PyDict::new(py);
    d.set_item("files", purged.files)?;
    d.set_item("bytes", purged.bytes)?;
    Ok(d)
}

/// Waits until all that was read is in the directory.
#[pyfunction]
pub(crate) fn cache_flush(py: Python<'_>) {
    py.detach(local_cache::flush);
}
