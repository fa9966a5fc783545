//! Reading a chain: while one file is read the next are opened and their first baskets fetched.
//!
//! The next files are opened when the current one has nothing left to ask for and holds at most half of the budget:
//! from then on its connections would idle. Each of them may hold an eighth of the budget until it is its turn, so that
//! all together stay within it.

use super::{Chain, ChainBatch, ChainFile, Prepare, ReadRequest};
use crate::options::ScanOptions;
use crate::scan::Scan;
use sapwood_plan::{CacheSize, Request};
use sapwood_span::defect::{caught, inject, of_panic};
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Files that are opened ahead of the current one.
const AHEAD: usize = 4;

/// The part of the budget that each of them may hold.
const SHARE: u64 = 8;

/// Budgets below this are not divided: further files are opened ahead, but nothing of them is fetched.
const LEAST: u64 = 4 << 20;

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
    link: ChainFile,
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
    pub(super) fn new(chain: Chain, prepare: Prepare<T>) -> Self {
        let (first, offset) = channel();
        // the receiver is right here
        let _ = first.send(chain.0.options.first_entry);
        let next = chain.0.first.as_ref().map_or(0, |(file, _)| *file);
        Self {
            chain,
            prepare,
            next,
            offset: Some(offset),
            ahead: VecDeque::new(),
            current: None,
            entries: 0,
            over: false,
        }
    }

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
        let (budget, _) = budget(&self.chain);
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
            let opening = std::thread::Builder::new().name("sapwood-chain".into()).spawn(move || {
                let opened = caught(|| {
                    inject::here("chain");
                    open(&chain, &*prepare, file, alone, &offset, &tell)
                });
                opened.map_err(|e| e.in_file(chain.0.name(file)))
            });
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

    fn next_batch(&mut self) -> Result<Option<ChainBatch<T>>> {
        loop {
            self.look_ahead();
            if let Some(part) = &mut self.current {
                if let Reading::Later(options) = &part.scan {
                    part.scan = Reading::Now(Box::new(part.link.tree.scan_with(options)?));
                }
                if let Reading::Now(scan) = &mut part.scan
                    && let Some(batch) = scan.next()
                {
                    let (link, prepared) = (part.link.clone(), part.prepared.clone());
                    return Ok(Some(ChainBatch { link, prepared, batch: batch? }));
                }
                self.current = None;
            }
            if self.ahead.is_empty() {
                self.look_ahead();
            }
            let Some(opening) = self.ahead.pop_front() else {
                return match self.over {
                    true => Err(Error::invalid("the system does not allow another thread to open a file")),
                    false => Ok(None),
                };
            };
            let opened = opening.join().unwrap_or_else(|panic| Err(of_panic(&*panic)));
            if let Some(part) = opened? {
                if part.ends {
                    return Ok(None);
                }
                self.entries = part.link.first_entry + part.link.tree.entries();
                let (budget, _) = budget(&self.chain);
                if let Some(scan) = part.scan.scan().filter(|_| budget >= LEAST) {
                    scan.set_budget(budget - budget / SHARE * self.ahead.len() as u64);
                }
                self.current = Some(part);
            }
        }
    }
}

/// The budget of all files together, and what each file ahead may hold of it.
fn budget(chain: &Chain) -> (u64, CacheSize) {
    let whole = match chain.0.options.open.cache {
        CacheSize::Off => return (0, CacheSize::Off),
        CacheSize::Auto => Request::DEFAULT_HOLD,
        CacheSize::Bytes(n) => n.min(Request::DEFAULT_HOLD),
    };
    (whole, CacheSize::Bytes(whole / SHARE))
}

/// Opens a file and begins to read it; `alone` when there is no other before it to share the budget with.
fn open<T>(
    chain: &Chain,
    prepare: &(impl Fn(&ChainFile) -> Result<(ReadRequest, T)> + ?Sized),
    file: usize,
    alone: bool,
    offset: &Receiver<u64>,
    tell: &Sender<u64>,
) -> Opened<T> {
    let opened = chain.open(file);
    // a worker that ends with an error notifies nobody
    let Ok(first_entry) = offset.recv() else { return Err(Error::invalid("an earlier file could not be opened")) };
    let begun = opened.and_then(|tree| {
        let link = ChainFile { file, tree, first_entry };
        let (wanted, prepared) = prepare(&link)?;
        let (options, ends) = match wanted {
            ReadRequest::Read(options) => (Some(options), false),
            ReadRequest::Nothing => (None, false),
            ReadRequest::End => (None, true),
        };
        let (budget, share) = budget(chain);
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
        // a file is left out for what is wrong with it, not for what is wrong here
        Err(why) if chain.0.options.skip_bad && why.kind() != ErrorKind::Defect => {
            chain.0.leave_out(file, why);
            let _ = tell.send(first_entry);
            Ok(None)
        }
        Err(why) => Err(why.in_file(chain.0.name(file))),
    }
}

impl<T: Send + Sync + 'static> Iterator for ChainScan<T> {
    type Item = Result<ChainBatch<T>>;

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
