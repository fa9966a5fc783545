//! What Python hands over: columns as nested tuples of numpy arrays, types as nested tuples of names.

use crate::held_buffer::HeldBuffer;
use crate::text::Text;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use sapwood::write::CppType;
use sapwood::{Array, DType, Values};

/// A column from the nested tuples that [`crate::column::column`] makes, with numpy arrays for its numbers.
pub(crate) fn array(given: &Bound<'_, PyTuple>) -> PyResult<Array> {
    let kind: String = given.get_item(0)?.extract()?;
    let tuple = |i: usize| -> PyResult<Array> { array(given.get_item(i)?.cast::<PyTuple>()?) };
    match kind.as_str() {
        "flat" => Ok(Array::Flat(values(&given.get_item(1)?)?)),
        "regular" => {
            let (size, len) = (given.get_item(1)?.extract()?, given.get_item(2)?.extract()?);
            Ok(Array::Regular { size, len, content: Box::new(tuple(3)?) })
        }
        "list" => Ok(Array::List { offsets: offsets(&given.get_item(1)?)?, content: Box::new(tuple(2)?) }),
        "text" => match values(&given.get_item(2)?)? {
            Values::U8(bytes) => Ok(Array::Text { offsets: offsets(&given.get_item(1)?)?, bytes }),
            _ => Err(PyValueError::new_err("text is given as bytes")),
        },
        "record" => {
            let mut fields = Vec::new();
            for field in given.get_item(2)?.cast::<PyList>()? {
                let (name, content): (Text, Bound<'_, PyTuple>) = field.extract()?;
                fields.push((name.0, array(&content)?));
            }
            Ok(Array::Record { len: given.get_item(1)?.extract()?, fields })
        }
        other => Err(PyValueError::new_err(format!("no column is of kind {other}"))),
    }
}

/// Columns by name.
pub(crate) fn columns(given: &[(Text, Bound<'_, PyTuple>)]) -> PyResult<Vec<(String, Array)>> {
    given.iter().map(|(name, column)| Ok((name.0.clone(), array(column)?))).collect()
}

/// The same as a writer takes them.
pub(crate) fn given(columns: &[(String, Array)]) -> Vec<(&str, &Array)> {
    columns.iter().map(|(name, array)| (&**name, array)).collect()
}

fn offsets(given: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    match values(given)? {
        Values::I64(v) => Ok(v),
        _ => Err(PyValueError::new_err("offsets are int64")),
    }
}

/// A type's number by numpy's name.
pub(crate) fn dtype(name: &str) -> PyResult<DType> {
    use DType::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let all = [Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64];
    let found = all.into_iter().find(|d| d.name() == name);
    found.ok_or_else(|| PyValueError::new_err(format!("no number is of type {name}")))
}

/// The type of a buffer's items, by their format in the language of the module `struct` and their size.
fn of_format(format: &str, size: usize) -> Option<DType> {
    let native: &[char] =
        if cfg!(target_endian = "little") { &['@', '=', '^', '<'] } else { &['@', '=', '^', '>', '!'] };
    let letter = format.strip_prefix(native).unwrap_or(format);
    Some(match (letter, size) {
        ("?", 1) => DType::Bool,
        ("b", 1) => DType::I8,
        ("B", 1) => DType::U8,
        ("h" | "i" | "l" | "q" | "n", 2) => DType::I16,
        ("h" | "i" | "l" | "q" | "n", 4) => DType::I32,
        ("h" | "i" | "l" | "q" | "n", 8) => DType::I64,
        ("H" | "I" | "L" | "Q" | "N", 2) => DType::U16,
        ("H" | "I" | "L" | "Q" | "N", 4) => DType::U32,
        ("H" | "I" | "L" | "Q" | "N", 8) => DType::U64,
        ("f", 4) => DType::F32,
        ("d", 8) => DType::F64,
        _ => return None,
    })
}

/// The numbers of a numpy array, or of anything else with a buffer, copied: one dimension, side by side, in native order.
pub(crate) fn values(given: &Bound<'_, PyAny>) -> PyResult<Values> {
    let held = HeldBuffer::of(given)?;
    let format = held.format();
    let Some(dtype) = of_format(format, held.item_size()) else {
        return Err(PyValueError::new_err(format!("no numbers in native order are of type {format:?}")));
    };
    Ok(match dtype {
        DType::Bool => Values::Bool(held.copy()?),
        DType::I8 => Values::I8(held.copy()?),
        DType::U8 => Values::U8(held.copy()?),
        DType::I16 => Values::I16(held.copy()?),
        DType::U16 => Values::U16(held.copy()?),
        DType::I32 => Values::I32(held.copy()?),
        DType::U32 => Values::U32(held.copy()?),
        DType::I64 => Values::I64(held.copy()?),
        DType::U64 => Values::U64(held.copy()?),
        DType::F32 => Values::F32(held.copy()?),
        DType::F64 => Values::F64(held.copy()?),
    })
}

/// A C++ type: `("number", dtype)`, `("array", dtype, n)`, `("text",)`, `("vector", item)`, `("map", key, value)`,
/// `("class", name, [(name, type), …])`.
pub(crate) fn cpp(given: &Bound<'_, PyTuple>) -> PyResult<CppType> {
    let kind: String = given.get_item(0)?.extract()?;
    let number = || -> PyResult<DType> { dtype(&given.get_item(1)?.extract::<String>()?) };
    let inner = |i: usize| -> PyResult<Box<CppType>> { Ok(Box::new(cpp(given.get_item(i)?.cast::<PyTuple>()?)?)) };
    Ok(match kind.as_str() {
        "number" => CppType::Number(number()?),
        "array" => CppType::Array(number()?, given.get_item(2)?.extract()?),
        "text" => CppType::Text,
        "vector" => CppType::Vector(inner(1)?),
        "map" => CppType::Map(inner(1)?, inner(2)?),
        "class" => {
            let mut members = Vec::new();
            for member in given.get_item(2)?.cast::<PyList>()? {
                let (name, ty): (Text, Bound<'_, PyTuple>) = member.extract()?;
                members.push((name.0, cpp(&ty)?));
            }
            CppType::class(given.get_item(1)?.extract::<Text>()?.0, members)
        }
        "cpp" => CppType::parse(&given.get_item(1)?.extract::<String>()?)
            .map_err(|e| PyValueError::new_err(e.to_string()))?,
        other => return Err(PyValueError::new_err(format!("no type is of kind {other}"))),
    })
}
