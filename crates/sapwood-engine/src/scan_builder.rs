use crate::entries::EntryList;
use crate::options::{Cut, Progress, ScanOptions, StepSize};
use crate::scan::Scan;
use crate::tree::Tree;
use crate::wildcard::glob_match;
use sapwood_plan::CacheSize;
use sapwood_span::{Error, Result};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Makes a [`Cut`] for a tree.
type MakeCut = Box<dyn FnOnce(&Tree) -> Result<Cut>>;

/// What a scan of a tree will read; [`ScanBuilder::build`] begins it.
///
/// ```no_run
/// use sapwood_engine::{OpenOptions, StepSize};
///
/// # fn main() -> sapwood_span::Result<()> {
/// let tree = OpenOptions::new().open("events.root")?.tree("Events")?;
/// for batch in tree.scan().branches(["pt", "Muon_*"]).entries(0..1000).step(StepSize::Entries(100)).build()? {
///     println!("{} columns", batch?.columns.len());
/// }
/// # Ok(()) }
/// ```
#[must_use = "nothing is read before build"]
pub struct ScanBuilder {
    tree: Tree,
    options: ScanOptions,
    names: Vec<String>,
    cut: Option<MakeCut>,
}

impl Tree {
    /// A scan of this tree, to be put together: which branches, which entries, in what steps.
    pub fn scan(&self) -> ScanBuilder {
        ScanBuilder { tree: self.clone(), options: ScanOptions::default(), names: Vec::new(), cut: None }
    }

    /// Branches by a name or a path, or by a pattern with `*` and `?`: of the branches that the pattern matches those
    /// that have values of their own and can be read, in the order of the tree.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub fn find_all(&self, pattern: &str) -> Result<Vec<usize>> {
        if !pattern.contains(['*', '?']) {
            return self.find(pattern).map(|b| vec![b]);
        }
        let header = self.header();
        let matches = |&b: &usize| {
            header.branches.get(b).is_some_and(|branch| {
                branch.children.is_empty()
                    && (glob_match(pattern, &self.name_of(b)) || glob_match(pattern, &branch.name))
                    && self.column_type(b).is_ok()
            })
        };
        let found: Vec<usize> = self.order().iter().copied().filter(matches).collect();
        if found.is_empty() {
            return Err(Error::not_found(format!("no branch matches {pattern}")).in_file(self.file().url()));
        }
        Ok(found)
    }
}

impl ScanBuilder {
    /// Reads these branches too: names, paths, or patterns with `*` and `?` (see [`Tree::find_all`]). Columns come in the
    /// order in which the branches were named.
    pub fn branches<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.names.extend(names.into_iter().map(Into::into));
        self
    }

    /// Reads only these entries; without it, all.
    pub fn entries(mut self, entries: Range<u64>) -> Self {
        self.options.entries = Some(entries);
        self
    }

    /// Reads only these of the entries: baskets without one of them are not fetched.
    pub fn selected(mut self, entries: impl Into<Arc<EntryList>>) -> Self {
        self.options.selected = Some(entries.into());
        self
    }

    /// Reads only the entries that pass this cut, which is evaluated before the other branches are fetched.
    pub fn cut_with(mut self, cut: Cut) -> Self {
        self.cut = Some(Box::new(move |_| Ok(cut)));
        self
    }

    /// The same for a cut that is made for the tree when the scan begins.
    pub fn cut_from(mut self, make: impl FnOnce(&Tree) -> Result<Cut> + 'static) -> Self {
        self.cut = Some(Box::new(make));
        self
    }

    /// How many entries come in a batch.
    pub fn step(mut self, step: StepSize) -> Self {
        self.options.step = step;
        self
    }

    /// Size of the tree cache; without it, that of the file.
    pub fn cache(mut self, cache: CacheSize) -> Self {
        self.options.cache = Some(cache);
        self
    }

    /// Threads that decompress and decode; 0 or without it, as the file was opened.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Calls a function after every batch.
    pub fn progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.options = self.options.progress(progress);
        self
    }

    /// Ends the scan with an `Interrupted` error once this is set, from any thread.
    pub fn cancel(mut self, cancel: Arc<AtomicBool>) -> Self {
        self.options.cancel = cancel;
        self
    }

    /// Begins the scan: it fetches and decodes from now on.
    ///
    /// # Errors
    /// `NotFound` for a branch that does not exist, `Unsupported` for one that cannot be read, `Invalid` when no branch
    /// was named or for entries that the tree does not have.
    pub fn build(self) -> Result<Scan> {
        let (tree, options) = self.into_options()?;
        tree.scan_with(&options)
    }

    /// The tree, and what is to be read of it, without beginning: names of branches are looked up.
    ///
    /// # Errors
    /// As [`ScanBuilder::build`].
    pub fn into_options(self) -> Result<(Tree, ScanOptions)> {
        let Self { tree, mut options, names, cut } = self;
        for name in &names {
            for branch in tree.find_all(name)? {
                if !options.branches.contains(&branch) {
                    options.branches.push(branch);
                }
            }
        }
        if options.branches.is_empty() {
            let e = Error::invalid("the scan has no branches").with_remedy("specify some, or use the pattern *");
            return Err(e.in_file(tree.file().url()));
        }
        if let Some(make) = cut {
            options.cut = Some(make(&tree)?);
        }
        Ok((tree, options))
    }
}

impl std::fmt::Debug for ScanBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("ScanBuilder");
        out.field("tree", &self.tree).field("branches", &self.names).field("entries", &self.options.entries);
        out.finish_non_exhaustive()
    }
}
