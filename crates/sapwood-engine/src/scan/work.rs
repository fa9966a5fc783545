//! What a worker does: read, inflate, decode. The consumer does the same while it would wait.

use super::decode::{Opened, decode, open};
use super::fetches::Ranges;
use super::state::{Job, Outcome, Shared};
use crate::read_source::poll_once;
use sapwood_codec::{Decoder, Feed};
use sapwood_plan::Fetch;
use sapwood_span::defect::{caught, inject};
use sapwood_span::{Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// Compressed bytes that a worker decodes before it tells of them, so that not every small basket asks for the lock.
const MEAL: usize = 128 << 10;

/// A worker's own buffers.
pub(super) struct Worker {
    decoder: Decoder,
}

impl Worker {
    pub fn new() -> Self {
        Self { decoder: Decoder::new() }
    }
}

/// Works until the scan is over.
pub(super) fn help(shared: &Arc<Shared>) {
    let mut worker = Worker::new();
    while let Some(job) = shared.take_or_wait() {
        run(shared, &mut worker, job, &|| false);
    }
}

/// Does what there is to do, until it is enough, which is asked after each meal; false when there was nothing.
pub(super) fn once(shared: &Arc<Shared>, worker: &mut Worker, enough: &dyn Fn() -> bool) -> bool {
    let job = shared.take(0);
    let any = job.is_some();
    if let Some(job) = job {
        run(shared, worker, job, enough);
    }
    any
}

fn run(shared: &Arc<Shared>, worker: &mut Worker, first: Job, enough: &dyn Fn() -> bool) {
    let mut jobs = Jobs { shared, first: Some(first), enough, over: false, outcomes: Vec::new(), eaten: 0 };
    let done = caught(|| {
        worker.decoder.decompress_each(&mut jobs);
        jobs.tell();
        Ok(())
    });
    if let Err(e) = done {
        // which of the baskets in hand it was is not known, nor what state the decoder is in
        *worker = Worker::new();
        shared.give_up(&e);
    }
}

/// The scan's jobs, as the decoder has room for another basket.
struct Jobs<'a> {
    shared: &'a Arc<Shared>,
    /// What is to be done first.
    first: Option<Job>,
    enough: &'a dyn Fn() -> bool,
    over: bool,
    /// Baskets that nobody was told of.
    outcomes: Vec<Outcome>,
    /// Compressed bytes of these.
    eaten: usize,
}

impl Jobs<'_> {
    fn take(&mut self, beside: bool) -> Option<Job> {
        match self.first.take() {
            // what is left for idle workers is better done there than beside another basket here
            None if !self.over => self.shared.take(if beside { self.shared.threads } else { 0 }),
            first => first,
        }
    }

    fn add(&mut self, outcome: Outcome, bytes: usize) {
        self.outcomes.push(outcome);
        self.eaten += bytes.max(512);
        if self.eaten >= MEAL {
            self.tell();
            self.over = (self.enough)();
        }
    }

    /// Whoever worked on a basket panicked.
    fn fail(&mut self, mut outcome: Outcome, defect: Error) {
        outcome.set(self.shared, Err(defect));
        self.add(outcome, 0);
    }

    fn tell(&mut self) {
        inject::here_with("unzip", self.shared.file.url());
        self.eaten = 0;
        self.shared.done(std::mem::take(&mut self.outcomes));
    }
}

impl Feed for Jobs<'_> {
    type Item = Opened;

    fn next(&mut self, beside: bool) -> Option<Opened> {
        loop {
            let Some(job) = self.take(beside) else {
                // somebody may wait for them
                self.tell();
                return None;
            };
            match job {
                Job::Read(fetch) => {
                    self.tell();
                    read(self.shared, &fetch);
                }
                Job::Decode(task) => {
                    let failed = Outcome::of(&task);
                    match caught(|| Ok(open(self.shared, task))) {
                        Ok(Ok(opened)) => return Some(opened),
                        Ok(Err(outcome)) => self.add(outcome, 0),
                        Err(defect) => self.fail(failed, defect),
                    }
                }
            }
        }
    }

    fn done(&mut self, opened: Opened, bytes: Result<&[u8]>, took: Duration) {
        let (eaten, failed) = (opened.record_bytes(), opened.outcome());
        match caught(|| {
            inject::here_with("decode", self.shared.file.url());
            Ok(decode(self.shared, opened, bytes, took))
        }) {
            Ok(outcome) => self.add(outcome, eaten),
            Err(defect) => self.fail(failed, defect),
        }
    }
}

/// Reads the ranges of a local file.
fn read(shared: &Arc<Shared>, fetch: &Arc<Fetch>) {
    let sink = Ranges::new(shared.clone(), fetch.clone());
    let spans = fetch.ranges.iter().map(|r| r.span).collect();
    let result = caught(|| {
        inject::here_with("read", shared.file.url());
        poll_once(shared.source.clone().fetch(spans, Arc::new(sink)))
    });
    shared.read_ended();
    shared.ended(fetch.id, result);
}
