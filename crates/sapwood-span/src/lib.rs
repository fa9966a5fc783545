//! The words every other crate speaks: byte ranges of a file ([`Span`]), sets of them
//! ([`coalesce`]), the one error type ([`Error`]), and names of files as errors may show them ([`redact`]).
//!
//! This crate has no dependencies.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod coalesce;
pub mod defect;
mod error;
mod printable;
pub mod raw_text;
mod remote;
mod secret;
mod setters;
mod span;

pub use coalesce::{Coalesced, coalesce};
pub use error::{Error, ErrorKind, Result, Setting};
pub use printable::{is_steering, printable};
pub use remote::{is_remote, redact, scheme};
pub use secret::{is_secret, percent_decode, redact_parameters, redact_path};
pub use span::Span;
