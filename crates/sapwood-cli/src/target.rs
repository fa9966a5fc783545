//! `URL:PATH`: a file, near or far, and an object inside it.

use crate::failure;
use sapwood::catalogue::{self, ListedFile, REDIRECTOR};
use sapwood::raw_text::path_of;
use sapwood::{Error, ErrorKind, File, OpenOptions, Result, Tree, expand, redacted};

/// What a command works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
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
    pub(crate) fn parse(text: &str) -> Self {
        Self::parse_with(text, |path| path_of(path).exists())
    }

    fn parse_with(text: &str, exists: impl Fn(&str) -> bool) -> Self {
        let path_from = match text.split_once("://") {
            // behind the authority, which may hold a port and a password
            Some((scheme, rest)) => scheme.len() + 3 + rest.find(['/', '?']).unwrap_or(rest.len()),
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
            None => {
                let query = path.find('?').filter(|_| text.starts_with("s3://")).unwrap_or(path.len());
                path.rfind(':').filter(|&i| i < query || !is_in_address(&path[i + 1..])).unwrap_or(path.len())
            }
        };
        Self::cut(text, path_from + cut)
    }

    fn cut(text: &str, at: usize) -> Self {
        let (url, object) = text.split_at(at);
        let object = object.strip_prefix(':').unwrap_or(object);
        Self { url: url.to_owned(), object: (!object.is_empty()).then(|| object.to_owned()) }
    }

    /// The target that names one file, by itself or by a pattern.
    ///
    /// # Errors
    /// As [`one_file`].
    pub(crate) fn one(text: &str, options: &OpenOptions) -> Result<Self> {
        let target = Self::parse(text);
        Ok(Self { url: one_file(&target.url, options)?, ..target })
    }

    /// Opens the file.
    ///
    /// # Errors
    /// As [`File::open`].
    pub(crate) fn open(&self, options: &OpenOptions) -> Result<File> {
        let file = File::open(&self.url, options)?;
        if let (Some(found), Some(summary)) = (file.recovered(), file.recovery_summary()) {
            let lost: Vec<String> = found.lost().into_iter().take(5).map(|l| format!("\n  {l}")).collect();
            failure::hint(&format!("{}: {summary}{}", file.url(), lost.concat()));
        }
        let of_cache = sapwood::local_cache::all_warnings();
        for remark in file.remarks().into_iter().chain(file.whole_file_remark()) {
            if of_cache.contains(&remark) {
                // the same for all files
                failure::hint_once(&remark);
            } else {
                failure::hint(&format!("{}: {remark}", file.url()));
            }
        }
        Ok(file)
    }

    /// The tree that is named, or the only one of the file.
    ///
    /// # Errors
    /// `NotFound` when the file has no tree, `Invalid` when it has several and none is named.
    pub(crate) fn tree(&self, file: &File) -> Result<Tree> {
        match &self.object {
            Some(path) => match self.tree_or_branch(file)? {
                (tree, None) => Ok(tree),
                (tree, Some(branch)) => {
                    let name = tree.name_of(branch);
                    Err(Error::invalid(format!(
                        "{path} is not a tree but the branch {name} of the tree {}",
                        tree.path()
                    ))
                    .in_file(file.url())
                    .with_remedy(format!(
                        "specify the tree, {}:{}, and use {name} as an expression",
                        file.url(),
                        tree.path()
                    )))
                }
            },
            None => with_warnings(file, file.tree(&file.only_tree()?)),
        }
    }
}

/// What was read, and on standard error what looks damaged.
pub(crate) fn with_warnings<T>(file: &File, read: T) -> T {
    for doubt in file.integrity_warnings() {
        failure::hint(&format!("{} is damaged: {doubt}; run `sapwood doctor` for details", file.url()));
    }
    read
}

impl Target {
    /// The tree that is named, and the branch where the name goes on to one: `tree/branch`.
    ///
    /// # Errors
    /// As [`Target::tree`].
    pub(crate) fn tree_or_branch(&self, file: &File) -> Result<(Tree, Option<usize>)> {
        let Some(path) = &self.object else { return self.tree(file).map(|t| (t, None)) };
        let missing = match file.tree(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => e,
            found => return with_warnings(file, found).map(|t| (t, None)),
        };
        for (slash, _) in path.rmatch_indices('/') {
            let (Some(front), Some(branch)) = (path.get(..slash), path.get(slash + 1..)) else { continue };
            let Ok(tree) = file.tree(front) else { continue };
            return match tree.find(branch) {
                Ok(branch) => with_warnings(file, Ok((tree, Some(branch)))),
                Err(e) => Err(e),
            };
        }
        Err(missing)
    }
}

