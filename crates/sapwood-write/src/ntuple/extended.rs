//! Fields that an ntuple gets when it has entries already.
//!
//! The header stays as it is, and the footer describes the new fields. Their values in the entries before are zero or
//! empty: the columns say from which element on they have pages, and readers take zeros for those before. That is so for
//! columns with a known number of elements in each entry; those of items have none in the entries before.

use super::NtupleWriter;
use super::descriptions::describe;
use super::field::{FieldSpec, FieldType};
use super::gathered::Fields;
use super::node::{Builder, Node};
use crate::core::Core;
use sapwood_codec::Compression;
use sapwood_format::ntuple::{Role, Schema};
use sapwood_span::{Error, Result};
use std::mem;
use std::sync::Arc;

impl NtupleWriter {
    /// Adds fields, which are zero or empty in the entries that the ntuple has. A name with dots is that of a member: it is
    /// added to a record (`particle.phi`) that is in no list, and has no class in C++.
    ///
    /// ```
    /// # fn main() -> sapwood_span::Result<()> {
    /// # let path = std::env::temp_dir().join(format!("sapwood-add-fields-doc-{}.root", std::process::id()));
    /// use sapwood_codec::Compression;
    /// use sapwood_column::{Array, DType, Values};
    /// use sapwood_write::{FieldSpec, FieldType, FileWriter, NtupleOptions};
    ///
    /// let mut file = FileWriter::create(&path, Compression::default())?;
    /// let x = FieldSpec::new("x", FieldType::Number(DType::F64));
    /// let mut ntuple = file.ntuple(file.root(), "Events", "", &[x], NtupleOptions::default())?;
    /// let values = Array::Flat(Values::F64(vec![1.0, 2.0]));
    /// ntuple.extend(&[("x", &values)])?;
    /// ntuple.add_fields(&[FieldSpec::new("y", FieldType::Number(DType::F64))])?;
    /// ntuple.extend(&[("x", &values), ("y", &values)])?;
    /// ntuple.finish()?;
    /// file.finish()?;
    /// # std::fs::remove_file(&path).map_err(|e| sapwood_span::Error::io("cannot remove", e))
    /// # }
    /// ```
    ///
    /// # Errors
    /// Everything is checked first: after an error of kind `Invalid`, `NotFound` or `Unsupported` nothing was added and the
    /// ntuple can continue. Errors of the disk end the file.
    pub fn add_fields(&mut self, fields: &[FieldSpec]) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.check()?;
        let mut specs = self.fields.specs.clone();
        let mut number = self.described.schema.fields.len();
        for field in fields {
            self.check_new(field, &mut specs, &mut number).map_err(|e| core.named(e))?;
        }
        if fields.is_empty() {
            return Ok(());
        }
        core.attempt(|core| self.extend_schema(core, fields, specs).map_err(|e| core.named(e)))
    }

    /// Checks a new field and adds it to the declared ones. `number`: of all fields.
    fn check_new(&self, field: &FieldSpec, specs: &mut Vec<FieldSpec>, number: &mut usize) -> Result<()> {
        let path: Vec<&str> = field.name.split('.').collect();
        if path.len() > 1 && path.contains(&"") {
            let what = format!(
                "a name in {:?} is empty; write record.member with a name before and after each dot",
                field.name
            );
            return Err(Error::invalid(what));
        }
        let (name, above) = path.split_last().map_or(("", &[][..]), |(name, above)| (*name, above));
        let own = FieldSpec { name: name.to_owned(), ..field.clone() };
        let new = own.check_below(above.len(), *number)?;
        Builder::check_descriptions(std::slice::from_ref(&own))?;
        // an entry has so many elements of its columns at most
        if self.entries.saturating_mul(repetitions(&own.ty)) > i64::MAX as u64 {
            return Err(Error::unsupported(format!("its arrays have too many items in {} entries", self.entries))
                .in_branch(&field.name));
        }
        let exists = || Error::invalid(format!("field {} already exists in the ntuple", field.name));
        let Some(record) = self.record(above, specs)? else {
            // those that show the columns of others are no declared ones
            let is_there = specs.iter().any(|s| s.name == name) || child(&self.described.schema, None, name).is_some();
            if is_there {
                return Err(exists());
            }
            specs.push(own);
            *number += new;
            return Ok(());
        };
        if record.iter().any(|(n, _)| n == name) {
            return Err(exists());
        }
        record.push((own.name, own.ty));
        *number += new;
        Ok(())
    }

    /// The members of the record with this path; none at the top.
    fn record<'a>(
        &self,
        path: &[&str],
        specs: &'a mut [FieldSpec],
    ) -> Result<Option<&'a mut Vec<(String, FieldType)>>> {
        let schema = &self.described.schema;
        let Some((first, below)) = path.split_first() else { return Ok(None) };
        let missing = |so_far: String| Error::not_found(format!("field {so_far} not found in the ntuple"));
        let spec = specs.iter_mut().find(|s| s.name == *first).ok_or_else(|| missing((*first).to_owned()))?;
        let mut members = members(&mut spec.ty, class(schema, path.get(..1)), first)?;
        for (depth, part) in (2..).zip(below) {
            let so_far = path.get(..depth);
            let name = so_far.unwrap_or_default().join(".");
            let ty = members.iter_mut().find(|(n, _)| n == part).map(|(_, ty)| ty);
            let ty = ty.ok_or_else(|| missing(name.clone()))?;
            members = self::members(ty, class(schema, so_far), &name)?;
        }
        Ok(Some(members))
    }

    /// Adds checked fields. `specs`: all fields with these.
    fn extend_schema(&mut self, core: &mut Core, fields: &[FieldSpec], specs: Vec<FieldSpec>) -> Result<()> {
        // clusters have pages of the columns that there were, for all of their entries
        self.end_cluster(core)?;
        let described = &mut self.described;
        // of compressed columns other writers know only the plain encodings of those that are there
        let is_plain = described.schema.columns.iter().any(|c| matches!(c.code, 0x05..=0x0a | 0x0c..=0x0f));
        let packed = self.compression != Compression::NONE && !is_plain;
        let first = described.schema.columns.len();
        let filled = self.columns.len();
        let mut builder = Builder::behind(mem::take(&mut described.schema), filled, packed);
        let mut nodes = self.fields.nodes.clone();
        for field in fields {
            let (above, name) = field.name.rsplit_once('.').map_or((None, &*field.name), |(a, n)| (Some(a), n));
            let parent = above.and_then(|path| find(&builder.schema, path.split('.')));
            let id = builder.schema.fields.len();
            let node = builder.field(name, &field.ty, parent, &field.description);
            describe(&mut builder.schema, id, field)?;
            match above.and_then(|path| members_of(&mut nodes, path)) {
                Some(members) => members.push((name.to_owned(), node)),
                None => nodes.push((name.to_owned(), node)),
            }
        }
        builder.make_columns(self.compression, self.options.page_bytes as usize);
        let Builder { mut schema, mut columns, .. } = builder;
        let mut before = None;
        for column in first..schema.columns.len() {
            let Some(field) = schema.columns.get(column).map(|c| c.field) else { continue };
            // a second column has the bytes of text
            let elements = (before != Some(field)).then(|| elements_at(&schema, field, self.entries)).flatten();
            before = Some(field);
            let elements = elements.unwrap_or(0);
            if let (Some(described), Some(own)) = (schema.columns.get_mut(column), columns.get_mut(column - first)) {
                (described.first_element, own.first_element) = (elements, elements);
            }
        }
        described.order.extend((filled..).take(columns.len()));
        described.schema = schema;
        if self.continued.is_none() && self.saved.is_none() && self.entries == 0 {
            // nothing of it is in the file
            described.in_header = described.schema.size();
        }
        self.columns.append(&mut columns);
        self.fields = Arc::new(Fields { specs, nodes });
        if let Some(continued) = &mut self.continued {
            continued.has_new_fields = true;
        }
        Ok(())
    }
}

