//! What Python hands over: columns as nested tuples of numpy arrays, types as nested tuples of names.

use crate::text::Text;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use sapwood::write::CppType;
use sapwood::{Array, DType, Values};

/// A column from the nested tuples that [`crate::column::column`] makes, with numpy arrays for its numbers.
pub fn array(given: &Bound<'_, PyTuple>) -> PyResult<Array> {
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
pub fn columns(given: &[(Text, Bound<'_, PyTuple>)]) -> PyResult<Vec<(String, Array)>> {
    given.iter().map(|(name, column)| Ok((name.0.clone(), array(column)?))).collect()
}

/// The same as a writer takes them.
pub fn given(columns: &[(String, Array)]) -> Vec<(&str, &Array)> {
    columns.iter().map(|(name, array)| (&**name, array)).collect()
}

fn offsets(given: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    match values(given)? {
        Values::I64(v) => Ok(v),
        _ => Err(PyValueError::new_err("offsets are int64")),
    }
}

/// A type's number by numpy's name.
pub fn dtype(name: &str) -> PyResult<DType> {
    use DType::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let all = [Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64];
    let found = all.into_iter().find(|d| d.name() == name);
    found.ok_or_else(|| PyValueError::new_err(format!("no number is of type {name}")))
}

/// A type's number by its letter and size, which numpy says sooner than its name.
fn of_kind(kind: &str) -> PyResult<DType> {
    Ok(match kind {
        "b1" => DType::Bool,
        "i1" => DType::I8,
        "u1" => DType::U8,
        "i2" => DType::I16,
        "u2" => DType::U16,
        "i4" => DType::I32,
        "u4" => DType::U32,
        "i8" => DType::I64,
        "u8" => DType::U64,
        "f4" => DType::F32,
        "f8" => DType::F64,
        _ => return Err(PyValueError::new_err(format!("no number is of type {kind}"))),
    })
}

/// The numbers of a numpy array of one dimension, copied. They must lie one after the other in native order.
pub fn values(given: &Bound<'_, PyAny>) -> PyResult<Values> {
    let interface = given.getattr("__array_interface__")?;
    let (address, _): (usize, bool) = interface.get_item("data")?.extract()?;
    let (len,): (usize,) = interface.get_item("shape")?.extract()?;
    let apart = !interface.get_item("strides")?.is_none();
    let typestr: String = interface.get_item("typestr")?.extract()?;
    let native = if cfg!(target_endian = "little") { ['<', '|'] } else { ['>', '|'] };
    let Some(kind) = typestr.strip_prefix(native).filter(|_| !apart) else {
        return Err(PyValueError::new_err("the numbers do not lie one after the other in native order"));
    };
    macro_rules! copy {
        ($t:ty) => {{
            let mut out: Vec<$t> = Vec::with_capacity(len);
            if len > 0 {
                // SAFETY: `address` is where numpy stores `len` numbers of this type, without gaps and in native order, as
                // was just checked. `given` keeps them alive, and the interpreter lock is held, so nothing changes them.
                // The source may be unaligned: bytes are copied. `out` has room for `len` numbers.
                unsafe {
                    std::ptr::copy_nonoverlapping(address as *const u8, out.as_mut_ptr().cast(), len * size_of::<$t>());
                    out.set_len(len);
                }
            }
            out
        }};
    }
    Ok(match of_kind(kind)? {
        DType::Bool => Values::Bool(copy!(u8)),
        DType::I8 => Values::I8(copy!(i8)),
        DType::U8 => Values::U8(copy!(u8)),
        DType::I16 => Values::I16(copy!(i16)),
        DType::U16 => Values::U16(copy!(u16)),
        DType::I32 => Values::I32(copy!(i32)),
        DType::U32 => Values::U32(copy!(u32)),
        DType::I64 => Values::I64(copy!(i64)),
        DType::U64 => Values::U64(copy!(u64)),
        DType::F32 => Values::F32(copy!(f32)),
        DType::F64 => Values::F64(copy!(f64)),
    })
}

/// A C++ type: `("number", dtype)`, `("array", dtype, n)`, `("text",)`, `("vector", item)`, `("map", key, value)`,
/// `("class", name, [(name, type), …])`.
pub fn cpp(given: &Bound<'_, PyTuple>) -> PyResult<CppType> {
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
