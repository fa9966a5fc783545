//! Zlib streams unpacked two at a time, on one thread.
//!
//! libdeflate, which unpacks single streams here, is bound by the latency of its look-ups. Baskets come by the
//! thousand: two of them, advanced in turn, take less time than one after the other (`docs/decisions/0028` has the
//! figures).
//!
//! What comes out is right or refused: a stream counts only if it ends where it should, has the promised size and the
//! checksum that stands behind it. A refused one is for libdeflate to judge, so that there is one judge of what a
//! damaged stream is.

mod fast;
mod lane;
mod tables;

use crate::packed::Packed;
pub(crate) use lane::Lane;
use tables::Tables;

/// Bytes that a step of the fast loop may read from the input: twice eight, seven apart.
const IN_ROOM: usize = 16;

/// Bytes that a step of the fast loop may write: three literals, a copy of 258, seven too many.
const OUT_ROOM: usize = 272;

/// Decoding tables for two streams at a time.
pub(crate) struct Pair {
    tables: [Tables; 2],
}

impl Pair {
    pub(crate) fn new() -> Self {
        Self { tables: [Tables::new(), Tables::new()] }
    }

    /// Goes on with what is there: two streams until a block of one of them ends, one stream to the end of its block.
    pub(crate) fn advance<T: Packed>(&mut self, lanes: &mut [Option<Lane<T>>; 2]) {
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

fn alone<T: Packed>(lane: &mut Lane<T>, tables: &mut Tables) {
    if lane.is_fast() {
        fast::one(lane, tables);
    }
    lane.creep(tables);
}

#[cfg(test)]
mod tests;