/// The elements of a field's first column before this entry; none where that depends on the values.
pub(super) fn elements_at(schema: &Schema, field: usize, entry: u64) -> Option<u64> {
    let mut elements = entry;
    let mut at = schema.fields.get(field)?;
    loop {
        elements = elements.saturating_mul(at.array_size.unwrap_or(1).max(1));
        let Some(above) = at.parent else { return Some(elements) };
        at = schema.fields.get(above)?;
        if matches!(at.role, Role::Collection | Role::Variant) {
            return None;
        }
    }
}

/// The most elements that an entry has of a column whose elements are not those of lists.
fn repetitions(ty: &FieldType) -> u64 {
    let most = |items: &mut dyn Iterator<Item = &FieldType>| items.map(repetitions).max().unwrap_or(1);
    match ty {
        FieldType::Array(item, n) => repetitions(item).saturating_mul(*n as u64),
        FieldType::Record(members) => most(&mut members.iter().map(|(_, ty)| ty)),
        FieldType::Tuple(items) => most(&mut items.iter()),
        _ => 1,
    }
}

/// The field of this name below another one, or at the top.
fn child(schema: &Schema, parent: Option<usize>, name: &str) -> Option<usize> {
    schema.fields.iter().position(|f| f.parent == parent && f.name == name)
}

fn find<'a>(schema: &Schema, path: impl IntoIterator<Item = &'a str>) -> Option<usize> {
    path.into_iter().try_fold(None, |parent, name| child(schema, parent, name).map(Some)).flatten()
}

/// The C++ class of the field with this path; empty of those that have none, and of those that are new.
fn class<'a>(schema: &'a Schema, path: Option<&[&str]>) -> &'a str {
    let field = find(schema, path.unwrap_or_default().iter().copied()).and_then(|id| schema.fields.get(id));
    field.map_or("", |f| f.type_name.as_str())
}

/// The members of a record without a class.
fn members<'a>(ty: &'a mut FieldType, class: &str, name: &str) -> Result<&'a mut Vec<(String, FieldType)>> {
    let words = ty.words();
    match ty {
        FieldType::Record(members) if class.is_empty() => Ok(members),
        FieldType::Record(_) => {
            Err(Error::invalid(format!("field {name} has type {class}: members cannot be added to a class of C++")))
        }
        _ => Err(Error::invalid(format!("field {name} of type {words} is not a record: members cannot be added"))),
    }
    .map_err(|e: Error| e.with_remedy("add a field at the top"))
}

fn members_of<'a>(nodes: &'a mut Vec<(String, Node)>, path: &str) -> Option<&'a mut Vec<(String, Node)>> {
    path.split('.').try_fold(nodes, |nodes, part| match nodes.iter_mut().find(|(name, _)| name == part) {
        Some((_, Node::Record { members })) => Some(members),
        _ => None,
    })
}
