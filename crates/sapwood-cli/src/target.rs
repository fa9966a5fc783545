//! `URL:PATH`: a file, near or far, and an object inside it.

use crate::failure;
use sapwood::{Error, ErrorKind, File, Key, Listing, OpenOptions, Result, Tree};
use std::path::Path;

/// What a command works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Path or URL of the file.
    pub url: String,
    /// Directories, name and perhaps cycle of the object inside, when given.
    pub object: Option<String>,
}

impl Target {
    /// Takes `URL:PATH` apart.
    ///
    /// The colons of `scheme://` and of a port never divide. A local name that exists as a whole is the file, else
    /// the longest part in front of a colon that exists. Otherwise (and for URLs) the object begins behind the first
    /// `.root:`; without one, behind the last colon, unless the whole ends with `.root`. A colon at the very end
    /// says that no object follows.
    pub fn parse(text: &str) -> Self {
        Self::parse_with(text, |path| Path::new(path).exists())
    }

    fn parse_with(text: &str, exists: impl Fn(&str) -> bool) -> Self {
        let path_from = match text.split_once("://") {
            // behind the authority, which may hold a port and a password
            Some((scheme, rest)) => scheme.len() + 3 + rest.find('/').unwrap_or(rest.len()),
            None => {
                let colons = text.match_indices(':').rev().map(|(i, _)| i);
                if let Some(cut) = std::iter::once(text.len()).chain(colons).find(|&i| i > 0 && exists(&text[..i])) {
                    return Self::cut(text, cut);
                }
                0
            }
        };
        let path = &text[path_from..];
        let cut = match path.find(".root:") {
            Some(i) => i + ".root".len(),
            None if path.ends_with(".root") => path.len(),
            None => path.rfind(':').unwrap_or(path.len()),
        };
        Self::cut(text, path_from + cut)
    }

    fn cut(text: &str, at: usize) -> Self {
        let (url, object) = text.split_at(at);
        let object = object.strip_prefix(':').unwrap_or(object);
        Self { url: url.to_owned(), object: (!object.is_empty()).then(|| object.to_owned()) }
    }

    /// Opens the file.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open(&self, options: &OpenOptions) -> Result<File> {
        let file = File::open(&self.url, options)?;
        if let Some(found) = file.recovered() {
            let lost: Vec<String> = found.lost().into_iter().take(5).map(|l| format!("\n  {l}")).collect();
            failure::hint(&format!(
                "{} was not closed or was cut short; {} objects were found in it{}",
                file.url(),
                found.keys.len(),
                lost.concat()
            ));
        }
        Ok(file)
    }

    /// The tree that is named, or the only one of the file.
    ///
    /// # Errors
    /// `NotFound` when the file has no tree, `Invalid` when it has several and none is named.
    pub fn tree(&self, file: &File) -> Result<Tree> {
        match &self.object {
            Some(path) => match self.tree_or_branch(file)? {
                (tree, None) => Ok(tree),
                (tree, Some(branch)) => {
                    let name = tree.name_of(branch);
                    Err(Error::invalid(format!("{path} is no tree but the branch {name} of the tree {}", tree.path()))
                        .in_file(file.url())
                        .with_remedy(format!(
                            "name the tree, {}:{}, and {name} as an expression",
                            self.url,
                            tree.path()
                        )))
                }
            },
            None => {
                let keys = file.list("", true)?;
                file.tree(&only_tree(&keys, &self.url).map_err(|e| e.in_file(file.url()))?)
            }
        }
    }
}

