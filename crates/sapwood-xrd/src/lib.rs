//! The XRootD wire protocol (version 5), without sockets and clocks: bytes and the time go in, bytes and events come
//! out.
//!
//! [`Session`] is the client's side of one login, over one control link and the data links bound to it. [`Inbound`] is
//! what a server receives on one connection, [`answer`] how it divides what it sends. [`Request`], [`reply`] and
//! [`frame`] are the messages themselves, for both directions: a server decodes what a client encodes.
//!
//! Every length from a peer is bounded before memory is taken, and every reply is checked against the request. The
//! numbers are those of the protocol's reference document and of its public header.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

pub mod answer;
pub mod auth;
pub mod checksum;
pub mod code;
mod cursor;
pub mod frame;
mod inbound;
mod pages;
pub mod reply;
mod request;
mod session;
mod vector;

pub use inbound::{Arrived, Inbound};
pub use pages::encode as encode_pages;
pub use request::{CHUNK, Chunk, HEADER, Handle, Request, SecretBytes, greeting};
pub use session::{Event, Id, LinkId, Outcome, Pipelining, Refusal, Session, SessionOptions};
