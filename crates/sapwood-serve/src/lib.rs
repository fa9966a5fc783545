//! Serves files to others. So far: [`Origin`], a small HTTP server over a folder, which can
//! behave as if it stood far away.

#![forbid(unsafe_code)]

mod conditions;
mod connections;
mod files;
mod hosts;
mod listing;
mod log;
mod origin;
mod ranges;
mod respond;
mod stamp;
mod stream;
mod wan;

pub use connections::ClientLimits;
pub use log::Served;
pub use origin::{Origin, OriginHandle, OriginOptions};
