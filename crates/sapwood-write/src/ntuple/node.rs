//! The fields of an ntuple that is written: the header's description of them, and how values go to their columns.

use super::columns::ColumnBuffer;
use super::descriptions::describe;
use super::field::{FieldSpec, FieldType, Precision};
use crate::column_source::{check_dtype, check_offsets};
use crate::pool::Pool;
use crate::serial::{field, nth_field};
use sapwood_codec::Compression;
use sapwood_column::ntuple::{
    PageEncoding, column_of, half_column, index_column, quantized_column, switch_column, text_column, truncated_column,
};
use sapwood_column::{Array, DType, Values};
use sapwood_format::ntuple::{Column, Field, Role, Schema};
use sapwood_span::{Error, Result};
use std::ops::Range;

/// Where the values of a field go.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Numbers {
        column: usize,
        dtype: DType,
    },
    Text {
        ends: usize,
        bytes: usize,
    },
    Array {
        item: Box<Node>,
        size: usize,
    },
    List {
        ends: usize,
        item: Box<Node>,
    },
    Record {
        members: Vec<(String, Node)>,
    },
    /// The items of a map, pairs, tuples: members by position.
    Tuple {
        members: Vec<Node>,
    },
    /// Lists of one item or none.
    Optional {
        ends: usize,
        item: Box<Node>,
    },
    /// A list for each alternative, at most one of them with an item.
    Variant {
        switch: usize,
        items: Vec<Node>,
    },
    Reduced {
        column: usize,
        dtype: DType,
        precision: Precision,
    },
}

/// The schema of an ntuple under construction.
pub(super) struct Builder {
    pub(super) schema: Schema,
    pub(super) columns: Vec<ColumnBuffer>,
    /// Whether columns are encoded as in compressed files.
    packed: bool,
    /// Elements and bytes in memory of each column, whose pages are made when their number is known.
    kinds: Vec<(u16, PageEncoding, usize)>,
    /// Columns that the ntuple has already.
    columns_before: usize,
}

/// Bytes of the pages of all columns that are being filled.
const OPEN_PAGES: usize = 32 << 20;
/// Pages of at least this size are made however many columns there are.
const LEAST_PAGE: usize = 64 << 10;

impl Builder {
    /// The schema of these fields, their columns, and where values go. `page_bytes`: of the largest page in memory.
    pub(super) fn build(
        specs: &[FieldSpec],
        compression: Compression,
        page_bytes: usize,
    ) -> (Self, Vec<(String, Node)>) {
        let (mut made, nodes) = Self::describe(specs, compression != Compression::NONE);
        made.make_columns(compression, page_bytes);
        (made, nodes)
    }

    /// The same without columns. `packed`: with the encodings of compressed files.
    pub(super) fn describe(specs: &[FieldSpec], packed: bool) -> (Self, Vec<(String, Node)>) {
        let mut made = Self::behind(Schema::default(), 0, packed);
        let mut nodes = Vec::with_capacity(specs.len());
        for spec in specs {
            let id = made.schema.fields.len();
            nodes.push((spec.name.clone(), made.field(&spec.name, &spec.ty, None, &spec.description)));
            // they were checked
            let _ = describe(&mut made.schema, id, spec);
        }
        (made, nodes)
    }

    /// Continues a schema, of which so many columns are filled.
    pub(super) fn behind(schema: Schema, columns_before: usize, packed: bool) -> Self {
        Self { schema, columns: Vec::new(), packed, kinds: Vec::new(), columns_before }
    }

    /// Refuses descriptions of fields that do not exist.
    pub(super) fn check_descriptions(specs: &[FieldSpec]) -> Result<()> {
        for spec in specs.iter().filter(|spec| !spec.inside.is_empty()) {
            let mut made = Self::behind(Schema::default(), 0, true);
            made.field(&spec.name, &spec.ty, None, "");
            describe(&mut made.schema, 0, spec).map_err(|e| e.in_branch(&spec.name))?;
        }
        Ok(())
    }

    /// The columns, which are empty.
    pub(super) fn make_columns(&mut self, compression: Compression, page_bytes: usize) {
        let number = self.columns_before + self.kinds.len();
        let page = page_bytes.min((OPEN_PAGES / number.max(1)).max(LEAST_PAGE));
        let column = |&(bits, encoding, element)| ColumnBuffer::new((bits, encoding), element, page, compression);
        self.columns = self.kinds.iter().map(column).collect();
    }

    /// Encodes a column as another schema of the same fields does.
    pub(super) fn encode_as(&mut self, column: usize, other: &Builder) {
        if let (Some(kind), Some(wanted)) = (self.kinds.get_mut(column), other.kinds.get(column)) {
            *kind = *wanted;
        }
    }

