//! Friends: trees whose branches stand beside those of another one.

use super::{FriendIndex, Tree};
use crate::file::File;
use crate::options::OpenOptions;
use crate::report::IoReport;
use sapwood_format::tree::Friend as StoredFriend;
use sapwood_source::redacted;
use sapwood_span::raw_text::path_of;
use sapwood_span::sync::lock;
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// Trees of a friend that are kept open.
const MOST_OPEN: usize = 2;
/// Friends of friends of friends, at most: two trees may be friends of each other.
const MOST_LEVELS: usize = 4;
/// Friends of a tree with those of its friends, at most.
const MOST_FRIENDS: usize = 256;

/// A friend of a tree or a chain: one tree, or those of several files one behind the other. It is opened when it is first
/// needed. Cheap to clone.
#[derive(Clone)]
pub struct FriendTree(Arc<Inner>);

struct Inner {
    name: String,
    /// The name of its tree, where it is known without opening it.
    tree: Option<String>,
    place: Result<Place>,
    options: OpenOptions,
    /// The names of its index: major and minor.
    index: Option<(String, String)>,
    /// Whether it is stored in a tree: then its entries are those of that tree, not those of a chain.
    is_stored: bool,
    state: Mutex<State>,
    /// Its index, once it is known.
    rows: OnceLock<Result<Arc<FriendIndex>>>,
    /// Whether it is a friend of a friend.
    is_nested: bool,
    /// Its own friends, once they were asked for.
    own: OnceLock<Vec<FriendTree>>,
}

/// Where its trees are.
#[derive(Clone)]
enum Place {
    Files(Vec<(String, Option<String>)>),
    /// In the file of the tree itself.
    Same(File, String),
}

#[derive(Default)]
struct State {
    /// Where the entries of each file end, as far as they have been opened.
    ends: Vec<u64>,
    open: VecDeque<(usize, Tree)>,
    /// What was done with those that are closed.
    closed: IoReport,
}

impl FriendTree {
    /// A friend of these files, each with the path of its tree; expressions name it `alias`, or as its tree.
    pub fn new(alias: Option<&str>, files: Vec<(String, Option<String>)>, options: OpenOptions) -> Self {
        let tree = files.first().and_then(|(_, tree)| tree.as_deref()).map(tree_name);
        let name = alias.map(str::to_owned).or_else(|| tree.clone()).unwrap_or_default();
        Self::make(name, tree, Ok(Place::Files(files)), options, false)
    }

    fn make(name: String, tree: Option<String>, place: Result<Place>, options: OpenOptions, is_stored: bool) -> Self {
        Self(Arc::new(Inner {
            name,
            tree,
            place,
            options,
            index: None,
            is_stored,
            state: Mutex::default(),
            rows: OnceLock::new(),
            is_nested: false,
            own: OnceLock::new(),
        }))
    }

    /// Whether it is a friend of a friend.
    pub fn is_nested(&self) -> bool {
        self.0.is_nested
    }

    /// Its own friends, whose entries have the numbers of its own; opens it. None where it cannot be opened, where its
    /// entries are found by an index, and where it has several files.
    fn own_friends(&self) -> &[Self] {
        self.0.own.get_or_init(|| {
            if self.index().is_some() || self.files() != 1 {
                return Vec::new();
            }
            let Ok(tree) = self.first() else { return Vec::new() };
            let header = tree.header();
            if header.index.is_some() {
                return Vec::new();
            }
            let nested = |stored: &StoredFriend| {
                let (name, of) = (stored.name.clone(), Some(tree_name(&stored.tree)));
                let place = stored_place(tree.file(), stored);
                let mut made = Self::make(name, of, place, tree.file().options().clone(), self.is_stored());
                if let Some(inner) = Arc::get_mut(&mut made.0) {
                    inner.is_nested = true;
                }
                made
            };
            header.friends.iter().take(MOST_FRIENDS).map(nested).collect()
        })
    }

