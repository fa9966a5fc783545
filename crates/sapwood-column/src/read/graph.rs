//! Reads objects that point to each other arbitrarily into tables (`class::graph`).
//!
//! An object behind a pointer is not read in place: it gets its number, and is read after the current one. So no table
//! is changed in the middle of one of its records, and depth needs no stack.

use super::containers::ClonesHead;
use crate::input::Input;
use crate::item::Item;
use crate::links::{Links, Pending};
use crate::{Array, Values};
use sapwood_format::{Pointed, read_pointer};
use sapwood_span::raw_text::bytes_of;
use sapwood_span::{Error, Result};

fn misfit() -> Error {
    Error::invalid("a graph goes into a record of tables")
}

/// Reads an entry: the root, then all objects pointed to, in sequence.
pub(crate) fn read_graph(
    root: &Item,
    tables: &[(String, Option<Item>)],
    c: &mut Input,
    fields: &mut [(String, Array)],
) -> Result<()> {
    let Some(((_, first), rest)) = fields.split_first_mut() else { return Err(misfit()) };
    let outside = c.links.replace(Links::default());
    root.read(c, first)?;
    let behind = c.pos();
    while let Some(next) = c.links.as_mut().and_then(|l| l.pending.pop_front()) {
        let (table, at, end) = match next {
            Pending::Object { table, at, end } | Pending::Clones { table, at, end, .. } => (table, at, end),
        };
        let Some((name, item)) = tables.get(table) else { return Err(misfit()) };
        let Some(item) = item else {
            return Err(Error::unsupported(format!("an object of class {name}, which cannot be read")));
        };
        let Some((_, Array::List { content, .. })) = rest.get_mut(table) else { return Err(misfit()) };
        c.seek(at)?;
        match next {
            Pending::Object { .. } => item.read(c, content)?,
            Pending::Clones { n, version: Some(version), .. } => {
                item.read_by_members(c, n, Some((version, 0)), content)?;
            }
            Pending::Clones { n, .. } => (0..n).try_for_each(|_| {
                c.skip(1)?;
                item.read(c, content)
            })?,
        }
        if c.pos() != end {
            let why = format!("an object of class {name} ends at byte {}, not at {end}", c.pos());
            return Err(Error::corrupt(why));
        }
    }
    for (_, field) in rest {
        let Array::List { offsets, content } = field else { return Err(misfit()) };
        offsets.push(content.len() as i64);
    }
    c.links = outside;
    c.seek(behind)
}

/// Reads a pointer: an index into a table.
pub(crate) fn read_link(classes: &[(String, usize)], c: &mut Input, out: &mut Array) -> Result<()> {
    match read_pointer(c)? {
        Pointed::Null => push_link(classes, None, out),
        Pointed::Reference(at) => {
            let known = c.links.as_ref().and_then(|l| l.seen.get(&at).copied());
            let link = match known {
                Some(link) => link,
                // in a part that has not been read yet
                None => c.at(at, |c| match read_pointer(c)? {
                    Pointed::Object { class, end, .. } => enqueue(classes, c, class, at, end),
                    _ => Err(Error::corrupt(format!("a pointer refers to position {at}, where there is no object"))),
                })?,
            };
            push_link(classes, Some(link), out)
        }
        Pointed::Object { class, at, end } => {
            let link = match c.links.as_ref().and_then(|l| l.seen.get(&at).copied()) {
                Some(link) => link,
                None => enqueue(classes, c, class, at, end)?,
            };
            if let Some(end) = end {
                c.seek(end)?;
            }
            push_link(classes, Some(link), out)
        }
    }
}

/// Numbers an object.
fn enqueue(
    classes: &[(String, usize)],
    c: &mut Input,
    class: String,
    at: u64,
    end: Option<usize>,
) -> Result<(usize, i32)> {
    let Some((_, table)) = classes.iter().find(|(n, _)| *n == class) else {
        return Err(Error::unsupported(format!("a pointer to an object of class {class}")));
    };
    let Some(end) = end else {
        return Err(Error::unsupported(format!("an object of class {class} without a length behind a pointer")));
    };
    let here = c.pos();
    let links = c.links.get_or_insert_default();
    let link = (*table, links.number(*table, 1)?);
    links.seen.insert(at, link);
    links.pending.push_back(Pending::Object { table: *table, at: here, end });
    Ok(link)
}

/// Appends an index and, where there are several classes, the class.
fn push_link(classes: &[(String, usize)], link: Option<(usize, i32)>, out: &mut Array) -> Result<()> {
    let number = link.map_or(-1, |(_, number)| number);
    match out {
        Array::Flat(Values::I32(values)) => values.push(number),
        Array::Record { len, fields } => {
            let [(_, Array::Text { offsets, bytes }), (_, Array::Flat(Values::I32(values)))] = fields.as_mut_slice()
            else {
                return Err(misfit());
            };
            let class = link.and_then(|(table, _)| classes.iter().find(|(_, t)| *t == table));
            bytes.extend_from_slice(&bytes_of(class.map_or("", |(name, _)| name)));
            offsets.push(bytes.len() as i64);
            values.push(number);
            *len += 1;
        }
        _ => return Err(misfit()),
    }
    Ok(())
}

/// Reads a TClonesArray: a link for each of its objects.
pub(crate) fn read_clone_links(classes: &[(String, usize)], c: &mut Input, out: &mut Array) -> Result<()> {
    let Array::List { offsets, content } = out else { return Err(misfit()) };
    let head = ClonesHead::read(c)?;
    let Some(end) = head.v.end else {
        return Err(Error::unsupported(format!("a TClonesArray in version {} without a length", head.v.number)));
    };
    let n = head.n;
    if n > 0 {
        let Some((_, table)) = classes.iter().find(|(name, _)| name == head.class()) else {
            return Err(head.unknown());
        };
        // written member by member an object may have no bytes, but not all of a large number
        if n > c.left().saturating_add(1) {
            return Err(Error::corrupt(format!("a TClonesArray of {n} objects in {} bytes", c.left())));
        }
        let at = c.pos();
        let version = if head.by_members { head.version().or(Some(0)) } else { None };
        let links = c.links.get_or_insert_default();
        let first = links.number(*table, n)?;
        links.pending.push_back(Pending::Clones { table: *table, at, end, n, version });
        for i in 0..n {
            push_link(classes, Some((*table, first + i as i32)), content)?;
        }
    }
    if n > 0 || head.by_members {
        // written member by member, the headers of empty collections are still present
        c.seek(end)?;
    }
    offsets.push(content.len() as i64);
    head.all_read(c)
}
