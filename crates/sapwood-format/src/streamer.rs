//! The class descriptions inside a file: the meaning of an object's bytes.

use crate::cursor::Cursor;
use crate::object::{Pointed, read_base_object, read_object_array_head, read_pointer};
use sapwood_span::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Type codes of streamer elements (ROOT's `TVirtualStreamerInfo::EReadWrite`).
#[allow(missing_docs)]
pub mod code {
    pub const BASE: i32 = 0;
    pub const CHAR: i32 = 1;
    pub const SHORT: i32 = 2;
    pub const INT: i32 = 3;
    pub const LONG: i32 = 4;
    pub const FLOAT: i32 = 5;
    pub const COUNTER: i32 = 6;
    pub const CHAR_STAR: i32 = 7;
    pub const DOUBLE: i32 = 8;
    pub const DOUBLE32: i32 = 9;
    pub const LEGACY_CHAR: i32 = 10;
    pub const UCHAR: i32 = 11;
    pub const USHORT: i32 = 12;
    pub const UINT: i32 = 13;
    pub const ULONG: i32 = 14;
    pub const BITS: i32 = 15;
    pub const LONG64: i32 = 16;
    pub const ULONG64: i32 = 17;
    pub const BOOL: i32 = 18;
    pub const FLOAT16: i32 = 19;
    /// Added to a number's code: a fixed array of it.
    pub const OFFSET_L: i32 = 20;
    /// Added to a number's code: a pointer to a counted array of it.
    pub const OFFSET_P: i32 = 40;
    pub const OBJECT: i32 = 61;
    pub const ANY: i32 = 62;
    pub const OBJECT_P_NONNULL: i32 = 63;
    pub const OBJECT_P: i32 = 64;
    pub const TSTRING: i32 = 65;
    pub const TOBJECT: i32 = 66;
    pub const TNAMED: i32 = 67;
    pub const ANY_P_NONNULL: i32 = 68;
    pub const ANY_P: i32 = 69;
    pub const ANY_P_NO_VT: i32 = 70;
    pub const STL_P: i32 = 71;
    pub const STL: i32 = 300;
    pub const STL_STRING: i32 = 365;
    pub const STREAMER: i32 = 500;
    pub const STREAM_LOOP: i32 = 501;
    /// A fixed array of [`STREAM_LOOP`].
    pub const STREAM_LOOPS: i32 = STREAM_LOOP + OFFSET_L;
}

/// One member (or base class) of a class.
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// Member name; for a base, the class name.
    pub name: String,
    /// Comment of the member: it holds the ranges of packed numbers.
    pub title: String,
    /// The element's own class: `TStreamerBase`, `TStreamerBasicType`, …
    pub kind: String,
    /// Type code, see [`code`].
    pub code: i32,
    /// Bytes in memory.
    pub size: i32,
    /// Number of items in a fixed array, all dimensions together.
    pub array_len: i32,
    /// Extents of a fixed array, outermost first.
    pub dims: Vec<i32>,
    /// C++ type.
    pub type_name: String,
    /// Version of a base class.
    pub base_version: i32,
    /// The five extents as they are written: a base class has its checksum in the second.
    pub max_index: [i32; 5],
    /// Member that holds the length of a counted array.
    pub count_name: String,
    /// Class that has this member.
    pub count_class: String,
    /// Version of that class.
    pub count_version: i32,
    /// The kind of collection (ROOT's ESTLtype).
    pub stl: i32,
    /// Type code of a collection's items.
    pub content: i32,
}

/// A class in one version.
#[derive(Clone, Debug)]
pub struct ClassInfo {
    /// Class name.
    pub name: String,
    /// Class version.
    pub version: i32,
    /// Checksum of its members.
    pub checksum: u32,
    /// Bases and members, in the order they are written.
    pub elements: Vec<Element>,
}

/// The last version of ROOT that wrote the objects themselves for a counted array of pointers to them.
const LAST_WITHOUT_POINTERS: u32 = 51_508;

/// All class descriptions of a file.
#[derive(Clone, Debug, Default)]
pub struct Streamers {
    classes: Vec<Arc<ClassInfo>>,
    by_name: HashMap<String, Versions>,
    /// The classes that have a class as their base, each in the order of `classes`.
    by_base: HashMap<String, Vec<usize>>,
    rules: Vec<String>,
    root_version: u32,
}

/// The descriptions of one class. They are looked up for every object: so indexed by number, not searched.
#[derive(Clone, Debug, Default)]
struct Versions {
    all: Vec<usize>,
    latest: usize,
    by_version: HashMap<i32, usize>,
    by_checksum: HashMap<u32, usize>,
}

impl Streamers {
    /// Parses the decompressed streamer information record; `key_len` is the length of its label.
    pub fn parse(data: &[u8], key_len: usize) -> Result<Self> {
        let mut out = Self::default();
        out.add_list(&mut Cursor::new(data, key_len))?;
        Ok(out)
    }

