//! An ntuple that is already in the file: its fields, and whether new clusters can be added behind its own.
//!
//! Header and pages stay as they are. What is added is a cluster group with a page list of its own; footer and anchor are
//! written anew.

use super::NtupleWriter;
use super::columns::ColumnBuffer;
use super::field::{FieldSpec, FieldType, Precision};
use super::gathered::Fields;
use super::node::Builder;
use super::saved::{Continued, Described, Saved};
use super::stored::{self, Stored};
use crate::append::{find, not_found};
use crate::core::{Core, OpenTree, Shared};
use crate::directory::DirectoryId;
use crate::existing_records::is_record;
use crate::file::FileWriter;
use crate::key::Key;
use crate::ntuple::NtupleOptions;
use sapwood_codec::Compression;
use sapwood_column::DType;
use sapwood_format::ntuple::{Column, Field, Ntuple, PageTable, Role, Schema};
use sapwood_span::{Error, Result, Span};
use std::sync::Arc;

impl FileWriter {
    /// Opens an ntuple of this file to append entries to it; the last cycle where none is named (`name;2`). Its fields are
    /// unchanged; compressed as its last pages were, unless `options` says otherwise.
    ///
    /// # Errors
    /// `NotFound` when there is no such ntuple; `Unsupported`, with the reason, for ntuples with fields or columns that this
    /// crate does not write.
    pub fn append_to_ntuple(&mut self, path: &str, options: NtupleOptions) -> Result<NtupleWriter> {
        let shared = self.shared().clone();
        let mut core = shared.lock();
        core.check()?;
        let opened = options.check().and_then(|()| open(&shared, &mut core, path, options));
        opened.map_err(|e| core.named(e))
    }
}

fn open(shared: &Shared, core: &mut Core, path: &str, options: NtupleOptions) -> Result<NtupleWriter> {
    let (directory, name, cycle) = find(core, path)?;
    let within = core.directory(directory)?;
    let keys = within.keys.iter().filter(|k| k.name == name && cycle.is_none_or(|c| k.cycle == c));
    let key = keys.max_by_key(|k| k.cycle).cloned().ok_or_else(|| not_found(path))?;
    if !stored::is_ntuple(&key.class) {
        return Err(Error::unsupported(format!("{path} is a {}, not an RNTuple", key.class)));
    }
    if core.writes_tree(directory, &name, Some(key.cycle)) {
        return Err(Error::invalid(format!("ntuple {name} is already being written")));
    }
    core.drain()?;
    // its place is freed once the new anchor is written: a wrong key would free another record's bytes
    if !is_record(core, key.span())? {
        let what = format!("there is no record of {path} at the position in its key");
        return Err(Error::corrupt(what).at(key.span()));
    }
    let Stored { anchor, footer, ntuple, header_checksum } = stored::read(core, key.span())?;
    let groups = footer.groups().map_err(|e| e.with_remedy("write a new ntuple"))?;
    let compression = options.compression.unwrap_or(core.compression);
    let found = fields(&ntuple.schema).and_then(|specs| {
        let (made, order) = same_columns(&ntuple.schema, &specs, compression, options)?;
        Ok((specs, made, order))
    });
    let (specs, mut made, order) = found.map_err(|e| e.with_remedy("write a new ntuple"))?;
    let firsts = elements(&ntuple).map_err(|e| e.with_remedy("write a new ntuple"))?;
    for (first, &own) in firsts.iter().zip(&order) {
        if let Some(column) = made.columns.get_mut(own) {
            column.first_element = *first;
        }
    }
    let tree = core.tables.len();
    core.tables.push(Vec::new());
    core.open_trees.push(OpenTree { tree, directory, name: key.name.clone(), cycle: Some(key.cycle) });
    let blobs = stored::record(core, anchor.footer)?.into_iter().collect();
    let continued = (Continued { anchor, header_checksum, groups, has_new_fields: false }, blobs);
    Ok(writer(shared, (tree, directory, key), ntuple, (specs, made.columns, order), continued, (compression, options)))
}

