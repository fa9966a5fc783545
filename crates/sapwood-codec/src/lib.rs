//! ROOT's compressed buffers: the chain of blocks that a key's payload is, with zlib, LZMA, LZ4,
//! Zstandard and ROOT's first deflate inside.
//!
//! [`Decoder`] reads any of them, [`Encoder`] writes all but the last; [`Compression`] is the number that ROOT stores
//! as `fCompress`. No I/O, no threads; every size is checked against the input before memory is requested.

#![warn(unreachable_pub, unnameable_types)]

mod adler;
mod block;
mod block_chain;
mod damage;
mod decode;
mod deflate;
mod digest;
mod encode;
mod inflate;
mod lanes;
mod lz4;
mod lzma;
mod planes;
mod queue;
mod settings;
mod stored;
mod zstd_planes;

pub use block_chain::BlockChain;
pub use decode::Decoder;
pub use digest::{Digest, xxh3};
pub use encode::Encoder;
pub use queue::DecompressQueue;
pub use settings::{Algorithm, Compression};
pub use stored::store;
