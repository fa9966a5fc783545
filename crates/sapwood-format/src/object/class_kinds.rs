//! Classes with their own form in the file, by name.

use super::cpp::{Cpp, template};
use crate::streamer::code;

/// Whether objects of a class have no byte count in front, or one that does not give their end.
pub(super) fn begins_bare(class: &str) -> bool {
    matches!(class, "TString" | "string" | "TDatime" | "TRef" | "TQObject")
        || array_code(class).is_some()
        || (class.contains('<') && (symmetric(class).is_some() || Cpp::parse(class).is_collection()))
}

/// The type code of a TArray's numbers.
pub(super) fn array_code(class: &str) -> Option<i32> {
    Some(match class {
        "TArrayC" => code::CHAR,
        "TArrayS" => code::SHORT,
        "TArrayI" => code::INT,
        "TArrayL" => code::LONG,
        "TArrayL64" => code::LONG64,
        "TArrayF" => code::FLOAT,
        "TArrayD" => code::DOUBLE,
        _ => return None,
    })
}

/// The type code of a symmetric matrix's numbers.
pub(super) fn symmetric(class: &str) -> Option<i32> {
    match template(class)? {
        ("TMatrixTSym", args) => match args.as_slice() {
            ["float" | "Float_t"] => Some(code::FLOAT),
            ["double" | "Double_t"] => Some(code::DOUBLE),
            _ => None,
        },
        _ => None,
    }
}
