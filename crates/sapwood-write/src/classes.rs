//! The classes a tree's file is made of, as ROOT 6.40 writes them: versions, checksums and members
//! (read from the streamer info of files made by it). Members carry no comments but the name of
//! their counter, which is part of the class's meaning.

use Member::{Any, Base, Object, Pointer, Simple, Strings, Table, Text};

/// A class's entry in the streamer info.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) version: u16,
    pub(crate) checksum: u32,
    pub(crate) members: &'static [Member],
}

/// A member, by the kind of streamer element that describes it.
pub(crate) enum Member {
    /// A base class, which is in the table too.
    Base(&'static str),
    /// A number: its name and type.
    Simple(&'static str, Basic),
    /// A table of numbers: name, type, and the member that says how many.
    Table(&'static str, Basic, &'static str),
    /// A `TString`.
    Text(&'static str),
    /// A `TObject` held by value: name, class, its size in memory.
    Object(&'static str, &'static str, i32),
    /// Any other class held by value.
    Any(&'static str, &'static str, i32),
    /// An object behind a pointer.
    Pointer(&'static str, &'static str),
    /// A `std::vector<std::string>`.
    Strings(&'static str),
}

/// Numbers, with `TVirtualStreamerInfo::EReadWrite`'s codes.
#[derive(Clone, Copy)]
pub(crate) enum Basic {
    Char,
    Short,
    Int,
    Float,
    /// An `int` that counts a table.
    Counter,
    Double,
    UChar,
    UInt,
    /// `TObject::fBits`.
    Bits,
    Long64,
    Bool,
}

impl Basic {
    /// Code, name and size in bytes.
    pub(crate) const fn facts(self) -> (i32, &'static str, i32) {
        match self {
            Basic::Char => (1, "char", 1),
            Basic::Short => (2, "short", 2),
            Basic::Int => (3, "int", 4),
            Basic::Float => (5, "float", 4),
            Basic::Counter => (6, "int", 4),
            Basic::Double => (8, "double", 8),
            Basic::UChar => (11, "unsigned char", 1),
            Basic::UInt => (13, "unsigned int", 4),
            Basic::Bits => (15, "unsigned int", 4),
            Basic::Long64 => (16, "Long64_t", 8),
            Basic::Bool => (18, "bool", 1),
        }
    }
}

const fn class(name: &'static str, version: u16, checksum: u32, members: &'static [Member]) -> Class {
    Class { name, version, checksum, members }
}

/// The entry of a class by its name.
pub(crate) fn find(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|c| c.name == name)
}

/// All classes, in ROOT's order.
pub(crate) const CLASSES: &[Class] = &[
    class("TTree", 20, 0x7264_e07f, TREE),
    class("TNamed", 1, 0xdfb7_4a3c, &[Base("TObject"), Text("fName"), Text("fTitle")]),
    class("TObject", 1, 0x901b_c02d, &[Simple("fUniqueID", Basic::UInt), Simple("fBits", Basic::Bits)]),
    class(
        "TAttLine",
        2,
        0x9407_4549,
        &[Simple("fLineColor", Basic::Short), Simple("fLineStyle", Basic::Short), Simple("fLineWidth", Basic::Short)],
    ),
    class("TAttFill", 2, 0xffd9_2a92, &[Simple("fFillColor", Basic::Short), Simple("fFillStyle", Basic::Short)]),
    class(
        "TAttMarker",
        3,
        0x291d_8bec,
        &[
            Simple("fMarkerColor", Basic::Short),
            Simple("fMarkerStyle", Basic::Short),
            Simple("fMarkerSize", Basic::Float),
        ],
    ),
    class("ROOT::TIOFeatures", 1, IO_FEATURES_CHECKSUM, &[Simple("fIOBits", Basic::UChar)]),
    class("TBranch", 13, 0x1097_8aac, BRANCH),
    class("TLeaf", 2, 0x6d1e_8152, LEAF),
    class("TLeafO", 1, 0x02ae_48d3, &[Base("TLeaf"), Simple(MIN, Basic::Bool), Simple(MAX, Basic::Bool)]),
    class("TLeafB", 1, 0x0f1e_4b5e, &[Base("TLeaf"), Simple(MIN, Basic::Char), Simple(MAX, Basic::Char)]),
    class("TLeafS", 1, 0x150c_eecf, &[Base("TLeaf"), Simple(MIN, Basic::Short), Simple(MAX, Basic::Short)]),
    class("TLeafI", 1, 0x7e6a_ae19, &[Base("TLeaf"), Simple(MIN, Basic::Int), Simple(MAX, Basic::Int)]),
    class("TLeafL", 1, 0xde32_0862, &[Base("TLeaf"), Simple(MIN, Basic::Long64), Simple(MAX, Basic::Long64)]),
    class("TLeafF", 1, 0x3add_9d72, &[Base("TLeaf"), Simple(MIN, Basic::Float), Simple(MAX, Basic::Float)]),
    class("TLeafD", 1, 0x118e_8776, &[Base("TLeaf"), Simple(MIN, Basic::Double), Simple(MAX, Basic::Double)]),
    class("TList", 5, 0x69c5_c3bb, &[Base("TSeqCollection")]),
    class("TSeqCollection", 0, 0xfc6c_3bc6, &[Base("TCollection")]),
    class("TCollection", 3, 0x57e3_cb9c, &[Base("TObject"), Text("fName"), Simple("fSize", Basic::Int)]),
    class("TString", 2, 0x0001_7419, &[]),
    class("TBranchRef", 1, 0x2360_b3fd, &[Base("TBranch"), Pointer("fRefTable", "TRefTable*")]),
    class(
        "TRefTable",
        3,
        0x8c89_5b85,
        &[
            Base("TObject"),
            Simple("fSize", Basic::Int),
            Pointer("fParents", "TObjArray*"),
            Pointer("fOwner", "TObject*"),
            Strings("fProcessGUIDs"),
        ],
    ),
    class(
        "TObjArray",
        3,
        0xa99e_6552,
        &[Base("TSeqCollection"), Simple("fLowerBound", Basic::Int), Simple("fLast", Basic::Int)],
    ),
];

/// The checksum that stands in for the version of `ROOT::TIOFeatures`, a class without one.
pub(crate) const IO_FEATURES_CHECKSUM: u32 = 0x1aa1_2f10;

const MIN: &str = "fMinimum";
const MAX: &str = "fMaximum";

const TREE: &[Member] = &[
    Base("TNamed"),
    Base("TAttLine"),
    Base("TAttFill"),
    Base("TAttMarker"),
    Simple("fEntries", Basic::Long64),
    Simple("fTotBytes", Basic::Long64),
    Simple("fZipBytes", Basic::Long64),
    Simple("fSavedBytes", Basic::Long64),
    Simple("fFlushedBytes", Basic::Long64),
    Simple("fWeight", Basic::Double),
    Simple("fTimerInterval", Basic::Int),
    Simple("fScanField", Basic::Int),
    Simple("fUpdate", Basic::Int),
    Simple("fDefaultEntryOffsetLen", Basic::Int),
    Simple("fNClusterRange", Basic::Counter),
    Simple("fMaxEntries", Basic::Long64),
    Simple("fMaxEntryLoop", Basic::Long64),
    Simple("fMaxVirtualSize", Basic::Long64),
    Simple("fAutoSave", Basic::Long64),
    Simple("fAutoFlush", Basic::Long64),
    Simple("fEstimate", Basic::Long64),
    Table("fClusterRangeEnd", Basic::Long64, "fNClusterRange"),
    Table("fClusterSize", Basic::Long64, "fNClusterRange"),
    Any("fIOFeatures", "ROOT::TIOFeatures", 1),
    Object("fBranches", "TObjArray", 64),
    Object("fLeaves", "TObjArray", 64),
    Pointer("fAliases", "TList*"),
    Any("fIndexValues", "TArrayD", 24),
    Any("fIndex", "TArrayI", 24),
    Pointer("fTreeIndex", "TVirtualIndex*"),
    Pointer("fFriends", "TList*"),
    Pointer("fUserInfo", "TList*"),
    Pointer("fBranchRef", "TBranchRef*"),
];

const BRANCH: &[Member] = &[
    Base("TNamed"),
    Base("TAttFill"),
    Simple("fCompress", Basic::Int),
    Simple("fBasketSize", Basic::Int),
    Simple("fEntryOffsetLen", Basic::Int),
    Simple("fWriteBasket", Basic::Int),
    Simple("fEntryNumber", Basic::Long64),
    Any("fIOFeatures", "ROOT::TIOFeatures", 1),
    Simple("fOffset", Basic::Int),
    Simple("fMaxBaskets", Basic::Counter),
    Simple("fSplitLevel", Basic::Int),
    Simple("fEntries", Basic::Long64),
    Simple("fFirstEntry", Basic::Long64),
    Simple("fTotBytes", Basic::Long64),
    Simple("fZipBytes", Basic::Long64),
    Object("fBranches", "TObjArray", 64),
    Object("fLeaves", "TObjArray", 64),
    Object("fBaskets", "TObjArray", 64),
    Table("fBasketBytes", Basic::Int, "fMaxBaskets"),
    Table("fBasketEntry", Basic::Long64, "fMaxBaskets"),
    Table("fBasketSeek", Basic::Long64, "fMaxBaskets"),
    Text("fFileName"),
];

const LEAF: &[Member] = &[
    Base("TNamed"),
    Simple("fLen", Basic::Int),
    Simple("fLenType", Basic::Int),
    Simple("fOffset", Basic::Int),
    Simple("fIsRange", Basic::Bool),
    Simple("fIsUnsigned", Basic::Bool),
    Pointer("fLeafCount", "TLeaf*"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_base_is_described_and_every_counter_is_a_member() {
        for class in CLASSES {
            for member in class.members {
                match member {
                    Base(name) => assert!(find(name).is_some(), "{name}"),
                    Table(name, _, counter) => {
                        let found =
                            class.members.iter().any(|m| matches!(m, Simple(n, Basic::Counter) if n == counter));
                        assert!(found, "{name}");
                    }
                    _ => {}
                }
            }
        }
    }
}