    /// The same with entries found by the values of two expressions rather than by their number.
    #[must_use]
    pub fn with_index(self, major: &str, minor: &str) -> Self {
        let Inner { name, tree, place, options, is_stored, .. } = &*self.0;
        let mut made = Inner {
            name: name.clone(),
            tree: tree.clone(),
            place: place.clone(),
            options: options.clone(),
            index: None,
            is_stored: *is_stored,
            state: Mutex::default(),
            rows: OnceLock::new(),
            is_nested: false,
            own: OnceLock::new(),
        };
        made.index = Some((major.to_owned(), minor.to_owned()));
        Self(Arc::new(made))
    }

    /// A friend that the header of a tree names.
    pub(super) fn stored(file: &File, friend: &StoredFriend) -> Self {
        let place = stored_place(file, friend);
        Self::make(friend.name.clone(), Some(tree_name(&friend.tree)), place, file.options().clone(), true)
    }

    /// The name that expressions have for it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether expressions may name it so: by its alias or by the name of its tree.
    pub fn is_called(&self, name: &str) -> bool {
        !name.is_empty() && (self.0.name == name || self.0.tree.as_deref() == Some(name))
    }

    /// The names of the index that was asked for: major and minor.
    pub fn index(&self) -> Option<(&str, &str)> {
        self.0.index.as_ref().map(|(major, minor)| (major.as_str(), minor.as_str()))
    }

    /// Whether it is stored in a tree: its entries are those of that tree, not of a chain with it.
    pub fn is_stored(&self) -> bool {
        self.0.is_stored
    }

    /// Its entries by index: made by `build` the first time.
    ///
    /// # Errors
    /// What `build` says.
    pub fn index_rows(&self, build: impl FnOnce() -> Result<FriendIndex>) -> Result<Arc<FriendIndex>> {
        self.0.rows.get_or_init(|| build().map(Arc::new)).clone()
    }

    /// How messages call it.
    pub fn title(&self) -> String {
        let Inner { name, tree, place, .. } = &*self.0;
        let tree =
            tree.as_ref().filter(|tree| *tree != name).map_or_else(String::new, |tree| format!("tree {tree} of "));
        match place {
            Ok(Place::Same(file, _)) => format!("friend {name} ({tree}{})", file.url()),
            Ok(Place::Files(files)) => match files.as_slice() {
                [(url, _)] => format!("friend {name} ({tree}{})", redacted(url)),
                files => format!("friend {name} ({tree}{} files)", files.len()),
            },
            Err(_) => format!("friend {name}"),
        }
    }

    /// The tree of its first file.
    ///
    /// # Errors
    /// `Unsupported` where it cannot be opened: the tree itself can be read without it.
    pub fn first(&self) -> Result<Tree> {
        Ok(self.file(0)?.0)
    }

    /// How many files it has.
    pub fn files(&self) -> usize {
        match &self.0.place {
            Ok(Place::Files(files)) => files.len(),
            Ok(Place::Same(..)) => 1,
            Err(_) => 0,
        }
    }

    /// The entries of a file, counted through all of its files, if it has been opened before.
    pub(crate) fn known_entries(&self, number: usize) -> Option<Range<u64>> {
        let state = self.lock();
        let end = *state.ends.get(number)?;
        Some(number.checked_sub(1).and_then(|n| state.ends.get(n)).copied().unwrap_or(0)..end)
    }

    /// The tree of a file, and the entries before it.
    ///
    /// # Errors
    /// As [`FriendTree::first`].
    pub fn file(&self, number: usize) -> Result<(Tree, u64)> {
        let place = self.0.place.as_ref().map_err(|e| self.lacking(e))?;
        let mut state = self.lock();
        // those before it are opened once, to be counted
        let known = state.ends.len();
        for file in known.min(number)..=number {
            if file >= self.files() {
                return Err(Error::invalid(format!("the {} has no file number {file}", self.title())));
            }
            if (file < known && file != number) || state.open.iter().any(|(n, _)| *n == file) {
                continue;
            }
            let tree = open(place, file, &self.0.options).map_err(|e| self.lacking(&e))?;
            if file >= state.ends.len() {
                let before = state.ends.last().copied().unwrap_or(0);
                state.ends.push(before.saturating_add(tree.entries()));
            }
            if state.open.len() >= MOST_OPEN
                && let Some((_, old)) = state.open.pop_front()
            {
                state.closed += &old.file().io();
            }
            state.open.push_back((file, tree));
        }
        let before = number.checked_sub(1).and_then(|n| state.ends.get(n)).copied().unwrap_or(0);
        let tree = state.open.iter().find(|(n, _)| *n == number).map(|(_, tree)| tree.clone());
        tree.map(|tree| (tree, before)).ok_or_else(|| Error::invalid("a friend's file is not open"))
    }

