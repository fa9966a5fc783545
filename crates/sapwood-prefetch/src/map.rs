//! The positions of a tree's baskets, looked up by offset and by entry.

use crate::structure::{group_of, member_of, structure_of};
use sapwood_span::Span;
use std::ops::Range;

/// Baskets of a tree at most: a larger map is not built, because it would take more than 24 MB.
const MOST_BASKETS: usize = 1 << 20;

/// A branch and its baskets, as the tree's header describes them.
#[derive(Clone, Debug, Default)]
pub struct BranchBaskets<'a> {
    /// The branch's name after those of its parent branches, joined by `/`.
    pub path: &'a str,
    /// The branch that counts the elements of this one: its index in the list of branches.
    pub counter: Option<usize>,
    /// First entry and span of each basket.
    pub baskets: Vec<(u64, Span)>,
}

/// A basket: the branch's number, and the basket's number within the branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Basket {
    pub branch: u32,
    pub number: u32,
}

/// The baskets of all branches of a tree: 24 bytes for each.
#[derive(Debug)]
pub struct BasketMap {
    structure: u64,
    entries: u64,
    /// Where each branch's baskets begin in the three lists; one more than branches.
    begins: Vec<u32>,
    first_entries: Vec<u64>,
    starts: Vec<u64>,
    lens: Vec<u32>,
    /// Indices into the lists, by offset in the file.
    by_offset: Vec<u32>,
    /// The branch at the top of the hierarchy, or the prefix of the name, that a branch shares with others.
    groups: Vec<u64>,
    /// Which member of its object it is.
    members: Vec<Option<u64>>,
    counters: Vec<Option<u32>>,
}

