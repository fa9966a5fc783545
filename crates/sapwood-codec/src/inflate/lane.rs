//! One of the two streams: headers of blocks, and symbol by symbol where the fast loop cannot run.

use super::tables::{DISTANCE_SYMBOLS, END, EXCEPTION, LENGTHS_SYMBOLS, LITERAL, LITERAL_SYMBOLS, Tables};
use super::{IN_ROOM, OUT_ROOM};
use crate::adler::adler32;
use crate::block_chain::BlockChain;
use std::ops::Range;
use std::time::Duration;

/// The order in which a header gives the lengths of the codes for lengths (RFC 1951, 3.2.7).
const ORDER: [u8; LENGTHS_SYMBOLS] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// A block begins.
    Header,
    /// Its symbols follow.
    Symbols,
    /// The last block has ended.
    Ended,
    /// Not a stream of this kind, or a damaged one.
    Failed,
}

/// A stream being decompressed.
pub(crate) struct Lane<T> {
    /// The item it belongs to.
    pub item: T,
    /// Range of its current block in the item's chain.
    stream: Range<usize>,
    /// Position of the next byte of the block that is not among the bits.
    pub(super) at: usize,
    /// The next bits, the first lowest. Above `count` there are zeros, or the bits that follow in the input.
    pub(super) bits: u64,
    /// How many of the bits are read from the input, at most 63.
    pub(super) count: u32,
    /// The output so far, and room for [`OUT_ROOM`] bytes after its end.
    pub out: Vec<u8>,
    pub(super) filled: usize,
    /// Where in `out` the block begins and ends.
    pub(super) begin: usize,
    pub(super) end: usize,
    pub(super) state: State,
    last: bool,
    /// Time used so far, and how much output there was then.
    pub took: Duration,
    timed: usize,
}

impl<T: BlockChain> Lane<T> {
    /// For an item and its first block: the block's range in the chain, and its decompressed size.
    pub(crate) fn new(item: T, (stream, size): (Range<usize>, usize), mut out: Vec<u8>) -> Self {
        let room = item.size() + OUT_ROOM;
        if out.len() < room {
            out.resize(room, 0);
        }
        let mut lane = Self {
            item,
            stream,
            at: 0,
            bits: 0,
            count: 0,
            out,
            filled: 0,
            begin: 0,
            end: 0,
            state: State::Failed,
            last: false,
            took: Duration::ZERO,
            timed: 0,
        };
        lane.go_on((lane.stream.clone(), size));
        lane
    }

    /// Continues with the block after the one that ended.
    pub(crate) fn go_on(&mut self, (stream, size): (Range<usize>, usize)) {
        self.stream = stream;
        // two bytes of zlib: deflate, no dictionary, and their check (RFC 1950, 2.2)
        let begins = self.input().first_chunk().is_some_and(|&[method, flags]| {
            method & 15 == 8 && flags & 0x20 == 0 && u16::from_be_bytes([method, flags]) % 31 == 0
        });
        (self.begin, self.end) = (self.end, self.end + size);
        let fits = self.filled == self.begin && self.end <= self.item.size();
        self.state = if begins && fits { State::Header } else { State::Failed };
        (self.at, self.bits, self.count, self.last) = (2, 0, 0, false);
    }

    /// Where in the chain the next block would begin, and how much of the item is still to come.
    pub(crate) fn left(&self) -> (usize, usize) {
        (self.stream.end, self.item.size().saturating_sub(self.end))
    }

    pub(super) fn input(&self) -> &[u8] {
        self.item.compressed().get(self.stream.clone()).unwrap_or_default()
    }

    pub(crate) fn is_active(&self) -> bool {
        matches!(self.state, State::Header | State::Symbols)
    }

    /// Whether nothing of it is decompressed.
    pub(crate) fn is_fresh(&self) -> bool {
        self.filled == 0
    }

    /// Leaves it to another decoder.
    pub(crate) fn give_up(&mut self) {
        self.state = State::Failed;
    }

    /// Whether all of the block is decompressed, with the right size and checksum.
    pub(crate) fn is_right(&self) -> bool {
        let Some(out) = self.out.get(self.begin..self.end) else { return false };
        let ended = self.state == State::Ended && self.filled == self.end;
        ended && self.trailer().is_some_and(|sum| u32::from_be_bytes(sum) == adler32(out))
    }

    /// Bytes decompressed since the last call.
    pub(crate) fn progress(&mut self) -> usize {
        let now = self.filled;
        now.saturating_sub(std::mem::replace(&mut self.timed, now))
    }

    /// Whether the fast loop can run here.
    pub(super) fn is_fast(&self) -> bool {
        let left = self.input().len().checked_sub(self.at);
        self.state == State::Symbols && left.is_some_and(|n| n >= IN_ROOM) && self.filled <= self.end
    }

    /// The trailer after the last block.
    fn trailer(&self) -> Option<[u8; 4]> {
        self.input().get(self.at - self.count as usize / 8..)?.first_chunk().copied()
    }

