//! Serves files over HTTP and over the XRootD protocol. A [`Server`] serves any content behind a small interface,
//! [`Files`]; an [`Origin`] serves a local directory and can simulate a distant server.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod buffers;
mod client_request;
mod connections;
mod counters;
mod error;
mod exchange;
mod files;
mod http;
mod local_directory;
mod local_file;
mod log;
mod origin;
mod root;
mod server;
mod shared;
mod stamp;
mod tls;
mod wan;

pub use client_request::{ClientRequest, Protocol, ServedPath};
pub use connections::ClientLimits;
pub use counters::Status;
pub use error::FilesError;
pub use exchange::{Access, AccessListener};
pub use files::{Answer, Entries, Entry, FileInfo, FileVersion, Files, Found, OpenFile, OpenFolder, Page};
pub use log::{Listener, Served};
pub use origin::{Origin, OriginHandle, OriginOptions};
pub use sapwood_xrd::SecretBytes;
pub use server::{Server, ServerHandle, ServerOptions};
pub use tls::Tls;
