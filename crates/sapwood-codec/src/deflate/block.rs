//! Encodes tokens as a block of deflate, in the shortest of its three forms.

use super::bits::Bits;
use super::code::{LONGEST, codes, lengths};
use super::lanes::WAYS;
use super::tokens::{self, KINDS, LENGTHS, PARTS, SHORTEST};

const END: usize = 256;
/// Symbols of literals and lengths, and of distances.
const LITERALS: usize = 286;
const DISTANCES: usize = 30;
/// Symbols of the code that code lengths are written in, and the order in which a block lists them.
const CODE_LENGTHS: usize = 19;
const ORDER: [usize; CODE_LENGTHS] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// A symbol and its extra bits.
#[derive(Clone, Copy, Default)]
struct Symbol {
    number: u16,
    extra: u16,
    extra_bits: u8,
}

/// The symbol of a length (RFC 1951, 3.2.5).
const fn length_symbol(length: usize) -> Symbol {
    let n = (length - SHORTEST) as u16;
    if length == tokens::LONGEST {
        return Symbol { number: 285, extra: 0, extra_bits: 0 };
    }
    if n < 8 {
        return Symbol { number: 257 + n, extra: 0, extra_bits: 0 };
    }
    // four symbols for each power of two
    let bits = n.ilog2() - 2;
    Symbol { number: 257 + 4 * bits as u16 + (n >> bits), extra: n & ((1 << bits) - 1), extra_bits: bits as u8 }
}

/// The symbol of a distance, the same with two for each power of two.
const fn distance_symbol(distance: usize) -> Symbol {
    let n = (distance - 1) as u16;
    if n < 4 {
        return Symbol { number: n, extra: 0, extra_bits: 0 };
    }
    let bits = n.ilog2() - 1;
    Symbol { number: 2 * bits as u16 + (n >> bits), extra: n & ((1 << bits) - 1), extra_bits: bits as u8 }
}

const LENGTH_SYMBOLS: [Symbol; LENGTHS] = {
    let mut all = [Symbol { number: 0, extra: 0, extra_bits: 0 }; LENGTHS];
    let mut i = 0;
    while i < LENGTHS {
        all[i] = length_symbol(i + SHORTEST);
        i += 1;
    }
    all
};

/// Lengths of all codes of a block.
struct Code {
    literals: [u8; LITERALS + 2],
    distances: [u8; DISTANCES],
}

impl Code {
    /// The code of blocks without their own.
    const FIXED: Code = {
        let mut literals = [8; LITERALS + 2];
        let mut i = 144;
        while i < 280 {
            literals[i] = if i < 256 { 9 } else { 7 };
            i += 1;
        }
        Code { literals, distances: [5; DISTANCES] }
    };
}

/// How often each symbol occurs in a block, and the total of extra bits.
struct Census {
    literals: [u32; LITERALS],
    distances: [u32; DISTANCES],
    extra_bits: u64,
}

impl Census {
    fn take(counts: &[u32; TABLE], distances: &[usize; WAYS]) -> Self {
        let mut census = Self { literals: [0; LITERALS], distances: [0; DISTANCES], extra_bits: 0 };
        census.literals[..256].copy_from_slice(&counts[..256]);
        census.literals[END] = 1;
        for (ways, &distance) in counts[256..KINDS].chunks_exact(LENGTHS).zip(distances) {
            let far = distance_symbol(distance);
            for (&count, length) in ways.iter().zip(&LENGTH_SYMBOLS).filter(|(count, _)| **count > 0) {
                census.literals[usize::from(length.number)] += count;
                census.distances[usize::from(far.number)] += count;
                census.extra_bits += u64::from(count) * u64::from(length.extra_bits + far.extra_bits);
            }
        }
        census
    }

