//! Turns class descriptions into items.

pub(crate) mod builtin_classes;
pub(crate) mod collection;
pub(crate) mod graph;

use crate::cpp_names::{bare, is_class, is_collection, plain, pointee};
use crate::item::{column_named, columns_of};
use crate::{DType, Item, Object, OtherVersion, PackedFloat, Skip};
use sapwood_format::streamer::{ClassInfo, Element, Streamers, code};
use sapwood_span::{Error, Result};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use collection::headed;
use graph::Tables;

/// Members of one branch, including those of nested classes, and their classes in each version: classes that contain
/// each other several times would grow without bound.
const MOST_MEMBERS: usize = 40_000;

/// Classes that a pointer may lead to, at most: with more, its declaration says next to nothing.
const MOST_CLASSES: usize = 24;

/// The context for building the layouts of one branch.
pub(crate) struct Context<'s> {
    pub streamers: &'s Streamers,
    members: Cell<usize>,
    /// The same including the layouts that were tried before for the branch, and the limit of that number.
    all: Rc<Cell<usize>>,
    most: usize,
    /// Classes that are being built: one that appears again contains itself.
    open: RefCell<Vec<String>>,
    /// Whether a pointer to any object is being built: within it, lists of any objects are not.
    any: Cell<bool>,
    /// The tables for pointers, when they become links.
    pub tables: Option<Tables>,
    /// Whether a class was left out because its depth is unknown: objects of it may still occur.
    pub deep: Cell<bool>,
    /// Class names by their spelling without blanks, built when first needed.
    spellings: RefCell<Option<HashMap<String, String>>>,
}

impl<'s> Context<'s> {
    pub(crate) fn new(streamers: &'s Streamers, most: usize) -> Self {
        Self {
            streamers,
            members: Cell::new(0),
            all: Rc::default(),
            most,
            open: RefCell::default(),
            any: Cell::new(false),
            tables: None,
            deep: Cell::new(false),
            spellings: RefCell::default(),
        }
    }

    /// The same for a layout in which pointers are links into tables.
    pub(crate) fn with_tables(&self) -> Self {
        Self { tables: Some(Tables::default()), all: self.all.clone(), ..Self::new(self.streamers, self.most) }
    }

    /// Counts a member, or a version of a class.
    fn count(&self) -> Result<()> {
        self.members.set(self.members.get() + 1);
        self.all.set(self.all.get() + 1);
        if self.members.get() > MOST_MEMBERS {
            return Err(Error::unsupported("a class with an impossible number of members"));
        }
        if self.all.get() > self.most {
            return Err(Error::corrupt(
                "the tree's branches have far more members than its class descriptions justify",
            ));
        }
        Ok(())
    }

    /// How many members were counted.
    pub(crate) fn counted(&self) -> usize {
        self.all.get()
    }

    /// The error for an endless type.
    fn endless(&self, what: String) -> Error {
        self.deep.set(true);
        Error::unsupported(what)
    }

    /// All versions of a class, the newest first.
    pub(crate) fn versions(&self, name: &str) -> Vec<&'s Arc<ClassInfo>> {
        let name = bare(name);
        let mut found: Vec<_> = self.streamers.versions(name).collect();
        if found.is_empty() {
            let mut spellings = self.spellings.borrow_mut();
            let map = spellings.get_or_insert_with(|| {
                self.streamers.classes().iter().map(|c| (plain(&c.name), c.name.clone())).collect()
            });
            if let Some(other) = map.get(&plain(name)) {
                found = self.streamers.versions(other).collect();
            }
        }
        found.sort_by_key(|c| std::cmp::Reverse(c.version));
        found
    }
}

