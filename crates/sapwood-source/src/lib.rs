//! Where bytes come from: local files, HTTP and HTTPS, XRootD; connections, retries, redirects, credentials, and what
//! each host can do. Nothing here interprets the bytes.
//!
//! ```no_run
//! # fn main() -> sapwood_span::Result<()> {
//! let opening = sapwood_source::open_local("data.root", 1024, 65536)?;
//! assert!(opening.head.starts_with(b"root"));
//! # Ok(()) }
//! ```

#![warn(unreachable_pub, unnameable_types)]

mod assemble;
mod backoff;
mod bounds;
mod checksum;
mod counters;
mod dial;
mod expected;
mod file_identity;
mod first_bytes;
mod http;
mod job;
mod joined;
mod listing;
mod local;
mod meter;
mod open;
mod origin_version;
mod path_saturation;
mod reader;
mod redirect;
mod s3;
mod sibling_file;
mod silence;
mod source;
mod streams;
mod tcp_info;
mod tls;
mod trace;
mod url;
mod user;
mod window;
mod with_first_bytes;
mod xrd;

pub use assemble::Assembler;
pub use checksum::{Checksum, Summing};
pub use expected::{
    Expected, http_expected, http_expected_through_proxy, http_measured, measured_bandwidth, xrootd_beginning,
    xrootd_expected,
};
pub use http::Hosts;
pub use joined::Joined;
pub use listing::list;
pub use local::{LocalFile, open_local};
pub use open::{RedirectFilter, SourceOptions, open};
pub use origin_version::OriginVersion;
pub use reader::{ReadRanges, open_reader};
pub use s3::{S3Keys, S3Options};
pub use sapwood_span::is_remote;
pub use sibling_file::sibling_file;
pub use source::{BoxFuture, FetchReport, Opening, Sink, Source, SourceStats};
pub use url::{is_s3, local_path, named, redacted, without_user};
pub use xrd::{RemoteEntry, checksum, locate};

pub(crate) use sapwood_span::sync::lock;

/// Why one of our tasks returned no result.
pub(crate) fn ended(task: tokio::task::JoinError) -> sapwood_span::Error {
    use sapwood_span::{Error, ErrorKind, defect};
    match task.try_into_panic() {
        Ok(payload) => defect::of_panic(&*payload),
        Err(_) => Error::new(ErrorKind::Interrupted, "reading was stopped: the runtime shut down"),
    }
}
