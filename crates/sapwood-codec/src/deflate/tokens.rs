//! Splits bytes into tokens: literals, and repetitions at one of a few distances.

use super::lanes::{Lanes, MAPPED, SEEN, WAYS};
use super::wide::widen;
use std::ops::Range;

/// The shortest and the longest repetition of deflate.
pub(super) const SHORTEST: usize = 3;
pub(super) const LONGEST: usize = 258;
/// Lengths that a repetition can have.
pub(super) const LENGTHS: usize = LONGEST - SHORTEST + 1;
/// Distinct tokens: a literal's byte, or 256 + way · LENGTHS + length - SHORTEST.
pub(super) const KINDS: usize = 256 + WAYS * LENGTHS;

/// Literals that are copied without checking how many there are.
const AT_ONCE: usize = 8;
/// Room for tokens: a power of two, so that a masked position needs no other check.
const PLACES: usize = MAPPED.next_power_of_two();

type Tokens = [u16; PLACES + AT_ONCE];

/// A part of the data, split into tokens.
pub(super) struct Cutter {
    lanes: Lanes,
    tokens: Box<Tokens>,
    n: usize,
}

/// How far a part is processed: the first byte that is not, and the tokens so far. Passed by value, to stay in
/// registers.
#[derive(Clone, Copy)]
struct Cut {
    at: usize,
    n: usize,
}

impl Default for Cutter {
    fn default() -> Self {
        Self { lanes: Lanes::default(), tokens: Box::new([0; PLACES + AT_ONCE]), n: 0 }
    }
}

/// Parts that are processed alternately.
pub(super) const PARTS: usize = 2;

/// Processes the bytes from `from` to `to`, at most [`MAPPED`] for each part, each part separately.
///
/// The end of a token determines the start of the next one, so that most of the time would be waiting; the parts are
/// processed alternately, and wait together.
pub(super) fn cut(parts: &mut [Cutter; PARTS], data: &[u8], from: usize, to: usize, distances: &[usize; WAYS]) {
    let size = ((to - from) / PARTS).next_multiple_of(64);
    let begin: [usize; PARTS] = std::array::from_fn(|i| to.min(from + i * size));
    let end: [usize; PARTS] = std::array::from_fn(|i| if i + 1 < PARTS { begin[i + 1] } else { to });
    let mut cuts = begin.map(|at| Cut { at, n: 0 });
    for (i, part) in parts.iter_mut().enumerate() {
        part.lanes.map(data, begin[i], end[i], distances);
    }
    let more = |cut: &Cut, end: usize| cut.at + SHORTEST <= end;
    while (0..PARTS).all(|i| more(&cuts[i], end[i])) {
        for i in 0..PARTS {
            let part = &mut parts[i];
            cuts[i] = step(&part.lanes, &mut part.tokens, data, cuts[i], begin[i]..end[i], distances);
        }
    }
    for (i, part) in parts.iter_mut().enumerate() {
        let mut cut = cuts[i];
        while more(&cut, end[i]) {
            cut = step(&part.lanes, &mut part.tokens, data, cut, begin[i]..end[i], distances);
        }
        part.n = literals(&mut part.tokens, data, cut, end[i] - cut.at, end[i]).n;
    }
}

impl Cutter {
    /// The tokens.
    pub(super) fn tokens(&self) -> &[u16] {
        self.tokens.get(..self.n).unwrap_or_default()
    }
}

/// Takes some literals, perhaps none, and the repetition after them, if there is one.
#[inline(always)]
fn step(
    lanes: &Lanes,
    tokens: &mut Tokens,
    data: &[u8],
    mut cut: Cut,
    part: Range<usize>,
    distances: &[usize; WAYS],
) -> Cut {
    let place = cut.at - part.start;
    let literals = lanes.until_start(place);
    let n = cut.n & (PLACES - 1);
    let bytes = data.get(cut.at..cut.at + AT_ONCE).and_then(|b| b.as_array());
    let places = tokens[n..n + AT_ONCE].as_mut_array();
    let (Some(bytes), Some(places), true) = (bytes, places, literals <= AT_ONCE) else {
        return slow_step(lanes, tokens, data, cut, part, distances);
    };
    widen(bytes, places);
    cut.n += literals;
    cut.at += literals;
    let (way, same) = lanes.longest(place, literals);
    repetition(tokens, data, cut, part.end, way, same, distances)
}

/// The same where there are many literals, or few bytes.
#[inline(never)]
fn slow_step(
    lanes: &Lanes,
    tokens: &mut Tokens,
    data: &[u8],
    cut: Cut,
    part: Range<usize>,
    distances: &[usize; WAYS],
) -> Cut {
    let cut = literals(tokens, data, cut, lanes.until_start(cut.at - part.start), part.end);
    let (way, same) = lanes.longest(cut.at - part.start, 0);
    if same < SHORTEST { cut } else { repetition(tokens, data, cut, part.end, way, same, distances) }
}

/// Takes a repetition.
#[inline(always)]
fn repetition(
    tokens: &mut Tokens,
    data: &[u8],
    cut: Cut,
    to: usize,
    way: usize,
    mut same: usize,
    distances: &[usize; WAYS],
) -> Cut {
    if same >= SEEN {
        same = longer(data, cut.at, to, distances[way]);
    }
    tokens[cut.n & (PLACES - 1)] = (256 + way * LENGTHS + same - SHORTEST) as u16;
    Cut { at: cut.at + same, n: cut.n + 1 }
}

/// Takes this many literals, or as many as there are.
fn literals(tokens: &mut Tokens, data: &[u8], cut: Cut, literals: usize, to: usize) -> Cut {
    let bytes = data.get(cut.at..to.min(cut.at + literals)).unwrap_or_default();
    for (token, byte) in tokens.get_mut(cut.n..).unwrap_or_default().iter_mut().zip(bytes) {
        *token = u16::from(*byte);
    }
    Cut { at: cut.at + bytes.len(), n: cut.n + bytes.len() }
}

/// How many bytes repeat up to `to`, at most [`LONGEST`].
#[inline(never)]
fn longer(data: &[u8], at: usize, to: usize, distance: usize) -> usize {
    let here = data.get(at..to.min(at + LONGEST)).unwrap_or_default();
    let before = data.get(at - distance..).unwrap_or_default();
    let (a, b) = (here.as_chunks::<8>().0, before.as_chunks::<8>().0);
    let whole = a.iter().zip(b).take_while(|(a, b)| a == b).count() * 8;
    let rest = here.iter().zip(before).skip(whole);
    whole + rest.take_while(|(a, b)| a == b).count()
}
