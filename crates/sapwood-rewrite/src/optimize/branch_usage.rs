//! Which branches past reads used, from saved perf stats: branches that are used together are placed together.

use super::plan::BranchPlan;
use sapwood_format::tree::Tree;
use sapwood_span::{Error, Result};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Branches by the reads that used them. Each file of stats counts as one read: one file for each kind of analysis is
/// most useful.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// For each read: tree and branch, as in `Events/muons/muons.pt`.
    reads: Vec<HashSet<String>>,
}

impl Used {
    /// Adds a read: the branches that it used, each as tree and branch, as in `Events/muons/muons.pt`.
    pub fn add(&mut self, branches: impl IntoIterator<Item = impl Into<String>>) {
        self.reads.push(branches.into_iter().map(Into::into).collect());
    }

    /// Whether any read is known.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    /// Whether any branch of this tree was used.
    fn knows(&self, tree: &str) -> bool {
        let of_tree = |name: &String| name.strip_prefix(tree).is_some_and(|rest| rest.starts_with('/'));
        self.reads.iter().flatten().any(of_tree)
    }

    /// In which reads a branch was used.
    fn by_read(&self, tree: &str, branch: &str) -> Vec<bool> {
        let name = format!("{tree}/{branch}");
        self.reads.iter().map(|r| r.contains(&name)).collect()
    }

    /// A branch's sort key in a cluster: those of most reads first, those of the same reads side by side.
    pub(super) fn rank(&self, tree: &str, branch: &str) -> (Reverse<usize>, Reverse<Vec<bool>>) {
        let by_read = self.by_read(tree, branch);
        (Reverse(by_read.iter().filter(|used| **used).count()), Reverse(by_read))
    }

    /// Top-level branches of a tree that no read needed, except counters of needed ones. None for a tree without reads.
    pub(super) fn unused(&self, path: &str, tree: &Tree) -> HashSet<usize> {
        if !self.knows(path) {
            return HashSet::new();
        }
        let top = |mut i: usize| {
            while let Some(above) = tree.branches.get(i).and_then(|b| b.parent) {
                i = above;
            }
            i
        };
        let is_used = |&i: &usize| self.by_read(path, &tree.path(i)).contains(&true);
        let mut needed: HashSet<usize> = (0..tree.branches.len()).filter(is_used).map(top).collect();
        loop {
            let counted = tree.leaves.iter().filter(|l| l.branch.is_some_and(|b| needed.contains(&top(b))));
            let counters = counted.filter_map(|l| tree.leaves.get(l.count?)?.branch).map(top);
            let more: Vec<usize> = counters.filter(|c| !needed.contains(c)).collect();
            if more.is_empty() {
                break;
            }
            needed.extend(more);
        }
        tree.top.iter().copied().filter(|i| !needed.contains(i)).collect()
    }

    /// Stats of other files are an error.
    ///
    /// # Errors
    /// `Invalid` when a read uses no branch of these trees, by path.
    pub(super) fn check<'a>(&self, trees: impl Iterator<Item = (&'a str, &'a [BranchPlan])>) -> Result<()> {
        let names: HashSet<String> =
            trees.flat_map(|(tree, branches)| branches.iter().map(move |b| format!("{tree}/{}", b.name))).collect();
        let strange = self.reads.iter().find(|r| r.is_disjoint(&names));
        strange.map_or(Ok(()), |read| {
            let what = match read.iter().min() {
                Some(name) => format!("the perf stats are about other trees: {name} is not in the file"),
                None => "the perf stats are about no branch".to_owned(),
            };
            Err(Error::invalid(what).with_remedy("`sapwood perf FILE:TREE -o stats.json` writes them"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_format::tree::{Branch, Leaf};

    fn used(reads: &[&[&str]]) -> Used {
        let mut used = Used::default();
        for names in reads {
            used.add(names.iter().map(|name| format!("t/{name}")));
        }
        used
    }

    #[test]
    fn what_is_used_most_comes_first_and_what_is_used_together_lies_together() {
        let used = used(&[&["a", "d", "e"], &["b", "d"], &["b", "c"], &["e", "a"]]);
        let mut names = ["x", "a", "b", "c", "d", "e", "y"];
        names.sort_by_cached_key(|n| used.rank("t", n));
        assert_eq!(names, ["d", "a", "e", "b", "c", "x", "y"]);
    }

    #[test]
    fn counters_of_used_arrays_stay() {
        let names = ["n", "x", "m", "y", "z"];
        let branch = |(i, name): (usize, &&str)| Branch { name: (*name).into(), leaves: vec![i], ..Branch::default() };
        let count = |i: usize| [None, Some(0), None, Some(2), None][i];
        let leaf = |i: usize| Leaf { branch: Some(i), count: count(i), ..Leaf::default() };
        let tree = Tree {
            top: (0..5).collect(),
            branches: names.iter().enumerate().map(branch).collect(),
            leaves: (0..5).map(leaf).collect(),
            ..Tree::default()
        };
        assert_eq!(used(&[&["x"]]).unused("t", &tree), HashSet::from([2, 3, 4]));
        assert_eq!(used(&[&["x"]]).unused("other", &tree), HashSet::new());
    }
}
