//! Names in expressions to branches of a tree, and decoded columns back to names.

use crate::alias::expand;
use crate::characters::characters_as_text;
use crate::friends::{FriendUse, Friends, Owner};
use crate::links::{class_of_step, is_links, is_table, linked};
use crate::names::{ColumnPath, Names};
use crate::{Collection, Dim, Expr, Kind, Query, Schema, Shape};
use sapwood_column::{Array, ColumnType, DType};
use sapwood_engine::{FriendRequest, FriendRows, Tree};
use sapwood_format::streamer::code;
use sapwood_span::{Error, ErrorKind, Result};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// What a tree offers to expressions by itself: its branches, and members of records as `branch.member`.
struct OwnColumns<'t>(Names<'t>);

impl<'t> OwnColumns<'t> {
    fn new(tree: &'t Tree) -> Self {
        Self(Names::new(tree))
    }

    fn resolve(&self, name: &str) -> Result<(ColumnPath, ColumnType)> {
        self.0.resolve(name).map(|(path, column)| self.0.counted(path, column))
    }

    /// The kind of a branch whose class is described (fType of TBranchElement), and whether it names the class of the
    /// objects in a TClonesArray.
    fn element(&self, branch: usize) -> Option<(i32, bool)> {
        let element = self.0.tree().header().branches.get(branch)?.element.as_ref()?;
        Some((element.kind, !element.clones_name.is_empty()))
    }
}

impl Schema for OwnColumns<'_> {
    fn shape(&self, name: &str) -> Option<Shape> {
        let (path, column) = self.resolve(name).ok()?;
        let shape = self.shape_of(&path, &column);
        Some(if self.is_characters(&path) { as_text(shape) } else { shape })
    }

    fn is_plain(&self, name: &str) -> bool {
        self.0.is_plain(name)
    }

    fn characters(&self, name: &str) -> Option<Shape> {
        let (path, column) = self.resolve(name).ok()?;
        self.is_characters(&path).then(|| self.shape_of(&path, &column))
    }

    fn collection(&self, name: &str) -> Option<Collection> {
        let (path, column) = self.resolve(name).ok()?;
        let header = self.0.tree().header();
        let element = self.element(path.branch);
        let is_split = path.fields.is_empty() && element.is_some_and(|(kind, _)| matches!(kind, 3 | 4));
        let members = match (is_split, innermost(&column)) {
            (true, _) => {
                let children = header.branches.get(path.branch).map(|b| b.children.as_slice()).unwrap_or_default();
                children
                    .iter()
                    .filter_map(|&i| header.branches.get(i))
                    .take(MOST_SHOWN)
                    .map(|b| b.name.clone())
                    .collect()
            }
            // the objects behind links have no names
            (false, ColumnType::Record { .. }) if path.fields.last().is_some_and(|f| is_links(f)) => Vec::new(),
            (false, ColumnType::Record { fields }) if is_table(fields) => Vec::new(),
            (false, ColumnType::Record { fields }) => {
                fields.iter().take(MOST_SHOWN).map(|(n, _)| format!("{name}.{n}")).collect()
            }
            (false, _) => return None,
        };
        let is_clones = match element {
            Some((kind, _)) if is_split => kind == 3,
            Some((_, clones)) => clones || self.0.is_clones(&path),
            None => false,
        };
        let is_countable =
            is_split || (self.0.is_countable(&path, &column) && (is_clones || !self.0.is_pointer_to_object(&path)));
        Some(Collection { is_split, is_clones, is_countable, members })
    }

    fn refusal(&self, name: &str) -> Option<Error> {
        let e = self.resolve(name).err().filter(|e| e.kind() != ErrorKind::NotFound)?;
        let header = self.0.tree().header();
        let branch = self.0.tree().find(name).ok().and_then(|i| header.branches.get(i));
        let children = branch.map(|b| b.children.as_slice()).unwrap_or_default();
        if children.is_empty() {
            return Some(e);
        }
        let names: Vec<&str> =
            children.iter().filter_map(|&i| header.branches.get(i)).take(MOST_SHOWN).map(|b| b.name.as_str()).collect();
        let what = format!("{}: {}", e.what(), names.join(", "));
        Some(e.worded(what))
    }

    fn has_whole_bins(&self, name: &str) -> bool {
        let Ok((path, _)) = self.resolve(name) else { return true };
        let header = self.0.tree().header();
        let Some(branch) = header.branches.get(path.branch) else { return true };
        let leaf = branch.leaves.first().and_then(|&l| header.leaves.get(l));
        let is_long = |code: i32| matches!(code, code::LONG | code::ULONG);
        let is_long_member = branch.element.as_ref().is_some_and(|e| {
            // numbers and arrays of numbers
            path.fields.is_empty() && e.streamer_type < 60 && is_long(e.streamer_type % 20)
        });
        leaf.is_none_or(|l| l.class != "TLeafG") && !is_long_member
    }

    fn names(&self) -> Vec<String> {
        self.0.all()
    }

    fn alias(&self, name: &str) -> Option<String> {
        self.0.tree().header().aliases.iter().find(|(n, _)| n == name).map(|(_, text)| text.clone())
    }

    fn entries(&self) -> Option<u64> {
        Some(self.0.tree().entries())
    }

    fn classes(&self, name: &str) -> Vec<String> {
        self.0.classes(name)
    }

    fn is_single(&self, name: &str) -> bool {
        let Ok((path, column)) = self.resolve(name) else { return false };
        match self.shape_of(&path, &column).dims.as_slice() {
            [] => !self.element(path.branch).is_some_and(|(kind, _)| matches!(kind, 3 | 4)),
            [Dim::Jagged] => self.is_behind_pointer(&path),
            _ => false,
        }
    }

    fn collections_with(&self, member: &str) -> Vec<String> {
        let header = self.0.tree().header();
        let split = header
            .branches
            .iter()
            .enumerate()
            .filter(|(_, b)| b.element.as_ref().is_some_and(|e| matches!(e.kind, 3 | 4)) && !b.children.is_empty());
        let has = |name: &str, member: &str| {
            self.resolve(&format!("{name}.{member}")).is_ok_and(|(path, _)| {
                header.branches.get(path.branch).is_some_and(|b| b.name.trim_end_matches('.').starts_with(name))
            })
        };
        let names = split.map(|(_, b)| b.name.trim_end_matches('.').to_owned());
        names.filter(|name| has(name, member) && has(name, "fUniqueID") && has(name, "fBits")).collect()
    }
}

