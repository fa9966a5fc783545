//! Friends of trees: given ones, and their branches among those of a tree.

use crate::forms::forms;
use crate::sync::lock;
use crate::text::Text;
use sapwood::query::{friend_branch, friend_columns, with_index};
use sapwood::{Array, Batch, Error, Form, FriendRequest, FriendTree, OpenOptions, Result, Tree, Values};
use std::sync::Mutex;

/// A friend: its alias, its files, each with the path of its tree, and the expressions of its index.
pub(crate) type GivenFriend = (Option<Text>, Vec<(Text, Option<Text>)>, Option<(Text, Text)>);

/// The friends that Python gives, opened with these options.
///
/// # Errors
/// Indices that are no expressions.
pub(crate) fn given(friends: Vec<GivenFriend>, open: &OpenOptions) -> Result<Vec<FriendTree>> {
    let friend = |(alias, files, index): GivenFriend| {
        let files = files.into_iter().map(|(file, tree)| (file.0, tree.map(|t| t.0))).collect();
        let friend = FriendTree::new(alias.as_deref(), files, open.clone());
        match index {
            Some((major, minor)) => with_index(friend, &major, &minor),
            None => Ok(friend),
        }
    };
    friends.into_iter().map(friend).collect()
}

/// Branches of friends, numbered behind those of the tree as they are asked for.
#[derive(Default)]
pub(crate) struct FriendBranches(Mutex<Vec<(usize, usize)>>);

/// Where the columns of a scan come from.
#[derive(Default)]
pub struct Sources {
    /// Branches of the tree itself.
    pub own: Vec<usize>,
    /// What of which friend.
    pub friends: Vec<FriendRequest>,
    /// For each column: the friend, and the column among its own.
    order: Vec<(Option<usize>, usize)>,
    pub forms: Vec<Option<Form>>,
}

impl FriendBranches {
    /// The number of the branch of a friend, and the members inside.
    pub(crate) fn find(&self, tree: &Tree, name: &str) -> Result<Option<(usize, Vec<String>)>> {
        let Some(found) = friend_branch(tree, name)? else { return Ok(None) };
        let mut known = lock(&self.0);
        let wanted = (found.number, found.branch);
        let at = known.iter().position(|k| *k == wanted).unwrap_or_else(|| {
            known.push(wanted);
            known.len() - 1
        });
        Ok(Some((tree.header().branches.len() + at, found.fields)))
    }

    /// Whether a number is that of a branch here.
    pub(crate) fn has(&self, tree: &Tree, number: usize) -> bool {
        let known = lock(&self.0);
        number.checked_sub(tree.header().branches.len()).is_some_and(|at| at < known.len())
    }

    /// Divides branches into those of the tree and those of its friends.
    pub(crate) fn divide(&self, tree: &Tree, branches: &[usize], first_entry: u64) -> Result<Sources> {
        let count = tree.header().branches.len();
        let mut out = Sources::default();
        let mut used: Vec<(usize, Vec<usize>)> = Vec::new();
        let all = tree.friends();
        for &branch in branches {
            let Some(at) = branch.checked_sub(count) else {
                out.forms.extend(forms(tree, &[branch]));
                out.order.push((None, out.own.len()));
                out.own.push(branch);
                continue;
            };
            let known = lock(&self.0).get(at).copied();
            let (number, theirs) = known.ok_or_else(|| Error::invalid("there is no such branch of a friend"))?;
            let friend = all.get(number).ok_or_else(|| Error::invalid("there is no such friend"))?;
            out.forms.extend(forms(&friend.first()?, &[theirs]));
            let place = used.iter().position(|(n, _)| *n == number).unwrap_or_else(|| {
                used.push((number, Vec::new()));
                used.len() - 1
            });
            let columns = &mut used[place].1;
            out.order.push((Some(place), columns.len()));
            columns.push(theirs);
        }
        for (number, branches) in used {
            let friend = all.get(number).ok_or_else(|| Error::invalid("there is no such friend"))?;
            out.friends.push(friend_columns(tree, friend, &branches, first_entry)?);
        }
        Ok(out)
    }
}

impl Sources {
    /// The columns of a batch in their order; with each, which rows have a value, where not all may.
    pub fn columns(&self, batch: Batch) -> Vec<(Array, Option<Values>)> {
        let Batch { columns, friends, .. } = batch;
        let mut own: Vec<Option<Array>> = columns.into_iter().map(Some).collect();
        let present: Vec<Option<Vec<bool>>> = friends.iter().map(|f| f.present.clone()).collect();
        let some = |columns: Vec<Array>| columns.into_iter().map(Some).collect();
        let mut theirs: Vec<Vec<Option<Array>>> = friends.into_iter().map(|f| some(f.columns)).collect();
        let mut take = |&(friend, at): &(Option<usize>, usize)| match friend {
            None => Some((own.get_mut(at)?.take()?, None)),
            Some(friend) => {
                let present = present.get(friend)?.as_ref();
                let present = present.map(|p| Values::Bool(p.iter().map(|x| u8::from(*x)).collect()));
                Some((theirs.get_mut(friend)?.get_mut(at)?.take()?, present))
            }
        };
        self.order.iter().filter_map(&mut take).collect()
    }
}