/// An object of a class: in the form of ROOT's own classes with custom streamers, or as the file describes it.
pub(crate) fn class_item(name: &str, cx: &Context) -> Result<Item> {
    if let Some(item) = builtin_classes::item(bare(name), cx) {
        return item;
    }
    match cx.versions(name).split_first() {
        Some((newest, _)) if collection::is_own(newest) => collection::own(newest, cx),
        Some((newest, others)) => Ok(Item::Object(object_of(newest, others, cx)?)),
        None => match collection::relative(name, cx) {
            Some(item) => item,
            None => Err(Error::unsupported(format!("the file does not describe class {name}"))),
        },
    }
}

/// As [`class_item`], but a class that was never written may be undescribed.
pub(crate) fn class_or_absent(name: &str, cx: &Context) -> Result<Item> {
    if is_class(name) && builtin_classes::item(bare(name), cx).is_none() && cx.versions(name).is_empty() {
        return match collection::relative(name, cx) {
            Some(item) => item,
            None => Ok(Item::Absent(bare(name).to_owned())),
        };
    }
    class_item(name, cx)
}

/// A class in this version, with the other versions that objects may have.
pub(crate) fn object_of(info: &ClassInfo, others: &[&Arc<ClassInfo>], cx: &Context) -> Result<Object> {
    let mut object = object(info, cx)?;
    for other in others {
        // a version that cannot be read matters only if an object of it occurs
        if let Ok(o) = self::object(other, cx) {
            object.others.extend(as_other(&object.members, o));
        }
    }
    Ok(object)
}

/// The columns for the members of another version; none where a member has changed to something else.
fn as_other(members: &[(String, Item)], other: Object) -> Option<OtherVersion> {
    let columns = columns_of(members);
    let mut by_name = HashMap::new();
    for (i, (name, _)) in columns.iter().enumerate() {
        by_name.entry(name.as_str()).or_insert(i);
    }
    let mut places = Vec::new();
    for (name, t) in columns_of(&other.members) {
        let place = by_name.get(name.as_str()).copied();
        if let Some(p) = place
            && columns[p].1 != t
            && !(columns[p].1.is_number() && t.is_number())
        {
            return None;
        }
        places.push(place);
    }
    Some(OtherVersion { version: other.version, checksum: other.checksum, members: other.members, places })
}

fn object(info: &ClassInfo, cx: &Context) -> Result<Object> {
    if cx.open.borrow().contains(&info.name) {
        return Err(cx.endless(format!("class {} contains itself: its depth is not known", info.name)));
    }
    if cx.open.borrow().len() > crate::item::DEEPEST {
        return Err(Error::unsupported("classes are too deeply nested"));
    }
    cx.count()?;
    cx.open.borrow_mut().push(info.name.clone());
    let members = members(info, cx);
    cx.open.borrow_mut().pop();
    Ok(Object {
        class: info.name.clone(),
        version: info.version,
        checksum: info.checksum,
        members: members?,
        others: Vec::new(),
    })
}

fn members(info: &ClassInfo, cx: &Context) -> Result<Vec<(String, Item)>> {
    let mut members: Vec<(String, Item)> = Vec::new();
    for e in &info.elements {
        cx.count()?;
        let item = element_item(e, &members, cx)
            .map_err(|x| Error::new(x.kind(), format!("member {} of {}: {}", e.name, info.name, x.what())))?;
        members.push((e.name.clone(), item));
    }
    Ok(members)
}

pub(crate) fn number_item(k: i32, comment: &str) -> Option<Item> {
    Some(match k {
        code::CHAR | code::LEGACY_CHAR => Item::Number(DType::I8),
        code::UCHAR => Item::Number(DType::U8),
        code::BOOL => Item::Number(DType::Bool),
        code::SHORT => Item::Number(DType::I16),
        code::USHORT => Item::Number(DType::U16),
        code::INT => Item::Number(DType::I32),
        // a counting Int_t: never negative, and unsigned in uproot, whose types we use
        code::COUNTER => Item::Number(DType::U32),
        code::UINT => Item::Number(DType::U32),
        code::BITS => Item::Bits,
        code::LONG | code::LONG64 => Item::Number(DType::I64),
        code::ULONG | code::ULONG64 => Item::Number(DType::U64),
        code::FLOAT => Item::Number(DType::F32),
        code::DOUBLE => Item::Number(DType::F64),
        code::DOUBLE32 => Item::Packed(PackedFloat::from_comment(comment, false), DType::F64),
        code::FLOAT16 => Item::Packed(PackedFloat::from_comment(comment, true), DType::F32),
        _ => return None,
    })
}

