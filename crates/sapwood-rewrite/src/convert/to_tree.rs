//! The branches for the fields of an ntuple.
//!
//! Each member of records, at any depth, has a branch of its own. Lists of numbers become arrays where a field is known to
//! count them, others vectors. No branch needs a class.

use super::ConvertOptions;
use super::plan::{ColumnSource, Disproved, OutputColumn, Plan, TargetColumn, allowed, is_chosen};
use super::shape::Shape;
use sapwood_column::{ColumnType, DType, Form};
use sapwood_engine::Tree;
use sapwood_format::ntuple::Role;
use sapwood_span::{Error, Result};
use sapwood_write::{BranchSpec, BranchType, CppType};
use std::collections::{HashMap, HashSet};

/// What has a meaning in names of branches, beyond what fields cannot have either.
const MEANINGFUL: &[char] = &['[', ']', ':', ';'];

/// The plan for an ntuple.
pub(super) fn plan(ntuple: &Tree, options: &ConvertOptions, disproved: &Disproved) -> Plan {
    let mut plan = Plan::without(disproved);
    let mut groups = HashMap::new();
    for &top in &ntuple.header().top {
        add(ntuple, top, &mut plan, options, &mut groups);
    }
    count(&mut plan, &groups, disproved);
    plan
}

/// Adds a branch for a field, or for each of its members. `groups`: of outputs that are members of the items of a
/// collection, the name of the collection.
fn add(ntuple: &Tree, field: usize, plan: &mut Plan, options: &ConvertOptions, groups: &mut HashMap<usize, String>) {
    let Some(header) = ntuple.header().branches.get(field) else { return };
    let class = ntuple.type_name(field);
    // ROOT has maps in trees, too
    let is_map = class.starts_with("std::map<");
    let is_whole = header.children.is_empty() || (is_map && leaf(ntuple, field, true).is_ok());
    if !is_whole {
        header.children.iter().for_each(|&member| add(ntuple, member, plan, options, groups));
        return;
    }
    let path = ntuple.name_of(field);
    if !is_chosen(ntuple, field, options) || plan.is_damaged(&path) {
        return;
    }
    let of = path.replace('/', ".");
    match leaf(ntuple, field, is_map) {
        Ok((ty, shape, extents)) => {
            let name = plan.free_name(&dotted(ntuple, field), MEANINGFUL);
            // maps in one branch: of split ones, keys and values would be read apart
            let mut spec = BranchSpec::new(&name, ty).extents(extents).unsplit();
            if !header.title.is_empty() {
                spec = spec.titled(header.title.clone());
            }
            let is_item = |&p: &usize| ntuple.header().top.contains(&p) && is_collection(ntuple, p);
            if let Some(parent) = header.parent.filter(is_item) {
                let outer = ntuple.header().branches.get(parent).map_or("", |b| &b.name);
                groups.insert(plan.outputs.len(), outer.to_owned());
            }
            let source = ColumnSource::Column(plan.read(field), shape);
            plan.add(OutputColumn { name, target: TargetColumn::Branch(spec), source, of, counter: None });
        }
        Err(e) => plan.refuse(&of, e.what()),
    }
}

/// Whether a field has lists of one length for all of its members. Those of a record have their own.
fn is_collection(ntuple: &Tree, branch: usize) -> bool {
    let header = ntuple.header();
    let field = header.branches.get(branch).and_then(|b| b.field);
    let fields = header.ntuple.as_ref().map(|n| &n.schema.fields);
    field.zip(fields).and_then(|(f, fields)| fields.get(f)).is_some_and(|f| f.role == Role::Collection)
}

/// The names of a field and of those that contain it.
fn dotted(ntuple: &Tree, field: usize) -> String {
    let mut names = Vec::new();
    let mut at = Some(field);
    while let Some(header) = at.and_then(|b| ntuple.header().branches.get(b)) {
        names.push(header.name.as_str());
        at = header.parent;
    }
    names.reverse();
    names.join(".")
}

