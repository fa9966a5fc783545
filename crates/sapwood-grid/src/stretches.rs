//! What a cache has of two parts of consecutive files, as stretches of files of which it has the same. Jobs read consecutive files, so that
//! there are few stretches where there are many files.

use sapwood_pages::prefetch;
use std::num::NonZeroU32;

/// Files of a chunk.
pub(crate) const FILES: usize = 64;

/// Bytes of a part, and the second in which it was used last; no bytes: not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) bytes: u32,
    pub(crate) used: u32,
}

/// Two parts of a file.
pub(crate) type Pair = [Unit; 2];

/// Consecutive files of a chunk, of which the same is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) pair: Pair,
    pub(crate) begin: u8,
    pub(crate) end: u8,
}

/// A stretch as it is kept. Both parts were used at the same time, and their bytes are a kind that the cache has often; else its pair is
/// elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packed {
    /// When it was used last; or where its pair is.
    word: u32,
    /// The number of the kind, or [`ELSEWHERE`].
    number: u16,
    begin: u8,
    end: u8,
}

const ELSEWHERE: u16 = u16::MAX;

/// The stretches of one chunk, in the order of their files. In most chunks there is one, which is kept here. One without files stands for
/// more: it has the beginning of their list in the place of the time, and their number in that of the kind. If that is 0, the chunk is
/// empty. An enumeration would take four bytes more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk(Packed);

impl Chunk {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.end == 0 && self.0.number == 0
    }

    pub(crate) fn many(begin: u32, count: usize) -> Self {
        Self(Packed { word: begin, number: count as u16, begin: 0, end: 0 })
    }

    /// Where its list begins, and how many stretches it has.
    fn list(&self) -> Option<(u32, usize)> {
        let Packed { word: begin, number: count, end, .. } = self.0;
        (end == 0 && count > 0).then_some((begin, count.into()))
    }

    /// Its stretches, of which all lists are `lists`.
    fn packed<'a>(&'a self, lists: &'a [Packed]) -> &'a [Packed] {
        match self.list() {
            Some((begin, count)) => lists.get(begin as usize..begin as usize + count).unwrap_or_default(),
            None if self.is_empty() => &[],
            None => std::slice::from_ref(&self.0),
        }
    }
}

/// What stretches have.
#[derive(Clone, Debug, Default)]
struct Pairs {
    /// Bytes that many stretches have.
    kinds: [[u32; 2]; KINDS],
    count: u16,
    /// Pairs of the other stretches, and which of these places are free.
    elsewhere: Vec<Pair>,
    free: Vec<u32>,
}

/// More would be another line of the processor's cache.
const KINDS: usize = 8;

impl Pairs {
    fn pack(&mut self, stretch: &Stretch) -> Packed {
        let Stretch { pair, begin, end } = *stretch;
        let [a, b] = pair;
        let together = a.used == b.used || a.bytes == 0 || b.bytes == 0;
        let kind = together.then(|| self.kind(pair.map(|unit| unit.bytes))).flatten();
        let (word, number) = match kind {
            Some(number) => (a.used.max(b.used), number),
            None => (self.put(pair), ELSEWHERE),
        };
        Packed { word, number, begin, end }
    }

    fn stretch(&self, packed: &Packed) -> Stretch {
        let &Packed { word, number, begin, end } = packed;
        let pair = if number == ELSEWHERE {
            self.elsewhere.get(word as usize).copied().unwrap_or_default()
        } else {
            let bytes = self.kinds.get(usize::from(number)).copied().unwrap_or_default();
            bytes.map(|bytes| Unit { bytes, used: if bytes > 0 { word } else { 0 } })
        };
        Stretch { pair, begin, end }
    }

    /// The number of a kind; none, if there are too many.
    fn kind(&mut self, kind: [u32; 2]) -> Option<u16> {
        let known = self.kinds.iter().take(self.count.into()).position(|known| *known == kind);
        if let Some(number) = known {
            return Some(number as u16);
        }
        *self.kinds.get_mut(usize::from(self.count))? = kind;
        self.count += 1;
        Some(self.count - 1)
    }

