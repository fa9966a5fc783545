//! Names in expressions to branches of a tree and members of their records, as ROOT resolves them.
//!
//! A branch has a long name: those of the branches above it, its own, and the member's, with dots between them
//! (`event.fTracks.fPx`). An expression may leave parts of it out, and dots may be doubled, at either end, or arrows. In
//! order: a branch or a path of the tree; a branch and members of its records; the name of a leaf, the first in the order
//! of the tree; a long name with parts left out, first the one that needs the fewest (base classes are free), then the
//! first in the order of the tree. ROOT 6.40 does so (measured). A last part by itself has to be the only one of its name,
//! unless it is that of a leaf: what ROOT takes there depends on how the objects were split. Where ROOT refuses a name
//! that can mean one thing only, it is understood.

use crate::links::{class_of_step, is_links, is_table, linked_classes, linked_type, step_to};
use sapwood_column::{ColumnType, Form};
use sapwood_engine::Tree;
use sapwood_format::streamer::Streamers;
use sapwood_format::tree::Tree as Header;
use sapwood_span::{Error, Result};
use std::sync::OnceLock;

/// Long names of one tree, at most.
const MOST_NAMES: usize = 100_000;
/// Bases of bases, at most.
const MOST_BASES: usize = 20;

/// A name resolved: a branch, and the members inside its records.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnPath {
    pub branch: usize,
    pub fields: Vec<String>,
}

/// The names of a tree.
pub(crate) struct Names<'t> {
    tree: &'t Tree,
    long: OnceLock<Vec<LongName>>,
}

struct LongName {
    /// Each with whether it names a base class.
    parts: Vec<(String, bool)>,
    path: ColumnPath,
}

impl<'t> Names<'t> {
    pub(crate) fn new(tree: &'t Tree) -> Self {
        Self { tree, long: OnceLock::new() }
    }

    pub(crate) fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// What a name means, and of which type it is.
    pub(crate) fn resolve(&self, name: &str) -> Result<(ColumnPath, ColumnType)> {
        let missing = match self.exactly(name) {
            Ok(found) => return found,
            Err(missing) => missing,
        };
        for name in self.spellings(name) {
            if let Some(found) = self.plainly(&name) {
                return found;
            }
            if let Some(path) = self.shortened(&name)? {
                let column = self.column(&path)?;
                return Ok((path, column));
            }
        }
        Err(missing)
    }

    /// Whether a name means something without parts being left out: then it comes before an alias.
    pub(crate) fn is_plain(&self, name: &str) -> bool {
        self.exactly(name).is_ok() || self.spellings(name).iter().any(|name| self.plainly(name).is_some())
    }

    /// The ways in which a name is looked for.
    fn spellings(&self, name: &str) -> Vec<String> {
        let tidy = tidy(name);
        let inside = self.tree.header().name.as_str();
        let without_tree = tidy.strip_prefix(inside).and_then(|rest| rest.strip_prefix('.')).map(str::to_owned);
        std::iter::once(tidy).chain(without_tree).filter(|name| !name.is_empty()).collect()
    }

    /// A branch, a member of its records, or a leaf.
    fn plainly(&self, name: &str) -> Option<Result<(ColumnPath, ColumnType)>> {
        if let Ok(found) = self.exactly(name) {
            return Some(found);
        }
        let path = self
            .member(name)
            .or_else(|| self.leaf(name))
            .or_else(|| self.only_leaf(name))
            .or_else(|| self.titled(name))?;
        Some(self.column(&path).map(|column| (path, column)))
    }

    /// A branch by its name or path; the outer error says that there is none.
    fn exactly(&self, name: &str) -> std::result::Result<Result<(ColumnPath, ColumnType)>, Error> {
        let branch = self.tree.find(name)?;
        let mut path = ColumnPath { branch, fields: Vec::new() };
        // a branch of several leaves stands for the first of them
        let header = self.tree.header();
        if let Some(b) = header.branches.get(branch).filter(|b| b.class == "TBranch" && b.leaves.len() > 1) {
            path.fields.extend(b.leaves.first().and_then(|&l| header.leaves.get(l)).map(|l| l.name.clone()));
        }
        Ok(self.column(&path).map(|column| (path, column)))
    }

