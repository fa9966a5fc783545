//! Class descriptions for files whose writer left them out.

use crate::streamer::{ClassInfo, Element, code};

/// TLeaf, version 2: unchanged since ROOT 3, and sometimes not described (groot).
pub(super) fn leaf() -> ClassInfo {
    let member = |name: &str, kind: &str, code| Element {
        name: name.to_owned(),
        kind: kind.to_owned(),
        code,
        ..Element::default()
    };
    ClassInfo {
        name: "TLeaf".to_owned(),
        version: 2,
        checksum: 0,
        elements: vec![
            member("TNamed", "TStreamerBase", code::TNAMED),
            member("fLen", "TStreamerBasicType", code::INT),
            member("fLenType", "TStreamerBasicType", code::INT),
            member("fOffset", "TStreamerBasicType", code::INT),
            member("fIsRange", "TStreamerBasicType", code::BOOL),
            member("fIsUnsigned", "TStreamerBasicType", code::BOOL),
            member("fLeafCount", "TStreamerObjectPointer", code::OBJECT_P),
        ],
    }
}
