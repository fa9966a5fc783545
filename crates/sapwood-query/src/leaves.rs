//! All leaves of a tree as expressions: `*` in TTree::Scan.

use crate::{Binding, Expr};
use sapwood_engine::Tree;
use sapwood_span::{Error, Result};

/// The leaves of a tree whose values can be printed.
#[derive(Clone, Debug)]
pub struct Leaves {
    /// One for each leaf.
    pub expressions: Vec<Expr>,
    /// What ROOT writes above them: the branch and the leaf, for branches of classes the branch.
    pub titles: Vec<String>,
    /// Those that have no numbers or strings, or cannot be read.
    pub refused: Vec<String>,
}

impl Leaves {
    /// Those of a tree, so many at most.
    ///
    /// # Errors
    /// `NotFound` where there is none.
    pub fn of(tree: &Tree, most: usize) -> Result<Self> {
        let mut leaves = Self { expressions: Vec::new(), titles: Vec::new(), refused: Vec::new() };
        for &i in tree.order() {
            leaves.add(tree, i, most);
        }
        if leaves.expressions.is_empty() {
            return Err(Error::not_found("the tree has no leaf that can be printed")
                .in_file(tree.file().url())
                .with_remedy("`sapwood show` shows its branches"));
        }
        Ok(leaves)
    }

    fn add(&mut self, tree: &Tree, branch: usize, most: usize) {
        let (header, path) = (tree.header(), tree.name_of(branch));
        let Some(found) = header.branches.get(branch).filter(|b| b.children.is_empty()) else { return };
        if found.leaves.is_empty() && header.leaves.is_empty() {
            // a field of an ntuple
            if self.expressions.len() < most {
                self.bind(tree, path.clone(), path);
            }
            return;
        }
        let names = found.leaves.iter().filter_map(|&l| header.leaves.get(l)).map(|leaf| leaf.name.as_str());
        let alone = found.leaves.len() < 2;
        for leaf in names.take(most.saturating_sub(self.expressions.len())) {
            let name = if alone { path.clone() } else { format!("{path}.{leaf}") };
            let title = match found.element {
                Some(_) => path.clone(),
                None => format!("{path}.{}", if alone { leaf } else { &name }),
            };
            self.bind(tree, name, title);
        }
    }

    fn bind(&mut self, tree: &Tree, name: String, title: String) {
        let bound = Expr::of_name(&name).and_then(|e| Binding::scan(tree, std::slice::from_ref(&e), None).map(|_| e));
        match bound {
            Ok(expression) => {
                self.expressions.push(expression);
                self.titles.push(title);
            }
            Err(_) => self.refused.push(name),
        }
    }
}
