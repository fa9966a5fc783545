//! Selectors: user code that is run over the entries of a chain, batch by batch, by several threads.
//!
//! Each batch gets a copy of the selector. The copies are merged in the order of entries, whichever thread was done first,
//! so that the result, sums of floating-point numbers included, does not depend on the number of threads.

use crate::batch::Batch;
use crate::chain::{Chain, ChainBatch, ChainFile, ReadRequest};
use crate::options::ScanOptions;
use crate::tree::Tree;
use sapwood_span::defect::caught;
use sapwood_span::sync::lock;
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// What to do with the entries of a tree or chain: ROOT's TSelector, for batches.
///
/// ```no_run
/// use sapwood_engine::{Batch, ChainFile, OpenOptions, Selector, StepSize};
/// use sapwood_span::Result;
///
/// /// Counts entries.
/// #[derive(Clone, Default)]
/// struct Count(u64);
///
/// impl Selector for Count {
///     type Output = u64;
///     fn process(&mut self, batch: &Batch, _: &ChainFile) -> Result<()> {
///         self.0 += batch.entries.end - batch.entries.start;
///         Ok(())
///     }
///     fn merge(&mut self, later: Self) -> Result<()> {
///         self.0 += later.0;
///         Ok(())
///     }
///     fn end(self) -> Result<u64> {
///         Ok(self.0)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let tree = OpenOptions::new().open("events.root")?.tree("Events")?;
/// let entries = tree.process(Count::default(), 4, |tree| {
///     Ok(tree.scan().branches(["Muon_pt"]).step(StepSize::Bytes(10 << 20)).into_options()?.1)
/// })?;
/// # Ok(()) }
/// ```
pub trait Selector: Clone + Send {
    /// The result.
    type Output;

    /// Called on the copy for a batch, before [`Selector::process`].
    ///
    /// # Errors
    /// Those of the selector; the first ends reading.
    fn begin(&mut self, _link: &ChainFile) -> Result<()> {
        Ok(())
    }

    /// Called with the batch; its entries are counted from the beginning of the file.
    ///
    /// # Errors
    /// Those of the selector; the first ends reading.
    fn process(&mut self, batch: &Batch, link: &ChainFile) -> Result<()>;

    /// Adds the copy of the entries that follow those of this one.
    ///
    /// # Errors
    /// Those of the selector; the first ends reading.
    fn merge(&mut self, later: Self) -> Result<()>;

    /// Called once, when all copies are merged.
    ///
    /// # Errors
    /// Those of the selector.
    fn end(self) -> Result<Self::Output>;
}

impl Tree {
    /// Runs a selector over this tree; see [`Chain::process`].
    ///
    /// # Errors
    /// As [`Chain::process`].
    pub fn process<S: Selector>(
        &self,
        selector: S,
        threads: usize,
        request: impl Fn(&Tree) -> Result<ScanOptions> + Send + Sync + 'static,
    ) -> Result<S::Output> {
        Chain::of(self.clone()).process(selector, threads, request)
    }
}

impl Chain {
    /// Runs a selector over all files, on this number of threads (0 for one per core) besides those that decompress.
    ///
    /// `request` says what is read of each tree: branches, entries, cut, and the size of the batches.
    ///
    /// # Errors
    /// Those of reading; and those of the selector, which name the file and the entries of the batch.
    pub fn process<S: Selector>(
        &self,
        selector: S,
        threads: usize,
        request: impl Fn(&Tree) -> Result<ScanOptions> + Send + Sync + 'static,
    ) -> Result<S::Output> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let mut batches = self.scan(move |link: &ChainFile| Ok((ReadRequest::Read(request(&link.tree)?), ())));
        let mut merged = Merged { whole: None, waiting: BTreeMap::new(), next: 0 };
        let stop = AtomicBool::new(false);
        let (hand_over, jobs) = channel::<Job>();
        let (give_back, results) = channel();
        let jobs = Mutex::new(jobs);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (give_back, selector) = (give_back.clone(), selector.clone());
                let (jobs, stop) = (&jobs, &stop);
                scope.spawn(move || work(&selector, jobs, &give_back, stop));
            }
            drop(give_back);
            // what this thread drops when it returns ends the others
            let hand_over = hand_over;
            let done = read(&mut batches, &hand_over, &results, &mut merged, 2 * threads as u64);
            if done.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            done
        })?;
        merged.whole.unwrap_or(selector).end()
    }
}

/// A batch and its number.
type Job = (u64, ChainBatch<()>);

/// Copies of the selector, merged in the order of entries.
struct Merged<S> {
    whole: Option<S>,
    waiting: BTreeMap<u64, S>,
    next: u64,
}

impl<S: Selector> Merged<S> {
    fn take(&mut self, number: u64, copy: S) -> Result<()> {
        self.waiting.insert(number, copy);
        while let Some(copy) = self.waiting.remove(&self.next) {
            self.next += 1;
            match &mut self.whole {
                Some(whole) => caught(|| whole.merge(copy))?,
                None => self.whole = Some(copy),
            }
        }
        Ok(())
    }
}

/// Reads batches and hands them over; at most `most` of them are not merged yet.
fn read<S: Selector>(
    batches: &mut impl Iterator<Item = Result<ChainBatch<()>>>,
    hand_over: &Sender<Job>,
    results: &Receiver<(u64, Result<S>)>,
    merged: &mut Merged<S>,
    most: u64,
) -> Result<()> {
    let ended = || Error::new(ErrorKind::Defect, "the threads of a selector ended early");
    let mut sent = 0;
    loop {
        let room = sent - merged.next < most;
        if room && let Some(batch) = batches.next().transpose()? {
            hand_over.send((sent, batch)).map_err(|_| ended())?;
            sent += 1;
            while let Ok((number, copy)) = results.try_recv() {
                merged.take(number, copy?)?;
            }
        } else if merged.next < sent {
            let (number, copy) = results.recv().map_err(|_| ended())?;
            merged.take(number, copy?)?;
        } else {
            return Ok(());
        }
    }
}

fn work<S: Selector>(
    selector: &S,
    jobs: &Mutex<Receiver<Job>>,
    give_back: &Sender<(u64, Result<S>)>,
    stop: &AtomicBool,
) {
    while !stop.load(Ordering::Relaxed) {
        let job = lock(jobs).recv();
        let Ok((number, ChainBatch { link, batch, .. })) = job else { return };
        let done = caught(|| {
            let mut copy = selector.clone();
            copy.begin(&link)?;
            copy.process(&batch, &link)?;
            Ok(copy)
        });
        let done = done.map_err(|e| located(e, &link, &batch));
        if give_back.send((number, done)).is_err() {
            return;
        }
    }
}

/// The error with the file and the entries where the selector failed.
fn located(error: Error, link: &ChainFile, batch: &Batch) -> Error {
    let what = format!("entries {} to {}: {}", batch.entries.start, batch.entries.end.saturating_sub(1), error.what());
    let file = link.tree.file().url().to_owned();
    error.worded(what).in_file(file)
}