    /// Adds a field, with those below it, behind all others.
    pub(super) fn field(&mut self, name: &str, ty: &FieldType, parent: Option<usize>, description: &str) -> Node {
        let role = match ty {
            FieldType::Vector(_) | FieldType::Map(..) | FieldType::Optional(_) => Role::Collection,
            FieldType::Record(_) | FieldType::Tuple(_) => Role::Record,
            FieldType::Variant(_) => Role::Variant,
            _ => Role::Leaf,
        };
        let array_size = if let FieldType::Array(_, n) = ty { Some(*n as u64) } else { None };
        let id = self.add(name, ty.name(), parent, role);
        if let Some(field) = self.schema.fields.get_mut(id) {
            (field.array_size, field.description) = (array_size, description.to_owned());
        }
        let packed = self.packed;
        match ty {
            FieldType::Number(dtype) => {
                Node::Numbers { column: self.column(id, column_of(*dtype, packed), dtype.size()), dtype: *dtype }
            }
            FieldType::Text => {
                Node::Text { ends: self.column(id, index_column(packed), 8), bytes: self.column(id, text_column(), 1) }
            }
            FieldType::Array(item, size) => {
                Node::Array { item: Box::new(self.field("_0", item, Some(id), "")), size: *size }
            }
            FieldType::Vector(item) => {
                let ends = self.column(id, index_column(packed), 8);
                Node::List { ends, item: Box::new(self.field("_0", item, Some(id), "")) }
            }
            FieldType::Map(key, value) => {
                let ends = self.column(id, index_column(packed), 8);
                let type_name = format!("std::pair<{},{}>", key.name(), value.name());
                let pair = self.add("_0", type_name, Some(id), Role::Record);
                let members = [&**key, &**value];
                let members = self.numbered(members.into_iter(), pair);
                Node::List { ends, item: Box::new(Node::Tuple { members }) }
            }
            FieldType::Optional(item) => {
                let ends = self.column(id, index_column(packed), 8);
                Node::Optional { ends, item: Box::new(self.field("_0", item, Some(id), "")) }
            }
            FieldType::Tuple(items) => Node::Tuple { members: self.numbered(items.iter(), id) },
            FieldType::Variant(items) => {
                let switch = self.column(id, switch_column(), 12);
                Node::Variant { switch, items: self.numbered(items.iter(), id) }
            }
            FieldType::Reduced(dtype, precision) => {
                let kind = match *precision {
                    Precision::Half => half_column(),
                    Precision::Truncated(bits) => truncated_column(bits),
                    Precision::Quantized(bits, ..) => quantized_column(bits),
                };
                let column = self.column(id, kind, 4);
                if let (Precision::Quantized(_, least, most), Some(c)) = (precision, self.schema.columns.last_mut()) {
                    c.range = Some((*least, *most));
                }
                Node::Reduced { column, dtype: *dtype, precision: *precision }
            }
            FieldType::Record(members) => {
                let member = |(name, ty): &(String, FieldType)| (name.clone(), self.field(name, ty, Some(id), ""));
                Node::Record { members: members.iter().map(member).collect() }
            }
        }
    }

    /// Subfields that have numbers as names.
    fn numbered<'a>(&mut self, items: impl Iterator<Item = &'a FieldType>, parent: usize) -> Vec<Node> {
        items.enumerate().map(|(i, ty)| self.field(&format!("_{i}"), ty, Some(parent), "")).collect()
    }

    fn add(&mut self, name: &str, type_name: String, parent: Option<usize>, role: Role) -> usize {
        self.schema.fields.push(Field { name: name.to_owned(), type_name, parent, role, ..Field::default() });
        self.schema.fields.len() - 1
    }

    fn column(&mut self, field: usize, (code, bits, encoding): (u16, u16, PageEncoding), element: usize) -> usize {
        self.schema.columns.push(Column { code, bits, field, representation: 0, first_element: 0, range: None });
        self.kinds.push((bits, encoding, element));
        self.columns_before + self.kinds.len() - 1
    }
}

/// The items of entries `range`.
fn items(offsets: &[i64], range: &Range<usize>) -> Range<usize> {
    let at = |i: usize| offsets.get(i).and_then(|&o| usize::try_from(o).ok()).unwrap_or(0);
    at(range.start)..at(range.end)
}