    /// Where the objects of a collection are counted: beside the tables of all objects, for one that is stored by links.
    pub(crate) fn counted(&self, path: ColumnPath, column: ColumnType) -> (ColumnPath, ColumnType) {
        let mut inner = &column;
        while let ColumnType::Regular { item, .. } | ColumnType::List { item } = inner {
            inner = item;
        }
        if let ColumnType::Record { fields } = inner
            && is_table(fields)
            && self.is_clones(&path)
            && let Some(links) = linked_type(&column, "")
        {
            let mut path = path;
            path.fields.push(step_to(""));
            return (path, links);
        }
        if let ColumnType::Record { fields } = &column
            && is_table(fields)
            && let Some((name, links @ ColumnType::List { .. })) = fields.first()
            && name == "object"
        {
            let mut path = path;
            path.fields.push(name.clone());
            return (path, links.clone());
        }
        (path, column)
    }

    /// Whether what is meant can be counted: neither a pointer nor the tables of objects behind one.
    pub(crate) fn is_countable(&self, path: &ColumnPath, column: &ColumnType) -> bool {
        let (mut inner, mut levels) = (column, 0);
        while let ColumnType::Regular { item, .. } | ColumnType::List { item } = inner {
            (inner, levels) = (item, levels + 1);
        }
        let links = path.fields.last().is_some_and(|f| is_links(f));
        let tables = matches!(inner, ColumnType::Record { fields } if is_table(fields));
        levels > 0 && (self.is_clones(path) || !tables && (links || !self.is_pointer(path)))
    }

    /// Whether a member is declared as a pointer in its class, or nothing is known of it.
    fn is_pointer(&self, path: &ColumnPath) -> bool {
        self.declared(path).is_none_or(|declared| declared.ends_with('*'))
    }

    /// Whether it is a pointer to one object, not to a collection.
    pub(crate) fn is_pointer_to_object(&self, path: &ColumnPath) -> bool {
        let (Ok(form), Ok(column)) = (self.tree.form(path.branch), self.tree.column_type(path.branch)) else {
            return false;
        };
        let Some(class) = class_of(form, column, &path.fields) else { return false };
        self.declared(path).is_some_and(|declared| declared.trim_end_matches(['*', ' ']) == class)
    }

    /// Whether it is a TClonesArray.
    pub(crate) fn is_clones(&self, path: &ColumnPath) -> bool {
        self.declared(path).is_some_and(|declared| declared.starts_with("TClonesArray"))
    }

    /// The C++ type of a branch or a member, as its class says.
    fn declared(&self, path: &ColumnPath) -> Option<String> {
        // the table of the objects in a collection that is stored by links
        let links = path.fields.last().is_some_and(|f| is_links(f));
        let fields = path.fields.get(..path.fields.len() - usize::from(links))?;
        let Some((last, above)) = fields.split_last() else {
            let branch = self.tree.header().branches.get(path.branch)?;
            if let Some(element) = branch.element.as_ref().filter(|_| branch.class == "TBranchObject") {
                return Some(element.class_name.clone());
            }
            return Some(self.tree.type_name(path.branch).trim_end().to_owned());
        };
        let (form, column) = (self.tree.form(path.branch).ok()?, self.tree.column_type(path.branch).ok()?);
        let class = class_of(form, column, above)?;
        declared(self.tree.streamers(), &class, last, 0).map(|declared| declared.trim_end().to_owned())
    }

