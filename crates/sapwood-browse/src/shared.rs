//! What all requests share: targets, open files, and the work that reads them.

use crate::access::Access;
use crate::answer::Fault;
use crate::cancel::CancelOnDrop;
use crate::open_files::OpenFiles;
use crate::place::{Place, Targets};
use sapwood_span::sync::lock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::Semaphore;

/// Requests at once that read files.
pub(crate) const WORKERS: usize = 64;

/// What all requests share.
pub(crate) struct Shared {
    pub access: Access,
    pub targets: Targets,
    pub files: OpenFiles,
    /// Places of requests that read files.
    workers: Arc<Semaphore>,
    /// Set to end what runs.
    running: Mutex<Vec<Weak<AtomicBool>>>,
}

impl Shared {
    /// For these targets; nothing runs yet.
    pub(crate) fn new(access: Access, targets: Targets, files: OpenFiles) -> Self {
        Self { access, targets, files, workers: Arc::new(Semaphore::new(WORKERS)), running: Mutex::default() }
    }

    /// Requests that read files at the moment.
    pub(crate) fn running(&self) -> usize {
        WORKERS - self.workers.available_permits()
    }

    /// After an error of a file itself, it is opened again for the next request: it may have changed.
    pub(crate) fn forget_after(&self, fault: &Fault, place: &Place) {
        if fault.is_of_file()
            && let Some(url) = &place.url
        {
            self.files.forget(url);
        }
    }

    /// Ends what runs.
    pub(crate) fn stop(&self) {
        for running in lock(&self.running).drain(..).filter_map(|running| running.upgrade()) {
            running.store(true, Ordering::SeqCst);
        }
    }

    /// Runs work that reads files on a thread of its own. The flag that it gets is set when its answer is not wanted any
    /// more: the client is gone, or the server ends.
    ///
    /// # Errors
    /// What it says; too many at once; a panic.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Arc<AtomicBool>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let guard = CancelOnDrop(self.flag());
        let done = self.begin(guard.0.clone(), work)?;
        done.await.unwrap_or_else(|_| Err(Fault::new("a bug in Sapwood: a thread panicked")))
    }

    /// A flag that is set when the server ends.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        let flag = Arc::new(AtomicBool::new(false));
        let mut running = lock(&self.running);
        running.retain(|other| other.strong_count() > 0);
        running.push(Arc::downgrade(&flag));
        flag
    }

    /// Starts work that obeys a flag.
    ///
    /// # Errors
    /// Too many at once.
    pub(crate) fn begin<T: Send + 'static>(
        self: &Arc<Self>,
        cancel: Arc<AtomicBool>,
        work: impl FnOnce(&Self, &Arc<AtomicBool>) -> T + Send + 'static,
    ) -> Result<tokio::task::JoinHandle<T>, Fault> {
        let Ok(worker) = self.workers.clone().try_acquire_owned() else {
            return Err(Fault::busy(format!("{WORKERS} requests of this page are read at once; stop some of them")));
        };
        let shared = self.clone();
        Ok(tokio::task::spawn_blocking(move || {
            let done = work(&shared, &cancel);
            drop(worker);
            done
        }))
    }
}
