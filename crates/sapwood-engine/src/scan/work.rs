//! What a worker does: read, inflate, decode. The consumer does the same while it would wait.

use super::decode::{Scratch, decode};
use super::state::{Job, Parts, Shared};
use crate::file::poll_once;
use sapwood_plan::Fetch;
use std::sync::Arc;

/// Compressed bytes that a worker takes on at once, so that small baskets do not queue for the lock one by one.
const BITE: usize = 32 << 10;

/// A worker's own buffers.
pub(super) struct Worker {
    scratch: Scratch,
}

impl Worker {
    pub fn new() -> Self {
        Self { scratch: Scratch::new() }
    }
}

/// Works until the scan is over.
pub(super) fn help(shared: &Arc<Shared>) {
    let mut worker = Worker::new();
    while let Some(job) = shared.take_or_wait() {
        run(shared, &mut worker, job);
    }
}

/// Does one bite of work; false when there is none.
pub(super) fn once(shared: &Arc<Shared>, worker: &mut Worker) -> bool {
    match shared.take() {
        Some(job) => {
            run(shared, worker, job);
            true
        }
        None => false,
    }
}

fn run(shared: &Arc<Shared>, worker: &mut Worker, first: Job) {
    let mut done = Vec::new();
    let mut taken = 0;
    let mut job = Some(first);
    while let Some(next) = job {
        match next {
            Job::Read(fetch) => read(shared, &fetch),
            Job::Decode { basket, planned, record, spare } => {
                taken += record.len().max(512);
                done.push(decode(shared, &mut worker.scratch, basket, planned, Some(&record), spare));
            }
            Job::Embedded { basket } => {
                taken += 4096;
                done.push(decode(shared, &mut worker.scratch, basket, None, None, None));
            }
        }
        job = if taken > 0 && taken < BITE { shared.take_decode() } else { None };
    }
    shared.done(done);
}

/// Reads the ranges of a local file.
fn read(shared: &Arc<Shared>, fetch: &Arc<Fetch>) {
    let sink = Parts::new(shared.clone(), fetch.clone());
    let spans = fetch.ranges.iter().map(|r| r.span).collect();
    let result = poll_once(shared.source.clone().fetch(spans, Arc::new(sink)));
    shared.read_ended();
    shared.ended(fetch.id, result);
}