fn writer(
    shared: &Shared,
    (tree, directory, key): (usize, DirectoryId, Key),
    ntuple: Ntuple,
    (specs, columns, order): (Vec<FieldSpec>, Vec<ColumnBuffer>, Vec<usize>),
    (continued, blobs): (Continued, Vec<Span>),
    (compression, options): (Compression, NtupleOptions),
) -> NtupleWriter {
    NtupleWriter {
        core: shared.clone(),
        tree,
        directory,
        name: key.name.clone(),
        description: ntuple.description,
        options,
        compression,
        fields: Arc::new(Fields::of(specs)),
        described: Described { schema: ntuple.schema, in_header: ntuple.in_header, order },
        columns,
        table: PageTable::default(),
        ranges: Vec::new(),
        entries: ntuple.entries,
        cluster_start: ntuple.entries,
        cluster_bytes: 0,
        cluster_limit: options.cluster_bytes.saturating_mul(super::ASSUMED_RATIO).min(options.largest_cluster),
        total_bytes: 0,
        zip_bytes: 0,
        saved_bytes: 0,
        saved: Some(Saved { anchor: key, blobs }),
        continued: Some(continued),
    }
}

/// Elements of each column in all clusters, those from before a column was added included.
fn elements(ntuple: &Ntuple) -> Result<Vec<u64>> {
    let schema = &ntuple.schema;
    let mut out: Vec<u64> = schema.columns.iter().map(|c| c.first_element).collect();
    for cluster in &ntuple.table.clusters {
        if cluster.columns.len() > out.len() || cluster.columns.iter().any(|c| c.is_suppressed) {
            return Err(Error::unsupported("it has several representations of a column"));
        }
        for (sum, column) in out.iter_mut().zip(&cluster.columns) {
            let pages = ntuple.table.pages.get(column.pages.clone()).unwrap_or_default();
            let here: u64 = pages.iter().map(|p| u64::from(p.elements)).sum();
            *sum = sum.saturating_add(here);
        }
    }
    // readers count the elements of such a column from the entries
    for (column, &sum) in schema.columns.iter().zip(&out).filter(|(c, _)| c.first_element > 0) {
        if super::extended::elements_at(schema, column.field, ntuple.entries) != Some(sum) {
            let name = schema.fields.get(column.field).map_or("", |f| f.name.as_str());
            let what = format!("a column that was added later has {sum} elements for {} entries", ntuple.entries);
            return Err(Error::unsupported(what).in_branch(name));
        }
    }
    Ok(out)
}

/// The fields at the top. What shows the columns of others has no values of its own.
fn fields(schema: &Schema) -> Result<Vec<FieldSpec>> {
    let top = schema.fields.iter().enumerate().filter(|(_, f)| f.parent.is_none() && f.source.is_none());
    let spec = |(id, field): (usize, &Field)| {
        let ty = field_type(schema, id).map_err(|e| e.in_branch(&field.name))?;
        Ok(FieldSpec::new(field.name.clone(), ty).described(field.description.clone()))
    };
    top.map(spec).collect()
}

fn field_type(schema: &Schema, id: usize) -> Result<FieldType> {
    let field = schema.fields.get(id).ok_or_else(|| Error::corrupt(format!("no field number {id}")))?;
    let other = || Error::unsupported(format!("type {} is not written", field.type_name));
    let starts = |names: &[&str]| names.iter().any(|name| field.type_name.starts_with(name));
    let inner = || match field.children.as_slice() {
        &[item] => field_type(schema, item),
        _ => Err(other()),
    };
    let all = || field.children.iter().map(|&c| field_type(schema, c)).collect::<Result<Vec<_>>>();
    if let Some(n) = field.array_size {
        return Ok(inner()?.array(usize::try_from(n).map_err(|_| other())?));
    }
    match field.role {
        Role::Leaf if field.type_name == "std::string" => Ok(FieldType::Text),
        Role::Leaf if field.children.is_empty() => {
            let dtype = number(&field.type_name).ok_or_else(other)?;
            let &[column] = field.columns.as_slice() else { return Err(other()) };
            let column = schema.columns.get(column).ok_or_else(other)?;
            Ok(reduced(dtype, column).unwrap_or(FieldType::Number(dtype)))
        }
        Role::Collection if starts(&["std::optional<", "std::unique_ptr<"]) => {
            Ok(FieldType::Optional(Box::new(inner()?)))
        }
        Role::Collection if starts(&["std::map<"]) => match inner()? {
            FieldType::Tuple(pair) => match <[FieldType; 2]>::try_from(pair) {
                Ok([key, value]) => Ok(FieldType::Map(Box::new(key), Box::new(value))),
                Err(_) => Err(other()),
            },
            _ => Err(other()),
        },
        Role::Collection if field.type_name.is_empty() || starts(&["std::vector<", "ROOT::VecOps::RVec<"]) => {
            Ok(inner()?.vector())
        }
        Role::Record if starts(&["std::pair<", "std::tuple<"]) => Ok(FieldType::Tuple(all()?)),
        Role::Record if field.type_name.is_empty() && schema.has_numbered_members(id) => Ok(FieldType::Tuple(all()?)),
        Role::Record => {
            let names = field.children.iter().map(|&c| schema.fields.get(c).map_or("", |f| f.name.as_str()));
            let names: Vec<String> = names.map(str::to_owned).collect();
            if names.is_empty() || names.iter().any(|n| n.starts_with(":_")) {
                return Err(other());
            }
            Ok(FieldType::Record(names.into_iter().zip(all()?).collect()))
        }
        Role::Variant => Ok(FieldType::Variant(all()?)),
        _ => Err(other()),
    }
}

