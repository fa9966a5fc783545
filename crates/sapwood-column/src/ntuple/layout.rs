//! What a field of an ntuple becomes: chosen once, from the schema.

use super::element::Element;
use crate::class::graph::linked;
use crate::class::{Context, class_item};
use crate::{ColumnType, DType, Form, Item};
use sapwood_format::ntuple::{Field, Role, Schema};
use sapwood_span::{Error, Result};

/// How a field is decoded.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// A number; the column of each representation.
    Number { columns: Vec<(usize, Element)>, dtype: DType },
    /// So many bits, of one column.
    Bits { column: usize, size: usize },
    /// A string: the columns of its ends and of its bytes, by representation.
    Text { columns: Vec<Ends>, bytes: Vec<usize> },
    /// Any number of items.
    List { columns: Vec<Ends>, item: Box<Node>, kind: ListKind },
    /// A fixed number of items.
    Fixed { size: usize, item: Box<Node> },
    /// Subfields.
    Record { is_tuple: bool, fields: Vec<(String, Node)> },
    /// One of its subfields, or none.
    Variant { columns: Vec<usize>, items: Vec<Node> },
    /// Objects written by ROOT's streamer: the columns of the ends of their bytes, and of the bytes.
    Streamed { columns: Vec<Ends>, bytes: Vec<usize>, item: Box<Item> },
    /// The number of items of a collection.
    Cardinality { columns: Vec<Ends>, dtype: DType },
}

/// A column with the ends of items in another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ends {
    pub column: usize,
    pub element: Element,
}

/// What the items of a collection are to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    /// A list.
    Items,
    /// One value or none.
    Optional,
    /// The keys and values of a map, which has each key once.
    Map,
}

impl ListKind {
    fn of(type_name: &str) -> Self {
        match type_name {
            name if is_optional(name) => ListKind::Optional,
            name if name.starts_with("std::map<") || name.starts_with("std::unordered_map<") => ListKind::Map,
            _ => ListKind::Items,
        }
    }
}

/// Integers and other numbers by their normalized C++ names.
fn number(type_name: &str) -> Option<DType> {
    Some(match type_name {
        "bool" => DType::Bool,
        "std::int8_t" => DType::I8,
        // a character is a byte without a sign, as in uproot
        "char" | "std::byte" | "std::uint8_t" => DType::U8,
        "std::int16_t" => DType::I16,
        "std::uint16_t" => DType::U16,
        "std::int32_t" => DType::I32,
        "std::uint32_t" => DType::U32,
        "std::int64_t" => DType::I64,
        "std::uint64_t" => DType::U64,
        "float" => DType::F32,
        "double" => DType::F64,
        _ => return None,
    })
}

/// Containers of at most one value.
fn is_optional(type_name: &str) -> bool {
    type_name.starts_with("std::optional<") || type_name.starts_with("std::unique_ptr<")
}

fn array_size(field: &Field, size: u64) -> Result<usize> {
    let size = usize::try_from(size).ok().filter(|&n| n <= i32::MAX as usize);
    size.ok_or_else(|| Error::corrupt(format!("field {} has an impossible size", field.name)))
}

/// What a field puts around the values of its subfield.
enum Frame {
    List(Vec<Ends>, ListKind),
    Fixed(usize),
}

/// The field's columns, one row per representation; each row has `n` columns.
fn representations(schema: &Schema, field: &Field, n: usize) -> Result<Vec<Vec<usize>>> {
    let columns = &field.columns;
    if columns.is_empty() || !columns.len().is_multiple_of(n) {
        return Err(Error::unsupported(format!("field {} has {} columns", field.name, columns.len())));
    }
    let rows: Vec<Vec<usize>> = columns.chunks(n).map(<[usize]>::to_vec).collect();
    // those of a projected field have the numbers of its source
    for row in &rows {
        let of = |c: &usize| schema.columns[*c].representation;
        if row.iter().any(|c| of(c) != of(&row[0])) {
            return Err(Error::corrupt(format!("the representations of field {} have different columns", field.name)));
        }
    }
    Ok(rows)
}

fn ends(schema: &Schema, column: usize) -> Result<Ends> {
    let c = &schema.columns[column];
    if !Element::is_index(c) {
        return Err(Error::corrupt(format!("a collection whose first column has type {:#04x}", c.code)));
    }
    Ok(Ends { column, element: Element::of(c)? })
}