impl OwnColumns<'_> {
    /// The shape of a column. Options are not among its dimensions.
    fn shape_of(&self, path: &ColumnPath, column: &ColumnType) -> Shape {
        shape(column, &self.0.options(path))
    }

    /// Whether there are several because of a pointer alone, behind which there is one object or none.
    fn is_behind_pointer(&self, path: &ColumnPath) -> bool {
        let to = (0..=path.fields.len()).filter_map(|n| path.fields.get(..n));
        let mut above = to.map(|fields| ColumnPath { branch: path.branch, fields: fields.to_vec() });
        let list =
            above.find(|path| self.0.column(path).is_ok_and(|column| !self.shape_of(path, &column).dims.is_empty()));
        list.is_some_and(|path| self.0.is_pointer_to_object(&path))
    }

    /// Whether what is meant is an array of C++'s `char` in a class: a string for ROOT. The same in a leaf list is numbers.
    fn is_characters(&self, path: &ColumnPath) -> bool {
        let Ok(column) = self.0.column(path) else { return false };
        let mut column = &column;
        let mut last = false;
        while let ColumnType::Regular { item, .. } | ColumnType::List { item } = column {
            last = matches!(column, ColumnType::Regular { .. });
            column = item;
        }
        let in_class = self.element(path.branch).is_some();
        last && in_class && matches!(column, ColumnType::Number(DType::I8))
    }
}

/// What a tree and its friends offer to expressions.
struct Columns<'t> {
    own: OwnColumns<'t>,
    friends: &'t Friends,
    /// Those of each friend that is needed.
    theirs: Vec<OnceLock<OwnColumns<'t>>>,
}