    /// What reading its files did so far; none where none was opened.
    pub fn io(&self) -> Option<IoReport> {
        if matches!(self.0.place, Ok(Place::Same(..))) {
            return None;
        }
        let state = self.lock();
        let mut io = state.closed.clone();
        state.open.iter().for_each(|(_, tree)| io += &tree.file().io());
        (!state.ends.is_empty()).then_some(io)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }

    /// Why it cannot be read.
    fn lacking(&self, e: &Error) -> Error {
        let Inner { name, tree, .. } = &*self.0;
        let what = format!("the {} cannot be opened: {}", self.title(), e.what());
        let kind = if e.kind() == ErrorKind::NotFound { ErrorKind::Unsupported } else { e.kind() };
        let error = e.clone().worded(what).with_kind(kind);
        if self.0.is_stored {
            let tree = tree.as_deref().unwrap_or(name);
            return error
                .with_other_remedy(format!("add a friend with the alias {name}: the tree {tree} and its file"));
        }
        error
    }
}

impl std::fmt::Debug for FriendTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FriendTree({})", self.title())
    }
}

/// Friends, and behind them level by level those of friends that were asked for. The list of a tree only grows at its end.
pub(super) fn with_known_levels(direct: Vec<FriendTree>) -> Vec<FriendTree> {
    let (mut all, mut level) = (direct.clone(), direct);
    for _ in 1..MOST_LEVELS {
        let known: Option<Vec<&Vec<FriendTree>>> = level.iter().map(|f| f.0.own.get()).collect();
        let Some(known) = known else { break };
        level = known.into_iter().flatten().cloned().collect();
        level.truncate(MOST_FRIENDS.saturating_sub(all.len()));
        all.extend(level.iter().cloned());
    }
    all
}

/// The friends of `now` with those of all levels below them.
pub(super) fn with_all_levels(now: impl Fn() -> Vec<FriendTree>) -> Vec<FriendTree> {
    let mut all = now();
    for _ in 1..MOST_LEVELS {
        for friend in &all {
            friend.own_friends();
        }
        let more = now();
        if more.len() == all.len() {
            break;
        }
        all = more;
    }
    all
}

fn stored_place(file: &File, friend: &StoredFriend) -> Result<Place> {
    if friend.file.is_empty() {
        return Ok(Place::Same(file.clone(), friend.tree.clone()));
    }
    place_of(file, friend).map(|url| Place::Files(vec![(url, Some(friend.tree.clone()))]))
}

/// The name of a tree without its directories and its cycle.
fn tree_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split(';').next().unwrap_or(name).to_owned()
}

fn open(place: &Place, number: usize, options: &OpenOptions) -> Result<Tree> {
    let (url, path) = match place {
        Place::Same(file, path) => return file.tree(path),
        Place::Files(files) => files.get(number).ok_or_else(|| Error::invalid("there is no such file"))?,
    };
    let file = File::open(url, options)?;
    match path {
        Some(path) => file.tree(path),
        None => file.tree(&file.only_tree()?),
    }
}

/// Where the friend that a tree's header names is.
///
/// # Errors
/// `Unsupported` for a place that a file may not name, or that may be one of two.
fn place_of(file: &File, friend: &StoredFriend) -> Result<String> {
    let beside = file.sibling_file(&friend.file)?;
    let here = path_of(&friend.file);
    if !file.is_local() || here.is_absolute() || !here.exists() {
        return Ok(beside);
    }
    // ROOT takes the one in the working directory
    let same = |a: &std::path::Path, b: &std::path::Path| a.canonicalize().ok() == b.canonicalize().ok();
    let besides = path_of(&beside);
    if besides.exists() && !same(&here, &besides) {
        let what = format!(
            "it may be {} of the working directory, or the file in the directory of the tree's file",
            friend.file
        );
        return Err(Error::unsupported(what));
    }
    Ok(friend.file.clone())
}
