//! Pointers and ROOT's containers of objects.

use crate::Array;
use crate::evolve::push_nothing;
use crate::input::Input;
use crate::item::{Item, Listing, misfit};
use crate::read::{BYPASSES_STREAMER, all_read};
use sapwood_format::{Pointed, read_base_object, read_pointer};
use sapwood_span::{Error, Result};

/// Reads a pointer: nothing, an object that was read before, or one that follows.
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

/// The list that objects of this class go to; those of the other classes get nothing.
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

/// Reads a TObjArray, TList or TMap: TObject, name, number of objects, lower bound (of an array), objects, and an option
/// behind each (of a list).
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

/// Reads a TClonesArray: TObject, name, `class;version`, number of objects, lower bound, objects: member by member, or
/// each behind a byte that says whether it is there.
pub(crate) fn read_clones(classes: &[(String, Item)], c: &mut Input, out: &mut Array) -> Result<()> {
    let v = c.version()?;
    if v.number < 4 {
        return Err(Error::unsupported(format!("a TClonesArray in version {}", v.number)));
    }
    let by_members = read_base_object(c)? & BYPASSES_STREAMER != 0;
    c.string_bytes()?;
    let named = c.string()?;
    let (class, version) = named.split_once(';').unwrap_or((&named, "0"));
    let n = c.count(usize::from(!by_members))?;
    c.skip(4)?;
    if n == 0 {
        // written member by member, the headers of empty collections are there nevertheless
        if let Some(end) = v.end.filter(|_| by_members) {
            c.seek(end)?;
        }
        push_nothing(out, 1)?;
        return all_read(c, &v, || named.clone());
    }
    let Some(which) = classes.iter().position(|(name, _)| name == class) else {
        return Err(Error::unsupported(format!("a TClonesArray of class {class}")));
    };
    let item = &classes[which].1;
    let Array::List { offsets, content } = list_of(classes, which, out)? else { return Err(misfit(item)) };
    if by_members {
        item.read_by_members(c, n, version.parse().ok().map(|version| (version, 0)), content)?;
    } else {
        for _ in 0..n {
            if c.u8()? == 0 {
                return Err(Error::unsupported("a TClonesArray with empty places"));
            }
            item.read(c, content)?;
        }
    }
    offsets.push(content.len() as i64);
    all_read(c, &v, || named.clone())
}
