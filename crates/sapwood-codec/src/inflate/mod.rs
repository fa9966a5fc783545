//! Many zlib streams unpacked two at a time, on one thread.
//!
//! libdeflate, which unpacks single streams here, is bound by the latency of its look-ups. Baskets come by the thousand:
//! two of them, advanced in turn, take less time than one after the other (`docs/architecture.md` has the figures).
//!
//! What comes out is right or refused: a stream counts only if it ends where it should, has the promised size and the
//! checksum that stands behind it. A refused one is for libdeflate to judge, so that there is one judge of what a
//! damaged stream is.

mod fast;
mod lane;
mod tables;

use lane::{Lane, State};
use tables::Tables;

/// Bytes that a step of the fast loop may read from the input: twice eight, seven apart.
const IN_ROOM: usize = 16;

/// Bytes that a step of the fast loop may write: three literals, a copy of 258, seven too many.
pub(crate) const OUT_ROOM: usize = 272;

/// A zlib stream and where its bytes go.
pub(crate) struct Stream<'a> {
    pub input: &'a [u8],
    /// `size` bytes and at least [`OUT_ROOM`] more, whose content is spoilt.
    pub out: &'a mut [u8],
    pub size: usize,
}

/// Decoding tables for two streams at a time.
pub(crate) struct Pair {
    tables: [Tables; 2],
}

impl Pair {
    pub fn new() -> Self {
        Self { tables: [Tables::new(), Tables::new()] }
    }

    /// Whether each is unpacked. Where one is not, what its `out` holds means nothing.
    pub fn inflate(&mut self, streams: Vec<Stream<'_>>) -> Vec<bool> {
        let mut done = vec![false; streams.len()];
        let mut queue = streams.into_iter().enumerate();
        let [s, t] = &mut self.tables;
        let (mut a, mut b) = (None, None);
        loop {
            next(&mut a, &mut queue, &mut done);
            next(&mut b, &mut queue, &mut done);
            match (&mut a, &mut b) {
                (Some((_, a)), Some((_, b))) => {
                    if a.is_fast() && b.is_fast() {
                        fast::both((a, s), (b, t));
                    }
                    a.creep(s);
                    b.creep(t);
                }
                (Some((_, a)), None) => finish(a, s),
                (None, Some((_, b))) => finish(b, t),
                (None, None) => return done,
            }
        }
    }
}

/// A lane that has come to its end makes room for the next stream.
fn next<'a>(
    lane: &mut Option<(usize, Lane<'a>)>,
    queue: &mut impl Iterator<Item = (usize, Stream<'a>)>,
    done: &mut [bool],
) {
    while lane.as_ref().is_none_or(|(_, lane)| !lane.is_active()) {
        if let Some((i, ended)) = lane.take() {
            done[i] = is_right(&ended);
        }
        match queue.next() {
            Some((i, stream)) => *lane = Some((i, Lane::new(stream))),
            None => return,
        }
    }
}

fn finish(lane: &mut Lane<'_>, tables: &mut Tables) {
    while lane.is_active() {
        if lane.is_fast() {
            fast::one(lane, tables);
        }
        lane.creep(tables);
    }
}

fn is_right(lane: &Lane<'_>) -> bool {
    let Some(out) = lane.out.get(..lane.size) else { return false };
    let ended = lane.state == State::Ended && lane.filled == lane.size;
    ended && lane.trailer().is_some_and(|sum| u32::from_be_bytes(sum) == checksum(out))
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = libdeflater::Adler32::new();
    sum.update(bytes);
    sum.sum()
}

#[cfg(test)]
mod tests;
