//! Aliases that are given at run time, besides those stored in a tree.

use crate::Expr;
use crate::ast::AstKind;
use sapwood_span::{Error, Result};
use std::sync::Arc;

/// Names for expressions, as TTree::SetAlias gives them. They come before the aliases stored in the tree and after its
/// branches, can use each other, and mean the same in all files of a chain.
///
/// ```
/// use sapwood_query::{Aliases, Expr};
///
/// # fn main() -> sapwood_span::Result<()> {
/// let aliases = Aliases::new([("p", "sqrt(px**2+py**2)")])?;
/// let expression = Expr::parse("2*p")?.with_aliases(&aliases);
/// # let _ = expression;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Aliases(Arc<Vec<(String, String)>>);

impl Aliases {
    /// Aliases: names, each with its expression. Of two with the same name, the last one counts, as in ROOT.
    ///
    /// # Errors
    /// `Invalid` for a name that no expression can use, and for what is no expression.
    pub fn new<'a>(given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let mut all: Vec<(String, String)> = Vec::new();
        for (name, text) in given {
            let (name, text) = (name.trim(), text.trim());
            if !is_name(name) {
                return Err(Error::invalid(format!("{name:?} cannot be the name of an alias"))
                    .with_remedy("use letters, digits and underscores"));
            }
            Expr::parse(text).map_err(|e| Error::invalid(format!("the alias {name}: {}", e.what())))?;
            all.retain(|(n, _)| n != name);
            all.push((name.to_owned(), text.to_owned()));
        }
        Ok(Self(Arc::new(all)))
    }

    /// Names and expressions, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The expression of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str())
    }
}

/// Whether an expression can use it as a name.
fn is_name(text: &str) -> bool {
    let parsed = Expr::parse(text);
    parsed
        .is_ok_and(|e| matches!(e.ast.kind, AstKind::Name { name, indices, .. } if name == text && indices.is_empty()))
}
