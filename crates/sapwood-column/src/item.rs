//! How the values of a branch are stored.

pub(crate) mod regular;

use crate::{Array, ColumnType, DType, PackedFloat};
use sapwood_span::Error;
use std::collections::HashSet;

use regular::Fused;

/// The columns of a record.
pub(crate) type Fields = [(String, Array)];

/// Maximum nesting of collections: deeper is damage.
pub(crate) const DEEPEST: usize = 30;

/// How one value is stored in the file.
///
/// Most items become one column; a base class becomes as many as it has members, which are placed among those of the
/// class itself; [`Item::Skip`] becomes none.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A big-endian number.
    Number(DType),
    /// A number with fewer bits than in memory: `F32` for Float16_t, `F64` for Double32_t.
    Packed(PackedFloat, DType),
    /// TObject's status bits: two more bytes follow for an object that others refer to.
    Bits,
    /// A string with its length in front: one byte, or 255 and four.
    Text,
    /// A C string: a four-byte length, then the bytes (`char*` members).
    LongText,
    /// Bytes that are not part of the values.
    Skip(Skip),
    /// `n` items without a length.
    Fixed(usize, Box<Item>),
    /// A four-byte count, then the items: the form of a collection inside another one.
    Sequence(Box<Item>),
    /// As a sequence, of records: after a header that says so, it is written member by member.
    Records(Box<Item>),
    /// Byte count and version in front of the item.
    Headed(Box<Item>),
    /// Byte count and version in front of named members.
    Object(Object),
    /// A base class: as an object, except that in a collection written member by member its members are written like
    /// those of the class itself. Its columns are columns of the derived class.
    Base(Object),
    /// Named members without a header.
    Members(Vec<(String, Item)>),
    /// A key and its value in a map. Both are described as stored in a map written member by member; object by object
    /// they have no headers.
    Pair(Box<(Item, Item)>),
    /// A flag byte, then as many numbers as the member with this index says.
    Counted(usize, Box<Item>),
    /// A flag byte, then [`Item::Times`] in a fixed array: counted arrays that share their counter.
    Flagged(Box<Item>),
    /// As many items as the member with this index says, without a header.
    Times(usize, Box<Item>),
    /// The upper right triangle of a square matrix with as many rows as the member with this index says.
    Triangle(usize, Box<Item>),
    /// A pointer to an object of one of these classes (never empty): a list of zero or one records. With several
    /// classes a record with a field for each, of which at most one holds a record.
    Pointer(Vec<(String, Item)>),
    /// A TObjArray, TList or TMap: a list of the objects pointed to.
    Listed {
        /// Which of ROOT's containers.
        kind: Listing,
        /// A pointer; of a map, a record of two.
        item: Box<Item>,
    },
    /// A pointer to an object in one of the tables with these indices: its number there, -1 for null; with several
    /// classes a record of class and number.
    Link(Vec<(String, usize)>),
    /// A TClonesArray whose objects are in one of the tables.
    CloneLinks(Vec<(String, usize)>),
    /// Objects that point to each other: a record of the entry's own value and, for each class that pointers may lead
    /// to, a list of its objects; none for a class that cannot be read.
    Graph {
        /// The entry's own value, at its beginning.
        root: Box<Item>,
        /// The objects behind pointers.
        tables: Vec<(String, Option<Item>)>,
    },
    /// An unsplit TClonesArray: its class is named in the data and is one of these. A list of records; with several
    /// classes a record with a list for each.
    Clones(Vec<(String, Item)>),
    /// The class's name (a length byte, the name, a zero), then the object.
    Named(Box<Item>),
    /// An object of a class that the file does not describe because none was ever written: a record without fields.
    Absent(String),
    /// A value in a collection, of a type that the file does not describe. If it were a class, no object could have
    /// been written; so it is an enumeration, which is written as a 32-bit integer.
    Enumeration(String),
    /// An item whose values mostly have one size: created by [`crate::Layout::new`] from classes.
    Fused(Box<Fused>),
}

/// How ROOT's containers of pointers are stored in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// TObjArray: with a lower bound in front.
    Array,
    /// TList and similar classes: with an option after each object.
    Linked,
    /// TMap: keys and values in turn.
    Map,
}

/// Bytes to skip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// This many bytes.
    Bytes(usize),
    /// TObject's members: version, unique id, bits, and a process id for referenced objects.
    TObject,
    /// TObject's bits, with the process id.
    Bits,
}

/// A class in the versions that the file describes.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Object {
    /// Class name.
    pub class: String,
    /// Class version; -1: any.
    pub version: i32,
    /// Checksum of its members: written in place of the version by classes without versions.
    pub checksum: u32,
    /// Members, bases first. They are the columns.
    pub members: Vec<(String, Item)>,
    /// Other versions whose objects may occur in the same branch.
    pub others: Vec<OtherVersion>,
}

/// A class in a version that is not the one of the columns.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OtherVersion {
    /// Class version.
    pub version: i32,
    /// Checksum of its members.
    pub checksum: u32,
    /// Its members.
    pub members: Vec<(String, Item)>,
    /// For each column of its members, the column of the class that receives it.
    pub places: Vec<Option<usize>>,
}

