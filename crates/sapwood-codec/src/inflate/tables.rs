//! Decoding tables of one block (RFC 1951, 3.2): the meaning of the next bits of the stream.
//!
//! An entry is found with the next [`LITERAL_BITS`] or [`DISTANCE_BITS`] bits. Its fields:
//!
//! | bits | meaning |
//! |---|---|
//! | 0-7 | bits to take: the code and the extra bits behind it |
//! | 8-12 | bits of the code alone; of a link, bits that the second table is indexed with |
//! | 13 | [`END`]: end of the block |
//! | 14 | [`LINK`]: a code too long for the table, see the second table at 16-30 |
//! | 15 | [`EXCEPTION`]: not a literal, length or distance; one of the two above, or no code at all |
//! | 16-30 | the literal, or the length or distance to which the extra bits are added |
//! | 31 | [`LITERAL`] |

pub(super) const LITERAL_BITS: u32 = 11;
pub(super) const DISTANCE_BITS: u32 = 8;
const LENGTHS_BITS: u32 = 7;

pub(super) const LITERAL: u32 = 1 << 31;
pub(super) const EXCEPTION: u32 = 1 << 15;
pub(super) const LINK: u32 = 1 << 14;
pub(super) const END: u32 = 1 << 13;

/// Symbols for literals and lengths, with the two that no stream may use.
pub(super) const LITERAL_SYMBOLS: usize = 288;
/// Symbols for distances, with the two that no stream may use.
pub(super) const DISTANCE_SYMBOLS: usize = 32;
/// Symbols for the lengths of the codes.
pub(super) const LENGTHS_SYMBOLS: usize = 19;
/// The longest code.
const LONGEST: usize = 15;

/// 288 codes of up to 15 bits need 2342 entries at most with 11 bits at first.
const LITERAL_ENTRIES: usize = 1 << (LITERAL_BITS + 1);
/// 32 codes of up to 15 bits need 402 entries at most with 8 bits at first.
const DISTANCE_ENTRIES: usize = 1 << (DISTANCE_BITS + 1);

const LENGTH_BASE: [u16; 29] =
    [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const DISTANCE_BASE: [u16; 30] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
    8193, 12289, 16385, 24577,
];

const fn literal_values() -> [u32; LITERAL_SYMBOLS] {
    let mut v = [EXCEPTION; LITERAL_SYMBOLS];
    let mut i = 0;
    while i < 256 {
        v[i] = LITERAL | (i as u32) << 16;
        i += 1;
    }
    v[256] = EXCEPTION | END;
    i = 0;
    while i < LENGTH_BASE.len() {
        let extra = if i < 8 || i == 28 { 0 } else { i as u32 / 4 - 1 };
        v[257 + i] = (LENGTH_BASE[i] as u32) << 16 | extra;
        i += 1;
    }
    v
}

const fn distance_values() -> [u32; DISTANCE_SYMBOLS] {
    let mut v = [EXCEPTION; DISTANCE_SYMBOLS];
    let mut i = 0;
    while i < DISTANCE_BASE.len() {
        let extra = if i < 4 { 0 } else { i as u32 / 2 - 1 };
        v[i] = (DISTANCE_BASE[i] as u32) << 16 | extra;
        i += 1;
    }
    v
}

const fn plain_values() -> [u32; LENGTHS_SYMBOLS] {
    let mut v = [0; LENGTHS_SYMBOLS];
    let mut i = 0;
    while i < LENGTHS_SYMBOLS {
        v[i] = (i as u32) << 16;
        i += 1;
    }
    v
}

static LITERAL_VALUES: [u32; LITERAL_SYMBOLS] = literal_values();
static DISTANCE_VALUES: [u32; DISTANCE_SYMBOLS] = distance_values();
static PLAIN_VALUES: [u32; LENGTHS_SYMBOLS] = plain_values();

/// The tables of the block that is being decoded.
pub(super) struct Tables {
    pub literals: [u32; LITERAL_ENTRIES],
    pub distances: [u32; DISTANCE_ENTRIES],
    /// Literals are much more frequent than lengths.
    pub runs: bool,
    lengths: [u32; 1 << LENGTHS_BITS],
    order: [u16; LITERAL_SYMBOLS],
}

impl Tables {
    pub(super) fn new() -> Self {
        Self {
            literals: [0; LITERAL_ENTRIES],
            distances: [0; DISTANCE_ENTRIES],
            runs: false,
            lengths: [0; 1 << LENGTHS_BITS],
            order: [0; LITERAL_SYMBOLS],
        }
    }

    /// For the codes in a block's header; false where these lengths make no code.
    pub(super) fn set_lengths(&mut self, lengths: &[u8]) -> bool {
        build(&mut self.lengths, LENGTHS_BITS, lengths, &PLAIN_VALUES, &mut self.order)
    }

    /// The meaning of a header's next bits: the symbol and how many bits to take.
    pub(super) fn length_symbol(&self, bits: u64) -> Option<(u32, u32)> {
        let e = self.lengths[bits as usize % self.lengths.len()];
        (e & EXCEPTION == 0).then_some((e >> 16, e & 15))
    }