    /// The class of the object or the objects of this name, then those of its bases.
    pub(crate) fn classes(&self, name: &str) -> Vec<String> {
        let found = std::iter::once(name.to_owned()).chain(self.spellings(name)).find_map(|name| self.class(&name));
        let mut classes: Vec<String> = found.into_iter().collect();
        let mut next = 0;
        while let Some(class) = classes.get(next).filter(|_| classes.len() < MOST_BASES).cloned() {
            next += 1;
            let Some(info) = self.tree.streamers().latest(&class) else { continue };
            let bases = info.elements.iter().filter(|e| e.kind == "TStreamerBase").map(|e| e.name.clone());
            let new: Vec<String> = bases.filter(|base| !classes.contains(base)).collect();
            classes.extend(new);
        }
        classes
    }

    fn class(&self, name: &str) -> Option<String> {
        let header = self.tree.header();
        let path = match self.tree.find(name) {
            Ok(branch) => ColumnPath { branch, fields: Vec::new() },
            Err(_) => match self.member(name).or_else(|| self.shortened(name).ok().flatten()) {
                Some(path) => path,
                None => return self.class_of_split_member(name),
            },
        };
        if let (Ok(form), Ok(column)) = (self.tree.form(path.branch), self.tree.column_type(path.branch))
            && let Some(class) = class_of(form, column, &path.fields)
        {
            return Some(class);
        }
        // a split object has no column of its own
        let branch = header.branches.get(path.branch).filter(|_| path.fields.is_empty())?;
        let element = branch.element.as_ref()?;
        if element.kind == 3 && !element.clones_name.is_empty() {
            return Some(element.clones_name.clone());
        }
        let mut class = self.tree.type_name(path.branch);
        class.truncate(class.trim_end_matches(['*', ' ']).len());
        let item =
            class.strip_prefix("std::").unwrap_or(&class).strip_prefix("vector<").and_then(|c| c.strip_suffix('>'));
        Some(item.map_or_else(|| class.clone(), |item| item.trim_end().to_owned()))
    }

    /// The class of a member whose own members have branches, while it has none.
    fn class_of_split_member(&self, name: &str) -> Option<String> {
        let members = |classes: &[String], member: &str| {
            classes.iter().find_map(|class| declared(self.tree.streamers(), class, member, 0)).map(str::to_owned)
        };
        let found = match name.rsplit_once('.') {
            Some((object, member)) => members(&self.classes(object), member)?,
            None => {
                // a member of any of the split objects, where they agree
                let header = self.tree.header();
                let split = header.branches.iter().enumerate().filter(|(_, b)| !b.children.is_empty());
                let mut types = split.filter_map(|(i, _)| members(&[self.tree.type_name(i)], name));
                let first = types.next()?;
                types.all(|other| other == first).then_some(first)?
            }
        };
        Some(found.trim_end_matches(['*', ' ']).to_owned())
    }

    pub(crate) fn column(&self, path: &ColumnPath) -> Result<ColumnType> {
        path.fields.iter().try_fold(self.tree.column_type(path.branch)?, |column, field| {
            let missing = || Error::not_found(format!("no member {field}")).in_branch(self.tree.name_of(path.branch));
            member_type(column, field).ok_or_else(missing)
        })
    }

    /// The optional values on the way to a column: for each the number of lists and arrays around it.
    pub(crate) fn options(&self, path: &ColumnPath) -> Vec<usize> {
        let mut found = Vec::new();
        // only ntuples have them, as lists
        let column = self.tree.column_type(path.branch).ok().filter(has_lists);
        if let Some((column, form)) = column.zip(self.tree.form(path.branch).ok()) {
            add_options(&form, &column, &path.fields, 0, &mut found);
        }
        found
    }

    /// `branch.member`: the longest part that is a branch, the rest members of its records.
    fn member(&self, name: &str) -> Option<ColumnPath> {
        name.rmatch_indices('.').find_map(|(dot, _)| {
            let branch = self.tree.find(name.get(..dot)?).ok()?;
            let fields = name.get(dot + 1..)?.split('.').map(str::to_owned).collect();
            let path = ColumnPath { branch, fields };
            self.column(&path).is_ok().then_some(path)
        })
    }