/// The field of a graph that is the entry's own value.
const ROOT: &str = "object";

/// The type of a pointer into tables.
fn link_type(classes: &[(String, usize)]) -> ColumnType {
    let number = ColumnType::Number(DType::I32);
    match classes {
        [_] => number,
        _ => ColumnType::Record { fields: vec![("class".to_owned(), ColumnType::Text), ("index".to_owned(), number)] },
    }
}

/// The names of the fields for the columns of members and base classes, each distinct from those before it.
pub(crate) fn columns_of(members: &[(String, Item)]) -> Vec<(String, ColumnType)> {
    let mut out: Vec<(String, ColumnType)> = Vec::new();
    // looked up for each member of each base: hence a set
    let has_base = members.iter().any(|(_, i)| matches!(i, Item::Base(_)));
    let own = members.iter().filter(|(_, i)| has_base && i.columns() == 1 && i.is_own_column());
    let mut known: HashSet<String> = own.map(|(name, _)| name.clone()).collect();
    for (name, item) in members {
        match item {
            Item::Skip(_) => {}
            Item::Base(base) => {
                for (inner, t) in columns_of(&base.members) {
                    // a member that hides one of the base: both are kept, the base's under its class's name
                    let name = if known.contains(&inner) { format!("{}::{inner}", base.class) } else { inner };
                    known.insert(name.clone());
                    out.push((name, t));
                }
            }
            item => out.push((name.clone(), item.column_type())),
        }
    }
    out
}

/// The index of the [`columns_of`] column with a name.
pub(crate) fn column_named(members: &[(String, Item)], name: &str) -> Option<usize> {
    if members.iter().any(|(_, i)| matches!(i, Item::Base(_))) {
        return columns_of(members).iter().position(|(n, _)| n == name);
    }
    members.iter().filter(|(_, i)| i.is_own_column()).position(|(n, _)| n == name)
}

impl Item {
    /// How many columns it becomes among the members of a class.
    pub(crate) fn columns(&self) -> usize {
        match self {
            Item::Skip(_) => 0,
            Item::Base(base) => base.members.iter().map(|(_, i)| i.columns()).sum(),
            _ => 1,
        }
    }

    fn is_own_column(&self) -> bool {
        !matches!(self, Item::Skip(_) | Item::Base(_))
    }

    /// The type of its column.
    pub fn column_type(&self) -> ColumnType {
        let list = |item: &Item| ColumnType::List { item: Box::new(item.column_type()) };
        let record = |members: &[(String, Item)]| ColumnType::Record { fields: columns_of(members) };
        match self {
            Item::Number(d) | Item::Packed(_, d) => ColumnType::Number(*d),
            Item::Bits => ColumnType::Number(DType::U32),
            Item::Enumeration(_) => ColumnType::Number(DType::I32),
            Item::Text | Item::LongText => ColumnType::Text,
            Item::Fixed(size, item) => ColumnType::Regular { size: *size, item: Box::new(item.column_type()) },
            Item::Sequence(item)
            | Item::Records(item)
            | Item::Counted(_, item)
            | Item::Times(_, item)
            | Item::Triangle(_, item)
            | Item::Listed { item, .. } => list(item),
            Item::Headed(item) | Item::Named(item) | Item::Flagged(item) => item.column_type(),
            Item::Fused(f) => f.item.column_type(),
            Item::Object(o) | Item::Base(o) => record(&o.members),
            Item::Members(m) => record(m),
            Item::Pair(pair) => ColumnType::Record {
                fields: vec![("key".to_owned(), pair.0.column_type()), ("value".to_owned(), pair.1.column_type())],
            },
            Item::Pointer(classes) | Item::Clones(classes) => match classes.as_slice() {
                [(_, item)] => list(item),
                many => ColumnType::Record { fields: many.iter().map(|(n, i)| (n.clone(), list(i))).collect() },
            },
            Item::Link(classes) => link_type(classes),
            Item::CloneLinks(classes) => ColumnType::List { item: Box::new(link_type(classes)) },
            Item::Graph { root, tables } => {
                let nothing = ColumnType::Record { fields: Vec::new() };
                let tables = tables.iter().map(|(name, item)| {
                    let item = item.as_ref().map_or(nothing.clone(), Item::column_type);
                    (name.clone(), ColumnType::List { item: Box::new(item) })
                });
                let root = std::iter::once((ROOT.to_owned(), root.column_type()));
                ColumnType::Record { fields: root.chain(tables).collect() }
            }
            Item::Skip(_) | Item::Absent(_) => ColumnType::Record { fields: Vec::new() },
        }
    }