/// The type of the branch for a field without members, the shape of its values, and its extents.
fn leaf(ntuple: &Tree, field: usize, is_map: bool) -> Result<(BranchType, Shape, Vec<usize>)> {
    let (column, form) = (ntuple.column_type(field)?, ntuple.form(field)?);
    Ok(match &column {
        ColumnType::Number(dtype) => (BranchType::Scalar(*dtype), Shape::Keep, Vec::new()),
        ColumnType::Regular { .. } if fixed(&column).is_some() => {
            let (dtype, extents) = fixed(&column).unwrap_or((DType::U8, Vec::new()));
            let n = extents.iter().try_fold(1usize, |p, &e| p.checked_mul(e)).unwrap_or(0);
            if n == 0 {
                return Err(Error::unsupported("arrays without items"));
            }
            let is_flat = extents.len() == 1;
            let shape = if is_flat { Shape::Keep } else { Shape::Flattened };
            (BranchType::Fixed(dtype, n), shape, if is_flat { Vec::new() } else { extents })
        }
        _ => {
            let (ty, shape) = cpp(&column, &form, is_map)?;
            (BranchType::Object(ty), shape, Vec::new())
        }
    })
}

/// Arrays of numbers: their type, and the extents of all dimensions.
fn fixed(column: &ColumnType) -> Option<(DType, Vec<usize>)> {
    let (mut at, mut extents) = (column, Vec::new());
    while let ColumnType::Regular { size, item } = at {
        extents.push(*size);
        at = item;
    }
    if let ColumnType::Number(dtype) = at { Some((*dtype, extents)) } else { None }
}

/// A type without classes.
fn cpp(column: &ColumnType, form: &Form, is_map: bool) -> Result<(CppType, Shape)> {
    let inner = |form: &Form| match form {
        Form::List(inner) | Form::Optional(inner) => (**inner).clone(),
        _ => Form::Plain,
    };
    match column {
        ColumnType::Number(dtype) => Ok((CppType::Number(*dtype), Shape::Keep)),
        ColumnType::Text => Ok((CppType::Text, Shape::Keep)),
        ColumnType::Regular { item, .. } => {
            let (ty, shape) = cpp(item, &inner(form), is_map)?;
            Ok((CppType::vector(ty), Shape::AsLists(Box::new(shape))))
        }
        ColumnType::List { item } => {
            let inside = inner(form);
            let forms = match &inside {
                Form::Pair(pair) => Some((&pair.0, &pair.1)),
                Form::Tuple(forms) if is_map => forms.first().zip(forms.get(1)),
                _ => None,
            };
            if let (ColumnType::Record { fields }, Some((key_form, value_form))) = (&**item, forms)
                && let [(first, key), (second, value)] = fields.as_slice()
            {
                let (key, key_shape) = cpp(key, key_form, is_map)?;
                let (value, value_shape) = cpp(value, value_form, is_map)?;
                let shape = Shape::Members(vec![(first.clone(), key_shape), (second.clone(), value_shape)]);
                return Ok((CppType::Map(Box::new(key), Box::new(value)), shape.of_items()));
            }
            let (ty, shape) = cpp(item, &inside, is_map)?;
            Ok((CppType::vector(ty), shape.of_items()))
        }
        ColumnType::Record { .. } => Err(Error::unsupported(match form {
            Form::Variant(_) => "variants",
            _ => "records within maps and variants",
        })),
    }
}