impl Target {
    /// The tree that is named, and the branch where the name goes on to one: `tree/branch`.
    ///
    /// # Errors
    /// As [`Target::tree`].
    pub fn tree_or_branch(&self, file: &File) -> Result<(Tree, Option<usize>)> {
        let Some(path) = &self.object else { return self.tree(file).map(|t| (t, None)) };
        let missing = match file.tree(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => e,
            found => return found.map(|t| (t, None)),
        };
        for (slash, _) in path.rmatch_indices('/') {
            let (Some(front), Some(branch)) = (path.get(..slash), path.get(slash + 1..)) else { continue };
            let Ok(tree) = file.tree(front) else { continue };
            return match tree.find(branch) {
                Ok(branch) => Ok((tree, Some(branch))),
                Err(e) => Err(e),
            };
        }
        Err(missing)
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
    match paths(keys, Key::is_tree).as_slice() {
        [] => {
            match paths(keys, |k| k.class.ends_with("RNTuple")).as_slice() {
                [] => Err(Error::not_found("the file has no tree")
                    .with_remedy(format!("`sapwood ls {url}` lists what it has"))),
                ntuples => Err(Error::unsupported(format!(
                    "the file has no tree, and this version does not read RNTuple: {}",
                    some(ntuples, 12)
                ))),
            }
        }
        [one] => Ok((*one).to_owned()),
        several @ [first, ..] => {
            Err(Error::invalid(format!("the file has {} trees: {}", several.len(), some(several, 12)))
                .with_remedy(format!("name one, as in {url}:{first}")))
        }
    }
}

/// So many of the names.
pub fn some(names: &[impl AsRef<str>], most: usize) -> String {
    let mut out: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let more = format!("and {} more", names.len().saturating_sub(most));
    if names.len() > most {
        out.push(&more);
    }
    out.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood::Span;

    fn parts(text: &str, files: &[&str]) -> (String, String) {
        let t = Target::parse_with(text, |p| files.contains(&p));
        (t.url, t.object.unwrap_or_default())
    }

    #[test]
    fn urls_with_and_without_ports() {
        for (text, url, object) in [
            ("http://h:80/a.root:Events", "http://h:80/a.root", "Events"),
            ("http://h:80/a.root", "http://h:80/a.root", ""),
            ("http://h:80", "http://h:80", ""),
            ("http://h:80/a.root:dir/t;1", "http://h:80/a.root", "dir/t;1"),
            ("https://u:p@h/a.root:t", "https://u:p@h/a.root", "t"),
            ("http://[::1]:8000/a.root:t", "http://[::1]:8000/a.root", "t"),
            ("root://h:1094//x/a.root:t", "root://h:1094//x/a.root", "t"),
            ("http://h/a.root:ns::t", "http://h/a.root", "ns::t"),
            ("http://h/run:7/a.root", "http://h/run:7/a.root", ""),
            ("http://h/run:7/a.root:t", "http://h/run:7/a.root", "t"),
            ("http://h/a:t", "http://h/a", "t"),
            ("http://h/a.root?x=1:t", "http://h/a.root?x=1", "t"),
            ("http://h/a.root?sig=a:b:", "http://h/a.root?sig=a:b", ""),
            ("file:///d/a.root:t", "file:///d/a.root", "t"),
        ] {
            assert_eq!(parts(text, &[]), (url.to_owned(), object.to_owned()), "{text}");
        }
    }

    #[test]
    fn local_names_that_exist_win() {
        let files = ["a:b.root", "run:7", "plain"];
        for (text, url, object) in [
            ("a:b.root", "a:b.root", ""),
            ("a:b.root:t", "a:b.root", "t"),
            ("run:7", "run:7", ""),
            ("run:7:dir/t", "run:7", "dir/t"),
            ("plain:t", "plain", "t"),
            ("absent.root:t", "absent.root", "t"),
            ("absent:t", "absent", "t"),
            ("absent", "absent", ""),
            (":t", "", "t"),
        ] {
            assert_eq!(parts(text, &files), (url.to_owned(), object.to_owned()), "{text}");
        }
    }

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
        assert_eq!(said(&keys), "the file has 2 trees: t, d/u; name one, as in a.root:t");
        assert_eq!(said(&keys[..1]), "the file has no tree; `sapwood ls a.root` lists what it has");
        assert!(said(&keys[4..]).ends_with("does not read RNTuple: n"));
        assert_eq!(some(&["a", "b", "c"], 2), "a, b, and 1 more");
    }
}
