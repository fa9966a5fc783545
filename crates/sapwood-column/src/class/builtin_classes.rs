//! ROOT's own classes with custom streamers, whatever their descriptions say.

use super::{Context, class_item, pointer};
use crate::cpp_names::template;
use crate::item::{Listing, columns_of};
use crate::{DType, Item, Object, Skip};
use sapwood_span::{Error, Result};

/// The item of the class, if it is one of these.
///
/// Sources: the `Streamer` methods of the classes, according to their documentation and the bytes that ROOT 6.40
/// writes.
pub(crate) fn item(class: &str, cx: &Context) -> Option<Result<Item>> {
    let array = |d| Some(Ok(Item::Sequence(Box::new(Item::Number(d)))));
    match class {
        "TArrayC" => array(DType::I8),
        "TArrayS" => array(DType::I16),
        "TArrayI" => array(DType::I32),
        "TArrayL" | "TArrayL64" => array(DType::I64),
        "TArrayF" => array(DType::F32),
        "TArrayD" => array(DType::F64),
        "TString" => Some(Ok(Item::Text)),
        "TObject" => Some(Ok(tobject())),
        "TDatime" => Some(Ok(Item::Members(vec![member("fDatime", Item::Number(DType::U32))]))),
        "TRef" => Some(Ok(Item::Members(tref()))),
        "TRefArray" => Some(Ok(Item::Object(any_version(class, tref_array())))),
        "TNamed" if cx.versions(class).is_empty() => Some(Ok(Item::Object(any_version(class, tnamed())))),
        "TObjArray" | "TList" | "THashList" => {
            let kind = if class == "TObjArray" { Listing::Array } else { Listing::Linked };
            Some(pointer("TObject", cx).map(|item| Item::Listed { kind, item: Box::new(item) }))
        }
        "TMap" => Some(pointer("TObject", cx).map(|item| {
            let pair = Item::Members(vec![member("key", item.clone()), member("value", item)]);
            Item::Listed { kind: Listing::Map, item: Box::new(pair) }
        })),
        "TClonesArray" => Some(any_class(cx)),
        "TOrdCollection" | "TSortedList" | "TSeqCollection" | "TCollection" | "THashTable" | "TBtree" => {
            Some(Err(Error::unsupported(format!("a {class}, which may hold objects of any class"))))
        }
        _ => match template(class) {
            Some(("TMatrixTSym", _)) => Some(symmetric(class, cx)),
            _ => None,
        },
    }
}

/// A TClonesArray of any class in the file that derives from TObject.
fn any_class(cx: &Context) -> Result<Item> {
    match pointer("TObject", cx)? {
        Item::Pointer(classes) => Ok(Item::Clones(classes)),
        Item::Link(classes) => Ok(Item::CloneLinks(classes)),
        _ => Err(Error::unsupported("objects of any class")),
    }
}

/// Whether it is a container of pointers to any object.
pub(crate) fn is_list(class: &str) -> bool {
    matches!(class, "TObjArray" | "TList" | "THashList" | "TClonesArray" | "TMap")
}

/// Classes for a file's internal records: no pointer of an event leads to one of them.
pub(crate) fn is_bookkeeping(class: &str) -> bool {
    const PREFIXES: [&str; 8] =
        ["TTree", "TBranch", "TLeaf", "TBasket", "TStreamer", "TProcess", "TNtuple", "TVirtualIndex"];
    PREFIXES.iter().any(|p| class.starts_with(p))
        || matches!(
            class,
            "TNamed" | "TCollection" | "TSeqCollection" | "TRefTable" | "TAttLine" | "TAttFill" | "TAttMarker" | "TKey"
        )
}

fn member(name: &str, item: Item) -> (String, Item) {
    (name.to_owned(), item)
}

fn skip(skip: Skip) -> (String, Item) {
    (String::new(), Item::Skip(skip))
}

fn any_version(class: &str, members: Vec<(String, Item)>) -> Object {
    Object { class: class.to_owned(), version: -1, members, ..Object::default() }
}

/// A TObject that is a value: version, unique id, bits.
pub(crate) fn tobject() -> Item {
    Item::Members(vec![
        skip(Skip::Bytes(2)),
        member("fUniqueID", Item::Number(DType::U32)),
        member("fBits", Item::Bits),
    ])
}

/// TObject's members, of which the unique id is the number of the referenced object, and a process id.
fn tref() -> Vec<(String, Item)> {
    vec![skip(Skip::Bytes(2)), member("ref", Item::Number(DType::U32)), skip(Skip::Bits), skip(Skip::Bytes(2))]
}

/// TObject, name, number of references, lower bound, process id, references.
fn tref_array() -> Vec<(String, Item)> {
    vec![
        skip(Skip::TObject),
        member("fName", Item::Text),
        member("fSize", Item::Number(DType::I32)),
        skip(Skip::Bytes(6)),
        member("refs", Item::Times(1, Box::new(Item::Number(DType::I32)))),
    ]
}

fn tnamed() -> Vec<(String, Item)> {
    vec![skip(Skip::TObject), member("fName", Item::Text), member("fTitle", Item::Text)]
}

/// A symmetric matrix: its base class as described, then only the upper right triangle.
fn symmetric(class: &str, cx: &Context) -> Result<Item> {
    let number = |element: &str| crate::kernel::dtype_of(element).map(Item::Number);
    let argument = template(class).and_then(|(_, a)| a.first().map(|a| (*a).to_owned())).unwrap_or_default();
    let Some(number) = number(&argument) else {
        return Err(Error::unsupported(format!("matrices of {argument}")));
    };
    let Item::Object(base) = class_item(&format!("TMatrixTBase<{argument}>"), cx)? else {
        return Err(Error::unsupported(format!("the class {class}")));
    };
    let rows = columns_of(&base.members).iter().position(|(n, _)| n == "fNrows");
    let rows = rows.ok_or_else(|| Error::unsupported(format!("a {class} without a number of rows")))?;
    let elements = Item::Triangle(rows, Box::new(number));
    // without its own header
    Ok(Item::Members(vec![member("TMatrixTBase", Item::Base(base)), member("fElements", elements)]))
}