/// An item within arrays of these extents, outermost first.
pub(crate) fn arrays(item: Item, dims: &[usize]) -> Item {
    dims.iter().rev().fold(item, |item, &n| Item::Fixed(n, Box::new(item)))
}

/// One member; `before` are the members before it, including its counter.
pub(crate) fn element_item(e: &Element, before: &[(String, Item)], cx: &Context) -> Result<Item> {
    let unsupported = |what: &str| Err(Error::unsupported(format!("{what} ({})", e.type_name)));
    let mut dims: Vec<usize> = e.dims.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect();
    if dims.is_empty() && e.array_len > 0 {
        // old files store the length of an array without its dimensions
        dims = vec![e.array_len as usize];
    }
    let counter = || column_named(before, &e.count_name).unwrap_or(usize::MAX);
    if e.code == code::BASE || e.kind == "TStreamerBase" {
        return base(e, cx);
    }
    if let Some(number) = number_item(e.code, &e.title) {
        // std::array and arrays of packed numbers are marked as arrays only by their length
        return Ok(arrays(number, &dims));
    }
    let fixed = e.code > code::OFFSET_L && e.code < code::OFFSET_P;
    if let (true, Some(number)) = (fixed, number_item(e.code - code::OFFSET_L, &e.title)) {
        return Ok(arrays(number, if dims.is_empty() { &[0] } else { &dims }));
    }
    let counted = e.code > code::OFFSET_P && e.code < 60;
    if let (true, Some(number)) = (counted, number_item(e.code - code::OFFSET_P, &e.title)) {
        return Ok(match dims.as_slice() {
            [] => Item::Counted(counter(), Box::new(number)),
            // one flag for all
            dims => Item::Flagged(Box::new(arrays(Item::Times(counter(), Box::new(number)), dims))),
        });
    }
    match e.code {
        code::STL_STRING => return Ok(Item::Headed(Box::new(arrays(Item::Text, &dims)))),
        // a pointer to a collection is written as the collection
        code::STL | code::STL_P => return headed(e.type_name.trim_end_matches('*'), &dims, e.content, cx),
        // std::string before it had its own type code
        code::STREAMER if bare(&e.type_name) == "string" => return Ok(Item::Headed(Box::new(Item::Text))),
        code::STREAM_LOOP | code::STREAM_LOOPS => return looped(e, counter(), &dims, cx),
        _ => {}
    }
    let array = (code::OBJECT..=code::STL_P).contains(&(e.code - code::OFFSET_L));
    let item = match if array { e.code - code::OFFSET_L } else { e.code } {
        code::CHAR_STAR => Item::LongText,
        code::TSTRING => Item::Text,
        code::TOBJECT => builtin_classes::tobject(),
        code::TNAMED => class_item("TNamed", cx)?,
        // std::array of collections: without a header each
        code::ANY if array && is_collection(&e.type_name) => collection::inside(&e.type_name, cx, 0)?,
        // ROOT 3 wrote arrays of pointers as arrays of objects
        code::OBJECT | code::ANY => class_item(e.type_name.trim_end_matches('*'), cx)?,
        // a pointer that is never null is written as the object
        code::OBJECT_P_NONNULL | code::ANY_P_NONNULL => class_item(e.type_name.trim_end_matches('*'), cx)?,
        code::OBJECT_P | code::ANY_P | code::ANY_P_NO_VT => match pointee(&e.type_name) {
            Some(class) => pointer(class, cx)?,
            None => return unsupported("pointers of this type"),
        },
        code::STL_P => return headed(e.type_name.trim_end_matches('*'), &dims, e.content, cx),
        other => return unsupported(&format!("members of type code {other}")),
    };
    // arrays of ROOT's own basic classes have one header
    if array && matches!(e.code - code::OFFSET_L, code::TSTRING | code::TOBJECT | code::TNAMED) {
        return Ok(Item::Headed(Box::new(arrays(item, &dims))));
    }
    Ok(arrays(item, &dims))
}

