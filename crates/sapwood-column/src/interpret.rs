//! From a branch's header to the layout of its bytes.

use crate::item::DEEPEST;
use crate::{DType, Entries, Item, Layout, Object, Packed, kernel};
use sapwood_format::streamer::{ClassInfo, Element, Streamers, code};
use sapwood_format::tree::{Branch, BranchElement, Leaf, Tree};
use sapwood_span::{Error, Result};
use std::cell::Cell;

/// Members of one branch, those of nested classes counted in: classes that contain each other twice and thrice grow
/// beyond all bounds.
const MOST_MEMBERS: usize = 20_000;

/// Items of a leaf: more do not fit into the largest basket.
const MOST_ITEMS: usize = 1 << 30;

/// What the layouts of one branch are worked out from.
struct Context<'s> {
    streamers: &'s Streamers,
    members: Cell<usize>,
}

/// Works out how a branch's baskets are decoded.
///
/// # Errors
/// `Unsupported`, with the reason, for what this version does not read; `Corrupt` when the header contradicts itself.
pub fn interpret(tree: &Tree, branch: usize, streamers: &Streamers) -> Result<Layout> {
    let cx = &Context { streamers, members: Cell::new(0) };
    let b = tree.branches.get(branch).ok_or_else(|| Error::not_found(format!("no branch number {branch}")))?;
    let named = |e: Error| e.in_branch(tree.path(branch));
    if !b.file_name.is_empty() {
        return Err(named(Error::unsupported(format!("its values lie in another file, {}", b.file_name))));
    }
    match b.class.as_str() {
        "TBranch" => from_leaves(tree, b),
        "TBranchElement" => from_element(tree, b, cx),
        other => Err(Error::unsupported(format!("branches of class {other}"))),
    }
    .map_err(named)
}

fn from_leaves(tree: &Tree, b: &Branch) -> Result<Layout> {
    let leaves: Vec<&Leaf> = b.leaves.iter().filter_map(|&l| tree.leaves.get(l)).collect();
    match leaves.as_slice() {
        [] => Err(Error::unsupported(if b.children.is_empty() {
            "it has no leaf"
        } else {
            "its values lie in its sub-branches"
        })),
        [leaf] if leaf.class == "TLeafC" => Ok(Layout { item: Item::Text, entries: Entries::Text }),
        [leaf] => {
            let item = leaf_item(leaf)?;
            Ok(Layout { item, entries: if leaf.count.is_some() { Entries::UntilEnd } else { Entries::One } })
        }
        many => {
            let mut members = Vec::new();
            for leaf in many {
                let item = if leaf.class == "TLeafC" { Item::Text } else { leaf_item(leaf)? };
                let item = match leaf.count {
                    None => item,
                    Some(count) => match b.leaves.iter().take(members.len()).position(|&l| l == count) {
                        Some(by) => Item::Times(by, Box::new(item)),
                        None => {
                            return Err(Error::unsupported(format!(
                                "leaf {} among several is counted by another branch",
                                leaf.name
                            )));
                        }
                    },
                };
                members.push((leaf.name.clone(), item));
            }
            Ok(Layout { item: Item::Members(members), entries: Entries::One })
        }
    }
}

fn leaf_item(leaf: &Leaf) -> Result<Item> {
    let pick = |signed, unsigned| Item::Number(if leaf.is_unsigned { unsigned } else { signed });
    let number = match leaf.class.as_str() {
        "TLeafO" => Item::Number(DType::Bool),
        "TLeafB" => pick(DType::I8, DType::U8),
        "TLeafS" => pick(DType::I16, DType::U16),
        "TLeafI" => pick(DType::I32, DType::U32),
        "TLeafL" | "TLeafG" => pick(DType::I64, DType::U64),
        "TLeafF" => Item::Number(DType::F32),
        "TLeafD" => Item::Number(DType::F64),
        "TLeafF16" => Item::Packed(Packed::from_comment(&leaf.title, true), DType::F32),
        "TLeafD32" => Item::Packed(Packed::from_comment(&leaf.title, false), DType::F64),
        other => return Err(Error::unsupported(format!("leaves of class {other}"))),
    };
    let len = usize::try_from(leaf.len).ok().filter(|&n| n <= MOST_ITEMS);
    let len = len.ok_or_else(|| Error::corrupt(format!("leaf {} has length {}", leaf.name, leaf.len)))?;
    Ok(arrays(number, &title_dims(&leaf.title, len)))
}

