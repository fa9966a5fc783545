//! Finding branches by name.

use sapwood_format::tree::Tree;
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
        Err(Error::not_found(format!("no branch {name}")).with_remedy(remedy))
    }
}

/// "did you mean …?" with the names that are similar to this one, if there are any.
pub fn did_you_mean<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> Option<String> {
    let near = near_misses(name, all);
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")))
}

/// The three names most like this one, if they are like it at all.
fn near_misses<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = name.to_lowercase();
    let most = name.chars().count() / 3 + 1;
    let mut scored: Vec<(usize, &str)> = all
        .filter_map(|n| {
            let other = n.to_lowercase();
            let score = if other == lower {
                0
            } else if !lower.is_empty() && (other.contains(&lower) || (other.len() > 3 && lower.contains(&other))) {
                1
            } else if other.len().abs_diff(lower.len()) <= most {
                1 + distance(&lower, &other)
            } else {
                return None;
            };
            (score <= most + 1).then_some((score, n))
        })
        .collect();
    scored.sort();
    scored.dedup_by_key(|(_, n)| *n);
    scored.into_iter().take(3).map(|(_, n)| n).collect()
}

/// How many letters to change, add or leave out (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut left = i + 1;
        let mut diagonal = i;
        for (j, &y) in b.iter().enumerate() {
            let cost = (diagonal + usize::from(x != y)).min(left + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j] = left;
            left = cost;
        }
        row[b.len()] = left;
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_was_meant() {
        let all = ["Muon_pt", "Muon_eta", "Jet_pt", "event"];
        assert_eq!(near_misses("muon_pt", all.into_iter())[0], "Muon_pt");
        assert_eq!(near_misses("Muon_p", all.into_iter())[0], "Muon_pt");
        assert!(near_misses("zzzzzzzz", all.into_iter()).is_empty());
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
