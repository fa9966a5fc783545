//! Follows one reader through one tree, and predicts what it will request next.

use crate::guess::Touches;
use crate::ledger::Ledger;
use crate::map::{Basket, BasketMap};
use crate::memory::Memory;
use crate::request::Request;
use sapwood_span::Span;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Bytes of baskets of other branches fetched on the first touch of a branch; doubled each time that was not enough.
const FIRST_GUESS: u64 = 64 << 10;

/// Baskets of one branch that may be skipped without counting as a jump.
const SKIP: u32 = 4;

/// Requests with this many branches at once come from a cache that first tries all of them.
const MANY: usize = 8;

/// A branch of the reader.
#[derive(Clone, Copy)]
struct Branch {
    /// The basket after the last one requested or passed.
    next: u32,
    /// The first basket not yet considered.
    ahead: u32,
    /// Whether its next baskets were requested lately: they are fetched ahead from 1 on.
    trust: i8,
    /// Whether a basket of it was requested: otherwise it is known only from other readers.
    is_touched: bool,
}

/// What a reader did in one tree.
pub(crate) struct TreeReader {
    branches: BTreeMap<u32, Branch>,
    touches: Touches,
    /// Branches of which a basket was fetched on a guess.
    guessed: BTreeSet<u32>,
    /// The bytes to fetch on the next first touch.
    guess: u64,
    /// Whether a branch of the last guess was touched.
    was_right: bool,
    /// The reader's current entry.
    position: u64,
    /// Whether it moves forward: below 0 it jumps.
    order: i8,
    /// Whether it has requested a basket that follows one of the same branch.
    has_stepped: bool,
}

/// Context for the decisions of a tree's reader.
pub(crate) struct Around<'a> {
    pub map: &'a BasketMap,
    /// Size of the file.
    pub size: u64,
    pub ledger: &'a mut Ledger,
    pub held: &'a dyn Fn(Span) -> bool,
    pub memory: &'a Memory,
    pub out: Vec<Span>,
}

impl Around<'_> {
    /// Fetches a basket ahead; true where it is held or was fetched.
    fn fetch(&mut self, basket: Basket, is_suspected: bool) -> bool {
        let Some(span) = self.map.span(basket).filter(|span| span.end() <= self.size) else { return true };
        if (self.held)(span) || self.ledger.is_ahead(span) {
            return true;
        }
        let is_fetched = if is_suspected { self.ledger.suspect(span) } else { self.ledger.fetch(span) };
        if is_fetched {
            self.out.push(span);
        }
        is_fetched
    }

    fn len(&self, basket: Basket) -> u64 {
        self.map.span(basket).map_or(0, |span| span.len)
    }
}

impl Branch {
    fn new(number: u32) -> Self {
        Self { next: number, ahead: number, trust: 1, is_touched: false }
    }
}

impl TreeReader {
    pub(crate) fn new() -> Self {
        Self {
            branches: BTreeMap::new(),
            touches: Touches::default(),
            guessed: BTreeSet::new(),
            guess: FIRST_GUESS / 2,
            was_right: true,
            position: 0,
            order: 0,
            has_stepped: false,
        }
    }

    /// The branches that it reads.
    pub(crate) fn branches(&self) -> Vec<u32> {
        let read = |b: &u32| self.branches.get(b).is_some_and(|s| s.trust > 0);
        self.touches.all().iter().copied().filter(read).collect()
    }

    /// The reader's first request in the tree before it requests a basket: fetches what other readers read of it.
    pub(crate) fn expect(&mut self, around: &mut Around<'_>) {
        if self.branches.is_empty() && self.recall(around) {
            self.fetch_forward(0, around);
        }
    }

