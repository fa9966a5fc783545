//! ROOT trees, local or remote.
//!
//! ```no_run
//! use sapwood::query::ScanCut as _;
//!
//! # fn main() -> sapwood::Result<()> {
//! let file = sapwood::read::open("https://example.org/events.root")?;
//! let tree = file.tree("Events")?;
//! for batch in tree.scan().branches(["Muon_pt", "Muon_eta"]).cut("nMuon > 1").build()? {
//!     let batch = batch?;
//!     println!("{} entries, {} columns", batch.entries.end - batch.entries.start, batch.columns.len());
//! }
//! println!("{} requests", file.io().requests);
//! # Ok(()) }
//! ```
//!
//! # Features
//!
//! All are on by default. Without `read` nothing of the network is built: no tokio, hyper or rustls.
//!
//! | feature | module | what it does |
//! | --- | --- | --- |
#![cfg_attr(feature = "read", doc = "| `read` | [`read`] | opens and reads files, local or remote |")]
#![cfg_attr(feature = "write", doc = "| `write` | [`write`](mod@write) | writes local files |")]
#![cfg_attr(feature = "merge", doc = "| `merge` | [`merge`] | merges files |")]
#![cfg_attr(feature = "optimize", doc = "| `optimize` | [`optimize`] | rewrites files for faster reading |")]
#![cfg_attr(feature = "recover", doc = "| `recover` | [`recover`] | saves what is left of damaged files |")]
#![cfg_attr(feature = "query", doc = "| `query` | [`query`] | expressions, cuts, histograms, pictures |")]
#![cfg_attr(feature = "perf", doc = "| `perf` | [`perf`] | statistics of reading |")]
#![cfg_attr(feature = "serve", doc = "| `serve` | [`serve`] | a small HTTP server |")]
#![cfg_attr(feature = "proxy", doc = "| `proxy` | [`proxy`] | a caching proxy in front of remote files |")]
#![cfg_attr(feature = "pages", doc = "| `pages` | [`pages`] | an allocator with large pages |")]
#![cfg_attr(feature = "arrow", doc = "| `arrow` | [`arrow`] | batches through Arrow's C interfaces |")]
#![cfg_attr(
    feature = "simulate",
    doc = "| `simulate` | [`simulate`] | sites that share files over networks, in virtual time |"
)]
//!
//! At the root are the terms that all of them share: errors, columns, compression; and, with `read`, what [`read`] has.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

pub use sapwood_codec::{Algorithm, Compression};
pub use sapwood_column::{Array, ColumnType, DType, Form, Values, with_values};
pub use sapwood_format::streamer::{ClassInfo, Element};
pub use sapwood_span::{
    Error, ErrorKind, MissingItem, Result, Setting, Span, defect, is_steering, printable, raw_text, similar,
};

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "convert")]
pub mod convert;
#[cfg(feature = "merge")]
pub mod merge;
#[cfg(feature = "optimize")]
pub mod optimize;
#[cfg(feature = "perf")]
pub mod perf;
#[cfg(feature = "read")]
pub mod read;
#[cfg(feature = "recover")]
pub mod recover;
#[cfg(feature = "write")]
pub mod write;

/// Lists of files, as text and as catalogues write them.
#[cfg(feature = "catalogue")]
pub mod catalogue {
    use crate::{ByteFile, Error, OpenOptions, Result, Span};
    pub use sapwood_catalogue::*;

    /// The files of a list that is local or on a server: a path or a URL, with what may follow behind a colon; see [`read`].
    ///
    /// # Errors
    /// As [`read`], and what the server says.
    pub fn read_anywhere(name: &str, redirector: Option<&str>, options: &OpenOptions) -> Result<Vec<ListedFile>> {
        read_with(name, redirector, &|url, most| {
            let file = ByteFile::open(url, options)?;
            if file.size() > most {
                let what = format!("the file has more than {most} bytes: it is not a list of files");
                return Err(Error::invalid(what).in_file(file.url()));
            }
            Ok(file.read(&[Span::new(0, file.size())])?.concat())
        })
    }
}

/// Expressions in the language of TTree::Draw, histograms and pictures.
#[cfg(feature = "query")]
pub mod query {
    pub use sapwood_query::*;
}

/// A small HTTP server for a directory, which can simulate a slow network.
#[cfg(feature = "serve")]
pub mod serve {
    pub use sapwood_serve::*;
}

/// A caching proxy: files of origins, over HTTP and the XRootD protocol, kept on the way.
#[cfg(feature = "proxy")]
pub mod proxy {
    pub use sapwood_proxy::*;
}

/// Sites that share files over networks, in virtual time: push against pull.
#[cfg(feature = "simulate")]
pub mod simulate {
    pub use sapwood_grid::*;
}

/// An allocator for programs that read much: blocks in large pages.
#[cfg(feature = "pages")]
pub mod pages {
    pub use sapwood_pages::*;
}

#[cfg(feature = "perf")]
pub use sapwood_perf::doctor::{Examination, ExamineOptions, Finding, Severity, examine};
#[cfg(feature = "perf")]
pub use sapwood_perf::{doctor, map, text};

#[cfg(feature = "read")]
#[doc(no_inline)]
pub use read::*;
