//! What a server says about paths, without opening files.

use crate::open_source::source_options;
use crate::options::OpenOptions;
use crate::runtime;
use sapwood_source::RemoteEntry;
use sapwood_span::{Error, Result};

/// What a directory on an XRootD server (`root://host//directory/`) or a prefix in an S3 bucket (`s3://bucket/prefix/`)
/// holds, by name.
///
/// # Errors
/// URLs of another scheme, directories that are not there, servers that fail.
pub fn list_directory(url: &str, options: &OpenOptions) -> Result<Vec<RemoteEntry>> {
    check_online(url, "only its server can list a directory", options)?;
    let (url, options, handle) = (url.to_owned(), source_options(options), runtime::handle()?);
    runtime::wait(async move { sapwood_source::list(&url, &options, &handle).await })
}

/// The servers (`host:port`) that have a file, as far as the XRootD server in the URL knows.
///
/// # Errors
/// URLs of another scheme, files that are not there, servers that fail.
pub fn locate_file(url: &str, options: &OpenOptions) -> Result<Vec<String>> {
    check_online(url, "only a server knows which servers have a file", options)?;
    let (url, options, handle) = (url.to_owned(), source_options(options), runtime::handle()?);
    runtime::wait(async move { sapwood_source::locate(&url, &options, &handle).await })
}

/// Offline, no server is asked.
fn check_online(url: &str, why: &str, options: &OpenOptions) -> Result<()> {
    if !options.offline {
        return Ok(());
    }
    let what = format!("{why}, and servers are not contacted in offline mode");
    let error = Error::invalid(what).in_file(sapwood_source::redacted(url));
    Err(error.with_remedy("try again online"))
}
