//! Jobs that are not complete.

use crate::clock::Time;
use crate::policy::Access;

/// A job that is not complete: one line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Job {
    pub(super) workload: u32,
    pub(super) dataset: u32,
    /// Its first file, among those of all datasets.
    pub(super) file: u64,
    pub(super) files: u32,
    pub(super) site: u32,
    pub(super) task: u32,
    /// The number of its read in a trace, or [`NO_READ`].
    pub(super) read: u32,
    pub(super) access: Access,
    /// The number of what it brings into caches; 0 if nothing.
    pub(super) arrival: u32,
    /// Transfers, or flows, work and what others bring into caches, that it waits for.
    pub(super) pending: u32,
    pub(super) started: Time,
    /// Whether its work would be done by now if nothing slowed it.
    pub(super) worked: bool,
    /// When its work is done, as far as is known.
    pub(super) end: Time,
    /// The number of its behaviour: that of what comes from farthest.
    pub(super) behaviour: u32,
}

const _: () = assert!(size_of::<Job>() == 64);

/// The read of a job that is of no trace.
pub(super) const NO_READ: u32 = u32::MAX;

/// All jobs; places of those that are complete are used again.
#[derive(Default)]
pub(super) struct Jobs {
    pub(super) all: Vec<Job>,
    pub(super) free: Vec<u32>,
}

impl Jobs {
    pub(super) fn add(&mut self, job: Job) -> u32 {
        if let Some(id) = self.free.pop() {
            self.all[id as usize] = job;
            return id;
        }
        self.all.push(job);
        self.all.len() as u32 - 1
    }
}
