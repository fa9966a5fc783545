//! Finding branches by name.

use sapwood_format::tree::Tree;
use sapwood_span::similar::near_misses;
use sapwood_span::{Error, Result};
use std::collections::HashMap;

/// Branches by bare name and by path; the first in the order of the tree wins.
pub(crate) struct Names {
    by_name: HashMap<String, usize>,
}

impl Names {
    pub(crate) fn new(tree: &Tree, order: &[usize]) -> Self {
        let mut by_name = HashMap::with_capacity(order.len() * 2);
        for &i in order {
            by_name.entry(tree.path(i)).or_insert(i);
        }
        for &i in order {
            let name = &tree.branches[i].name;
            by_name.entry(name.clone()).or_insert(i);
            // ROOT lets the dot at the end of a split object's name be left out
            if let Some(short) = name.strip_suffix('.') {
                by_name.entry(short.to_owned()).or_insert(i);
            }
            // and the dimensions that some names carry
            if let Some((short, _)) = name.split_once('[') {
                by_name.entry(short.to_owned()).or_insert(i);
            }
        }
        // last of all, a single leaf's own name
        for &i in order {
            if let [leaf] = tree.branches[i].leaves.as_slice() {
                by_name.entry(tree.leaves[*leaf].name.clone()).or_insert(i);
            }
        }
        Self { by_name }
    }

    pub(crate) fn find(&self, name: &str) -> Result<usize> {
        if let Some(&i) = self.by_name.get(name) {
            return Ok(i);
        }
        let remedy = did_you_mean(name, self.by_name.keys().map(String::as_str));
        let remedy = remedy.unwrap_or_else(|| "`sapwood show` lists the tree's branches".to_owned());
        Err(Error::not_found(format!("the tree has no branch {name}")).with_remedy(remedy))
    }
}

/// "did you mean …?" with the names that are similar to this one, if there are any.
pub fn did_you_mean<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> Option<String> {
    let near = near_misses(name, all);
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")))
}
