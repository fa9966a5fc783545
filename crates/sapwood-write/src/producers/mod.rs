//! Many producers into one tree: threads and processes that each have a writer of their own.
//!
//! A producer makes its entries into the bytes that baskets hold (`gathered`) and hands them on in pieces, over a local
//! socket where it is another process (`gate`, `remote`, `wire`). Joined, they are the entries of one writer: its
//! clusters, its basket sizes, one cluster of memory, whatever the number of producers.

pub(crate) mod gathered;
mod interruptible;
mod listener;
mod peer;
mod remote;
mod sweep;
mod wire;

use crate::batch::check_batch;
use crate::column::Input;
use crate::column_source::EntryValues;
use crate::tree::TreeWriter;
use gathered::{Gathered, Lane};
pub use listener::ProducerListener;
use sapwood_column::Array;
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How often whoever waits is asked whether to go on.
const TICK: Duration = Duration::from_millis(100);
/// Bytes that all producers together hold before they hand them on.
const HELD: usize = 32 << 20;
/// What a producer holds at most: more makes nothing faster.
const MOST: usize = 4 << 20;
/// What a producer may hold at least, however many there are.
const LEAST: usize = 256 << 10;

/// What producers of a tree have to know.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) inputs: Vec<Input>,
    pub(crate) lanes: Vec<Lane>,
}

/// Joins the entries of many producers in one tree.
///
/// Each producer gathers entries by itself and hands them on in one piece, so that they stay together; the pieces follow
/// one another in the order they come. Clusters and baskets are those of the tree. Together producers hold about 32 MB
/// whatever their number, and wait for one another when the disk or the compressors do not follow. One that is lost, by
/// a panic or because its process died, loses the piece it had not handed on, and is named at the end.
#[derive(Clone)]
pub struct Merger(Arc<Joined>);

struct Joined {
    tree: Mutex<Option<TreeWriter>>,
    schema: Arc<Schema>,
    active: Mutex<ActiveProducers>,
    /// A producer went.
    gone: Condvar,
    /// Producers that are there.
    count: AtomicUsize,
}

#[derive(Default)]
struct ActiveProducers {
    next: u64,
    /// Who writes: name, and whether it is another process.
    producers: BTreeMap<u64, (String, bool)>,
    summary: Summary,
}

/// How waiting for producers ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waited {
    AllGone,
    TimeOver,
    Interrupted,
}

/// What became of the producers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Producers that finished.
    pub finished: u64,
    /// Pieces that were handed on, by all.
    pub pieces: u64,
    /// Producers that were lost.
    pub lost: Vec<Lost>,
}

/// A producer that went without finishing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Who it was: `process 1234`, or a thread's name.
    pub producer: String,
    /// Its entries that are in the tree.
    pub entries: u64,
    /// What happened.
    pub why: String,
}

/// What a thread without a name is called.
fn nameless(thread: &Thread) -> String {
    // ids are printed as `ThreadId(4)`, and their number has no stable accessor
    let number: String = format!("{:?}", thread.id()).chars().filter(char::is_ascii_digit).collect();
    format!("a producer of thread {number}")
}

fn finished() -> Error {
    Error::invalid("the tree is already finished")
}