/// The one file that a name stands for, which may be a pattern. A name without a pattern is taken as it is.
///
/// # Errors
/// Patterns that match no file or several, and those of [`expand`].
pub(crate) fn one_file(name: &str, options: &OpenOptions) -> Result<String> {
    let mut files = expand(name, options)?.files;
    match (files.len(), files.pop()) {
        (1, Some(file)) => Ok(file),
        (n, last) => {
            files.extend(last);
            let files: Vec<String> = files.iter().map(|file| redacted(file)).collect();
            let what = format!("the pattern matches {n} files: {}", some(&files, 3));
            Err(Error::invalid(what).in_file(redacted(name)).with_remedy("specify one of them"))
        }
    }
}

/// The targets that texts stand for: patterns of names are expanded, `@LIST` is a list of files.
///
/// # Errors
/// Lists that cannot be read, patterns that match nothing.
pub(crate) fn several<'t>(texts: impl Iterator<Item = &'t str>, options: &OpenOptions) -> Result<Vec<Target>> {
    let mut out = Vec::new();
    for target in listed(texts, options)? {
        let found = files(&target.url, options)?;
        out.extend(found.into_iter().map(|url| Target { url, object: target.object.clone() }));
    }
    Ok(out)
}

/// The files that a name stands for, which may be a pattern; on standard error what could not be searched.
///
/// # Errors
/// As [`expand`].
pub(crate) fn files(name: &str, options: &OpenOptions) -> Result<Vec<String>> {
    let found = expand(name, options)?;
    for reason in &found.unread {
        failure::hint(&format!("files that match {} may be missing: {reason}", redacted(name)));
    }
    Ok(found.files)
}

/// The targets that texts name, with those of lists (`@LIST`) in their place.
///
/// # Errors
/// Lists that cannot be read.
pub(crate) fn listed<'t>(texts: impl Iterator<Item = &'t str>, options: &OpenOptions) -> Result<Vec<Target>> {
    let redirector = std::env::var(REDIRECTOR).ok().filter(|server| !server.is_empty());
    let mut out = Vec::new();
    for text in texts {
        match text.strip_prefix('@') {
            None => out.push(Target::parse(text)),
            Some(list) => {
                let files = catalogue::read_anywhere(list, redirector.as_deref(), options)?;
                out.extend(files.into_iter().map(Target::from));
            }
        }
    }
    Ok(out)
}

impl From<ListedFile> for Target {
    fn from(listed: ListedFile) -> Self {
        let named = match listed.is_split {
            true => Target { url: listed.target, object: None },
            false => Target::parse(&listed.target),
        };
        Self { object: named.object.or(listed.tree), ..named }
    }
}

/// So many of the names.
pub(crate) fn some(names: &[impl AsRef<str>], most: usize) -> String {
    let mut out: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let more = format!("and {} more", names.len().saturating_sub(most));
    if names.len() > most {
        out.push(&more);
    }
    out.join(", ")
}

/// Whether this follows a colon in the address of a store, in the query of an `s3://` URL: a port, or the slashes behind a
/// scheme.
fn is_in_address(rest: &str) -> bool {
    let behind_port = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with("//")
        || (behind_port.len() < rest.len() && (behind_port.is_empty() || behind_port.starts_with(['/', '&'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, files: &[&str]) -> (String, String) {
        let t = Target::parse_with(text, |p| files.contains(&p));
        (t.url, t.object.unwrap_or_default())
    }

    #[test]
    fn a_few_names_of_many() {
        assert_eq!(some(&["a", "b", "c"], 2), "a, b, and 1 more");
        assert_eq!(some(&["a", "b"], 2), "a, b");
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
            ("http://h?token=T:t", "http://h?token=T", "t"),
            ("http://h/run:7/a.root:t", "http://h/run:7/a.root", "t"),
            ("http://h/a:t", "http://h/a", "t"),
            ("s3://b/a.root:t", "s3://b/a.root", "t"),
            ("s3://b/a.root?endpoint=http://h:9000", "s3://b/a.root?endpoint=http://h:9000", ""),
            ("s3://b/a.root?endpoint=http://h:9000/x&region=r", "s3://b/a.root?endpoint=http://h:9000/x&region=r", ""),
            ("s3://b/a.root?endpoint=http://h:t", "s3://b/a.root?endpoint=http://h", "t"),
            ("s3://b/a.root?endpoint=https://h", "s3://b/a.root?endpoint=https://h", ""),
            ("s3://b/a.root?endpoint=http://h:9000:t", "s3://b/a.root?endpoint=http://h:9000", "t"),
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
}
