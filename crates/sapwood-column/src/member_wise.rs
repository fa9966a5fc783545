//! Collections that ROOT writes member-wise, each entry with its own header: one pass over the basket that finds
//! where each entry's records are, then one for each member.
//!
//! Like the other kernels, it handles regular baskets only, and leaves all others to the general reader.

use crate::entry_starts::EntryStarts;
use crate::input::FIRST_WITH_CLASS_VERSION;
use crate::item::regular::{NumberMember, Shape};
use crate::{Array, Item, Object};

/// The mark of a byte count, and of a version in front of members in sequence.
const MARK: u8 = 0x40;

/// The layout of records whose members are regular.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemberWise {
    /// As in the headers: a version, or the checksum instead.
    class: (i32, u32),
    parts: Vec<Part>,
    /// Bytes of a record, over all members.
    size: usize,
}

/// A member: in an entry of n records its bytes begin n · `before` after those of the first member.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    before: usize,
    shape: Shape,
}

/// The records of one entry.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// Where the first member begins.
    at: usize,
    /// How many there are, at least one.
    n: usize,
}

impl MemberWise {
    /// The layouts, if the item is such a collection: with class versions, with checksums instead.
    pub(crate) fn of(item: &Item) -> Vec<Self> {
        let Item::Headed(inner) = item else { return Vec::new() };
        let Item::Records(inner) = &**inner else { return Vec::new() };
        let Item::Object(object) = &**inner else { return Vec::new() };
        let mut out: Vec<Self> = Vec::new();
        for by_checksum in [false, true] {
            let mut one = Self { class: (object.version, object.checksum), parts: Vec::new(), size: 0 };
            if one.add(object, by_checksum).is_some() && one.size > 0 && !out.contains(&one) {
                out.push(one);
            }
        }
        out
    }

    /// Adds the members of a class or base class; those of a base class become the class's own.
    fn add(&mut self, object: &Object, by_checksum: bool) -> Option<()> {
        for (_, member) in &object.members {
            if let Item::Base(base) = member {
                if base.class == "TNamed" {
                    return None;
                }
                self.add(base, by_checksum)?;
                continue;
            }
            let shape = Shape::of_part(member, by_checksum)?;
            let before = self.size;
            self.size = self.size.checked_add(shape.size())?;
            self.parts.push(Part { before, shape });
        }
        Some(())
    }

    /// Appends all entries; none where something is unusual: the column must then be cleared.
    pub(crate) fn read(&self, data: &[u8], entries: usize, starts: &EntryStarts, out: &mut Array) -> Option<()> {
        let Array::List { offsets, content } = out else { return None };
        let mut runs = Vec::with_capacity(entries);
        let mut total = 0usize;
        let mut at = if entries > 0 { starts.get(0) } else { 0 };
        if at != 0 {
            return None;
        }
        offsets.reserve(entries);
        for i in 1..=entries {
            let end = if i < entries { starts.get(i) } else { data.len() };
            let (n, head) = self.header(data.get(at..end)?)?;
            if n > 0 {
                runs.push(Run { at: at + head, n });
                total += n;
            }
            offsets.push(total as i64);
            at = end;
        }
        for part in &self.parts {
            let regular = |run: &Run| run.slice(data, part.before, part.shape.size()).map(|b| part.shape.fitting(b));
            if part.shape.has_checks() && !runs.iter().all(|run| regular(run) == Some(run.n)) {
                return None;
            }
        }
        let rows = Rows { data, runs: &runs, total };
        let mut number_members = self
            .parts
            .iter()
            .flat_map(|p| p.shape.number_members().iter().map(move |number_member| (p, number_member)));
        rows.fill(&mut number_members, content)?;
        number_members.next().is_none().then_some(())
    }

    /// How many records an entry has, and how long its header is.
    fn header(&self, entry: &[u8]) -> Option<(usize, usize)> {
        let ([c0, c1, c2, c3, v0, v1], body) = entry.split_first_chunk::<6>()?;
        let count = u32::from_be_bytes([c0 & !MARK, *c1, *c2, *c3]) as usize;
        if c0 & MARK == 0 || v0 & MARK == 0 || count + 4 != entry.len() {
            return None;
        }
        let mut body = body;
        if i16::from_be_bytes([v0 & !MARK, *v1]) >= FIRST_WITH_CLASS_VERSION {
            let (version, rest) = body.split_first_chunk::<2>()?;
            body = rest;
            let version = i16::from_be_bytes(*version);
            let fits = if version > 0 {
                i32::from(version) == self.class.0
            } else {
                let (sum, rest) = body.split_first_chunk::<4>()?;
                body = rest;
                u32::from_be_bytes(*sum) == self.class.1
            };
            // any class accepts a version below zero; the general reader knows which of two it is
            if !fits || self.class.0 <= 0 {
                return None;
            }
        }
        let (n, rest) = body.split_first_chunk::<4>()?;
        let n = usize::try_from(i32::from_be_bytes(*n)).ok()?;
        (n.checked_mul(self.size)? == rest.len()).then_some((n, entry.len() - rest.len()))
    }
}

impl Run {
    /// The bytes of a member that takes `size` bytes in each record.
    #[inline]
    pub(crate) fn slice<'a>(&self, data: &'a [u8], before: usize, size: usize) -> Option<&'a [u8]> {
        let from = self.at + self.n * before;
        data.get(from..from + self.n * size)
    }
}

/// The records of all entries of a basket.
struct Rows<'a> {
    data: &'a [u8],
    runs: &'a [Run],
    total: usize,
}

impl Rows<'_> {
    fn fill<'p>(
        &self,
        number_members: &mut impl Iterator<Item = (&'p Part, &'p NumberMember)>,
        out: &mut Array,
    ) -> Option<()> {
        match out {
            Array::Record { len, fields } => {
                *len += self.total;
                fields.iter_mut().try_for_each(|(_, field)| self.fill(number_members, field))
            }
            out => {
                let (part, number_member) = number_members.next()?;
                let size = part.shape.size();
                let slices = || self.runs.iter().filter_map(|run| run.slice(self.data, part.before, size));
                number_member.fill(slices, size, self.total, 1, out).ok()
            }
        }
    }
}
