//! The loop in which two streams advance alternately, a few symbols each.
//!
//! Decoding one stream is a chain: the bits of a symbol say where the next begins, and the processor waits for each
//! look-up (some five cycles in its first cache) with most of its units idle. A second stream, which does not depend on
//! the first, fills these gaps.

use super::lane::{Lane, State};
use super::tables::{DISTANCE_BITS, EXCEPTION, LINK, LITERAL, LITERAL_BITS, Tables, linked};
use super::{IN_ROOM, OUT_ROOM};
use crate::block_chain::BlockChain;

/// The state of a lane that is kept in registers.
struct Hot {
    bits: u64,
    /// As `Lane::count`, in its lowest six bits; the bits above are arbitrary.
    count: u64,
    input: *const u8,
    out: *mut u8,
    /// Where the loop must stop.
    input_end: *const u8,
    out_end: *const u8,
    /// Where input and the block's output begin.
    input_begin: *const u8,
    begin: *const u8,
}

/// How a step ended.
#[derive(PartialEq, Eq)]
enum Step {
    More,
    /// The next symbol is for `Lane::creep`.
    Rare,
    Failed,
}

impl Hot {
    /// # Panics
    /// Unless the lane is ready for the fast loop.
    fn new<T: BlockChain>(lane: &mut Lane<T>) -> Self {
        let input = lane.input();
        let begins = input.as_ptr();
        let left = input.len().checked_sub(lane.at);
        // everything below relies on this
        let room = lane.out.len().checked_sub(lane.end);
        assert!(left.is_some_and(|n| n >= IN_ROOM) && room.is_some_and(|n| n >= OUT_ROOM));
        assert!(lane.begin <= lane.filled && lane.filled <= lane.end);
        let input = input.as_ptr_range();
        let out = lane.out.as_mut_ptr_range();
        // SAFETY: within the slices, as the assertions say
        unsafe {
            Self {
                bits: lane.bits,
                count: u64::from(lane.count),
                input: input.start.add(lane.at),
                out: out.start.add(lane.filled),
                input_end: input.end.sub(IN_ROOM),
                out_end: out.start.add(lane.end),
                input_begin: begins,
                begin: out.start.add(lane.begin),
            }
        }
    }

    fn put_back<T>(self, lane: &mut Lane<T>, step: &Step) {
        lane.bits = self.bits;
        lane.count = (self.count & 63) as u32;
        lane.at = self.input as usize - self.input_begin as usize;
        lane.filled = lane.begin + (self.out as usize - self.begin as usize);
        if *step == Step::Failed || lane.filled > lane.end {
            lane.state = State::Failed;
        }
    }

    /// Whether another step is within bounds.
    #[inline(always)]
    fn has_room(&self) -> bool {
        (self.input <= self.input_end) & (self.out.cast_const() <= self.out_end)
    }

    /// # Safety
    /// Eight bytes can be read at `input`.
    #[inline(always)]
    unsafe fn fill(&mut self) {
        // SAFETY: guaranteed by the caller; the pointer moves by seven bytes at most
        unsafe {
            self.bits |= u64::from_le(self.input.cast::<u64>().read_unaligned()) << (self.count & 63);
            self.input = self.input.add((!self.count >> 3 & 7) as usize);
        }
        self.count |= 56;
    }

    /// Takes the bits of an entry.
    #[inline(always)]
    fn take(&mut self, e: u32) {
        self.bits >>= e & 63;
        // the entry's other fields only change bits of the count that are ignored
        self.count = self.count.wrapping_sub(u64::from(e));
    }

    /// # Safety
    /// A byte can be written at `out`.
    #[inline(always)]
    unsafe fn literal(&mut self, e: u32) {
        self.take(e);
        // SAFETY: guaranteed by the caller
        unsafe {
            *self.out = (e >> 16) as u8;
            self.out = self.out.add(1);
        }
    }

    /// A length or a distance.
    #[inline(always)]
    fn value(&mut self, e: u32) -> usize {
        let extra = (self.bits & ((1 << (e & 63)) - 1)) >> (e >> 8 & 63);
        self.take(e);
        ((e >> 16) + extra as u32) as usize
    }

