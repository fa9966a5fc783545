use crate::cursor::Cursor;
use crate::key::Key;
use sapwood_span::{Error, Result, Span};

/// Position of a directory's list of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// The record of its key list; empty when it has none.
    pub keys: Span,
    /// Position of the directory's own record.
    pub seek: u64,
    /// Position of its parent's record; 0 for the root.
    pub parent: u64,
}

/// Maximum bytes of a directory's record after its name.
pub const DIRECTORY_BYTES: u64 = 60;

impl Directory {
    /// Parses the directory record (after key, name and title).
    pub fn parse(data: &[u8]) -> Result<Self> {
        let mut c = Cursor::new(data, 0);
        let version = c.u16()?;
        c.skip(8)?; // created, modified
        let nbytes_keys = c.i32()?;
        c.i32()?; // bytes of the name
        let big = version > 1000;
        let position = |c: &mut Cursor| if big { c.u64() } else { c.u32().map(u64::from) };
        let seek = position(&mut c)?;
        let parent = position(&mut c)?;
        let keys = position(&mut c)?;
        if nbytes_keys < 0 || keys > i64::MAX as u64 {
            return Err(Error::corrupt(format!("a directory's key list has {nbytes_keys} bytes at {keys}")));
        }
        Ok(Self { keys: Span::new(keys, nbytes_keys as u64), seek, parent })
    }
}

/// Parses a directory's key list, record label included.
///
/// # Errors
/// `Corrupt` when the record holds fewer keys than it says.
pub fn parse_key_list(data: &[u8]) -> Result<Vec<Key>> {
    let mut c = Cursor::new(data, 0);
    let label = Key::read(&mut c)?;
    c.seek(label.key_len as usize)?;
    let n = c.count(26)?;
    (0..n).map(|_| Key::read(&mut c)).collect()
}

/// The keys in a key list's record after as many as it states, in order, if there are any. Some writers leave those of
/// deleted objects there.
pub fn keys_behind(data: &[u8]) -> Vec<Key> {
    let mut c = Cursor::new(data, 0);
    let mut counted = || {
        let label = Key::read(&mut c)?;
        c.seek(label.key_len as usize)?;
        let n = c.count(26)?;
        (0..n).try_for_each(|_| Key::read(&mut c).map(drop))
    };
    if counted().is_err() {
        return Vec::new();
    }
    std::iter::from_fn(|| Key::read(&mut c).ok().filter(|k| !k.class.is_empty())).collect()
}