fn base(e: &Element, cx: &Context) -> Result<Item> {
    if e.name == "TObject" {
        return Ok(Item::Skip(Skip::TObject));
    }
    if is_collection(&e.name) {
        return headed(&e.name, &[], e.content, cx);
    }
    match builtin_classes::item(&e.name, cx) {
        Some(Ok(Item::Object(object))) => return Ok(Item::Base(object)),
        Some(item) => return item,
        None => {}
    }
    let all = cx.versions(&e.name);
    let Some(info) = all.iter().find(|c| c.version == e.base_version).or(all.first()) else {
        return Err(Error::unsupported(format!("base class {}, which the file does not describe", e.name)));
    };
    let others: Vec<_> = all.iter().filter(|c| !Arc::ptr_eq(c, info)).copied().collect();
    Ok(Item::Base(object_of(info, &others, cx)?))
}

/// Objects behind a pointer, with their number in another member: `Track *tracks; //[n]`, or an array of such pointers.
fn looped(e: &Element, counter: usize, dims: &[usize], cx: &Context) -> Result<Item> {
    let item = match (pointee(&e.type_name), e.type_name.strip_suffix("**")) {
        (Some(class), _) => class_item(class, cx)?,
        (None, Some(class)) if cx.streamers.counted_pointers_are_objects() => class_item(class, cx)?,
        (None, Some(class)) => pointer(class, cx)?,
        (None, None) => return Err(Error::unsupported(format!("a counted array of {}", e.type_name))),
    };
    Ok(Item::Headed(Box::new(arrays(Item::Times(counter, Box::new(item)), dims))))
}

/// A pointer to an object of this class or one derived from it.
pub(crate) fn pointer(class: &str, cx: &Context) -> Result<Item> {
    let class = bare(class);
    if crate::kernel::dtype_of(class).is_some() || class.is_empty() {
        return Err(Error::unsupported(format!("pointers to {class}")));
    }
    if let Some(tables) = &cx.tables {
        return tables.links(class, cx);
    }
    if class == "TObject" && cx.any.replace(true) {
        return Err(cx.endless("objects of any class within objects of any class".to_owned()));
    }
    let item = pointer_to(class, cx);
    if class == "TObject" {
        cx.any.set(false);
    }
    item
}

fn pointer_to(class: &str, cx: &Context) -> Result<Item> {
    let mut classes = Vec::new();
    let own = class_or_absent(class, cx);
    let kept = |name: &str| !(class == "TObject" && builtin_classes::is_bookkeeping(name));
    let names: Vec<&str> =
        cx.streamers.derived(class, MOST_CLASSES, kept).into_iter().map(|c| c.name.as_str()).collect();
    if names.len() > MOST_CLASSES {
        return Err(cx.endless(format!("a pointer to any of more than {MOST_CLASSES} classes ({class}*)")));
    }
    for name in names {
        if let Ok(item) = class_item(name, cx) {
            classes.push((name.to_owned(), item));
        }
    }
    match own {
        Ok(item) => classes.insert(0, (class.to_owned(), item)),
        Err(e) if classes.is_empty() => {
            return Err(Error::new(e.kind(), format!("a pointer to {class}: {}", e.what())));
        }
        Err(_) => {}
    }
    Ok(Item::Pointer(classes))
}
