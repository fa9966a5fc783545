//! Chains unpacked as they come, two at a time.

use crate::block::{self, Codec, HEADER};
use crate::decode::{Decoder, usual};
use crate::inflate::{Lane, Pair};
use sapwood_span::Result;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Whoever holds a chain of blocks.
pub trait Packed {
    /// The blocks.
    fn compressed(&self) -> &[u8];
    /// The size the key promised.
    fn size(&self) -> usize;
}

/// The blocks, their size, and whatever tells this chain from others.
impl<K> Packed for (&[u8], usize, K) {
    fn compressed(&self) -> &[u8] {
        self.0
    }

    fn size(&self) -> usize {
        self.1
    }
}

/// Where chains come from, and where what was in them goes.
pub trait DecompressQueue {
    /// A chain and what else belongs to it.
    type Item: Packed;

    /// The next one. `beside` says whether one is under way: then it may give none, and is asked again soon.
    fn next(&mut self, beside: bool) -> Option<Self::Item>;

    /// One is unpacked, or it cannot be (kind `Corrupt`); and the time that took.
    fn done(&mut self, item: Self::Item, bytes: Result<&[u8]>, took: Duration);
}

/// What is kept from one call to the next.
pub(crate) struct Lanes {
    pair: Pair,
    buffers: Vec<Vec<u8>>,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self { pair: Pair::new(), buffers: Vec::new() }
    }
}

impl Decoder {
    /// Unpacks chains until there are no more.
    ///
    /// This is faster than one after the other where they are of zlib blocks, as baskets are: two are unpacked in turn,
    /// and where one has ended the next takes its place. Headers are checked against the promised sizes before memory
    /// is taken.
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

    /// Takes chains up to the first that two lanes are good for.
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

    /// Unpacks a chain by itself: it is of another kind, alone, or damaged, of which the errors are found here.
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

/// Two streams advanced in turn: each took the time of what was unpacked of it.
fn share<T: Packed>(time: Duration, lanes: &mut [Option<Lane<T>>; 2]) {
    let parts = lanes.each_mut().map(|lane| lane.as_mut().map_or(0, Lane::progress));
    let sum: usize = parts.iter().sum();
    for (lane, part) in lanes.iter_mut().zip(parts) {
        if let (Some(lane), true) = (lane, sum > 0) {
            lane.took += time.mul_f64(part as f64 / sum as f64);
        }
    }
}

/// The first block of a chain whose headers promise what its key does, if it is a zlib stream. What promises far more
/// than usual is unpacked alone, block by block.
fn first<T: Packed>(item: &T) -> Option<(Range<usize>, usize)> {
    if item.size() > usual(item.compressed()) {
        return None;
    }
    block::check_sizes(item.compressed(), item.size()).ok()?;
    zlib(item.compressed(), 0, item.size())
}

/// Where the payload of the block at `at` lies, and what it unpacks to, if it is a zlib stream.
fn zlib(compressed: &[u8], at: usize, left: usize) -> Option<(Range<usize>, usize)> {
    let block = block::parse(compressed, at, left).ok().filter(|block| block.codec == Codec::Zlib)?;
    let begins = at + HEADER;
    Some((begins..begins + block.payload.len(), block.size))
}