impl Node {
    /// # Errors
    /// `Unsupported` or `Corrupt`, with the reason.
    pub(super) fn of(schema: &Schema, id: usize, cx: &Context) -> Result<Self> {
        let field = &schema.fields[id];
        if let Some(size) = field.array_size {
            let size = array_size(field, size)?;
            return match (field.children.as_slice(), field.columns.as_slice()) {
                (&[item], []) => Ok(Node::Fixed { size, item: Box::new(Node::of(schema, item, cx)?) }),
                ([], &[column]) if Element::of(&schema.columns[column])? == Element::Bit => {
                    Ok(Node::Bits { column, size })
                }
                _ => Err(Error::unsupported(format!("field {} is an array of an unknown kind", field.name))),
            };
        }
        match field.role {
            Role::Leaf => Self::leaf(schema, field, cx),
            Role::Record => {
                let member = |(c, name): (usize, String)| Ok((name, Node::of(schema, c, cx)?));
                let fields = schema.members(id).into_iter().map(member).collect::<Result<_>>()?;
                let starts = |name: &str| field.type_name.starts_with(name);
                // a tuple that contains a record has no name
                let nameless = field.type_name.is_empty() && schema.has_numbered_members(id);
                let is_tuple = starts("std::pair<") || starts("std::tuple<") || nameless;
                Ok(Node::Record { is_tuple, fields })
            }
            Role::Collection => {
                let rows = representations(schema, field, 1)?;
                let columns = rows.iter().map(|row| ends(schema, row[0])).collect::<Result<_>>()?;
                let &[item] = field.children.as_slice() else {
                    return Err(Error::unsupported(format!(
                        "collection {} has {} subfields",
                        field.name,
                        field.children.len()
                    )));
                };
                let kind = ListKind::of(&field.type_name);
                Ok(Node::List { columns, item: Box::new(Node::of(schema, item, cx)?), kind })
            }
            Role::Variant => {
                let columns = representations(schema, field, 1)?.concat();
                if columns.iter().any(|&c| schema.columns[c].code != 0x10) {
                    return Err(Error::corrupt(format!("variant {} has a column of another type", field.name)));
                }
                let items = field.children.iter().map(|&c| Node::of(schema, c, cx)).collect::<Result<_>>()?;
                Ok(Node::Variant { columns, items })
            }
            Role::Streamer => {
                let rows = representations(schema, field, 2)?;
                let columns = rows.iter().map(|row| ends(schema, row[0])).collect::<Result<_>>()?;
                let class = field.type_name.as_str();
                let item = linked(class, cx, |cx| class_item(class, cx));
                let item = item.map_err(|e| {
                    e.clone().worded(format!("objects of class {class}, written by ROOT's streamer: {}", e.what()))
                })?;
                let bytes = rows.iter().map(|row| row[1]).collect();
                Ok(Node::Streamed { columns, bytes, item: Box::new(item) })
            }
            Role::Unknown(role) => Err(Error::unsupported(format!("field {} has role {role}", field.name))),
        }
    }

    /// The same for each entry: a field below a collection has a list of its values.
    ///
    /// # Errors
    /// `Unsupported` below a variant.
    pub(super) fn within(self, schema: &Schema, id: usize) -> Result<Self> {
        let mut node = self;
        let mut at = id;
        while let Some(parent) = schema.fields[at].parent {
            let above = &schema.fields[parent];
            node = match (Node::frame(schema, parent)?, above.role) {
                (Some(Frame::List(columns, kind)), _) => Node::List { columns, item: Box::new(node), kind },
                (Some(Frame::Fixed(size)), _) => Node::Fixed { size, item: Box::new(node) },
                (None, Role::Record | Role::Leaf) => node,
                _ => return Err(Error::unsupported("an alternative of a variant is read with the variant")),
            };
            at = parent;
        }
        Ok(node)
    }

    /// What a field puts around the values of its subfield.
    fn frame(schema: &Schema, id: usize) -> Result<Option<Frame>> {
        let field = &schema.fields[id];
        if let Some(size) = field.array_size {
            return Ok(Some(Frame::Fixed(array_size(field, size)?)));
        }
        if field.role != Role::Collection {
            return Ok(None);
        }
        let rows = representations(schema, field, 1)?;
        let columns = rows.iter().map(|row| ends(schema, row[0])).collect::<Result<_>>()?;
        let kind = if is_optional(&field.type_name) { ListKind::Optional } else { ListKind::Items };
        Ok(Some(Frame::List(columns, kind)))
    }

