//! Names with `*` (any letters) and `?` (one letter), and patterns of files.

mod pattern;

use crate::options::OpenOptions;
use crate::remote::list_directory;
use pattern::{alternatives, fits, is_pattern};
use sapwood_source::is_s3;
use sapwood_span::raw_text::{path_of, text_of_os};
use sapwood_span::{Error, ErrorKind, Result};

/// Whether a name fits a pattern of letters, `*` and `?`.
pub fn glob_match(pattern: &str, name: &str) -> bool {
    let (p, n): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut i, mut j) = (0, 0);
    // where to go on when what follows the last star does not fit
    let mut back = None;
    while j < n.len() {
        match p.get(i) {
            Some('*') => {
                back = Some((i + 1, j));
                i += 1;
            }
            Some(&c) if c == '?' || c == n[j] => (i, j) = (i + 1, j + 1),
            _ => match back {
                Some((star, at)) => {
                    (i, j) = (star, at + 1);
                    back = Some((star, at + 1));
                }
                None => return false,
            },
        }
    }
    p.get(i..).unwrap_or_default().iter().all(|&c| c == '*')
}

/// Patterns that one with braces stands for, at most.
const MOST_ALTERNATIVES: usize = 100_000;
/// How deep `**` goes.
const DEEPEST: usize = 64;
/// Names that a pattern stands for, at most.
const MOST_FILES: usize = 10_000_000;

/// What a pattern stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The files.
    pub files: Vec<String>,
    /// Local directories that could not be searched, each with the reason: files in them may be missing.
    pub unread: Vec<String>,
}

/// The files that a path or URL stands for: itself, or those of a pattern.
///
/// A pattern has the signs of a shell: `*` (any letters), `?` (one letter; not in URLs), `[ab]`, `[!a]`, `**` for any number of
/// directories, and `{a,b}`. `~` in front is the home directory. Patterns work in local paths and in `root://` and `s3://` URLs,
/// `{a,b}` also in HTTP URLs. Files come in the order of their names, alternatives in the order in which they are given. A sign
/// does not go beyond a slash; names that begin with a dot fit only patterns that do. A local name that exists is no pattern.
///
/// # Errors
/// `NotFound` if an alternative fits no file; `Unsupported` for `*` in an HTTP URL; a remote directory that cannot be listed.
pub fn expand(url: &str, options: &OpenOptions) -> Result<Expansion> {
    let Some(place) = Place::of(url)? else { return Ok(Expansion { files: vec![url.to_owned()], unread: Vec::new() }) };
    let too_many = || Error::invalid("the braces have too many alternatives").in_file(sapwood_source::redacted(url));
    let mut out = Expansion::default();
    for path in alternatives(&place.path, MOST_ALTERNATIVES).ok_or_else(too_many)? {
        let one = Place { path, ..place.clone() };
        if one.is_http() || !one.path.split('/').any(|part| is_pattern(part, !one.is_local())) {
            out.files.push(one.named(&one.path));
        } else {
            Search { place: &one, options, unread: &mut out.unread }.run(&mut out.files)?;
        }
    }
    Ok(out)
}

/// A path or URL that may be a pattern, in its parts.
#[derive(Clone)]
struct Place {
    /// Scheme and host; empty for a local path.
    front: String,
    path: String,
    /// Behind a question mark a URL has other things than names: they go along with each of them.
    query: String,
}

impl Place {
    /// `None` for what is no pattern.
    fn of(url: &str) -> Result<Option<Self>> {
        let Some((scheme, rest)) = url.split_once("://") else {
            let path = match url.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                Some(rest) if !path_of(url).exists() => {
                    std::env::var("HOME").map_or_else(|_| url.to_owned(), |home| format!("{home}{rest}"))
                }
                _ => url.to_owned(),
            };
            let is_itself = path == url && (path_of(url).exists() || !url.contains(['*', '?', '[', '{']));
            return Ok((!is_itself).then(|| Self { front: String::new(), path, query: String::new() }));
        };
        let lists = is_xrootd(scheme) || is_s3(url);
        let (rest, query) =
            rest.split_at(rest.find(['?', '#']).filter(|_| !lists).or(rest.find('?')).unwrap_or(rest.len()));
        let Some((host, path)) = rest.split_once('/') else { return Ok(None) };
        if is_http(scheme) && path.contains('*') {
            return Err(no_listing(url));
        }
        let is_known = is_http(scheme) && path.contains('{') || lists && path.contains(['*', '[', '{']);
        let (front, path, query) = (format!("{scheme}://{host}/"), path.to_owned(), query.to_owned());
        Ok(is_known.then_some(Self { front, path, query }))
    }

    fn is_local(&self) -> bool {
        self.front.is_empty()
    }

    fn is_http(&self) -> bool {
        self.front.split_once("://").is_some_and(|(scheme, _)| is_http(scheme))
    }

    /// The path or URL of a path in this place.
    fn named(&self, path: &str) -> String {
        format!("{}{path}{}", self.front, self.query)
    }
}

