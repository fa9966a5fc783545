//! What a page is started for.

use crate::open_files::OpenFiles;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sapwood::Result;

/// A file, directory or URL, and perhaps an object in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowseTarget {
    /// Path or URL.
    pub url: String,
    /// Directories, name and perhaps cycle of an object.
    pub object: Option<String>,
}

impl From<String> for BrowseTarget {
    fn from(url: String) -> Self {
        Self { url, object: None }
    }
}

impl From<(String, Option<String>)> for BrowseTarget {
    fn from((url, object): (String, Option<String>)) -> Self {
        Self { url, object }
    }
}

/// The fragment of the page's address that shows the object of the first target that names one.
///
/// # Errors
/// Files that cannot be opened, objects that are not there.
pub(crate) fn fragment(targets: &[BrowseTarget], files: &OpenFiles) -> Result<String> {
    let named = targets.iter().enumerate().find_map(|(id, t)| t.object.as_ref().map(|object| (id, &t.url, object)));
    let Some((id, url, object)) = named else { return Ok(String::new()) };
    let found = files.get(url)?.find(object)?;
    let (kind, view) = match &found.key {
        key if key.is_tree() || key.is_ntuple() => ("tree", "plot"),
        // the page of the file, where the directory can be opened
        key if key.is_directory() => return Ok(String::new()),
        _ => ("object", "object"),
    };
    let path = format!("{};{}", found.path, found.key.cycle);
    Ok(format!("#target={id}&object={}&kind={kind}&view={view}", utf8_percent_encode(&path, NON_ALPHANUMERIC)))
}
