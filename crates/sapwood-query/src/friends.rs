//! Names in expressions that mean branches of a tree's friends.
//!
//! Measured with ROOT 6.40: a name is that of a branch of the tree itself where it has one; `friend.branch` with the name
//! (alias) of a friend or of its tree; otherwise the first friend that has a branch of the name. An entry that a friend
//! lacks has no instances of its branches. Where this differs: behind the end of a friend that is shorter than the tree
//! ROOT goes on with the values of its last entry; here it lacks these entries.

use crate::friend_index::{finder, index_of};
use crate::names::Names;
use sapwood_engine::{FriendMatch, FriendRequest, FriendTree, Tree, friend_request};
use sapwood_span::{Error, ErrorKind, Result};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

/// The friends of a tree, opened when a name may be theirs.
pub(crate) struct Friends {
    of: Vec<OpenFriend>,
    /// The tree whose friends they are, and the friends of friends once a name was not found among them.
    tree: Option<Tree>,
    deeper: OnceLock<Vec<OpenFriend>>,
    found: RefCell<HashMap<String, Result<Option<Owner>>>>,
}

/// Friends of friends, at most.
const MOST_DEEPER: usize = 256;

type OpenFriend = (FriendTree, OnceLock<Result<Tree>>);

/// The friend that has what a name means, and the name there.
#[derive(Clone)]
pub(crate) struct Owner {
    pub friend: usize,
    pub name: String,
}

impl Friends {
    /// No friends.
    pub(crate) fn none() -> Self {
        Self { of: Vec::new(), tree: None, deeper: OnceLock::new(), found: RefCell::default() }
    }

    pub(crate) fn of(tree: &Tree) -> Self {
        let of = tree.friends().into_iter().map(|friend| (friend, OnceLock::new())).collect();
        Self { of, tree: Some(tree.clone()), deeper: OnceLock::new(), found: RefCell::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.of.len() + self.deeper.get().map_or(0, Vec::len)
    }

    /// How many there can be.
    pub(crate) fn most(&self) -> usize {
        if self.is_empty() { 0 } else { self.of.len() + MOST_DEEPER }
    }

    /// All that are known.
    fn known(&self) -> impl Iterator<Item = &OpenFriend> {
        self.of.iter().chain(self.deeper.get().into_iter().flatten())
    }

    /// A number that another instance has found may be that of a friend of a friend.
    fn deepen_to(&self, number: usize) {
        if number >= self.of.len() {
            self.deepen();
        }
    }

    /// The friends of friends, from now on.
    fn deepen(&self) {
        self.deeper.get_or_init(|| {
            let all = self.tree.as_ref().map(Tree::friends_of_friends).unwrap_or_default();
            all.into_iter().skip(self.of.len()).take(MOST_DEEPER).map(|friend| (friend, OnceLock::new())).collect()
        });
    }

    pub(crate) fn friend(&self, number: usize) -> Result<&FriendTree> {
        self.deepen_to(number);
        self.known().nth(number).map(|(friend, _)| friend).ok_or_else(|| Error::invalid("the tree has no such friend"))
    }

    /// The first tree of a friend.
    pub(crate) fn tree(&self, number: usize) -> Result<&Tree> {
        self.deepen_to(number);
        let (friend, tree) = self.known().nth(number).ok_or_else(|| Error::invalid("the tree has no such friend"))?;
        tree.get_or_init(|| friend.first()).as_ref().map_err(Clone::clone)
    }

    /// The names under which the branches of friends that are open can be called.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (friend, tree) in self.known() {
            if let Some(Ok(tree)) = tree.get() {
                names.extend(Names::new(tree).all().iter().map(|name| format!("{}.{name}", friend.name())));
            }
        }
        names
    }

    /// Which friend a name belongs to that the tree itself does not have; `None`: to none.
    ///
    /// # Errors
    /// What opening a friend says that may have it.
    pub(crate) fn owner(&self, name: &str) -> Result<Option<Owner>> {
        if self.is_empty() {
            return Ok(None);
        }
        if let Some(found) = self.found.borrow().get(name) {
            return found.clone();
        }
        let found = self.find(name);
        self.found.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }

    fn find(&self, name: &str) -> Result<Option<Owner>> {
        let dotted = name.replace("->", ".");
        let direct = self.of.len();
        if let Some(found) = self.find_among(&dotted, name, 0..direct)? {
            return Ok(Some(found));
        }
        self.deepen();
        let deeper = direct..self.len();
        self.find_among(&dotted, name, deeper)
    }

    fn find_among(&self, dotted: &str, name: &str, friends: Range<usize>) -> Result<Option<Owner>> {
        if let Some((front, rest)) = dotted.split_once('.') {
            for friend in friends.clone() {
                if self.friend(friend)?.is_called(front) && self.has(friend, rest)? {
                    return Ok(Some(Owner { friend, name: rest.to_owned() }));
                }
            }
        }
        // a constant of the name comes first
        if crate::function::constant(name).is_some() {
            return Ok(None);
        }
        for friend in friends {
            if self.has(friend, name)? {
                return Ok(Some(Owner { friend, name: name.to_owned() }));
            }
        }
        Ok(None)
    }

    /// Whether a friend has something of this name, be it only something that cannot be read.
    fn has(&self, friend: usize, name: &str) -> Result<bool> {
        let tree = self.tree(friend)?;
        Ok(!matches!(Names::new(tree).resolve(name), Err(e) if e.kind() == ErrorKind::NotFound))
    }
}

