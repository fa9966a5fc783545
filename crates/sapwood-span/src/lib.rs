//! The vocabulary of every other crate: byte ranges of a file ([`Span`]), sets of them ([`coalesce`]), the one error
//! type ([`Error`]), names of files as errors may show them ([`redact`]), numbers with their units ([`units`]), and what connections bring
//! ([`slow_start`]).
//!
//! Its one dependency is `percent-encoding`, which has none.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

#[cfg(not(unix))]
compile_error!(
    "Sapwood runs on Linux and macOS; on Windows, use it in WSL (docs/decisions/0040-what-is-not-our-own.md)"
);

mod coalesce;
pub mod defect;
mod error;
mod limits;
pub mod percent;
mod printable;
pub mod raw_text;
mod remote;
mod secret;
mod setters;
pub mod similar;
pub mod slow_start;
mod span;
pub mod sync;
pub mod units;

pub use coalesce::{Coalesced, coalesce};
pub use error::{Error, ErrorKind, MissingItem, Result, Setting};
pub use limits::Limits;
pub use printable::{is_steering, printable};
pub use remote::{is_remote, redact, scheme};
pub use secret::{is_credential, is_random, is_secret, redact_parameters, redact_path};
pub use span::Span;
