//! Text with one file per line.

use crate::listed_file::ListedFile;
use crate::logical::{LOGICAL, join};
use sapwood_span::raw_text::{path_of, text_of, text_of_path};
use sapwood_span::{Error, Result};
use std::path::{Path, PathBuf};

/// The files of a text: blank lines and those that begin with `#` are left out, `@LIST` is a further list. Names are bytes.
///
/// `nested` reads a further list.
pub(crate) fn files(
    bytes: &[u8],
    folder: Option<&Path>,
    redirector: Option<&str>,
    nested: &mut dyn FnMut(&str) -> Result<Vec<ListedFile>>,
) -> Result<Vec<ListedFile>> {
    let mut out = Vec::new();
    for line in bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii) {
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        if line.contains(&0) {
            return Err(Error::invalid("this is not a list of files: it contains bytes that no file name contains"));
        }
        let line = text_of(line);
        match line.strip_prefix('@') {
            Some(list) => out.extend(nested(&relative(list, folder))?),
            None => out.push(ListedFile::text(with_server(&relative(&line, folder), redirector))),
        }
    }
    Ok(out)
}

/// A relative name is one in the working directory; if there is no such file, one beside the list, which may be on a server.
fn relative(name: &str, folder: Option<&Path>) -> String {
    let Some(folder) = folder.filter(|f| !f.as_os_str().is_empty()) else { return name.to_owned() };
    if name.contains("://") || name.starts_with('/') {
        return name.to_owned();
    }
    let far = text_of_path(folder);
    if far.contains("://") {
        return if begins_with_a_file(name) { name.to_owned() } else { format!("{far}/{name}") };
    }
    let beside = text_of_path(&folder.join(path_of(name)));
    let exists = |name: &str| if has_pattern(name) { folder_of(name).is_dir() } else { begins_with_a_file(name) };
    if !exists(name) && exists(&beside) { beside } else { name.to_owned() }
}

/// Whether the name, or a part of it in front of a colon, exists.
fn begins_with_a_file(name: &str) -> bool {
    let colons = name.match_indices(':').map(|(i, _)| i);
    std::iter::once(name.len()).chain(colons).any(|i| i > 0 && path_of(&name[..i]).exists())
}

fn has_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// The directory in front of the first pattern.
fn folder_of(name: &str) -> PathBuf {
    let fixed = name.find(['*', '?', '[']).map_or(name, |at| &name[..at]);
    match fixed.rfind('/') {
        Some(slash) => path_of(&fixed[..=slash]).into_owned(),
        None => PathBuf::from("."),
    }
}

/// A logical name behind its server, if there is no such file here.
fn with_server(name: &str, redirector: Option<&str>) -> String {
    match redirector {
        Some(server) if name.starts_with(LOGICAL) && !begins_with_a_file(name) => join(server, name),
        _ => name.to_owned(),
    }
}
