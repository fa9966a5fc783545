//! The words every other crate speaks: byte ranges of a file ([`Span`]), sets of them
//! ([`coalesce`]), and the one error type ([`Error`]).
//!
//! This crate has no dependencies.

mod coalesce;
pub mod defect;
mod error;
mod printable;
pub mod raw_text;
mod span;

pub use coalesce::{Coalesced, coalesce};
pub use error::{Error, ErrorKind, Result};
pub use printable::{is_steering, printable};
pub use span::Span;
