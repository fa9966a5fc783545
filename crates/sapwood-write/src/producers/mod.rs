//! Many producers for one tree or ntuple: threads and processes that each have their own writer.
//!
//! A producer collects entries (`gathered`), those of a tree as the bytes of baskets, and passes them on in pieces, over a
//! local socket if it is another process (`listener`, `remote`, `wire`). Joined, they are the entries of one writer: its
//! clusters, its basket sizes, one cluster of memory, whatever the number of producers.

pub(crate) mod encoded_entries;
mod gathered;
mod interruptible;
mod listener;
mod peer;
mod remote;
mod stale_directories;
mod wire;

use crate::ntuple::NtupleWriter;
use crate::tree::TreeWriter;
use gathered::{EntryWriter, Gathered, Schema};
pub use listener::ProducerListener;
use sapwood_column::Array;
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How often a waiting thread calls the interrupt callback.
const TICK: Duration = Duration::from_millis(100);
/// Bytes that all producers together hold before they pass them on.
const HELD: usize = 32 << 20;
/// Maximum bytes held by a producer: more is no faster.
const MOST: usize = 4 << 20;
/// Minimum bytes that a producer may hold, however many there are.
const LEAST: usize = 256 << 10;

/// Joins the entries of many producers in one tree or ntuple.
///
/// Each producer gathers entries and passes them on in one piece, so that they stay together; the pieces are appended
/// in the order they arrive. Clusters, baskets and pages are those of a single writer. Together producers hold about 32 MB whatever
/// their number, and wait for one another when the disk or compression is slower. A producer that is lost, by a panic
/// or because its process died, loses the piece it had not passed on, and is named at the end.
#[derive(Clone)]
pub struct Merger(Arc<Joined>);

struct Joined {
    writer: Mutex<Option<EntryWriter>>,
    schema: Schema,
    active: Mutex<ActiveProducers>,
    /// Signals that a producer has ended.
    gone: Condvar,
    /// Current producers.
    count: AtomicUsize,
}

#[derive(Default)]
struct ActiveProducers {
    next: u64,
    /// Current producers: name, and whether it is another process.
    producers: BTreeMap<u64, (String, bool)>,
    summary: Summary,
}

/// How the wait for producers ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waited {
    AllGone,
    TimeOver,
    Interrupted,
}

/// The results of the producers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Producers that finished.
    pub finished: u64,
    /// Pieces passed on, by all.
    pub pieces: u64,
    /// Producers that were lost.
    pub lost: Vec<Lost>,
}

/// A producer that ended without finishing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its name: `process 1234`, or a thread's name.
    pub producer: String,
    /// Its entries that are in the tree.
    pub entries: u64,
    /// What happened.
    pub why: String,
}

/// The name for a thread without one.
fn nameless(thread: &Thread) -> String {
    // ids are printed as `ThreadId(4)`, and their number has no stable accessor
    let number: String = format!("{:?}", thread.id()).chars().filter(char::is_ascii_digit).collect();
    format!("a producer of thread {number}")
}

fn finished(schema: &Schema) -> Error {
    let what = if matches!(schema, Schema::Ntuple(_)) { "ntuple" } else { "tree" };
    Error::invalid(format!("the {what} is already finished"))
}

impl Merger {
    /// Joins producers for this tree.
    pub fn new(tree: TreeWriter) -> Self {
        Self::of(EntryWriter::Tree(tree))
    }

    /// Joins producers for this ntuple.
    pub fn of_ntuple(ntuple: NtupleWriter) -> Self {
        Self::of(EntryWriter::Ntuple(ntuple))
    }

    fn of(writer: EntryWriter) -> Self {
        let schema = writer.schema();
        Self(Arc::new(Joined {
            writer: Mutex::new(Some(writer)),
            schema,
            active: Mutex::default(),
            gone: Condvar::new(),
            count: AtomicUsize::new(0),
        }))
    }

    /// A writer for one more producer.
    ///
    /// # Errors
    /// `Invalid` when the tree is finished.
    pub fn producer(&self) -> Result<Producer> {
        if lock(&self.0.writer).is_none() {
            return Err(finished(&self.0.schema));
        }
        let thread = std::thread::current();
        let name = thread.name().map_or_else(|| nameless(&thread), |n| format!("thread {n}"));
        let registration = self.enter(name, false);
        Ok(Producer::new(self.0.schema.clone(), Transport::Local(registration)))
    }