impl BasketMap {
    /// The baskets of a tree, whose branches come in the tree's order; none when there are more than a million.
    pub fn new<'a>(tree: &str, entries: u64, branches: impl IntoIterator<Item = BranchBaskets<'a>>) -> Option<Self> {
        let mut map = Self {
            structure: 0,
            entries,
            begins: vec![0],
            first_entries: Vec::new(),
            starts: Vec::new(),
            lens: Vec::new(),
            by_offset: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
            counters: Vec::new(),
        };
        let mut structure = structure_of(tree);
        for mut branch in branches {
            structure.add(branch.path);
            map.groups.push(group_of(branch.path));
            map.members.push(member_of(branch.path));
            map.counters.push(branch.counter.and_then(|c| u32::try_from(c).ok()));
            branch.baskets.retain(|(_, span)| span.len > 0 && span.start.checked_add(span.len).is_some());
            // a damaged table may descend
            branch.baskets.sort_by_key(|(first, _)| *first);
            if map.starts.len() + branch.baskets.len() > MOST_BASKETS {
                return None;
            }
            for (first, span) in branch.baskets {
                map.first_entries.push(first);
                map.starts.push(span.start);
                map.lens.push(u32::try_from(span.len).ok()?);
            }
            map.begins.push(map.starts.len() as u32);
        }
        map.structure = structure.value();
        let branches = map.branches();
        map.counters.iter_mut().for_each(|c| *c = c.filter(|&c| c < branches));
        map.by_offset = (0..map.starts.len() as u32).collect();
        map.by_offset.sort_by_key(|&i| map.starts[i as usize]);
        Some(map)
    }

    /// Equal for trees of one name with the same branches: files of one data set.
    pub fn structure(&self) -> u64 {
        self.structure
    }

    /// The number of baskets.
    pub fn baskets(&self) -> usize {
        self.starts.len()
    }

    /// The number of branches.
    pub(crate) fn branches(&self) -> u32 {
        self.groups.len() as u32
    }

    /// The baskets that are completely in a span, by offset.
    pub(crate) fn within(&self, span: Span) -> impl Iterator<Item = Basket> {
        self.beginning(span)
            .iter()
            .map(|&i| i as usize)
            .filter(move |&i| self.starts[i] + u64::from(self.lens[i]) <= span.end())
            .map(|i| self.basket(i))
    }

    /// How many baskets begin in a span.
    pub(crate) fn beginning_in(&self, span: Span) -> usize {
        self.beginning(span).len()
    }

    /// Their indices, by offset.
    fn beginning(&self, span: Span) -> &[u32] {
        let place = |at| self.by_offset.partition_point(|&i| self.starts[i as usize] < at);
        self.by_offset.get(place(span.start)..place(span.end())).unwrap_or_default()
    }

    fn basket(&self, index: usize) -> Basket {
        // the last branch that begins at or before it: branches without baskets begin where the next one does
        let branch = self.begins.partition_point(|&b| b as usize <= index) - 1;
        Basket { branch: branch as u32, number: index as u32 - self.begins[branch] }
    }

    fn range(&self, branch: u32) -> Range<usize> {
        let branch = branch as usize;
        self.begins[branch] as usize..self.begins[branch + 1] as usize
    }

    fn index(&self, basket: Basket) -> Option<usize> {
        let range = self.range(basket.branch);
        Some(range.start + basket.number as usize).filter(|i| range.contains(i))
    }

    /// Where a basket is stored; none after the last one.
    pub(crate) fn span(&self, basket: Basket) -> Option<Span> {
        self.index(basket).map(|i| Span::new(self.starts[i], u64::from(self.lens[i])))
    }

    /// A basket's first entry; after the last one, the number of entries.
    pub(crate) fn first_entry(&self, basket: Basket) -> u64 {
        self.index(basket).map_or(self.entries, |i| self.first_entries[i])
    }

    /// The entry after a basket's last one.
    pub(crate) fn last_entry(&self, basket: Basket) -> u64 {
        self.first_entry(Basket { number: basket.number.saturating_add(1), ..basket })
    }

    /// The number of the basket that holds an entry, within its branch.
    pub(crate) fn number_at(&self, branch: u32, entry: u64) -> u32 {
        let first_entries = &self.first_entries[self.range(branch)];
        (first_entries.partition_point(|&first| first <= entry) as u32).saturating_sub(1)
    }

    /// Whether two branches hold parts of one object: they have the same parent branch, or their names begin alike.
    pub(crate) fn are_siblings(&self, a: u32, b: u32) -> bool {
        self.groups[a as usize] == self.groups[b as usize]
    }

    /// Which member of its object a branch is: equal for `Muon_pt` and `Electron_pt`.
    pub(crate) fn member(&self, branch: u32) -> Option<u64> {
        self.members[branch as usize]
    }

    /// Whether one branch counts the elements of the other.
    pub(crate) fn counts(&self, a: u32, b: u32) -> bool {
        self.counters[a as usize] == Some(b) || self.counters[b as usize] == Some(a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> BasketMap {
        let branch = |path, counter, baskets: &[(u64, u64, u64)]| BranchBaskets {
            path,
            counter,
            baskets: baskets.iter().map(|&(e, s, n)| (e, Span::new(s, n))).collect(),
        };
        let branches = [
            branch("n", None, &[(0, 100, 10), (50, 300, 10)]),
            branch("empty", None, &[]),
            branch("x_1", Some(0), &[(0, 110, 40), (20, 150, 50), (60, 200, 100)]),
            branch("x_2", Some(9), &[]),
        ];
        BasketMap::new("t", 80, branches).unwrap()
    }

    #[test]
    fn baskets_are_found_by_offset_and_entry() {
        let m = map();
        let names = |start, len| m.within(Span::new(start, len)).map(|b| (b.branch, b.number)).collect::<Vec<_>>();
        assert_eq!(names(100, 10), [(0, 0)]);
        assert_eq!(names(100, 100), [(0, 0), (2, 0), (2, 1)]);
        assert_eq!(names(101, 208), [(2, 0), (2, 1), (2, 2)]);
        assert_eq!(names(310, 1000), []);
        assert_eq!(m.number_at(2, 0), 0);
        assert_eq!(m.number_at(2, 59), 1);
        assert_eq!(m.number_at(2, 1000), 2);
        let last = Basket { branch: 2, number: 2 };
        assert_eq!((m.first_entry(last), m.last_entry(last)), (60, 80));
        assert_eq!(m.span(Basket { number: 3, ..last }), None);
        assert_eq!(m.span(Basket { branch: 1, number: 0 }), None);
        assert!(m.counts(0, 2) && m.counts(2, 0) && !m.counts(0, 3));
        assert!(m.are_siblings(2, 3) && !m.are_siblings(0, 2));
    }

    #[test]
    fn a_damaged_table_makes_no_map_or_a_smaller_one() {
        let baskets =
            vec![(9, Span::new(u64::MAX, 9)), (5, Span::new(8, 0)), (4, Span::new(20, 5)), (0, Span::new(7, 5))];
        let m = BasketMap::new("t", 10, [BranchBaskets { path: "x", counter: Some(7), baskets }]).unwrap();
        assert_eq!(m.baskets(), 2);
        assert_eq!(m.first_entry(Basket { branch: 0, number: 1 }), 4);
        let many = vec![(0, Span::new(0, 1)); MOST_BASKETS + 1];
        assert!(BasketMap::new("t", 10, [BranchBaskets { path: "x", counter: None, baskets: many }]).is_none());
    }
}
