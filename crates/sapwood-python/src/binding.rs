use sapwood::{Array, ColumnType, Error, Result, Tree};
use sapwood_query::{Dim, Expr, Kind, Query, Schema, Shape};
use std::borrow::Cow;

/// A query tied to a tree: which branches to scan, and where in their columns its names are.
pub struct Binding {
    pub query: Query,
    /// Branches to scan, each once.
    pub branches: Vec<usize>,
    places: Vec<(usize, Vec<String>)>,
}

impl Binding {
    /// Ties expressions and a selection to a tree.
    ///
    /// # Errors
    /// `Unsupported` for a branch that cannot be read, otherwise as [`Query::new`].
    pub fn new(tree: &Tree, expressions: &[Expr], cut: Option<&Expr>) -> Result<Self> {
        let names = Names(tree);
        for name in expressions.iter().chain(cut).flat_map(Expr::names) {
            // a branch that is there but cannot be read has a better reason than the query could give
            if let Some((branch, _)) = names.place(&name) {
                let column = tree.column_type(branch)?;
                if names.shape(&name).is_none() {
                    return Err(Error::unsupported(format!("{name} holds {column}, not numbers"))
                        .in_branch(tree.name_of(branch))
                        .with_remedy("name one of its members: branch.member"));
                }
            }
        }
        let query = Query::new(expressions, cut, &names)?;
        let (mut branches, mut places) = (Vec::new(), Vec::new());
        for name in query.names() {
            let (branch, members) = names.place(name).ok_or_else(|| Error::not_found(format!("no branch {name}")))?;
            let at = branches.iter().position(|&b| b == branch).unwrap_or_else(|| {
                branches.push(branch);
                branches.len() - 1
            });
            places.push((at, members));
        }
        Ok(Self { query, branches, places })
    }

    /// The query's columns in a batch of [`Binding::branches`].
    ///
    /// # Errors
    /// `Invalid` when the batch is of something else.
    pub fn columns<'a>(&self, batch: &'a [Array]) -> Result<Vec<Cow<'a, Array>>> {
        let find = |(at, members): &(usize, Vec<String>)| {
            let column = batch.get(*at).ok_or_else(|| Error::invalid("a column is missing"))?;
            members.iter().try_fold(Cow::Borrowed(column), |column, name| member(column, name))
        };
        self.places.iter().map(find).collect()
    }
}

/// What a tree offers to expressions: branches by name or path, and members of records behind a dot.
struct Names<'t>(&'t Tree);

impl Names<'_> {
    /// The branch of a name, and the members to take of it: the longest part that is a branch counts.
    fn place(&self, name: &str) -> Option<(usize, Vec<String>)> {
        let whole = self.0.find(name).ok().map(|branch| (branch, Vec::new()));
        whole.or_else(|| {
            name.rmatch_indices('.').find_map(|(dot, _)| {
                let branch = self.0.find(name.get(..dot)?).ok()?;
                Some((branch, name.get(dot + 1..)?.split('.').map(str::to_owned).collect()))
            })
        })
    }
}

impl Schema for Names<'_> {
    fn shape(&self, name: &str) -> Option<Shape> {
        let (branch, members) = self.place(name)?;
        shape_of(&self.0.column_type(branch).ok()?, &members)
    }

    fn names(&self) -> Vec<String> {
        let branches = &self.0.header().branches;
        self.0.order().iter().filter_map(|&i| branches.get(i)).map(|b| b.name.clone()).collect()
    }
}

fn shape_of(mut column: &ColumnType, mut members: &[String]) -> Option<Shape> {
    let mut dims = Vec::new();
    loop {
        match column {
            ColumnType::Regular { size, item } => {
                dims.push(Dim::Fixed(*size));
                column = item;
            }
            ColumnType::List { item } => {
                dims.push(Dim::Jagged);
                column = item;
            }
            ColumnType::Record { fields } => {
                let (first, rest) = members.split_first()?;
                column = &fields.iter().find(|(name, _)| name == first)?.1;
                members = rest;
            }
            ColumnType::Number(d) => return members.is_empty().then_some(Shape { dims, kind: Kind::Number(*d) }),
            ColumnType::Text => return members.is_empty().then_some(Shape { dims, kind: Kind::Text }),
        }
    }
}

/// A member of the records in a column; lists around them are kept.
fn member<'a>(column: Cow<'a, Array>, name: &str) -> Result<Cow<'a, Array>> {
    let inside = |content: &Array| member(Cow::Owned(content.clone()), name).map(|c| Box::new(c.into_owned()));
    Ok(match column.as_ref() {
        Array::Regular { size, len, content } => {
            Cow::Owned(Array::Regular { size: *size, len: *len, content: inside(content)? })
        }
        Array::List { offsets, content } => {
            Cow::Owned(Array::List { offsets: offsets.clone(), content: inside(content)? })
        }
        Array::Record { fields, .. } => {
            let found = fields.iter().position(|(n, _)| n == name);
            let at = found.ok_or_else(|| Error::invalid(format!("the column has no member {name}")))?;
            match column {
                Cow::Borrowed(Array::Record { fields, .. }) => Cow::Borrowed(&fields[at].1),
                Cow::Owned(Array::Record { mut fields, .. }) => Cow::Owned(fields.swap_remove(at).1),
                other => other,
            }
        }
        _ => return Err(Error::invalid(format!("the column has no member {name}"))),
    })
}
