mod friend;
mod friend_index;

pub use friend::FriendTree;
pub use friend_index::FriendIndex;

use crate::external_files::BasketFile;
use crate::file::File;
use crate::names::Names;
use sapwood_column::{ColumnType, Form, Layout, interpret_within, members_of_all};
use sapwood_format::streamer::Streamers;
use sapwood_format::tree::{Tree as Header, clusters, reach};
use sapwood_format::{Key, Target, TreeAt};
use sapwood_span::{Error, Result};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

/// A tree of an open file. Cheap to clone.
#[derive(Clone)]
pub struct Tree(Arc<Inner>, Arc<[FriendTree]>);

struct Inner {
    file: File,
    path: String,
    key: Key,
    header: Header,
    streamers: Arc<Streamers>,
    order: Vec<usize>,
    clusters: Vec<u64>,
    names: OnceLock<Names>,
    /// Those that its header names.
    stored_friends: OnceLock<Vec<FriendTree>>,
    layouts: Vec<OnceLock<Result<Arc<Layout>>>>,
    /// How many members those may have that are not worked out yet.
    members: AtomicUsize,
}

impl File {
    /// A tree: `dir/name;cycle`.
    ///
    /// # Errors
    /// `NotFound` when there is no such tree, or what reading and parsing its header says.
    pub fn tree(&self, path: &str) -> Result<Tree> {
        let target = Target::parse(path);
        let found = self.ask(|o| o.tree(&target))?;
        let wanted = found.key.span.len;
        self.add(|t| t.bytes_wanted += wanted);
        Ok(Tree::new(self.clone(), found))
    }
}

impl Tree {
    fn new(file: File, found: TreeAt) -> Self {
        let TreeAt { path, key, tree, streamers } = found;
        let members = AtomicUsize::new(members_of_all(&streamers));
        let layouts = tree.branches.iter().map(|_| OnceLock::new()).collect();
        let inner = Arc::new(Inner {
            order: tree.in_order(),
            clusters: clusters(&tree),
            names: OnceLock::new(),
            stored_friends: OnceLock::new(),
            layouts,
            members,
            file,
            path,
            key,
            header: tree,
            streamers,
        });
        Self(inner, Arc::default())
    }

    /// The same with these friends beside those that its header names. One of the name of such a friend takes its place.
    #[must_use]
    pub fn with_friends(&self, friends: impl IntoIterator<Item = FriendTree>) -> Self {
        Self(self.0.clone(), self.1.iter().cloned().chain(friends).collect())
    }

    /// The friends that were given to it.
    pub fn given_friends(&self) -> &[FriendTree] {
        &self.1
    }

    /// Its friends in the order in which a name is looked for in them: those of its header, then those that were given.
    pub fn friends(&self) -> Vec<FriendTree> {
        let make = || self.0.header.friends.iter().map(|f| FriendTree::stored(&self.0.file, f)).collect();
        let stored: &Vec<FriendTree> = self.0.stored_friends.get_or_init(make);
        let given = |name: &str| self.1.iter().any(|f| f.name() == name);
        let direct = stored.iter().filter(|f| !given(f.name())).chain(self.1.iter()).cloned().collect();
        friend::with_known_levels(direct)
    }

    /// Its friends and those of its friends, and so on: behind those of [`Tree::friends`], which has them from now on, too.
    /// Opens friends. Friends of one that is found by an index, or that has several files, are not among them.
    pub fn friends_of_friends(&self) -> Vec<FriendTree> {
        friend::with_all_levels(|| self.friends())
    }

    /// Everything the tree's header says.
    pub fn header(&self) -> &Header {
        &self.0.header
    }

    /// The file that contains it.
    pub fn file(&self) -> &File {
        &self.0.file
    }

    /// Directories and name.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Its key.
    pub fn key(&self) -> &Key {
        &self.0.key
    }

    /// The file's class descriptions.
    pub fn streamers(&self) -> &Streamers {
        &self.0.streamers
    }

    /// Entries.
    pub fn entries(&self) -> u64 {
        self.0.header.entries
    }

    /// Entries of a branch: the tree's, but where filling left the branch out or filled it by itself.
    pub fn entries_of(&self, branch: usize) -> u64 {
        self.0.header.branches.get(branch).map_or(0, |b| b.entries.max(reach(b)))
    }

    /// First entry of each cluster, and the number of entries at the end.
    pub fn clusters(&self) -> &[u64] {
        &self.0.clusters
    }

    /// Branches in the order of the tree, parents before children: indices into the header's.
    pub fn order(&self) -> &[usize] {
        &self.0.order
    }

    /// A branch's path: the names of its parent branches and its own.
    pub fn name_of(&self, branch: usize) -> String {
        self.0.header.path(branch)
    }

    /// A branch by its name or path.
    ///
    /// # Errors
    /// `NotFound`, with names that are like it.
    pub fn find(&self, name: &str) -> Result<usize> {
        let names = self.0.names.get_or_init(|| Names::new(&self.0.header, &self.0.order));
        names.find(name).map_err(|e| e.in_file(format!("{}:{}", self.0.file.url(), self.0.path)))
    }

    /// How a branch's baskets are decoded.
    pub(crate) fn layout(&self, branch: usize) -> Result<&Arc<Layout>> {
        let place = self.0.layouts.get(branch).ok_or_else(|| Error::not_found(format!("no branch number {branch}")))?;
        let layout = || {
            // a missing file is reported as soon as its branch is requested
            self.basket_file(branch).map_err(|e| e.in_branch(self.name_of(branch)))?;
            interpret_within(&self.0.header, branch, &self.0.streamers, &self.0.members).map(Arc::new)
        };
        match place.get_or_init(layout) {
            Ok(l) => Ok(l),
            Err(e) => Err(e.clone().in_file(self.0.file.url())),
        }
    }

    /// The file in which a branch's baskets lie.
    pub(crate) fn basket_file(&self, branch: usize) -> Result<BasketFile> {
        let file = &self.0.file;
        match self.0.header.branches.get(branch).and_then(|b| b.external_file()) {
            Some(name) => file.external(name),
            None => Ok(BasketFile { begin: 0, size: file.size(), name: file.url().into() }),
        }
    }

    /// The type of a branch's column.
    ///
    /// # Errors
    /// `Unsupported`, with the reason, when this version does not read it.
    pub fn column_type(&self, branch: usize) -> Result<ColumnType> {
        self.layout(branch).map(|l| l.column_type())
    }

    /// The classes of the records in a branch's column, and which of its lists are maps.
    ///
    /// # Errors
    /// As [`Tree::column_type`].
    pub fn form(&self, branch: usize) -> Result<Form> {
        self.layout(branch).map(|l| l.form())
    }

    /// The C++ type of a branch, as uproot's `typename` writes it.
    pub fn type_name(&self, branch: usize) -> String {
        sapwood_column::type_name(&self.0.header, branch, &self.0.streamers)
    }
}

impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tree({}:{}, {} entries)", self.0.file.url(), self.0.path, self.entries())
    }
}
