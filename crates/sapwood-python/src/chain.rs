use crate::column::Buffer;
use crate::draw::{Drawing, Drawn, draw};
use crate::error::{Missing, exception};
use crate::file::cache;
use crate::friends::{GivenFriend, given};
use crate::seconds::seconds;
use crate::select::{entries, numbers};
use crate::text::{Text, texts, told};
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::query::Entries;
use sapwood::{Chain, ChainOptions, Counted, EntryListObject, ListPart, OpenOptions, ScanOptions};
use std::ffi::CString;
use std::sync::Arc;

/// Files, each with the path of its tree where it has one.
type Files = Vec<(Text, Option<Text>)>;

fn chain(
    files: Files,
    cache_size: Option<u64>,
    timeout: Option<f64>,
    threads: usize,
    skip_bad: bool,
    friends: Vec<GivenFriend>,
) -> PyResult<Chain> {
    let timeout = seconds(timeout, "timeout")?;
    let open = OpenOptions::default().cache(cache(cache_size)).timeout(timeout).threads(threads);
    let friends = given(friends, &open);
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

/// A tree and where its entries stand among those of all files: (file, tree, first, behind the last).
type ChainEntry = (Text, Text, u64, u64);

/// The trees of all files, each of which is opened to count its entries.
#[pyfunction]
pub fn chain_places(
    py: Python<'_>,
    files: Files,
    cache_size: Option<u64>,
    timeout: Option<f64>,
    threads: usize,
    skip_bad: bool,
) -> PyResult<Vec<ChainEntry>> {
    let chain = chain(files, cache_size, timeout, threads, skip_bad, Vec::new())?;
    let counted = {
        let chain = chain.clone();
        wait(py, |_| Ok(()), move || chain.counted())?
    };
    let counted = counted.map_err(|e| exception(py, &e, Missing::File))?;
    warn(py, &chain)?;
    Ok(counted.into_iter().map(|c| (c.file.into(), c.tree.into(), c.entries.start, c.entries.end)).collect())
}

/// The numbers of the entries of these trees that an entry list has, whose parts are (tree, file, numbers).
#[pyfunction]
pub fn entries_of_list(
    py: Python<'_>,
    parts: Vec<(Text, Text, Bound<'_, PyAny>)>,
    places: Vec<ChainEntry>,
) -> PyResult<Buffer> {
    let part = |(tree, file, numbers): (Text, Text, Bound<'_, PyAny>)| {
        Ok(ListPart { tree: tree.0, file: file.0, entries: entries(&numbers)? })
    };
    let list = EntryListObject::new(parts.into_iter().map(part).collect::<PyResult<_>>()?);
    let counted = |(file, tree, first, last): ChainEntry| Counted { file: file.0, tree: tree.0, entries: first..last };
    let trees: Vec<Counted> = places.into_iter().map(counted).collect();
    list.of_trees(&trees).map(|l| numbers(&l)).map_err(|e| exception(py, &e, Missing::Key))
}

/// Histograms of entries `start..stop`, or of the selected ones, of all files; see `Tree.draw`.
#[pyfunction]
#[pyo3(signature = (files, drawings, start, stop, cache_size, timeout, threads, progress, selected, skip_bad, friends=Vec::new()))]
#[allow(clippy::too_many_arguments)]
pub fn draw_chain(
    py: Python<'_>,
    files: Files,
    drawings: Vec<Drawing>,
    start: u64,
    stop: u64,
    cache_size: Option<u64>,
    timeout: Option<f64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    selected: Option<Bound<'_, PyAny>>,
    skip_bad: bool,
    friends: Vec<GivenFriend>,
) -> PyResult<Vec<Drawn>> {
    let chain = chain(files, cache_size, timeout, threads, skip_bad, friends)?;
    let entries = match selected {
        Some(list) => Entries::List(Arc::new(entries(&list)?)),
        None => Entries::Range(start..stop),
    };
    let drawn = draw(py, &chain, &drawings, entries, ScanOptions::default(), progress)?;
    warn(py, &chain)?;
    Ok(drawn)
}

/// A path or URL as messages may show it: without what must stay secret.
#[pyfunction]
pub fn redacted(url: Text) -> Text {
    sapwood::redacted(&url).into()
}

/// The files that a path or URL with `*` or `?` stands for.
#[pyfunction]
pub fn expand(py: Python<'_>, url: Text) -> PyResult<Vec<Text>> {
    let found = wait(py, |_| Ok(()), move || sapwood::expand(&url, &OpenOptions::default()))?;
    found.map(texts).map_err(|e| exception(py, &e, Missing::File))
}
