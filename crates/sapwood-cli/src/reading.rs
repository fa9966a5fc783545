//! Reading expressions from the trees of one file or of several, batch by batch, with progress and Ctrl-C.

use crate::args::FriendArgs;
use crate::entries;
use crate::failure::{Failure, hint};
use crate::friends;
use crate::interrupt::Interrupt;
use crate::progress::Bar;
use crate::target::several;
use sapwood::query::{Bind, Bound, Entries, Expr, Reader, Rows};
use sapwood::{
    Array, Chain, ChainBatch, ChainFile, ChainOptions, Error, FriendTree, Instances, IoReport, OpenOptions, Result,
    ScanOptions, Tree,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// One command's way of reading trees.
pub(crate) struct Reading<'a> {
    chain: Chain,
    /// The tree of the first file that is not left out.
    first: Tree,
    total: Cell<u64>,
    quiet: bool,
    interrupt: &'a Interrupt,
    cancel: Arc<AtomicBool>,
    entries: Cell<u64>,
    /// The instances that an entry list has chosen.
    instances: RefCell<Option<Arc<Instances>>>,
    /// What reading did, file by file.
    io: RefCell<BTreeMap<usize, IoReport>>,
}

/// What `draw` and `scan` read from: the files, and how they are opened.
pub(crate) struct Inputs<'a> {
    /// File and tree, a pattern of files, or `@` and a list.
    pub target: &'a str,
    /// More of them.
    pub add: &'a [String],
    /// Whether files that cannot be opened are left out.
    pub skip_bad: bool,
    /// Friends that are read along.
    pub friends: &'a FriendArgs,
    /// How files are opened.
    pub open: &'a OpenOptions,
}

impl Inputs<'_> {
    /// The chain of all files; the first is opened.
    ///
    /// # Errors
    /// Patterns that nothing fits; a first file that cannot be opened.
    pub(crate) fn chain(&self) -> Result<Chain> {
        let targets = several(std::iter::once(self.target).chain(self.add.iter().map(String::as_str)), self.open)?;
        let files = targets.iter().map(|t| (t.url.clone(), t.object.clone())).collect();
        let options = ChainOptions::default()
            .open(self.open.clone())
            .skip_bad(self.skip_bad)
            .friends(friends::given(self.friends, self.open)?);
        let chain = Chain::new(files, options);
        match targets.as_slice() {
            // opened in the usual way: it says more about what may be wrong
            [first, others @ ..] if others.is_empty() || !self.skip_bad => {
                let file = first.open(self.open)?;
                let tree = first.tree(&file)?;
                Ok(chain.with_first(tree))
            }
            _ => Ok(chain),
        }
    }
}

impl<'a> Reading<'a> {
    /// Takes over Ctrl-C; shows progress unless `quiet`. A first file that is open already is not opened again.
    ///
    /// # Errors
    /// Files that cannot be opened, up to the first that can.
    pub(crate) fn new(chain: Chain, quiet: bool, interrupt: &'a Interrupt) -> Result<Self> {
        let (chain, first) = chain.first()?;
        Ok(Self {
            total: Cell::new(first.entries()),
            chain,
            first,
            quiet,
            interrupt,
            cancel: interrupt.defer(),
            entries: Cell::new(0),
            instances: RefCell::default(),
            io: RefCell::default(),
        })
    }

    /// The tree of the first file.
    pub(crate) fn first(&self) -> &Tree {
        &self.first
    }

    /// How many rows decide about an automatic axis.
    pub(crate) fn estimate(&self) -> i64 {
        Reader::estimate(&self.chain, &self.first)
    }

    /// Whether no file follows this one.
    pub(crate) fn is_last(&self, link: &ChainFile) -> bool {
        link.file + 1 >= self.chain.files().len()
    }

    /// The entries that `--entries` names, as [`entries::chosen`].
    ///
    /// # Errors
    /// `Usage` when the text makes no sense; what reading a list or counting says.
    pub(crate) fn chosen(&self, text: Option<&str>) -> Result<Entries, Failure> {
        let (entries, instances) = entries::chosen(text, &self.chain, &self.first)?;
        *self.instances.borrow_mut() = Some(Arc::new(instances)).filter(|instances| !instances.is_empty());
        Ok(entries)
    }

