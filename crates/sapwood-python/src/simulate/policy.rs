//! A policy that Python decides.

use pyo3::prelude::*;
use sapwood::simulate::{Access, Copy, Grid, Job, NewDataset, Placement, Policy, Replica};
use sapwood::{Error, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception of a policy; after it, or when the caller waits no longer, nothing more is asked.
#[derive(Clone, Default)]
pub(super) struct Raised(Arc<(AtomicBool, Mutex<Option<PyErr>>)>);

impl Raised {
    fn set(&self, error: PyErr) {
        self.0.1.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop();
    }

    pub(super) fn stop(&self) {
        self.0.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn take(&self) -> Option<PyErr> {
        self.0.1.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_set(&self) -> bool {
        self.0.0.load(Ordering::Relaxed)
    }
}

/// A policy made by a function of Python, for one simulation.
pub(super) struct PythonPolicy {
    policy: Option<Py<PyAny>>,
    raised: Raised,
    begun: bool,
}

/// What changes at sites: running and waiting jobs, whether files are there or expected, round trips from one site.
type Now = (Vec<u64>, Vec<u64>, Vec<bool>, Vec<bool>, Vec<Option<f64>>);

impl PythonPolicy {
    pub(super) fn new(make: &Py<PyAny>, raised: &Raised) -> Self {
        let policy = Python::attach(|py| make.call0(py));
        let policy = policy.map_err(|e| raised.set(e)).ok();
        Self { policy, raised: raised.clone(), begun: false }
    }

    /// Calls a method of the policy, unless something was raised before.
    fn ask<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        let policy = self.policy.as_ref().filter(|_| !self.raised.is_set())?;
        Python::attach(|py| call(policy.bind(py)).map_err(|e| self.raised.set(e)).ok())
    }

    /// What does not change is handed over once.
    fn begin(&mut self, grid: &dyn Grid) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let all = 0..grid.sites();
        let names: Vec<&str> = all.clone().map(|s| grid.name(s)).collect();
        let cores: Vec<u64> = all.clone().map(|s| grid.cores(s)).collect();
        let disks: Vec<u64> = all.map(|s| grid.disk(s)).collect();
        self.ask(|p| p.call_method1("begin", (names, cores, disks)).map(drop));
    }
}

fn now(grid: &dyn Grid, from: usize) -> Now {
    let all = 0..grid.sites();
    (
        all.clone().map(|s| grid.running(s)).collect(),
        all.clone().map(|s| grid.queued(s)).collect(),
        all.clone().map(|s| grid.has_files(s)).collect(),
        all.clone().map(|s| grid.expects_files(s)).collect(),
        all.map(|s| grid.round_trip(from, s)).collect(),
    )
}

impl Policy for PythonPolicy {
    fn place(&mut self, job: &Job<'_>, grid: &dyn Grid) -> Placement {
        self.begin(grid);
        let told = (job.workload, job.dataset, job.file, job.files, job.home, job.time);
        let placed = self.ask(|p| p.call_method1("place", (told, now(grid, job.home)))?.extract::<(usize, bool)>());
        let (site, copies) = placed.unwrap_or((job.home, false));
        Placement { site, access: if copies { Access::Replica } else { Access::Stream } }
    }

    fn replicate(&mut self, dataset: &NewDataset<'_>, grid: &dyn Grid) -> Vec<Copy> {
        self.begin(grid);
        let by_rule: Vec<(u64, usize)> = dataset.by_rule.iter().map(|c| (c.file, c.site)).collect();
        let told = (dataset.name, dataset.files, dataset.file_bytes, by_rule, dataset.time);
        let copies = self.ask(|p| p.call_method1("replicate", (told, now(grid, 0)))?.extract::<Vec<(u64, usize)>>());
        copies.unwrap_or_default().into_iter().map(|(file, site)| Copy { file, site }).collect()
    }

    fn delete(&mut self, site: usize, needed: u64, copies: &[Replica<'_>]) -> Option<Vec<usize>> {
        let told: Vec<_> = copies.iter().map(|c| (c.dataset, c.file, c.bytes, c.used)).collect();
        self.ask(|p| p.call_method1("delete", (site, needed, told))?.extract::<Option<Vec<usize>>>()).flatten()
    }

    fn failure(&self) -> Option<Error> {
        self.raised.is_set().then(|| Error::new(ErrorKind::Interrupted, "the policy has failed"))
    }
}
