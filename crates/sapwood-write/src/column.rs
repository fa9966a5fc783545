//! Branches as they lie in the file, and which of them each column that is given feeds.

use crate::cpp::{Class, CppType};
use crate::feed::{Feed, Form};
use crate::schema::{BranchSpec, BranchType, code};
use sapwood_codec::Compression;
use sapwood_column::DType;
use sapwood_span::{Error, Result};
use std::collections::{HashMap, HashSet};

/// What a branch's baskets hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// Nothing: its sub-branches have the values.
    None,
    /// Entries of so many bytes.
    Fixed(u32),
    /// Entries of any size, with a table of offsets.
    Offsets,
}

/// A branch as it is laid out in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) leaf: Option<Leaf>,
    /// Of a `TBranchElement`.
    pub(crate) element: Option<ElementFacts>,
    /// The branch above.
    pub(crate) parent: Option<usize>,
    pub(crate) data: Data,
    pub(crate) split_level: i32,
    pub(crate) compression: Option<Compression>,
    pub(crate) basket_bytes: Option<u32>,
}

impl Column {
    /// Whether its values count those of others.
    pub(crate) fn counts(&self) -> bool {
        self.leaf.as_ref().is_some_and(|l| l.counts)
    }
}

/// A branch's leaf.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) class: &'static str,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) len: usize,
    pub(crate) len_type: usize,
    pub(crate) unsigned: bool,
    /// Whether it says that it counts (`fIsRange`).
    pub(crate) range: bool,
    /// Whether it counts, said or not.
    pub(crate) counts: bool,
    /// The branch whose leaf counts this one.
    pub(crate) count: Option<usize>,
    /// Number and type code of a class's member.
    pub(crate) element: Option<(i32, i32)>,
}

/// What a `TBranchElement` knows of its class.
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
    /// Whether reading it goes through the description of a class.
    pub(crate) of_class: bool,
}

/// A column that is given by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) feed: Feed,
    /// Whether the writer fills it itself where it is not given.
    pub(crate) automatic: bool,
}

/// All columns that are given.
pub(crate) type Inputs = Vec<Input>;

/// Lays out all branches.
pub(crate) fn lay_out(specs: &[BranchSpec]) -> Result<(Vec<Column>, Inputs)> {
    let asked = specs.iter().map(|s| &*s.name).collect();
    let mut layout =
        Layout { asked, columns: Vec::new(), inputs: Vec::with_capacity(specs.len()), index: HashMap::new() };
    for spec in specs {
        layout.add(spec).map_err(|e| e.in_branch(&spec.name))?;
    }
    Ok((layout.columns, layout.inputs))
}

struct Layout<'a> {
    /// The names of all branches asked for.
    asked: HashSet<&'a str>,
    columns: Vec<Column>,
    inputs: Inputs,
    /// Inputs by name.
    index: HashMap<String, usize>,
}

/// Where a member's branch is hung, and what it is called.
struct Place<'a> {
    spec: &'a BranchSpec,
    parent: usize,
    /// In front of the members' names.
    prefix: String,
    class: &'a Class,
    id: usize,
    level: i32,
}

