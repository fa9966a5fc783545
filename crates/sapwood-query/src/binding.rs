//! Names in expressions to branches of a tree, and decoded columns back to names.

use crate::alias::expand;
use crate::characters::characters_as_text;
use crate::names::{ColumnPath, Names, is_table};
use crate::{Collection, Dim, Expr, Kind, Query, Schema, Shape};
use sapwood_column::{Array, ColumnType, DType};
use sapwood_engine::Tree;
use sapwood_format::streamer::code;
use sapwood_span::{Error, ErrorKind, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// What a tree offers to expressions: its branches, and members of records as `branch.member`.
struct Columns<'t>(Names<'t>);

impl<'t> Columns<'t> {
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

impl Schema for Columns<'_> {
    fn shape(&self, name: &str) -> Option<Shape> {
        let (path, column) = self.resolve(name).ok()?;
        let characters = self.is_characters(&path);
        Some(if characters { as_text(shape(&column)) } else { shape(&column) })
    }

    fn is_plain(&self, name: &str) -> bool {
        self.0.is_plain(name)
    }

    fn characters(&self, name: &str) -> Option<Shape> {
        let (path, column) = self.resolve(name).ok()?;
        self.is_characters(&path).then(|| shape(&column))
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
            (false, ColumnType::Record { .. }) if path.fields.last().is_some_and(|f| f == "object") => Vec::new(),
            (false, ColumnType::Record { fields }) if is_table(fields) => Vec::new(),
            (false, ColumnType::Record { fields }) => {
                fields.iter().take(MOST_SHOWN).map(|(n, _)| format!("{name}.{n}")).collect()
            }
            (false, _) => return None,
        };
        let is_clones = match element {
            Some((kind, _)) if is_split => kind == 3,
            // a list of objects inside a record is not asked for its class
            Some((_, clones)) => clones || self.0.tree().type_name(path.branch).starts_with("TClonesArray"),
            None => false,
        };
        let is_countable = is_split || self.0.is_countable(&path, &column);
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

    fn elsewhere(&self, name: &str) -> Option<String> {
        self.0.tree().friend_hint(name)
    }
}

impl Columns<'_> {
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

/// The shape of an array of characters when it is taken as strings.
fn as_text(shape: Shape) -> Shape {
    let mut dims = shape.dims;
    dims.pop();
    Shape { dims, kind: Kind::Text }
}

/// Members shown where one has to be named.
const MOST_SHOWN: usize = 8;

/// A query bound to a tree, and which branches feed it.
pub struct Binding {
    /// The query.
    pub query: Query,
    /// The branches to scan, each once.
    pub branches: Vec<usize>,
    /// For each name of the query: which scanned column, and the members inside.
    picks: Vec<Pick>,
    /// Whether a branch holds several values per entry.
    pub nested: bool,
    /// Whether an expression or the selection asks for the number of all entries (`Entries$`), be it by an alias.
    pub(crate) asks_total: bool,
    /// The selection alone, where it lets the same entries pass as with the expressions.
    pub(crate) guide: Option<Arc<Binding>>,
}

