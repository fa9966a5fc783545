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

    /// A chunk as the draft of it says.
    pub(crate) fn keep(&mut self, chunk: Chunk, draft: &Draft) -> Chunk {
        let &Draft { front, count, back, .. } = draft;
        let after = front + count + back;
        let list = chunk.list();
        if let Some((begin, before)) = list
            && after > 1
            && power(before) == power(after)
        {
            let (start, end) = (begin as usize, begin as usize + before);
            self.all.copy_within(end - back..end, start + front + count);
            self.all[start + front..start + front + count].copy_from_slice(draft.pushed());
            return Chunk::many(begin, after);
        }
        let kept = match after {
            0 => Chunk::default(),
            1 => {
                let before = self.of(&chunk);
                let one = draft.pushed().first().or(if front > 0 { before.first() } else { before.last() });
                one.map_or(Chunk::default(), |&one| Chunk(one))
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
                self.all[at + front..at + front + count].copy_from_slice(draft.pushed());
                Chunk::many(begin, after)
            }
        };
        self.give_back(list);
        kept
    }

    /// A list is not needed any more.
    fn give_back(&mut self, list: Option<(u32, usize)>) {
        if let Some((begin, count)) = list {
            let power = power(count);
            if power >= self.free.len() {
                self.free.resize(power + 1, Vec::new());
            }
            self.free[power].push(begin);
        }
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
    let (done, rest) = before.split_at(before.iter().take_while(|stretch| stretch.end <= files.start).count());
    // the last one may be one with what follows
    (draft.front, draft.count) = (done.len().saturating_sub(1), 0);
    done.iter().skip(draft.front).for_each(|&stretch| draft.push(stretch));
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
    // what is left of the one at the end, and the next one, may be one with what is before
    if let Some(&stretch) = here {
        draft.push(Stretch { begin: stretch.begin.max(files.end), ..stretch });
    }
    if let Some(&next) = rest.next() {
        draft.push(next);
    }
    draft.back = rest.len();
}
