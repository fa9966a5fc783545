use crate::text::Text;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sapwood::read::{ClassInfo, Element};

/// A class of a file: name, version, checksum, and its bases and members, each as a dict by ROOT's names.
pub(crate) type Described<'py> = (Text, i32, u32, Vec<Bound<'py, PyDict>>);

/// A class for Python.
pub(crate) fn described<'py>(py: Python<'py>, class: &ClassInfo) -> PyResult<Described<'py>> {
    let elements = class.elements.iter().map(|e| element(py, e)).collect::<PyResult<_>>()?;
    Ok(((&class.name).into(), class.version, class.checksum, elements))
}

/// A base or member: its own class as `kind`, and the members of that class.
fn element<'py>(py: Python<'py>, e: &Element) -> PyResult<Bound<'py, PyDict>> {
    let d = PyDict::new(py);
    let texts = [
        ("kind", &e.kind),
        ("fName", &e.name),
        ("fTitle", &e.title),
        ("fTypeName", &e.type_name),
        ("fCountName", &e.count_name),
        ("fCountClass", &e.count_class),
    ];
    for (name, text) in texts {
        d.set_item(name, Text::from(text))?;
    }
    let numbers = [
        ("fType", e.code),
        ("fSize", e.size),
        ("fArrayLength", e.array_len),
        ("fArrayDim", e.dims.len() as i32),
        ("fBaseVersion", e.base_version),
        ("fCountVersion", e.count_version),
        ("fSTLtype", e.stl),
        ("fCtype", e.content),
    ];
    for (name, number) in numbers {
        d.set_item(name, number)?;
    }
    d.set_item("fMaxIndex", e.max_index)?;
    Ok(d)
}
