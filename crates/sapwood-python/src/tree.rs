use crate::cache_size::tree_cache;
use crate::draw::{Drawing, GivenAliases, Part, Product, draw};
use crate::draw_parts::{Ranges, draw_parts, draw_ranges};
use crate::entries::EntryReader;
use crate::entry_list::{Chosen, chosen, entries};
use crate::error::{Missing, exception};
use crate::friends::{FriendBranches, GivenFriend, given};
use crate::query::{Queried, query};
use crate::report::Map;
use crate::scan::{Scan, step};
use crate::seconds::seconds;
use crate::select::Selection;
use crate::text::Text;
use crate::wait::wait;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::types::PyDict;
use sapwood::{Branch, Chain, OpenOptions, ScanOptions, TreeHeader};
use std::sync::Arc;

/// A tree's header, and the way to its values. Branches are named by their number.
#[pyclass(frozen, module = "sapwood._core")]
pub struct Tree {
    inner: sapwood::Tree,
    /// Number of its first entry in its chain, which friends of the chain count from.
    first_entry: u64,
    /// Entries of that chain, where it is a part of one.
    total: Option<u64>,
    friend_branches: Arc<FriendBranches>,
}

impl Tree {
    pub fn new(inner: sapwood::Tree) -> Self {
        Self { inner, first_entry: 0, total: None, friend_branches: Arc::default() }
    }

    /// Its place in its chain.
    fn part(&self) -> Part {
        Part { chain: Chain::part_of(self.inner.clone(), self.first_entry), total: self.total }
    }

    fn header(&self) -> &TreeHeader {
        self.inner.header()
    }

    fn branch_header(&self, branch: usize) -> PyResult<&Branch> {
        let n = self.header().branches.len();
        self.header().branches.get(branch).ok_or_else(|| PyIndexError::new_err(format!("branch {branch} of {n}")))
    }
}

/// A branch's place in the tree: (number, bare name, path with `/`, number of the parent, numbers of the children).
type BranchRow = (usize, Text, Text, Option<usize>, Vec<usize>);

#[pymethods]
impl Tree {
    /// Path in the file.
    #[getter]
    fn path(&self) -> Text {
        self.inner.path().into()
    }

    #[getter]
    fn name(&self) -> Text {
        (&self.header().name).into()
    }

    #[getter]
    fn title(&self) -> Text {
        (&self.header().title).into()
    }

    #[getter]
    fn class_name(&self) -> Text {
        (&self.header().class).into()
    }

    #[getter]
    fn entries(&self) -> u64 {
        self.inner.entries()
    }

    /// Bytes of all branches: not compressed, and in the file.
    #[getter]
    fn bytes(&self) -> (u64, u64) {
        (self.header().total_bytes, self.header().zip_bytes)
    }

    /// First entries of the clusters, and the number of entries behind the last.
    #[getter]
    fn clusters(&self) -> Vec<u64> {
        self.inner.clusters().to_vec()
    }

    /// Names for expressions: (name, expression).
    #[getter]
    fn aliases(&self) -> Vec<(Text, Text)> {
        self.header().aliases.iter().map(|(name, text)| (name.into(), text.into())).collect()
    }

    /// Trees whose entries belong to those of this one: (name, tree, file).
    #[getter]
    fn friends(&self) -> Vec<(Text, Text, Text)> {
        self.header().friends.iter().map(|f| ((&f.name).into(), (&f.tree).into(), (&f.file).into())).collect()
    }

    /// The same with these friends, whose entries count from `first_entry` in a chain of `total` entries.
    #[pyo3(signature = (friends, first_entry=0, cache_size=None, timeout=None, threads=0, total=None))]
    #[allow(clippy::too_many_arguments)]
    fn with_friends(
        &self,
        py: Python<'_>,
        friends: Vec<GivenFriend>,
        first_entry: u64,
        cache_size: Option<u64>,
        timeout: Option<f64>,
        threads: usize,
        total: Option<u64>,
    ) -> PyResult<Self> {
        let timeout = seconds(timeout, "timeout")?;
        let open = OpenOptions::default().cache(tree_cache(cache_size)).timeout(timeout).threads(threads);
        let friends = given(friends, &open).map_err(|e| exception(py, &e, Missing::Key))?;
        let inner = self.inner.with_friends(friends);
        Ok(Self { inner, first_entry, total, friend_branches: Arc::default() })
    }

