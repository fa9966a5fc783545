//! What a worker does: read, inflate, decode. The consumer does the same while it would wait.

use super::cached_baskets;
use super::decode_basket::{OpenedBasket, decode, open};
use super::driver::Driver;
use super::task::{DecodeOutcome, Job, Record};
use sapwood_codec::{Decoder, DecompressQueue};
use sapwood_span::defect::{caught, inject};
use sapwood_span::{Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// A worker's own buffers.
pub(super) struct Worker {
    decoder: Decoder,
    /// For pages, which are not decompressed side by side.
    page_decoder: Decoder,
}

impl Worker {
    pub(super) fn new() -> Self {
        Self { decoder: Decoder::new(), page_decoder: Decoder::new() }
    }
}

/// Works until the scan is over.
pub(super) fn help(driver: &Arc<Driver>) {
    let mut worker = Worker::new();
    while let Some(job) = driver.take_or_wait() {
        run(driver, &mut worker, job, &|| false);
    }
}

/// Does what there is to do, until it is enough, which is asked after each report; false when there was nothing.
pub(super) fn once(driver: &Arc<Driver>, worker: &mut Worker, enough: &dyn Fn() -> bool) -> bool {
    let job = driver.take(0);
    let any = job.is_some();
    if let Some(job) = job {
        run(driver, worker, job, enough);
    }
    any
}

fn run(driver: &Arc<Driver>, worker: &mut Worker, first: Job, enough: &dyn Fn() -> bool) {
    let Worker { decoder, page_decoder } = worker;
    let mut jobs = Jobs {
        driver,
        first: Some(first),
        enough,
        over: false,
        outcomes: Vec::new(),
        unreported_bytes: 0,
        page_decoder,
    };
    let done = caught(|| {
        decoder.decompress_each(&mut jobs);
        jobs.report();
        Ok(())
    });
    if let Err(e) = done {
        // which of the baskets in hand it was is not known, nor what state the decoder is in
        *worker = Worker::new();
        driver.give_up(&e);
    }
}

/// The scan's jobs, as the decoder has room for another basket.
struct Jobs<'a> {
    driver: &'a Arc<Driver>,
    /// What is to be done first.
    first: Option<Job>,
    enough: &'a dyn Fn() -> bool,
    over: bool,
    /// Baskets that are not reported yet.
    outcomes: Vec<DecodeOutcome>,
    /// Compressed bytes of these.
    unreported_bytes: usize,
    page_decoder: &'a mut Decoder,
}

impl Jobs<'_> {
    fn take(&mut self, beside: bool) -> Option<Job> {
        match self.first.take() {
            // what is left for idle workers is better done there than beside another basket here
            None if !self.over => self.driver.take(if beside { self.driver.workers.threads } else { 0 }),
            first => first,
        }
    }

    fn add(&mut self, outcome: DecodeOutcome, bytes: usize) {
        self.outcomes.push(outcome);
        self.unreported_bytes += bytes.max(512);
        if self.unreported_bytes >= self.driver.workers.report_every {
            self.report();
            self.over = (self.enough)();
        }
    }

    /// The worker panicked.
    fn fail(&mut self, mut outcome: DecodeOutcome, defect: Error) {
        outcome.set(&self.driver.plan, Err(defect));
        self.add(outcome, 0);
    }

    fn report(&mut self) {
        inject::here_with("unzip", &self.driver.plan.url);
        self.unreported_bytes = 0;
        self.driver.decoded(std::mem::take(&mut self.outcomes));
    }
}

impl DecompressQueue for Jobs<'_> {
    type Item = OpenedBasket;

    fn next(&mut self, beside: bool) -> Option<OpenedBasket> {
        loop {
            let Some(job) = self.take(beside) else {
                // somebody may wait for them
                self.report();
                return None;
            };
            match job {
                Job::Read(fetch) => {
                    self.report();
                    self.driver.read(&fetch);
                }
                Job::Decode(mut task) => {
                    let failed = DecodeOutcome::of(&task);
                    if let Record::Stored(span) = task.record {
                        match caught(|| cached_baskets::read(&self.driver.source, span, || self.report())) {
                            Ok(record) => task.record = Record::Here(record),
                            Err(e) => {
                                self.fail(failed, e);
                                continue;
                            }
                        }
                    }
                    let (driver, decoder) = (self.driver, &mut *self.page_decoder);
                    match caught(|| Ok(open(&driver.plan, driver.tree.header(), &driver.source, task, decoder))) {
                        Ok(Ok(opened)) => return Some(opened),
                        Ok(Err(outcome)) => {
                            let packed = outcome.packed as usize;
                            self.add(outcome, packed);
                        }
                        Err(defect) => self.fail(failed, defect),
                    }
                }
            }
        }
    }

    fn done(&mut self, opened: OpenedBasket, bytes: Result<&[u8]>, took: Duration) {
        let (bytes_read, failed) = (opened.record_bytes(), opened.outcome());
        match caught(|| {
            inject::here_with("decode", &self.driver.plan.url);
            Ok(decode(&self.driver.plan, opened, bytes, took))
        }) {
            Ok(outcome) => self.add(outcome, bytes_read),
            Err(defect) => self.fail(failed, defect),
        }
    }
}
