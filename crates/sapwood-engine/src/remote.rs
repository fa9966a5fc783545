//! What a server says about paths, without opening files.

use crate::open_source::source_options;
use crate::options::OpenOptions;
use crate::runtime;
use sapwood_source::RemoteEntry;
use sapwood_span::Result;

/// What a directory on an XRootD server (`root://host//directory/`) holds, by name.
///
/// # Errors
/// URLs of another scheme, directories that are not there, servers that fail.
pub fn list_directory(url: &str, options: &OpenOptions) -> Result<Vec<RemoteEntry>> {
    let (url, options, handle) = (url.to_owned(), source_options(options), runtime::handle()?);
    runtime::wait(async move { sapwood_source::list(&url, &options, &handle).await })
}

/// The servers (`host:port`) that have a file, as far as the XRootD server in the URL knows.
///
/// # Errors
/// URLs of another scheme, files that are not there, servers that fail.
pub fn locate_file(url: &str, options: &OpenOptions) -> Result<Vec<String>> {
    let (url, options, handle) = (url.to_owned(), source_options(options), runtime::handle()?);
    runtime::wait(async move { sapwood_source::locate(&url, &options, &handle).await })
}
