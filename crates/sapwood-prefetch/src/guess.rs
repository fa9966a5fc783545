//! Guesses which branches a reader will touch next from those it has touched: each branch not guessed costs it a round
//! trip.

use crate::map::BasketMap;
use std::collections::BTreeSet;

/// The order in which branches were first touched, and the guesses that follow from it.
#[derive(Default)]
pub(crate) struct TouchedBranches {
    order: Vec<u32>,
    /// The same, for lookups.
    known: BTreeSet<u32>,
}

/// Branches that may be next, most likely first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Guess {
    /// Branches that continue a pattern of the reader.
    pub pattern: Vec<u32>,
    /// Nearby branches: worth a few small baskets.
    pub near: Vec<u32>,
}

/// A reader that has touched more branches than this shows a pattern already, or none.
const MOST: usize = 1000;

/// Steps of a regular pattern that are counted.
const MOST_STEPS: usize = 256;

/// Neighbours looked at on either side.
const NEAR: u32 = 64;

impl TouchedBranches {
    pub(crate) fn add(&mut self, branch: u32) {
        self.order.push(branch);
        self.known.insert(branch);
    }

    pub(crate) fn all(&self) -> &[u32] {
        &self.order
    }

    /// Branches that may follow the last touch.
    pub(crate) fn guess(&self, map: &BasketMap) -> Guess {
        let Some(&last) = self.order.last() else { return Guess::default() };
        let mut pattern = self.regular(map.branches());
        if self.order.len() > MOST {
            return Guess { pattern, near: Vec::new() };
        }
        if pattern.is_empty() {
            pattern = self.members(last, map);
        }
        let siblings: Vec<u32> = (0..map.branches()).filter(|&b| b != last && map.are_siblings(b, last)).collect();
        let touched = self.order.iter().filter(|&&b| map.are_siblings(b, last)).count();
        let (before, behind): (Vec<u32>, Vec<u32>) = siblings.iter().partition(|&&b| b < last);
        let siblings = behind.into_iter().chain(before.into_iter().rev());
        let mut near: Vec<u32> = (0..map.branches()).filter(|&b| map.counts(b, last)).collect();
        if pattern.is_empty() && touched >= 2 {
            // twice as many of the object as were touched
            pattern.extend(siblings.filter(|b| !self.known.contains(b)).take(2 * touched));
        } else if pattern.is_empty() {
            near.extend(siblings);
        }
        for distance in 1..=NEAR {
            near.extend(last.checked_add(distance).filter(|&b| b < map.branches()));
            near.extend(last.checked_sub(distance));
        }
        Guess { pattern, near }
    }

    /// Those parts of the last branch's object that were also read of other objects.
    fn members(&self, last: u32, map: &BasketMap) -> Vec<u32> {
        let others = self.order.iter().filter(|&&b| !map.are_siblings(b, last));
        let members: BTreeSet<u64> = others.filter_map(|&b| map.member(b)).collect();
        if members.is_empty() {
            return Vec::new();
        }
        let is_one = |b: &u32| map.are_siblings(*b, last) && map.member(*b).is_some_and(|m| members.contains(&m));
        (0..map.branches()).filter(|b| *b != last && is_one(b) && !self.known.contains(b)).collect()
    }

    /// When three or more branches followed at the same distance: as many more at that distance.
    fn regular(&self, branches: u32) -> Vec<u32> {
        let [.., before, last] = self.order[..] else { return Vec::new() };
        let step = i64::from(last) - i64::from(before);
        let is_same = |w: &&[u32]| i64::from(w[1]) - i64::from(w[0]) == step;
        let steps = self.order.windows(2).rev().take(MOST_STEPS).take_while(is_same).count();
        if steps < 2 {
            return Vec::new();
        }
        let next = (1..=2 * steps as i64).map(|n| i64::from(last) + n * step);
        next.take_while(|b| (0..i64::from(branches)).contains(b)).map(|b| b as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::BranchBaskets;

    fn map(paths: &[&str], counters: &[Option<usize>]) -> BasketMap {
        let branch = |(path, counter): (&&'static str, _)| BranchBaskets { path, counter, baskets: Vec::new() };
        let paths: Vec<&'static str> = paths.iter().map(|p| &*(*p).to_owned().leak()).collect();
        BasketMap::new("t", 10, paths.iter().zip(counters.iter().copied()).map(branch)).unwrap()
    }

    fn touched(order: &[u32], map: &BasketMap) -> Guess {
        let mut touched_branches = TouchedBranches::default();
        order.iter().for_each(|&b| touched_branches.add(b));
        touched_branches.guess(map)
    }

    #[test]
    fn every_second_branch_goes_on() {
        let m = map(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], &[None; 10]);
        assert_eq!(touched(&[0, 2], &m).pattern, []);
        assert_eq!(touched(&[0, 2, 4], &m).pattern, [6, 8]);
        assert_eq!(touched(&[9, 8, 7, 6], &m).pattern, [5, 4, 3, 2, 1, 0]);
        assert_eq!(touched(&[0, 2, 3], &m).pattern, []);
    }

    #[test]
    fn counters_first_then_siblings_then_neighbours() {
        let m = map(&["M_x", "M_y", "a", "N", "n"], &[Some(4), Some(4), None, None, None]);
        assert_eq!(touched(&[4], &m).near[..2], [0, 1]);
        assert_eq!(touched(&[0], &m).near[..2], [4, 1]);
        assert_eq!(touched(&[3], &m).near[..2], [4, 2]);
        assert_eq!(touched(&[], &m), Guess::default());
    }

    #[test]
    fn two_members_of_an_object_promise_the_others() {
        let m = map(&["M_a", "x", "M_b", "M_c", "M_d"], &[None; 5]);
        assert_eq!(touched(&[0, 3], &m).pattern, [4, 2]);
    }

    #[test]
    fn parts_read_of_one_object_are_read_of_the_next() {
        let m = map(&["M_pt", "M_eta", "M_id", "E_id", "E_eta", "E_pt"], &[None; 6]);
        assert_eq!(touched(&[0, 1, 5], &m).pattern, [4]);
    }
}