    /// A leaf of a branch with several, by its bare name: `px` of a branch `p` with the leaves `px/F:py/F`.
    fn leaf(&self, name: &str) -> Option<ColumnPath> {
        let header = self.tree.header();
        self.tree.order().iter().find_map(|&branch| {
            let leaves = &header.branches.get(branch)?.leaves;
            if leaves.len() < 2 || !leaves.iter().any(|&l| header.leaves.get(l).is_some_and(|l| l.name == name)) {
                return None;
            }
            let path = ColumnPath { branch, fields: vec![name.to_owned()] };
            self.column(&path).is_ok().then_some(path)
        })
    }

    /// `branch.leaf` of a branch with one leaf.
    fn only_leaf(&self, name: &str) -> Option<ColumnPath> {
        let (front, leaf) = name.rsplit_once('.')?;
        let branch = self.tree.find(front).ok()?;
        let header = self.tree.header();
        let [only] = header.branches.get(branch).filter(|b| b.class == "TBranch")?.leaves.as_slice() else {
            return None;
        };
        (header.leaves.get(*only)?.name == leaf).then_some(ColumnPath { branch, fields: Vec::new() })
    }

    /// The first leaf of this title: `fPx` of a split collection's `fTracks.fPx`, whose leaf is `fPx[fTracks_]`.
    fn titled(&self, name: &str) -> Option<ColumnPath> {
        let header = self.tree.header();
        let branch = self.tree.order().iter().copied().find(|&branch| {
            let leaf = header.branches.get(branch).and_then(|b| b.leaves.first()).and_then(|&l| header.leaves.get(l));
            leaf.is_some_and(|l| without_dimensions(&l.title) == name) && self.tree.column_type(branch).is_ok()
        })?;
        Some(ColumnPath { branch, fields: Vec::new() })
    }

    /// The long name of which the fewest parts are left out.
    ///
    /// # Errors
    /// `Invalid` for a last part by itself of which there are several.
    fn shortened(&self, name: &str) -> Result<Option<ColumnPath>> {
        // a constant of the name comes first
        if crate::function::is_reserved(name) {
            return Ok(None);
        }
        let wanted: Vec<&str> = name.split('.').collect();
        let scored = |wanted: &[&str]| {
            let fitting = self.long().iter().filter_map(|long| Some((left_out(&long.parts, wanted)?, long)));
            fitting.collect::<Vec<_>>()
        };
        let mut found = scored(&wanted);
        if wanted.len() == 1 {
            found.retain(|(_, long)| class_in(&long.path).is_none());
        }
        if found.is_empty() && wanted.len() > 1 {
            // the members of a base class are among those of the class itself where objects are not split
            let class = |part: &&str| self.tree.streamers().latest(part).is_some();
            let (above, last) = wanted.split_at(wanted.len() - 1);
            let kept: Vec<&str> = above.iter().filter(|part| !class(part)).chain(last).copied().collect();
            if kept.len() < wanted.len() {
                found = scored(&kept);
                found.retain(|(_, long)| !long.path.fields.is_empty());
            }
        }
        // collections that have branches of their own are searched in the order of the tree, as leaves are
        let are_branches = found.iter().all(|(_, long)| long.path.fields.is_empty() && self.is_split(long.path.branch));
        if wanted.len() == 1 && found.len() > 1 && are_branches {
            return Ok(found.first().map(|(_, long)| long.path.clone()));
        }
        if wanted.len() == 1 && found.len() > 1 {
            let several: Vec<String> = found.iter().take(4).map(|(_, long)| long.text()).collect();
            let several = several.join(", ");
            return Err(Error::invalid(format!(
                "{name} is ambiguous: it may be any of {several}; write more of its path"
            )));
        }
        let Some((fewest, best)) = found.iter().min_by_key(|(left_out, _)| *left_out) else { return Ok(None) };
        let linked =
            found.iter().filter(|(left_out, long)| left_out == fewest && differ_in_class(&long.path, &best.path));
        let classes: Vec<&str> = linked.filter_map(|(_, long)| class_in(&long.path)).take(8).collect();
        if !classes.is_empty() {
            let classes = classes.into_iter().chain(class_in(&best.path)).collect::<Vec<_>>().join(", ");
            return Err(Error::invalid(format!("{name} may be a member of any of the classes {classes}")));
        }
        Ok(Some(best.path.clone()))
    }

