use crate::cache_size::tree_cache;
use crate::draw::{Drawing, GivenAliases, Part, Product, draw};
use crate::entry_list::{ChainEntry, Chosen, chosen};
use crate::error::{Missing, exception};
use crate::friends::{GivenFriend, given};
use crate::query::{Queried, query};
use crate::seconds::seconds;
use crate::text::{Text, texts, told};
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::{Chain, ChainOptions, OpenOptions, ScanOptions};
use std::ffi::CString;

/// Files, each with the path of its tree where it has one.
type Files = Vec<(Text, Option<Text>)>;

fn chain(
    py: Python<'_>,
    files: Files,
    cache_size: Option<u64>,
    timeout: Option<f64>,
    threads: usize,
    skip_bad: bool,
    friends: Vec<GivenFriend>,
) -> PyResult<Chain> {
    let timeout = seconds(timeout, "timeout")?;
    let open = OpenOptions::default().cache(tree_cache(cache_size)).timeout(timeout).threads(threads);
    let friends = given(friends, &open).map_err(|e| exception(py, &e, Missing::Key))?;
    let files = files.into_iter().map(|(file, tree)| (file.0, tree.map(|t| t.0))).collect();
    Ok(Chain::new(files, ChainOptions::default().open(open).skip_bad(skip_bad).friends(friends)))
}

/// Warns of the files that were left out.
fn warn(py: Python<'_>, chain: &Chain) -> PyResult<()> {
    let category = py.import("sapwood")?.getattr("SkippedFileWarning")?;
    for s in chain.skipped() {
        let words = CString::new(told(&format!("skipped {s}")))?;
        PyErr::warn(py, &category, &words, 3)?;
    }
    Ok(())
}

/// The trees of all files, each of which is opened to count its entries.
#[pyfunction]
pub(crate) fn chain_places(
    py: Python<'_>,
    files: Files,
    cache_size: Option<u64>,
    timeout: Option<f64>,
    threads: usize,
    skip_bad: bool,
) -> PyResult<Vec<ChainEntry>> {
    let chain = chain(py, files, cache_size, timeout, threads, skip_bad, Vec::new())?;
    let counted = {
        let chain = chain.clone();
        wait(py, |_| Ok(()), move || chain.counted())?
    };
    let counted = counted.map_err(|e| exception(py, &e, Missing::File))?;
    warn(py, &chain)?;
    Ok(counted.into_iter().map(|c| (c.file.into(), c.tree.into(), c.entries.start, c.entries.end)).collect())
}

/// Rows of expressions over all files; see `Tree.query`.
#[pyfunction]
#[pyo3(signature = (files, expressions, cut, aliases, start, stop, cache_size, timeout, threads, progress, selected, skip_bad,
    friends=Vec::new()))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn query_chain<'py>(
    py: Python<'py>,
    files: Files,
    expressions: Text,
    cut: Text,
    aliases: GivenAliases,
    start: u64,
    stop: u64,
    cache_size: Option<u64>,
    timeout: Option<f64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    selected: Option<Chosen<'_>>,
    skip_bad: bool,
    friends: Vec<GivenFriend>,
) -> PyResult<Queried<'py>> {
    let chain = chain(py, files, cache_size, timeout, threads, skip_bad, friends)?;
    let part = Part::whole(chain.clone());
    let queried =
        query(py, &part, (&expressions, &cut, &aliases), (start, stop, selected), ScanOptions::default(), progress)?;
    warn(py, &chain)?;
    Ok(queried)
}

/// Histograms of entries `start..stop`, or of the selected ones, of all files; see `Tree.draw`.
#[pyfunction]
#[pyo3(signature = (files, drawings, start, stop, cache_size, timeout, threads, progress, selected, skip_bad, friends=Vec::new()))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn draw_chain(
    py: Python<'_>,
    files: Files,
    drawings: Vec<Drawing>,
    start: u64,
    stop: u64,
    cache_size: Option<u64>,
    timeout: Option<f64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    selected: Option<Chosen<'_>>,
    skip_bad: bool,
    friends: Vec<GivenFriend>,
) -> PyResult<Vec<Product>> {
    let chain = chain(py, files, cache_size, timeout, threads, skip_bad, friends)?;
    let chosen = chosen(start, stop, selected)?;
    let drawn = draw(py, &Part::whole(chain.clone()), &drawings, chosen, ScanOptions::default(), progress)?;
    warn(py, &chain)?;
    Ok(drawn)
}

/// A path or URL as messages may show it: without what must stay secret.
#[pyfunction]
pub(crate) fn redacted(url: Text) -> Text {
    sapwood::redacted(&url).into()
}

/// The files of a list: what stands behind `@`. Each with the path of its tree where the list names it apart, and whether it
/// is a file alone.
#[pyfunction]
pub(crate) fn listed(
    py: Python<'_>,
    name: Text,
    redirector: Option<Text>,
) -> PyResult<Vec<(Text, Option<Text>, bool)>> {
    let read = move || {
        let redirector = redirector.as_ref().map(|r| r.0.as_str());
        sapwood::catalogue::read_anywhere(&name, redirector, &OpenOptions::default())
    };
    let found = wait(py, |_| Ok(()), read)?.map_err(|e| exception(py, &e, Missing::File))?;
    Ok(found.into_iter().map(|f| (Text(f.target), f.tree.map(Text), f.is_split)).collect())
}

/// The files that a pattern stands for, and the directories that could not be searched.
#[pyfunction]
pub(crate) fn expand(py: Python<'_>, url: Text) -> PyResult<(Vec<Text>, Vec<Text>)> {
    let found = wait(py, |_| Ok(()), move || sapwood::expand(&url, &OpenOptions::default()))?;
    found.map(|f| (texts(f.files), texts(f.unread))).map_err(|e| exception(py, &e, Missing::File))
}