    fn put(&mut self, pair: Pair) -> u32 {
        let at = self.free.pop().unwrap_or_else(|| {
            self.elsewhere.push(Pair::default());
            self.elsewhere.len() as u32 - 1
        });
        self.elsewhere[at as usize] = pair;
        at
    }

    /// A stretch is not kept any more.
    fn forget(&mut self, packed: &Packed) {
        if packed.number == ELSEWHERE {
            self.free.push(packed.word);
        }
    }
}

/// The stretches of a chunk while they are changed: how many at its beginning stay as they are, new ones, and how many at its end stay.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    front: usize,
    stretches: [Stretch; FILES],
    count: usize,
    back: usize,
}

impl Default for Draft {
    fn default() -> Self {
        Self { front: 0, stretches: [Stretch::default(); FILES], count: 0, back: 0 }
    }
}

impl Draft {
    /// The stretches before are followed by this one, which may be one with the last of them.
    pub(crate) fn push(&mut self, mut new: Stretch) {
        for unit in &mut new.pair {
            if unit.bytes == 0 {
                // when what is not there was used does not matter
                unit.used = 0;
            }
        }
        if new.begin >= new.end || new.pair == Pair::default() {
            return;
        }
        if let Some(last) = self.count.checked_sub(1).and_then(|last| self.stretches.get_mut(last))
            && last.end == new.begin
            && last.pair == new.pair
        {
            last.end = new.end;
        } else if let Some(slot) = self.stretches.get_mut(self.count) {
            *slot = new;
            self.count += 1;
        }
    }

    fn pushed(&self) -> &[Stretch] {
        self.stretches.get(..self.count).unwrap_or_default()
    }
}

/// Lists of stretches beside each other, each with room for a power of two. So they are in large pages, and found without a look
/// elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    all: Vec<Packed>,
    pairs: Pairs,
    /// By the power of two: where there is room for that many. The beginning of the next such room is at that place.
    free: [Option<NonZeroU32>; POWERS],
}

/// Powers of two that lists may have: a chunk has one stretch for each file at most.
const POWERS: usize = FILES.ilog2() as usize + 1;

impl Lists {
    fn packed<'a>(&'a self, chunk: &'a Chunk) -> &'a [Packed] {
        chunk.packed(&self.all)
    }

