//! Bytes of files of any format, and ROOT files whose bytes Python reads.

use crate::cache_size::tree_cache;
use crate::error::{Missing, exception};
use crate::file::File;
use crate::local_cache::{Choice, choice};
use crate::s3::{GivenS3, s3_options};
use crate::seconds::seconds;
use crate::text::{Text, told};
use crate::wait::wait;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sapwood::{Error, OpenOptions, ReadRanges, Result, Span};
use std::sync::Arc;

/// An open file of any format.
#[pyclass(frozen, module = "sapwood._core")]
pub struct ByteFile(sapwood::ByteFile);

/// Opens a path or URL; `timeout` in seconds without progress (`None`: forever), the rest as for `open`.
#[pyfunction]
#[pyo3(signature = (url, timeout=Some(60.0), insecure_redirects=false, local_cache=None, offline=false, s3=None))]
pub(crate) fn open_bytes(
    py: Python<'_>,
    url: Text,
    timeout: Option<f64>,
    insecure_redirects: bool,
    local_cache: Option<Choice>,
    offline: bool,
    s3: Option<GivenS3>,
) -> PyResult<ByteFile> {
    let options = OpenOptions::new()
        .timeout(seconds(timeout, "timeout")?)
        .insecure_redirects(insecure_redirects)
        .local_cache(choice(local_cache)?)
        .offline(offline)
        .s3(s3_options(s3));
    let opened = wait(py, |_| Ok(()), move || sapwood::ByteFile::open(&url, &options))?;
    opened.map(ByteFile).map_err(|e| exception(py, &e, Missing::File))
}

#[pymethods]
impl ByteFile {
    /// The URL or path, without credentials.
    #[getter]
    fn url(&self) -> Text {
        self.0.url().into()
    }

    /// Bytes of the file.
    #[getter]
    fn size(&self) -> u64 {
        self.0.size()
    }

    /// What should be known of how its bytes come here, in words.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.0.remarks().iter().map(|r| told(r)).collect()
    }

    /// A remark if the server serves no byte ranges, so that the whole file was fetched.
    #[getter]
    fn whole_file_remark(&self) -> Option<Text> {
        self.0.whole_file_remark().map(Text::from)
    }

    /// Requests so far, and bytes that came.
    #[getter]
    fn counts(&self) -> (u64, u64) {
        let stats = self.0.stats();
        (stats.requests, stats.wire)
    }

    /// Reads ranges (start, stop), in any order, in as few requests as the server allows.
    fn read<'py>(&self, py: Python<'py>, ranges: Vec<(u64, u64)>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let spans: Vec<Span> =
            ranges.into_iter().map(|(start, stop)| Span::new(start, stop.saturating_sub(start))).collect();
        let file = self.0.clone();
        let read = wait(py, |_| Ok(()), move || file.read(&spans))?.map_err(|e| exception(py, &e, Missing::File))?;
        Ok(read.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    /// Has the server close the file.
    fn close(&self) {
        self.0.close();
    }
}

/// What reads a file for us: `read(ranges)` gets a list of (start, stop) and returns a list of bytes.
struct PythonReader {
    name: String,
    size: u64,
    read: Py<PyAny>,
}

impl PythonReader {
    fn call(&self, py: Python<'_>, ranges: Vec<(u64, u64)>) -> PyResult<Vec<Vec<u8>>> {
        let read = self.read.call1(py, (ranges,))?;
        let mut out = Vec::new();
        for part in read.bind(py).try_iter()? {
            let part = part?;
            let bytes = part.cast::<PyBytes>().map_err(|_| PyTypeError::new_err("reading it returned no bytes"))?;
            out.push(bytes.as_bytes().to_vec());
        }
        Ok(out)
    }
}

impl ReadRanges for PythonReader {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read_ranges(&self, ranges: &[Span]) -> Result<Vec<Vec<u8>>> {
        let ranges = ranges.iter().map(|s| (s.start, s.end())).collect();
        Python::attach(|py| {
            self.call(py, ranges).map_err(|e| {
                // what our own code found out keeps its kind
                let is_changed = e.get_type(py).name().is_ok_and(|name| name == "CorruptError");
                let what = || e.value(py).str().map_or_else(|_| e.to_string(), |text| text.to_string());
                if is_changed {
                    Error::corrupt(what())
                } else {
                    Error::io("cannot read", std::io::Error::other(e.to_string()))
                }
            })
        })
    }
}

/// Opens a ROOT file whose bytes `read` gives: it gets a list of (start, stop) and returns a list of bytes. It is called
/// by several threads at once.
#[pyfunction]
#[pyo3(signature = (read, name, size, cache_size=None, timeout=Some(60.0), threads=0, recover=None))]
#[allow(clippy::too_many_arguments)] // as `open` has them
pub(crate) fn open_reader(
    py: Python<'_>,
    read: Py<PyAny>,
    name: Text,
    size: u64,
    cache_size: Option<u64>,
    timeout: Option<f64>,
    threads: usize,
    recover: Option<bool>,
) -> PyResult<File> {
    let timeout = seconds(timeout, "timeout")?;
    let options = OpenOptions::new().cache(tree_cache(cache_size)).timeout(timeout).threads(threads).recover(recover);
    let reader = Arc::new(PythonReader { name: name.to_string(), size, read });
    let opened = wait(py, |_| Ok(()), move || sapwood::File::open_reader(reader, &options))?;
    opened.map(File::new).map_err(|e| exception(py, &e, Missing::File))
}

/// A name in a directory of a server: (name, bytes, whether it is a directory, last change in seconds since 1970).
type Entry = (Text, u64, bool, i64);

/// What a directory on an XRootD server, or a prefix in an S3 store, holds.
#[pyfunction]
#[pyo3(signature = (url, s3=None))]
pub(crate) fn list_directory(py: Python<'_>, url: Text, s3: Option<GivenS3>) -> PyResult<Vec<Entry>> {
    let options = OpenOptions::default().s3(s3_options(s3));
    let listed = wait(py, |_| Ok(()), move || sapwood::list_directory(&url, &options))?;
    let listed = listed.map_err(|e| exception(py, &e, Missing::File))?;
    Ok(listed.into_iter().map(|e| (e.name.into(), e.size, e.directory, e.modified)).collect())
}
