//! Reads of traces: jobs that are alike behave alike, but what each reads of its file is known to the byte.

use super::World;
use super::job_list::{Job, NO_READ};

/// What a read of a trace reads of its file.
pub(super) struct Replay {
    /// The first bytes of its parts: of what is read when a file is opened, and of all else.
    pub(super) wanted: [(usize, u64); 2],
    /// Bytes beyond the size of the file: the same once more.
    pub(super) again: u64,
}

impl World<'_> {
    /// What a job reads of its file, if a trace tells.
    pub(super) fn replay(&self, job: &Job) -> Option<Replay> {
        let read = self.scenario.reads.get(job.read as usize)?;
        let size = self.scenario.datasets.get(job.dataset as usize)?.bytes_of(u64::from(read.file));
        let once = read.bytes.min(size);
        let opening = once.min(self.kinds[self.kind_of[job.dataset as usize]].parts.bytes[0]);
        Some(Replay { wanted: [(0, opening), (1, once - opening)], again: read.bytes - once })
    }

    /// How many times as long as the job that was measured for its kind a job takes that gets so many bytes. A smaller one waits as long for
    /// its first byte.
    pub(super) fn times_alike(&self, job: &Job, bytes: u64) -> f64 {
        if job.read == NO_READ {
            return 1.0;
        }
        let reads = self.kinds[self.kind_of[job.dataset as usize]].parts.reads[job.workload as usize].as_ref();
        let alike: u64 = reads.map_or(0, |reads| reads.wanted.iter().map(|w| w.1).sum());
        (bytes as f64 / alike.max(1) as f64).max(1.0)
    }
}