fn number(type_name: &str) -> Option<DType> {
    use DType::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let all = [Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64];
    all.into_iter().find(|d| FieldType::Number(*d).name() == type_name)
}

/// The type of a number that is stored with fewer bits.
fn reduced(dtype: DType, column: &Column) -> Option<FieldType> {
    let precision = match (column.code, column.range) {
        (0x0b, _) => Precision::Half,
        (0x1c, _) => Precision::Truncated(column.bits),
        (0x1d, Some((least, most))) => Precision::Quantized(column.bits, least, most),
        _ => return None,
    };
    Some(FieldType::Reduced(dtype, precision))
}

/// Columns for the fields that encode pages as the header says, and, by column of the header, which of them is filled.
fn same_columns(
    old: &Schema,
    specs: &[FieldSpec],
    compression: Compression,
    options: NtupleOptions,
) -> Result<(Builder, Vec<usize>)> {
    let (mut made, _) = Builder::describe(specs, true);
    let (plain, _) = Builder::describe(specs, false);
    let mut order = vec![None; old.columns.len()];
    let mine = made.schema.fields.iter().enumerate().filter(|(_, f)| f.parent.is_none()).map(|(id, _)| id);
    let theirs = old.fields.iter().enumerate().filter(|(_, f)| f.parent.is_none() && f.source.is_none());
    let mut pairs: Vec<(usize, usize)> = mine.zip(theirs.map(|(id, _)| id)).collect();
    let children = |schema: &Schema, id: usize| -> Vec<usize> {
        schema.fields.iter().enumerate().filter(|(_, f)| f.parent == Some(id)).map(|(c, _)| c).collect()
    };
    let columns = |schema: &Schema, id: usize| -> Vec<usize> {
        schema.columns.iter().enumerate().filter(|(_, c)| c.field == id).map(|(c, _)| c).collect()
    };
    let mut as_plain = Vec::new();
    while let Some((mine, theirs)) = pairs.pop() {
        let name = old.fields.get(theirs).map_or("", |f| f.name.as_str());
        let (own, other) = (columns(&made.schema, mine), columns(old, theirs));
        if own.len() != other.len() {
            return Err(Error::unsupported("a field with several representations").in_branch(name));
        }
        for (own, other) in own.into_iter().zip(other) {
            let (Some(packed), Some(unpacked), Some(is)) =
                (made.schema.columns.get(own), plain.schema.columns.get(own), old.columns.get(other))
            else {
                return Err(Error::corrupt("a column is missing"));
            };
            let same = |c: &Column| (c.code, c.bits, c.range) == (is.code, is.bits, is.range);
            if is.representation > 0 || !(same(packed) || same(unpacked)) {
                let what = format!("a column of type {:#04x} is not written", is.code);
                return Err(Error::unsupported(what).in_branch(name));
            }
            if !same(packed) {
                as_plain.push(own);
            }
            if let Some(place) = order.get_mut(other) {
                *place = Some(own);
            }
        }
        let (own, other) = (children(&made.schema, mine), children(old, theirs));
        if own.len() != other.len() {
            return Err(Error::unsupported("a field with members of an unknown kind").in_branch(name));
        }
        pairs.extend(own.into_iter().zip(other));
    }
    for column in as_plain {
        made.encode_as(column, &plain);
    }
    made.make_columns(compression, options.page_bytes as usize);
    let order = order.into_iter().collect::<Option<Vec<usize>>>();
    let order = order.ok_or_else(|| Error::unsupported("it has columns that belong to no field with values"))?;
    Ok((made, order))
}
