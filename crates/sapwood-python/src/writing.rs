use crate::convert;
use crate::entry_list::{GivenEntries, kind, list};
use crate::error::{Missing, exception};
use crate::sync::lock;
use crate::text::Text;
use crate::writing_ntuple::{GivenField, WriterNtuple, ntuple_fields, ntuple_options};
use crate::written::{closed, compression, raise, taken};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use sapwood::write::{
    BranchSpec, BranchType, Cluster, CppType, DirectoryId, FileOptions, FileWriter, ObjectBuffer, TreeOptions,
    TreeWriter, append_entry_list,
};
use sapwood::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::Mutex;

/// A file that is written; `None` once it is complete or given up.
#[pyclass(frozen, module = "sapwood._core")]
pub struct Writer(Mutex<Option<FileWriter>>);

/// A tree in it; `None` once it is finished.
#[pyclass(frozen, module = "sapwood._core")]
pub struct WriterTree(pub(crate) Mutex<Option<TreeWriter>>);

/// Name, title, type and options of a branch.
type GivenBranch<'py> = (Text, Option<Text>, Bound<'py, PyTuple>, Bound<'py, PyDict>);

/// Writes a whole file of any kind, or leaves what was there.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, bytes: &[u8]) -> PyResult<()> {
    raise(py, py.detach(|| sapwood::write::write_file(path, bytes)))
}

#[pymethods]
impl Writer {
    /// Begins a file; `place` is whether one that is there is replaced, and whether finishing waits for the disk.
    #[staticmethod]
    #[pyo3(signature = (path, compression, title, place, threads))]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        compression: &str,
        title: Text,
        place: (bool, bool),
        threads: usize,
    ) -> PyResult<Self> {
        let (replace, sync) = place;
        let compression = crate::written::compression(py, compression)?;
        let options =
            FileOptions::default().compression(compression).title(title.0).replace(replace).sync(sync).threads(threads);
        let file = py.detach(|| FileWriter::create_with(path, options));
        Ok(Self(Mutex::new(Some(raise(py, file)?))))
    }

    /// Opens a file to write more into it.
    #[staticmethod]
    fn update(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let file = py.detach(|| FileWriter::update(path)).map_err(|e| match e.kind() {
            ErrorKind::NotFound => e.with_other_remedy("create it with recreate"),
            _ => e,
        });
        Ok(Self(Mutex::new(Some(raise(py, file)?))))
    }

    /// The number of a directory, made where it is not there.
    fn mkdir(&self, py: Python<'_>, path: Text) -> PyResult<usize> {
        self.with(py, |file| file.mkdir(&path).map(DirectoryId::number))
    }

    /// What a directory holds: name, cycle, class.
    fn keys(&self, py: Python<'_>, path: Text) -> PyResult<Vec<(Text, u16, Text)>> {
        let keys = self.with(py, |file| file.keys(&path))?;
        Ok(keys.into_iter().map(|(name, cycle, class)| (name.into(), cycle, class.into())).collect())
    }

    /// Deletes objects: all cycles of a name, or one. How many there were.
    #[pyo3(signature = (path, cycle=None))]
    fn delete(&self, py: Python<'_>, path: Text, cycle: Option<u16>) -> PyResult<usize> {
        self.with(py, |file| file.delete(&path, cycle))
    }

    /// Deletes a cycle of an object and gives the newest object of this name its number.
    fn replace(&self, py: Python<'_>, path: Text, cycle: u16) -> PyResult<()> {
        self.with(py, |file| file.replace(&path, cycle))
    }

    /// Begins a tree. A branch is `(name, title, type, options)`; a type is `("scalar", dtype)`, `("fixed", dtype, n)`,
    /// `("jagged", dtype, counter)`, `("object", C++ type)` or `("cstring",)`.
    fn tree(
        &self,
        py: Python<'_>,
        directory: usize,
        name: Text,
        title: Text,
        branches: Vec<GivenBranch<'_>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<WriterTree> {
        let specs = branches.iter().map(|b| spec(py, b)).collect::<PyResult<Vec<_>>>()?;
        let options = tree_options(py, options)?;
        let id = DirectoryId::of_number(directory);
        let tree = self.with(py, |file| file.tree_in(id, &name, &title, &specs, options))?;
        Ok(WriterTree(Mutex::new(Some(tree))))
    }

    /// Begins an ntuple. A field is `(name, description, type, descriptions inside)`; see [`crate::writing_ntuple`] for types and options.
    fn ntuple(
        &self,
        py: Python<'_>,
        directory: usize,
        name: Text,
        title: Text,
        fields: Vec<GivenField<'_>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<WriterNtuple> {
        let fields = ntuple_fields(&fields)?;
        let options = ntuple_options(py, options)?;
        let id = DirectoryId::of_number(directory);
        let ntuple = self.with(py, |file| file.ntuple(id, &name, &title, &fields, options))?;
        Ok(WriterNtuple::new(ntuple))
    }

    /// Opens a tree of the file to append to it.
    fn append(&self, py: Python<'_>, path: Text, options: &Bound<'_, PyDict>) -> PyResult<WriterTree> {
        let options = tree_options(py, options)?;
        let tree = self.with(py, |file| file.append_to(&path, options))?;
        Ok(WriterTree(Mutex::new(Some(tree))))
    }

    /// Opens an ntuple of the file to append to it.
    fn append_ntuple(&self, py: Python<'_>, path: Text, options: &Bound<'_, PyDict>) -> PyResult<WriterNtuple> {
        let options = ntuple_options(py, options)?;
        Ok(WriterNtuple::new(self.with(py, |file| file.append_to_ntuple(&path, options))?))
    }

    /// Writes an object of bytes that were put together by [`crate::writing::Pack`]'s rules; returns its cycle.
    fn object(
        &self,
        py: Python<'_>,
        directory: usize,
        class: &str,
        name: Text,
        title: Text,
        parts: &Bound<'_, PyAny>,
    ) -> PyResult<Option<u16>> {
        let parts: Vec<Bound<'_, PyTuple>> = parts.extract()?;
        let parts = parts.iter().map(Part::new).collect::<PyResult<Vec<_>>>()?;
        self.with(py, |file| {
            file.describe_own(class);
            let id = DirectoryId::of_number(directory);
            file.append_object(id, class, &name, &title, None, |key_len| {
                let mut b = ObjectBuffer::new(key_len);
                parts.iter().for_each(|p| p.put(&mut b));
                b.finish()
            })?;
            file.newest_cycle(id, &name)
        })
    }

    /// Writes an entry list (see [`crate::entry_list::trees`]) of a class; returns its cycle.
    fn entry_list(
        &self,
        py: Python<'_>,
        directory: usize,
        class: &str,
        name: Text,
        title: Text,
        trees: Vec<GivenEntries<'_>>,
    ) -> PyResult<Option<u16>> {
        let (list, id) = (list(trees)?, DirectoryId::of_number(directory));
        self.with(py, |file| {
            append_entry_list(file, id, kind(class)?, (&name, &title), &list)?;
            file.newest_cycle(id, &name)
        })
    }

    /// Makes everything finished so far what readers find.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, FileWriter::commit)
    }

    /// Completes the file.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        raise(py, py.detach(|| taken(&self.0).map_or(Ok(()), FileWriter::finish)))
    }

    /// Gives the file up: a new one goes, an old one is what it was.
    fn abandon(&self, py: Python<'_>) {
        py.detach(|| drop(taken(&self.0)));
    }
}

