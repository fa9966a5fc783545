//! The hot loop: big-endian bytes to numbers in native order.

use crate::cpp_names::integer;
use crate::{DType, Values};
use sapwood_span::{Error, Result};

macro_rules! swap {
    ($out:expr, $data:expr, $t:ty, $n:literal) => {
        $out.extend($data.chunks_exact($n).map(|b| {
            let mut a = [0; $n];
            a.copy_from_slice(b);
            <$t>::from_be_bytes(a)
        }))
    };
}

/// Appends all numbers in `data`, whose length is a multiple of the number's size.
///
/// # Errors
/// `Corrupt` when bytes are left over.
pub(crate) fn extend(out: &mut Values, data: &[u8]) -> Result<()> {
    let size = out.dtype().size();
    if !data.len().is_multiple_of(size) {
        return Err(Error::corrupt(format!("{} bytes are not a whole number of {}", data.len(), out.dtype().name())));
    }
    match out {
        Values::Bool(v) => v.extend(data.iter().map(|&b| u8::from(b != 0))),
        Values::U8(v) => v.extend_from_slice(data),
        Values::I8(v) => v.extend(data.iter().map(|&b| b as i8)),
        Values::I16(v) => swap!(v, data, i16, 2),
        Values::U16(v) => swap!(v, data, u16, 2),
        Values::I32(v) => swap!(v, data, i32, 4),
        Values::U32(v) => swap!(v, data, u32, 4),
        Values::F32(v) => swap!(v, data, f32, 4),
        Values::I64(v) => swap!(v, data, i64, 8),
        Values::U64(v) => swap!(v, data, u64, 8),
        Values::F64(v) => swap!(v, data, f64, 8),
    }
    Ok(())
}

/// Appends the numbers at one position of each record: `count` of them, from byte `at` on, of records of `stride`
/// bytes, which are contiguous in each of the slices.
pub(crate) fn gather<'a>(
    out: &mut Values,
    rows: impl Iterator<Item = &'a [u8]>,
    stride: usize,
    at: usize,
    count: usize,
) {
    macro_rules! strided {
        ($out:expr, $n:literal, $from:expr) => {
            if count == 1 && stride == $n && at == 0 {
                rows.for_each(|data| $out.extend(data.as_chunks::<$n>().0.iter().map(|b| $from(*b))))
            } else if count == 1 {
                rows.for_each(|data| {
                    $out.extend(data.chunks_exact(stride).map(
                        |r| match r.get(at..).and_then(|r| r.first_chunk::<$n>()) {
                            Some(b) => $from(*b),
                            None => $from([0; $n]), // never: lanes are within their records
                        },
                    ))
                })
            } else {
                for record in rows.flat_map(|data| data.chunks_exact(stride)) {
                    let numbers = record.get(at..at + count * $n).unwrap_or_default();
                    $out.extend(numbers.as_chunks::<$n>().0.iter().map(|b| $from(*b)));
                }
            }
        };
    }
    match out {
        Values::Bool(v) => strided!(v, 1, |[b]: [u8; 1]| u8::from(b != 0)),
        Values::U8(v) => strided!(v, 1, u8::from_be_bytes),
        Values::I8(v) => strided!(v, 1, i8::from_be_bytes),
        Values::I16(v) => strided!(v, 2, i16::from_be_bytes),
        Values::U16(v) => strided!(v, 2, u16::from_be_bytes),
        Values::I32(v) => strided!(v, 4, i32::from_be_bytes),
        Values::U32(v) => strided!(v, 4, u32::from_be_bytes),
        Values::I64(v) => strided!(v, 8, i64::from_be_bytes),
        Values::U64(v) => strided!(v, 8, u64::from_be_bytes),
        Values::F32(v) => strided!(v, 4, f32::from_be_bytes),
        Values::F64(v) => strided!(v, 8, f64::from_be_bytes),
    }
}

/// Appends one number given as a double: for packed types.
pub(crate) fn push_real(out: &mut Values, x: f64) {
    match out {
        Values::F32(v) => v.push(x as f32),
        Values::F64(v) => v.push(x),
        other => debug_assert!(false, "a packed number in a column of {:?}", other.dtype()),
    }
}

/// The type of a number in the file by its C++ name.
pub(crate) fn dtype_of(name: &str) -> Option<DType> {
    let name = name.trim().trim_start_matches("const ");
    Some(match integer(name).unwrap_or(name) {
        "bool" | "Bool_t" => DType::Bool,
        "char" | "Char_t" | "signed char" | "int8_t" | "Int8_t" => DType::I8,
        "unsigned char" | "UChar_t" | "Byte_t" | "uint8_t" | "UInt8_t" | "std::byte" => DType::U8,
        "short" | "Short_t" | "int16_t" | "Int16_t" | "Version_t" => DType::I16,
        "unsigned short" | "UShort_t" | "uint16_t" | "UInt16_t" => DType::U16,
        "int" | "Int_t" | "int32_t" | "Int32_t" => DType::I32,
        "unsigned int" | "UInt_t" | "uint32_t" | "UInt32_t" => DType::U32,
        "long" | "Long_t" | "long long" | "Long64_t" | "int64_t" | "Int64_t" | "ptrdiff_t" => DType::I64,
        "unsigned long" | "ULong_t" | "unsigned long long" | "ULong64_t" | "uint64_t" | "UInt64_t" | "size_t"
        | "Ptrdiff_t" => DType::U64,
        "float" | "Float_t" | "Size_t" | "Float16_t" => DType::F32,
        "double" | "Double_t" | "Stat_t" | "Axis_t" | "Real_t" | "Double32_t" => DType::F64,
        _ => return None,
    })
}