    /// Whether it has friends, stored or given.
    #[getter]
    fn has_friends(&self) -> bool {
        !self.inner.friends().is_empty()
    }

    /// The number of the branch of a friend that a name means, and the members inside.
    fn friend_branch(&self, py: Python<'_>, name: Text) -> PyResult<Option<(usize, Vec<Text>)>> {
        let found = wait(py, |_| Ok(()), {
            let (tree, branches) = (self.inner.clone(), self.friend_branches.clone());
            move || branches.find(&tree, &name)
        })?;
        let found = found.map_err(|e| exception(py, &e, Missing::File))?;
        Ok(found.map(|(number, fields)| (number, fields.into_iter().map(Into::into).collect())))
    }

    /// Leaves of branches with several: (name, number of the branch).
    fn leaves(&self) -> Vec<(Text, usize)> {
        let header = self.header();
        let several = |i: &usize| header.branches.get(*i).filter(|b| b.leaves.len() > 1).map(|b| (*i, b));
        let branches = self.inner.order().iter().filter_map(several);
        branches
            .flat_map(|(i, b)| {
                b.leaves.iter().filter_map(move |&l| header.leaves.get(l).map(|l| ((&l.name).into(), i)))
            })
            .collect()
    }

    /// All branches in the tree's order, parents before children.
    fn branches(&self) -> PyResult<Vec<BranchRow>> {
        let place = |&i: &usize| {
            let b = self.branch_header(i)?;
            Ok((i, (&b.name).into(), self.inner.name_of(i).into(), b.parent, b.children.clone()))
        };
        self.inner.order().iter().map(place).collect()
    }

    /// The number of a branch by bare name or path.
    fn find(&self, py: Python<'_>, name: Text) -> PyResult<usize> {
        self.inner.find(&name).map_err(|e| exception(py, &e, Missing::Key))
    }

    /// The C++ type.
    fn type_name(&self, branch: usize) -> PyResult<Text> {
        self.branch_header(branch)?;
        Ok(self.inner.type_name(branch).into())
    }

    /// The type of the column that the branch becomes, in words such as `var * float32`.
    ///
    /// Raises UnsupportedError with the reason where the branch cannot be read.
    fn column_type(&self, py: Python<'_>, branch: usize) -> PyResult<Text> {
        self.branch_header(branch)?;
        self.inner.column_type(branch).map(|t| t.to_string().into()).map_err(|e| exception(py, &e, Missing::Key))
    }

    /// The fields of an ntuple, also those of items: number of the field that contains it, name, C++ type, description.
    fn ntuple_fields(&self) -> Vec<(Option<usize>, Text, Text, Text)> {
        let fields = self.header().ntuple.iter().flat_map(|ntuple| &ntuple.schema.fields);
        fields.map(|f| (f.parent, (&f.name).into(), (&f.type_name).into(), (&f.description).into())).collect()
    }

    /// Entries of a branch.
    fn entries_of(&self, branch: usize) -> PyResult<u64> {
        self.branch_header(branch)?;
        Ok(self.inner.entries_of(branch))
    }