impl Writer {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut FileWriter) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| work(lock(&self.0).as_mut().ok_or_else(closed)?));
        done.map_err(|e| {
            // what is not found in an open file is an object, not the file
            let missing = if e.kind() == ErrorKind::NotFound { Missing::Key } else { Missing::Written };
            exception(py, &e, missing)
        })
    }
}

#[pymethods]
impl WriterTree {
    /// Appends entries: `(name, column)` for each branch.
    fn extend(&self, py: Python<'_>, columns: Vec<(Text, Bound<'_, PyTuple>)>) -> PyResult<()> {
        let arrays = convert::columns(&columns)?;
        let done = py.detach(|| lock(&self.0).as_mut().ok_or_else(closed)?.extend(&convert::given(&arrays)));
        raise(py, done)
    }

    /// Ends the cluster here.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| lock(&self.0).as_mut().ok_or_else(closed)?.flush());
        raise(py, done)
    }

    /// Writes what is left and the tree's header.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        raise(py, py.detach(|| taken(&self.0).map_or(Ok(()), TreeWriter::finish)))
    }

    /// Takes a new tree back: the file goes on as if it had not been begun.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        raise(py, py.detach(|| taken(&self.0).map_or(Ok(()), TreeWriter::abandon)))
    }

    #[getter]
    fn entries(&self, py: Python<'_>) -> u64 {
        py.detach(|| lock(&self.0).as_ref().map_or(0, TreeWriter::entries))
    }

    /// Names and types of what is given, as in [`Writer::tree`].
    fn inputs(&self, py: Python<'_>) -> Vec<(Text, Text)> {
        named(py.detach(|| lock(&self.0).as_ref().map(TreeWriter::inputs).unwrap_or_default()))
    }

    /// Names and types of counters that need not be given.
    fn counters(&self, py: Python<'_>) -> Vec<(Text, Text)> {
        named(py.detach(|| lock(&self.0).as_ref().map(TreeWriter::counters).unwrap_or_default()))
    }
}

