//! The tree of a file that has only one.

use crate::file::File;
use sapwood_format::{Key, Listing};
use sapwood_span::{Error, Result};

impl File {
    /// The path of the file's only tree.
    ///
    /// # Errors
    /// `NotFound` when it has none, `Invalid` when it has several: the message lists them.
    pub fn only_tree(&self) -> Result<String> {
        only_tree(&self.list("", true)?, self.url()).map_err(|e| e.in_file(self.url()))
    }
}

/// Paths of the keys that `wanted` chooses, each once.
fn paths(keys: &[Listing], wanted: impl Fn(&Key) -> bool) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for listing in keys.iter().filter(|l| wanted(&l.key)) {
        if !out.contains(&listing.path.as_str()) {
            out.push(&listing.path);
        }
    }
    out
}

fn only_tree(keys: &[Listing], url: &str) -> Result<String> {
    match paths(keys, |k| k.is_tree() || k.is_ntuple()).as_slice() {
        [] => {
            Err(Error::not_found("the file has no tree").with_remedy(format!("`sapwood ls {url}` lists its contents")))
        }
        [one] => Ok((*one).to_owned()),
        several @ [first, ..] => {
            Err(Error::invalid(format!("the file has {} trees: {}", several.len(), some(several)))
                .with_remedy(format!("specify one, as in {url}:{first}")))
        }
    }
}

/// A dozen of the names.
fn some(names: &[&str]) -> String {
    let more = names.len().saturating_sub(12);
    let shown = names.iter().take(12).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown}, and {more} more") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_span::Span;

    #[test]
    fn the_only_tree_or_a_list_of_them() {
        let key = |path: &str, class: &str| Listing {
            path: path.to_owned(),
            key: Key {
                name: path.to_owned(),
                title: String::new(),
                class: class.to_owned(),
                cycle: 1,
                span: Span::new(100, 100),
                key_len: 50,
                object_len: 50,
                datetime: 0,
                parent: 100,
            },
        };
        let keys =
            [key("h", "TH1F"), key("t", "TTree"), key("t", "TTree"), key("d/u", "TNtuple"), key("n", "ROOT::RNTuple")];
        let said = |keys: &[Listing]| only_tree(keys, "a.root").unwrap_err().to_string();
        assert_eq!(only_tree(&keys[..3], "a.root").unwrap(), "t");
        assert_eq!(said(&keys), "the file has 3 trees: t, d/u, n; specify one, as in a.root:t");
        assert_eq!(said(&keys[..1]), "the file has no tree; `sapwood ls a.root` lists its contents");
        assert_eq!(only_tree(&keys[4..], "a.root").unwrap(), "n");
    }
}