    /// Adds the descriptions that an ntuple has of the classes of its streamed objects: a list as an object of its own.
    ///
    /// # Errors
    /// `Corrupt` for anything else.
    pub(crate) fn add_streamed_list(&mut self, data: &[u8]) -> Result<()> {
        let mut c = Cursor::new(data, 0);
        match read_pointer(&mut c)? {
            Pointed::Object { class, .. } if class == "TList" => self.add_list(&mut c),
            _ => Err(Error::corrupt("the class descriptions of the RNTuple are not a list")),
        }
    }

    fn add_list(&mut self, c: &mut Cursor<'_>) -> Result<()> {
        let v = c.version()?;
        read_base_object(c)?;
        c.string()?;
        let n = c.count(1)?;
        for _ in 0..n {
            match read_pointer(c)? {
                Pointed::Object { class, end: Some(end), .. } => {
                    if class == "TStreamerInfo" {
                        self.add(read_info(c)?);
                    } else if class == "TList" {
                        self.rules.extend(read_rules(c).unwrap_or_default());
                    }
                    c.seek(end)?;
                }
                Pointed::Object { class, .. } => {
                    return Err(Error::corrupt(format!("a {class} without length among the class descriptions")));
                }
                Pointed::Null | Pointed::Reference(_) => {}
            }
            let option = usize::from(c.u8()?);
            c.skip(option)?;
        }
        c.finish(&v)
    }

    /// The same, for a file written by this version of ROOT (63602: 6.36/02).
    pub fn of_root(self, version: u32) -> Self {
        Self { root_version: version, ..self }
    }

    /// The version of ROOT that wrote the file; 0 where it is not known.
    pub fn root_version(&self) -> u32 {
        self.root_version
    }

    /// Whether a class has a counted array of pointers to objects (`Track **tracks; //[n]`).
    pub fn have_counted_pointers(&self) -> bool {
        let mut elements = self.classes.iter().flat_map(|c| &c.elements);
        elements.any(|e| matches!(e.code, code::STREAM_LOOP | code::STREAM_LOOPS) && e.type_name.ends_with("**"))
    }

    /// Whether such arrays hold the objects themselves, as in files up to ROOT 5.15/08, and no pointers, which may lead
    /// to objects of derived classes. Only the version in the file's header distinguishes the two (ROOT's
    /// `TStreamerInfo::ReadBuffer`, `kStreamLoop`).
    pub fn counted_pointers_are_objects(&self) -> bool {
        (1..=LAST_WITHOUT_POINTERS).contains(&self.root_version)
    }

    /// Adds a class description.
    pub fn add(&mut self, info: ClassInfo) {
        let at = self.classes.len();
        let versions = self.by_name.entry(info.name.clone()).or_default();
        let newest =
            versions.all.is_empty() || self.classes.get(versions.latest).is_none_or(|c| c.version <= info.version);
        if newest {
            versions.latest = at;
        }
        versions.all.push(at);
        versions.by_version.entry(info.version).or_insert(at);
        versions.by_checksum.entry(info.checksum).or_insert(at);
        for base in info.elements.iter().filter(|e| e.code == code::BASE || e.kind == "TStreamerBase") {
            let derived = self.by_base.entry(base.name.clone()).or_default();
            if derived.last() != Some(&at) {
                derived.push(at);
            }
        }
        self.classes.push(Arc::new(info));
    }

    /// The file's own description of a class in this version.
    pub(crate) fn own(&self, class: &str, version: i32) -> Option<&Arc<ClassInfo>> {
        self.described(class, |v| v.by_version.get(&version).copied())
    }

    /// The file's own description with this checksum.
    pub(crate) fn own_checksum(&self, class: &str, checksum: u32) -> Option<&Arc<ClassInfo>> {
        self.described(class, |v| v.by_checksum.get(&checksum).copied())
    }

    fn described(&self, class: &str, which: impl Fn(&Versions) -> Option<usize>) -> Option<&Arc<ClassInfo>> {
        self.by_name.get(class).and_then(which).and_then(|i| self.classes.get(i))
    }

    /// The newest description of a class.
    pub fn latest(&self, class: &str) -> Option<&Arc<ClassInfo>> {
        self.described(class, |v| Some(v.latest))
    }

    /// The classes that derive from a class in their newest version, directly or not, in the file's order; each is
    /// visited once, however often others name it as their base. `wanted` selects the classes to return; the search
    /// ends when there are more than `most` of these.
    pub fn derived(&self, class: &str, most: usize, wanted: impl Fn(&str) -> bool) -> Vec<&Arc<ClassInfo>> {
        let mut met: HashSet<usize> = HashSet::new();
        let mut found: Vec<usize> = Vec::new();
        let mut open = vec![class];
        while let Some(base) = open.pop() {
            for &i in self.by_base.get(base).into_iter().flatten() {
                let Some(derived) =
                    self.classes.get(i).filter(|c| self.latest(&c.name).is_some_and(|l| Arc::ptr_eq(l, c)))
                else {
                    continue;
                };
                if !met.insert(i) {
                    continue;
                }
                open.push(&derived.name);
                if derived.name != class && wanted(&derived.name) {
                    found.push(self.by_name.get(&derived.name).and_then(|v| v.all.first().copied()).unwrap_or(i));
                }
            }
            if found.len() > most {
                break;
            }
        }
        found.sort_unstable();
        found.iter().filter_map(|&i| self.classes.get(i)).collect()
    }

