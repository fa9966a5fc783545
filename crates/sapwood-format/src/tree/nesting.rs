//! Branches within branches: parents, and the lengths of paths.

use super::Tree;
use sapwood_span::{Error, Result};

/// Maximum depth of branches: far deeper than any class nests.
pub(super) const DEEPEST: usize = 200;

/// Total bytes of the paths of a tree's branches, and per byte of its header: those of real trees are shorter than
/// their headers.
const ANY: usize = 4 << 20;
const PER_BYTE: usize = 16;

/// Records the parent of each branch; `bytes` is the length of the header.
///
/// # Errors
/// `Corrupt` when a branch contains itself, or is too deep, or paths are longer than the header justifies: a long name
/// above many branches is a part of each of their paths.
pub(super) fn nest(tree: &mut Tree, bytes: usize) -> Result<()> {
    for parent in 0..tree.branches.len() {
        for child in tree.branches[parent].children.clone() {
            tree.branches[child].parent = Some(parent);
        }
    }
    refuse_cycles(tree)?;
    let most = ANY.saturating_add(bytes.saturating_mul(PER_BYTE));
    let mut left = most;
    // length of the path and depth, once known
    let mut known: Vec<Option<(usize, usize)>> = vec![None; tree.branches.len()];
    let mut above = Vec::new();
    for i in 0..tree.branches.len() {
        let mut at = Some(i);
        while let Some(b) = at.filter(|&b| known[b].is_none()) {
            above.push(b);
            at = tree.branches[b].parent;
        }
        while let Some(b) = above.pop() {
            let (outer, depth) = tree.branches[b].parent.and_then(|p| known[p]).unwrap_or_default();
            let length = outer + 1 + tree.branches[b].name.len();
            if depth >= DEEPEST {
                return Err(Error::corrupt("branches are too deeply nested"));
            }
            left = left.checked_sub(length).ok_or_else(|| {
                Error::corrupt(format!("the paths of its branches would take more than {most} bytes"))
            })?;
            known[b] = Some((length, depth + 1));
        }
    }
    Ok(())
}

/// A damaged reference may make a branch its own ancestor.
fn refuse_cycles(tree: &Tree) -> Result<()> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; tree.branches.len()];
    // a branch, and how many of its children were visited
    let mut open: Vec<(usize, usize)> = Vec::new();
    for i in 0..tree.branches.len() {
        if states[i] == State::New {
            states[i] = State::Open;
            open.push((i, 0));
        }
        while let Some((b, next)) = open.last_mut() {
            match tree.branches[*b].children.get(*next) {
                None => {
                    states[*b] = State::Done;
                    open.pop();
                }
                Some(&child) => {
                    *next += 1;
                    match states[child] {
                        State::New => {
                            states[child] = State::Open;
                            open.push((child, 0));
                        }
                        State::Open => {
                            let name = tree.branches[child].name.clone();
                            return Err(Error::corrupt("a branch contains itself").in_branch(name));
                        }
                        State::Done => {}
                    }
                }
            }
        }
    }
    Ok(())
}