impl Node {
    /// Checks a whole column: types, lengths, offsets.
    pub(super) fn check(&self, array: &Array) -> Result<()> {
        match (self, array) {
            (Node::Numbers { dtype, .. }, Array::Flat(values)) => check_dtype(*dtype, values),
            (Node::Text { .. }, Array::Text { offsets, bytes }) => check_offsets(offsets, bytes.len()),
            (Node::Array { item, size }, Array::Regular { size: given, len, content }) => {
                if given != size {
                    return Err(Error::invalid(format!("an entry has {size} values, not {given}")));
                }
                if size.checked_mul(*len) != Some(content.len()) {
                    let what = format!("{len} entries of {size} values are not {} values", content.len());
                    return Err(Error::invalid(what));
                }
                item.check(content)
            }
            (Node::List { item, .. }, Array::List { offsets, content }) => {
                check_offsets(offsets, content.len())?;
                item.check(content)
            }
            (Node::Record { members }, Array::Record { len, fields }) => {
                if let Some((name, _)) = fields.iter().find(|(name, _)| !members.iter().any(|(n, _)| n == name)) {
                    return Err(Error::invalid(format!("the records have a field {name}, which is not declared")));
                }
                for (name, member) in members {
                    let column = field(array, name);
                    let column = column.ok_or_else(|| Error::invalid(format!("the records have no field {name}")))?;
                    check_member(member, column, *len)
                        .map_err(|e| e.clone().worded(format!("field {name}: {}", e.what())))?;
                }
                Ok(())
            }
            (Node::Tuple { members }, Array::Record { len, fields }) if fields.len() == members.len() => {
                members.iter().zip(fields).try_for_each(|(member, (_, column))| check_member(member, column, *len))
            }
            (Node::Optional { item, .. }, Array::List { offsets, content }) => {
                check_offsets(offsets, content.len())?;
                if offsets.windows(2).any(|w| w[1] - w[0] > 1) {
                    return Err(Error::invalid("an optional value is a list of more than one item"));
                }
                item.check(content)
            }
            (Node::Variant { items, .. }, Array::Record { len, fields }) if fields.len() == items.len() => {
                let mut used = vec![false; *len];
                for (item, (_, column)) in items.iter().zip(fields) {
                    let Array::List { offsets, content } = column else {
                        return Err(Error::invalid("an alternative of a variant is not given as a list"));
                    };
                    check_offsets(offsets, content.len())?;
                    if column.len() != *len {
                        return Err(Error::invalid(format!("{} alternatives in {len} variants", column.len())));
                    }
                    for (w, used) in offsets.windows(2).zip(&mut used) {
                        if w[1] - w[0] > 1 || (w[1] > w[0] && *used) {
                            return Err(Error::invalid("a variant has more than one value"));
                        }
                        *used |= w[1] > w[0];
                    }
                    item.check(content)?;
                }
                Ok(())
            }
            (Node::Reduced { dtype, precision, .. }, Array::Flat(values)) => {
                check_dtype(*dtype, values)?;
                check_limits(*precision, values)
            }
            _ => Err(Error::invalid(format!("each value is {}: the array has the wrong kind", self.kind()))),
        }
    }

    fn kind(&self) -> String {
        match self {
            Node::Numbers { dtype, .. } => format!("a {}", dtype.name()),
            Node::Text { .. } => "a string".to_owned(),
            Node::Array { size, .. } => format!("an array of {size} items"),
            Node::List { .. } => "a list".to_owned(),
            Node::Record { .. } => "a record".to_owned(),
            Node::Tuple { members } => format!("a record of {} members", members.len()),
            Node::Optional { .. } => "an optional value".to_owned(),
            Node::Variant { items, .. } => format!("one of {} types", items.len()),
            Node::Reduced { dtype, .. } => format!("a {}", dtype.name()),
        }
    }

    /// Bytes in memory of entries of a checked column.
    pub(super) fn bytes(&self, array: &Array, range: Range<usize>) -> u64 {
        let n = range.len() as u64;
        match (self, array) {
            (Node::Numbers { dtype, .. }, _) => n * dtype.size() as u64,
            (Node::Text { .. }, Array::Text { offsets, .. }) => 8 * n + items(offsets, &range).len() as u64,
            (Node::Array { item, size }, Array::Regular { content, .. }) => {
                item.bytes(content, range.start * size..range.end * size)
            }
            (Node::List { item, .. } | Node::Optional { item, .. }, Array::List { offsets, content }) => {
                8 * n + item.bytes(content, items(offsets, &range))
            }
            (Node::Record { members }, _) => {
                let columns = members.iter().filter_map(|(name, node)| Some((node, field(array, name)?)));
                columns.map(|(node, column)| node.bytes(column, range.clone())).sum()
            }
            (Node::Tuple { members }, _) => {
                let columns = members.iter().enumerate().filter_map(|(i, node)| Some((node, nth_field(array, i)?)));
                columns.map(|(node, column)| node.bytes(column, range.clone())).sum()
            }
            (Node::Variant { items: members, .. }, _) => {
                let columns = members.iter().enumerate().filter_map(|(i, node)| Some((node, nth_field(array, i)?)));
                let inside = columns.map(|(node, column)| match column {
                    Array::List { offsets, content } => node.bytes(content, items(offsets, &range)),
                    _ => 0,
                });
                12 * n + inside.sum::<u64>()
            }
            (Node::Reduced { .. }, _) => 4 * n,
            _ => 0,
        }
    }