/// Files of one pattern.
struct Search<'a> {
    place: &'a Place,
    options: &'a OpenOptions,
    unread: &'a mut Vec<String>,
}

impl Search<'_> {
    fn run(&mut self, out: &mut Vec<String>) -> Result<()> {
        let place = self.place;
        let wild = |part: &str| is_pattern(part, !place.is_local());
        let pattern = || sapwood_source::redacted(&place.named(&place.path));
        let mut found = vec![String::new()];
        let mut parts = place.path.split('/').peekable();
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            let several = found.len() > 1;
            let mut next = Vec::new();
            for front in found {
                let slash = if last { "" } else { "/" };
                if part == "**" {
                    self.below(front, last, 0, &mut next)?;
                } else if !wild(part) {
                    next.push(format!("{front}{part}{slash}"));
                } else {
                    let names = self.names(&front, several)?.into_iter().map(|(name, _)| name);
                    let names = names.filter(|n| fits(part, n) && (part.starts_with('.') || !n.starts_with('.')));
                    next.extend(names.map(|n| format!("{front}{n}{slash}")));
                }
                if next.len() > MOST_FILES {
                    return Err(Error::invalid(format!("more than {MOST_FILES} files match")).in_file(pattern()));
                }
            }
            found = next;
        }
        if place.is_local() && !place.path.rsplit('/').next().is_some_and(wild) {
            // names that were listed are there: a dangling link is reported when it is opened
            found.retain(|path| path_of(path).exists());
        }
        if found.is_empty() {
            let why = self.unread.first().map(|reason| format!(": {reason}")).unwrap_or_default();
            return Err(Error::no_such_file(format!("no file matches the pattern{why}")).in_file(pattern()));
        }
        out.extend(found.into_iter().map(|path| place.named(&path)));
        Ok(())
    }

    /// A directory and all below it, or with `files` all files in them. Links to directories are not followed.
    fn below(&mut self, front: String, files: bool, depth: usize, out: &mut Vec<String>) -> Result<()> {
        let names = self.names(&front, depth > 0 || !out.is_empty())?;
        if !files {
            out.push(front.clone());
        }
        for (name, directory) in names.into_iter().filter(|(name, _)| !name.starts_with('.')) {
            if directory && depth < DEEPEST {
                self.below(format!("{front}{name}/"), files, depth + 1, out)?;
            } else if files && !directory {
                out.push(format!("{front}{name}"));
            }
            if out.len() > MOST_FILES {
                return Err(Error::invalid(format!("more than {MOST_FILES} names below the directory")).in_file(front));
            }
        }
        Ok(())
    }

    /// The sorted names in a directory, and whether each is a directory. One of `several` may be no directory.
    fn names(&mut self, directory: &str, several: bool) -> Result<Vec<(String, bool)>> {
        let place = self.place;
        let listed = match place.is_local() {
            true => local_names(directory),
            false => list_directory(&place.named(directory), self.options)
                .map(|names| names.into_iter().map(|e| (e.name, e.directory)).collect()),
        };
        let mut names: Vec<(String, bool)> = match listed {
            Ok(names) => names,
            // the pattern in front of it fitted something that is no directory
            Err(e) if several && is_no_directory(&place.front, directory, &e) => Vec::new(),
            Err(e) if place.is_local() => {
                self.unread.push(e.to_string());
                Vec::new()
            }
            // one that cannot be listed now may hold files that would be missing silently
            Err(e) => return Err(e),
        };
        if is_s3(&place.front) {
            // in these URLs, and in no others here, names are encoded
            names.iter_mut().for_each(|(n, _)| *n = n.replace('%', "%25").replace('?', "%3F"));
        }
        // what stands behind a question mark is no name any more, and what is no text was given this letter for it
        let unnamed = |n: &&(String, bool)| !place.is_local() && n.0.contains(['?', char::REPLACEMENT_CHARACTER]);
        let wanted = place.path.split('/').any(|part| names.iter().filter(unnamed).any(|(n, _)| fits(part, n)));
        if let Some((name, _)) = names.iter().find(unnamed).filter(|_| wanted) {
            let what = format!("{name:?} cannot be part of a URL");
            return Err(Error::unsupported(what).in_file(sapwood_source::redacted(&place.named(&place.path))));
        }
        names.sort();
        Ok(names)
    }
}

fn is_http(scheme: &str) -> bool {
    ["http", "https"].iter().any(|s| scheme.eq_ignore_ascii_case(s))
}

fn no_listing(url: &str) -> Error {
    Error::unsupported(
        "wildcards do not work in http:// and https:// URLs: HTTP has no standard way to list a directory",
    )
    .with_remedy("specify each file, or use a root:// or s3:// URL; write %2A for an asterisk in a file name")
    .in_file(sapwood_source::redacted(url))
}

