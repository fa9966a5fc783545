//! Ntuples that are written.

use crate::convert;
use crate::sync::lock;
use crate::text::Text;
use crate::written::{closed, compression, raise, taken};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use sapwood::write::{FieldSpec, FieldType, NtupleOptions, NtupleWriter, Precision};
use std::sync::Mutex;

/// An ntuple of a file that is written; `None` once it is finished.
#[pyclass(frozen, module = "sapwood._core")]
pub struct WriterNtuple(pub(crate) Mutex<Option<NtupleWriter>>);

impl WriterNtuple {
    pub(crate) fn new(ntuple: NtupleWriter) -> Self {
        Self(Mutex::new(Some(ntuple)))
    }
}

/// A field: name, description, type, and descriptions of fields in it by path.
pub(crate) type GivenField<'py> = (Text, Text, Bound<'py, PyTuple>, Vec<(Text, Text)>);

/// The fields of an ntuple.
pub(crate) fn ntuple_fields(fields: &[GivenField<'_>]) -> PyResult<Vec<FieldSpec>> {
    let spec = |(name, description, ty, inside): &GivenField<'_>| {
        let inside = inside.iter().map(|(path, text)| (path.0.clone(), text.0.clone())).collect();
        let spec = FieldSpec::new(name.0.clone(), field_type(ty)?).described(description.0.clone());
        Ok(spec.described_inside(inside))
    };
    fields.iter().map(spec).collect()
}

#[pymethods]
impl WriterNtuple {
    /// Appends entries: `(name, column)` for each field.
    fn extend(&self, py: Python<'_>, columns: Vec<(Text, Bound<'_, PyTuple>)>) -> PyResult<()> {
        let arrays = convert::columns(&columns)?;
        let done = py.detach(|| lock(&self.0).as_mut().ok_or_else(closed)?.extend(&convert::given(&arrays)));
        raise(py, done)
    }

    /// Adds fields. Names with dots are those of members.
    fn add_fields(&self, py: Python<'_>, fields: Vec<GivenField<'_>>) -> PyResult<()> {
        let fields = ntuple_fields(&fields)?;
        let done = py.detach(|| lock(&self.0).as_mut().ok_or_else(closed)?.add_fields(&fields));
        raise(py, done)
    }

    /// Ends the cluster here.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| lock(&self.0).as_mut().ok_or_else(closed)?.flush());
        raise(py, done)
    }

    /// Writes what is left and the metadata.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        raise(py, py.detach(|| taken(&self.0).map_or(Ok(()), NtupleWriter::finish)))
    }

    /// Takes a new ntuple back: the file goes on as if it had not been begun.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        raise(py, py.detach(|| taken(&self.0).map_or(Ok(()), NtupleWriter::abandon)))
    }

    /// Names and types of the fields.
    fn inputs(&self, py: Python<'_>) -> Vec<(Text, String)> {
        let inputs = py.detach(|| lock(&self.0).as_ref().map(NtupleWriter::inputs).unwrap_or_default());
        inputs.into_iter().map(|(name, words)| (Text::from(name), words)).collect()
    }

    #[getter]
    fn entries(&self, py: Python<'_>) -> u64 {
        py.detach(|| lock(&self.0).as_ref().map_or(0, NtupleWriter::entries))
    }
}

/// The type of a field: as [`convert::cpp`] has them, but arrays of any item, `("array", item, n)`. Classes become
/// records, whatever their name.
fn field_type(given: &Bound<'_, PyTuple>) -> PyResult<FieldType> {
    let kind: String = given.get_item(0)?.extract()?;
    let inner = |i: usize| field_type(given.get_item(i)?.cast::<PyTuple>()?);
    Ok(match kind.as_str() {
        "number" => FieldType::Number(convert::dtype(&given.get_item(1)?.extract::<String>()?)?),
        "text" => FieldType::Text,
        "array" => inner(1)?.array(given.get_item(2)?.extract()?),
        "vector" => inner(1)?.vector(),
        "map" => FieldType::Map(Box::new(inner(1)?), Box::new(inner(2)?)),
        "optional" => FieldType::Optional(Box::new(inner(1)?)),
        "tuple" => FieldType::Tuple(field_types(&given.get_item(1)?)?),
        "variant" => FieldType::Variant(field_types(&given.get_item(1)?)?),
        "reduced" => {
            let dtype = convert::dtype(&given.get_item(1)?.extract::<String>()?)?;
            let precision = match given.get_item(2)?.extract::<String>()?.as_str() {
                "half" => Precision::Half,
                "truncated" => Precision::Truncated(given.get_item(3)?.extract()?),
                _ => Precision::Quantized(
                    given.get_item(3)?.extract()?,
                    given.get_item(4)?.extract()?,
                    given.get_item(5)?.extract()?,
                ),
            };
            FieldType::Reduced(dtype, precision)
        }
        "class" => {
            let mut members = Vec::new();
            for member in given.get_item(2)?.cast::<PyList>()? {
                let (name, ty): (Text, Bound<'_, PyTuple>) = member.extract()?;
                members.push((name.0, field_type(&ty)?));
            }
            FieldType::Record(members)
        }
        other => return Err(PyValueError::new_err(format!("no field is of kind {other}"))),
    })
}

fn field_types(given: &Bound<'_, PyAny>) -> PyResult<Vec<FieldType>> {
    given.cast::<PyList>()?.iter().map(|ty| field_type(ty.cast::<PyTuple>()?)).collect()
}

/// The options of an ntuple, by name.
pub(crate) fn ntuple_options(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<NtupleOptions> {
    let mut options = NtupleOptions::default();
    if let Some(text) = given.get_item("compression")? {
        options.compression = Some(compression(py, &text.extract::<String>()?)?);
    }
    if let Some(bytes) = given.get_item("page_bytes")? {
        options.page_bytes = bytes.extract()?;
    }
    if let Some(bytes) = given.get_item("cluster_bytes")? {
        options.cluster_bytes = bytes.extract()?;
        options.largest_cluster = options.cluster_bytes.saturating_mul(10);
    }
    if let Some(bytes) = given.get_item("auto_save_bytes")? {
        options.auto_save_bytes = bytes.extract()?;
    }
    Ok(options)
}