    /// Tells what `Entries$` is, where one of the expressions has it.
    ///
    /// # Errors
    /// As [`Chain::entries`].
    pub(crate) fn count<'e>(&self, expressions: impl Iterator<Item = &'e Expr>) -> Result<()> {
        self.total.set(Reader::total(&self.chain, &self.first, expressions)?);
        Ok(())
    }

    /// Calls `f` with one batch after another until it breaks; true when it did. `branches` are those of the first file
    /// that will be read, for the progress bar.
    ///
    /// # Errors
    /// What reading or `f` says; `Interrupted` after Ctrl-C.
    pub(crate) fn each<E: From<Error>>(
        &self,
        chosen: Entries,
        branches: &[usize],
        bind: Bind,
        mut f: impl FnMut(&ChainBatch<Bound>) -> Result<ControlFlow<()>, E>,
    ) -> Result<bool, E> {
        let bar = Bar::new(self.quiet || self.chain.files().len() > 1, &self.first, branches, &chosen);
        let mut options = ScanOptions::default().cancel(self.cancel.clone());
        options.progress = bar.callback();
        let (chain, total) = (self.chain.clone(), self.total.get());
        let list = match &chosen {
            Entries::List(list) => Some(list.clone()),
            Entries::Range(_) => None,
        };
        let mut current: Option<ChainFile> = None;
        let mut broken = false;
        for part in (Reader { chain, entries: chosen, total, options, bind }).read() {
            self.interrupt.check()?;
            let part = part?;
            if current.as_ref().is_none_or(|link| link.file != part.link.file) {
                self.note(current.replace(part.link.clone()));
            }
            let r = &part.batch.entries;
            let here = part.link.first_entry + r.start..part.link.first_entry + r.end;
            let looked_at = list.as_ref().map_or(r.end - r.start, |list| list.within(&here).len());
            self.entries.set(self.entries.get() + looked_at);
            if f(&part)?.is_break() {
                broken = true;
                break;
            }
        }
        self.note(current);
        self.interrupt.check()?;
        Ok(broken)
    }

    /// Keeps what reading a file did.
    fn note(&self, link: Option<ChainFile>) {
        if let Some(link) = link {
            let mut io = link.tree.file().io();
            let stored = link.tree.friends().into_iter().filter(FriendTree::is_stored);
            stored.filter_map(|friend| friend.io()).for_each(|friend| io += &friend);
            self.io.borrow_mut().insert(link.file, io);
        }
    }

    /// The rows of a batch, as `TTree::Scan` has them.
    ///
    /// # Errors
    /// Columns that are not as described to the query.
    pub(crate) fn rows(&self, part: &ChainBatch<Bound>) -> Result<Rows> {
        self.with(part, |query, batch| query.rows(batch))
    }

    /// Gives the batch to `f` as each of the queries takes it, with the number of the query.
    ///
    /// # Errors
    /// As [`Reading::rows`], and what `f` says.
    pub(crate) fn with_each(
        &self,
        part: &ChainBatch<Bound>,
        mut f: impl FnMut(usize, &sapwood::query::Query, &sapwood::query::Batch<'_>) -> Result<()>,
    ) -> Result<()> {
        let ChainBatch { link, prepared, batch } = part;
        let instances = self.instances.borrow().clone();
        prepared.bindings().enumerate().try_for_each(|(i, binding)| {
            let f = |b: &sapwood::query::Batch<'_>| f(i, &binding.query, &b.through(instances.as_deref()));
            binding.with_batch(batch, &batch.columns, link.first_entry, self.total.get(), f)
        })
    }

    /// Gives the batch to `f` as the query takes it.
    ///
    /// # Errors
    /// As [`Reading::rows`], and what `f` says.
    pub(crate) fn with<R>(
        &self,
        part: &ChainBatch<Bound>,
        f: impl FnOnce(&sapwood::query::Query, &sapwood::query::Batch<'_>) -> Result<R>,
    ) -> Result<R> {
        let ChainBatch { link, prepared, batch } = part;
        let columns: &[Array] = batch.columns.get(prepared.shown.len()..).unwrap_or_default();
        let query = &prepared.binding.query;
        let instances = self.instances.borrow().clone();
        let f = |b: &sapwood::query::Batch<'_>| f(query, &b.through(instances.as_deref()));
        prepared.binding.with_batch(batch, columns, link.first_entry, self.total.get(), f)
    }

    /// Entries looked at so far.
    pub(crate) fn entries(&self) -> u64 {
        self.entries.get()
    }

    /// What opening and reading did so far.
    pub(crate) fn io(&self) -> IoReport {
        let mut sum = IoReport::default();
        self.io.borrow().values().for_each(|io| sum += io);
        if self.io.borrow().is_empty() {
            sum = self.first.file().io();
        }
        let given = self.first.given_friends().iter().filter_map(FriendTree::io);
        given.for_each(|friend| sum += &friend);
        sum
    }

    /// Warns of the files that were left out.
    pub(crate) fn tell_skipped(&self) {
        for s in self.chain.skipped() {
            hint(&format!("skipped {s}"));
        }
    }
}