impl<'t> Columns<'t> {
    fn new(tree: &'t Tree, friends: &'t Friends) -> Self {
        let theirs = (0..friends.most()).map(|_| OnceLock::new()).collect();
        Self { own: OwnColumns::new(tree), friends, theirs }
    }

    /// Which friend a name belongs to, and the name there; `None`: it is one of the tree itself, or unknown.
    fn owner(&self, name: &str) -> Result<Option<Owner>> {
        if self.friends.is_empty() || !matches!(self.own.resolve(name), Err(e) if e.kind() == ErrorKind::NotFound) {
            return Ok(None);
        }
        self.friends.owner(name)
    }

    /// The columns of a friend.
    fn of_friend(&self, friend: usize) -> Result<&OwnColumns<'t>> {
        let tree = self.friends.tree(friend)?;
        let place = self.theirs.get(friend).ok_or_else(|| Error::invalid("the tree has no such friend"))?;
        Ok(place.get_or_init(|| OwnColumns::new(tree)))
    }

    /// Asks the tree that has what a name means.
    fn ask<R>(&self, name: &str, ask: impl FnOnce(&OwnColumns<'t>, &str) -> R) -> Result<R> {
        match self.owner(name)? {
            None => Ok(ask(&self.own, name)),
            Some(owner) => Ok(ask(self.of_friend(owner.friend)?, &owner.name)),
        }
    }
}

impl Schema for Columns<'_> {
    fn shape(&self, name: &str) -> Option<Shape> {
        self.ask(name, OwnColumns::shape).ok()?
    }

    fn is_plain(&self, name: &str) -> bool {
        self.own.is_plain(name)
    }

    fn characters(&self, name: &str) -> Option<Shape> {
        self.ask(name, OwnColumns::characters).ok()?
    }

    fn collection(&self, name: &str) -> Option<Collection> {
        self.ask(name, OwnColumns::collection).ok()?
    }

    fn refusal(&self, name: &str) -> Option<Error> {
        // a friend that cannot be opened may have it
        self.ask(name, OwnColumns::refusal).unwrap_or_else(Some)
    }

    fn has_whole_bins(&self, name: &str) -> bool {
        self.ask(name, OwnColumns::has_whole_bins).unwrap_or(true)
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.own.names();
        names.extend(self.friends.names());
        names
    }

    fn alias(&self, name: &str) -> Option<String> {
        self.own.alias(name)
    }

    fn classes(&self, name: &str) -> Vec<String> {
        self.ask(name, OwnColumns::classes).unwrap_or_default()
    }

    fn is_single(&self, name: &str) -> bool {
        self.ask(name, OwnColumns::is_single).unwrap_or(false)
    }

    fn entries(&self) -> Option<u64> {
        self.own.entries()
    }

    fn collections_with(&self, member: &str) -> Vec<String> {
        self.own.collections_with(member)
    }
}

/// The shape of an array of characters when it is taken as strings.
fn as_text(mut shape: Shape) -> Shape {
    shape.dims.pop();
    Shape { kind: Kind::Text, ..shape }
}

/// Members shown where one has to be named.
const MOST_SHOWN: usize = 8;

/// A query bound to a tree, and which branches feed it.
pub struct Binding {
    /// The query.
    pub query: Query,
    /// The branches to scan, each once.
    pub branches: Vec<usize>,
    /// The friends that feed it as well.
    pub(crate) friends: Vec<FriendUse>,
    /// For each name of the query: which scanned column, and the members inside.
    picks: Vec<Pick>,
    /// What each row counts in a histogram (TTree::SetWeight).
    pub(crate) weight: f64,
    /// Whether a branch holds several values per entry.
    pub nested: bool,
    /// Whether an expression or the selection asks for the number of all entries (`Entries$`), be it by an alias.
    pub(crate) asks_total: bool,
    /// The selection alone, where it lets the same entries pass as with the expressions.
    pub(crate) guide: Option<Arc<Binding>>,
}

/// A column of a query among those that are scanned.
struct Pick {
    /// Which of the friends scans it; `None`: the tree itself.
    friend: Option<usize>,
    at: usize,
    /// Members inside.
    fields: Vec<String>,
    /// Whether arrays of characters become strings.
    as_text: bool,
}