    /// A literal or a copy, without a branch on which it is: that is hard to predict. `literal` is -1 or 0; for a
    /// literal the distance's entry is 0.
    ///
    /// # Safety
    /// As [`Hot::step`].
    #[inline(always)]
    unsafe fn either(&mut self, e: u32, d: u32, literal: i32) -> Step {
        let mask = literal as i64 as u64;
        let value = self.value(e) as u64;
        let length = ((value & !mask) | (mask & 1)) as usize;
        let distance = self.value(d);
        // SAFETY: guaranteed by the caller
        unsafe {
            if distance > self.out as usize - self.begin as usize {
                return Step::Failed;
            }
            let word = u64::from_le(self.out.sub(distance).cast::<u64>().read_unaligned());
            let word = (word & !mask) | (value & mask);
            if length <= 8 && length <= distance | (mask & 1) as usize {
                self.out.cast::<u64>().write_unaligned(word.to_le());
            } else {
                copy(self.out, distance, length);
            }
            self.out = self.out.add(length);
        }
        Step::More
    }

    /// Up to four literals (where they come in `RUNS`), or up to three and a copy.
    ///
    /// # Safety
    /// `has_room()`. It reads less than [`IN_ROOM`] bytes from `input` on, since it fills twice, and never moves beyond
    /// what it has read; it writes less than [`OUT_ROOM`] bytes from `out` on: three literals, a copy of 258, and the
    /// excess bytes of the copy. It reads between `begin` and there.
    #[inline(always)]
    unsafe fn step<const RUNS: bool>(&mut self, tables: &Tables) -> Step {
        // SAFETY: see above
        unsafe {
            self.fill();
            let next = |bits: u64| tables.literals[bits as usize & ((1 << LITERAL_BITS) - 1)];
            let mut e = next(self.bits);
            if RUNS {
                // four codes of a first table leave enough of the 56 bits for what `creep` or the next step fills
                for _ in 0..3 {
                    if e & LITERAL == 0 {
                        break;
                    }
                    self.literal(e);
                    e = next(self.bits);
                }
                if e & LITERAL != 0 {
                    self.literal(e);
                    return Step::More;
                }
            } else {
                // whether a literal comes before the next copy is hard to predict: done without a branch
                let literal = e & ((e as i32 >> 31) as u32);
                *self.out = (e >> 16) as u8;
                self.out = self.out.add((e >> 31) as usize);
                self.take(literal);
                e = next(self.bits);
                let d = tables.distances[(self.bits >> (e & 63)) as usize & ((1 << DISTANCE_BITS) - 1)];
                let literal = e as i32 >> 31;
                if (e | d & !literal as u32) & EXCEPTION == 0 {
                    return self.either(e, d & !literal as u32, literal);
                }
                if e & LITERAL != 0 {
                    self.literal(e);
                    return Step::More;
                }
            }
            if e & EXCEPTION != 0 {
                if e & LINK == 0 {
                    return Step::Rare;
                }
                e = linked(&tables.literals, LITERAL_BITS, e, self.bits);
                if e & EXCEPTION != 0 {
                    return Step::Rare;
                }
                self.take(LITERAL_BITS);
                if e & LITERAL != 0 {
                    self.literal(e);
                    return Step::More;
                }
            }
            // 33 bits of literals and 20 of a length are used at most: the 28 of a distance need more
            let length = self.value(e);
            self.fill();
            let mut e = tables.distances[self.bits as usize & ((1 << DISTANCE_BITS) - 1)];
            if e & EXCEPTION != 0 {
                if e & LINK == 0 {
                    return Step::Failed;
                }
                e = linked(&tables.distances, DISTANCE_BITS, e, self.bits);
                if e & EXCEPTION != 0 {
                    return Step::Failed;
                }
                self.take(DISTANCE_BITS);
            }
            let distance = self.value(e);
            if distance > self.out as usize - self.begin as usize {
                return Step::Failed;
            }
            if length <= 8 && length <= distance {
                let word = self.out.sub(distance).cast::<u64>().read_unaligned();
                self.out.cast::<u64>().write_unaligned(word);
            } else {
                copy(self.out, distance, length);
            }
            self.out = self.out.add(length);
            Step::More
        }
    }
}

