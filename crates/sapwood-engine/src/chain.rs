//! Trees of several files, one behind the other: while one is read the next are opened and their first baskets fetched.
//!
//! The next files are opened when the current one has nothing left to ask for and holds at most half of the budget: from
//! then on its connections would idle. Each of them may hold an eighth of the budget until it is its turn, so that all
//! together stay within it.

use crate::file::File;
use crate::options::{OpenOptions, ScanOptions};
use crate::scan::{Batch, Scan};
use crate::stored_list::Counted;
use crate::tree::Tree;
use sapwood_plan::{CacheSize, Request};
use sapwood_span::{Error, Result};
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Files that are opened ahead of the current one.
const AHEAD: usize = 4;

/// The part of the budget that each of them may hold.
const SHARE: u64 = 8;

/// Budgets below this are not divided: further files are opened ahead, but nothing of them is fetched.
const LEAST: u64 = 4 << 20;

/// How the files of a chain are opened.
#[derive(Clone, Debug, Default)]
pub struct ChainOptions {
    /// How each file is opened.
    pub open: OpenOptions,
    /// Leaves files out that cannot be opened, lack the tree, or lack what is asked of it; [`Chain::skipped`] tells
    /// which. Otherwise the first such file ends reading with an error. What fails later, within a file, always does.
    pub skip_bad: bool,
}

/// A file that was left out.
#[derive(Debug)]
pub struct Skipped {
    /// Its path or URL.
    pub file: String,
    /// Why.
    pub why: Error,
}

/// Files that each hold a tree, in order.
#[derive(Clone)]
pub struct Chain(Arc<Inner>);

struct Inner {
    files: Vec<(String, Option<String>)>,
    options: ChainOptions,
    /// The number and the tree of the file to begin with, where it is open already.
    first: Option<(usize, Tree)>,
    skipped: Arc<Mutex<Vec<(usize, Skipped)>>>,
}

/// A place in a chain.
#[derive(Clone, Debug)]
pub struct Link {
    /// Number of the file.
    pub file: usize,
    /// The tree.
    pub tree: Tree,
    /// Entries of the files before it.
    pub first_entry: u64,
}

/// A batch of one of the files, and what was prepared for that file.
pub struct Linked<T> {
    /// Where it is.
    pub link: Link,
    /// What the caller prepared for this file.
    pub prepared: Arc<T>,
    /// The batch; its entries are counted from the beginning of the file.
    pub batch: Batch,
}

/// What is to be read of a file.
pub enum Wanted {
    /// This.
    Read(ScanOptions),
    /// Nothing.
    Nothing,
    /// Nothing, and nothing of those behind it: they are not opened.
    End,
}

/// Says what is to be read of a file, and brings along whatever belongs to it.
pub type Prepare<T> = Arc<dyn Fn(&Link) -> Result<(Wanted, T)> + Send + Sync>;

impl Chain {
    /// A chain of these files, each with the path of its tree; a file with one tree needs none. Nothing is opened yet.
    pub fn new(files: Vec<(String, Option<String>)>, options: ChainOptions) -> Self {
        Self(Arc::new(Inner { files, options, first: None, skipped: Arc::default() }))
    }

    /// A chain of one tree.
    pub fn of(tree: Tree) -> Self {
        let files = vec![(tree.file().url().to_owned(), Some(tree.path().to_owned()))];
        let options = ChainOptions { open: tree.file().options().clone(), ..ChainOptions::default() };
        Self::new(files, options).with_first(tree)
    }

    /// The same with the tree of its first file, which is open already.
    #[must_use]
    pub fn with_first(self, tree: Tree) -> Self {
        self.beginning(0, tree)
    }

    fn beginning(&self, file: usize, tree: Tree) -> Self {
        let Inner { files, options, .. } = &*self.0;
        let skipped = self.0.skipped.clone();
        Self(Arc::new(Inner { files: files.clone(), options: options.clone(), first: Some((file, tree)), skipped }))
    }

    /// Opens the first file that is not left out: gives its tree, and the chain that has it open.
    ///
    /// # Errors
    /// As [`Chain::open`]; `NotFound` for a chain without files.
    pub fn first(&self) -> Result<(Self, Tree)> {
        if let Some((_, tree)) = &self.0.first {
            return Ok((self.clone(), tree.clone()));
        }
        let mut last = Error::not_found("a chain without files");
        for (file, (url, _)) in self.files().iter().enumerate() {
            match self.open(file) {
                Ok(tree) => return Ok((self.beginning(file, tree.clone()), tree)),
                Err(why) if !self.0.options.skip_bad => return Err(why.in_file(url)),
                Err(why) => {
                    last = why.duplicate().in_file(url);
                    self.0.leave_out(file, why);
                }
            }
        }
        Err(last)
    }

    /// The files and the paths of their trees.
    pub fn files(&self) -> &[(String, Option<String>)] {
        &self.0.files
    }