    /// Whether a branch is a collection whose members have branches.
    fn is_split(&self, branch: usize) -> bool {
        let element = self.tree.header().branches.get(branch).and_then(|b| b.element.as_ref());
        element.is_some_and(|e| matches!(e.kind, 3 | 4))
    }

    /// All names that are not empty, for suggestions.
    pub(crate) fn all(&self) -> Vec<String> {
        let header = self.tree.header();
        let branches = self.tree.order().iter().filter_map(|&i| header.branches.get(i)).map(|b| b.name.clone());
        let aliases = header.aliases.iter().map(|(name, _)| name.clone());
        let long = self.long().iter().map(LongName::text);
        let mut all: Vec<String> = branches.chain(aliases).chain(long).collect();
        all.retain(|name| !name.is_empty());
        all
    }

    fn long(&self) -> &[LongName] {
        self.long.get_or_init(|| self.make_long())
    }

    fn make_long(&self) -> Vec<LongName> {
        let header = self.tree.header();
        let mut parts: Vec<Vec<(String, bool)>> = vec![Vec::new(); header.branches.len()];
        let mut out = Vec::new();
        for &i in self.tree.order() {
            let Some(b) = header.branches.get(i) else { continue };
            let own = without_dimensions(&b.name).trim_end_matches('.');
            let mut names = b.parent.map(|p| parts[p].clone()).unwrap_or_default();
            let rest = own_part(header, b.parent, own);
            let is_base = b.element.as_ref().is_some_and(|e| e.kind == 1);
            names.extend(rest.split('.').map(|part| (part.to_owned(), is_base)));
            // a split collection has a column as well: the number of its items
            let is_collection = b.element.as_ref().is_some_and(|e| matches!(e.kind, 3 | 4));
            if (b.children.is_empty() || is_collection)
                && let Ok(column) = self.tree.column_type(i)
            {
                self.add(&mut out, &names, ColumnPath { branch: i, fields: Vec::new() }, &column);
            }
            parts[i] = names;
        }
        out
    }

    /// The long name of a column, or those of the members of its records.
    fn add(&self, out: &mut Vec<LongName>, names: &[(String, bool)], path: ColumnPath, column: &ColumnType) {
        let mut inner = column;
        while let ColumnType::Regular { item, .. } | ColumnType::List { item } = inner {
            inner = item;
        }
        if out.len() < MOST_NAMES {
            out.push(LongName { parts: names.to_vec(), path: path.clone() });
        }
        let ColumnType::Record { fields } = inner else { return };
        if is_table(fields) {
            // the objects behind other pointers are not looked for
            if self.is_clones(&path) {
                self.add_linked(out, names, &path, column);
            }
            return;
        }
        self.add_members(out, names, &path, fields);
    }

    fn add_members(
        &self,
        out: &mut Vec<LongName>,
        names: &[(String, bool)],
        path: &ColumnPath,
        fields: &[(String, ColumnType)],
    ) {
        for (field, column) in fields {
            if out.len() >= MOST_NAMES {
                return;
            }
            // every object has these, and only a branch says of which they are
            if matches!(field.as_str(), "fUniqueID" | "fBits") {
                continue;
            }
            let mut names = names.to_vec();
            let name = match field.as_str() {
                // the array that a class such as TH1F inherits
                "TArrayC" | "TArrayS" | "TArrayI" | "TArrayF" | "TArrayD" => "fArray",
                // the pairs of a map
                "key" if fields.len() == 2 => "first",
                "value" if fields.len() == 2 => "second",
                own => own,
            };
            names.push((name.to_owned(), false));
            let mut path = path.clone();
            path.fields.push(field.clone());
            self.add(out, &names, path, column);
        }
    }