/// Names and types.
fn named(pairs: Vec<(String, String)>) -> Vec<(Text, Text)> {
    pairs.into_iter().map(|(name, kind)| (name.into(), kind.into())).collect()
}

fn spec(py: Python<'_>, given: &GivenBranch<'_>) -> PyResult<BranchSpec> {
    let (name, title, ty, options) = given;
    let kind: String = ty.get_item(0)?.extract()?;
    let number = || convert::dtype(&ty.get_item(1)?.extract::<String>()?);
    let ty = match kind.as_str() {
        "scalar" => BranchType::Scalar(number()?),
        "fixed" => BranchType::Fixed(number()?, ty.get_item(2)?.extract()?),
        "jagged" => BranchType::Jagged { dtype: number()?, counter: ty.get_item(2)?.extract()? },
        "cstring" => BranchType::CString,
        "cpp" => BranchType::Object(raise(py, CppType::parse(&ty.get_item(1)?.extract::<Text>()?))?),
        _ => BranchType::Object(convert::cpp(ty.get_item(1)?.cast::<PyTuple>()?)?),
    };
    let mut spec = BranchSpec::new(name.0.clone(), ty);
    spec.title = title.clone().map(|t| t.0);
    if let Some(extents) = options.get_item("extents")? {
        spec.extents = extents.extract()?;
    }
    if let Some(text) = options.get_item("compression")? {
        spec.compression = Some(compression(py, &text.extract::<String>()?)?);
    }
    if let Some(bytes) = options.get_item("basket_bytes")? {
        spec.basket_bytes = Some(bytes.extract()?);
    }
    if let Some(split) = options.get_item("split")? {
        spec.split_level = split.extract()?;
    }
    if let Some(member_wise) = options.get_item("member_wise")? {
        spec.member_wise = member_wise.extract()?;
    }
    Ok(spec)
}

fn tree_options(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<TreeOptions> {
    let mut options = TreeOptions::default();
    if let Some(text) = given.get_item("compression")? {
        options.compression = Some(compression(py, &text.extract::<String>()?)?);
    }
    if let Some(bytes) = given.get_item("basket_bytes")? {
        options.basket_bytes = bytes.extract()?;
    }
    if let Some(n) = given.get_item("auto_flush")? {
        let n: i64 = n.extract()?;
        options.cluster = match n.unsigned_abs() {
            0 => Cluster::Never,
            entries if n > 0 => Cluster::Entries(entries),
            bytes => Cluster::Bytes(bytes),
        };
    }
    if let Some(bytes) = given.get_item("auto_save_bytes")? {
        options.auto_save_bytes = bytes.extract()?;
    }
    if let Some(optimize) = given.get_item("optimize_baskets")? {
        options.optimize_baskets = optimize.extract()?;
    }
    Ok(options)
}

/// A piece of an object's bytes, in the order they are written.
enum Part {
    U8(u8),
    U16(u16),
    I32(i32),
    F32(f32),
    F64(f64),
    Text(String),
    Bytes(Vec<u8>),
    /// Of a part of an object, which more parts belong to: its version, and they.
    Versioned(u16, Vec<Part>),
    /// An object behind a pointer: its class.
    Object(String, Vec<Part>),
}

impl Part {
    fn new(given: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let kind: String = given.get_item(0)?.extract()?;
        let value = given.get_item(1)?;
        let parts = || -> PyResult<Vec<Part>> {
            given.get_item(2)?.extract::<Vec<Bound<'_, PyTuple>>>()?.iter().map(Part::new).collect()
        };
        Ok(match kind.as_str() {
            "u1" => Part::U8(value.extract()?),
            "u2" => Part::U16(value.extract()?),
            "i4" => Part::I32(value.extract()?),
            "f4" => Part::F32(value.extract()?),
            "f8" => Part::F64(value.extract()?),
            "text" => Part::Text(value.extract::<Text>()?.0),
            "bytes" => Part::Bytes(value.extract()?),
            "versioned" => Part::Versioned(value.extract()?, parts()?),
            _ => Part::Object(value.extract()?, parts()?),
        })
    }

    fn put(&self, b: &mut ObjectBuffer) {
        match self {
            Part::U8(n) => b.u8(*n),
            Part::U16(n) => b.u16(*n),
            Part::I32(n) => b.i32(*n),
            Part::F32(x) => b.f32(*x),
            Part::F64(x) => b.f64(*x),
            Part::Text(t) => b.string(t),
            Part::Bytes(bytes) => bytes.iter().for_each(|&x| b.u8(x)),
            Part::Versioned(version, parts) => {
                let mark = b.begin(*version);
                parts.iter().for_each(|p| p.put(b));
                b.end(mark);
            }
            Part::Object(class, parts) => {
                let (mark, _) = b.begin_object(class);
                parts.iter().for_each(|p| p.put(b));
                b.end(mark);
            }
        }
    }
}
