//! What is in a directory of a server, or below a prefix of a bucket.

use crate::open::SourceOptions;
use crate::s3;
use crate::url::Location;
use crate::xrd::{self, RemoteEntry};
use sapwood_span::Result;
use tokio::runtime::Handle;

/// The contents of a directory on an XRootD server, or of a prefix in an S3 bucket, sorted by name.
///
/// # Errors
/// URLs of another scheme, directories that are not there, servers that fail.
pub async fn list(url: &str, options: &SourceOptions, handle: &Handle) -> Result<Vec<RemoteEntry>> {
    match Location::parse(url)? {
        Location::S3(url) => s3::list(&url, options, handle).await,
        _ => xrd::list(url, options, handle).await,
    }
}