    /// The names of the members of objects that a collection holds by links.
    fn add_linked(&self, out: &mut Vec<LongName>, names: &[(String, bool)], path: &ColumnPath, column: &ColumnType) {
        for class in linked_classes(column) {
            let step = step_to(class);
            let Some(ColumnType::List { item }) = linked_type(column, class) else { continue };
            let ColumnType::Record { fields } = item.as_ref() else { continue };
            let mut path = path.clone();
            path.fields.push(step);
            self.add_members(out, names, &path, fields);
        }
    }
}

/// What a branch's name says that those above it do not: they are repeated or not, and base classes never are.
fn own_part<'n>(header: &Header, mut above: Option<usize>, own: &'n str) -> &'n str {
    // no deeper than the tree has branches
    for _ in 0..header.branches.len() {
        let Some(branch) = above.and_then(|p| header.branches.get(p)) else { break };
        let front = without_dimensions(&branch.name).trim_end_matches('.');
        if let Some(rest) = own.strip_prefix(front).and_then(|rest| rest.strip_prefix('.')) {
            return rest;
        }
        above = branch.parent;
    }
    own
}

fn has_lists(column: &ColumnType) -> bool {
    match column {
        ColumnType::List { .. } => true,
        ColumnType::Regular { item, .. } => has_lists(item),
        ColumnType::Record { fields } => fields.iter().any(|(_, column)| has_lists(column)),
        ColumnType::Number(_) | ColumnType::Text => false,
    }
}

/// Adds the options on the way to these fields, `above` lists and arrays being around the column.
fn add_options(form: &Form, column: &ColumnType, fields: &[String], above: usize, found: &mut Vec<usize>) {
    let field = |columns: &[(String, ColumnType)]| {
        let (first, rest) = fields.split_first()?;
        let at = columns.iter().position(|(name, _)| name == first)?;
        Some((at, columns.get(at)?.1.clone(), rest))
    };
    match (form, column) {
        (Form::Optional(form), ColumnType::List { item }) => {
            found.push(above);
            add_options(form, item, fields, above, found);
        }
        (Form::List(form), ColumnType::List { item } | ColumnType::Regular { item, .. }) => {
            add_options(form, item, fields, above + 1, found);
        }
        (Form::Record { fields: forms, .. } | Form::Tuple(forms), ColumnType::Record { fields: columns }) => {
            if let Some((at, column, rest)) = field(columns)
                && let Some(form) = forms.get(at)
            {
                add_options(form, &column, rest, above, found);
            }
        }
        (Form::Pair(pair), ColumnType::Record { fields: columns }) => {
            if let Some((at, column, rest)) = field(columns) {
                add_options(if at == 0 { &pair.0 } else { &pair.1 }, &column, rest, above, found);
            }
        }
        // an alternative is there or not
        (Form::Variant(forms), ColumnType::Record { fields: columns }) => {
            if let Some((at, ColumnType::List { item }, rest)) = field(columns)
                && let Some(form) = forms.get(at)
            {
                found.push(above);
                add_options(form, &item, rest, above, found);
            }
        }
        _ => {}
    }
}

/// The class of the records to which these fields lead.
fn class_of(form: Form, column: ColumnType, fields: &[String]) -> Option<String> {
    match (form, column) {
        (Form::List(form), ColumnType::List { item } | ColumnType::Regular { item, .. }) => {
            class_of(*form, *item, fields)
        }
        (Form::Record { class, fields: forms }, ColumnType::Record { fields: columns }) => {
            let Some((first, rest)) = fields.split_first() else { return class };
            let (form, (_, column)) = forms.into_iter().zip(columns).find(|(_, (name, _))| name == first)?;
            class_of(form, column, rest)
        }
        _ => None,
    }
}

/// The C++ type of a member of a class or of one of its bases.
fn declared<'s>(streamers: &'s Streamers, class: &str, member: &str, depth: usize) -> Option<&'s str> {
    let info = streamers.latest(class).filter(|_| depth < MOST_BASES)?;
    info.elements.iter().find_map(|e| match e.kind.as_str() {
        "TStreamerBase" => declared(streamers, &e.name, member, depth + 1),
        _ => (e.name == member).then_some(e.type_name.as_str()),
    })
}