    /// The reader requests baskets in one request; `has_missed`: it has to wait for some of them.
    pub(crate) fn asked(&mut self, request: &Request, has_missed: bool, around: &mut Around<'_>) {
        let is_first = self.touches.all().is_empty();
        let Request { baskets: request, between } = request;
        let many = MANY.max(around.map.branches() as usize * 9 / 10);
        let all = || request.iter().chain(between).map(|basket| basket.branch).collect::<BTreeSet<_>>();
        let is_of_all = is_first && request.len() + between.len() >= many && all().len() >= many;
        // baskets in between are of use where the branch is known
        let is_known = |basket: &&Basket| self.branches.get(&basket.branch).is_some_and(|b| b.is_touched);
        let mut wanted: Vec<Basket> = request.iter().chain(between.iter().filter(is_known)).copied().collect();
        wanted.sort();
        let new = self.follow(&wanted, around);
        if is_of_all {
            // ROOT's cache requests the first baskets of all branches before it knows which ones are wanted
            self.branches.values_mut().for_each(|b| b.trust = 0);
            return;
        }
        if !new.is_empty() {
            let is_known = self.recall(around);
            if wanted.len() == 1 && !is_known {
                self.guess(wanted[0], has_missed, around);
            }
        }
        if self.order < 0 {
            self.fetch_here(&wanted, around);
        } else if has_missed || !around.ledger.is_full() {
            let asked = wanted.iter().map(|basket| around.len(*basket)).sum();
            self.fetch_forward(asked, around);
        }
    }

    /// Updates the branches. Returns the branches that were not touched before.
    fn follow(&mut self, request: &[Basket], around: &mut Around<'_>) -> Vec<u32> {
        let (mut new, mut has_jumped, mut position) = (Vec::new(), false, None);
        for &basket in request {
            let Basket { branch, number } = basket;
            let first = around.map.first_entry(basket);
            let state = self.branches.entry(branch).or_insert(Branch::new(number));
            let known = std::mem::replace(&mut state.is_touched, true);
            if !known {
                self.touches.add(branch);
                new.push(branch);
                self.was_right |= self.guessed.contains(&branch);
            }
            if number == state.next || number + 1 == state.next {
                if known && number == state.next {
                    state.trust = (state.trust + 2).min(4);
                    self.order = (self.order + 1).min(8);
                    self.has_stepped = true;
                }
            } else if number > state.next && number - state.next <= SKIP {
                let passed = number - state.next;
                self.pass(branch, passed, around);
            } else if known {
                has_jumped = true;
                self.order = (self.order - 3).max(-4);
            }
            if let Some(state) = self.branches.get_mut(&branch) {
                let is_behind = number < state.next;
                state.next = number + 1;
                state.ahead = if is_behind { state.next } else { state.ahead.max(state.next) };
            }
            position = Some(position.map_or(first, |p: u64| p.max(first)));
        }
        if let Some(position) = position.filter(|&position| has_jumped || position != self.position) {
            self.arrive(position, has_jumped, around);
        }
        new
    }

    /// The reader is at an entry: branches with baskets before it were passed.
    fn arrive(&mut self, position: u64, has_jumped: bool, around: &mut Around<'_>) {
        self.position = position;
        let late: Vec<(u32, u32)> = self
            .branches
            .iter()
            .map(|(&branch, state)| (branch, state.next, around.map.number_at(branch, position)))
            .filter(|(_, next, here)| if has_jumped { next != here && *next != here + 1 } else { here > next })
            .map(|(branch, _, here)| (branch, here))
            .collect();
        for (branch, here) in late {
            let Some(next) = self.branches.get(&branch).map(|b| b.next) else { continue };
            if !has_jumped {
                self.pass(branch, here - next, around);
            }
            if let Some(state) = self.branches.get_mut(&branch) {
                state.ahead = if here < next { here } else { state.ahead.max(here) };
                state.next = here;
            }
        }
    }

    /// This many of the next baskets of a branch were not requested.
    fn pass(&mut self, branch: u32, baskets: u32, around: &mut Around<'_>) {
        let Some(state) = self.branches.get_mut(&branch) else { return };
        state.trust = (state.trust - baskets.min(2) as i8).max(-2);
        for number in state.next..state.next + baskets.min(64) {
            if let Some(span) = around.map.span(Basket { branch, number }) {
                around.ledger.passed(span);
            }
        }
    }

