//! Entries of an ntuple that a producer collects: one column for each field, in the form that its node takes.

use super::field::FieldSpec;
use super::node::{Builder, Node};
use sapwood_column::{Array, Values};
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The fields of an ntuple, and how their columns are checked.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) specs: Vec<FieldSpec>,
    pub(super) nodes: Vec<(String, Node)>,
}

impl Fields {
    /// Of fields that an ntuple has.
    pub(crate) fn of(specs: Vec<FieldSpec>) -> Self {
        let nodes = Builder::describe(&specs, true).1;
        Self { specs, nodes }
    }

    /// The given columns in the order of the fields, checked, and their length.
    pub(crate) fn check<'a>(&self, given: &[(&str, &'a Array)]) -> Result<(Vec<&'a Array>, usize)> {
        let fields = &self.nodes;
        let index: HashMap<&str, usize> = fields.iter().enumerate().map(|(i, (name, _))| (&**name, i)).collect();
        let mut arrays: Vec<Option<&Array>> = vec![None; fields.len()];
        for (name, array) in given {
            let Some(slot) = index.get(name).and_then(|&i| arrays.get_mut(i)) else {
                let first: Vec<&str> = fields.iter().map(|(name, _)| &**name).take(20).collect();
                return Err(Error::not_found(format!("the ntuple has no field {name}"))
                    .with_remedy(format!("its first fields are: {}", first.join(", "))));
            };
            if slot.replace(array).is_some() {
                return Err(Error::invalid("it is specified twice").in_branch(*name));
            }
        }
        let mut out = Vec::with_capacity(arrays.len());
        let mut entries = None;
        for ((name, node), array) in fields.iter().zip(arrays) {
            let array = array.ok_or_else(|| Error::invalid("it has no values").in_branch(name))?;
            node.check(array).map_err(|e| e.in_branch(name))?;
            let (n, first) = *entries.get_or_insert((array.len(), name));
            if array.len() != n {
                let what = format!("it has {} entries, but {first} has {n}", array.len());
                return Err(Error::invalid(what).in_branch(name));
            }
            out.push(array);
        }
        Ok((out, entries.map_or(0, |(n, _)| n)))
    }
}

/// Entries of all fields.
#[derive(Debug)]
pub(crate) struct GatheredFields {
    pub(crate) entries: usize,
    /// A column for each field; records have their members in the order of the field's.
    pub(crate) columns: Vec<Array>,
    fields: Arc<Fields>,
}

impl GatheredFields {
    pub(crate) fn new(fields: &Arc<Fields>) -> Self {
        let columns = fields.nodes.iter().map(|(_, node)| node.empty()).collect();
        Self { entries: 0, columns, fields: fields.clone() }
    }

    /// Adds entries of checked columns.
    pub(crate) fn append(&mut self, arrays: &[&Array], range: Range<usize>) -> Result<()> {
        for (((name, node), into), array) in self.fields.nodes.iter().zip(&mut self.columns).zip(arrays) {
            node.gather(array, range.clone(), into).map_err(|e| e.in_branch(name))?;
        }
        self.entries += range.len();
        Ok(())
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.iter().map(Array::nbytes).sum()
    }

    /// Refuses received data that are not those of the fields.
    pub(crate) fn check(&self) -> Result<()> {
        for ((name, node), column) in self.fields.nodes.iter().zip(&self.columns) {
            node.check(column).map_err(|e| e.in_branch(name))?;
            if column.len() != self.entries {
                return Err(Error::corrupt("the entries do not match the ntuple's fields").in_branch(name));
            }
        }
        Ok(())
    }

    /// Removes all entries; unusually large memory is freed.
    pub(crate) fn clear(&mut self, usual: usize) {
        if self.bytes() > 2 * usual {
            *self = Self::new(&self.fields);
        }
        self.entries = 0;
        self.columns.iter_mut().for_each(Array::clear);
    }
}

impl Node {
    /// A column without entries.
    fn empty(&self) -> Array {
        let list = |item: &Node| Array::List { offsets: vec![0], content: Box::new(item.empty()) };
        let record = |fields| Array::Record { len: 0, fields };
        match self {
            Node::Numbers { dtype, .. } | Node::Reduced { dtype, .. } => Array::Flat(Values::with_capacity(*dtype, 0)),
            Node::Text { .. } => Array::Text { offsets: vec![0], bytes: Vec::new() },
            Node::Array { item, size } => Array::Regular { size: *size, len: 0, content: Box::new(item.empty()) },
            Node::List { item, .. } | Node::Optional { item, .. } => list(item),
            Node::Record { members } => record(members.iter().map(|(n, m)| (n.clone(), m.empty())).collect()),
            Node::Tuple { members } => record(members.iter().map(|m| (String::new(), m.empty())).collect()),
            Node::Variant { items, .. } => record(items.iter().map(|m| (String::new(), list(m))).collect()),
        }
    }

    /// Adds entries of a checked column to one of [`Node::empty`].
    fn gather(&self, array: &Array, range: Range<usize>, into: &mut Array) -> Result<()> {
        match (self, array, into) {
            (Node::Array { item, size }, Array::Regular { content, .. }, Array::Regular { len, content: to, .. }) => {
                *len += range.len();
                item.gather(content, range.start * size..range.end * size, to)
            }
            (
                Node::List { item, .. } | Node::Optional { item, .. },
                Array::List { offsets, content },
                Array::List { offsets: ends, content: to },
            ) => item.gather(content, append_ends(offsets, &range, ends)?, to),
            (Node::Record { members }, Array::Record { fields, .. }, Array::Record { len, fields: to }) => {
                *len += range.len();
                members.iter().zip(to).try_for_each(|((name, member), (_, to))| {
                    let column = fields.iter().find(|(n, _)| n == name).ok_or_else(strange)?;
                    member.gather(&column.1, range.clone(), to)
                })
            }
            (Node::Tuple { members }, Array::Record { fields, .. }, Array::Record { len, fields: to }) => {
                *len += range.len();
                let columns = members.iter().zip(fields).zip(to);
                columns.into_iter().try_for_each(|((m, (_, from)), (_, to))| m.gather(from, range.clone(), to))
            }
            (Node::Variant { items, .. }, Array::Record { fields, .. }, Array::Record { len, fields: to }) => {
                *len += range.len();
                items.iter().zip(fields).zip(to).try_for_each(|((item, (_, from)), (_, to))| match (from, to) {
                    (Array::List { offsets, content }, Array::List { offsets: ends, content: to }) => {
                        item.gather(content, append_ends(offsets, &range, ends)?, to)
                    }
                    _ => Err(strange()),
                })
            }
            (_, array, into) => into.append_range(array, range),
        }
    }
}

/// Adds the ends of entries of a list; returns the range of their items.
fn append_ends(offsets: &[i64], range: &Range<usize>, ends: &mut Vec<i64>) -> Result<Range<usize>> {
    let given = offsets.get(range.start..=range.end).and_then(|given| given.split_first());
    let (Some((&first, given)), Some(&base)) = (given, ends.last()) else { return Err(strange()) };
    ends.extend(given.iter().map(|end| base + (end - first)));
    let last = given.last().copied().unwrap_or(first);
    match (usize::try_from(first), usize::try_from(last)) {
        (Ok(first), Ok(last)) => Ok(first..last),
        _ => Err(strange()),
    }
}

fn strange() -> Error {
    Error::invalid("a column of another form than its field")
}
