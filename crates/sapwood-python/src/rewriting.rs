use crate::error::{Missing, exception, with_force};
use crate::sync::lock;
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A file that is written from others: its path, its progress for a function of Python, and the flag that ends it.
pub(crate) struct Rewriting {
    out: PathBuf,
    counts: Arc<[AtomicU64; 3]>,
    cancel: Arc<AtomicBool>,
    progress: Option<Py<PyAny>>,
}

impl Rewriting {
    /// `progress` is called with what is done, the total, and bytes written.
    pub(crate) fn new(out: PathBuf, progress: Option<Py<PyAny>>) -> Self {
        Self { out, counts: Arc::default(), cancel: Arc::default(), progress }
    }

    /// Takes what is done, the total, and bytes written.
    pub(crate) fn counter(&self) -> impl Fn([u64; 3]) + Send + Sync + use<> {
        let counts = self.counts.clone();
        move |now| {
            for (count, n) in counts.iter().zip(now) {
                count.store(n, Relaxed);
            }
        }
    }

    pub(crate) fn cancel(&self) -> Arc<AtomicBool> {
        self.cancel.clone()
    }

    /// The exception of an error of the work or of its arguments.
    pub(crate) fn failed(&self, py: Python<'_>, error: Error) -> PyErr {
        let missing = Missing::of(&error, &self.out);
        exception(py, &with_force(error), missing)
    }

    /// Works on another thread; an interrupt raises its exception once the half-written file is gone.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let ended = Arc::new(Mutex::new(()));
        let running = ended.clone();
        let done = wait(
            py,
            |py| self.tell(py),
            move || {
                let _running = lock(&running);
                work()
            },
        );
        if done.is_err() {
            self.cancel.store(true, Relaxed);
            py.detach(|| drop(lock(&ended)));
        }
        let report = done?.map_err(|e| self.failed(py, e))?;
        self.tell(py)?;
        Ok(report)
    }

    fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let Some(function) = &self.progress else { return Ok(()) };
        let [done, total, bytes] = [0, 1, 2].map(|i: usize| self.counts[i].load(Relaxed));
        function.call1(py, (done, total, bytes)).map(drop)
    }
}