    /// Adds the branches of the last matching reader from here on.
    fn recall(&mut self, around: &Around<'_>) -> bool {
        let Some(set) = around.memory.recall(around.map.structure(), self.touches.all()) else { return false };
        let known = set.iter().copied().filter(|&branch| branch < around.map.branches());
        for branch in known {
            let number = around.map.number_at(branch, self.position);
            self.branches.entry(branch).or_insert(Branch::new(number));
        }
        true
    }

    /// A branch was touched for the first time: fetches baskets of branches likely to be touched, too.
    fn guess(&mut self, basket: Basket, has_missed: bool, around: &mut Around<'_>) {
        let guess = self.touches.guess(around.map);
        let entry = around.map.first_entry(basket).max(self.position);
        let here = |branch| Basket { branch, number: around.map.number_at(branch, entry) };
        let pattern: Vec<Basket> = guess.pattern.into_iter().map(here).collect();
        let near: Vec<Basket> = guess.near.into_iter().map(here).collect();
        for basket in pattern {
            if !self.suspect(basket, around) {
                return;
            }
        }
        if !has_missed {
            return;
        }
        self.guess =
            if std::mem::replace(&mut self.was_right, false) { self.guess.saturating_mul(2) } else { self.guess / 2 };
        let mut room = self.guess;
        for basket in near {
            let len = around.len(basket);
            if len <= room && !self.guessed.contains(&basket.branch) && !self.branches.contains_key(&basket.branch) {
                if !self.suspect(basket, around) {
                    return;
                }
                room -= len;
            }
        }
    }

    /// Fetches a basket of a branch that was not touched; false when there is no more room for guesses.
    fn suspect(&mut self, basket: Basket, around: &mut Around<'_>) -> bool {
        if self.branches.contains_key(&basket.branch) || !self.guessed.insert(basket.branch) {
            return true;
        }
        around.fetch(basket, true)
    }

    /// For a reader that jumps: the baskets of its branches that hold the same entries.
    fn fetch_here(&mut self, request: &[Basket], around: &mut Around<'_>) {
        let &[basket] = request else { return };
        let (first, last) = (around.map.first_entry(basket), around.map.last_entry(basket));
        let here = self.branches.iter_mut().filter(|(branch, state)| **branch != basket.branch && state.trust > 0);
        for (&branch, state) in here {
            let other = Basket { branch, number: around.map.number_at(branch, first) };
            let holds_all = around.map.last_entry(other) >= last;
            if holds_all && other.number == state.next && state.ahead <= other.number && around.fetch(other, false) {
                state.ahead = other.number + 1;
            }
        }
    }

    /// The next baskets of all branches, by entry, until the window is full. A reader with its own cache, which
    /// requests many bytes at once, gets as many ahead.
    fn fetch_forward(&mut self, least: u64, around: &mut Around<'_>) {
        let mut next = BinaryHeap::new();
        // one basket of each branch regardless of the window
        let mut room = 0;
        for (&branch, state) in self.branches.iter().filter(|(_, state)| state.trust > 0) {
            let basket = Basket { branch, number: state.ahead.max(state.next) };
            room += around.len(basket);
            if around.map.span(basket).is_some() {
                next.push(Reverse((around.map.first_entry(basket), basket)));
            }
        }
        let is_sure = self.has_stepped;
        let window = around.ledger.window().max(room).max(least);
        while let Some(Reverse((_, basket))) = next.pop() {
            let ahead = around.ledger.ahead();
            if (ahead > 0 && ahead + around.len(basket) > window) || !around.fetch(basket, false) {
                break;
            }
            let following = Basket { number: basket.number + 1, ..basket };
            if let Some(state) = self.branches.get_mut(&basket.branch) {
                state.ahead = following.number;
            }
            if is_sure && around.map.span(following).is_some() {
                next.push(Reverse((around.map.first_entry(following), following)));
            }
        }
    }
}
