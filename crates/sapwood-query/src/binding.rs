//! Names in expressions to branches of a tree, and decoded columns back to names.

use crate::alias::expand;
use crate::{Dim, Expr, Kind, Query, Schema, Shape};
use sapwood_column::{Array, ColumnType};
use sapwood_engine::Tree;
use sapwood_span::{Error, ErrorKind, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// A name resolved: a branch, and the members inside its records.
struct ColumnPath {
    branch: usize,
    fields: Vec<String>,
}

/// What a tree offers to expressions: its branches, and members of records as `branch.member`.
struct Columns<'t>(&'t Tree);

impl Columns<'_> {
    fn resolve(&self, name: &str) -> Result<(ColumnPath, ColumnType)> {
        let missing = match self.0.find(name) {
            Ok(branch) => return Ok((ColumnPath { branch, fields: Vec::new() }, self.0.column_type(branch)?)),
            Err(e) => e,
        };
        // `branch.leaf`: the longest part that is a branch, the rest members
        for (dot, _) in name.rmatch_indices('.') {
            let (Some(head), Some(tail)) = (name.get(..dot), name.get(dot + 1..)) else { continue };
            let Ok(branch) = self.0.find(head) else { continue };
            let mut column = self.0.column_type(branch)?;
            let fields: Vec<String> = tail.split('.').map(str::to_owned).collect();
            for field in &fields {
                column = member_type(column, field)
                    .ok_or_else(|| Error::not_found(format!("no member {field}")).in_branch(self.0.name_of(branch)))?;
            }
            return Ok((ColumnPath { branch, fields }, column));
        }
        self.leaf(name).ok_or(missing)
    }

    /// A leaf of a branch with several, by its bare name: `px` of a branch `p` with the leaves `px/F:py/F`.
    fn leaf(&self, name: &str) -> Option<(ColumnPath, ColumnType)> {
        let header = self.0.header();
        self.0.order().iter().find_map(|&branch| {
            let leaves = &header.branches.get(branch)?.leaves;
            if leaves.len() < 2 || !leaves.iter().any(|&l| header.leaves.get(l).is_some_and(|l| l.name == name)) {
                return None;
            }
            let column = member_type(self.0.column_type(branch).ok()?, name)?;
            Some((ColumnPath { branch, fields: vec![name.to_owned()] }, column))
        })
    }
}

impl Schema for Columns<'_> {
    fn shape(&self, name: &str) -> Option<Shape> {
        self.resolve(name).ok().and_then(|(_, t)| shape(&t))
    }

    fn names(&self) -> Vec<String> {
        let header = self.0.header();
        let branches = self.0.order().iter().filter_map(|&i| header.branches.get(i)).map(|b| b.name.clone());
        branches.chain(header.aliases.iter().map(|(name, _)| name.clone())).collect()
    }

    fn alias(&self, name: &str) -> Option<String> {
        self.0.header().aliases.iter().find(|(n, _)| n == name).map(|(_, text)| text.clone())
    }

    fn elsewhere(&self, name: &str) -> Option<String> {
        self.0.friend_hint(name)
    }
}

/// A query bound to a tree, and which branches feed it.
pub struct Binding {
    /// The query.
    pub query: Query,
    /// The branches to scan, each once.
    pub branches: Vec<usize>,
    /// For each name of the query: which scanned column, and the members inside.
    picks: Vec<(usize, Vec<String>)>,
    /// Whether a branch holds several values per entry.
    pub nested: bool,
    /// Whether an expression or the selection asks for the number of all entries (`Entries$`), be it by an alias.
    pub(crate) asks_total: bool,
    /// The selection alone, where it lets the same entries pass as with the expressions.
    pub(crate) guide: Option<Arc<Binding>>,
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

    /// Binds what holds no aliases any more.
    fn bound<'t>(
        tree: &'t Tree,
        exprs: &[Expr],
        cut: Option<&Expr>,
        make: impl Fn(&[Expr], Option<&Expr>, &Columns<'t>) -> Result<Query>,
    ) -> Result<Self> {
        let columns = Columns(tree);
        for name in exprs.iter().chain(cut).flat_map(Expr::names) {
            match columns.resolve(&name) {
                // the query says it better: it shows the place
                Err(e) if e.kind() == ErrorKind::NotFound && e.branch().is_none() => {}
                Err(e) => return Err(e.in_branch(name)),
                Ok((_, column)) if shape(&column).is_none() => return Err(record(&name, &column)),
                Ok(_) => {}
            }
        }
        let query = make(exprs, cut, &columns).map_err(|e| e.in_file(tree.file().url()))?;
        let (mut branches, mut picks, mut nested) = (Vec::new(), Vec::new(), false);
        for name in query.names() {
            let (place, column) = columns.resolve(name)?;
            nested |= shape(&column).is_some_and(|s| !s.dims.is_empty());
            let at = branches.iter().position(|&b| b == place.branch).unwrap_or_else(|| {
                branches.push(place.branch);
                branches.len() - 1
            });
            picks.push((at, place.fields));
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
            .map(|(at, fields)| {
                let column = scanned.get(*at).ok_or_else(|| Error::invalid("a column is missing"))?;
                fields.iter().try_fold(Cow::Borrowed(column), member)
            })
            .collect()
    }
}

/// The expression with the aliases of a tree put in.
pub(crate) fn without_aliases(tree: &Tree, expr: &Expr) -> Result<Expr> {
    expand(expr, &Columns(tree)).map_err(|e| e.in_file(tree.file().url()))
}

fn record(name: &str, column: &ColumnType) -> Error {
    let members: Vec<String> = match innermost(column) {
        ColumnType::Record { fields } => fields.iter().take(8).map(|(n, _)| format!("{name}.{n}")).collect(),
        _ => Vec::new(),
    };
    let e = Error::unsupported("holds records, not numbers").in_branch(name);
    if members.is_empty() { e } else { e.with_remedy(format!("name a member: {}", members.join(", "))) }
}

fn innermost(mut column: &ColumnType) -> &ColumnType {
    while let ColumnType::Regular { item, .. } | ColumnType::List { item } = column {
        column = item;
    }
    column
}

fn shape(column: &ColumnType) -> Option<Shape> {
    let mut dims = Vec::new();
    let mut column = column;
    loop {
        match column {
            ColumnType::Number(d) => return Some(Shape { dims, kind: Kind::Number(*d) }),
            ColumnType::Text => return Some(Shape { dims, kind: Kind::Text }),
            ColumnType::Record { .. } => return None,
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

/// The type of a member of the records inside a column.
fn member_type(column: ColumnType, name: &str) -> Option<ColumnType> {
    Some(match column {
        ColumnType::Record { fields } => fields.into_iter().find(|(n, _)| n == name)?.1,
        ColumnType::Regular { size, item } => ColumnType::Regular { size, item: Box::new(member_type(*item, name)?) },
        ColumnType::List { item } => ColumnType::List { item: Box::new(member_type(*item, name)?) },
        ColumnType::Number(_) | ColumnType::Text => return None,
    })
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
