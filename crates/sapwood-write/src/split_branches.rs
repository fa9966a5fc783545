//! From the requested branches to those in the file: classes and collections are split into one branch for each member.

use crate::column::{C_STRING, member_facts, split_items};
use crate::column::{Column, Data, ElementFacts, Input, Inputs, Leaf, WHOLE, element_leaf, is_unsigned, leaf_class};
use crate::column_source::ColumnSource;
use crate::cpp::{Class, CppType};
use crate::schema::{BranchSpec, BranchType, check_spec, code};
use crate::serial::Form;
use sapwood_column::DType;
use sapwood_span::{Error, Result};
use std::collections::{HashMap, HashSet};

/// Determines the branches: each counter that was not requested itself comes just before its first user.
pub(crate) fn resolve(specs: &[BranchSpec]) -> Result<(Vec<Column>, Inputs)> {
    for spec in specs {
        check_spec(spec).map_err(|e| e.in_branch(&spec.name))?;
    }
    split_branches(specs)
}

/// The columns of all branches, and the inputs that fill them.
fn split_branches(specs: &[BranchSpec]) -> Result<(Vec<Column>, Inputs)> {
    let asked = specs.iter().map(|s| &*s.name).collect();
    let mut layout =
        Layout { asked, columns: Vec::new(), inputs: Vec::with_capacity(specs.len()), index: HashMap::new() };
    for spec in specs {
        layout.add(spec).map_err(|e| e.in_branch(&spec.name))?;
    }
    Ok((layout.columns, layout.inputs))
}

struct Layout<'a> {
    /// The names of all requested branches.
    asked: HashSet<&'a str>,
    columns: Vec<Column>,
    inputs: Inputs,
    /// Inputs by name.
    index: HashMap<String, usize>,
}

