use crate::{Binding, Expr};
use sapwood_engine::{Cut, ScanBuilder, Tree};
use sapwood_span::{Error, Result};
use std::sync::Arc;

/// A cut in the language of expressions for a scan that is being put together.
///
/// ```no_run
/// use sapwood_engine::OpenOptions;
/// use sapwood_query::ScanCut as _;
///
/// # fn main() -> sapwood_span::Result<()> {
/// let tree = OpenOptions::new().open("events.root")?.tree("Events")?;
/// let scan = tree.scan().branches(["pt", "eta"]).cut("pt > 20").build()?;
/// # Ok(()) }
/// ```
pub trait ScanCut: Sized {
    /// Reads only the entries that pass: the branches of the cut are read first, and of the others only the baskets with
    /// an entry that passed. An entry with several values passes if one of them does. What is wrong with the cut is said
    /// when the scan is built.
    #[must_use = "nothing is read before build"]
    fn cut(self, cut: &str) -> Self;
}

impl ScanCut for ScanBuilder {
    fn cut(self, cut: &str) -> Self {
        let text = cut.to_owned();
        self.cut_from(move |tree| cut_of(tree, &text))
    }
}

fn cut_of(tree: &Tree, text: &str) -> Result<Cut> {
    let expr = Expr::parse(text)?;
    let binding = Binding::new(tree, &[], Some(&expr)).map_err(|e| e.in_file(tree.file().url()))?;
    if binding.branches.is_empty() {
        return Err(Error::unsupported(format!("the cut {text} uses no branch"))
            .with_remedy("choose entries by their numbers instead"));
    }
    if let [friend, ..] = binding.friend_names().as_slice() {
        return Err(Error::unsupported(format!("the cut {text} uses the friend {friend}"))
            .with_remedy("read the tree with expressions, which can use friends"));
    }
    Ok(Arc::new(binding).as_cut(0, tree.entries()))
}