    fn leaf(schema: &Schema, field: &Field, cx: &Context) -> Result<Self> {
        let cardinality =
            |t: &str| t.strip_prefix("ROOT::RNTupleCardinality<").and_then(|t| number(t.strip_suffix('>')?));
        if let Some(dtype) = cardinality(&field.type_name) {
            let rows = representations(schema, field, 1)?;
            let columns = rows.iter().map(|row| ends(schema, row[0])).collect::<Result<_>>()?;
            return Ok(Node::Cardinality { columns, dtype });
        }
        if field.type_name == "std::string" {
            let rows = representations(schema, field, 2)?;
            let columns = rows.iter().map(|row| ends(schema, row[0])).collect::<Result<_>>()?;
            return Ok(Node::Text { columns, bytes: rows.iter().map(|row| row[1]).collect() });
        }
        // enums and atomic values
        if let (&[inner], []) = (field.children.as_slice(), field.columns.as_slice()) {
            return Node::of(schema, inner, cx);
        }
        let Some(dtype) = number(&field.type_name) else {
            return Err(Error::unsupported(format!("type {}", field.type_name)));
        };
        let rows = representations(schema, field, 1)?;
        let element = |row: &Vec<usize>| Ok((row[0], Element::of(&schema.columns[row[0]])?.in_field_of(dtype)));
        let columns: Vec<_> = rows.iter().map(element).collect::<Result<_>>()?;
        let is_real = |d: DType| matches!(d, DType::F32 | DType::F64);
        for (_, element) in &columns {
            if *element == Element::Switch || is_real(element.dtype()) != is_real(dtype) {
                let what = format!("a {} with elements of {}", field.type_name, element.dtype().name());
                return Err(Error::corrupt(what));
            }
        }
        Ok(Node::Number { columns, dtype })
    }

    /// All columns that it is decoded from, in any representation.
    pub(super) fn columns(&self, out: &mut Vec<usize>) {
        match self {
            Node::Number { columns, .. } => out.extend(columns.iter().map(|(c, _)| c)),
            Node::Bits { column, .. } => out.push(*column),
            Node::Text { columns, bytes } | Node::Streamed { columns, bytes, .. } => {
                out.extend(columns.iter().map(|e| e.column));
                out.extend(bytes);
            }
            Node::List { columns, item, .. } => {
                out.extend(columns.iter().map(|e| e.column));
                item.columns(out);
            }
            Node::Fixed { item, .. } => item.columns(out),
            Node::Record { fields, .. } => fields.iter().for_each(|(_, n)| n.columns(out)),
            Node::Variant { columns, items } => {
                out.extend(columns);
                items.iter().for_each(|n| n.columns(out));
            }
            Node::Cardinality { columns, .. } => out.extend(columns.iter().map(|e| e.column)),
        }
    }

    /// Whether a variant is in it.
    pub(super) fn has_variant(&self) -> bool {
        match self {
            Node::Variant { .. } => true,
            Node::List { item, .. } | Node::Fixed { item, .. } => item.has_variant(),
            Node::Record { fields, .. } => fields.iter().any(|(_, n)| n.has_variant()),
            Node::Number { .. }
            | Node::Bits { .. }
            | Node::Text { .. }
            | Node::Streamed { .. }
            | Node::Cardinality { .. } => false,
        }
    }

    /// The type of the column in memory.
    pub(super) fn column_type(&self) -> ColumnType {
        match self {
            Node::Number { dtype, .. } | Node::Cardinality { dtype, .. } => ColumnType::Number(*dtype),
            Node::Bits { size, .. } => {
                ColumnType::Regular { size: *size, item: Box::new(ColumnType::Number(DType::Bool)) }
            }
            Node::Text { .. } => ColumnType::Text,
            Node::Streamed { item, .. } => item.column_type(),
            Node::List { item, .. } => ColumnType::List { item: Box::new(item.column_type()) },
            Node::Fixed { size, item } => ColumnType::Regular { size: *size, item: Box::new(item.column_type()) },
            Node::Record { fields, .. } => {
                ColumnType::Record { fields: fields.iter().map(|(n, f)| (n.clone(), f.column_type())).collect() }
            }
            // each alternative is a list of at most one item
            Node::Variant { items, .. } => ColumnType::Record {
                fields: items
                    .iter()
                    .enumerate()
                    .map(|(i, n)| (format!("_{i}"), ColumnType::List { item: Box::new(n.column_type()) }))
                    .collect(),
            },
        }
    }

    /// What the column's type does not include.
    pub(super) fn form(&self) -> Form {
        match self {
            Node::Number { .. } | Node::Cardinality { .. } | Node::Text { .. } => Form::Plain,
            Node::Bits { .. } => Form::List(Box::new(Form::Plain)),
            Node::Streamed { item, .. } => item.form(),
            Node::List { item, kind, .. } => match (kind, item.form()) {
                (ListKind::Optional, item) => Form::Optional(Box::new(item)),
                // named so, that it is written as a map again
                (ListKind::Map, Form::Tuple(pair)) => {
                    let pair = <[Form; 2]>::try_from(pair).map(|[key, value]| Form::Pair(Box::new((key, value))));
                    Form::List(Box::new(pair.unwrap_or_else(Form::Tuple)))
                }
                (_, item) => Form::List(Box::new(item)),
            },
            Node::Fixed { item, .. } => Form::List(Box::new(item.form())),
            Node::Record { is_tuple, fields } => {
                let fields = fields.iter().map(|(_, n)| n.form()).collect();
                // records have no names in uproot either
                if *is_tuple { Form::Tuple(fields) } else { Form::Record { class: None, fields } }
            }
            Node::Variant { items, .. } => Form::Variant(items.iter().map(Node::form).collect()),
        }
    }
}
