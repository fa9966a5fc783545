//! Names with `*` (any letters) and `?` (one letter).

use crate::options::OpenOptions;
use crate::remote::list_directory;
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

/// The files that a path or URL stands for: itself, or, with `*` or `?` in a local path, or `*` in the path of a `root://`
/// or `s3://` URL, all whose names fit, in the order of their names. A star does not go beyond a slash; names that begin with a dot fit
/// only patterns that do.
///
/// # Errors
/// `NotFound` if none matches; `Unsupported` for `*` in an HTTP URL; a directory that cannot be listed.
pub fn expand(url: &str, options: &OpenOptions) -> Result<Vec<String>> {
    // behind a question mark a URL has other things than names: they go along with each of them
    let (scheme, path, query) = match url.split_once("://") {
        Some((scheme, rest)) if is_xrootd(scheme) || is_s3(url) => {
            let (rest, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
            match rest.split_once('/') {
                Some((host, path)) => (format!("{scheme}://{host}/"), path, query),
                None => return Ok(vec![url.to_owned()]),
            }
        }
        Some((scheme, rest)) => {
            let path = rest.split_once('/').map_or("", |(_, path)| path.split(['?', '#']).next().unwrap_or_default());
            return if is_http(scheme) && path.contains('*') { Err(no_listing(url)) } else { Ok(vec![url.to_owned()]) };
        }
        None => (String::new(), url, ""),
    };
    let wild = |part: &str| part.contains('*') || (scheme.is_empty() && part.contains('?'));
    if !wild(path) || (scheme.is_empty() && path_of(path).exists()) {
        return Ok(vec![url.to_owned()]);
    }
    let list = |directory: &str| -> Result<Vec<String>> {
        if scheme.is_empty() {
            return local_names(directory);
        }
        Ok(list_directory(&format!("{scheme}{directory}{query}"), options)?.into_iter().map(|e| e.name).collect())
    };
    let mut found = vec![String::new()];
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let mut next = Vec::new();
        let several = found.len() > 1;
        for front in found {
            let slash = if last { "" } else { "/" };
            if !wild(part) {
                next.push(format!("{front}{part}{slash}"));
                continue;
            }
            let mut names = match list(&front) {
                Ok(names) => names,
                // the pattern in front of it fitted something that is no directory; one that cannot be listed now may
                // hold files that would be missing silently
                Err(e) if several && is_no_directory(&scheme, &front, &e) => Vec::new(),
                Err(e) => return Err(e),
            };
            names.retain(|n| fits_here(part, n));
            if is_s3(&scheme) {
                // in these URLs, and in no others here, names are encoded
                names.iter_mut().for_each(|n| *n = n.replace('%', "%25").replace('?', "%3F"));
            }
            // what stands behind a question mark is no name any more, and what is no text was given this letter for it
            let unnamed = |n: &&String| !scheme.is_empty() && n.contains(['?', char::REPLACEMENT_CHARACTER]);
            if let Some(name) = names.iter().find(unnamed) {
                let what = format!("{name:?} cannot be part of a URL");
                return Err(Error::unsupported(what).in_file(sapwood_source::redacted(url)));
            }
            names.sort();
            next.extend(names.into_iter().map(|n| format!("{front}{n}{slash}")));
        }
        found = next;
    }
    if scheme.is_empty() && !path.rsplit('/').next().is_some_and(wild) {
        // names that were listed are there: a link that leads nowhere is told of when it is opened
        found.retain(|path| path_of(path).exists());
    }
    if found.is_empty() {
        return Err(Error::no_such_file("no file matches the pattern").in_file(sapwood_source::redacted(url)));
    }
    Ok(found.into_iter().map(|path| format!("{scheme}{path}{query}")).collect())
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

/// Whether a name in a directory fits a pattern: a hidden one only a pattern that asks for such.
fn fits_here(pattern: &str, name: &str) -> bool {
    glob_match(pattern, name) && (pattern.starts_with('.') || !name.starts_with('.'))
}

/// Whether a name that fitted is no directory, as far as the error tells.
fn is_no_directory(scheme: &str, name: &str, e: &Error) -> bool {
    if scheme.is_empty() {
        return !path_of(name.trim_end_matches('/')).is_dir();
    }
    !matches!(e.kind(), ErrorKind::Denied | ErrorKind::Io | ErrorKind::Timeout | ErrorKind::Interrupted)
}

/// The names in a directory.
fn local_names(directory: &str) -> Result<Vec<String>> {
    let place = if directory.is_empty() { "." } else { directory };
    let failed = |e| Error::io("the directory cannot be listed", e).in_file(place);
    let names = std::fs::read_dir(path_of(place).as_ref()).map_err(failed)?;
    names.map(|entry| entry.map(|e| text_of_os(&e.file_name())).map_err(failed)).collect()
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
        let expand = |name: &str| expand(name, &OpenOptions::default());
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
        let error = expand("http://h/*.root?a=*").unwrap_err().to_string();
        assert!(error.contains("do not work in http://"), "{error}");
        for url in ["http://h/a.root?a=*", "root://h//a.root?authz=*", "roots://h?a/*"] {
            assert_eq!(expand(url).unwrap(), [url], "no star in a path");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
