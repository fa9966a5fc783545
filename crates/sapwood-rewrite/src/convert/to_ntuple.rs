//! The fields for the branches of a tree.
//!
//! Leaf lists and split classes become records, split collections of classes vectors of records, arrays with a counter
//! vectors under their own name. Records have no class, so that no dictionary is needed to read them.

use super::ConvertOptions;
use super::plan::{ColumnSource, Disproved, OutputColumn, Plan, TargetColumn, allowed, is_chosen, unique};
use super::shape::Shape;
use sapwood_column::{ColumnType, Form};
use sapwood_engine::Tree;
use sapwood_span::{Error, Result};
use sapwood_write::{FieldSpec, FieldType};

/// The plan for a tree.
pub(super) fn plan(tree: &Tree, options: &ConvertOptions, disproved: &Disproved) -> Plan {
    let mut plan = Plan::without(disproved);
    for &top in &tree.header().top {
        add(tree, top, &mut plan, options, disproved);
    }
    plan
}

/// Adds a field for a branch, or for each of its sub-branches where these have lists of different lengths.
fn add(tree: &Tree, branch: usize, plan: &mut Plan, options: &ConvertOptions, disproved: &Disproved) {
    let Some(header) = tree.header().branches.get(branch) else { return };
    if is_disproved(tree, branch, disproved) {
        header.children.iter().for_each(|&child| add(tree, child, plan, options, disproved));
        return;
    }
    let (refused, read) = (plan.refused.len(), plan.branches.len());
    let Some((ty, source)) = field(tree, branch, plan, options) else { return };
    let of = tree.name_of(branch);
    // a branch that was split off its class has the whole path as its name
    let name = plan.free_name(if header.parent.is_some() { &of } else { &header.name }, &[]);
    let spec = FieldSpec::new(&name, ty).described(header.title.clone());
    if let Err(e) = spec.check() {
        plan.refused.truncate(refused);
        plan.branches.truncate(read);
        plan.refuse(&of, e.what());
        return;
    }
    plan.add(OutputColumn { name, target: TargetColumn::Field(spec), source, of, counter: None });
}

/// Whether the branch, or one below it, has lists of different lengths: as a field it would contain these.
fn is_disproved(tree: &Tree, branch: usize, disproved: &Disproved) -> bool {
    let children = tree.header().branches.get(branch).map_or(&[][..], |b| &b.children);
    disproved.items.contains(&branch) || children.iter().any(|&child| is_disproved(tree, child, disproved))
}

/// The type of the field for a branch, and where its values come from; none where nothing of it is chosen or can be read.
fn field(tree: &Tree, branch: usize, plan: &mut Plan, options: &ConvertOptions) -> Option<(FieldType, ColumnSource)> {
    let header = tree.header().branches.get(branch)?;
    if header.children.is_empty() {
        if !is_chosen(tree, branch, options) || plan.is_damaged(&tree.name_of(branch)) {
            return None;
        }
        return match leaf(tree, branch) {
            Ok((ty, shape)) => Some((ty, ColumnSource::Column(plan.read(branch), shape))),
            Err(e) => {
                plan.refuse(&tree.name_of(branch), e.what());
                None
            }
        };
    }
    let is_collection = is_collection(tree, branch);
    let (mut types, mut sources) = (Vec::new(), Vec::new());
    for &child in &header.children {
        let before = plan.branches.len();
        let Some((ty, source)) = field(tree, child, plan, options) else { continue };
        let ty = match items_of(ty, is_collection) {
            Some(ty) => ty,
            None => {
                plan.branches.truncate(before);
                plan.refuse(&tree.name_of(child), "it has no list for each entry, though it is part of a collection");
                continue;
            }
        };
        let name = member_name(tree, branch, child);
        let name = unique(&name, |n| types.iter().any(|(other, _): &(String, FieldType)| other == n));
        types.push((name.clone(), ty));
        sources.push((name, source));
    }
    if types.is_empty() {
        return None;
    }
    if !is_collection {
        return Some((FieldType::Record(types), ColumnSource::Record(sources)));
    }
    let is_map = tree.type_name(branch).starts_with("std::map<");
    let ty = match types.as_slice() {
        [(first, key), (second, value)] if is_map && (&**first, &**second) == ("first", "second") => {
            as_map(key, value).unwrap_or_else(|| FieldType::Record(types).vector())
        }
        _ => FieldType::Record(types).vector(),
    };
    Some((ty, ColumnSource::Items(branch, sources)))
}

