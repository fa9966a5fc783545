//! Objects: their headers (TObject's members, class tags, arrays of objects), and objects of any class as data.

mod arrays;
mod canvas_and_roofit;
mod class_kinds;
mod collection;
/// Parsed C++ type names.
pub mod cpp;
mod custom_streamers;
mod element;
mod number;
mod object_builder;
mod object_lists;
mod pair;
mod read;
mod value;

pub use read::{read_class, read_object};
pub use value::{Data, Numbers, Object, Objects, Refused, Value};

use crate::cursor::{Cursor, MAP_OFFSET};
use sapwood_span::{Error, Result};

const NEW_CLASS: u32 = 0xffff_ffff;
const CLASS_MASK: u32 = 0x8000_0000;
const BYTE_COUNT: u32 = 0x4000_0000;
const IS_REFERENCED: u32 = 1 << 4;

/// The target of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointed {
    /// Nothing.
    Null,
    /// An object that was written before, at this reference position.
    Reference(u64),
    /// An object that follows.
    Object {
        /// Its class.
        class: String,
        /// Its reference position: later pointers to it use this number.
        at: u64,
        /// Where it ends, when a byte count was written.
        end: Option<usize>,
    },
}

/// Reads the tag in front of an object. A class that was named before is looked up at the position of its name, so that
/// nothing needs to be remembered of skipped objects.
pub fn read_pointer(c: &mut Cursor) -> Result<Pointed> {
    let at = c.reference() + MAP_OFFSET;
    let first = c.u32()?;
    let (tag, end) = if first & BYTE_COUNT == 0 || first == NEW_CLASS {
        (first, None)
    } else {
        let count = (first & !BYTE_COUNT) as usize;
        if count > c.left() {
            return Err(Error::corrupt(format!("an object of {count} bytes, but {} are left", c.left())));
        }
        let end = c.pos() + count;
        (c.u32()?, Some(end))
    };
    if tag & CLASS_MASK == 0 {
        if let Some(end) = end {
            c.seek(end)?;
        }
        return Ok(if tag == 0 { Pointed::Null } else { Pointed::Reference(u64::from(tag)) });
    }
    let class = if tag == NEW_CLASS { c.c_string()? } else { c.class_at(u64::from(tag & !CLASS_MASK))? };
    Ok(Pointed::Object { class, at, end })
}

/// Reads TObject's own members: version, unique id, bits; returns the bits.
pub fn read_base_object(c: &mut Cursor) -> Result<u32> {
    let v = c.version()?;
    c.u32()?;
    let bits = c.u32()?;
    if bits & IS_REFERENCED != 0 {
        c.u16()?;
    }
    if v.end.is_some() {
        c.finish(&v)?;
    }
    Ok(bits)
}

/// Reads the head of a TObjArray or TClonesArray-like list and returns how many pointers follow.
pub fn read_object_array_head(c: &mut Cursor) -> Result<usize> {
    let v = c.version()?;
    if v.number > 2 {
        read_base_object(c)?;
    }
    if v.number > 1 {
        c.string()?;
    }
    let n = c.count(4)?;
    c.i32()?;
    Ok(n)
}
