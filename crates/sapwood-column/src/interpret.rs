//! Turns a branch's header into the layout of its bytes.

use crate::class::builtin_classes;
use crate::class::collection::{headed, is_own, own};
use crate::class::graph::linked;
use crate::class::{Context, arrays, class_item, element_item, number_item, object_of, pointer};
use crate::cpp_names::{bare, is_collection};
use crate::ntuple::FieldLayout;
use crate::{DType, Entries, Item, Layout, PackedFloat};
use sapwood_format::streamer::{ClassInfo, Element, Streamers, code};
use sapwood_format::tree::{Branch, BranchElement, Leaf, Tree};
use sapwood_span::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Items of a leaf at most: more do not fit into the largest basket.
const MOST_ITEMS: usize = 1 << 30;

/// Dimensions of a leaf at most.
const MOST_DIMS: usize = 64;

/// Determines how a branch's baskets are decoded.
///
/// # Errors
/// `Unsupported`, with the reason, for what this version does not read, and for baskets stored in another file;
/// `Corrupt` when the header contradicts itself.
pub fn interpret(tree: &Tree, branch: usize, streamers: &Streamers) -> Result<Layout> {
    if let Some(name) = tree.branches.get(branch).and_then(|b| b.external_file()) {
        let e = Error::unsupported(format!("its values are in another file, {name}"));
        return Err(e.in_branch(tree.path(branch)));
    }
    interpret_anywhere(tree, branch, streamers)
}

/// As [`interpret`], for callers that read other files as well.
///
/// # Errors
/// As [`interpret`], except for baskets in another file.
pub fn interpret_anywhere(tree: &Tree, branch: usize, streamers: &Streamers) -> Result<Layout> {
    within(tree, branch, &Context::new(streamers, usize::MAX))
}

/// As [`interpret_anywhere`], for callers that keep the layouts of many branches: `left` limits their members
/// altogether. Those of this one are subtracted from it.
///
/// # Errors
/// As [`interpret_anywhere`]; `Corrupt` when none are left.
pub fn interpret_within(tree: &Tree, branch: usize, streamers: &Streamers, left: &AtomicUsize) -> Result<Layout> {
    let cx = Context::new(streamers, left.load(Relaxed));
    let layout = within(tree, branch, &cx);
    let _ = left.fetch_update(Relaxed, Relaxed, |n| Some(n.saturating_sub(cx.counted())));
    layout
}

/// Members of all layouts of a tree together: classes that contain each other several times would multiply a few
/// descriptions without limit, for each branch again. Real trees have a fifth of the descriptions' at most.
pub fn members_of_all(streamers: &Streamers) -> usize {
    let described: usize = streamers.classes().iter().map(|c| c.elements.len() + 1).sum();
    described.saturating_mul(100).saturating_add(100_000)
}

fn within(tree: &Tree, branch: usize, cx: &Context) -> Result<Layout> {
    if let Some(ntuple) = &tree.ntuple {
        let field = tree.branches.get(branch).and_then(|b| b.field);
        let field = field.ok_or_else(|| Error::invalid("a branch without a field"))?;
        let layout = FieldLayout::with(ntuple, field, cx).map_err(|e| e.in_branch(tree.path(branch)))?;
        return Ok(Layout::of_field(layout));
    }
    let b = tree.branches.get(branch).ok_or_else(|| Error::not_found(format!("no branch number {branch}")))?;
    let named = |e: Error| e.in_branch(tree.path(branch));
    match b.class.as_str() {
        "TBranch" => from_leaves(tree, b),
        "TBranchElement" => from_element(tree, b, cx),
        "TBranchObject" => from_object(b, cx),
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
            "its values are in its sub-branches"
        })),
        [leaf] if leaf.class == "TLeafC" => Ok(Layout::new(Item::Text, Entries::Text)),
        [leaf] => {
            let item = leaf_item(leaf)?;
            Ok(Layout::new(item, if leaf.count.is_some() { Entries::UntilEnd } else { Entries::One }))
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
            Ok(Layout::new(Item::Members(members), Entries::One))
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
        "TLeafF16" => Item::Packed(PackedFloat::from_comment(&leaf.title, true), DType::F32),
        "TLeafD32" => Item::Packed(PackedFloat::from_comment(&leaf.title, false), DType::F64),
        other => return Err(Error::unsupported(format!("leaves of class {other}"))),
    };
    let len = usize::try_from(leaf.len).ok().filter(|&n| n <= MOST_ITEMS);
    let len = len.ok_or_else(|| Error::corrupt(format!("leaf {} has length {}", leaf.name, leaf.len)))?;
    Ok(arrays(number, &title_dims(&leaf.title, len)?))
}

