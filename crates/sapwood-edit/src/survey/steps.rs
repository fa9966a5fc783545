//! Classes in one version, prepared for the walk.

use super::Name;
use sapwood_format::streamer::{ClassInfo, Element, code};
use std::collections::HashMap;
use std::sync::Arc;

/// Names of classes and members, each once in memory.
#[derive(Default)]
pub(super) struct Names(HashMap<String, Arc<str>>);

impl Names {
    pub(super) fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(n) = self.0.get(text) {
            return n.clone();
        }
        let n: Arc<str> = text.into();
        self.0.insert(text.to_owned(), n.clone());
        n
    }
}

/// One class in one version, prepared for the walk.
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) version: i16,
}

/// A member.
pub(super) struct Step {
    pub(super) name: Option<Name>,
    pub(super) op: Op,
    /// Type code, for numbers and arrays.
    pub(super) code: i32,
}

/// The form of a member in the file.
pub(super) enum Op {
    Base(Arc<str>),
    Number,
    /// An `int` that counts arrays.
    Counter(Arc<str>),
    /// A fixed array: items.
    Array(usize),
    /// A counted array, with its counting member.
    Counted(Arc<str>),
    Text,
    Pointer,
    /// An object of this class without a tag.
    Object(Arc<str>),
    Object0,
    /// Objects of this class, or pointers to such, counted by this member.
    Loop {
        class: Arc<str>,
        by: Arc<str>,
        pointers: bool,
    },
    /// A C string: length and bytes.
    CharStar,
    /// A part with a byte count that holds only numbers.
    Numbers,
    /// Any other part with a byte count.
    Other,
}

impl Plan {
    /// From a class description.
    pub(super) fn new(info: &ClassInfo, version: i16, names: &mut Names) -> Self {
        Self { steps: info.elements.iter().map(|e| step(e, names)).collect(), version }
    }

    /// TLeaf, version 2: unchanged since ROOT 3, and not described by some writers (groot).
    pub(super) fn leaf(names: &mut Names) -> Self {
        let step = |name, op, code| Step { name, op, code };
        let named = names.get("TNamed");
        let steps = vec![
            step(None, Op::Base(named), code::BASE),
            step(Some(Name::Len), Op::Number, code::INT),
            step(None, Op::Number, code::INT),
            step(None, Op::Number, code::INT),
            step(Some(Name::IsRange), Op::Number, code::BOOL),
            step(None, Op::Number, code::BOOL),
            step(Some(Name::LeafCount), Op::Pointer, code::OBJECT_P),
        ];
        Self { steps, version: 2 }
    }
}

fn step(e: &Element, names: &mut Names) -> Step {
    let op = if e.kind == "TStreamerBase" {
        Op::Base(names.get(&e.name))
    } else {
        match e.code {
            code::COUNTER => Op::Counter(names.get(&e.name)),
            code::TSTRING => Op::Text,
            code::TOBJECT => Op::Object0,
            code::TNAMED => Op::Object(names.get("TNamed")),
            code::CHAR_STAR => Op::CharStar,
            code::OBJECT_P | code::ANY_P => Op::Pointer,
            code::OBJECT | code::ANY | code::OBJECT_P_NONNULL | code::ANY_P_NONNULL => {
                Op::Object(names.get(e.type_name.trim_end_matches('*').trim_end()))
            }
            k if (1..code::OFFSET_L).contains(&k) => Op::Number,
            k if (code::OFFSET_L + 1..code::OFFSET_P).contains(&k) => {
                Op::Array(usize::try_from(e.array_len).unwrap_or(0))
            }
            k if (code::OFFSET_P + 1..60).contains(&k) => Op::Counted(names.get(&e.count_name)),
            code::STREAM_LOOP if e.array_len <= 1 => Op::Loop {
                class: names.get(e.type_name.trim_end_matches('*').trim_end()),
                by: names.get(&e.count_name),
                pointers: e.type_name.contains("**"),
            },
            _ if numbers_of(&e.type_name).is_some() => Op::Numbers,
            _ => Op::Other,
        }
    };
    // a fixed array of objects is a sequence of them; no class of trees or histograms has any
    let op = match op {
        Op::Object(_) | Op::Pointer | Op::Text if e.array_len > 1 => Op::Other,
        op => op,
    };
    Step { name: Name::of(&e.name), op, code: e.code }
}

/// Essential classes: an error in one of them makes the header useless, and is reported.
pub(super) fn is_essential(class: &str) -> bool {
    matches!(class, "TTree" | "TNtuple" | "TNtupleD" | "TObjArray")
        || class.starts_with("TBranch")
        || class.starts_with("TLeaf")
}

/// The type of the items of a bare array.
pub(super) fn bare_array(class: &str) -> Option<i32> {
    Some(match class {
        "TArrayC" => code::CHAR,
        "TArrayS" => code::SHORT,
        "TArrayI" => code::INT,
        "TArrayF" => code::FLOAT,
        "TArrayD" => code::DOUBLE,
        "TArrayL" | "TArrayL64" => code::LONG64,
        _ => return None,
    })
}

/// The type of the items of a vector of numbers.
pub fn numbers_of(type_name: &str) -> Option<i32> {
    let item = type_name.strip_prefix("vector<")?.strip_suffix('>')?.trim();
    Some(match sapwood_format::object::cpp::integer(item).unwrap_or(item) {
        "double" | "Double_t" => code::DOUBLE,
        "float" | "Float_t" => code::FLOAT,
        "int" | "Int_t" => code::INT,
        "unsigned int" | "UInt_t" => code::UINT,
        "short" | "Short_t" => code::SHORT,
        "unsigned short" | "UShort_t" => code::USHORT,
        "char" | "Char_t" => code::CHAR,
        "unsigned char" | "UChar_t" => code::UCHAR,
        "long" | "Long_t" | "long long" | "Long64_t" => code::LONG64,
        "unsigned long" | "ULong_t" | "unsigned long long" | "ULong64_t" => code::ULONG64,
        _ => return None,
    })
}