    /// Appends entries of a checked column.
    pub(super) fn append(&self, array: &Array, range: Range<usize>, columns: &mut [ColumnBuffer], pool: &mut Pool) {
        match (self, array) {
            (Node::Numbers { column, .. }, Array::Flat(values)) => {
                if let Some(column) = columns.get_mut(*column) {
                    column.push(values, range, pool);
                }
            }
            (Node::Text { ends, bytes: to }, Array::Text { offsets, bytes }) => {
                if let Some(column) = columns.get_mut(*ends) {
                    column.push_ends(offsets.get(range.start..=range.end).unwrap_or_default(), pool);
                }
                if let Some(column) = columns.get_mut(*to) {
                    column.push_bytes(bytes.get(items(offsets, &range)).unwrap_or_default(), pool);
                }
            }
            (Node::Array { item, size }, Array::Regular { content, .. }) => {
                item.append(content, range.start * size..range.end * size, columns, pool);
            }
            (Node::List { ends, item } | Node::Optional { ends, item }, Array::List { offsets, content }) => {
                if let Some(column) = columns.get_mut(*ends) {
                    column.push_ends(offsets.get(range.start..=range.end).unwrap_or_default(), pool);
                }
                item.append(content, items(offsets, &range), columns, pool);
            }
            (Node::Record { members }, _) => {
                for (name, node) in members {
                    if let Some(column) = field(array, name) {
                        node.append(column, range.clone(), columns, pool);
                    }
                }
            }
            (Node::Tuple { members }, _) => {
                for (i, node) in members.iter().enumerate() {
                    if let Some(column) = nth_field(array, i) {
                        node.append(column, range.clone(), columns, pool);
                    }
                }
            }
            (Node::Variant { switch, items: members }, Array::Record { fields, .. }) => {
                let has = |column: &Array, i: usize| match column {
                    Array::List { offsets, .. } => offsets.get(i + 1) > offsets.get(i),
                    _ => false,
                };
                if let Some(column) = columns.get_mut(*switch) {
                    let chosen = |i: usize| fields.iter().position(|(_, list)| has(list, i));
                    column.push_switches(range.clone().map(chosen), pool);
                }
                for (node, (_, list)) in members.iter().zip(fields) {
                    if let Array::List { offsets, content } = list {
                        node.append(content, items(offsets, &range), columns, pool);
                    }
                }
            }
            (Node::Reduced { column, precision, .. }, Array::Flat(values)) => {
                if let Some(column) = columns.get_mut(*column) {
                    column.push_reduced(values, range, *precision, pool);
                }
            }
            _ => {}
        }
    }
}

fn check_member(node: &Node, column: &Array, len: usize) -> Result<()> {
    node.check(column)?;
    if column.len() != len {
        return Err(Error::invalid(format!("{} values in {len} records", column.len())));
    }
    Ok(())
}

/// Refuses numbers that a column of fewer bits would turn into others altogether.
fn check_limits(precision: Precision, values: &Values) -> Result<()> {
    let (least, most) = match precision {
        Precision::Quantized(_, least, most) => (least, most),
        Precision::Half => (-65504.0, 65504.0),
        Precision::Truncated(_) => (f64::from(f32::MIN), f64::from(f32::MAX)),
    };
    let special = !matches!(precision, Precision::Quantized(..));
    let fits = |x: f64| (least..=most).contains(&x) || (special && !x.is_finite());
    let wrong = match values {
        Values::F32(v) => v.iter().map(|&x| f64::from(x)).find(|&x| !fits(x)),
        Values::F64(v) => v.iter().copied().find(|&x| !fits(x)),
        _ => None,
    };
    wrong.map_or(Ok(()), |x| {
        Err(Error::invalid(format!("{x} is not between {least} and {most}"))
            .with_remedy("choose other limits or another type"))
    })
}