/// A column of a query among those that are scanned.
struct Pick {
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
        Self::guided(tree, exprs, cut, Query::new)
    }

    /// Binds expressions and a selection to a tree for [`Query::rows`] as TTree::Scan prints them.
    ///
    /// # Errors
    /// As [`Binding::new`].
    pub fn scan(tree: &Tree, exprs: &[Expr], cut: Option<&Expr>) -> Result<Self> {
        Self::guided(tree, exprs, cut, Query::scan)
    }

    /// Binds expressions and a selection, and the selection by itself as well.
    fn guided<'t>(
        tree: &'t Tree,
        exprs: &[Expr],
        cut: Option<&Expr>,
        make: impl Fn(&[Expr], Option<&Expr>, &Columns<'t>) -> Result<Query>,
    ) -> Result<Self> {
        let exprs = exprs.iter().map(|e| without_aliases(tree, e)).collect::<Result<Vec<_>>>()?;
        let cut = cut.map(|e| without_aliases(tree, e)).transpose()?;
        let mut binding = Self::bound(tree, &exprs, cut.as_ref(), make)?;
        if let Some(cut) = cut.filter(|e| !e.counts_rows()) {
            binding.guide = Some(Arc::new(Self::bound(tree, &[], Some(&cut), Query::new)?));
        }
        Ok(binding)
    }

    /// Lets one scan feed several bindings of a tree: all of them have the same branches from then on. What passes is looked
    /// at first only where it is the same for all.
    pub(crate) fn share(bindings: &mut [Self], same_cut: bool) {
        let mut all: Vec<usize> = Vec::new();
        for binding in &mut *bindings {
            for pick in &mut binding.picks {
                let Some(&branch) = binding.branches.get(pick.at) else { continue };
                pick.at = all.iter().position(|&b| b == branch).unwrap_or_else(|| {
                    all.push(branch);
                    all.len() - 1
                });
            }
        }
        for binding in bindings {
            binding.branches.clone_from(&all);
            if !same_cut {
                binding.guide = None;
            }
        }
    }

    /// Binds what holds no aliases any more.
    fn bound<'t>(
        tree: &'t Tree,
        exprs: &[Expr],
        cut: Option<&Expr>,
        make: impl Fn(&[Expr], Option<&Expr>, &Columns<'t>) -> Result<Query>,
    ) -> Result<Self> {
        let columns = Columns::new(tree);
        let query = make(exprs, cut, &columns).map_err(|e| e.in_file(tree.file().url()))?;
        let (mut branches, mut picks, mut nested) = (Vec::new(), Vec::new(), false);
        for (name, shape) in query.columns() {
            let (place, _) = columns.resolve(name)?;
            nested |= !shape.dims.is_empty();
            let as_text = shape.kind == Kind::Text && columns.is_characters(&place);
            let at = branches.iter().position(|&b| b == place.branch).unwrap_or_else(|| {
                branches.push(place.branch);
                branches.len() - 1
            });
            picks.push(Pick { at, fields: place.fields, as_text });
        }
        let asks_total = exprs.iter().chain(cut).any(Expr::asks_total);
        Ok(Self { query, branches, picks, nested, asks_total, guide: None })
    }

    /// The query's columns among the scanned ones.
    ///
    /// # Errors
    /// `Invalid` when the columns are not those of [`Binding::branches`].
    pub fn columns<'a>(&self, scanned: &'a [Array]) -> Result<Vec<Cow<'a, Array>>> {
        self.picks
            .iter()
            .map(|pick| {
                let column = scanned.get(pick.at).ok_or_else(|| Error::invalid("a column is missing"))?;
                let column = pick.fields.iter().try_fold(Cow::Borrowed(column), member)?;
                if pick.as_text { characters_as_text(&column).map(Cow::Owned) } else { Ok(column) }
            })
            .collect()
    }
}

/// The expression with the aliases of a tree put in.
pub(crate) fn without_aliases(tree: &Tree, expr: &Expr) -> Result<Expr> {
    expand(expr, &Columns::new(tree)).map_err(|e| e.in_file(tree.file().url()))
}

fn innermost(mut column: &ColumnType) -> &ColumnType {
    while let ColumnType::Regular { item, .. } | ColumnType::List { item } = column {
        column = item;
    }
    column
}

fn shape(column: &ColumnType) -> Shape {
    let mut dims = Vec::new();
    let mut column = column;
    loop {
        match column {
            ColumnType::Number(d) => return Shape { dims, kind: Kind::Number(*d) },
            ColumnType::Text => return Shape { dims, kind: Kind::Text },
            ColumnType::Record { .. } => return Shape { dims, kind: Kind::Record },
            ColumnType::Regular { size, item } => {
                dims.push(Dim::Fixed(*size));
                column = item;
            }
            ColumnType::List { item } => {
                dims.push(Dim::Jagged);
                column = item;
            }
        }
    }
}

/// The member of the records inside a column; a copy only where lists have to be rebuilt around it.
fn member<'a>(column: Cow<'a, Array>, name: &String) -> Result<Cow<'a, Array>> {
    let missing = || Error::invalid(format!("the column has no member {name}"));
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
