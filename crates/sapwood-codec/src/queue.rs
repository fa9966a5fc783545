//! Decompresses chains from a queue, two at a time.

use crate::block::{self, Codec, HEADER};
use crate::block_chain::BlockChain;
use crate::decode::{Decoder, usual};
use crate::inflate::Lane;
use crate::lanes::Lanes;
use sapwood_span::Result;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The source of chains, and the receiver of their decompressed bytes.
pub trait DecompressQueue {
    /// A chain and the data that belong to it.
    type Item: BlockChain;

    /// The next one. `beside` tells whether one is in progress: then it may return none, and is called again soon.
    fn next(&mut self, beside: bool) -> Option<Self::Item>;

    /// One is decompressed, or cannot be (kind `Corrupt`); and the time used.
    fn done(&mut self, item: Self::Item, bytes: Result<&[u8]>, took: Duration);
}

impl Decoder {
    /// Decompresses chains until there are no more.
    ///
    /// This is faster than one after the other for zlib blocks, as in baskets: two are decompressed alternately, and
    /// where one has ended the next takes its place. Headers are checked against the stated sizes before memory is
    /// taken.
    pub fn decompress_each<F: DecompressQueue>(&mut self, feed: &mut F) {
        let mut kept = self.lanes.take().unwrap_or_else(|| Box::new(Lanes::new()));
        let mut lanes: [Option<Lane<F::Item>>; 2] = [None, None];
        loop {
            for i in 0..lanes.len() {
                if lanes[i].is_none() {
                    let beside = lanes[1 - i].is_some();
                    lanes[i] = self.begin(feed, beside, &mut kept.buffers);
                }
            }
            match &mut lanes {
                [None, None] => break,
                // a single one is faster with libdeflate
                [Some(lane), None] | [None, Some(lane)] if lane.is_fresh() => lane.give_up(),
                _ => {}
            }
            let began = Instant::now();
            kept.pair.advance(&mut lanes);
            share(began.elapsed(), &mut lanes);
            for lane in &mut lanes {
                if let Some(ended) = lane.take_if(|lane| !lane.is_active()) {
                    *lane = self.end(feed, ended, &mut kept.buffers);
                }
            }
        }
        self.lanes = Some(kept);
    }

    /// Takes chains up to the first that suits two lanes.
    fn begin<F: DecompressQueue>(
        &mut self,
        feed: &mut F,
        beside: bool,
        buffers: &mut Vec<Vec<u8>>,
    ) -> Option<Lane<F::Item>> {
        loop {
            let item = feed.next(beside)?;
            let out = buffers.pop().unwrap_or_default();
            match first(&item) {
                Some(block) => return Some(Lane::new(item, block, out)),
                None => self.whole(feed, item, out, Duration::ZERO, buffers),
            }
        }
    }

    /// A lane's block has ended: the next of its chain, if there is one.
    fn end<F: DecompressQueue>(
        &mut self,
        feed: &mut F,
        mut lane: Lane<F::Item>,
        buffers: &mut Vec<Vec<u8>>,
    ) -> Option<Lane<F::Item>> {
        let (at, left) = lane.left();
        let right = lane.is_right();
        if let (true, Some(block)) = (right, zlib(lane.item.compressed(), at, left)) {
            lane.go_on(block);
            return Some(lane);
        }
        if right && left == 0 {
            let size = lane.item.size();
            feed.done(lane.item, Ok(lane.out.get(..size).unwrap_or_default()), lane.took);
            buffers.push(lane.out);
        } else {
            self.whole(feed, lane.item, lane.out, lane.took, buffers);
        }
        None
    }

    /// Decompresses a chain alone: it is of another kind, the only one, or damaged, in which case the error is found
    /// here.
    fn whole<F: DecompressQueue>(
        &mut self,
        feed: &mut F,
        item: F::Item,
        mut out: Vec<u8>,
        took: Duration,
        buffers: &mut Vec<Vec<u8>>,
    ) {
        let began = Instant::now();
        let size = item.size();
        let result = if size <= out.len() {
            let out = out.get_mut(..size).unwrap_or_default();
            let checked = block::check_sizes(item.compressed(), size);
            checked.and_then(|()| self.decompress(item.compressed(), out)).map(|()| &*out)
        } else {
            self.decompress_vec(item.compressed(), &mut out, size).map(|()| &*out)
        };
        feed.done(item, result, took + began.elapsed());
        buffers.push(out);
    }
}

/// Two streams advanced alternately: the time is divided by their output.
fn share<T: BlockChain>(time: Duration, lanes: &mut [Option<Lane<T>>; 2]) {
    let parts = lanes.each_mut().map(|lane| lane.as_mut().map_or(0, Lane::progress));
    let sum: usize = parts.iter().sum();
    for (lane, part) in lanes.iter_mut().zip(parts) {
        if let (Some(lane), true) = (lane, sum > 0) {
            lane.took += time.mul_f64(part as f64 / sum as f64);
        }
    }
}

/// The first block of a chain whose headers agree with its key, if it is a zlib stream. A chain that states far more
/// than usual is decompressed alone, block by block.
fn first<T: BlockChain>(item: &T) -> Option<(Range<usize>, usize)> {
    if item.size() > usual(item.compressed()) {
        return None;
    }
    block::check_sizes(item.compressed(), item.size()).ok()?;
    zlib(item.compressed(), 0, item.size())
}

/// The range of the payload of the block at `at`, and its decompressed size, if it is a zlib stream.
fn zlib(compressed: &[u8], at: usize, left: usize) -> Option<(Range<usize>, usize)> {
    let block = block::parse(compressed, at, left).ok().filter(|block| block.codec == Codec::Zlib)?;
    let begins = at + HEADER;
    Some((begins..begins + block.payload.len(), block.size))
}
