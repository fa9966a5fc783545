//! What a cache has of two parts of consecutive files, as stretches of files of which it has the same. Jobs read consecutive files, so that
//! there are few stretches where there are many files.

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

/// The stretches of one chunk, in the order of their files. In most chunks there is one, which is kept here. One without files stands for
/// more: it has the beginning of their list in the place of bytes, and their number in that of the time. If that is 0, the chunk is empty.
/// An enumeration would take four bytes more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk(Stretch);

impl From<Stretch> for Chunk {
    fn from(stretch: Stretch) -> Self {
        Self(stretch)
    }
}

impl Chunk {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.end == 0 && self.0.pair[0].used == 0
    }

    fn many(begin: u32, count: usize) -> Self {
        let list = Unit { bytes: begin, used: count as u32 };
        Self(Stretch { pair: [list, Unit::default()], begin: 0, end: 0 })
    }

    /// Where its list begins, and how many stretches it has.
    fn list(&self) -> Option<(u32, usize)> {
        let Unit { bytes: begin, used: count } = self.0.pair[0];
        (self.0.end == 0 && count > 0).then_some((begin, count as usize))
    }
}

/// The stretches of a chunk while they are changed.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    stretches: [Stretch; FILES],
    count: usize,
}

impl Default for Draft {
    fn default() -> Self {
        Self { stretches: [Stretch::default(); FILES], count: 0 }
    }
}

impl Draft {
    /// These follow, none of which is one with another.
    fn extend(&mut self, new: &[Stretch]) {
        if let Some(slots) = self.stretches.get_mut(self.count..self.count + new.len()) {
            slots.copy_from_slice(new);
            self.count += new.len();
        }
    }

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

    fn all(&self) -> &[Stretch] {
        self.stretches.get(..self.count).unwrap_or_default()
    }
}

/// Lists of stretches beside each other, each with room for a power of two. So they are in large pages, and found without a look
/// elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    all: Vec<Stretch>,
    /// By the power of two: where there is room for that many.
    free: Vec<Vec<u32>>,
}

impl Lists {
    /// The stretches of a chunk.
    pub(crate) fn of<'a>(&'a self, chunk: &'a Chunk) -> &'a [Stretch] {
        match chunk.list() {
            Some((begin, count)) => self.all.get(begin as usize..begin as usize + count).unwrap_or_default(),
            None if chunk.is_empty() => &[],
            None => std::slice::from_ref(&chunk.0),
        }
    }

    /// What there is of one file.
    pub(crate) fn pair(&self, chunk: &Chunk, file: u8) -> Pair {
        let stretches = self.of(chunk);
        let at = stretches.partition_point(|stretch| stretch.end <= file);
        stretches.get(at).filter(|stretch| stretch.begin <= file).map_or(Pair::default(), |stretch| stretch.pair)
    }

    /// A chunk with the stretches of the draft, in the place of what it was before.
    pub(crate) fn keep(&mut self, chunk: Chunk, draft: &Draft) -> Chunk {
        let new = draft.all();
        let mut begin = None;
        if let Some((before, count)) = chunk.list() {
            if new.len() > 1 && power(count) == power(new.len()) {
                begin = Some(before);
            } else {
                let power = power(count);
                if power >= self.free.len() {
                    self.free.resize(power + 1, Vec::new());
                }
                self.free[power].push(before);
            }
        }
        if let &[] | &[_] = new {
            return new.first().copied().map_or(Chunk::default(), Chunk);
        }
        let begin = begin.unwrap_or_else(|| self.room(power(new.len())));
        if let Some(list) = self.all.get_mut(begin as usize..begin as usize + new.len()) {
            list.copy_from_slice(new);
        }
        Chunk::many(begin, new.len())
    }

    /// Room for this power of two.
    fn room(&mut self, power: usize) -> u32 {
        self.free.get_mut(power).and_then(Vec::pop).unwrap_or_else(|| {
            let begin = self.all.len();
            self.all.resize(begin + (1 << power), Stretch::default());
            begin as u32
        })
    }
}

/// The power of two that has room for so many.
fn power(count: usize) -> usize {
    count.next_power_of_two().trailing_zeros() as usize
}

/// Changes files of a chunk, in their order: `change` gets the number of each in the chunk, and what there is of it.
pub(crate) fn change(
    before: &[Stretch],
    files: std::ops::Range<u8>,
    draft: &mut Draft,
    mut change: impl FnMut(u8, &mut Pair),
) {
    draft.count = 0;
    let (done, rest) = before.split_at(before.iter().take_while(|stretch| stretch.end <= files.start).count());
    draft.extend(done);
    if let Some(&stretch) = rest.first() {
        draft.push(Stretch { end: stretch.end.min(files.start), ..stretch });
    }
    let mut rest = rest.iter();
    let mut here = rest.next();
    for file in files.clone() {
        while here.is_some_and(|stretch| stretch.end <= file) {
            here = rest.next();
        }
        let mut pair = here.filter(|stretch| stretch.begin <= file).map_or(Pair::default(), |stretch| stretch.pair);
        change(file, &mut pair);
        draft.push(Stretch { pair, begin: file, end: file + 1 });
    }
    // what is left of the one at the end, and the next one, may be one with what is before it
    if let Some(&stretch) = here {
        draft.push(Stretch { begin: stretch.begin.max(files.end), ..stretch });
    }
    if let Some(&next) = rest.next() {
        draft.push(next);
    }
    draft.extend(rest.as_slice());
}