/// The fixed extents in a leaf's title, as in `x[n][3][2]`; the leaf's length where they do not make it up.
pub(crate) fn title_dims(title: &str, len: usize) -> Vec<usize> {
    let mut dims = Vec::new();
    let mut rest = title;
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']') else { break };
        if let Ok(n) = rest[open + 1..open + close].trim().parse() {
            dims.push(n);
        }
        rest = &rest[open + close + 1..];
    }
    let product = dims.iter().try_fold(1usize, |p, &n: &usize| p.checked_mul(n));
    if product == Some(len.max(1)) || (product == Some(len) && len > 0) {
        return dims;
    }
    if len <= 1 { Vec::new() } else { vec![len] }
}

/// An item within arrays of these extents, outermost first.
fn arrays(item: Item, dims: &[usize]) -> Item {
    dims.iter().rev().fold(item, |item, &n| Item::Fixed(n, Box::new(item)))
}

fn from_element(tree: &Tree, b: &Branch, cx: &Context) -> Result<Layout> {
    let Some(x) = &b.element else { return Err(Error::corrupt("it says nothing of its class")) };
    if matches!(x.kind, 3 | 4) {
        // the number of items of a split collection
        return Ok(Layout { item: Item::Number(DType::I32), entries: Entries::One });
    }
    if !b.children.is_empty() {
        return Err(Error::unsupported("its values lie in its sub-branches"));
    }
    if x.id < 0 {
        let item = whole(x, cx)?;
        return Ok(Layout { item, entries: Entries::One });
    }
    let element = match class_info(x, cx) {
        Some(info) => usize::try_from(x.id).ok().and_then(|id| info.elements.get(id)),
        None => None,
    };
    let leaf = b.leaves.first().and_then(|&l| tree.leaves.get(l));
    let item = match (element, leaf) {
        (Some(e), _) => element_item(e, &[], cx, 0)?,
        // the class is not described, but numbers need no description
        (None, Some(leaf)) => {
            let number = number_item(x.streamer_type % 20, "").filter(|_| x.streamer_type < 40);
            let number = number.ok_or_else(|| {
                Error::unsupported(format!(
                    "the file does not describe class {} version {}",
                    x.class_name, x.class_version
                ))
            })?;
            let len = usize::try_from(leaf.len).unwrap_or(1);
            arrays(number, &title_dims(&leaf.title, len))
        }
        (None, None) => return Err(Error::unsupported(format!("the file does not describe class {}", x.class_name))),
    };
    let in_collection = matches!(x.kind, 31 | 41);
    Ok(match (item, in_collection) {
        (Item::Counted(_, item), false) => Layout { item: *item, entries: Entries::FlaggedUntilEnd },
        (Item::Counted(..), true) => {
            return Err(Error::unsupported("counted arrays that are members of a split collection"));
        }
        (item, false) => Layout { item, entries: Entries::One },
        (Item::Headed(item), true) => Layout { item: *item, entries: Entries::HeadedUntilEnd },
        (Item::Objects(_), true) => return Err(Error::unsupported("collections of objects within a split collection")),
        (item, true) => Layout { item: one_dimension(item), entries: Entries::UntilEnd },
    })
}

