use crate::{Array, DType, Values};
use std::fmt;

/// The type of a column's entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A number.
    Number(DType),
    /// A string of bytes.
    Text,
    /// A fixed number of items.
    Regular {
        /// How many.
        size: usize,
        /// Of which type.
        item: Box<ColumnType>,
    },
    /// Any number of items.
    List {
        /// Of which type.
        item: Box<ColumnType>,
    },
    /// Named fields.
    Record {
        /// Names and types, in order.
        fields: Vec<(String, ColumnType)>,
    },
}

impl ColumnType {
    /// Whether it is a single number.
    pub fn is_number(&self) -> bool {
        matches!(self, ColumnType::Number(_))
    }

    /// A column of this type without entries.
    pub fn empty(&self) -> Array {
        match self {
            ColumnType::Number(d) => Array::Flat(Values::with_capacity(*d, 0)),
            ColumnType::Text => Array::Text { offsets: vec![0], bytes: Vec::new() },
            ColumnType::Regular { size, item } => {
                Array::Regular { size: *size, len: 0, content: Box::new(item.empty()) }
            }
            ColumnType::List { item } => Array::List { offsets: vec![0], content: Box::new(item.empty()) },
            ColumnType::Record { fields } => {
                Array::Record { len: 0, fields: fields.iter().map(|(n, t)| (n.clone(), t.empty())).collect() }
            }
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnType::Number(d) => f.write_str(d.name()),
            ColumnType::Text => f.write_str("string"),
            ColumnType::Regular { size, item } => write!(f, "{size} * {item}"),
            ColumnType::List { item } => write!(f, "var * {item}"),
            ColumnType::Record { fields } => {
                f.write_str("{")?;
                for (i, (name, t)) in fields.iter().enumerate() {
                    write!(f, "{}{name}: {t}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}
