//! Finds where the bytes of a column repeat those a few items before.

use super::wide;

/// How many distances are compared.
pub(super) const WAYS: usize = 4;
/// The most bytes mapped at a time.
pub(super) const MAPPED: usize = 48 << 10;
/// How far [`Lanes::longest`] sees.
pub(super) const SEEN: usize = 24;

/// Bytes between views.
const STEP: usize = 32;
/// Number of views: a power of two, so that a masked position needs no other check.
const VIEWS: usize = (MAPPED / STEP + 1).next_power_of_two();

/// What can be seen from a byte, one bit for each of 64 bytes. One line of the processor's cache.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct View {
    /// Where three bytes or more repeat, at any of the distances.
    starts: u64,
    /// Which bytes differ from those before, for each distance.
    differ: [u64; WAYS],
}

/// Views of a part of the data.
pub(super) struct Lanes {
    views: Box<[View; VIEWS]>,
}

impl Default for Lanes {
    fn default() -> Self {
        Self { views: Box::new([View::default(); VIEWS]) }
    }
}

impl Lanes {
    /// Maps the bytes from `from` to `to`, at most [`MAPPED`].
    pub(super) fn map(&mut self, data: &[u8], from: usize, to: usize, distances: &[usize; WAYS]) {
        let mut low = distances.map(|distance| equal(data, from, to, distance));
        for (view, at) in self.views.iter_mut().zip((from..=to).step_by(STEP)) {
            let mut starts = 0;
            for (way, &distance) in distances.iter().enumerate() {
                let high = equal(data, at + STEP, to, distance);
                let same = u64::from(low[way]) | u64::from(high) << STEP;
                starts |= same & same >> 1 & same >> 2;
                view.differ[way] = !same;
                low[way] = high;
            }
            view.starts = starts;
        }
    }

    /// Bytes from `at` until a repetition begins; at most [`SEEN`], where none begins within them.
    #[inline(always)]
    pub(super) fn until_start(&self, at: usize) -> usize {
        ((self.view(at).starts >> (at % STEP)) | 1 << SEEN).trailing_zeros() as usize
    }

    /// The longest repetition that begins at `at + skip`, at most 8 after `at`: its distance index, the first of
    /// equals, and its visible length: from [`SEEN`] on it may be longer.
    #[inline(always)]
    pub(super) fn longest(&self, at: usize, skip: usize) -> (usize, usize) {
        let shift = at % STEP + skip;
        let view = self.view(at);
        let [a, b, c, d] = std::array::from_fn(|way| {
            let same = ((view.differ[way] >> shift) | 1 << SEEN).trailing_zeros();
            4 * same + (WAYS - 1 - way) as u32
        });
        let best = a.max(b).max(c.max(d));
        (WAYS - 1 - (best % 4) as usize, (best / 4) as usize)
    }

    #[inline(always)]
    fn view(&self, at: usize) -> &View {
        &self.views[(at / STEP) % VIEWS]
    }
}

/// Which of the [`STEP`] bytes at `at` equal those `distance` before; none before `distance` and from `to` on.
#[inline(always)]
fn equal(data: &[u8], at: usize, to: usize, distance: usize) -> u32 {
    let here = data.get(at..at + STEP).filter(|_| at + STEP <= to);
    let before = at.checked_sub(distance).and_then(|b| data.get(b..b + STEP));
    if let (Some(here), Some(before)) = (here, before)
        && let ([a, b], [c, d]) = (here.as_chunks().0, before.as_chunks().0)
    {
        return u32::from(wide::equal(a, c)) | u32::from(wide::equal(b, d)) << 16;
    }
    let same = |i: usize| i >= distance && i < to && data.get(i) == data.get(i - distance);
    (0..STEP).filter(|i| same(at + i)).fold(0, |bits, i| bits | 1 << i)
}