    /// All versions of a class.
    pub fn versions(&self, class: &str) -> impl Iterator<Item = &Arc<ClassInfo>> {
        self.by_name.get(class).into_iter().flat_map(|v| &v.all).map(|&i| &self.classes[i])
    }

    /// Rules for reading old data: text for the C++ interpreter, kept for writing the file again.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// All classes.
    pub fn classes(&self) -> &[Arc<ClassInfo>] {
        &self.classes
    }
}

fn read_info(c: &mut Cursor) -> Result<ClassInfo> {
    let v = c.version()?;
    let (name, _) = read_named(c)?;
    let checksum = c.u32()?;
    let version = c.i32()?;
    let mut elements = Vec::new();
    if let Pointed::Object { end: Some(end), .. } = read_pointer(c)? {
        let n = read_object_array_head(c)?;
        for _ in 0..n {
            if let Pointed::Object { class, end: Some(end), .. } = read_pointer(c)? {
                elements.push(read_element(c, class)?);
                c.seek(end)?;
            }
        }
        c.seek(end)?;
    }
    c.finish(&v)?;
    Ok(ClassInfo { name, version, checksum, elements })
}

/// The rules for reading old data, a TList of TObjStrings.
fn read_rules(c: &mut Cursor) -> Result<Vec<String>> {
    c.version()?;
    read_base_object(c)?;
    c.string()?;
    let n = c.count(1)?;
    let mut rules = Vec::new();
    for _ in 0..n {
        if let Pointed::Object { class, end: Some(end), .. } = read_pointer(c)? {
            if class == "TObjString" {
                c.version()?;
                read_base_object(c)?;
                rules.push(c.string()?);
            }
            c.seek(end)?;
        }
        let option = usize::from(c.u8()?);
        c.skip(option)?;
    }
    Ok(rules)
}

/// Reads a TNamed: name and title.
pub(crate) fn read_named(c: &mut Cursor) -> Result<(String, String)> {
    let v = c.version()?;
    read_base_object(c)?;
    let name = c.string()?;
    let title = c.string()?;
    c.finish(&v)?;
    Ok((name, title))
}

fn read_element(c: &mut Cursor, kind: String) -> Result<Element> {
    // TStreamerSTLstring nests a TStreamerSTL, all others nest TStreamerElement directly
    let outer = c.version()?;
    let inner_stl = if kind == "TStreamerSTLstring" { Some(c.version()?) } else { None };
    let v = c.version()?;
    let (name, title) = read_named(c)?;
    let mut e = Element { name, title, kind, code: c.i32()?, size: c.i32()?, ..Element::default() };
    e.array_len = c.i32()?;
    let dims = c.i32()?;
    let stored = if v.number == 1 { c.count(4)?.min(64) } else { 5 };
    let extents = (0..stored).map(|_| c.i32()).collect::<Result<Vec<_>>>()?;
    for (place, n) in e.max_index.iter_mut().zip(&extents) {
        *place = *n;
    }
    e.dims = extents.into_iter().take(usize::try_from(dims).unwrap_or(0)).collect();
    e.type_name = c.string()?;
    c.finish(&v)?;
    match e.kind.as_str() {
        "TStreamerBase" if outer.number >= 2 => e.base_version = c.i32()?,
        "TStreamerBasicPointer" | "TStreamerLoop" => {
            e.count_version = c.i32()?;
            e.count_name = c.string()?;
            e.count_class = c.string()?;
        }
        "TStreamerSTL" | "TStreamerSTLstring" => {
            e.stl = c.i32()?;
            e.content = c.i32()?;
        }
        _ => {}
    }
    read_codes(&mut e);
    if let Some(v) = inner_stl {
        c.finish(&v)?;
    }
    c.finish(&outer)?;
    Ok(e)
}

/// Type codes as intended, not as written.
pub(crate) fn read_codes(e: &mut Element) {
    // collections are written with the code of "has its own streamer", for readers older than ROOT 3
    match e.kind.as_str() {
        "TStreamerSTL" => e.code = code::STL,
        "TStreamerSTLstring" => e.code = code::STL_STRING,
        _ => {}
    }
    // files of ROOT 2 wrote bool with the code of an unsigned char
    if e.code == code::UCHAR && matches!(e.type_name.as_str(), "Bool_t" | "bool") {
        e.code = code::BOOL;
    }
}