/// The fixed extents in a leaf's title, as in `x[n][3][2]`; the leaf's length where they do not multiply to it.
///
/// # Errors
/// `Corrupt` when there are more than any array has: each of them would be an array within the previous one.
pub(crate) fn title_dims(title: &str, len: usize) -> Result<Vec<usize>> {
    let mut dims = Vec::new();
    let mut rest = title;
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']') else { break };
        if let Ok(n) = rest[open + 1..open + close].trim().parse() {
            dims.push(n);
        }
        if dims.len() > MOST_DIMS {
            return Err(Error::corrupt(format!("a leaf's title has more than {MOST_DIMS} dimensions")));
        }
        rest = &rest[open + close + 1..];
    }
    let product = dims.iter().try_fold(1usize, |p, &n: &usize| p.checked_mul(n));
    if product == Some(len.max(1)) || (product == Some(len) && len > 0) {
        return Ok(dims);
    }
    Ok(if len <= 1 { Vec::new() } else { vec![len] })
}

fn from_element(tree: &Tree, b: &Branch, cx: &Context) -> Result<Layout> {
    let Some(x) = &b.element else { return Err(Error::corrupt("it does not name its class")) };
    if matches!(x.kind, 3 | 4) {
        // the number of items of a split collection
        return Ok(Layout::new(Item::Number(DType::I32), Entries::One));
    }
    if !b.children.is_empty() {
        return Err(Error::unsupported("its values are in its sub-branches"));
    }
    if x.id < 0 {
        let item = linked(&x.class_name, cx, |cx| whole(x, cx))?;
        return Ok(Layout::new(item, Entries::One).of_class(bare(&x.class_name)));
    }
    let in_collection = matches!(x.kind, 31 | 41);
    let element = match class_info(x, cx) {
        Some(info) => usize::try_from(x.id).ok().and_then(|id| info.elements.get(id)),
        None => None,
    };
    let leaf = b.leaves.first().and_then(|&l| tree.leaves.get(l));
    let item = match (element, leaf) {
        // counted objects and collections in collections are framed by their own items
        (Some(e), _)
            if matches!(e.code, code::STREAM_LOOP | code::STREAM_LOOPS) || (e.code >= code::STL && in_collection) =>
        {
            element_item(e, &[], cx)?
        }
        (Some(e), _) => linked(&e.type_name, cx, |cx| element_item(e, &[], cx))?,
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
            arrays(number, &title_dims(&leaf.title, len)?)
        }
        (None, None) => return Err(Error::unsupported(format!("the file does not describe class {}", x.class_name))),
    };
    Ok(match (item, in_collection) {
        (Item::Counted(_, item), false) => Layout::new(*item, Entries::FlaggedUntilEnd),
        (item, _) if is_counted(&item) => {
            if let (Item::Headed(inner), false) = (&item, in_collection)
                && let Item::Times(_, one) = &**inner
            {
                return Ok(Layout::new((**one).clone(), Entries::HeadedUntilEnd));
            }
            let entries = if in_collection { Entries::CountedUntilEnd } else { Entries::Counted };
            Layout::new(item, entries).counted_by(counter_of(tree, b, x, element, cx))
        }
        (item, false) => Layout::new(item, Entries::One),
        (Item::Headed(item), true) => Layout::new(*item, Entries::HeadedUntilEnd),
        (item @ Item::Base(_), true) if x.count.is_some() => {
            Layout::new(item, Entries::CountedUntilEnd).counted_by(x.count)
        }
        (item, true) => Layout::new(one_dimension(item), Entries::UntilEnd).or_without_headers(),
    })
}