impl LongName {
    fn text(&self) -> String {
        self.parts.iter().map(|p| p.0.as_str()).collect::<Vec<_>>().join(".")
    }
}

/// How many parts, base classes not counted, are left out of a long name to make the wanted one; `None` where that is
/// no way to make it.
fn left_out(parts: &[(String, bool)], wanted: &[&str]) -> Option<usize> {
    let (last, wanted) = wanted.split_last()?;
    let (own, above) = parts.split_last()?;
    if own.0 != *last {
        return None;
    }
    let mut wanted = wanted.iter().rev().peekable();
    let mut left = 0;
    for (part, is_base) in above.iter().rev() {
        if wanted.next_if(|w| **w == part).is_none() && !is_base {
            left += 1;
        }
    }
    wanted.next().is_none().then_some(left)
}

/// A name without the dots at its ends and between others, and with arrows as dots.
fn tidy(name: &str) -> String {
    let parts: Vec<String> = name.replace("->", ".").split('.').filter(|p| !p.is_empty()).map(str::to_owned).collect();
    parts.join(".")
}

fn without_dimensions(name: &str) -> &str {
    name.split_once('[').map_or(name, |(name, _)| name)
}

/// Whether two members differ in the class of the linked objects only.
fn differ_in_class(a: &ColumnPath, b: &ColumnPath) -> bool {
    let same = |(x, y): (&String, &String)| x == y || (class_of_step(x).is_some() && class_of_step(y).is_some());
    a != b && a.branch == b.branch && a.fields.len() == b.fields.len() && a.fields.iter().zip(&b.fields).all(same)
}

/// The class of the linked objects on the way to a member.
fn class_in(path: &ColumnPath) -> Option<&str> {
    path.fields.iter().find_map(|f| class_of_step(f))
}

/// The type of a member of the records inside a column.
fn member_type(column: ColumnType, name: &str) -> Option<ColumnType> {
    if let Some(class) = class_of_step(name) {
        return linked_type(&column, class);
    }
    Some(match column {
        ColumnType::Record { fields } => fields.into_iter().find(|(n, _)| n == name)?.1,
        ColumnType::Regular { size, item } => ColumnType::Regular { size, item: Box::new(member_type(*item, name)?) },
        ColumnType::List { item } => ColumnType::List { item: Box::new(member_type(*item, name)?) },
        ColumnType::Number(_) | ColumnType::Text => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &str) -> Vec<(String, bool)> {
        name.split('.').map(|p| (p.trim_start_matches('^').to_owned(), p.starts_with('^'))).collect()
    }

    #[test]
    fn parts_may_be_left_out_but_the_last() {
        let left = |long: &str, short: &str| left_out(&parts(long), &short.split('.').collect::<Vec<_>>());
        assert_eq!(left("event.fTracks.fPx", "event.fTracks.fPx"), Some(0));
        assert_eq!(left("event.fTracks.fPx", "event.fPx"), Some(1));
        assert_eq!(left("event.fTracks.fPx", "fPx"), Some(2));
        assert_eq!(left("event.fTracks.fPx", "event.fTracks"), None);
        assert_eq!(left("event.fTracks.fPx", "fTracks.event.fPx"), None);
        assert_eq!(left("SPD.^Vertex.fPosition", "SPD.fPosition"), Some(0));
        assert_eq!(left("SPD.^Vertex.fPosition", "SPD.Vertex.fPosition"), Some(0));
        assert_eq!(left("a", "a.a"), None);
        assert_eq!(left("a.a", "a.a"), Some(0));
    }

    #[test]
    fn dots_and_arrows_are_put_straight() {
        assert_eq!(tidy("event..fTracks->fPx."), "event.fTracks.fPx");
        assert_eq!(tidy(".lead"), "lead");
        assert_eq!(tidy("..."), "");
    }
}