/// An array of arrays as one array: what uproot makes of the members of split collections.
fn one_dimension(item: Item) -> Item {
    match item {
        Item::Fixed(n, inner) => match one_dimension(*inner) {
            Item::Fixed(m, inner) => Item::Fixed(n.saturating_mul(m), inner),
            inner => Item::Fixed(n, Box::new(inner)),
        },
        item => item,
    }
}

/// A branch that holds a whole object.
fn whole(x: &BranchElement, cx: &Context) -> Result<Item> {
    let name = x.class_name.as_str();
    if x.id < -1 {
        return Err(Error::unsupported(format!("a split object of class {name} without sub-branches")));
    }
    // a string that is a branch of its own has no header, unlike one that is a member
    if matches!(bare(name), "string" | "TString") {
        return Ok(Item::Text);
    }
    if is_collection(name) {
        return headed(name, cx, 0);
    }
    match class_info(x, cx) {
        // the members follow one another; only bases and members that are objects have headers
        Some(info) => Ok(Item::Members(object(info, cx, 0)?.members)),
        None => Err(Error::unsupported(format!("the file does not describe class {name}"))),
    }
}

fn class_info<'s>(x: &BranchElement, cx: &'s Context) -> Option<&'s ClassInfo> {
    let name = bare(&x.class_name);
    let found = if x.class_version > 0 { cx.streamers.find(name, x.class_version) } else { None };
    found
        .filter(|c| x.checksum == 0 || c.checksum == x.checksum)
        .or_else(|| cx.streamers.find_checksum(name, x.checksum))
        .or(found)
        .map(|c| &**c)
}

fn object(info: &ClassInfo, cx: &Context, depth: usize) -> Result<Object> {
    if depth > DEEPEST {
        return Err(Error::unsupported("classes nested without end"));
    }
    let mut members: Vec<(String, Item)> = Vec::new();
    for e in &info.elements {
        cx.members.set(cx.members.get() + 1);
        if cx.members.get() > MOST_MEMBERS {
            return Err(Error::unsupported("a class with more members than can be"));
        }
        let item = element_item(e, &members, cx, depth)
            .map_err(|x| Error::new(x.kind(), format!("member {} of {}: {}", e.name, info.name, x.what())))?;
        members.push((e.name.clone(), item));
    }
    Ok(Object { class: info.name.clone(), version: info.version, checksum: info.checksum, members })
}

fn number_item(k: i32, comment: &str) -> Option<Item> {
    Some(match k {
        code::CHAR | code::LEGACY_CHAR => Item::Number(DType::I8),
        code::UCHAR => Item::Number(DType::U8),
        code::BOOL => Item::Number(DType::Bool),
        code::SHORT => Item::Number(DType::I16),
        code::USHORT => Item::Number(DType::U16),
        code::INT => Item::Number(DType::I32),
        // an Int_t that counts: never negative, and unsigned in uproot, whose types are ours
        code::COUNTER => Item::Number(DType::U32),
        code::UINT => Item::Number(DType::U32),
        code::BITS => Item::Bits,
        code::LONG | code::LONG64 => Item::Number(DType::I64),
        code::ULONG | code::ULONG64 => Item::Number(DType::U64),
        code::FLOAT => Item::Number(DType::F32),
        code::DOUBLE => Item::Number(DType::F64),
        code::DOUBLE32 => Item::Packed(Packed::from_comment(comment, false), DType::F64),
        code::FLOAT16 => Item::Packed(Packed::from_comment(comment, true), DType::F32),
        _ => return None,
    })
}