    /// Bits of the block's body in this code.
    fn bits(&self, code: &Code) -> u64 {
        let sum = |counts: &[u32], lengths: &[u8]| -> u64 {
            counts.iter().zip(lengths).map(|(&c, &l)| u64::from(c) * u64::from(l)).sum()
        };
        sum(&self.literals, &code.literals) + sum(&self.distances, &code.distances) + self.extra_bits
    }
}

/// How a block will be written.
pub(super) struct Plan {
    code: Code,
    header: Header,
    /// Bits in its own code, and in the one that needs no header.
    own: u64,
    fixed: u64,
    /// Bits of a literal, on average.
    pub(super) literal_bits: f32,
    /// Bits in its own code, without the description of that code.
    pub(super) body: u64,
}

impl Plan {
    /// Bits that it takes.
    pub(super) fn bits(&self) -> u64 {
        self.own.min(self.fixed)
    }
}

/// Writes blocks; keeps its tables.
pub(super) struct Coder {
    counts: Box<[[u32; TABLE]; 4]>,
    /// The bits of each token, and below them, in eight bits, their number.
    table: Box<[u64; TABLE]>,
}

/// Size of a table of all tokens: a power of two, so that a masked position needs no other check.
const TABLE: usize = KINDS.next_power_of_two();
/// The most bits between two flushes.
const BITS: u32 = 56;

impl Default for Coder {
    fn default() -> Self {
        Self { counts: Box::new([[0; TABLE]; 4]), table: Box::new([0; TABLE]) }
    }
}

impl Coder {
    /// Chooses a code for these tokens. Bytes are tokens, too: literals.
    pub(super) fn plan<T: Copy>(&mut self, tokens: [&[T]; PARTS], distances: &[usize; WAYS]) -> Plan
    where
        usize: From<T>,
    {
        self.count(tokens);
        let census = Census::take(&self.counts[0], distances);
        let mut code = Code { literals: [0; LITERALS + 2], distances: [0; DISTANCES] };
        lengths(&census.literals, LONGEST, &mut code.literals[..LITERALS]);
        lengths(&census.distances, LONGEST, &mut code.distances);
        let header = Header::of(&code);
        let literals = census.literals[..256].iter().sum::<u32>().max(1);
        let literal_bits: u64 =
            census.literals[..256].iter().zip(&code.literals).map(|(&c, &l)| u64::from(c) * u64::from(l)).sum();
        let literal_bits = literal_bits as f32 / literals as f32;
        let (body, fixed) = (census.bits(&code), census.bits(&Code::FIXED));
        Plan { literal_bits, own: header.bits() + body, fixed, code, header, body }
    }

    /// Writes the last planned tokens, which represent `bytes`, as one block. `None`, with nothing written, where there
    /// is not enough room.
    pub(super) fn write<T: Copy>(
        &mut self,
        plan: &Plan,
        tokens: [&[T]; PARTS],
        bytes: &[u8],
        distances: &[usize; WAYS],
        last: bool,
        bits: &mut Bits<'_>,
    ) -> Option<()>
    where
        usize: From<T>,
    {
        let stored = 8 * (bytes.len() as u64 + 5 * bytes.len().div_ceil(STORED).max(1) as u64);
        if !bits.fits(3 + plan.bits().min(stored)) {
            return None;
        }
        let last = u64::from(last);
        if stored < plan.bits() {
            store(bytes, last, bits);
        } else if plan.fixed <= plan.own {
            bits.put(last | 1 << 1, 3);
            self.body(tokens, distances, &Code::FIXED, bits);
        } else {
            bits.put(last | 2 << 1, 3);
            plan.header.write(bits);
            self.body(tokens, distances, &plan.code, bits);
        }
        Some(())
    }

