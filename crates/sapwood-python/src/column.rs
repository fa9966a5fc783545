use crate::text::Text;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use sapwood::{Array, DType, Form, Values};

/// Numbers of one type in memory of the core's own; `numpy.asarray(buffer)` is a view on it that keeps it alive.
#[pyclass(frozen, module = "sapwood._core")]
pub struct Buffer {
    /// Where the numbers lie. Taken from the vector before it was put away; nothing in Rust reads or writes the
    /// numbers afterwards, so that Python may.
    address: usize,
    values: Values,
}

impl Buffer {
    pub fn new(mut values: Values) -> Self {
        let address = sapwood::with_values!(&mut values, v => v.as_mut_ptr() as usize);
        Self { address, values }
    }
}

#[pymethods]
impl Buffer {
    /// numpy's array interface, version 3.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", typestr(self.values.dtype()))?;
        interface.set_item("shape", (self.values.len(),))?;
        interface.set_item("data", (self.address, false))?;
        Ok(interface)
    }

    fn __len__(&self) -> usize {
        self.values.len()
    }

    /// Bytes of memory.
    #[getter]
    fn nbytes(&self) -> usize {
        self.values.nbytes()
    }
}

/// numpy's type string: byte order, kind, bytes.
fn typestr(dtype: DType) -> String {
    let order = match (dtype.size(), cfg!(target_endian = "little")) {
        (1, _) => '|',
        (_, true) => '<',
        (_, false) => '>',
    };
    let kind = match dtype {
        DType::Bool => 'b',
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 'i',
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 'u',
        DType::F32 | DType::F64 => 'f',
    };
    format!("{order}{kind}{}", dtype.size())
}

/// A column as nested tuples, its numbers as [`Buffer`]s:
/// `("flat", values)`, `("regular", size, entries, content)`, `("list", offsets, content)`,
/// `("text", offsets, bytes)`, `("record", entries, [(name, content), …], class)`; the class is a C++ name, `"map"` for
/// the keys and values of a map, `"variant"` for the alternatives of a variant (lists of at most one value), `"tuple"` for
/// those of pairs and tuples (which are no classes), or None. Lists of optional values, of at most one, have `"optional"` behind their content.
pub(crate) fn column<'py>(py: Python<'py>, array: Array, form: Option<&Form>) -> PyResult<Bound<'py, PyTuple>> {
    let inner = match form {
        Some(Form::List(inner) | Form::Optional(inner)) => Some(&**inner),
        _ => None,
    };
    match array {
        Array::Flat(values) => ("flat", Buffer::new(values)).into_pyobject(py),
        Array::Regular { size, len, content } => ("regular", size, len, column(py, *content, inner)?).into_pyobject(py),
        Array::List { offsets, content } if matches!(form, Some(Form::Optional(_))) => {
            ("list", Buffer::new(Values::I64(offsets)), column(py, *content, inner)?, "optional").into_pyobject(py)
        }
        Array::List { offsets, content } => {
            ("list", Buffer::new(Values::I64(offsets)), column(py, *content, inner)?).into_pyobject(py)
        }
        Array::Text { offsets, bytes } => {
            ("text", Buffer::new(Values::I64(offsets)), Buffer::new(Values::U8(bytes))).into_pyobject(py)
        }
        Array::Record { len, fields } => {
            let members = PyList::empty(py);
            for (i, (name, content)) in fields.into_iter().enumerate() {
                let alternative;
                let form = match form {
                    Some(Form::Variant(forms)) => {
                        alternative = Form::List(Box::new(forms.get(i).cloned().unwrap_or(Form::Plain)));
                        Some(&alternative)
                    }
                    Some(Form::Record { fields, .. } | Form::Tuple(fields)) => fields.get(i),
                    Some(Form::Pair(pair)) => Some(if i == 0 { &pair.0 } else { &pair.1 }),
                    _ => None,
                };
                members.append((Text::from(name), column(py, content, form)?))?;
            }
            let class = match form {
                Some(Form::Record { class, .. }) => class.as_deref(),
                Some(Form::Pair(_)) => Some("map"),
                Some(Form::Variant(_)) => Some("variant"),
                Some(Form::Tuple(_)) => Some("tuple"),
                _ => None,
            };
            ("record", len, members, class.map(Text::from)).into_pyobject(py)
        }
    }
}
