//! Where bytes come from: local files, HTTP and HTTPS; connections, retries, redirects,
//! credentials, and what each host can do. Nothing here knows what the bytes mean.
//!
//! ```no_run
//! # fn main() -> sapwood_span::Result<()> {
//! let opening = sapwood_source::open_local("data.root", 1024, 65536)?;
//! assert!(opening.head.starts_with(b"root"));
//! # Ok(()) }
//! ```

mod bounds;
mod http;
mod local;
mod open;
mod source;
mod url;

pub use http::Hosts;
pub use local::{LocalFile, open_local};
pub use open::{SourceOptions, open};
pub use source::{BoxFuture, FetchReport, Limits, Opening, Sink, Source, SourceStats};
pub use url::is_remote;