    /// Counts the tokens, into the first of the tables; the second takes every other one, so that a run of one token
    /// does not wait for itself.
    fn count<T: Copy>(&mut self, tokens: [&[T]; PARTS])
    where
        usize: From<T>,
    {
        for counts in self.counts.iter_mut() {
            counts.fill(0);
        }
        let [a, b, c, d] = &mut *self.counts;
        for tokens in tokens {
            let (fours, rest) = tokens.as_chunks::<4>();
            for four in fours {
                a[usize::from(four[0]) % TABLE] += 1;
                b[usize::from(four[1]) % TABLE] += 1;
                c[usize::from(four[2]) % TABLE] += 1;
                d[usize::from(four[3]) % TABLE] += 1;
            }
            for token in rest {
                a[usize::from(*token) % TABLE] += 1;
            }
        }
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            *a += *b + *c + *d;
        }
    }

    fn body<T: Copy>(&mut self, tokens: [&[T]; PARTS], distances: &[usize; WAYS], code: &Code, bits: &mut Bits<'_>)
    where
        usize: From<T>,
    {
        let longest = self.fill_table(distances, code);
        // as many tokens between two flushes as always fit
        match BITS / longest.max(1) {
            0 | 1 => self.translate::<1, T>(tokens, bits),
            2 => self.translate::<2, T>(tokens, bits),
            3 => self.translate::<3, T>(tokens, bits),
            _ => self.translate::<4, T>(tokens, bits),
        }
        let mut all = [0; LITERALS + 2];
        codes(&code.literals, &mut all);
        bits.put(u64::from(all[END]), u32::from(code.literals[END]));
    }

    fn translate<const N: usize, T: Copy>(&self, tokens: [&[T]; PARTS], to: &mut Bits<'_>)
    where
        usize: From<T>,
    {
        // a copy, whose parts stay in registers
        let mut bits = to.take();
        for tokens in tokens {
            let (groups, rest) = tokens.as_chunks::<N>();
            for group in groups {
                for token in group {
                    let e = self.table[usize::from(*token) % TABLE];
                    bits.add(e >> 8, e as u32 & 63);
                }
                bits.flush();
            }
            for token in rest {
                let e = self.table[usize::from(*token) % TABLE];
                bits.put(e >> 8, e as u32 & 63);
            }
        }
        *to = bits;
    }

    /// The bits of each occurring token in this code; returns the most bits of any.
    fn fill_table(&mut self, distances: &[usize; WAYS], code: &Code) -> u32 {
        let mut literals = [0; LITERALS + 2];
        codes(&code.literals, &mut literals);
        let mut far = [0; DISTANCES];
        codes(&code.distances, &mut far);
        let mut longest = 0;
        let mut enter = |place: &mut u64, bits: u64, count: u32| {
            *place = bits << 8 | u64::from(count);
            longest = longest.max(count);
        };
        let counts = &self.counts[0];
        for byte in (0..256).filter(|&byte| counts[byte] > 0) {
            enter(&mut self.table[byte], u64::from(literals[byte]), u32::from(code.literals[byte]));
        }
        let ways = self.table[256..KINDS].chunks_exact_mut(LENGTHS).zip(counts[256..KINDS].chunks_exact(LENGTHS));
        for ((places, counts), &distance) in ways.zip(distances) {
            let d = distance_symbol(distance);
            let (d_bits, d_len) =
                (u64::from(far[usize::from(d.number)]), u32::from(code.distances[usize::from(d.number)]));
            let behind = d_bits | u64::from(d.extra) << d_len;
            let behind_len = d_len + u32::from(d.extra_bits);
            for ((place, _), length) in
                places.iter_mut().zip(counts).zip(&LENGTH_SYMBOLS).filter(|((_, count), _)| **count > 0)
            {
                let (symbol, len) = (usize::from(length.number), u32::from(code.literals[usize::from(length.number)]));
                let bits = u64::from(literals[symbol]) | u64::from(length.extra) << len;
                let len = len + u32::from(length.extra_bits);
                enter(place, bits | behind << len, len + behind_len);
            }
        }
        longest
    }
}

/// The most bytes of a stored block.
const STORED: usize = 0xffff;

fn store(bytes: &[u8], last: u64, bits: &mut Bits<'_>) {
    let mut parts = bytes.chunks(STORED).peekable();
    while let Some(part) = parts.next() {
        bits.put(if parts.peek().is_none() { last } else { 0 }, 3);
        bits.align();
        let len = part.len() as u64;
        bits.put(len | (len ^ 0xffff) << 16, 32);
        bits.bytes(part);
    }
}

/// The lengths of a block's codes, as the block lists them.
struct Header {
    literals: usize,
    distances: usize,
    /// Symbols of the lengths' own code with their extra bits.
    symbols: [(u8, u8); LITERALS + DISTANCES],
    len: usize,
    lengths: [u8; CODE_LENGTHS],
    listed: usize,
}

impl Header {
    fn of(code: &Code) -> Self {
        let used =
            |lengths: &[u8], least: usize| lengths.iter().rposition(|&l| l > 0).map_or(least, |i| least.max(i + 1));
        let (literals, distances) = (used(&code.literals[..LITERALS], 257), used(&code.distances, 1));
        let mut symbols = [(0, 0); LITERALS + DISTANCES];
        let mut len = 0;
        let mut push = |symbol: u8, extra: usize| {
            symbols[len] = (symbol, extra as u8);
            len += 1;
        };
        let mut all = [0; LITERALS + DISTANCES];
        all[..literals].copy_from_slice(&code.literals[..literals]);
        all[literals..literals + distances].copy_from_slice(&code.distances[..distances]);
        for run in all[..literals + distances].chunk_by(|a, b| a == b) {
            let (symbol, mut left) = (run[0], run.len());
            if symbol == 0 {
                while left >= 11 {
                    let n = left.min(138);
                    push(18, n - 11);
                    left -= n;
                }
                if left >= 3 {
                    push(17, left - 3);
                    left = 0;
                }
            } else {
                push(symbol, 0);
                left -= 1;
                while left >= 3 {
                    let n = left.min(6);
                    push(16, n - 3);
                    left -= n;
                }
            }
            for _ in 0..left {
                push(symbol, 0);
            }
        }
        let mut counts = [0; CODE_LENGTHS];
        for (symbol, _) in &symbols[..len] {
            counts[usize::from(*symbol)] += 1;
        }
        let mut own = [0; CODE_LENGTHS];
        lengths(&counts, 7, &mut own);
        let listed = ORDER.iter().rposition(|&s| own[s] > 0).map_or(4, |i| 4.max(i + 1));
        Self { literals, distances, symbols, len, lengths: own, listed }
    }

    fn bits(&self) -> u64 {
        let each =
            |(symbol, _): &(u8, u8)| u64::from(self.lengths[usize::from(*symbol)]) + u64::from(extra_bits(*symbol));
        5 + 5 + 4 + 3 * self.listed as u64 + self.symbols[..self.len].iter().map(each).sum::<u64>()
    }

    fn write(&self, bits: &mut Bits<'_>) {
        bits.put((self.literals - 257) as u64, 5);
        bits.put((self.distances - 1) as u64, 5);
        bits.put((self.listed - 4) as u64, 4);
        for &symbol in &ORDER[..self.listed] {
            bits.put(u64::from(self.lengths[symbol]), 3);
        }
        let mut all = [0; CODE_LENGTHS];
        codes(&self.lengths, &mut all);
        for &(symbol, extra) in &self.symbols[..self.len] {
            let (code, len) = (all[usize::from(symbol)], u32::from(self.lengths[usize::from(symbol)]));
            bits.put(u64::from(code) | u64::from(extra) << len, len + extra_bits(symbol));
        }
    }
}

/// Extra bits of a symbol of the code of lengths: how often it is repeated.
const fn extra_bits(symbol: u8) -> u32 {
    match symbol {
        16 => 2,
        17 => 3,
        18 => 7,
        _ => 0,
    }
}
