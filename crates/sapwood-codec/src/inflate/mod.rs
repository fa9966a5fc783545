//! Decompresses zlib streams two at a time, on one thread.
//!
//! libdeflate, which decompresses single streams here, is bound by the latency of its look-ups. There are thousands of
//! baskets: two of them, advanced alternately, take less time than one after the other (`docs/decisions/0028` has the
//! figures).
//!
//! The output is right or refused: a stream counts only if it ends where it should, has the stated size and the
//! checksum in its trailer. A refused one is passed to libdeflate, so that one decoder decides what a damaged stream
//! is.

mod fast;
mod lane;
mod tables;

use crate::block_chain::BlockChain;
pub(crate) use lane::Lane;
use tables::Tables;

/// Bytes that a step of the fast loop may read from the input: twice eight, seven apart.
const IN_ROOM: usize = 16;

/// Bytes that a step of the fast loop may write: three literals, a copy of 258, seven excess bytes.
const OUT_ROOM: usize = 272;

/// Decoding tables for two streams at a time.
pub(crate) struct Pair {
    tables: [Tables; 2],
}

impl Pair {
    pub(crate) fn new() -> Self {
        Self { tables: [Tables::new(), Tables::new()] }
    }

    /// Continues with the current lanes: two streams until a block of one of them ends, one stream to the end of its
    /// block.
    pub(crate) fn advance<T: BlockChain>(&mut self, lanes: &mut [Option<Lane<T>>; 2]) {
        let [s, t] = &mut self.tables;
        match lanes {
            [Some(a), Some(b)] => {
                if a.is_fast() && b.is_fast() {
                    fast::both((a, s), (b, t));
                }
                a.creep(s);
                b.creep(t);
            }
            [Some(a), None] => alone(a, s),
            [None, Some(b)] => alone(b, t),
            [None, None] => {}
        }
    }
}

fn alone<T: BlockChain>(lane: &mut Lane<T>, tables: &mut Tables) {
    if lane.is_fast() {
        fast::one(lane, tables);
    }
    lane.creep(tables);
}

#[cfg(test)]
mod tests;