    /// Registers a producer.
    fn enter(&self, name: String, process: bool) -> Registration {
        let mut active = lock(&self.0.active);
        let id = active.next;
        active.next += 1;
        active.producers.insert(id, (name, process));
        self.0.count.fetch_add(1, Ordering::Relaxed);
        Registration { merger: self.clone(), id, entries: 0, why: None }
    }

    /// Entries passed on so far.
    pub fn entries(&self) -> u64 {
        lock(&self.0.writer).as_ref().map_or(0, EntryWriter::entries)
    }

    /// The results of producers so far.
    pub fn summary(&self) -> Summary {
        lock(&self.0.active).summary.clone()
    }

    /// Finishes the tree or ntuple.
    ///
    /// # Errors
    /// `Invalid` while there are producers, or when it is finished; errors of the disk.
    pub fn finish(self) -> Result<Summary> {
        let (writer, summary) = self.into_writer()?;
        writer.finish()?;
        Ok(summary)
    }

    /// Ends the joining: the tree continues with a single writer.
    ///
    /// # Errors
    /// `Invalid` while there are producers, when it was returned before, or for an ntuple.
    pub fn into_tree(self) -> Result<(TreeWriter, Summary)> {
        if matches!(self.0.schema, Schema::Ntuple(_)) {
            return Err(Error::invalid("the producers write an ntuple, not a tree"));
        }
        let again = finished(&self.0.schema);
        match self.into_writer()? {
            (EntryWriter::Tree(tree), summary) => Ok((tree, summary)),
            (EntryWriter::Ntuple(_), _) => Err(again),
        }
    }

    /// Ends the joining: the ntuple continues with a single writer.
    ///
    /// # Errors
    /// `Invalid` while there are producers, when it was returned before, or for a tree.
    pub fn into_ntuple(self) -> Result<(NtupleWriter, Summary)> {
        if matches!(self.0.schema, Schema::Tree { .. }) {
            return Err(Error::invalid("the producers write a tree, not an ntuple"));
        }
        let again = finished(&self.0.schema);
        match self.into_writer()? {
            (EntryWriter::Ntuple(ntuple), summary) => Ok((ntuple, summary)),
            (EntryWriter::Tree(_), _) => Err(again),
        }
    }

    fn into_writer(self) -> Result<(EntryWriter, Summary)> {
        let active = lock(&self.0.active);
        if !active.producers.is_empty() {
            let names: Vec<&str> = active.producers.values().map(|(n, _)| &**n).take(8).collect();
            let what = format!("{} producers are still writing: {}", active.producers.len(), names.join(", "));
            return Err(Error::invalid(what).with_remedy("finish or drop each producer first"));
        }
        let writer = lock(&self.0.writer).take().ok_or_else(|| finished(&self.0.schema))?;
        Ok((writer, active.summary.clone()))
    }

    /// Waits until no other process writes, at most this long, calling `go_on` regularly.
    fn wait_for_processes(&self, timeout: Duration, go_on: &mut dyn FnMut() -> bool) -> Waited {
        // a time beyond the clock's range means no limit
        let until = Instant::now().checked_add(timeout);
        loop {
            let active = lock(&self.0.active);
            if !active.producers.values().any(|(_, process)| *process) {
                return Waited::AllGone;
            }
            let left = until.map_or(TICK, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Waited::TimeOver;
            }
            drop(self.0.gone.wait_timeout(active, left.min(TICK)).unwrap_or_else(PoisonError::into_inner));
            if !go_on() {
                return Waited::Interrupted;
            }
        }
    }

    /// Bytes that a producer may hold now.
    fn share(&self) -> usize {
        (HELD / self.0.count.load(Ordering::Relaxed).max(1)).clamp(LEAST, MOST)
    }
}

/// A producer's registration with the merger: its pieces are counted, and its end is recorded.
struct Registration {
    merger: Merger,
    id: u64,
    entries: u64,
    /// Why it was lost.
    why: Option<String>,
}

impl Registration {
    /// Appends a piece after earlier ones.
    fn give(&mut self, gathered: &Gathered) -> Result<()> {
        let joined = &self.merger.0;
        lock(&joined.writer).as_mut().ok_or_else(|| finished(&joined.schema))?.extend_gathered(gathered)?;
        self.entries += gathered.entries() as u64;
        lock(&joined.active).summary.pieces += 1;
        Ok(())
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let joined = &self.merger.0;
        let mut active = lock(&joined.active);
        let producer = active.producers.remove(&self.id).map(|(name, _)| name).unwrap_or_default();
        match self.why.take() {
            None => active.summary.finished += 1,
            Some(why) => active.summary.lost.push(Lost { producer, entries: self.entries, why }),
        }
        joined.count.fetch_sub(1, Ordering::Relaxed);
        drop(active);
        joined.gone.notify_all();
    }
}