impl Layout<'_> {
    fn add(&mut self, spec: &BranchSpec) -> Result<()> {
        let name = &spec.name;
        let feed = match &spec.ty {
            BranchType::Scalar(dtype) => {
                let column = self.numbers(spec, *dtype, 1, name.clone(), None);
                Feed::Numbers { column, dtype: *dtype, n: 1, regular: false }
            }
            BranchType::Fixed(dtype, n) => {
                let extents = if spec.extents.is_empty() { std::slice::from_ref(n) } else { &spec.extents };
                let dimensions: String = extents.iter().map(|e| format!("[{e}]")).collect();
                let column = self.numbers(spec, *dtype, *n, format!("{name}{dimensions}"), None);
                Feed::Numbers { column, dtype: *dtype, n: *n, regular: true }
            }
            BranchType::Jagged { dtype, counter } => {
                let counter = counter.clone().unwrap_or_else(|| format!("n{name}"));
                let input = self.counter(&counter)?;
                let counting = self.inputs.get(input).map(|i| i.feed.column());
                let column = self.numbers(spec, *dtype, 1, format!("{name}[{counter}]"), counting);
                Feed::Jagged { column, dtype: *dtype, counter: input }
            }
            BranchType::Object(ty) => self.object(spec, ty),
        };
        self.input(name, feed, false)
    }

    fn input(&mut self, name: &str, feed: Feed, automatic: bool) -> Result<()> {
        if self.index.insert(name.to_owned(), self.inputs.len()).is_some() {
            return Err(Error::invalid(format!("there are two branches called {name}"))
                .with_remedy("give each branch, and each counter, its own name"));
        }
        self.inputs.push(Input { name: name.to_owned(), feed, automatic });
        Ok(())
    }

    fn push(&mut self, column: Column) -> usize {
        self.columns.push(column);
        self.columns.len() - 1
    }

    /// A branch of numbers in one leaf.
    fn numbers(
        &mut self,
        spec: &BranchSpec,
        dtype: DType,
        n: usize,
        leaf_title: String,
        count: Option<usize>,
    ) -> usize {
        let title = spec.title.clone().unwrap_or_else(|| format!("{leaf_title}/{}", code(dtype)));
        let leaf = Leaf {
            class: leaf_class(dtype),
            name: spec.name.clone(),
            title: leaf_title,
            len: n,
            len_type: dtype.size(),
            unsigned: is_unsigned(dtype),
            range: false,
            counts: false,
            count,
            element: None,
        };
        self.push(Column {
            name: spec.name.clone(),
            title,
            leaf: Some(leaf),
            element: None,
            parent: None,
            data: if count.is_some() { Data::Offsets } else { Data::Fixed((n * dtype.size()) as u32) },
            split_level: 0,
            compression: spec.compression,
            basket_bytes: spec.basket_bytes,
        })
    }

    /// The input that counts, made here unless it is there.
    fn counter(&mut self, counter: &str) -> Result<usize> {
        if let Some(&i) = self.index.get(counter) {
            let counts =
                |f: &Feed| matches!(f, Feed::Numbers { n: 1, regular: false, dtype: DType::I32 | DType::U32, .. });
            let column = self.inputs.get(i).filter(|input| counts(&input.feed)).map(|input| input.feed.column());
            let Some(leaf) = column.and_then(|c| self.columns.get_mut(c)?.leaf.as_mut()) else {
                return Err(Error::invalid(format!("branch {counter} cannot count: an entry is not one int32"))
                    .with_remedy("make it a scalar int32 or uint32, or leave it out to have it written"));
            };
            (leaf.range, leaf.counts) = (true, true);
            return Ok(i);
        }
        if self.asked.contains(counter) {
            return Err(Error::invalid(format!("its counter {counter} comes after it"))
                .with_remedy(format!("name {counter} first, or leave it out to have it written")));
        }
        let spec = BranchSpec::scalar(counter, DType::I32);
        let column = self.numbers(&spec, DType::I32, 1, counter.to_owned(), None);
        if let Some(leaf) = self.columns.get_mut(column).and_then(|c| c.leaf.as_mut()) {
            (leaf.range, leaf.counts) = (true, true);
        }
        self.input(counter, Feed::Numbers { column, dtype: DType::I32, n: 1, regular: false }, true)?;
        Ok(self.inputs.len() - 1)
    }

    /// A branch of a C++ object, with sub-branches where it is split.
    fn object(&mut self, spec: &BranchSpec, ty: &CppType) -> Feed {
        if let Some(class) = split_items(spec, ty) {
            let facts = ElementFacts {
                class: ty.name(),
                clones: class.name.clone(),
                checksum: ty.checksum(),
                version: ty.version(),
                kind: 4,
                of_class: true,
                ..WHOLE
            };
            return self.collection(spec, &class, facts, None, &spec.name, 99, matches!(ty, CppType::Map(..)));
        }
        let split = matches!(ty, CppType::Class(_)) && spec.split;
        let facts = ElementFacts {
            class: ty.name(),
            checksum: ty.checksum(),
            version: ty.version(),
            id: if split { -2 } else { -1 },
            kind: if matches!(ty, CppType::Text) { -1 } else { 0 },
            of_class: ty.is_described(),
            ..WHOLE
        };
        let leaf = element_leaf(&spec.name, &spec.name, ty, facts.id, -1);
        let level = if matches!(ty, CppType::Text) || !spec.split { 0 } else { 99 };
        let data = if split { Data::None } else { Data::Offsets };
        let title = spec.title.clone().unwrap_or_else(|| spec.name.clone());
        let column = self.element_branch(spec, (&spec.name, title), Some(leaf), facts, None, data, level);
        let CppType::Class(class) = ty else {
            return Feed::Object { column, ty: ty.clone(), form: Form::Whole, member_wise: spec.member_wise };
        };
        if !split {
            return Feed::Object { column, ty: ty.clone(), form: Form::Whole, member_wise: spec.member_wise };
        }
        // a dot at the end of the branch's name is put in front of its members' names
        let prefix = if spec.name.ends_with('.') { spec.name.clone() } else { String::new() };
        self.class(spec, class, column, &prefix, 98)
    }

    #[allow(clippy::too_many_arguments)] // what a branch is, one word each
    fn element_branch(
        &mut self,
        spec: &BranchSpec,
        (name, title): (&str, String),
        leaf: Option<Leaf>,
        facts: ElementFacts,
        parent: Option<usize>,
        data: Data,
        split_level: i32,
    ) -> usize {
        self.push(Column {
            name: name.to_owned(),
            title,
            leaf,
            element: Some(facts),
            parent,
            data,
            split_level,
            compression: spec.compression,
            basket_bytes: spec.basket_bytes,
        })
    }

    /// The members of a class, each in a branch of its own.
    fn class(&mut self, spec: &BranchSpec, class: &Class, parent: usize, prefix: &str, level: i32) -> Feed {
        let members = class.members.iter().enumerate().map(|(id, (name, ty))| {
            let place = Place { spec, parent, prefix: prefix.to_owned(), class, id, level };
            (name.clone(), self.member(&place, name, ty))
        });
        let members = members.collect();
        Feed::Class { column: parent, members }
    }

    fn member(&mut self, at: &Place<'_>, name: &str, ty: &CppType) -> Feed {
        let full = format!("{}{name}", at.prefix);
        let facts = member_facts(at.class, at.id, ty, 0);
        let (id, code) = (facts.id, facts.streamer_type);
        match ty {
            CppType::Class(class) => {
                let facts = ElementFacts { kind: 2, ..facts };
                let column = self.element_branch(
                    at.spec,
                    (&full, full.clone()),
                    None,
                    facts,
                    Some(at.parent),
                    Data::None,
                    at.level,
                );
                self.class(at.spec, class, column, &format!("{full}."), at.level - 1)
            }
            CppType::Number(dtype) => {
                let leaf = element_leaf(&full, &full, ty, id, code);
                let data = Data::Fixed(dtype.size() as u32);
                let column = self.element_branch(
                    at.spec,
                    (&full, full.clone()),
                    Some(leaf),
                    facts,
                    Some(at.parent),
                    data,
                    at.level,
                );
                Feed::Numbers { column, dtype: *dtype, n: 1, regular: false }
            }
            CppType::Array(dtype, n) => {
                let named = format!("{full}[{n}]");
                let leaf = element_leaf(&full, &named, ty, id, code);
                let column = self.element_branch(
                    at.spec,
                    (&named, named.clone()),
                    Some(leaf),
                    facts,
                    Some(at.parent),
                    // ROOT keeps offsets for these and for the counts of collections; no reader needs them
                    Data::Fixed((n * dtype.size()) as u32),
                    at.level,
                );
                Feed::Numbers { column, dtype: *dtype, n: *n, regular: true }
            }
            _ => {
                if let Some(class) = split_items(at.spec, ty) {
                    let facts = ElementFacts { kind: 4, clones: class.name.clone(), ..facts };
                    let map = matches!(ty, CppType::Map(..));
                    return self.collection(at.spec, &class, facts, Some(at.parent), &full, at.level, map);
                }
                let leaf = element_leaf(&full, &full, ty, id, code);
                let column = self.element_branch(
                    at.spec,
                    (&full, full.clone()),
                    Some(leaf),
                    facts,
                    Some(at.parent),
                    Data::Offsets,
                    0,
                );
                Feed::Object { column, ty: ty.clone(), form: Form::Member, member_wise: at.spec.member_wise }
            }
        }
    }

    /// A collection's branch, which counts, and below it one for each member of its items.
    #[allow(clippy::too_many_arguments)] // what a branch is, one word each
    fn collection(
        &mut self,
        spec: &BranchSpec,
        class: &Class,
        facts: ElementFacts,
        parent: Option<usize>,
        name: &str,
        level: i32,
        map: bool,
    ) -> Feed {
        let counter = format!("{name}_");
        let leaf = Leaf {
            class: "TLeafElement",
            name: counter.clone(),
            title: counter.clone(),
            len: 1,
            len_type: 0,
            unsigned: false,
            range: parent.is_some(),
            counts: true,
            count: None,
            element: Some((facts.id, facts.streamer_type)),
        };
        let column =
            self.element_branch(spec, (name, counter.clone()), Some(leaf), facts, parent, Data::Fixed(4), level);
        let mut members = Vec::with_capacity(class.members.len());
        for (id, (member, ty)) in class.members.iter().enumerate() {
            let full = format!("{}.{member}", name.trim_end_matches('.'));
            let branch = match ty {
                CppType::Array(_, n) => format!("{full}[{n}]"),
                _ => full.clone(),
            };
            let title = format!("{member}[{counter}]");
            let facts = member_facts(class, id, ty, 41);
            let mut leaf = element_leaf(&full, &title, ty, facts.id, facts.streamer_type);
            leaf.count = Some(column);
            let at = self.element_branch(spec, (&branch, title), Some(leaf), facts, Some(column), Data::Offsets, 0);
            let feed = match ty {
                CppType::Number(dtype) => Feed::Numbers { column: at, dtype: *dtype, n: 1, regular: false },
                CppType::Array(dtype, n) => Feed::Numbers { column: at, dtype: *dtype, n: *n, regular: true },
                _ => Feed::Object { column: at, ty: ty.clone(), form: Form::Items, member_wise: false },
            };
            members.push((member.clone(), feed));
        }
        Feed::Collection { column, members, map }
    }
}

const WHOLE: ElementFacts = ElementFacts {
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

fn member_facts(class: &Class, id: usize, ty: &CppType, kind: i32) -> ElementFacts {
    ElementFacts {
        class: class.name.clone(),
        parent: class.name.clone(),
        checksum: class.checksum(),
        id: id as i32,
        kind,
        streamer_type: ty.code(),
        of_class: ty.is_described(),
        ..WHOLE
    }
}

/// The class of a collection's items, where their members can have branches of their own: numbers, strings and
/// collections of those. Items that hold objects are kept together.
fn split_items(spec: &BranchSpec, ty: &CppType) -> Option<Class> {
    let class = match ty {
        CppType::Vector(item) => match &**item {
            CppType::Class(class) => (**class).clone(),
            _ => return None,
        },
        CppType::Map(key, value) => CppType::pair(key, value),
        _ => return None,
    };
    (spec.split && class.members.iter().all(|(_, m)| !m.has_class())).then_some(class)
}

fn element_leaf(name: &str, title: &str, ty: &CppType, id: i32, code: i32) -> Leaf {
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

const fn is_unsigned(dtype: DType) -> bool {
    matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64)
}

/// The class of leaf that holds a type.
const fn leaf_class(dtype: DType) -> &'static str {
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
