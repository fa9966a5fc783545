//! What a worker does: read, inflate, decode. The consumer does the same while it would wait.

use super::decode::{Scratch, decode_all};
use super::fetches::Ranges;
use super::state::{Job, Shared};
use crate::file::poll_once;
use sapwood_plan::Fetch;
use std::sync::Arc;

/// Compressed bytes that a worker takes on at once, so that small baskets do not queue for the lock one by one.
const BITE: usize = 32 << 10;

/// As many as that where enough is left for the other workers: baskets are inflated faster together.
const MEAL: usize = 128 << 10;

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

fn run(shared: &Arc<Shared>, worker: &mut Worker, job: Job) {
    let first = match job {
        Job::Read(fetch) => return read(shared, &fetch),
        Job::Decode(task) => task,
    };
    let mut tasks = Vec::new();
    let (mut next, mut taken) = (Some(first), 0);
    while let Some(task) = next {
        taken += task.record.as_ref().map_or(4096, |r| r.len().max(512));
        tasks.push(task);
        next = match taken {
            ..BITE => shared.take_decode(0),
            BITE..MEAL => shared.take_decode(shared.threads),
            _ => None,
        };
    }
    shared.done(decode_all(shared, &mut worker.scratch, tasks));
}

/// Reads the ranges of a local file.
fn read(shared: &Arc<Shared>, fetch: &Arc<Fetch>) {
    let sink = Ranges::new(shared.clone(), fetch.clone());
    let spans = fetch.ranges.iter().map(|r| r.span).collect();
    let result = poll_once(shared.source.clone().fetch(spans, Arc::new(sink)));
    shared.read_ended();
    shared.ended(fetch.id, result);
}