impl Binding {
    /// Binds expressions and a selection to a tree.
    ///
    /// # Errors
    /// `Unsupported`, with the reason, for a branch that cannot be read; otherwise as [`Query::new`].
    pub fn new(tree: &Tree, exprs: &[Expr], cut: Option<&Expr>) -> Result<Self> {
        Self::guided(tree, exprs, cut, |e, c, s| Query::new(e, c, s))
    }

    /// Binds expressions and a selection to a tree for [`Query::rows`] as TTree::Scan prints them.
    ///
    /// # Errors
    /// As [`Binding::new`].
    pub fn scan(tree: &Tree, exprs: &[Expr], cut: Option<&Expr>) -> Result<Self> {
        Self::guided(tree, exprs, cut, |e, c, s| Query::scan(e, c, s))
    }

    /// Binds expressions and a selection, and the selection by itself as well: what of it asks for no friend.
    fn guided(
        tree: &Tree,
        exprs: &[Expr],
        cut: Option<&Expr>,
        make: impl Fn(&[Expr], Option<&Expr>, &Columns<'_>) -> Result<Query>,
    ) -> Result<Self> {
        let friends = Friends::of(tree);
        let columns = Columns::new(tree, &friends);
        let expanded = |e: &Expr| expand(e, &columns).map_err(|e| e.in_file(tree.file().url()));
        let exprs = exprs.iter().map(expanded).collect::<Result<Vec<_>>>()?;
        let cut = cut.map(expanded).transpose()?;
        let mut binding = Self::bound(&columns, &exprs, cut.as_ref(), make)?;
        if let Some(cut) = cut.filter(|e| !e.counts_rows()) {
            let of_friend = |name: &str| columns.owner(name).map_or(true, |owner| owner.is_some());
            if let Some(cut) = if binding.friends.is_empty() { Some(cut) } else { cut.without(&of_friend) } {
                let make = |e: &[Expr], c: Option<&Expr>, s: &Columns<'_>| Query::new(e, c, s);
                binding.guide = Some(Arc::new(Self::bound(&columns, &[], Some(&cut), make)?));
            }
        }
        Ok(binding)
    }

    /// Binds expressions to a tree without its friends.
    pub(crate) fn alone(tree: &Tree, exprs: &[Expr]) -> Result<Self> {
        let friends = Friends::none();
        let columns = Columns::new(tree, &friends);
        let exprs = exprs.iter().map(|e| without_aliases(tree, e)).collect::<Result<Vec<_>>>()?;
        Self::bound(&columns, &exprs, None, |e, c, s| Query::new(e, c, s))
    }

    /// Lets one scan feed several bindings of a tree: all of them have the same branches from then on. What passes is looked
    /// at first only where it is the same for all.
    pub(crate) fn share(bindings: &mut [Self], same_cut: bool) {
        let mut all: Vec<usize> = Vec::new();
        for binding in &mut *bindings {
            for pick in binding.picks.iter_mut().filter(|p| p.friend.is_none()) {
                let Some(&branch) = binding.branches.get(pick.at) else { continue };
                pick.at = all.iter().position(|&b| b == branch).unwrap_or_else(|| {
                    all.push(branch);
                    all.len() - 1
                });
            }
        }
        let mut friends: Vec<FriendUse> = Vec::new();
        for binding in &mut *bindings {
            for pick in &mut binding.picks {
                let Some(used) = pick.friend.and_then(|f| binding.friends.get(f)) else { continue };
                let Some(&branch) = used.branches.get(pick.at) else { continue };
                let (friend, at) = place_in(&mut friends, used, branch);
                (pick.friend, pick.at) = (Some(friend), at);
            }
        }
        for binding in bindings {
            binding.branches.clone_from(&all);
            binding.friends.clone_from(&friends);
            if !same_cut {
                binding.guide = None;
            }
        }
    }

    /// Binds what holds no aliases any more.
    fn bound(
        columns: &Columns<'_>,
        exprs: &[Expr],
        cut: Option<&Expr>,
        make: impl Fn(&[Expr], Option<&Expr>, &Columns<'_>) -> Result<Query>,
    ) -> Result<Self> {
        let query = make(exprs, cut, columns).map_err(|e| e.in_file(columns.own.0.tree().file().url()))?;
        let (mut branches, mut picks, mut friends, mut nested) = (Vec::new(), Vec::new(), Vec::new(), false);
        for (name, shape) in query.columns() {
            nested |= !shape.dims.is_empty();
            let owner = columns.owner(name)?;
            let (of, inside) = match &owner {
                Some(owner) => (columns.of_friend(owner.friend)?, owner.name.as_str()),
                None => (&columns.own, name.as_str()),
            };
            let (place, _) = of.resolve(inside)?;
            let as_text = shape.kind == Kind::Text && of.is_characters(&place);
            let (friend, at) = match owner {
                Some(Owner { friend: number, .. }) => {
                    let friend = columns.friends.friend(number)?.clone();
                    let used = FriendUse { number, friend, branches: Vec::new() };
                    let (friend, at) = place_in(&mut friends, &used, place.branch);
                    (Some(friend), at)
                }
                None => (None, place_of(&mut branches, place.branch)),
            };
            picks.push(Pick { friend, at, fields: place.fields, as_text });
        }
        let asks_total = exprs.iter().chain(cut).any(Expr::asks_total);
        let weight = columns.own.0.tree().header().weight.unwrap_or(1.0);
        Ok(Self { query, branches, friends, picks, weight, nested, asks_total, guide: None })
    }

    /// The query's columns among the scanned ones and those of friends.
    ///
    /// # Errors
    /// `Invalid` when the columns are not those of [`Binding::branches`].
    pub fn columns<'a>(&self, scanned: &'a [Array], friends: &'a [FriendRows]) -> Result<Vec<Cow<'a, Array>>> {
        self.picks
            .iter()
            .map(|pick| {
                let from = match pick.friend {
                    None => scanned,
                    Some(friend) => friends.get(friend).map_or(&[][..], |f| &f.columns),
                };
                let column = from.get(pick.at).ok_or_else(|| Error::invalid("a column is missing"))?;
                let column = pick.fields.iter().try_fold(Cow::Borrowed(column), member)?;
                if pick.as_text { characters_as_text(&column).map(Cow::Owned) } else { Ok(column) }
            })
            .collect()
    }

    /// For each of the query's columns which rows have a value, where not all do.
    pub(crate) fn present<'a>(&self, friends: &'a [FriendRows]) -> Vec<Option<&'a [bool]>> {
        if self.friends.is_empty() {
            return Vec::new();
        }
        let present = |pick: &Pick| friends.get(pick.friend?)?.present.as_deref();
        self.picks.iter().map(present).collect()
    }