/// How a producer passes on its entries.
enum Transport {
    Local(Registration),
    Remote(remote::Line),
}

impl Transport {
    fn share(&self) -> usize {
        match self {
            Transport::Local(registration) => registration.merger.share(),
            Transport::Remote(line) => line.share(),
        }
    }
}

/// One producer, which takes entries as a [`TreeWriter`] or an [`NtupleWriter`] does.
///
/// When dropped, it passes on what it holds; [`Producer::finish`] also reports whether that worked. When dropped by a
/// panic it is lost, with what it holds.
pub struct Producer {
    schema: Schema,
    transport: Transport,
    gathered: Gathered,
    entries: u64,
    over: bool,
}

impl Producer {
    fn new(schema: Schema, transport: Transport) -> Self {
        Self { gathered: Gathered::new(&schema), schema, transport, entries: 0, over: false }
    }

    /// A producer for the tree or ntuple of another process, which listens at this address ([`ProducerListener::address`]).
    ///
    /// # Errors
    /// `Io` when nothing listens there; `Unsupported` for another version of Sapwood.
    pub fn connect(address: impl AsRef<std::path::Path>) -> Result<Self> {
        let (line, schema) = remote::Line::open(address.as_ref())?;
        Ok(Self::new(schema, Transport::Remote(line)))
    }

    /// Calls `go_on` at least ten times a second while waiting for the merger in another process; when it returns
    /// false, the current operation ends with an `Interrupted` error, and the producer is lost. Without it, a stopped
    /// merger is waited for until it continues.
    pub fn set_interrupt(&mut self, go_on: impl FnMut() -> bool + Send + 'static) {
        if let Transport::Remote(line) = &mut self.transport {
            line.set_interrupt(Box::new(go_on));
        }
    }

    /// Entries taken.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Takes entries, as [`TreeWriter::extend`] and [`NtupleWriter::extend`] do.
    ///
    /// # Errors
    /// As there; refused entries leave no trace.
    pub fn extend(&mut self, columns: &[(&str, &Array)]) -> Result<()> {
        let schema = self.schema.clone();
        let batch = schema.check(columns)?;
        let mut from = 0;
        while from < batch.entries() {
            let share = self.transport.share();
            let to = batch.entries().min(from + batch.step(share).max(1));
            self.gathered.append(&schema, &batch, from..to)?;
            self.entries += (to - from) as u64;
            from = to;
            if self.gathered.bytes() >= share {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Passes on what it holds.
    ///
    /// # Errors
    /// Errors of the disk; if the tree is in another process, that process's answer to the previous piece.
    pub fn flush(&mut self) -> Result<()> {
        if self.gathered.entries() == 0 {
            return Ok(());
        }
        let done = match &mut self.transport {
            Transport::Local(registration) => registration.give(&self.gathered),
            Transport::Remote(line) => line.give(&self.gathered),
        };
        self.gathered.clear(MOST);
        done
    }

    /// Passes on what it holds and ends.
    ///
    /// # Errors
    /// As [`Producer::flush`].
    pub fn finish(mut self) -> Result<()> {
        self.end()
    }

    /// Ends without finishing: what it holds is lost, and the merger reports it.
    pub fn abandon(mut self) {
        self.over = true;
        match &mut self.transport {
            Transport::Local(registration) => registration.why = Some("it was abandoned".to_owned()),
            Transport::Remote(line) => line.give_up(),
        }
    }

    fn end(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.over, true) {
            return Ok(());
        }
        if std::thread::panicking() {
            if let Transport::Local(registration) = &mut self.transport {
                registration.why = Some("its thread panicked".to_owned());
            }
            return Ok(());
        }
        let done = self.flush();
        match &mut self.transport {
            Transport::Local(registration) => {
                if let Err(e) = &done {
                    registration.why = Some(e.to_string());
                }
                done
            }
            Transport::Remote(line) => done.and_then(|()| line.end()),
        }
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        // an error ends the file, or is reported by the merger
        let _ = self.end();
    }
}

impl std::fmt::Debug for Merger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merger").field("producers", &self.0.count).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Producer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Producer").field("entries", &self.entries).finish_non_exhaustive()
    }
}