/// One member; `before` are the members in front of it, among them its counter.
fn element_item(e: &Element, before: &[(String, Item)], cx: &Context, depth: usize) -> Result<Item> {
    let unsupported = |what: &str| Err(Error::unsupported(format!("{what} ({})", e.type_name)));
    let dims: Vec<usize> = e.dims.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect();
    if e.code == code::BASE || e.kind == "TStreamerBase" {
        return match cx.streamers.find(&e.name, e.base_version).or_else(|| cx.streamers.latest(&e.name)) {
            Some(info) if e.name != "TObject" => Ok(Item::Base(object(info, cx, depth + 1)?)),
            _ => Err(Error::unsupported(format!("base class {}", e.name))),
        };
    }
    if let Some(number) = number_item(e.code, &e.title) {
        return Ok(number);
    }
    let fixed = e.code > code::OFFSET_L && e.code < code::OFFSET_P;
    if let (true, Some(number)) = (fixed, number_item(e.code - code::OFFSET_L, &e.title)) {
        let dims = if dims.is_empty() { vec![usize::try_from(e.array_len).unwrap_or(0)] } else { dims };
        return Ok(arrays(number, &dims));
    }
    let counted = e.code > code::OFFSET_P && e.code < 60;
    if let (true, Some(number)) = (counted, number_item(e.code - code::OFFSET_P, &e.title)) {
        let by = before.iter().position(|(n, _)| *n == e.count_name).unwrap_or(usize::MAX);
        return Ok(Item::Counted(by, Box::new(number)));
    }
    match e.code {
        code::CHAR_STAR => Ok(Item::LongText),
        code::TSTRING => Ok(arrays(Item::Text, &dims)),
        k if k == code::TSTRING + code::OFFSET_L => Ok(arrays(Item::Text, &dims)),
        code::STL_STRING => {
            // old files give the length of an array of strings without its dimensions
            let dims = if dims.is_empty() && e.array_len > 0 { vec![e.array_len as usize] } else { dims };
            Ok(Item::Headed(Box::new(arrays(Item::Text, &dims))))
        }
        code::STL if e.array_len > 0 => unsupported("arrays of collections"),
        code::STL => headed(&e.type_name, cx, depth + 1),
        // std::string before it had a code of its own
        code::STREAMER if bare(&e.type_name) == "string" => Ok(Item::Headed(Box::new(Item::Text))),
        code::OBJECT | code::ANY => match cx.streamers.latest(bare(&e.type_name)) {
            Some(info) if !info.name.starts_with("TArray") => {
                if cx.streamers.versions(&info.name).count() > 1 {
                    return unsupported("a class that the file describes in several versions");
                }
                Ok(Item::Object(object(info, cx, depth + 1)?))
            }
            _ => unsupported("a class that the file does not describe or that writes itself"),
        },
        code::TOBJECT | code::TNAMED => unsupported("objects of this class"),
        code::OBJECT_P | code::OBJECT_P_NONNULL | code::ANY_P | code::ANY_P_NONNULL | code::ANY_P_NO_VT => {
            unsupported("pointers to objects")
        }
        other => unsupported(&format!("members of type code {other}")),
    }
}

/// A C++ type name without `const`, `std::` and blanks around it.
pub(crate) fn bare(name: &str) -> &str {
    let n = name.trim();
    let n = n.strip_prefix("const ").unwrap_or(n).trim();
    n.strip_prefix("std::").unwrap_or(n)
}

/// Divides `vector<float>` into `vector` and its arguments, at the outermost commas.
pub(crate) fn template(name: &str) -> Option<(&str, Vec<&str>)> {
    let name = bare(name);
    let open = name.find('<')?;
    let inside = name[open + 1..].trim_end().strip_suffix('>')?;
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0usize, 0);
    for (i, c) in inside.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(inside[from..i].trim());
                from = i + 1;
            }
            _ => {}
        }
    }
    parts.push(inside[from..].trim());
    Some((name[..open].trim(), parts))
}

fn is_list(name: &str) -> bool {
    matches!(
        name,
        "vector"
            | "list"
            | "deque"
            | "forward_list"
            | "set"
            | "multiset"
            | "unordered_set"
            | "unordered_multiset"
            | "ROOT::VecOps::RVec"
            | "RVec"
    )
}

