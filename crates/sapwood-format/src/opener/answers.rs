//! The opener's queries and answers.

use crate::key::Key;
use crate::object::{Objects, read_object};
use crate::streamer::Streamers;
use crate::tree::Tree;
use sapwood_span::Result;
use std::sync::Arc;

/// What to look for: the name of an object and, where it matters, its cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Directories and name, separated by `/`.
    pub path: String,
    /// The cycle; the newest by default.
    pub cycle: Option<i16>,
}

impl Target {
    /// Parses `dir/name;cycle`.
    pub fn parse(text: &str) -> Self {
        let text = text.trim_matches('/');
        if let Some((path, cycle)) = text.rsplit_once(';')
            && let Ok(cycle) = cycle.parse()
        {
            return Self { path: path.to_owned(), cycle: Some(cycle) };
        }
        Self { path: text.to_owned(), cycle: None }
    }
}

/// A key and the path that leads to it.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Directories and name, separated by `/`, without the cycle.
    pub path: String,
    /// The key.
    pub key: Key,
}

/// An object's bytes and what is needed to read them.
#[derive(Clone, Debug)]
pub struct ObjectAt {
    /// Its key.
    pub key: Key,
    /// Its decompressed bytes; references count from the beginning of the key's label.
    pub data: Vec<u8>,
    /// The file's class descriptions.
    pub streamers: Arc<Streamers>,
}

impl ObjectAt {
    /// The object as data, with all objects that it points to.
    ///
    /// # Errors
    /// `Unsupported` when its class is not described, `Corrupt` when its bytes do not follow the description.
    pub fn read(&self) -> Result<Objects> {
        read_object(self)
    }
}

/// A tree and what is needed to read it.
#[derive(Clone, Debug)]
pub struct TreeAt {
    /// Directories and name.
    pub path: String,
    /// Its key.
    pub key: Key,
    /// Its header.
    pub tree: Tree,
    /// The file's class descriptions.
    pub streamers: Arc<Streamers>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_cycles() {
        assert_eq!(Target::parse("/a/b;3"), Target { path: "a/b".to_owned(), cycle: Some(3) });
        assert_eq!(Target::parse("a;b"), Target { path: "a;b".to_owned(), cycle: None });
    }
}
