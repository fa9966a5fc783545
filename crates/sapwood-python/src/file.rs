use crate::cache_size::tree_cache;
use crate::error::{Missing, exception};
use crate::io_report::io_report;
use crate::local_cache::{Choice, Whole, choice};
use crate::object::Builder;
use crate::report::Map;
use crate::s3::{GivenS3, s3_options};
use crate::seconds::seconds;
use crate::streamers::{Described, described};
use crate::text::{Text, told};
use crate::tree::Tree;
use crate::wait::wait;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sapwood::{Listing, OpenOptions, Result};

/// Opens a file: `cache_size` in bytes (`None` lets the planner choose, 0 turns it off), `timeout` in seconds without
/// progress (`None`: forever), `threads` (0: all cores), `recover`: whether damaged files are recovered (`None`: where that
/// is quick), `insecure_redirects`: whether all redirects are followed, `local_cache`: the directory of the local cache (`None`:
/// what is configured, `False`: none), `offline`: whether only that is read, `cacheread`: whether all of the file is fetched
/// into it in the background, `s3`: how S3 stores are reached.
#[pyfunction]
#[pyo3(signature = (url, cache_size=None, timeout=Some(60.0), threads=0, recover=None, insecure_redirects=false, keys_only=false, local_cache=None, offline=false, cacheread=false, s3=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn open(
    py: Python<'_>,
    url: Text,
    cache_size: Option<u64>,
    timeout: Option<f64>,
    threads: usize,
    recover: Option<bool>,
    insecure_redirects: bool,
    keys_only: bool,
    local_cache: Option<Choice>,
    offline: bool,
    cacheread: bool,
    s3: Option<GivenS3>,
) -> PyResult<File> {
    let timeout = seconds(timeout, "timeout")?;
    let cache = tree_cache(cache_size);
    let options = OpenOptions::default()
        .cache(cache)
        .timeout(timeout)
        .threads(threads)
        .recover(recover)
        .insecure_redirects(insecure_redirects)
        .keys_only(keys_only)
        .local_cache(choice(local_cache)?)
        .offline(offline)
        .s3(s3_options(s3));
    let opened = wait(
        py,
        |_| Ok(()),
        move || {
            let whole = if cacheread { Some(Whole::of(&url, &options)?) } else { None };
            let inner = sapwood::File::open(&url, &options)?;
            Ok(File { inner, whole: whole.map(|whole| whole.start(url, options)) })
        },
    )?;
    opened.map_err(|e| exception(py, &e, Missing::File))
}

/// An open file.
#[pyclass(frozen, module = "sapwood._core")]
pub struct File {
    inner: sapwood::File,
    whole: Option<Whole>,
}

impl File {
    /// For Python.
    pub fn new(inner: sapwood::File) -> Self {
        Self { inner, whole: None }
    }

    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        what: impl FnOnce(&sapwood::File) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let file = self.inner.clone();
        wait(py, |_| Ok(()), move || what(&file))?.map_err(|e| exception(py, &e, Missing::Key))
    }
}

/// An object in a file: (path without cycle, cycle, class, title, bytes in the file, bytes of the object).
type Row = (Text, i16, Text, Text, u64, u32);

/// An object, and the parts of it that cannot be read: (class, reason).
type ObjectAndRefused<'py> = (Bound<'py, PyAny>, Vec<(Text, String)>);

fn row(l: Listing) -> Row {
    (l.path.into(), l.key.cycle, l.key.class.into(), l.key.title.into(), l.key.span.len, l.key.object_len)
}

#[pymethods]
impl File {
    /// The URL or path, without credentials.
    #[getter]
    fn url(&self) -> Text {
        self.inner.url().into()
    }

    /// Bytes of the file.
    #[getter]
    fn size(&self) -> u64 {
        self.inner.size()
    }

    /// How a file that was not closed or is truncated was recovered, and what is known to be lost, in words.
    #[getter]
    fn recovered(&self) -> Option<(String, Vec<String>)> {
        Some((self.inner.recovery_summary()?, self.inner.recovered()?.lost()))
    }

    /// What of it that was read so far looks damaged, though it could be read, in words.
    #[getter]
    fn integrity_warnings(&self) -> Vec<String> {
        self.inner.integrity_warnings().iter().map(|d| told(d)).collect()
    }

    /// What should be known of how its bytes come here, in words.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.inner.remarks().iter().map(|r| told(r)).collect()
    }

    /// A remark if the server serves no byte ranges, so that the whole file was fetched.
    #[getter]
    fn whole_file_remark(&self) -> Option<Text> {
        self.inner.whole_file_remark().map(Text::from)
    }

    /// The objects of a directory, and of those below: (path, cycle, class, title, bytes in the file, bytes).
    fn list(&self, py: Python<'_>, directory: Text, recursive: bool) -> PyResult<Vec<Row>> {
        Ok(self.ask(py, move |f| f.list(&directory, recursive))?.into_iter().map(row).collect())
    }

    /// Where everything is; branches that match a pattern are distinguished.
    fn map(&self, py: Python<'_>, patterns: Vec<Text>) -> PyResult<Map> {
        Map::make(py, self.inner.clone(), None, patterns)
    }

    /// One object, by path with or without cycle.
    fn find(&self, py: Python<'_>, path: Text) -> PyResult<Row> {
        self.ask(py, move |f| f.find(&path)).map(row)
    }

    /// A tree, by path with or without cycle.
    fn tree(&self, py: Python<'_>, path: Text) -> PyResult<Tree> {
        self.ask(py, move |f| f.tree(&path)).map(Tree::new)
    }

    /// An object of any class, by path with or without cycle, and the parts of it that cannot be read as
    /// (class, reason); for `factory` see [`Builder`].
    fn object<'py>(&self, py: Python<'py>, path: Text, factory: &Bound<'py, PyAny>) -> PyResult<ObjectAndRefused<'py>> {
        let objects = self.ask(py, move |f| f.read_object(&path))?;
        let made = Builder::build(py, &objects, factory)?;
        Ok((made, objects.refused().iter().map(|r| ((&r.class).into(), told(&r.why))).collect()))
    }

    /// The class descriptions: (name, version, checksum, elements); for an element see [`crate::streamers`].
    fn streamers<'py>(&self, py: Python<'py>) -> PyResult<Vec<Described<'py>>> {
        let streamers = self.ask(py, sapwood::File::streamers)?;
        streamers.classes().iter().map(|class| described(py, class)).collect()
    }

    /// Has the server close the file.
    fn close(&self) {
        if let Some(whole) = &self.whole {
            whole.stop();
        }
        self.inner.close();
    }

    /// What opening and all scans so far did on the wire.
    fn io<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        io_report(py, &self.inner.io())
    }
}