/// A map of these, where ROOT has a name for it.
fn as_map(key: &FieldType, value: &FieldType) -> Option<FieldType> {
    let is_named = !key.name().is_empty() && !value.name().is_empty();
    is_named.then(|| FieldType::Map(Box::new(key.clone()), Box::new(value.clone())))
}

/// Whether the sub-branches have the members of the items of a collection.
fn is_collection(tree: &Tree, branch: usize) -> bool {
    let header = tree.header().branches.get(branch);
    header.is_some_and(|b| b.class == "TBranchClones" || b.element.as_ref().is_some_and(|e| matches!(e.kind, 3 | 4)))
}

/// The type of a collection's member, out of that of its branch, which has lists of them.
fn items_of(ty: FieldType, is_collection: bool) -> Option<FieldType> {
    match ty {
        ty if !is_collection => Some(ty),
        FieldType::Vector(item) => Some(*item),
        FieldType::Record(members) => {
            let member = |(name, ty)| Some((name, items_of(ty, true)?));
            Some(FieldType::Record(members.into_iter().map(member).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// The name of a sub-branch as a member: without that of the branch, and without dimensions.
fn member_name(tree: &Tree, parent: usize, child: usize) -> String {
    let name = |b: usize| tree.header().branches.get(b).map_or("", |b| b.name.trim_end_matches('.'));
    let (outer, inner) = (name(parent), name(child));
    let inner = inner.strip_prefix(outer).and_then(|rest| rest.strip_prefix('.')).unwrap_or(inner);
    allowed(inner.split('[').next().unwrap_or(inner), &[])
}

/// The type of the field for a branch with values of its own, and the shape of its values.
fn leaf(tree: &Tree, branch: usize) -> Result<(FieldType, Shape)> {
    let (column, form) = (tree.column_type(branch)?, tree.form(branch)?);
    let (entries, own) = (tree.entries(), tree.entries_of(branch));
    if own != entries {
        return Err(Error::unsupported(format!("it has {own} entries, and the tree {entries}")));
    }
    let class = tree.type_name(branch);
    let is_map = class.starts_with("std::map<") && !class.contains("multimap<") && !class.contains("pair<");
    let (ty, shape) = field_type(&column, &form, is_map)?;
    // what is in the file does not have to be what its class says
    FieldSpec::new("x", ty.clone()).check().map(|()| (ty, shape))
}

/// `is_map`: whether lists of pairs are maps.
fn field_type(column: &ColumnType, form: &Form, is_map: bool) -> Result<(FieldType, Shape)> {
    match (column, form) {
        (ColumnType::Number(dtype), _) => Ok((FieldType::Number(*dtype), Shape::Keep)),
        (ColumnType::Text, _) => Ok((FieldType::Text, Shape::Keep)),
        (ColumnType::Regular { size, item }, _) => {
            let (ty, shape) = field_type(item, inner(form), is_map)?;
            if ty.name().is_empty() {
                return Ok((ty.vector(), Shape::AsLists(Box::new(shape))));
            }
            Ok((ty.array(*size), shape.of_items()))
        }
        (ColumnType::List { item }, Form::Optional(form)) => {
            let (ty, shape) = field_type(item, form, is_map)?;
            let ty = if ty.name().is_empty() { ty.vector() } else { FieldType::Optional(Box::new(ty)) };
            Ok((ty, shape.of_items()))
        }
        (ColumnType::List { item }, _) => {
            let (ty, shape) = field_type(item, inner(form), is_map)?;
            if let (FieldType::Tuple(pair), Form::Pair(_), true) = (&ty, inner(form), is_map)
                && let [key, value] = pair.as_slice()
                && let Some(map) = as_map(key, value)
            {
                return Ok((map, shape.of_items()));
            }
            Ok((ty.vector(), shape.of_items()))
        }
        (ColumnType::Record { fields }, _) => {
            let forms: Vec<&Form> = match form {
                Form::Record { fields, .. } | Form::Tuple(fields) => fields.iter().collect(),
                Form::Pair(pair) => vec![&pair.0, &pair.1],
                Form::Variant(_) => return Err(Error::unsupported("variants")),
                _ => Vec::new(),
            };
            if fields.is_empty() {
                return Err(Error::unsupported("a class without members that can be read"));
            }
            let mut types: Vec<(String, FieldType)> = Vec::new();
            let mut shapes = Vec::new();
            for (i, (name, column)) in fields.iter().enumerate() {
                let form = forms.get(i).copied().unwrap_or(&Form::Plain);
                let (ty, shape) = field_type(column, form, is_map).map_err(|e| {
                    let what = format!("its member {name}: {}", e.what());
                    e.worded(what)
                })?;
                let name = unique(&allowed(name, &[]), |n| types.iter().any(|(other, _)| other == n));
                types.push((name.clone(), ty));
                shapes.push((name, shape));
            }
            let is_tuple = matches!(form, Form::Pair(_) | Form::Tuple(_));
            let tuple = FieldType::Tuple(types.iter().map(|(_, ty)| ty.clone()).collect());
            let ty = if is_tuple && !tuple.name().is_empty() { tuple } else { FieldType::Record(types) };
            Ok((ty, Shape::Members(shapes)))
        }
    }
}

/// The form of the items.
fn inner(form: &Form) -> &Form {
    match form {
        Form::List(inner) | Form::Optional(inner) => inner,
        _ => &Form::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_codec::Compression;
    use sapwood_column::{Array, DType, Values};
    use sapwood_engine::{File, OpenOptions};
    use sapwood_write::{BranchSpec, BranchType, Class, CppType, FileWriter, TreeOptions};
    use std::sync::Arc;

    fn class(name: &str, members: Vec<(String, CppType)>) -> CppType {
        CppType::Class(Arc::new(Class { name: name.to_owned(), version: 1, members }))
    }

    /// Otherwise the same plan would be made, and disproved, for ever.
    #[test]
    fn a_collection_that_is_no_field_is_none_within_a_record_either() {
        let path = std::env::temp_dir().join(format!("sapwood-to-ntuple-{}.root", std::process::id()));
        let hit = class("Hit", vec![("x".to_owned(), CppType::Number(DType::F32))]);
        let event = class("Event", vec![("hits".to_owned(), CppType::vector(hit))]);
        let mut file = FileWriter::create(&path, Compression::default()).unwrap();
        let spec = BranchSpec::new("event", BranchType::Object(event));
        let mut tree = file.tree("t", "", &[spec], TreeOptions::default()).unwrap();
        let x = Array::Flat(Values::F32(vec![1.0, 2.0]));
        let items = Array::Record { len: 2, fields: vec![("x".to_owned(), x)] };
        let hits = Array::List { offsets: vec![0, 2], content: Box::new(items) };
        tree.extend(&[("event", &Array::Record { len: 1, fields: vec![("hits".to_owned(), hits)] })]).unwrap();
        tree.finish().unwrap();
        file.finish().unwrap();
        let file = File::open(path.to_str().unwrap(), &OpenOptions::default()).unwrap();
        let tree = file.tree("t").unwrap();
        let mut disproved = Disproved::default();
        let names = |disproved: &Disproved| -> Vec<String> {
            plan(&tree, &ConvertOptions::new(), disproved).outputs.into_iter().map(|o| o.name).collect()
        };
        assert_eq!(names(&disproved), ["event"]);
        let within = (0..tree.header().branches.len()).find(|&b| is_collection(&tree, b));
        disproved.items.extend(within);
        let found = names(&disproved);
        std::fs::remove_file(&path).unwrap();
        assert!(within.is_some() && found != ["event"] && found.len() == 1, "{found:?}");
        let plan = plan(&tree, &ConvertOptions::new(), &disproved);
        assert!(matches!(plan.outputs[0].source, ColumnSource::Column(..)), "{found:?}");
    }
}