/// Makes arrays of lists of numbers that an integer field is taken to count: members of a collection by one branch, other
/// lists by the field that their description names (`x[n]`), or by the one that is called `n` and the beginning of their
/// name, as in CMS's NanoAOD. What is counted is compared before it is written.
fn count(plan: &mut Plan, groups: &HashMap<usize, String>, disproved: &Disproved) {
    let mut counters: HashMap<String, usize> = HashMap::new();
    for (i, output) in plan.outputs.iter().enumerate() {
        if let TargetColumn::Branch(BranchSpec { ty: BranchType::Scalar(DType::I32 | DType::U32), .. }) = &output.target
        {
            counters.insert(output.name.clone(), i);
        }
    }
    let names: HashSet<String> = plan.outputs.iter().map(|o| o.name.clone()).collect();
    let mut made: HashMap<String, &str> = HashMap::new();
    for (i, output) in plan.outputs.iter_mut().enumerate() {
        let TargetColumn::Branch(spec) = &mut output.target else { continue };
        let BranchType::Object(CppType::Vector(item)) = &spec.ty else { continue };
        let (CppType::Number(dtype), ColumnSource::Column(_, Shape::Keep)) = (&**item, &output.source) else {
            continue;
        };
        if disproved.counted.contains(&output.name) {
            continue;
        }
        let dtype = *dtype;
        let counter = match groups.get(&i) {
            // one that is made counts the items of one collection
            Some(outer) => Some(format!("n{}", allowed(outer, MEANINGFUL))).filter(|n| {
                counters.contains_key(n)
                    || (!names.contains(n) && made.entry(n.clone()).or_insert(outer) == &outer.as_str())
            }),
            None => named(spec.title.as_deref(), &output.name)
                .filter(|n| counters.contains_key(n))
                .or_else(|| by_beginning(&output.name, |n| counters.contains_key(n))),
        };
        if let Some(counter) = counter {
            output.counter = counters.get(&counter).copied();
            spec.ty = BranchType::Jagged { dtype, counter: Some(counter) };
        }
    }
    for output in &mut plan.outputs {
        let TargetColumn::Branch(spec) = &mut output.target else { continue };
        // leaf lists of a tree from which the ntuple was made; the branch gets its own
        spec.title.take_if(|title| title.strip_prefix(&*output.name).is_some_and(|rest| rest.starts_with(['[', '/'])));
    }
    counters_first(plan);
}

/// The counter in a title: `n` of `x[n]/F`.
fn named(title: Option<&str>, name: &str) -> Option<String> {
    let inside = title?.strip_prefix(name)?.strip_prefix('[')?;
    inside.split_once(']').map(|(counter, _)| counter.to_owned())
}

/// `nMuon` for `Muon_pt`, of several the longest.
fn by_beginning(name: &str, counts: impl Fn(&str) -> bool) -> Option<String> {
    name.rmatch_indices('_').map(|(at, _)| format!("n{}", &name[..at])).find(|counter| counts(counter))
}

/// Counters come in front of what they count.
fn counters_first(plan: &mut Plan) {
    let counting: HashSet<usize> = plan.outputs.iter().filter_map(|o| o.counter).collect();
    let mut order: Vec<usize> = (0..plan.outputs.len()).collect();
    // only those that are behind what they count have to move
    let first_use: HashMap<usize, usize> =
        plan.outputs.iter().enumerate().rev().filter_map(|(i, o)| Some((o.counter?, i))).collect();
    order
        .sort_by_key(|&i| if counting.contains(&i) { (first_use.get(&i).map_or(i, |&u| u.min(i)), 0) } else { (i, 1) });
    let place: HashMap<usize, usize> = order.iter().enumerate().map(|(to, &from)| (from, to)).collect();
    let mut slots: Vec<Option<OutputColumn>> = std::mem::take(&mut plan.outputs).into_iter().map(Some).collect();
    for from in order {
        if let Some(mut output) = slots.get_mut(from).and_then(Option::take) {
            output.counter = output.counter.and_then(|c| place.get(&c).copied());
            plan.outputs.push(output);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_title_and_by_name() {
        assert_eq!(named(Some("x[nx]/F"), "x").as_deref(), Some("nx"));
        assert_eq!(named(Some("transverse momentum"), "x"), None);
        let known = |n: &str| matches!(n, "nMuon" | "nMuon_tight");
        assert_eq!(by_beginning("Muon_tight_pt", known).as_deref(), Some("nMuon_tight"));
        assert_eq!(by_beginning("Muon_loose_pt", known).as_deref(), Some("nMuon"));
        assert_eq!(by_beginning("Jet_pt", known), None);
    }
}