    /// For the symbols of a block; false where these lengths make no code.
    pub(super) fn set_block(&mut self, literals: &[u8], distances: &[u8]) -> bool {
        // a code of n bits occurs once in 2^n symbols
        let share: u32 =
            literals.iter().take(256).filter(|&&l| l > 0).map(|&l| 1 << (LONGEST - usize::from(l & 15))).sum();
        self.runs = share > 7 << (LONGEST - 3);
        build(&mut self.literals, LITERAL_BITS, literals, &LITERAL_VALUES, &mut self.order)
            && build(&mut self.distances, DISTANCE_BITS, distances, &DISTANCE_VALUES, &mut self.order)
    }

    /// The entry of the next bits for literals and lengths, and how many bits led to its table.
    pub(super) fn literal(&self, bits: u64) -> (u32, u32) {
        follow(&self.literals, LITERAL_BITS, bits)
    }

    /// The same for distances.
    pub(super) fn distance(&self, bits: u64) -> (u32, u32) {
        follow(&self.distances, DISTANCE_BITS, bits)
    }
}

/// Looks up bits, through a link where there is one.
#[inline(always)]
fn follow(table: &[u32], first: u32, bits: u64) -> (u32, u32) {
    let e = table.get(bits as usize & ((1 << first) - 1)).copied().unwrap_or(EXCEPTION);
    if e & EXCEPTION == 0 || e & LINK == 0 { (e, 0) } else { (linked(table, first, e, bits), first) }
}

/// The entry that a link leads to.
#[inline(always)]
pub(super) fn linked(table: &[u32], first: u32, link: u32, bits: u64) -> u32 {
    let within = (bits >> first) & ((1 << (link >> 8 & 15)) - 1);
    table.get((link >> 16 & 0x7fff) as usize + within as usize).copied().unwrap_or(EXCEPTION)
}

#[inline(always)]
fn entry(value: u32, length: u32) -> u32 {
    // both counts grow by the code's length
    value + (length | length << 8)
}

/// The next code of `length` bits after this one, both with their first bit lowest; none after the last.
#[inline(always)]
fn behind(code: u32, length: u32) -> Option<u32> {
    let zeros = code ^ ((1 << length) - 1);
    let top = 1 << zeros.checked_ilog2()?;
    Some(code & (top - 1) | top)
}

/// Fills a table for codes of these lengths; false where they make no complete code.
///
/// Codes are processed in order, shortest first: the table for n bits is copied to become that for n + 1.
fn build(table: &mut [u32], bits: u32, lengths: &[u8], values: &[u32], order: &mut [u16]) -> bool {
    let mut counts = [0u16; LONGEST + 1];
    for &l in lengths {
        counts[usize::from(l & 15)] += 1;
    }
    counts[0] = 0;
    let mut places = [0u16; LONGEST + 2];
    let mut space = 0u32;
    for l in 1..=LONGEST {
        places[l + 1] = places[l] + counts[l];
        space = (space << 1) + u32::from(counts[l]);
    }
    let used = usize::from(places[LONGEST + 1]);
    for (symbol, &l) in lengths.iter().enumerate() {
        if l > 0 {
            let place = &mut places[usize::from(l & 15)];
            order[usize::from(*place)] = symbol as u16;
            *place += 1;
        }
    }
    let mut sorted = order[..used].iter().map(|&s| values.get(usize::from(s)).copied().unwrap_or(EXCEPTION));
    let primary = 1usize << bits;
    if space != 1 << LONGEST {
        // a single code of one bit, or none, may leave the rest of the space unused
        if used > 1 || used != usize::from(counts[1]) {
            return false;
        }
        table[..primary].fill(EXCEPTION);
        if let Some(value) = sorted.next() {
            table[..primary].iter_mut().step_by(2).for_each(|t| *t = entry(value, 1));
        }
        return true;
    }
    let (mut code, mut length) = (0, 1);
    let mut size = 2;
    let (mut start, mut second) = (primary, 0);
    let mut prefix = usize::MAX;
    let mut left = counts[1];
    for value in sorted {
        while left == 0 {
            length += 1;
            left = counts[length as usize & 15];
            if length <= bits {
                table.copy_within(..size, size);
                size *= 2;
            }
        }
        if length <= bits {
            table[code as usize] = entry(value, length);
        } else {
            if prefix != code as usize % primary {
                prefix = code as usize % primary;
                start += if second == 0 { 0 } else { 1 << second };
                second = length - bits;
                // as many bits as the codes with this beginning have
                let mut room = u32::from(left);
                while room < 1 << second {
                    second += 1;
                    room = (room << 1) + u32::from(counts[(bits + second) as usize & 15]);
                }
                if start + (1 << second) > table.len() {
                    return false;
                }
                table[prefix] = EXCEPTION | LINK | (start as u32) << 16 | second << 8;
            }
            let places = table[start..start + (1 << second)].iter_mut().skip((code >> bits) as usize);
            places.step_by(1 << (length - bits)).for_each(|t| *t = entry(value, length - bits));
        }
        left -= 1;
        match behind(code, length) {
            Some(next) => code = next,
            None => break,
        }
    }
    while size < primary {
        table.copy_within(..size, size);
        size *= 2;
    }
    true
}
