//! Real numbers of reduced precision beside others: ROOT 6.40 misreads a field that has truncated or quantized numbers in
//! some clusters and another encoding in others, so such numbers become whole ones where the field has these already.

use super::canonical::Storage;
use sapwood_column::{DType, Values, ntuple::numbers_of};
use sapwood_format::ntuple::{Column, Field};
use sapwood_span::Result;

/// Whether ROOT reads it only in fields that have no other encoding.
pub(super) fn stands_alone(column: &Column) -> bool {
    matches!(column.code, 0x1c | 0x1d)
}

/// What a field's numbers are in memory.
fn dtype_of(field: &Field) -> Option<DType> {
    match field.type_name.as_str() {
        "float" => Some(DType::F32),
        "double" => Some(DType::F64),
        _ => None,
    }
}

/// Whether the second column has whole numbers that can be all of those of the first.
pub(super) fn becomes(field: &Field, from: &Column, to: &Column) -> bool {
    let Some(dtype) = dtype_of(field) else { return false };
    match (from.code, to.code) {
        // those of a quantized double are computed in double precision
        (0x0b | 0x17 | 0x1c, 0x0c | 0x18) => true,
        (0x1d, 0x0c | 0x18) => dtype == DType::F32,
        (0x0b | 0x17 | 0x0c | 0x18 | 0x1c | 0x1d, 0x0d | 0x19) => dtype == DType::F64,
        _ => false,
    }
}

/// A page of numbers, uncompressed, as one of the whole numbers of another column.
///
/// # Errors
/// `Corrupt` for impossible columns.
pub(super) fn whole(page: &[u8], elements: usize, field: &Field, from: &Column, to: Storage) -> Result<Vec<u8>> {
    let numbers = numbers_of(from, dtype_of(field).unwrap_or(DType::F32), page, elements)?;
    let bytes: Vec<u8> = match (numbers, to.width()) {
        (Values::F32(numbers), 8) => numbers.iter().flat_map(|&x| f64::from(x).to_le_bytes()).collect(),
        (Values::F32(numbers), _) => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
        (Values::F64(numbers), _) => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
        _ => Vec::new(),
    };
    let mut out = Vec::new();
    to.pack(&bytes, &mut out);
    Ok(out)
}

/// The encoding as it is declared.
pub(super) fn name_of(column: &Column) -> String {
    match (column.code, column.range) {
        (0x0b | 0x17, _) => "Real16".to_owned(),
        (0x0c | 0x18, _) => "Real32".to_owned(),
        (0x0d | 0x19, _) => "Real64".to_owned(),
        (0x1c, _) => format!("Real32Trunc<{}>", column.bits),
        (0x1d, Some((least, most))) => format!("Real32Quant<{}, {least}, {most}>", column.bits),
        (code, _) => format!("a column of type {code:#04x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(code: u16, bits: u16) -> Column {
        Column { code, bits, field: 0, representation: 0, first_element: 0, range: Some((-1.0, 1.0)) }
    }

    fn field(name: &str) -> Field {
        Field { type_name: name.to_owned(), ..Field::default() }
    }

    #[test]
    fn no_number_changes() {
        // the first 12 bits of 1.0 and -2.0
        let page = [0xf8, 0x03, 0xc0];
        let made = |name, to| whole(&page, 2, &field(name), &column(0x1c, 12), to).unwrap();
        assert_eq!(made("float", Storage::Plain(4)), [1.0_f32, -2.0].map(f32::to_le_bytes).concat());
        assert_eq!(made("double", Storage::Plain(8)), [1.0_f64, -2.0].map(f64::to_le_bytes).concat());
        let third = whole(&[1], 1, &field("double"), &column(0x1d, 2), Storage::Plain(8)).unwrap();
        assert_eq!(third, (2.0_f64 / 3.0 - 1.0).to_le_bytes());
    }

    #[test]
    fn what_would_lose_precision_is_none() {
        let (quantized, single, double) = (column(0x1d, 20), column(0x18, 32), column(0x19, 64));
        assert!(becomes(&field("float"), &quantized, &single));
        assert!(!becomes(&field("double"), &quantized, &single));
        assert!(becomes(&field("double"), &quantized, &double));
        assert!(becomes(&field("double"), &column(0x1c, 20), &single));
        assert!(!becomes(&field("float"), &single, &quantized));
        assert!(!becomes(&field("double"), &double, &single));
        assert!(!becomes(&field("std::int32_t"), &quantized, &single));
    }
}
