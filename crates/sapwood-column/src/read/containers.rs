//! Pointers and ROOT's containers of objects.

use super::{BYPASSES_STREAMER, all_read};
use crate::Array;
use crate::input::Input;
use crate::item::{Item, Listing, misfit};
use crate::schema_evolution::push_nothing;
use sapwood_format::cursor::VersionHeader;
use sapwood_format::{Pointed, read_base_object, read_pointer};
use sapwood_span::{Error, Result};

/// Reads a pointer: null, an object that was read before, or one that follows.
pub(crate) fn read_pointed(classes: &[(String, Item)], c: &mut Input, out: &mut Array) -> Result<()> {
    let (which, end) = match read_pointer(c)? {
        Pointed::Null => return push_nothing(out, 1),
        Pointed::Reference(at) => return c.at(at, |c| read_pointed(classes, c, out)),
        Pointed::Object { class, end, .. } => match classes.iter().position(|(n, _)| *n == class) {
            Some(i) => (i, end),
            None => return Err(Error::unsupported(format!("a pointer to an object of class {class}"))),
        },
    };
    let (class, item) = &classes[which];
    let Array::List { offsets, content } = list_of(classes, which, out)? else { return Err(misfit(item)) };
    item.read(c, content)?;
    offsets.push(content.len() as i64);
    match end {
        Some(end) if c.pos() != end => Err(Error::corrupt(format!(
            "an object of class {class} ends at byte {}, but its pointer says {end}",
            c.pos()
        ))),
        _ => Ok(()),
    }
}

/// The list for objects of this class; those of the other classes get nothing.
fn list_of<'a>(classes: &[(String, Item)], which: usize, out: &'a mut Array) -> Result<&'a mut Array> {
    let misfit = || Error::invalid("objects of several classes go into a record");
    if classes.len() == 1 {
        return Ok(out);
    }
    let Array::Record { len, fields } = out else { return Err(misfit()) };
    *len += 1;
    for (i, (_, field)) in fields.iter_mut().enumerate() {
        if i != which {
            push_nothing(field, 1)?;
        }
    }
    fields.get_mut(which).map(|(_, field)| field).ok_or_else(misfit)
}

/// Reads a TObjArray, TList or TMap: TObject, name, number of objects, lower bound (of an array), objects, and an
/// option after each (of a list).
pub(crate) fn read_listed(kind: Listing, item: &Item, c: &mut Input, out: &mut Array) -> Result<()> {
    let v = c.version()?;
    if v.number < if kind == Listing::Linked { 4 } else { 3 } {
        return Err(Error::unsupported(format!("a list of objects in version {}", v.number)));
    }
    read_base_object(c)?;
    c.string_bytes()?;
    let n = c.count(4)?;
    if kind == Listing::Array {
        c.skip(4)?;
    }
    for _ in 0..n {
        item.read(c, out)?;
        if kind == Listing::Linked {
            c.string_bytes()?;
        }
    }
    all_read(c, &v, || "TList".to_owned())
}

/// A TClonesArray's data about its objects: TObject, name, `class;version`, number of objects, lower bound.
pub(crate) struct ClonesHead {
    pub v: VersionHeader,
    pub by_members: bool,
    pub n: usize,
    named: String,
}

impl ClonesHead {
    pub(crate) fn read(c: &mut Input) -> Result<Self> {
        let v = c.version()?;
        if v.number < 4 {
            return Err(Error::unsupported(format!("a TClonesArray in version {}", v.number)));
        }
        let by_members = read_base_object(c)? & BYPASSES_STREAMER != 0;
        c.string_bytes()?;
        let named = c.string()?;
        let n = c.count(usize::from(!by_members))?;
        c.skip(4)?;
        Ok(Self { v, by_members, n, named })
    }

    /// The objects' class.
    pub(crate) fn class(&self) -> &str {
        self.named.split_once(';').map_or(&self.named, |(class, _)| class)
    }

    /// Its version, where that is a number.
    pub(crate) fn version(&self) -> Option<i16> {
        self.named.split_once(';').map_or(Some(0), |(_, version)| version.parse().ok())
    }

    /// The error for a class that is not among those read.
    pub(crate) fn unknown(&self) -> Error {
        Error::unsupported(format!("a TClonesArray of class {}, which the file does not describe", self.class()))
    }

    /// Whether the objects were read to the end.
    pub(crate) fn all_read(&self, c: &mut Input) -> Result<()> {
        all_read(c, &self.v, || self.named.clone())
    }
}

/// Reads a TClonesArray: its head, and the objects, member by member or each after a byte that says whether it is
/// present.
pub(crate) fn read_clones(classes: &[(String, Item)], c: &mut Input, out: &mut Array) -> Result<()> {
    let head = ClonesHead::read(c)?;
    if head.n == 0 {
        // written member by member, the headers of empty collections are still present
        if let Some(end) = head.v.end.filter(|_| head.by_members) {
            c.seek(end)?;
        }
        push_nothing(out, 1)?;
        return head.all_read(c);
    }
    let Some(which) = classes.iter().position(|(name, _)| name == head.class()) else { return Err(head.unknown()) };
    let item = &classes[which].1;
    let Array::List { offsets, content } = list_of(classes, which, out)? else { return Err(misfit(item)) };
    if head.by_members {
        item.read_by_members(c, head.n, head.version().map(|version| (version, 0)), content)?;
    } else {
        for _ in 0..head.n {
            if c.u8()? == 0 {
                return Err(Error::unsupported("a TClonesArray with empty places"));
            }
            item.read(c, content)?;
        }
    }
    offsets.push(content.len() as i64);
    head.all_read(c)
}
