//! Many producers into one tree: threads that each have a writer of their own.

use crate::column::Input;
use crate::take::take;
use crate::tree::TreeWriter;
use sapwood_column::Array;
use sapwood_span::{Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that all producers together hold before they hand them on.
const HELD: usize = 32 << 20;
/// What a producer may hold at least, however many there are.
const LEAST: usize = 256 << 10;

/// Joins the entries of many producers in one tree.
///
/// Each producer gathers entries on its own thread and hands them on in one piece, so that they stay together; the
/// pieces follow one another in the order they come. Clusters and baskets are those of the tree. Together producers
/// hold about 32 MB whatever their number, and wait for one another when the disk or the compressors do not follow.
#[derive(Clone)]
pub struct Merger(Arc<Mutex<Joined>>);

struct Joined {
    tree: Option<TreeWriter>,
    producers: usize,
}

/// One producer's end. Dropped, it hands on what it holds; [`Producer::finish`] also tells whether that worked.
pub struct Producer {
    merger: Merger,
    inputs: Vec<Input>,
    held: Vec<(String, Array)>,
    bytes: usize,
}

impl Merger {
    /// Joins producers in this tree.
    pub fn new(tree: TreeWriter) -> Self {
        Self(Arc::new(Mutex::new(Joined { tree: Some(tree), producers: 0 })))
    }

    fn lock(&self) -> MutexGuard<'_, Joined> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A writer for one more producer.
    ///
    /// # Errors
    /// `Invalid` when the tree is finished.
    pub fn producer(&self) -> Result<Producer> {
        let mut joined = self.lock();
        let inputs = joined.tree.as_ref().ok_or_else(finished)?.input_list().to_vec();
        joined.producers += 1;
        Ok(Producer { merger: self.clone(), inputs, held: Vec::new(), bytes: 0 })
    }

    /// Entries that were handed on so far.
    pub fn entries(&self) -> u64 {
        self.lock().tree.as_ref().map_or(0, TreeWriter::entries)
    }

    /// Finishes the tree.
    ///
    /// # Errors
    /// `Invalid` while producers are there, or when it is finished; what the disk says.
    pub fn finish(self) -> Result<()> {
        let mut joined = self.lock();
        if joined.producers > 0 {
            return Err(Error::invalid(format!("{} producers still write", joined.producers))
                .with_remedy("finish or drop each producer first"));
        }
        joined.tree.take().ok_or_else(finished)?.finish()
    }
}

fn finished() -> Error {
    Error::invalid("the tree is finished already")
}

impl Producer {
    /// Takes entries, as [`TreeWriter::extend`] does.
    ///
    /// # Errors
    /// As there; what is refused leaves no trace.
    pub fn extend(&mut self, columns: &[(&str, &Array)]) -> Result<()> {
        take(&self.inputs, columns)?;
        let other =
            self.held.len() != columns.len() || columns.iter().any(|(n, _)| !self.held.iter().any(|(h, _)| h == n));
        if other {
            self.flush()?;
            self.held = columns.iter().map(|(n, a)| ((*n).to_owned(), a.slice(0, 0))).collect();
        }
        for (name, array) in columns {
            if let Some((_, held)) = self.held.iter_mut().find(|(n, _)| n == name) {
                held.append(array)?;
            }
            self.bytes += array.nbytes();
        }
        let share = HELD / self.merger.lock().producers.max(1);
        if self.bytes >= share.max(LEAST) { self.flush() } else { Ok(()) }
    }

    /// Hands on what it holds.
    ///
    /// # Errors
    /// As [`TreeWriter::extend`].
    pub fn flush(&mut self) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        self.bytes = 0;
        let given: Vec<(&str, &Array)> = self.held.iter().map(|(n, a)| (&**n, a)).collect();
        let done = self.merger.lock().tree.as_mut().ok_or_else(finished).and_then(|tree| tree.extend(&given));
        self.held.iter_mut().for_each(|(_, a)| a.clear());
        done
    }

    /// Hands on what it holds and goes.
    ///
    /// # Errors
    /// As [`Producer::flush`].
    pub fn finish(mut self) -> Result<()> {
        self.flush()
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        // an error ends the file, which its finish reports
        let _ = self.flush();
        self.merger.lock().producers -= 1;
    }
}

impl std::fmt::Debug for Merger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merger").field("producers", &self.lock().producers).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Producer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Producer").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