    /// What the friends of a tree are asked along with it, whose entries begin with number `first_entry` in its chain.
    ///
    /// # Errors
    /// What opening a friend says.
    pub fn friend_requests(&self, tree: &Tree, first_entry: u64) -> Result<Vec<FriendRequest>> {
        self.friends.iter().map(|friend| friend.request(tree, first_entry)).collect()
    }

    /// The names of the friends that feed it.
    pub fn friend_names(&self) -> Vec<&str> {
        self.friends.iter().map(|friend| friend.friend.name()).collect()
    }
}

/// The place of a branch in a list that holds each once.
fn place_of(branches: &mut Vec<usize>, branch: usize) -> usize {
    branches.iter().position(|&b| b == branch).unwrap_or_else(|| {
        branches.push(branch);
        branches.len() - 1
    })
}

/// The place of a friend, and that of its branch.
fn place_in(friends: &mut Vec<FriendUse>, used: &FriendUse, branch: usize) -> (usize, usize) {
    let at = friends.iter().position(|f| f.number == used.number).unwrap_or_else(|| {
        friends.push(FriendUse { branches: Vec::new(), ..used.clone() });
        friends.len() - 1
    });
    let place = friends.get_mut(at).map_or(0, |friend| place_of(&mut friend.branches, branch));
    (at, place)
}