/// Multiplied with a piece of this many bytes, repeats that piece.
static REPEAT: [u64; 8] = {
    let mut factors = [0; 8];
    let mut distance = 1;
    while distance < 8 {
        let mut at = 0;
        while at < 8 {
            factors[distance] |= 1 << (8 * at);
            at += distance;
        }
        distance += 1;
    }
    factors
};

/// Repeats the bytes `distance` before, up to seven bytes too many.
///
/// # Safety
/// `distance` bytes before `out` and `length + 7` after it are in one buffer, and initialized.
#[cold]
#[inline(never)]
unsafe fn copy(out: *mut u8, distance: usize, length: usize) {
    // SAFETY: guaranteed by the caller
    unsafe {
        let end = out.add(length);
        let (mut from, mut to) = (out.sub(distance).cast_const(), out);
        if distance >= 8 {
            while to < end {
                to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned());
                (from, to) = (from.add(8), to.add(8));
            }
            return;
        }
        // as many whole periods as eight bytes hold
        let piece = u64::from_le(from.cast::<u64>().read_unaligned()) & ((1 << (8 * distance)) - 1);
        let pattern = piece.wrapping_mul(REPEAT[distance]).to_le();
        let period = 8 / distance * distance;
        while to < end {
            to.cast::<u64>().write_unaligned(pattern);
            to = to.add(period);
        }
    }
}

#[inline(always)]
fn turns<T: BlockChain, const RUNS: bool>(a: (&mut Lane<T>, &Tables), b: (&mut Lane<T>, &Tables)) {
    let (mut g, mut h) = (Hot::new(a.0), Hot::new(b.0));
    let (mut first, mut second) = (Step::More, Step::More);
    while g.has_room() & h.has_room() {
        // SAFETY: there is room
        first = unsafe { g.step::<RUNS>(a.1) };
        if first != Step::More {
            break;
        }
        // SAFETY: there is room
        second = unsafe { h.step::<RUNS>(b.1) };
        if second != Step::More {
            break;
        }
    }
    g.put_back(a.0, &first);
    h.put_back(b.0, &second);
}

#[inline(always)]
fn alone<T: BlockChain, const RUNS: bool>(lane: &mut Lane<T>, tables: &Tables) {
    let mut h = Hot::new(lane);
    let mut step = Step::More;
    while h.has_room() && step == Step::More {
        // SAFETY: there is room
        step = unsafe { h.step::<RUNS>(tables) };
    }
    h.put_back(lane, &step);
}

#[inline(always)]
fn any_both<T: BlockChain>(a: (&mut Lane<T>, &Tables), b: (&mut Lane<T>, &Tables)) {
    if a.1.runs && b.1.runs { turns::<T, true>(a, b) } else { turns::<T, false>(a, b) }
}

#[inline(always)]
fn any_one<T: BlockChain>(lane: &mut Lane<T>, tables: &Tables) {
    if tables.runs { alone::<T, true>(lane, tables) } else { alone::<T, false>(lane, tables) }
}

/// Shifts by a variable count take one instruction with BMI2, and leave more registers free.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,lzcnt")]
fn both_bmi2<T: BlockChain>(a: (&mut Lane<T>, &Tables), b: (&mut Lane<T>, &Tables)) {
    any_both(a, b);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,lzcnt")]
fn one_bmi2<T: BlockChain>(lane: &mut Lane<T>, tables: &Tables) {
    any_one(lane, tables);
}

#[cfg(target_arch = "x86_64")]
fn has_bmi2() -> bool {
    is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("lzcnt")
}

/// Advances two lanes until one of them reaches a rare case, or ends.
pub(super) fn both<T: BlockChain>(a: (&mut Lane<T>, &Tables), b: (&mut Lane<T>, &Tables)) {
    #[cfg(target_arch = "x86_64")]
    if has_bmi2() {
        // SAFETY: the processor supports it
        return unsafe { both_bmi2(a, b) };
    }
    any_both(a, b);
}

/// Advances one lane until it reaches a rare case, or ends.
pub(super) fn one<T: BlockChain>(lane: &mut Lane<T>, tables: &Tables) {
    #[cfg(target_arch = "x86_64")]
    if has_bmi2() {
        // SAFETY: the processor supports it
        return unsafe { one_bmi2(lane, tables) };
    }
    any_one(lane, tables);
}