    /// A branch's header as a dict.
    fn branch<'py>(&self, py: Python<'py>, branch: usize) -> PyResult<Bound<'py, PyDict>> {
        let b = self.branch_header(branch)?;
        let d = PyDict::new(py);
        d.set_item("title", Text::from(&b.title))?;
        d.set_item("class_name", Text::from(&b.class))?;
        d.set_item("compression", b.compression)?;
        d.set_item("basket_size", b.basket_size)?;
        d.set_item("split_level", b.split_level)?;
        d.set_item("total_bytes", b.total_bytes)?;
        d.set_item("zip_bytes", b.zip_bytes)?;
        // the basket that was being filled when the tree was written may lie in the tree's header
        let n = b.embedded.iter().map(|(number, _)| number + 1).fold(b.write_basket, usize::max);
        d.set_item("num_baskets", n)?;
        d.set_item("basket_bytes", b.basket_bytes.iter().take(n).collect::<Vec<_>>())?;
        d.set_item("basket_entry", b.basket_entry.iter().take(n).collect::<Vec<_>>())?;
        d.set_item("basket_seek", b.basket_seek.iter().take(n).collect::<Vec<_>>())?;
        Ok(d)
    }

    /// Where its baskets are in the file; branches that match a pattern are distinguished.
    fn map(&self, py: Python<'_>, patterns: Vec<Text>) -> PyResult<Map> {
        Map::make(py, self.inner.file().clone(), Some(self.inner.clone()), patterns)
    }

    /// Begins a scan of the branches over entries `start..stop`, in steps of `unit` ("all", "cluster", "entries",
    /// "bytes") of `size`; `progress(entries, total, bytes)` is called now and then.
    ///
    /// `selected` are numbers of entries (ascending, int64): only those are read. `cut` is (branches, function): the
    /// function gets (start, stop, selected, columns) of these branches and gives a truth value (bytes of 0 and 1) for each
    /// row; only entries that pass are read. With `ahead` nothing is unzipped before the first batch is asked for.
    #[pyo3(signature = (branches, start, stop, unit="all", size=0, cache_size=None, threads=0, progress=None, selected=None,
        cut=None, ahead=false))]
    #[allow(clippy::too_many_arguments)]
    fn scan(
        &self,
        py: Python<'_>,
        branches: Vec<usize>,
        start: u64,
        stop: u64,
        unit: &str,
        size: u64,
        cache_size: Option<u64>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        selected: Option<Bound<'_, PyAny>>,
        cut: Option<(Vec<usize>, Py<PyAny>)>,
        ahead: bool,
    ) -> PyResult<Scan> {
        for &b in branches.iter().chain(cut.iter().flat_map(|(branches, _)| branches)) {
            if !self.friend_branches.has(&self.inner, b) {
                self.branch_header(b)?;
            }
        }
        let step = step(unit, size)?;
        let sources = self.friend_branches.divide(&self.inner, &branches, self.first_entry);
        let sources = sources.map_err(|e| exception(py, &e, Missing::File))?;
        let mut options = options(start, stop, cache_size, threads).branches(sources.own.clone()).step(step);
        options.friends.clone_from(&sources.friends);
        options.selected = selected.map(|s| entries(&s)).transpose()?.map(Into::into);
        let selection = cut.map(|(branches, function)| Selection::new(&self.inner, branches, function));
        options.cut = selection.as_ref().map(Selection::cut);
        Scan::begin(py, self.inner.clone(), options, progress, selection, sources, ahead)
    }

    /// The entries (start, stop) of each batch that [`Tree::scan`] with these arguments gives; nothing is read.
    #[pyo3(signature = (branches, start, stop, unit="all", size=0, selected=None))]
    #[allow(clippy::too_many_arguments)]
    fn batches(
        &self,
        py: Python<'_>,
        branches: Vec<usize>,
        start: u64,
        stop: u64,
        unit: &str,
        size: u64,
        selected: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<(u64, u64)>> {
        for &b in &branches {
            if !self.friend_branches.has(&self.inner, b) {
                self.branch_header(b)?;
            }
        }
        let sources = self.friend_branches.divide(&self.inner, &branches, self.first_entry);
        let sources = sources.map_err(|e| exception(py, &e, Missing::File))?;
        let mut options = options(start, stop, None, 0).branches(sources.own).step(step(unit, size)?);
        options.friends = sources.friends;
        options.selected = selected.map(|s| entries(&s)).transpose()?.map(Into::into);
        let batches = self.inner.batches(&options).map_err(|e| exception(py, &e, Missing::Key))?;
        Ok(batches.into_iter().map(|b| (b.start, b.end)).collect())
    }

    /// A reader of single entries.
    #[pyo3(signature = (cache_size=None, threads=0))]
    fn entry_reader(&self, cache_size: Option<u64>, threads: usize) -> EntryReader {
        EntryReader::new(&self.inner, cache_size, threads)
    }

    /// The default size of ROOT's cache for this tree, in bytes.
    fn automatic_cache_size(&self) -> u64 {
        self.inner.automatic_cache_size()
    }

    /// Histograms of entries `start..stop`, or of the selected ones, filled in one reading: of each an expression, a cut, axes
    /// (x first; what they leave open follows from the values) and an option, in TTree::Draw's language.
    #[pyo3(signature = (drawings, start, stop, cache_size=None, threads=0, progress=None, selected=None))]
    #[allow(clippy::too_many_arguments)]
    fn draw(
        &self,
        py: Python<'_>,
        drawings: Vec<Drawing>,
        start: u64,
        stop: u64,
        cache_size: Option<u64>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        selected: Option<Chosen<'_>>,
    ) -> PyResult<Vec<Product>> {
        let chosen = chosen(start, stop, selected)?;
        let options = options(start, stop, cache_size, threads);
        draw(py, &self.part(), &drawings, chosen, options, progress)
    }

    /// Histograms of some of the entries as bytes, to be added elsewhere; see `add_parts`.
    #[pyo3(signature = (drawings, start, stop, cache_size=None, threads=0, progress=None, selected=None))]
    #[allow(clippy::too_many_arguments)]
    fn draw_parts<'py>(
        &self,
        py: Python<'py>,
        drawings: Vec<Drawing>,
        start: u64,
        stop: u64,
        cache_size: Option<u64>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        selected: Option<Chosen<'_>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let options = options(start, stop, cache_size, threads);
        draw_parts(py, &self.part(), &drawings, (start, stop, selected), options, progress)
    }

    /// How many rows decide about automatic axes, and for each draw that has one the ranges of its first rows, `most` of
    /// them.
    #[pyo3(signature = (drawings, start, stop, most, cache_size=None, threads=0, selected=None))]
    #[allow(clippy::too_many_arguments)]
    fn draw_ranges(
        &self,
        py: Python<'_>,
        drawings: Vec<Drawing>,
        start: u64,
        stop: u64,
        most: Vec<u64>,
        cache_size: Option<u64>,
        threads: usize,
        selected: Option<Chosen<'_>>,
    ) -> PyResult<(u64, Vec<Ranges>)> {
        let options = options(start, stop, cache_size, threads);
        draw_ranges(py, &self.part(), &drawings, (start, stop, selected), most, options)
    }

    /// The rows of expressions that pass a cut, of entries `start..stop` or of the selected ones: the titles of the columns,
    /// the rows, and for each of them the numbers of its entry and instance.
    #[pyo3(signature = (expressions, cut, aliases, start, stop, cache_size=None, threads=0, progress=None, selected=None))]
    #[allow(clippy::too_many_arguments)]
    fn query<'py>(
        &self,
        py: Python<'py>,
        expressions: Text,
        cut: Text,
        aliases: GivenAliases,
        start: u64,
        stop: u64,
        cache_size: Option<u64>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        selected: Option<Chosen<'_>>,
    ) -> PyResult<Queried<'py>> {
        let options = options(start, stop, cache_size, threads);
        query(py, &self.part(), (&expressions, &cut, &aliases), (start, stop, selected), options, progress)
    }
}

fn options(start: u64, stop: u64, cache_size: Option<u64>, threads: usize) -> ScanOptions {
    let cache = cache_size.map(|bytes| tree_cache(Some(bytes)));
    ScanOptions::default().entries(Some(start..stop)).cache(cache).threads(threads)
}