impl Merger {
    /// Joins producers in this tree.
    pub fn new(tree: TreeWriter) -> Self {
        let schema = Schema { inputs: tree.input_list().to_vec(), lanes: tree.lanes() };
        Self(Arc::new(Joined {
            tree: Mutex::new(Some(tree)),
            schema: Arc::new(schema),
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
        if lock(&self.0.tree).is_none() {
            return Err(finished());
        }
        let thread = std::thread::current();
        let name = thread.name().map_or_else(|| nameless(&thread), |n| format!("thread {n}"));
        let registration = self.enter(name, false);
        Ok(Producer::new(self.0.schema.clone(), Transport::Local(registration)))
    }

    /// A place among the producers.
    fn enter(&self, name: String, process: bool) -> Registration {
        let mut active = lock(&self.0.active);
        let id = active.next;
        active.next += 1;
        active.producers.insert(id, (name, process));
        self.0.count.fetch_add(1, Ordering::Relaxed);
        Registration { merger: self.clone(), id, entries: 0, why: None }
    }

    /// Entries that were handed on so far.
    pub fn entries(&self) -> u64 {
        lock(&self.0.tree).as_ref().map_or(0, TreeWriter::entries)
    }

    /// What became of producers so far.
    pub fn summary(&self) -> Summary {
        lock(&self.0.active).summary.clone()
    }

    /// Finishes the tree.
    ///
    /// # Errors
    /// `Invalid` while producers are there, or when it is finished; what the disk says.
    pub fn finish(self) -> Result<Summary> {
        let (tree, summary) = self.into_tree()?;
        tree.finish()?;
        Ok(summary)
    }

    /// Ends the joining: the tree goes on with a single writer.
    ///
    /// # Errors
    /// `Invalid` while producers are there, or when it was given back before.
    pub fn into_tree(self) -> Result<(TreeWriter, Summary)> {
        let active = lock(&self.0.active);
        if !active.producers.is_empty() {
            let names: Vec<&str> = active.producers.values().map(|(n, _)| &**n).take(8).collect();
            let what = format!("{} producers are still writing: {}", active.producers.len(), names.join(", "));
            return Err(Error::invalid(what).with_remedy("finish or drop each producer first"));
        }
        let tree = lock(&self.0.tree).take().ok_or_else(finished)?;
        Ok((tree, active.summary.clone()))
    }

    /// Waits until no other process writes, at most so long, asking now and then whether to go on.
    fn wait_for_processes(&self, timeout: Duration, go_on: &mut dyn FnMut() -> bool) -> Waited {
        // what lies beyond the clock is for ever
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

/// A producer's place at the merger: what it hands on is counted, and that it went is noted.
struct Registration {
    merger: Merger,
    id: u64,
    entries: u64,
    /// Why it was lost.
    why: Option<String>,
}

impl Registration {
    /// Puts a piece behind those that came before.
    fn give(&mut self, gathered: &Gathered) -> Result<()> {
        let joined = &self.merger.0;
        lock(&joined.tree).as_mut().ok_or_else(finished)?.extend_gathered(gathered)?;
        self.entries += gathered.entries as u64;
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

/// How a producer hands on what it holds.
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

/// One producer's end, which takes entries as a [`TreeWriter`] does.
///
/// Dropped, it hands on what it holds; [`Producer::finish`] also tells whether that worked. Dropped by a panic it is
/// lost, with what it holds.
pub struct Producer {
    schema: Arc<Schema>,
    transport: Transport,
    gathered: Gathered,
    entries: u64,
    over: bool,
}

impl Producer {
    fn new(schema: Arc<Schema>, transport: Transport) -> Self {
        Self { gathered: Gathered::new(&schema.lanes), schema, transport, entries: 0, over: false }
    }

    /// A producer for the tree of another process, which listens at this address ([`ProducerListener::address`]).
    ///
    /// # Errors
    /// `Io` when nobody listens there; `Unsupported` when it is another version of Sapwood.
    pub fn connect(address: impl AsRef<std::path::Path>) -> Result<Self> {
        let (line, schema) = remote::Line::open(address.as_ref())?;
        Ok(Self::new(Arc::new(schema), Transport::Remote(line)))
    }

    /// Has `go_on` asked now and then, at least ten times a second, while the merger in another process is waited for;
    /// when it says no, what is being done ends with an `Interrupted` error, and the producer is lost. Without it a
    /// merger that was stopped is waited for until it goes on.
    pub fn set_interrupt(&mut self, go_on: impl FnMut() -> bool + Send + 'static) {
        if let Transport::Remote(line) = &mut self.transport {
            line.set_interrupt(Box::new(go_on));
        }
    }

    /// Entries that it took.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Takes entries, as [`TreeWriter::extend`] does.
    ///
    /// # Errors
    /// As there; what is refused leaves no trace.
    pub fn extend(&mut self, columns: &[(&str, &Array)]) -> Result<()> {
        let schema = self.schema.clone();
        let batch = check_batch(&schema.inputs, columns)?;
        let mut from = 0;
        while from < batch.entries {
            let share = self.transport.share();
            let to = batch.entries.min(from + batch.step(share).max(1));
            let mut pieces: Vec<Option<EntryValues<'_>>> = schema.lanes.iter().map(|_| None).collect();
            batch.distribute(&schema.inputs, from..to, &mut pieces)?;
            self.gathered.append(&pieces, to - from)?;
            self.entries += (to - from) as u64;
            from = to;
            if self.gathered.bytes() >= share {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Hands on what it holds.
    ///
    /// # Errors
    /// What the disk says; where the tree is another process's, what it said of the piece before.
    pub fn flush(&mut self) -> Result<()> {
        if self.gathered.entries == 0 {
            return Ok(());
        }
        let done = match &mut self.transport {
            Transport::Local(registration) => registration.give(&self.gathered),
            Transport::Remote(line) => line.give(&self.gathered),
        };
        self.gathered.clear(MOST);
        done
    }

    /// Hands on what it holds and goes.
    ///
    /// # Errors
    /// As [`Producer::flush`].
    pub fn finish(mut self) -> Result<()> {
        self.end()
    }

    /// Goes without finishing: what it holds is lost, and the merger says so.
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
        // an error ends the file, or is told by the merger
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