/// The parent and name of a member's branch.
struct MemberBranch<'a> {
    spec: &'a BranchSpec,
    parent: usize,
    /// Prefix of the members' names.
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
                ColumnSource::Numbers { column, dtype: *dtype, n: 1, regular: false }
            }
            BranchType::Fixed(dtype, n) => {
                let extents = if spec.extents.is_empty() { std::slice::from_ref(n) } else { &spec.extents };
                let dimensions: String = extents.iter().map(|e| format!("[{e}]")).collect();
                let column = self.numbers(spec, *dtype, *n, format!("{name}{dimensions}"), None);
                ColumnSource::Numbers { column, dtype: *dtype, n: *n, regular: true }
            }
            BranchType::Jagged { dtype, counter } => {
                let counter = counter.clone().unwrap_or_else(|| format!("n{name}"));
                let input = self.counter(&counter)?;
                let counting = self.inputs.get(input).map(|i| i.feed.column());
                let column = self.numbers(spec, *dtype, 1, format!("{name}[{counter}]"), counting);
                ColumnSource::Jagged { column, dtype: *dtype, counter: input }
            }
            BranchType::Object(ty) => self.object(spec, ty),
            BranchType::CString => self.c_string(spec),
        };
        self.input(name, feed, false)
    }

    fn input(&mut self, name: &str, feed: ColumnSource, automatic: bool) -> Result<()> {
        if self.index.insert(name.to_owned(), self.inputs.len()).is_some() {
            return Err(Error::invalid(format!("two branches have the name {name}"))
                .with_remedy("use a different name for each branch and each counter"));
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

    /// A branch of C strings: their bytes are stored like those of a `std::string` with its own branch.
    fn c_string(&mut self, spec: &BranchSpec) -> ColumnSource {
        let column = self.numbers(spec, DType::I8, 1, spec.name.clone(), None);
        if let Some(column) = self.columns.get_mut(column) {
            column.data = Data::Offsets;
            if spec.title.is_none() {
                column.title = format!("{}/C", spec.name);
            }
            if let Some(leaf) = &mut column.leaf {
                leaf.class = C_STRING;
            }
        }
        ColumnSource::Object { column, ty: CppType::Text, form: Form::Whole, member_wise: false }
    }

    /// The input that counts, created here if missing.
    fn counter(&mut self, counter: &str) -> Result<usize> {
        if let Some(&i) = self.index.get(counter) {
            let counts = |f: &ColumnSource| {
                matches!(f, ColumnSource::Numbers { n: 1, regular: false, dtype: DType::I32 | DType::U32, .. })
            };
            let column = self.inputs.get(i).filter(|input| counts(&input.feed)).map(|input| input.feed.column());
            let Some(leaf) = column.and_then(|c| self.columns.get_mut(c)?.leaf.as_mut()) else {
                return Err(Error::invalid(format!("branch {counter} cannot count: an entry is not one int32"))
                    .with_remedy("make it a scalar int32 or uint32, or omit it: it is then written automatically"));
            };
            (leaf.range, leaf.counts) = (true, true);
            return Ok(i);
        }
        if self.asked.contains(counter) {
            return Err(Error::invalid(format!("its counter {counter} comes after it"))
                .with_remedy(format!("put {counter} first, or omit it: it is then written automatically")));
        }
        let spec = BranchSpec::scalar(counter, DType::I32);
        let column = self.numbers(&spec, DType::I32, 1, counter.to_owned(), None);
        if let Some(leaf) = self.columns.get_mut(column).and_then(|c| c.leaf.as_mut()) {
            (leaf.range, leaf.counts) = (true, true);
        }
        self.input(counter, ColumnSource::Numbers { column, dtype: DType::I32, n: 1, regular: false }, true)?;
        Ok(self.inputs.len() - 1)
    }

    /// A branch of a C++ object, with sub-branches where it is split.
    fn object(&mut self, spec: &BranchSpec, ty: &CppType) -> ColumnSource {
        if let Some(class) = split_items(i32::from(spec.split_level), ty) {
            let facts = ElementFacts {
                class: ty.name(),
                clones: class.name.clone(),
                checksum: ty.checksum(),
                version: ty.version(),
                kind: 4,
                of_class: true,
                ..WHOLE
            };
            let (level, map) = (i32::from(spec.split_level), matches!(ty, CppType::Map(..)));
            return self.collection(spec, &class, facts, None, &spec.name, level, map);
        }
        let split = matches!(ty, CppType::Class(_)) && spec.split_level > 0;
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
        let level = if matches!(ty, CppType::Text) { 0 } else { i32::from(spec.split_level) };
        let data = if split { Data::None } else { Data::Offsets };
        let title = spec.title.clone().unwrap_or_else(|| spec.name.clone());
        let column = self.element_branch(spec, (&spec.name, title), Some(leaf), facts, None, data, level);
        let CppType::Class(class) = ty else {
            return ColumnSource::Object { column, ty: ty.clone(), form: Form::Whole, member_wise: spec.member_wise };
        };
        if !split {
            return ColumnSource::Object { column, ty: ty.clone(), form: Form::Whole, member_wise: spec.member_wise };
        }
        // a dot at the end of the branch's name becomes a prefix of its members' names
        let prefix = if spec.name.ends_with('.') { spec.name.clone() } else { String::new() };
        self.class(spec, class, column, &prefix, level - 1)
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

    /// The members of a class, each in a separate branch.
    fn class(&mut self, spec: &BranchSpec, class: &Class, parent: usize, prefix: &str, level: i32) -> ColumnSource {
        let members = class.members.iter().enumerate().map(|(id, (name, ty))| {
            let branch = MemberBranch { spec, parent, prefix: prefix.to_owned(), class, id, level };
            (name.clone(), self.member(&branch, name, ty))
        });
        let members = members.collect();
        ColumnSource::Class { column: parent, members }
    }

    fn member(&mut self, at: &MemberBranch<'_>, name: &str, ty: &CppType) -> ColumnSource {
        let full = format!("{}{name}", at.prefix);
        let facts = member_facts(at.class, at.id, ty, 0);
        let (id, code) = (facts.id, facts.streamer_type);
        match ty {
            CppType::Class(class) if at.level > 0 => {
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
                ColumnSource::Numbers { column, dtype: *dtype, n: 1, regular: false }
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
                    // ROOT stores offsets for these and for the counts of collections; no reader needs them
                    Data::Fixed((n * dtype.size()) as u32),
                    at.level,
                );
                ColumnSource::Numbers { column, dtype: *dtype, n: *n, regular: true }
            }
            _ => {
                if let Some(class) = split_items(at.level, ty) {
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
                ColumnSource::Object { column, ty: ty.clone(), form: Form::Member, member_wise: at.spec.member_wise }
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
    ) -> ColumnSource {
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
                CppType::Number(dtype) => ColumnSource::Numbers { column: at, dtype: *dtype, n: 1, regular: false },
                CppType::Array(dtype, n) => ColumnSource::Numbers { column: at, dtype: *dtype, n: *n, regular: true },
                _ => ColumnSource::Object { column: at, ty: ty.clone(), form: Form::Items, member_wise: false },
            };
            members.push((member.clone(), feed));
        }
        ColumnSource::Collection { column, members, map }
    }
}