    /// Advances to where the fast loop can take over, by at least one symbol.
    pub(super) fn creep(&mut self, tables: &mut Tables) {
        loop {
            let done = match self.state {
                State::Header => self.header(tables),
                State::Symbols => self.symbol(tables),
                State::Ended | State::Failed => return,
            };
            match done {
                Some(state) => self.state = state,
                None => self.state = State::Failed,
            }
            if self.is_fast() {
                return;
            }
        }
    }

    fn fill(&mut self) {
        if let Some(next) = self.input().get(self.at..).and_then(|rest| rest.first_chunk()) {
            self.bits |= u64::from_le_bytes(*next) << self.count;
            self.at += (63 - self.count as usize) >> 3;
            self.count |= 56;
        } else {
            while let (true, Some(&byte)) = (self.count < 56, self.input().get(self.at)) {
                self.bits |= u64::from(byte) << self.count;
                self.at += 1;
                self.count += 8;
            }
        }
    }

    /// This many bits, if they are available.
    fn take(&mut self, n: u32) -> Option<u32> {
        self.count = self.count.checked_sub(n)?;
        let value = self.bits & ((1 << n) - 1);
        self.bits >>= n;
        Some(value as u32)
    }

    fn header(&mut self, tables: &mut Tables) -> Option<State> {
        if self.last {
            return Some(State::Ended);
        }
        self.fill();
        self.last = self.take(1)? == 1;
        match self.take(2)? {
            0 => self.stored(),
            1 => {
                let mut lengths = [8; LITERAL_SYMBOLS];
                lengths[144..256].fill(9);
                lengths[256..280].fill(7);
                tables.set_block(&lengths, &[5; DISTANCE_SYMBOLS]).then_some(State::Symbols)
            }
            2 => self.codes(tables),
            _ => None,
        }
    }

    /// Uncompressed bytes.
    fn stored(&mut self) -> Option<State> {
        self.at -= self.count as usize / 8;
        (self.bits, self.count) = (0, 0);
        let input = self.item.compressed().get(self.stream.clone())?;
        let (&[a, b, c, d], rest) = input.get(self.at..)?.split_first_chunk()?;
        let length = u16::from_le_bytes([a, b]);
        if length != !u16::from_le_bytes([c, d]) {
            return None;
        }
        let length = usize::from(length);
        let to = self.out.get_mut(self.filled..self.end)?.get_mut(..length)?;
        to.copy_from_slice(rest.get(..length)?);
        self.at += 4 + length;
        self.filled += length;
        Some(State::Header)
    }

    /// The lengths of a block's codes.
    fn codes(&mut self, tables: &mut Tables) -> Option<State> {
        let literals = self.take(5)? as usize + 257;
        let distances = self.take(5)? as usize + 1;
        let given = self.take(4)? as usize + 4;
        let mut lengths = [0; LENGTHS_SYMBOLS];
        for &symbol in ORDER.iter().take(given) {
            if self.count < 3 {
                self.fill();
            }
            *lengths.get_mut(usize::from(symbol))? = self.take(3)? as u8;
        }
        if !tables.set_lengths(&lengths) {
            return None;
        }
        let mut lengths = [0; LITERAL_SYMBOLS + DISTANCE_SYMBOLS];
        let lengths = lengths.get_mut(..literals + distances)?;
        let mut i = 0;
        while i < lengths.len() {
            self.fill();
            let (symbol, bits) = tables.length_symbol(self.bits)?;
            self.take(bits)?;
            let (value, times) = match symbol {
                0..16 => (symbol as u8, 1),
                16 => (*lengths.get(i.checked_sub(1)?)?, 3 + self.take(2)?),
                17 => (0, 3 + self.take(3)?),
                _ => (0, 11 + self.take(7)?),
            };
            lengths.get_mut(i..i + times as usize)?.fill(value);
            i += times as usize;
        }
        let (literals, distances) = lengths.split_at_checked(literals)?;
        tables.set_block(literals, distances).then_some(State::Symbols)
    }

    /// One symbol, with every check.
    fn symbol(&mut self, tables: &Tables) -> Option<State> {
        self.fill();
        let (e, first) = tables.literal(self.bits);
        self.take(first)?;
        if e & EXCEPTION != 0 {
            self.take(e >> 8 & 15)?;
            return (e & END != 0).then_some(State::Header);
        }
        if e & LITERAL != 0 {
            self.take(e & 15)?;
            *self.out.get_mut(..self.end)?.get_mut(self.filled)? = (e >> 16) as u8;
            self.filled += 1;
            return Some(State::Symbols);
        }
        let length = self.value(e)?;
        self.fill();
        let (e, first) = tables.distance(self.bits);
        self.take(first)?;
        if e & EXCEPTION != 0 {
            return None;
        }
        let distance = self.value(e)?;
        let from = self.filled.checked_sub(distance).filter(|from| *from >= self.begin)?;
        let out = self.out.get_mut(..self.end)?.get_mut(from..self.filled + length)?;
        for i in distance..out.len() {
            out[i] = out[i - distance];
        }
        self.filled += length;
        Some(State::Symbols)
    }

    /// A length or a distance.
    fn value(&mut self, e: u32) -> Option<usize> {
        let code = e >> 8 & 31;
        self.take(code)?;
        let extra = self.take((e & 63).checked_sub(code)?)?;
        Some(((e >> 16) + extra) as usize)
    }
}
