//! The members of pairs.

use super::cpp::{Cpp, bare};
use crate::streamer::{Element, code};

/// The member of a pair, as a description would give it.
pub(super) fn pair_element(name: &str, type_name: &str) -> Element {
    let (kind, code) = match Cpp::parse(type_name) {
        Cpp::Number(k) => ("TStreamerBasicType", k),
        Cpp::Text if bare(type_name) == "TString" => ("TStreamerString", code::TSTRING),
        Cpp::Text => ("TStreamerSTLstring", code::STL_STRING),
        Cpp::Pointer(_) => ("TStreamerObjectAnyPointer", code::ANY_P),
        Cpp::Class(_) => ("TStreamerObjectAny", code::ANY),
        _ => ("TStreamerSTL", code::STL),
    };
    Element {
        name: name.to_owned(),
        kind: kind.to_owned(),
        code,
        type_name: type_name.to_owned(),
        ..Element::default()
    }
}
