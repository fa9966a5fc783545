//! A tree's aliases and friends, each a TList.

use super::Friend;
use crate::cursor::Cursor;
use crate::object::{Pointed, read_base_object, read_pointer};
use crate::streamer::read_named;
use sapwood_span::{Error, Result};

/// Reads a pointer to a TList, of which the objects of one class are read and others skipped.
pub(super) fn named_list<T>(c: &mut Cursor, wanted: &str, read: impl Fn(&mut Cursor) -> Result<T>) -> Result<Vec<T>> {
    let end = match read_pointer(c)? {
        Pointed::Object { end: Some(end), .. } => end,
        Pointed::Object { class, .. } => {
            return Err(Error::corrupt(format!("a list of {wanted}, a {class}, has no length")));
        }
        Pointed::Null | Pointed::Reference(_) => return Ok(Vec::new()),
    };
    c.version()?;
    read_base_object(c)?;
    c.string()?;
    let n = c.count(1)?;
    let mut out = Vec::new();
    for _ in 0..n {
        if let Pointed::Object { class, end: Some(end), .. } = read_pointer(c)? {
            if class == wanted {
                out.push(read(c)?);
            }
            c.seek(end)?;
        }
        let option = usize::from(c.u8()?);
        c.skip(option)?;
    }
    c.seek(end)?;
    Ok(out)
}

/// Reads a TFriendElement: a TNamed with the local name and the file, then the tree's own name.
pub(super) fn read_friend(c: &mut Cursor) -> Result<Friend> {
    c.version()?;
    let (name, file) = read_named(c)?;
    Ok(Friend { name, file, tree: c.string()? })
}