    /// Whether it may contain objects behind pointers. These are written with class tags and references that count from
    /// the beginning of the basket: such a value is only meaningful where it was written.
    pub fn holds_pointers(&self) -> bool {
        let any = |members: &[(String, Item)]| members.iter().any(|(_, i)| i.holds_pointers());
        match self {
            Item::Pointer(_) | Item::Listed { .. } | Item::Link(_) | Item::CloneLinks(_) | Item::Graph { .. } => true,
            Item::Number(_)
            | Item::Packed(..)
            | Item::Bits
            | Item::Text
            | Item::LongText
            | Item::Skip(_)
            | Item::Absent(_)
            | Item::Enumeration(_) => false,
            Item::Fixed(_, item)
            | Item::Sequence(item)
            | Item::Records(item)
            | Item::Headed(item)
            | Item::Counted(_, item)
            | Item::Times(_, item)
            | Item::Triangle(_, item)
            | Item::Flagged(item)
            | Item::Named(item) => item.holds_pointers(),
            Item::Object(o) | Item::Base(o) => any(&o.members) || o.others.iter().any(|v| any(&v.members)),
            Item::Members(m) | Item::Clones(m) => any(m),
            Item::Pair(pair) => pair.0.holds_pointers() || pair.1.holds_pointers(),
            Item::Fused(f) => f.item.holds_pointers(),
        }
    }

    /// Bytes of the value, where all have the same.
    pub fn fixed_size(&self) -> Option<usize> {
        match self {
            Item::Number(d) => Some(d.size()),
            Item::Packed(p, _) => Some(p.size()),
            Item::Skip(Skip::Bytes(n)) => Some(*n),
            Item::Fixed(n, item) => item.fixed_size()?.checked_mul(*n),
            Item::Members(m) => m.iter().try_fold(0usize, |sum, (_, i)| sum.checked_add(i.fixed_size()?)),
            Item::Pair(pair) => pair.0.fixed_size()?.checked_add(pair.1.fixed_size()?),
            Item::Fused(f) => f.item.fixed_size(),
            _ => None,
        }
    }

    /// The least bytes that a value takes: counts are checked against it.
    pub(crate) fn least_size(&self) -> usize {
        match self {
            Item::Headed(_) | Item::Object(_) | Item::Base(_) => 2,
            Item::Listed { .. } | Item::Clones(_) | Item::CloneLinks(_) => 10,
            Item::Graph { root, .. } => root.least_size(),
            Item::Pair(pair) => bare(&pair.0).least_size().saturating_add(bare(&pair.1).least_size()),
            Item::Sequence(_)
            | Item::Records(_)
            | Item::Pointer(_)
            | Item::Link(_)
            | Item::LongText
            | Item::Bits
            | Item::Enumeration(_) => 4,
            Item::Skip(Skip::TObject) => 10,
            Item::Skip(Skip::Bits) => 4,
            Item::Text | Item::Counted(..) | Item::Flagged(_) | Item::Named(_) => 1,
            Item::Times(..) | Item::Triangle(..) | Item::Absent(_) => 0,
            Item::Fixed(n, item) => item.least_size().saturating_mul(*n),
            Item::Fused(f) => f.item.least_size(),
            Item::Members(m) => m.iter().fold(0, |sum, (_, i)| i.least_size().saturating_add(sum)),
            Item::Number(_) | Item::Packed(..) | Item::Skip(_) => self.fixed_size().unwrap_or(0),
        }
    }

    /// The class of the objects inside, for messages.
    pub(crate) fn class(&self) -> String {
        match self {
            Item::Object(o) | Item::Base(o) => o.class.clone(),
            Item::Absent(class) | Item::Enumeration(class) => class.clone(),
            Item::Fixed(_, item)
            | Item::Sequence(item)
            | Item::Records(item)
            | Item::Headed(item)
            | Item::Times(_, item)
            | Item::Named(item) => item.class(),
            Item::Fused(f) => f.item.class(),
            _ => "a collection".to_owned(),
        }
    }

    /// The member (by index) with the length of the array, or of each array in a fixed one.
    pub(crate) fn counter(&self) -> Option<usize> {
        match self {
            Item::Counted(by, _) | Item::Times(by, _) | Item::Triangle(by, _) => Some(*by),
            Item::Fixed(_, item) | Item::Flagged(item) => item.counter(),
            _ => None,
        }
    }

    /// Whether it is a record without members.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Item::Object(o) | Item::Base(o) => {
                o.members.iter().all(|(_, i)| matches!(i, Item::Base(_)) && i.is_empty())
            }
            Item::Members(m) => m.is_empty(),
            Item::Absent(_) => true,
            _ => false,
        }
    }

    /// The type, when a value is only numbers of one type (fixed arrays included).
    pub(crate) fn plain(&self) -> Option<DType> {
        match self {
            Item::Number(d) => Some(*d),
            Item::Fixed(_, item) => item.plain(),
            _ => None,
        }
    }
}

/// A key or a value as stored in a map written object by object: without a header.
pub(crate) fn bare(item: &Item) -> &Item {
    match item {
        Item::Headed(inner) => inner,
        item => item,
    }
}

pub(crate) fn misfit(item: &Item) -> Error {
    Error::invalid(format!("{item:?} does not go into this column"))
}
