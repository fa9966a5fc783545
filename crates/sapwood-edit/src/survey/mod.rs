//! A streamed object whose bytes can be changed in places while everything else stays unchanged.
//!
//! [`survey`] walks an object (a tree's header, a histogram) along the class descriptions of its own file and records
//! the positions of its parts: members that may be changed, byte counts, names of classes and references to objects,
//! which all depend on positions. [`Survey::emit`] then writes the object again with some parts replaced: byte counts
//! and references are updated, all other bytes are copied. So objects of any class and version are changed without this
//! code knowing all their members.

mod builtin;
mod emit;
mod fields;
mod steps;
mod walk;

pub use emit::{Changes, Edit, Insert, Stream};
pub use fields::Name;
pub use steps::numbers_of;
pub use walk::survey;

use sapwood_format::cursor::Cursor;
use sapwood_format::streamer::code;
use sapwood_format::tree::{integer, width};
use sapwood_span::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// A part of an object whose bytes depend on positions.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A byte count of four bytes; the counted bytes end here.
    Count {
        /// The end.
        end: usize,
    },
    /// The name of a class, or a reference to an earlier occurrence.
    Class {
        /// Its bytes.
        len: usize,
        /// The class.
        class: Arc<str>,
    },
    /// A reference to an object that begins here.
    Object {
        /// Position of the object.
        target: usize,
    },
}

/// The surveyed object, or an object within it.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its class.
    pub class: Arc<str>,
    /// The member of the parent that holds it.
    pub via: Option<Name>,
    /// The parent object; the outermost is its own.
    pub parent: usize,
    /// Its bytes, including class tag and byte count in front.
    pub at: Range<usize>,
    /// Where its members begin.
    pub body: usize,
    /// Members of it and its base classes that have a [`Name`].
    pub fields: Vec<Field>,
}

/// A member.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Type code of the member, see [`code`].
    pub code: i32,
    /// Its bytes.
    pub at: Range<usize>,
    /// Version of the class that has it.
    pub version: i16,
}

/// The result of surveying an object.
#[derive(Clone, Debug)]
pub struct Survey<'a> {
    /// The object's bytes.
    pub data: &'a [u8],
    /// Position of the first byte in references: the length of the key's label.
    pub base: usize,
    /// Position-dependent parts, ascending.
    pub marks: Vec<(usize, Mark)>,
    /// The object and those within it, in the order of their positions.
    pub nodes: Vec<Node>,
    /// Objects of unknown classes that may contain references: the ranges of their pointers and their classes.
    pub unknown: Vec<(Range<usize>, Arc<str>)>,
}

impl Survey<'_> {
    /// A member of an object.
    pub fn field(&self, node: usize, name: Name) -> Option<&Field> {
        self.nodes.get(node)?.fields.iter().find(|f| f.name == name)
    }

    /// The value of a number.
    pub fn number(&self, node: usize, name: Name) -> Option<f64> {
        let f = self.field(node, name)?;
        let mut c = Cursor::new(self.data.get(f.at.clone())?, 0);
        Some(match f.code {
            code::FLOAT | code::DOUBLE32 => f64::from(c.f32().ok()?),
            code::DOUBLE => c.f64().ok()?,
            _ => self.integer(node, name)? as f64,
        })
    }

    /// The value of a number that counts something.
    pub fn integer(&self, node: usize, name: Name) -> Option<i64> {
        let f = self.field(node, name)?;
        integer(&mut Cursor::new(self.data.get(f.at.clone())?, 0), f.code).ok()
    }

    /// A text.
    pub fn text(&self, node: usize, name: Name) -> Option<&[u8]> {
        let f = self.field(node, name)?;
        Cursor::new(self.data.get(f.at.clone())?, 0).string_bytes().ok()
    }

    /// The numbers of a counted array; empty when it is absent.
    pub fn integers(&self, node: usize, name: Name) -> Result<Vec<u64>> {
        let Some(f) = self.field(node, name) else { return Ok(Vec::new()) };
        let raw = self.data.get(f.at.clone()).unwrap_or_default();
        let Some((flag, items)) = raw.split_first().filter(|(flag, _)| **flag != 0) else { return Ok(Vec::new()) };
        let item = array_code(f, *flag);
        let n = items.len() / width(item)?;
        let mut c = Cursor::new(items, 0);
        (0..n).map(|_| integer(&mut c, item).map(|n| n.max(0) as u64)).collect()
    }

    /// The objects directly within an object, in order.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes.get(node).map_or(0, |n| n.at.end);
        let inside = self.nodes.iter().enumerate().skip(node + 1).take_while(move |(_, n)| n.at.start < end);
        inside.filter(move |(_, n)| n.parent == node).map(|(i, _)| i)
    }

    /// The object in a member.
    pub fn child(&self, node: usize, via: Name) -> Option<usize> {
        self.children(node).find(|&i| self.nodes.get(i).is_some_and(|n| n.via == Some(via)))
    }

    /// The objects that match.
    pub fn find<'s>(&'s self, wanted: impl Fn(&Node) -> bool + 's) -> impl Iterator<Item = usize> + 's {
        self.nodes.iter().enumerate().filter(move |(_, n)| wanted(n)).map(|(i, _)| i)
    }
}

/// The type of an array's items. Until version 9 of `TBranch` a flag, not the description, gave the width of basket
/// positions (64 bits or not).
pub fn array_code(f: &Field, flag: u8) -> i32 {
    match flag {
        2 if f.name == Name::BasketSeek => code::LONG64,
        _ if f.name == Name::BasketSeek && f.version <= 9 => code::INT,
        _ => f.code - code::OFFSET_P,
    }
}

/// Appends a number in the type of a member.
///
/// # Errors
/// `Unsupported` when it does not fit: headers of old versions count with 32 bits.
pub fn put_integer(out: &mut Vec<u8>, k: i32, value: i64) -> Result<()> {
    let narrow = |fits: bool| match fits {
        true => Ok(()),
        false => Err(Error::unsupported(format!(
            "{value} is too large for the old version of ROOT that wrote the first input's header"
        ))
        .with_remedy("list an input first that a newer version of ROOT wrote")),
    };
    match k {
        code::CHAR | code::LEGACY_CHAR | code::UCHAR | code::BOOL => {
            narrow((-128..256).contains(&value))?;
            out.push(value as u8);
        }
        code::SHORT | code::USHORT => {
            narrow((-32768..65536).contains(&value))?;
            out.extend_from_slice(&(value as u16).to_be_bytes());
        }
        code::INT | code::COUNTER => {
            narrow(i32::try_from(value).is_ok())?;
            out.extend_from_slice(&(value as i32).to_be_bytes());
        }
        code::UINT | code::BITS => {
            narrow(u32::try_from(value).is_ok())?;
            out.extend_from_slice(&(value as u32).to_be_bytes());
        }
        code::LONG | code::LONG64 | code::ULONG | code::ULONG64 => out.extend_from_slice(&value.to_be_bytes()),
        code::FLOAT | code::DOUBLE32 => out.extend_from_slice(&(value as f32).to_be_bytes()),
        code::DOUBLE => out.extend_from_slice(&(value as f64).to_be_bytes()),
        other => return Err(Error::unsupported(format!("a number of type code {other}"))),
    }
    Ok(())
}