/// Whether its length is in another member, with a header or without.
fn is_counted(item: &Item) -> bool {
    let inner = if let Item::Headed(inner) = item { inner } else { item };
    inner.counter().is_some()
}

/// The branch of the member that counts this one: the one in the header, or otherwise the sibling branch with the
/// member of that name.
fn counter_of(tree: &Tree, b: &Branch, x: &BranchElement, element: Option<&Element>, cx: &Context) -> Option<usize> {
    if x.count2.is_some() {
        return x.count2;
    }
    let name = &element?.count_name;
    let beside = b.parent.and_then(|p| tree.branches.get(p)).map_or(&tree.top, |p| &p.children);
    beside.iter().copied().find(|&other| {
        let Some(o) = tree.branches.get(other).and_then(|o| o.element.as_ref()) else { return false };
        let member = class_info(o, cx).and_then(|info| info.elements.get(usize::try_from(o.id).ok()?));
        o.class_name == x.class_name && member.is_some_and(|m| m.name == *name)
    })
}

/// A branch with whole objects and the names of their classes: ROOT's form of classes until version 3, and of unsplit
/// ones until today.
fn from_object(b: &Branch, cx: &Context) -> Result<Layout> {
    let class = b.element.as_ref().map_or("", |x| x.class_name.as_str());
    let item = linked(class, cx, |cx| class_item(class, cx))?;
    Ok(Layout::new(Item::Named(Box::new(item)), Entries::One))
}

/// An array of arrays as one array: as in uproot, for the members of split collections.
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
    // a string in its own branch has no header, unlike one that is a member
    if matches!(bare(name), "string" | "TString") {
        return Ok(Item::Text);
    }
    if is_collection(name) {
        return headed(name, &[], 0, cx);
    }
    if name == "TClonesArray" && !x.clones_name.is_empty() {
        if cx.tables.is_some()
            && let Item::Link(classes) = pointer(&x.clones_name, cx)?
        {
            return Ok(Item::CloneLinks(classes));
        }
        return Ok(Item::Clones(vec![(x.clones_name.clone(), class_item(&x.clones_name, cx)?)]));
    }
    // a class with a custom streamer writes a header as well
    if x.kind < 0 || builtin_classes::item(bare(name), cx).is_some() {
        return class_item(name, cx);
    }
    match class_info(x, cx) {
        Some(info) if is_own(info) => own(info, cx),
        // the members are in sequence; only bases and members that are objects have headers
        Some(info) => Ok(Item::Members(object_of(info, &[], cx)?.members)),
        None => Err(Error::unsupported(format!("the file does not describe class {name}"))),
    }
}

fn class_info<'s>(x: &BranchElement, cx: &Context<'s>) -> Option<&'s Arc<ClassInfo>> {
    let name = bare(&x.class_name);
    let found = if x.class_version > 0 { cx.streamers.find(name, x.class_version) } else { None };
    found
        .filter(|c| x.checksum == 0 || c.checksum == x.checksum)
        .or_else(|| cx.streamers.find_checksum(name, x.checksum))
        .or(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        assert_eq!(title_dims("x[n][3][2]/F", 6).unwrap(), [3, 2]);
        assert_eq!(title_dims("x[n]", 1).unwrap(), Vec::<usize>::new());
        assert_eq!(title_dims("f[100]", 100).unwrap(), [100]);
        assert_eq!(title_dims("name", 7).unwrap(), [7]);
        assert!(title_dims(&"[1]".repeat(100_000), 1).is_err());
    }
}