fn is_map(name: &str) -> bool {
    matches!(name, "map" | "multimap" | "unordered_map" | "unordered_multimap")
}

fn is_collection(name: &str) -> bool {
    template(name).is_some_and(|(t, _)| is_list(t) || is_map(t))
}

/// A collection or string with byte count and version in front.
fn headed(name: &str, cx: &Context, depth: usize) -> Result<Item> {
    if matches!(bare(name), "string") {
        return Ok(Item::Headed(Box::new(Item::Text)));
    }
    if bare(name) == "TString" {
        return Ok(Item::Text);
    }
    let Some((outer, arguments)) = template(name) else {
        return Err(Error::unsupported(format!("the type {name}")));
    };
    if let (true, Some(inner)) = (is_list(outer), arguments.first()) {
        if let Some(info) = described(inner, cx) {
            return Ok(Item::Objects(Box::new(Item::Object(object(info, cx, depth + 1)?))));
        }
        return Ok(Item::Headed(Box::new(Item::Sequence(Box::new(nested(inner, cx, depth + 1)?)))));
    }
    if is_map(outer) && arguments.len() >= 2 {
        // inside pairs, strings and collections have headers when written member by member and none otherwise:
        // only pairs of numbers are the same in both
        let side = |n: &str| match nested(n, cx, depth + 1)? {
            item @ Item::Number(_) => Ok(item),
            _ => Err(Error::unsupported(format!("the type {name}"))),
        };
        let pair = vec![("key".to_owned(), side(arguments[0])?), ("value".to_owned(), side(arguments[1])?)];
        return Ok(Item::Objects(Box::new(Item::Members(pair))));
    }
    Err(Error::unsupported(format!("the type {name}")))
}

/// The description of a class that can stand in a collection.
fn described<'s>(name: &str, cx: &'s Context) -> Option<&'s ClassInfo> {
    if kernel::dtype_of(name).is_some() || is_collection(name) || matches!(bare(name), "string" | "TString") {
        return None;
    }
    let mut versions = cx.streamers.versions(bare(name));
    let first = versions.next()?;
    // which of several versions is meant only the data tell, object by object
    versions.next().is_none().then_some(&**first)
}

/// What stands inside a collection: no header of its own.
fn nested(name: &str, cx: &Context, depth: usize) -> Result<Item> {
    if depth > DEEPEST {
        return Err(Error::unsupported("collections nested without end"));
    }
    match bare(name) {
        "string" | "TString" => return Ok(Item::Text),
        "Double32_t" => return Ok(Item::Packed(Packed::Float, DType::F64)),
        "Float16_t" => return Ok(Item::Packed(Packed::Truncated { bits: 12 }, DType::F32)),
        _ => {}
    }
    if let Some(d) = kernel::dtype_of(bare(name)) {
        return Ok(Item::Number(d));
    }
    if let Some(info) = described(name, cx) {
        return Ok(Item::Object(object(info, cx, depth + 1)?));
    }
    if name.trim_end().ends_with('*') {
        return Err(Error::unsupported(format!("collections of pointers ({name})")));
    }
    match template(name) {
        Some((outer, arguments)) if is_list(outer) && !arguments.is_empty() => {
            Ok(Item::Sequence(Box::new(nested(arguments[0], cx, depth + 1)?)))
        }
        _ => Err(Error::unsupported(format!("the type {name} inside a collection"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_templates() {
        assert_eq!(title_dims("x[n][3][2]/F", 6), [3, 2]);
        assert_eq!(title_dims("x[n]", 1), Vec::<usize>::new());
        assert_eq!(title_dims("f[100]", 100), [100]);
        assert_eq!(title_dims("name", 7), [7]);
        assert_eq!(template("map<int,vector<float> >"), Some(("map", vec!["int", "vector<float>"])));
        assert_eq!(template("std::vector<std::string>"), Some(("vector", vec!["std::string"])));
        assert_eq!(template("float"), None);
    }
}