    /// The stretches of a chunk.
    pub(crate) fn of<'a>(&'a self, chunk: &'a Chunk) -> impl ExactSizeIterator<Item = Stretch> {
        self.packed(chunk).iter().map(|packed| self.pairs.stretch(packed))
    }

    /// What there is of one file.
    pub(crate) fn pair(&self, chunk: &Chunk, file: u8) -> Pair {
        let stretches = self.packed(chunk);
        let at = stretches.partition_point(|stretch| stretch.end <= file);
        let found = stretches.get(at).filter(|stretch| stretch.begin <= file);
        found.map_or(Pair::default(), |found| self.pairs.stretch(found).pair)
    }

    /// The list of a chunk will be needed soon.
    pub(crate) fn prefetch(&self, chunk: &Chunk) {
        // in each line of the processor's cache there are eight
        self.packed(chunk).iter().step_by(8).for_each(prefetch);
    }

    /// Changes files of a chunk, in their order: `how` gets the number of each in the chunk, and what there is of it.
    pub(crate) fn change(
        &self,
        chunk: &Chunk,
        files: std::ops::Range<u8>,
        draft: &mut Draft,
        mut how: impl FnMut(u8, &mut Pair),
    ) {
        let before = self.packed(chunk);
        let (done, rest) = before.split_at(before.iter().take_while(|stretch| stretch.end <= files.start).count());
        // the last one may be one with what follows
        (draft.front, draft.count) = (done.len().saturating_sub(1), 0);
        done.iter().skip(draft.front).for_each(|packed| draft.push(self.pairs.stretch(packed)));
        let mut rest = rest.iter().map(|packed| self.pairs.stretch(packed));
        let mut here = rest.next();
        if let Some(stretch) = here {
            draft.push(Stretch { end: stretch.end.min(files.start), ..stretch });
        }
        for file in files.clone() {
            while here.is_some_and(|stretch| stretch.end <= file) {
                here = rest.next();
            }
            let mut pair = here.filter(|stretch| stretch.begin <= file).map_or(Pair::default(), |stretch| stretch.pair);
            how(file, &mut pair);
            draft.push(Stretch { pair, begin: file, end: file + 1 });
        }
        // what is left of the one at the end, and the next one, may be one with what is before
        if let Some(stretch) = here {
            draft.push(Stretch { begin: stretch.begin.max(files.end), ..stretch });
        }
        if let Some(next) = rest.next() {
            draft.push(next);
        }
        draft.back = rest.len();
    }

    /// A chunk as the draft of it says.
    pub(crate) fn keep(&mut self, chunk: Chunk, draft: &Draft) -> Chunk {
        let &Draft { front, count, back, .. } = draft;
        let after = front + count + back;
        let list = chunk.list();
        let before = chunk.packed(&self.all);
        let gone = before.get(front..before.len() - back).unwrap_or_default();
        gone.iter().for_each(|packed| self.pairs.forget(packed));
        if let Some((begin, before)) = list
            && after > 1
            && power(before) == power(after)
        {
            let (start, end) = (begin as usize, begin as usize + before);
            self.all.copy_within(end - back..end, start + front + count);
            self.write(start + front, draft.pushed());
            return Chunk::many(begin, after);
        }
        let kept = match after {
            0 => Chunk::default(),
            1 => {
                let before = chunk.packed(&self.all);
                let one = if front > 0 { before.first() } else { before.last() };
                let stays = one.filter(|_| count == 0).copied();
                let one = stays.or_else(|| draft.pushed().first().map(|one| self.pairs.pack(one)));
                one.map_or(Chunk::default(), Chunk)
            }
            _ => {
                let begin = self.room(power(after));
                let at = begin as usize;
                // of a chunk without a list nothing stays as it is
                if let Some((begin, before)) = list {
                    let (start, end) = (begin as usize, begin as usize + before);
                    self.all.copy_within(start..start + front, at);
                    self.all.copy_within(end - back..end, at + front + count);
                }
                self.write(at + front, draft.pushed());
                Chunk::many(begin, after)
            }
        };
        self.give_back(list);
        kept
    }

    fn write(&mut self, at: usize, stretches: &[Stretch]) {
        let places = self.all.get_mut(at..).unwrap_or_default();
        for (place, stretch) in places.iter_mut().zip(stretches) {
            *place = self.pairs.pack(stretch);
        }
    }

    /// A list is not needed any more.
    fn give_back(&mut self, list: Option<(u32, usize)>) {
        if let Some((begin, count)) = list
            && let Some(free) = self.free.get_mut(power(count))
            && let Some(place) = self.all.get_mut(begin as usize)
        {
            place.word = free.map_or(0, NonZeroU32::get);
            *free = NonZeroU32::new(begin + 1);
        }
    }

    /// Room for this power of two.
    fn room(&mut self, power: usize) -> u32 {
        if let Some(free) = self.free.get_mut(power)
            && let Some(begin) = free.map(|behind| behind.get() - 1)
        {
            *free = self.all.get(begin as usize).and_then(|place| NonZeroU32::new(place.word));
            return begin;
        }
        let begin = self.all.len();
        self.all.resize(begin + (1 << power), Packed::default());
        begin as u32
    }
}

/// The power of two that has room for so many.
fn power(count: usize) -> usize {
    count.next_power_of_two().trailing_zeros() as usize
}