/// A branch of a friend, and the members inside.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FriendBranch {
    /// The number of the friend among those of the tree.
    pub number: usize,
    /// The friend.
    pub friend: FriendTree,
    /// The branch, as an index into the header of its first tree.
    pub branch: usize,
    /// Members inside.
    pub fields: Vec<String>,
}

/// The branch of a friend that a name means which the tree itself does not have; `None` where no friend has it.
///
/// # Errors
/// What opening a friend says that may have it; `Invalid` for a name that can mean several of its branches.
pub fn friend_branch(tree: &Tree, name: &str) -> Result<Option<FriendBranch>> {
    let friends = Friends::of(tree);
    let Some(Owner { friend: number, name }) = friends.owner(name)? else { return Ok(None) };
    let (path, _) = Names::new(friends.tree(number)?).resolve(&name)?;
    let friend = friends.friend(number)?.clone();
    Ok(Some(FriendBranch { number, friend, branch: path.branch, fields: path.fields }))
}

/// What a scan of a tree is asked to read of one of its friends; the tree's entries begin with number `first_entry` in its
/// chain.
///
/// # Errors
/// What opening the friend says.
pub fn friend_columns(tree: &Tree, friend: &FriendTree, branches: &[usize], first_entry: u64) -> Result<FriendRequest> {
    let used = FriendUse { number: 0, friend: friend.clone(), branches: branches.to_vec() };
    used.request(tree, first_entry)
}

/// A friend that a binding reads.
#[derive(Clone)]
pub(crate) struct FriendUse {
    /// Its number among the friends of the tree.
    pub number: usize,
    pub friend: FriendTree,
    /// Branches of its first tree, each once.
    pub branches: Vec<usize>,
}

impl FriendUse {
    /// What a scan is asked to read along with a tree whose entries begin with number `first_entry` in its chain.
    pub(crate) fn request(&self, tree: &Tree, first_entry: u64) -> Result<FriendRequest> {
        let matching = match index_of(&self.friend)? {
            Some(names) => FriendMatch::ByIndex(finder(&self.friend, names, tree)),
            None if self.friend.is_stored() => FriendMatch::Entry(0),
            None => FriendMatch::Entry(first_entry),
        };
        friend_request(&self.friend, &self.branches, matching)
    }
}
