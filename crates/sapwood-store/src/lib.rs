//! A persistent cache of byte ranges of remote files: a directory, shared by processes. It knows URLs, versions, spans and
//! bytes; no network and no file format.
//!
//! # What is on disk
//! ```text
//! DIR/format                       the number of this format
//! DIR/lock                         flock during counting, eviction and creation; holds the number of bytes in use
//! DIR/files/URL/latest             which version of this URL was validated last
//! DIR/files/URL/VERSION/identity   URL, size, ETag, date, checksum, first bytes; flock while the version is used
//! DIR/files/URL/VERSION/S.data     a segment: the bytes of its pieces, in sequence
//! DIR/files/URL/VERSION/S.index    40 bytes for each piece: offset in the file, position in the data, checksum
//! ```
//! URL and VERSION are hashes. Each process writes segments of its own (flock on the index), so writers never wait for
//! each other. A segment that no process has open for writing is continued by the next one.
//!
//! # Why no wrong byte comes out
//! - Each piece has an XXH3 checksum that also covers the file's identity, the position and the length. It is checked
//!   each time the piece is read. A piece that does not match is dropped and reported as missing.
//! - The identity is compared field by field, not by its hash.
//! - Data are written before the index slot that names them. A process may be killed, or the computer may stop, at any
//!   moment: what is incomplete has no slot, or one that does not match. Nothing is synced: after a power failure,
//!   pieces may be missing.
//! - Clocks only decide what is dropped first.
//!
//! # What is dropped
//! Before a process writes, it reserves the bytes under the directory's lock. When the limit would be exceeded, segments
//! are removed: first damaged ones, then those of older versions of a URL, then the least recently used. A version that
//! a [`CachedFile`] of any process refers to is kept; if nothing else can be removed, new pieces are left out. All
//! files and directories count with the blocks that they occupy.
//!
//! # Processes that fork
//! A handle that a forked child inherits opens the store again in the child: no lock, queue or segment is shared.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod evict;
#[cfg(test)]
mod hostile;
mod id;
mod load;
mod manage;
mod pieces;
pub mod policy;
mod recent;
mod report;
mod segment;
mod segment_index;
mod store;
mod store_directory;
mod survey;
mod warning;

pub use id::{FileId, FileVersion};
pub use report::{HeldFile, Purged, Status, Verified};
pub use store::{CachedFile, Store, StoreOptions};

use sapwood_span::sync::lock as locked;
