//! Trees of several files, one behind the other.

mod reading;

pub use reading::ChainScan;

use crate::batch::Batch;
use crate::entry_list_object::Counted;
use crate::file::File;
use crate::options::{OpenOptions, ScanOptions};
use crate::tree::{FriendTree, Tree};
use sapwood_source::redacted;
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result, setters};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// How the files of a chain are opened.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ChainOptions {
    /// How each file is opened.
    pub open: OpenOptions,
    /// Leaves files out that cannot be opened, lack the tree, or lack what is asked of it; [`Chain::skipped`] tells
    /// which. Otherwise the first such file ends reading with an error. What fails later, within a file, always does.
    pub skip_bad: bool,
    /// Friends of all of its trees: their entries are counted through the chain.
    pub friends: Vec<FriendTree>,
    /// The number of its first entry, where it is a part of a longer chain.
    pub first_entry: u64,
}

setters!(ChainOptions { open: OpenOptions, skip_bad: bool, friends: Vec<FriendTree>, first_entry: u64 } into {  });

/// A file that was left out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Skipped {
    /// Its path or URL, without credentials.
    pub file: String,
    /// Why.
    pub why: Error,
}

impl fmt::Display for Skipped {
    /// The file, once, and why.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why.file() {
            Some(file) if file == self.file => write!(f, "{}", self.why),
            _ => write!(f, "{}: {}", self.file, self.why),
        }
    }
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
pub struct ChainFile {
    /// Number of the file.
    pub file: usize,
    /// The tree.
    pub tree: Tree,
    /// Entries of the files before it.
    pub first_entry: u64,
}

/// A batch of one of the files, and what was prepared for that file.
pub struct ChainBatch<T> {
    /// Where it is.
    pub link: ChainFile,
    /// What the caller prepared for this file.
    pub prepared: Arc<T>,
    /// The batch; its entries are counted from the beginning of the file.
    pub batch: Batch,
}

/// What is to be read of a file.
#[expect(clippy::large_enum_variant, reason = "one exists for each file of a chain")]
pub enum ReadRequest {
    /// This.
    Read(ScanOptions),
    /// Nothing.
    Nothing,
    /// Nothing, and nothing of those behind it: they are not opened.
    End,
}

/// Says what is to be read of a file, and brings along whatever belongs to it.
pub type Prepare<T> = Arc<dyn Fn(&ChainFile) -> Result<(ReadRequest, T)> + Send + Sync>;

impl Chain {
    /// A chain of these files, each with the path of its tree; a file with one tree needs none. Nothing is opened yet.
    pub fn new(files: Vec<(String, Option<String>)>, options: ChainOptions) -> Self {
        Self(Arc::new(Inner { files, options, first: None, skipped: Arc::default() }))
    }

    /// A chain of one tree.
    pub fn of(tree: Tree) -> Self {
        Self::part_of(tree, 0)
    }

    /// A chain of one tree whose entries count from `first_entry`, as those of a file of a longer chain do.
    pub fn part_of(tree: Tree, first_entry: u64) -> Self {
        let files = vec![(tree.file().url().to_owned(), Some(tree.path().to_owned()))];
        let friends = tree.given_friends().to_vec();
        let options =
            ChainOptions { open: tree.file().options().clone(), friends, first_entry, ..ChainOptions::default() };
        Self::new(files, options).with_first(tree)
    }

    /// The same with the tree of its first file, which is open already.
    #[must_use]
    pub fn with_first(self, tree: Tree) -> Self {
        self.beginning(0, tree)
    }

    fn beginning(&self, file: usize, tree: Tree) -> Self {
        let Inner { files, options, .. } = &*self.0;
        let tree =
            if tree.given_friends().is_empty() { tree.with_friends(options.friends.iter().cloned()) } else { tree };
        let skipped = self.0.skipped.clone();
        Self(Arc::new(Inner { files: files.clone(), options: options.clone(), first: Some((file, tree)), skipped }))
    }

    /// Opens the first file that is not left out: gives its tree, and the chain that has it open.
    ///
    /// # Errors
    /// As [`Chain::open`]; `Invalid` for a chain without files.
    pub fn first(&self) -> Result<(Self, Tree)> {
        if let Some((_, tree)) = &self.0.first {
            return Ok((self.clone(), tree.clone()));
        }
        let mut last = Error::invalid("the chain has no files");
        for (file, (url, _)) in self.files().iter().enumerate() {
            match self.open(file) {
                Ok(tree) => return Ok((self.beginning(file, tree.clone()), tree)),
                Err(why) if !self.0.options.skip_bad => return Err(why.in_file(redacted(url))),
                Err(why) => {
                    last = why.clone().in_file(redacted(url));
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
        self.0.lock().iter().map(|(_, s)| s.clone()).collect()
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
        let tree = match path {
            Some(path) => file.tree(path)?,
            None => file.tree(&file.only_tree()?)?,
        };
        Ok(tree.with_friends(self.0.options.friends.iter().cloned()))
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
        let note = move |link: &ChainFile| {
            let counted = Counted::new(&link.tree, link.first_entry);
            lock(&told).insert(link.file, counted);
            Ok((ReadRequest::Nothing, ()))
        };
        self.scan(note).next().transpose()?;
        let mut counted = lock(&counted);
        Ok(std::mem::take(&mut *counted).into_values().collect())
    }

    /// Reads one file after another: `prepare` is asked, on another thread, what to read of each.
    pub fn scan<T: Send + Sync + 'static>(
        &self,
        prepare: impl Fn(&ChainFile) -> Result<(ReadRequest, T)> + Send + Sync + 'static,
    ) -> ChainScan<T> {
        ChainScan::new(self.clone(), Arc::new(prepare))
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Vec<(usize, Skipped)>> {
        lock(&self.skipped)
    }

    /// What messages call a file.
    fn name(&self, file: usize) -> String {
        self.files.get(file).map(|(url, _)| redacted(url)).unwrap_or_default()
    }

    /// Notes that a file is left out.
    fn leave_out(&self, file: usize, why: Error) {
        let name = self.name(file);
        let why = why.in_file(&name);
        let mut skipped = self.lock();
        skipped.retain(|(n, _)| *n != file);
        skipped.push((file, Skipped { file: name, why }));
        skipped.sort_by_key(|(n, _)| *n);
    }
}
