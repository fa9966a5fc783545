//! The server of the browser page: trees and other objects of files, looked at in a web browser on this machine.
//!
//! [`Browser::start`] serves the page (`web/` in the repository) and what it asks for, below an address with a secret in
//! it. Nothing of a tree is decoded in the web browser: `api` answers with histograms, rows and facts that the engine
//! made; only objects that JSROOT draws are read there, from the bytes of the file.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod access;
mod answer;
mod api;
mod cancel;
mod folder;
mod open_files;
mod page;
mod parameters;
mod place;
mod server;
mod shared;
mod target;

pub use server::{BrowseOptions, Browser};
pub use target::BrowseTarget;