    /// Which files have been left out so far, in their order, and why.
    pub fn skipped(&self) -> Vec<Skipped> {
        let all = self.0.lock();
        all.iter().map(|(_, s)| Skipped { file: s.file.clone(), why: s.why.duplicate() }).collect()
    }

    /// Opens a file of the chain and its tree.
    ///
    /// # Errors
    /// As [`File::open`] and [`File::tree`], with the file's name.
    pub fn open(&self, file: usize) -> Result<Tree> {
        if let Some((_, tree)) = self.0.first.as_ref().filter(|(begin, _)| *begin == file) {
            return Ok(tree.clone());
        }
        let (url, path) =
            self.0.files.get(file).ok_or_else(|| Error::invalid(format!("the chain has no file number {file}")))?;
        let file = File::open(url, &self.0.options.open)?;
        match path {
            Some(path) => file.tree(path),
            None => file.tree(&file.only_tree()?),
        }
    }

    /// Opens all files for the number of their entries.
    ///
    /// # Errors
    /// As [`Chain::open`]; what is left out does not count.
    pub fn entries(&self) -> Result<u64> {
        Ok(self.counted()?.last().map_or(0, |c| c.entries.end))
    }

    /// Opens all files to count their entries: the trees, but for those that are left out, in order.
    ///
    /// # Errors
    /// As [`Chain::open`].
    pub fn counted(&self) -> Result<Vec<Counted>> {
        let counted = Arc::new(Mutex::new(BTreeMap::new()));
        let told = counted.clone();
        let note = move |link: &Link| {
            let counted = Counted::new(&link.tree, link.first_entry);
            told.lock().unwrap_or_else(PoisonError::into_inner).insert(link.file, counted);
            Ok((Wanted::Nothing, ()))
        };
        self.scan(note).next().transpose()?;
        let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *counted).into_values().collect())
    }

    /// Reads one file after another: `prepare` is asked, on another thread, what to read of each.
    pub fn scan<T: Send + Sync + 'static>(
        &self,
        prepare: impl Fn(&Link) -> Result<(Wanted, T)> + Send + Sync + 'static,
    ) -> ChainScan<T> {
        let (first, offset) = channel();
        // the receiver is right here
        let _ = first.send(0);
        ChainScan {
            chain: self.clone(),
            prepare: Arc::new(prepare),
            next: self.0.first.as_ref().map_or(0, |(file, _)| *file),
            offset: Some(offset),
            ahead: VecDeque::new(),
            current: None,
            entries: 0,
            over: false,
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Vec<(usize, Skipped)>> {
        self.skipped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a file is left out.
    fn leave_out(&self, file: usize, why: Error) {
        let name = self.files.get(file).map(|(url, _)| url.clone()).unwrap_or_default();
        let why = why.in_file(&name);
        let mut skipped = self.lock();
        skipped.retain(|(n, _)| *n != file);
        skipped.push((file, Skipped { file: name, why }));
        skipped.sort_by_key(|(n, _)| *n);
    }

    /// The budget of all files together, and what each file ahead may hold of it.
    fn budget(&self) -> (u64, CacheSize) {
        let whole = match self.options.open.cache {
            CacheSize::Off => return (0, CacheSize::Off),
            CacheSize::Auto => Request::DEFAULT_HOLD,
            CacheSize::Bytes(n) => n.min(Request::DEFAULT_HOLD),
        };
        (whole, CacheSize::Bytes(whole / SHARE))
    }
}

/// Batches of all files in order. Dropping it ends reading.
pub struct ChainScan<T> {
    chain: Chain,
    prepare: Prepare<T>,
    /// The next file to be opened.
    next: usize,
    /// Tells the entries before it, once they are known.
    offset: Option<Receiver<u64>>,
    ahead: VecDeque<JoinHandle<Opened<T>>>,
    current: Option<Part<T>>,
    entries: u64,
    over: bool,
}

struct Part<T> {
    link: Link,
    prepared: Arc<T>,
    scan: Reading,
    /// Nothing behind it is wanted.
    ends: bool,
}

enum Reading {
    Nothing,
    Later(Box<ScanOptions>),
    Now(Box<Scan>),
}

impl Reading {
    fn scan(&self) -> Option<&Scan> {
        match self {
            Reading::Now(scan) => Some(scan),
            Reading::Nothing | Reading::Later(_) => None,
        }
    }
}

/// None: the file is left out.
type Opened<T> = Result<Option<Part<T>>>;

impl<T: Send + Sync + 'static> ChainScan<T> {
    /// Entries of the files opened so far, in their order; those of the chain when reading is over.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Compressed bytes that the file being read holds.
    pub fn held_bytes(&self) -> u64 {
        self.current.as_ref().and_then(|p| p.scan.scan()).map_or(0, Scan::held_bytes)
    }

    /// Opens further files if it is time for that.
    fn look_ahead(&mut self) {
        let (budget, _) = self.chain.0.budget();
        let most = match (&self.current, self.current.as_ref().and_then(|p| p.scan.scan())) {
            (None, _) => 1,
            (_, None) => AHEAD,
            (_, Some(scan)) if !scan.has_asked_all() => 0,
            (_, Some(_)) if budget < LEAST => 1,
            (_, Some(scan)) if scan.held_bytes() > budget / 2 => 0,
            (_, Some(_)) => AHEAD,
        };
        while self.ahead.len() < most && self.next < self.chain.files().len() {
            let Some(offset) = self.offset.take() else { return };
            let (tell, after) = channel();
            self.offset = Some(after);
            let (chain, prepare, file) = (self.chain.clone(), self.prepare.clone(), self.next);
            self.next += 1;
            let alone = self.current.is_none();
            let opening = std::thread::Builder::new()
                .name("sapwood-chain".into())
                .spawn(move || open(&chain, &*prepare, file, alone, &offset, &tell));
            match opening {
                Ok(thread) => self.ahead.push_back(thread),
                Err(_) => {
                    // the system allows no more threads: what is current is read to its end first
                    self.over = self.current.is_none() && self.ahead.is_empty();
                    return;
                }
            }
        }
    }

    fn next_batch(&mut self) -> Result<Option<Linked<T>>> {
        loop {
            self.look_ahead();
            if let Some(part) = &mut self.current {
                if let Reading::Later(options) = &part.scan {
                    part.scan = Reading::Now(Box::new(part.link.tree.scan(options)?));
                }
                if let Reading::Now(scan) = &mut part.scan
                    && let Some(batch) = scan.next()
                {
                    let (link, prepared) = (part.link.clone(), part.prepared.clone());
                    return Ok(Some(Linked { link, prepared, batch: batch? }));
                }
                self.current = None;
            }
            if self.ahead.is_empty() {
                self.look_ahead();
            }
            let Some(opening) = self.ahead.pop_front() else {
                return match self.over {
                    true => Err(Error::invalid("the system allows no further thread to open a file")),
                    false => Ok(None),
                };
            };
            let opened = opening.join().unwrap_or_else(|_| Err(Error::invalid("a thread that opened a file failed")));
            if let Some(part) = opened? {
                if part.ends {
                    return Ok(None);
                }
                self.entries = part.link.first_entry + part.link.tree.entries();
                let (budget, _) = self.chain.0.budget();
                if let Some(scan) = part.scan.scan().filter(|_| budget >= LEAST) {
                    scan.set_budget(budget - budget / SHARE * self.ahead.len() as u64);
                }
                self.current = Some(part);
            }
        }
    }
}

/// Opens a file and begins to read it; `alone` when there is no other before it to share the budget with.
fn open<T>(
    chain: &Chain,
    prepare: &(impl Fn(&Link) -> Result<(Wanted, T)> + ?Sized),
    file: usize,
    alone: bool,
    offset: &Receiver<u64>,
    tell: &Sender<u64>,
) -> Opened<T> {
    let opened = chain.open(file);
    // who ends with an error tells nobody
    let Ok(first_entry) = offset.recv() else { return Err(Error::invalid("a file before it could not be opened")) };
    let begun = opened.and_then(|tree| {
        let link = Link { file, tree, first_entry };
        let (wanted, prepared) = prepare(&link)?;
        let (options, ends) = match wanted {
            Wanted::Read(options) => (Some(options), false),
            Wanted::Nothing => (None, false),
            Wanted::End => (None, true),
        };
        let (budget, share) = chain.0.budget();
        let scan = match options {
            None => Reading::Nothing,
            // what it may hold is known when it is its turn
            Some(options) if budget < LEAST && !alone => Reading::Later(Box::new(options)),
            Some(mut options) => {
                if !alone {
                    options.cache = Some(share);
                }
                Reading::Now(Box::new(link.tree.scan_ahead(&options)?))
            }
        };
        Ok(Part { scan, link, prepared: Arc::new(prepared), ends })
    });
    match begun {
        Ok(part) => {
            // nobody listens any more when reading has ended
            let _ = tell.send(first_entry + part.link.tree.entries());
            Ok(Some(part))
        }
        Err(why) if chain.0.options.skip_bad => {
            chain.0.leave_out(file, why);
            let _ = tell.send(first_entry);
            Ok(None)
        }
        Err(why) => {
            Err(chain.files().get(file).map_or_else(|| why.duplicate(), |(url, _)| why.duplicate().in_file(url)))
        }
    }
}

impl<T: Send + Sync + 'static> Iterator for ChainScan<T> {
    type Item = Result<Linked<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.next_batch();
        if !matches!(next, Ok(Some(_))) {
            self.over = true;
            self.current = None;
        }
        next.transpose()
    }
}
