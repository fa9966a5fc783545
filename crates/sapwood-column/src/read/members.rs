//! Members of objects: object by object, or member by member; counted arrays, whose counter is a member too.

use super::Variant;
use crate::Array;
use crate::input::Input;
use crate::item::{Fields, Item, misfit};
use sapwood_span::{Error, Result};

/// Counted arrays in a fixed array that may all be empty: more are damage.
const MOST_EMPTY: usize = 1 << 12;

/// Reads the members of one object, each into its column.
pub(crate) fn read_members(members: &[(String, Item)], c: &mut Input, fields: &mut Fields) -> Result<()> {
    let mut at = 0;
    for (name, member) in members {
        let (done, rest) = fields.split_at_mut(at.min(fields.len()));
        match member {
            Item::Skip(skip) => skip.read(c)?,
            Item::Base(base) => base.read(c, rest)?,
            member => {
                let Some((_, out)) = rest.first_mut() else { return Err(misfit(member)) };
                read_member(member, c, done, out).map_err(|e| in_member(e, name))?;
            }
        }
        at += member.columns();
    }
    Ok(())
}

fn read_member(member: &Item, c: &mut Input, done: &Fields, out: &mut Array) -> Result<()> {
    if let Some(by) = member.counter() {
        return read_counted(member, c, count_at(done, by, 1, 0)?, out);
    }
    match member {
        // as many objects as the counter says, after one header
        Item::Headed(inner) => match inner.counter() {
            Some(by) => {
                let n = count_at(done, by, 1, 0)?;
                inner.headed(c, |c| read_counted(inner, c, n, out))
            }
            None => member.read(c, out),
        },
        member => member.read(c, out),
    }
}

/// Reads `n` records member by member.
pub(crate) fn by_members(members: &[(String, Item)], c: &mut Input, n: usize, fields: &mut Fields) -> Result<()> {
    let mut at = 0;
    for (name, member) in members {
        let (done, rest) = fields.split_at_mut(at.min(fields.len()));
        match member {
            Item::Skip(skip) => {
                if n > c.left() {
                    return Err(Error::corrupt(format!("{n} objects announced, but {} bytes are left", c.left())));
                }
                (0..n).try_for_each(|_| skip.read(c))?;
            }
            // a class with its own type code in ROOT: each with its header
            Item::Base(base) if base.class == "TNamed" => (0..n).try_for_each(|_| base.read(c, rest))?,
            // its members are written like those of the class itself
            Item::Base(base) => match base.variant(None)? {
                Variant::Same => by_members(&base.members, c, n, rest)?,
                Variant::Other(_) => return Err(misfit(member)),
            },
            // classes with custom streamers are not divided into members
            Item::Times(..) | Item::Triangle(..) => {
                return Err(Error::unsupported(format!("the counted array {name} of a collection written by members")));
            }
            member => {
                let Some((_, out)) = rest.first_mut() else { return Err(misfit(member)) };
                one_of_all(member, c, n, done, out).map_err(|e| in_member(e, name))?;
            }
        }
        at += member.columns();
    }
    Ok(())
}

/// Reads one member of `n` records: collections, strings and counted objects have one header for all.
pub(crate) fn one_of_all(member: &Item, c: &mut Input, n: usize, done: &Fields, out: &mut Array) -> Result<()> {
    let counted = |item: &Item, by, c: &mut Input, out: &mut Array| {
        (0..n).try_for_each(|i| read_counted(item, c, count_at(done, by, n, i)?, out))
    };
    match (member, member.counter()) {
        (member, Some(by)) => counted(member, by, c, out),
        (Item::Headed(inner), None) => inner.headed(c, |c| match inner.counter() {
            Some(by) => counted(inner, by, c, out),
            None => inner.read_many(c, n, out),
        }),
        (member, None) => member.read_many(c, n, out),
    }
}

/// Reads counted items: `n` items, or an array of such arrays, which share their counter.
pub(crate) fn read_counted(item: &Item, c: &mut Input, n: usize, out: &mut Array) -> Result<()> {
    match (item, out) {
        (Item::Fixed(size, item), Array::Regular { len, content, .. }) => {
            if *size > c.left().max(MOST_EMPTY) {
                return Err(Error::corrupt(format!("{size} arrays of {n} items in {} bytes", c.left())));
            }
            (0..*size).try_for_each(|_| read_counted(item, c, n, content))?;
            *len += 1;
            Ok(())
        }
        (Item::Counted(_, item), out) => {
            let there = c.u8()? != 0;
            read_list(item, c, if there { n } else { 0 }, out)
        }
        (Item::Flagged(item), out) => {
            let there = c.u8()? != 0;
            read_counted(item, c, if there { n } else { 0 }, out)
        }
        (Item::Triangle(_, item), out) => read_list(item, c, n.saturating_mul(n.saturating_add(1)) / 2, out),
        (Item::Times(_, item), out) => read_list(item, c, n, out),
        (item, _) => Err(misfit(item)),
    }
}

fn read_list(item: &Item, c: &mut Input, n: usize, out: &mut Array) -> Result<()> {
    let Array::List { offsets, content } = out else {
        return Err(Error::invalid("a counted array goes into a list"));
    };
    if n.saturating_mul(item.least_size().max(1)) > c.left() {
        return Err(Error::corrupt(format!("{n} items announced, but {} bytes are left", c.left())));
    }
    item.read_many(c, n, content)?;
    offsets.push(content.len() as i64);
    Ok(())
}

/// The counter's value in record `i` of the last `n`.
fn count_at(done: &Fields, by: usize, n: usize, i: usize) -> Result<usize> {
    match done.get(by) {
        Some((_, Array::Flat(values))) if values.len() >= n => {
            Ok(values.get_f64(values.len() - n + i).map_or(0, |x| if x > 0.0 { x as usize } else { 0 }))
        }
        _ => Err(Error::corrupt("an array is before its counter")),
    }
}

fn in_member(e: Error, name: &str) -> Error {
    Error::new(e.kind(), format!("member {name}: {}", e.what()))
}
