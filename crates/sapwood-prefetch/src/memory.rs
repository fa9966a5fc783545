//! Remembers which branches readers of a tree's structure read: the best guess for the next file of a data set, and the
//! next session.

use std::collections::VecDeque;

/// Sets kept at most; the least recently read are dropped first.
const MOST_SETS: usize = 256;

/// Total branches of all sets at most.
const MOST_BRANCHES: usize = 64 << 10;

/// The first line of the text form.
const HEADER: &str = "sapwood branches 1";

/// Branches that readers read together, by the structure of their tree. Bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The most recent one first.
    sets: VecDeque<(u64, Vec<u32>)>,
    branches: usize,
}

impl Memory {
    /// A reader of a tree with this structure read these branches.
    pub fn remember(&mut self, structure: u64, mut branches: Vec<u32>) {
        branches.sort_unstable();
        branches.dedup();
        if branches.is_empty() || branches.len() > MOST_BRANCHES {
            return;
        }
        if let Some(at) = self.sets.iter().position(|(s, b)| *s == structure && *b == branches) {
            if let Some(set) = self.sets.remove(at) {
                self.sets.push_front(set);
            }
            return;
        }
        self.branches += branches.len();
        self.sets.push_front((structure, branches));
        while self.sets.len() > MOST_SETS || self.branches > MOST_BRANCHES {
            self.branches -= self.sets.pop_back().map_or(0, |(_, b)| b.len());
        }
    }

    /// The branches read by the last reader of this structure that also read all of `touched`.
    pub fn recall(&self, structure: u64, touched: &[u32]) -> Option<&[u32]> {
        let fits = |set: &&(u64, Vec<u32>)| {
            set.0 == structure && touched.iter().all(|branch| set.1.binary_search(branch).is_ok())
        };
        self.sets.iter().find(fits).map(|(_, branches)| branches.as_slice())
    }

    /// Its text form, for [`Memory::parse`].
    pub fn to_text(&self) -> String {
        let mut out = format!("{HEADER}\n");
        for (structure, branches) in self.sets.iter().rev() {
            out.push_str(&format!("{structure:016x}"));
            branches.iter().for_each(|b| out.push_str(&format!(" {b}")));
            out.push('\n');
        }
        out
    }

    /// Parses the text form: malformed lines are skipped, since only guesses are lost.
    pub fn parse(text: &str) -> Self {
        let mut memory = Self::default();
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return memory;
        }
        for line in lines {
            let mut words = line.split(' ');
            let structure = words.next().and_then(|w| u64::from_str_radix(w, 16).ok());
            let branches: Option<Vec<u32>> = words.map(|w| w.parse().ok()).collect();
            if let (Some(structure), Some(branches)) = (structure, branches) {
                memory.remember(structure, branches);
            }
        }
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_reader_that_fits() {
        let mut m = Memory::default();
        m.remember(1, vec![5, 3, 4]);
        m.remember(1, vec![3, 9]);
        m.remember(2, vec![7]);
        assert_eq!(m.recall(1, &[]), Some(&[3, 9][..]));
        assert_eq!(m.recall(1, &[4]), Some(&[3, 4, 5][..]));
        assert_eq!(m.recall(1, &[4, 9]), None);
        assert_eq!(m.recall(3, &[]), None);
        m.remember(1, vec![4, 5, 3]);
        assert_eq!(m.recall(1, &[]), Some(&[3, 4, 5][..]));
        assert_eq!(Memory::parse(&m.to_text()), m);
    }

    #[test]
    fn it_is_bounded_and_parses_anything() {
        let mut m = Memory::default();
        (0..2000).for_each(|s| m.remember(s, (0..1000).collect()));
        assert!(m.branches <= MOST_BRANCHES && m.sets.len() <= MOST_SETS);
        assert_eq!(Memory::parse("something else\n1 2"), Memory::default());
        let odd = format!("{HEADER}\nxyz 1\n5 1 -3\n\n7 1 2\n8 99999999999");
        assert_eq!(Memory::parse(&odd).to_text(), format!("{HEADER}\n0000000000000007 1 2\n"));
    }
}