/// The expression with the aliases of a tree put in.
pub(crate) fn without_aliases(tree: &Tree, expr: &Expr) -> Result<Expr> {
    expand(expr, &OwnColumns::new(tree)).map_err(|e| e.in_file(tree.file().url()))
}

fn innermost(mut column: &ColumnType) -> &ColumnType {
    while let ColumnType::Regular { item, .. } | ColumnType::List { item } = column {
        column = item;
    }
    column
}

/// The shape of a column with these options, each as the number of dimensions above it.
fn shape(mut column: &ColumnType, options: &[usize]) -> Shape {
    let mut dims = Vec::new();
    let mut left = options.iter();
    let mut next = left.next();
    let mut is_optional = false;
    let kind = loop {
        if let (Some(_), ColumnType::List { item }) = (next.filter(|&&above| above == dims.len()), column) {
            (column, is_optional, next) = (item, true, left.next());
            continue;
        }
        column = match column {
            ColumnType::Number(d) => break Kind::Number(*d),
            ColumnType::Text => break Kind::Text,
            ColumnType::Record { .. } => break Kind::Record,
            ColumnType::Regular { size, item } => {
                // an array that is missing has no items
                dims.push(if is_optional { Dim::Jagged } else { Dim::Fixed(*size) });
                item
            }
            ColumnType::List { item } => {
                dims.push(Dim::Jagged);
                item
            }
        };
        is_optional = false;
    };
    Shape { dims, kind, options: options.to_vec() }
}

/// The member of the records inside a column; a copy only where lists have to be rebuilt around it.
fn member<'a>(column: Cow<'a, Array>, name: &String) -> Result<Cow<'a, Array>> {
    let missing = || Error::invalid(format!("the column has no member {name}"));
    if let Some(class) = class_of_step(name) {
        return linked(&column, class).map(Cow::Owned);
    }
    Ok(match column {
        Cow::Borrowed(Array::Record { fields, .. }) => {
            Cow::Borrowed(&fields.iter().find(|(n, _)| n == name).ok_or_else(missing)?.1)
        }
        Cow::Owned(Array::Record { fields, .. }) => {
            Cow::Owned(fields.into_iter().find(|(n, _)| n == name).ok_or_else(missing)?.1)
        }
        Cow::Borrowed(Array::Regular { size, len, content }) => {
            let content = Box::new(member(Cow::Borrowed(content.as_ref()), name)?.into_owned());
            Cow::Owned(Array::Regular { size: *size, len: *len, content })
        }
        Cow::Owned(Array::Regular { size, len, content }) => {
            let content = Box::new(member(Cow::Owned(*content), name)?.into_owned());
            Cow::Owned(Array::Regular { size, len, content })
        }
        Cow::Borrowed(Array::List { offsets, content }) => {
            let content = Box::new(member(Cow::Borrowed(content.as_ref()), name)?.into_owned());
            Cow::Owned(Array::List { offsets: offsets.clone(), content })
        }
        Cow::Owned(Array::List { offsets, content }) => {
            let content = Box::new(member(Cow::Owned(*content), name)?.into_owned());
            Cow::Owned(Array::List { offsets, content })
        }
        _ => return Err(missing()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_column::Values;

    #[test]
    fn members_of_records_in_lists() {
        let x = Array::Flat(Values::I32(vec![1, 2, 3]));
        let y = Array::Flat(Values::I32(vec![4, 5, 6]));
        let records = Array::Record { len: 3, fields: vec![("x".to_owned(), x), ("y".to_owned(), y.clone())] };
        let flat = member(Cow::Borrowed(&records), &"y".to_owned()).unwrap();
        assert!(matches!(flat, Cow::Borrowed(_)));
        assert_eq!(*flat, y);
        let list = Array::List { offsets: vec![0, 1, 3], content: Box::new(records) };
        let column = member(Cow::Borrowed(&list), &"y".to_owned()).unwrap();
        assert_eq!(*column, Array::List { offsets: vec![0, 1, 3], content: Box::new(y) });
        assert!(member(Cow::Borrowed(&list), &"z".to_owned()).is_err());
    }
}
