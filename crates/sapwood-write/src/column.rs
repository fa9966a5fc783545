//! Branches as stored in the file, and which of them each given column fills.

use crate::column_source::ColumnSource;
use crate::cpp::{Class, CppType};
use sapwood_codec::Compression;
use sapwood_column::DType;

/// The data in a branch's baskets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// Nothing: the values are in its sub-branches.
    None,
    /// Entries of this many bytes.
    Fixed(u32),
    /// Entries of variable size, with a table of offsets.
    Offsets,
}

/// A branch with its layout in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) leaf: Option<Leaf>,
    /// Of a `TBranchElement`.
    pub(crate) element: Option<ElementFacts>,
    /// The parent branch.
    pub(crate) parent: Option<usize>,
    pub(crate) data: Data,
    pub(crate) split_level: i32,
    pub(crate) compression: Option<Compression>,
    pub(crate) basket_bytes: Option<u32>,
}

impl Column {
    /// The class of its leaf.
    pub(crate) fn leaf_class(&self) -> Option<&'static str> {
        self.leaf.as_ref().map(|l| l.class)
    }

    /// Whether its entries are C strings: its leaf stores the length of the longest one.
    pub(crate) fn is_c_string(&self) -> bool {
        self.leaf_class() == Some(C_STRING)
    }

    /// Whether its values count those of others.
    pub(crate) fn counts(&self) -> bool {
        self.leaf.as_ref().is_some_and(|l| l.counts)
    }
}

/// The leaf class of C strings.
pub(crate) const C_STRING: &str = "TLeafC";

/// A branch's leaf.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) class: &'static str,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) len: usize,
    pub(crate) len_type: usize,
    pub(crate) unsigned: bool,
    /// Whether it is marked as a counter (`fIsRange`).
    pub(crate) range: bool,
    /// Whether it is a counter, marked or not.
    pub(crate) counts: bool,
    /// The branch whose leaf counts this one.
    pub(crate) count: Option<usize>,
    /// Number and type code of a class's member.
    pub(crate) element: Option<(i32, i32)>,
}

/// The class information of a `TBranchElement`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ElementFacts {
    pub(crate) class: String,
    pub(crate) parent: String,
    pub(crate) clones: String,
    pub(crate) checksum: u32,
    pub(crate) version: u16,
    /// Number of the member; -1 the object itself, -2 the object in its sub-branches.
    pub(crate) id: i32,
    /// 0 value, 2 object, 4 collection, 41 member of a collection; -1 a string.
    pub(crate) kind: i32,
    pub(crate) streamer_type: i32,
    /// Whether reading it requires the description of a class.
    pub(crate) of_class: bool,
}

/// A column given by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) feed: ColumnSource,
    /// Whether the writer derives it where it is not given.
    pub(crate) automatic: bool,
}

/// All columns to be given.
pub(crate) type Inputs = Vec<Input>;

pub(crate) const WHOLE: ElementFacts = ElementFacts {
    class: String::new(),
    parent: String::new(),
    clones: String::new(),
    checksum: 0,
    version: 1,
    id: -1,
    kind: 0,
    streamer_type: -1,
    of_class: false,
};

pub(crate) fn member_facts(class: &Class, id: usize, ty: &CppType, kind: i32) -> ElementFacts {
    ElementFacts {
        class: class.name.clone(),
        parent: class.name.clone(),
        checksum: class.checksum(),
        version: class.version,
        id: id as i32,
        kind,
        streamer_type: ty.code(),
        of_class: ty.is_described(),
        ..WHOLE
    }
}

/// The class of a collection's items where, at this level, their members can have separate branches: numbers, strings
/// and collections of those. Items that contain objects are kept together.
pub(crate) fn split_items(level: i32, ty: &CppType) -> Option<Class> {
    let class = match ty {
        CppType::Vector(item) => match &**item {
            CppType::Class(class) => (**class).clone(),
            _ => return None,
        },
        CppType::Map(key, value) => CppType::pair(key, value),
        _ => return None,
    };
    (level > 0 && class.members.iter().all(|(_, m)| !m.has_class())).then_some(class)
}

pub(crate) fn element_leaf(name: &str, title: &str, ty: &CppType, id: i32, code: i32) -> Leaf {
    let (len, len_type, unsigned) = match ty {
        CppType::Number(d) => (1, d.size(), is_unsigned(*d)),
        CppType::Array(d, n) => (*n, d.size(), is_unsigned(*d)),
        _ => (1, 0, false),
    };
    Leaf {
        class: "TLeafElement",
        name: name.to_owned(),
        title: title.to_owned(),
        len,
        len_type,
        unsigned,
        range: false,
        counts: false,
        count: None,
        element: Some((id, code)),
    }
}

pub(crate) const fn is_unsigned(dtype: DType) -> bool {
    matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64)
}

/// The leaf class for a type.
pub(crate) const fn leaf_class(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "TLeafO",
        DType::I8 | DType::U8 => "TLeafB",
        DType::I16 | DType::U16 => "TLeafS",
        DType::I32 | DType::U32 => "TLeafI",
        DType::I64 | DType::U64 => "TLeafL",
        DType::F32 => "TLeafF",
        DType::F64 => "TLeafD",
    }
}