/// Whether URLs of this scheme name files of servers that list their directories.
fn is_xrootd(scheme: &str) -> bool {
    ["root", "roots", "xroot", "xroots"].iter().any(|s| scheme.eq_ignore_ascii_case(s))
}

/// Whether a name that fitted is no directory, as far as the error tells.
fn is_no_directory(scheme: &str, name: &str, e: &Error) -> bool {
    if scheme.is_empty() {
        return !path_of(name.trim_end_matches('/')).is_dir();
    }
    !matches!(e.kind(), ErrorKind::Denied | ErrorKind::Io | ErrorKind::Timeout | ErrorKind::Interrupted)
}

/// The names in a directory, and whether each is a directory; a link to one is none.
fn local_names(directory: &str) -> Result<Vec<(String, bool)>> {
    let place = if directory.is_empty() { "." } else { directory };
    let failed = |e| Error::io("the directory cannot be listed", e).in_file(place);
    let names = std::fs::read_dir(path_of(place).as_ref()).map_err(failed)?;
    let name = |entry: std::fs::DirEntry| (text_of_os(&entry.file_name()), entry.file_type().is_ok_and(|t| t.is_dir()));
    names.map(|entry| entry.map(name).map_err(failed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name, expected) in [
            ("Muon_*", "Muon_pt", true),
            ("Muon_*", "nMuon", false),
            ("*", "", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*_*_t", "x_y_z_t", true),
            ("*ab", "aab", true),
            ("x", "xy", false),
            ("*_pt", "Muon_pt_pt", true),
            ("a?c*", "abcde", true),
            ("*a*b", "xaybzb", true),
            ("", "x", false),
            ("ü?", "üß", true),
        ] {
            assert_eq!(glob_match(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn files_of_a_pattern() {
        let folder = std::env::temp_dir().join(format!("sapwood-wildcard-{}", std::process::id()));
        for name in ["b/2.root", "b/1.root", "a/3.root", "a/.hidden.root", "c.txt"] {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let expand = |name: &str| expand(name, &OpenOptions::default()).map(|found| found.files);
        assert_eq!(expand(&at("b/*.root")).unwrap(), [at("b/1.root"), at("b/2.root")]);
        assert_eq!(expand(&at("*/*.root")).unwrap(), [at("a/3.root"), at("b/1.root"), at("b/2.root")]);
        assert_eq!(expand(&at("?/1.root")).unwrap(), [at("b/1.root")]);
        assert_eq!(expand(&at("absent.root")).unwrap(), [at("absent.root")], "no pattern is no business of this");
        assert!(expand(&at("x*.root")).unwrap_err().to_string().contains("no file matches"));
        std::os::unix::fs::symlink("nowhere", folder.join("b/3.root")).unwrap();
        assert_eq!(expand(&at("b/3*")).unwrap(), [at("b/3.root")], "opening it tells that it leads nowhere");
        std::fs::remove_file(folder.join("b/3.root")).unwrap();
        let no_text = std::ffi::OsStr::from_bytes(b"4\xff.root");
        std::fs::write(folder.join("b").join(no_text), "").unwrap();
        assert_eq!(expand(&at("b/4*.root")).unwrap(), [at("b/4\u{10ffff}.root")], "a name that is not UTF-8");
        assert_eq!(expand(&at("b/2*.root")).unwrap(), [at("b/2.root")]);
        assert_eq!(
            expand(&at("{b,a}/[!0]*.root")).unwrap(),
            [at("b/1.root"), at("b/2.root"), at("b/4\u{10ffff}.root"), at("a/3.root")]
        );
        assert_eq!(
            expand(&at("{c.txt,x}")).unwrap(),
            [at("c.txt"), at("x")],
            "no pattern: opening says that it is absent"
        );
        assert!(expand(&at("{b,x}/*.root")).unwrap_err().to_string().contains("x/*.root: no file matches"));
        assert_eq!(expand(&at("**/[13].root")).unwrap(), [at("a/3.root"), at("b/1.root")]);
        assert_eq!(expand(&at("a/**")).unwrap(), [at("a/3.root")]);
        assert_eq!(
            expand("http://h/{a,b}.root?c={d,e}").unwrap(),
            ["http://h/a.root?c={d,e}", "http://h/b.root?c={d,e}"]
        );
        std::fs::write(at("[ab].root"), "").unwrap();
        assert_eq!(expand(&at("[ab].root")).unwrap(), [at("[ab].root")], "a name that exists");
        let home = std::env::var("HOME").unwrap();
        assert_eq!(expand("~/absent.root").unwrap(), [format!("{home}/absent.root")]);
        let error = expand("http://h/*.root?a=*").unwrap_err().to_string();
        assert!(error.contains("do not work in http://"), "{error}");
        for url in ["http://h/a.root?a=*", "root://h//a.root?authz=*", "roots://h?a/*"] {
            assert_eq!(expand(url).unwrap(), [url], "no star in a path");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
