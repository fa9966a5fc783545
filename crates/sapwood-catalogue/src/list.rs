//! A list by its name: the text behind `@`.

use crate::json::Json;
use crate::listed_file::{ListedFile, with_tree};
use crate::{dialect, lines};
use sapwood_span::raw_text::{path_of, text_of_path};
use sapwood_span::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a list, at most: a device never ends.
const MOST_BYTES: u64 = 256 << 20;
/// Lists in lists, at most.
const MOST_NESTED: usize = 8;
/// Files of all lists together, at most.
const MOST_FILES: usize = 10_000_000;

/// What lists are read with.
struct Reading<'r> {
    /// The server in front of logical names.
    redirector: Option<&'r str>,
    /// Reads a list by its URL: its bytes, so many at most.
    remote: &'r dyn Fn(&str, u64) -> Result<Vec<u8>>,
    /// The lists that are being read, outermost first.
    open: Vec<PathBuf>,
    /// Files that nested lists named so far.
    files: usize,
}

/// The files of a list in order. `name` is `FILE`, `FILE:TREE` for a tree of all files that have none in the list, or
/// `FILE:DATASET` and `FILE:DATASET:TREE` where a fileset has several datasets; `-` is standard input. Lines of text that
/// begin with `@` name further lists.
///
/// `redirector` is put in front of logical names (`/store/…`); see [`REDIRECTOR`].
///
/// # Errors
/// Lists that cannot be read, that are no list, that name no file, or that contain themselves.
pub fn read(name: &str, redirector: Option<&str>) -> Result<Vec<ListedFile>> {
    let remote = |_: &str, _: u64| Err(Error::unsupported("only local lists can be read"));
    read_with(name, redirector, &remote)
}

/// The same for lists that may be URLs, which `remote` reads: it is given the URL, and the bytes that it has at most.
///
/// # Errors
/// As [`read`], and what `remote` says.
pub fn read_with(
    name: &str,
    redirector: Option<&str>,
    remote: &dyn Fn(&str, u64) -> Result<Vec<u8>>,
) -> Result<Vec<ListedFile>> {
    let mut reading = Reading { redirector, remote, open: Vec::new(), files: 0 };
    let files = nested(name, &mut reading)?;
    if files.is_empty() {
        return Err(Error::invalid("the list contains no file").in_file(shown(name).to_owned()));
    }
    Ok(files)
}

/// The files of a list that may be in another one.
fn nested(name: &str, reading: &mut Reading<'_>) -> Result<Vec<ListedFile>> {
    let (path, choice) = split(name);
    let url = is_url(name).then(|| text_of_path(&path));
    let file = url.as_deref().map_or_else(|| text_of_path(&path), |url| shown(url).to_owned());
    let own = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    if reading.open.contains(&own) {
        return Err(Error::invalid("the list contains itself").in_file(file));
    }
    if reading.open.len() >= MOST_NESTED {
        return Err(Error::invalid(format!("lists are nested more than {MOST_NESTED} deep")).in_file(file));
    }
    let bytes = match &url {
        Some(url) => (reading.remote)(url, MOST_BYTES)?,
        None => limited(&path, MOST_BYTES)?,
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    reading.open.push(own);
    let files = of_bytes(bytes, &path, choice, reading).map_err(|e| e.in_file(file));
    reading.open.pop();
    files
}

fn of_bytes(bytes: &[u8], path: &Path, choice: Option<&str>, reading: &mut Reading<'_>) -> Result<Vec<ListedFile>> {
    if is_json(bytes) {
        let json = match Json::parse(bytes) {
            Ok(json) => Some(json),
            // a line may begin with a pattern such as [ab] or {a,b}
            Err(_) if !named_json(path) && !first_line(bytes).contains(&b'"') => None,
            Err(e) => return Err(Error::corrupt(format!("is not valid JSON: {e}"))),
        };
        if let Some(json) = json {
            return dialect::files(&json, choice, reading.redirector);
        }
    }
    let redirector = reading.redirector;
    let files = lines::files(bytes, path.parent(), redirector, &mut |name| {
        let files = nested(name, reading)?;
        reading.files += files.len();
        if reading.files > MOST_FILES {
            return Err(Error::invalid(format!("nested lists contain more than {MOST_FILES} files")));
        }
        Ok(files)
    })?;
    Ok(with_tree(files, choice))
}

fn is_json(bytes: &[u8]) -> bool {
    bytes.iter().find(|b| !b.is_ascii_whitespace()).is_some_and(|b| matches!(b, b'{' | b'['))
}

fn named_json(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json") || e.eq_ignore_ascii_case("jsonl"))
}

fn first_line(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == b'\n').next().unwrap_or_default()
}

/// The path of a list and what follows behind a colon: the longest part that exists is the path.
fn split(name: &str) -> (PathBuf, Option<&str>) {
    if is_url(name) {
        // the colons of the scheme, of a port and of a query do not count
        let host = name.find("://").map_or(0, |at| at + 3);
        let path = name[host..].find('/').map_or(name.len(), |at| host + at);
        let end = name[path..].find('?').map_or(name.len(), |at| path + at);
        let colon = name[path..end].find(':').map(|at| path + at);
        let (url, choice) = colon.map_or((name, None), |at| (&name[..at], name.get(at + 1..)));
        return (PathBuf::from(url), choice.filter(|choice| !choice.is_empty()));
    }
    let exists = |path: &str| path == "-" || path_of(path).exists();
    let colons = name.match_indices(':').rev().map(|(i, _)| i);
    match std::iter::once(name.len()).chain(colons).find(|&i| i > 0 && exists(&name[..i])) {
        Some(at) => (path_of(&name[..at]).into_owned(), name.get(at + 1..).filter(|choice| !choice.is_empty())),
        None => (path_of(name).into_owned(), None),
    }
}

/// Whether a list is fetched from a server.
fn is_url(name: &str) -> bool {
    name.contains("://")
}

/// A URL without the query, which may hold a token.
fn shown(url: &str) -> &str {
    if is_url(url) { url.split('?').next().unwrap_or_default() } else { url }
}

fn limited(path: &Path, most: u64) -> Result<Vec<u8>> {
    let name = || text_of_path(path);
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => Error::no_such_file("no such file").in_file(name()),
        _ => Error::io("cannot read", e).in_file(name()),
    };
    let mut bytes = Vec::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes),
        false => File::open(path).map_err(failed)?.take(most + 1).read_to_end(&mut bytes),
    };
    read.map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(
            Error::invalid(format!("the file has more than {most} bytes: it is not a list of files")).in_file(name())
        );
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_end_are_not_read_for_ever() {
        let e = limited(Path::new("/dev/zero"), 1 << 20).unwrap_err().to_string();
        assert!(e.contains("/dev/zero: the file has more than 1048576 bytes"), "{e}");
        assert_eq!(limited(Path::new("/dev/null"), 10).unwrap(), b"");
        assert!(read("/dev/null", None).unwrap_err().to_string().contains("contains no file"));
    }
}
