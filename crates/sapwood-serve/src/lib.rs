//! Serves files to others, over HTTP and over the XRootD protocol. [`Origin`] serves a folder and can behave as if it stood far
//! away; what answers is behind a small interface, [`Files`].

#![forbid(unsafe_code)]

mod conditions;
mod connections;
mod files;
mod folder;
mod hosts;
mod listing;
mod log;
mod origin;
mod ranges;
mod respond;
mod root;
mod stamp;
mod stream;
mod wan;

pub use connections::ClientLimits;
pub use files::{
    Answer, Entries, Entry, FileInfo, Files, FilesError, Found, OpenFile, OpenFolder, ServedPath, Version,
};
pub use log::Served;
pub use origin::{Origin, OriginHandle, OriginOptions};
