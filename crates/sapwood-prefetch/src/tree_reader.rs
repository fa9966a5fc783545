//! Follows one reader through one tree, and predicts what it will request next.

use crate::budget::Budget;
use crate::guess::TouchedBranches;
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

/// A reader that has touched more branches, and not those of any other reader, is not compared with others any more.
const MOST_RECALLED: usize = 1000;

/// Baskets that need not be fetched: so many are looked at after one request, and four of each branch.
const MOST_HELD: u32 = 64;

/// Requests with this many branches at once come from a cache that first tries all of them.
const MANY: usize = 8;

/// A branch of the reader.
#[derive(Clone, Copy)]
struct Branch {
    /// The basket after the last one requested or passed.
    next: u32,
    /// The first basket not yet considered.
    ahead: u32,
    /// How many of the baskets before the next one were passed and not requested.
    passed: u32,
    /// Whether its next baskets were requested lately: they are fetched ahead from 1 on.
    trust: i8,
    /// Whether a basket of it was requested: otherwise it is known only from other readers, or from the beginning of the file.
    is_touched: bool,
    /// Whether its first basket came along when the file was opened.
    came_along: bool,
}

/// What a reader did in one tree.
pub(crate) struct TreeReader {
    branches: BTreeMap<u32, Branch>,
    touched_branches: TouchedBranches,
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
    /// Whether it reads some branches for many entries before it goes back for others.
    is_in_turns: bool,
    /// What other readers read who read the same branches, ascending; empty, if none did.
    recalled: Option<Vec<u32>>,
}

/// Context for the decisions of a tree's reader.
pub(crate) struct Context<'a> {
    pub map: &'a BasketMap,
    /// Size of the file.
    pub size: u64,
    pub budget: &'a mut Budget,
    pub held: &'a dyn Fn(Span) -> bool,
    pub memory: &'a Memory,
    pub out: Vec<Span>,
    /// Baskets that need not be fetched.
    pub seen: u32,
}

impl Context<'_> {
    /// Fetches a basket ahead; true where it is held or was fetched.
    fn fetch(&mut self, basket: Basket, is_suspected: bool) -> bool {
        let span = self.map.span(basket).filter(|span| span.end() <= self.size);
        let Some(span) = span.filter(|&span| !self.budget.is_ahead(span) && !(self.held)(span)) else {
            self.seen = self.seen.saturating_add(1);
            return true;
        };
        let is_fetched = if is_suspected { self.budget.suspect(span) } else { self.budget.fetch(span) };
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
        Self { next: number, ahead: number, passed: 0, trust: 1, is_touched: false, came_along: false }
    }

    /// Whether this basket, or all after it, were left out while others were read: the last one that was requested may
    /// be needed again.
    fn has_passed(&self, number: u32) -> bool {
        self.passed > 0 && number < self.next && self.next - number <= self.passed.saturating_add(1)
    }
}

impl TreeReader {
    /// These baskets came along when the reader opened the file: it may have wanted them.
    pub(crate) fn new(came_along: impl Iterator<Item = Basket>) -> Self {
        let branch = |Basket { branch, number }| (branch, Branch { came_along: true, ..Branch::new(number + 1) });
        Self {
            branches: came_along.map(branch).collect(),
            touched_branches: TouchedBranches::default(),
            guessed: BTreeSet::new(),
            guess: FIRST_GUESS / 2,
            was_right: true,
            position: 0,
            order: 0,
            has_stepped: false,
            is_in_turns: false,
            recalled: None,
        }
    }

    /// The branches that it reads.
    pub(crate) fn branches(&self) -> Vec<u32> {
        let read = |b: &u32| self.branches.get(b).is_some_and(|s| s.trust > 0);
        self.touched_branches.all().iter().copied().filter(read).collect()
    }

    /// The reader's first request in the tree before it requests a basket: fetches what other readers read of it.
    pub(crate) fn expect(&mut self, context: &mut Context<'_>) {
        if self.touched_branches.all().is_empty() && self.recall(&[], context) {
            self.fetch_forward(0, &BTreeSet::new(), context);
        }
    }

    /// The reader requests baskets in one request; `has_missed`: it has to wait for some of them.
    pub(crate) fn on_request(&mut self, request: &Request, has_missed: bool, context: &mut Context<'_>) {
        let is_first = self.touched_branches.all().is_empty();
        let Request { baskets: request, between } = request;
        let many = MANY.max(context.map.branches() as usize * 9 / 10);
        let all = || request.iter().chain(between).map(|basket| basket.branch).collect::<BTreeSet<_>>();
        let is_of_all = is_first && request.len() + between.len() >= many && all().len() >= many;
        // baskets in between are of use where the branch is known
        let is_known = |basket: &&Basket| self.branches.get(&basket.branch).is_some_and(|b| b.is_touched);
        let mut wanted: Vec<Basket> = request.iter().chain(between.iter().filter(is_known)).copied().collect();
        wanted.sort();
        wanted.dedup();
        let new = self.follow(&wanted, context);
        if is_of_all {
            // ROOT's cache requests the first baskets of all branches before it knows which ones are wanted
            self.branches.values_mut().for_each(|b| b.trust = 0);
            return;
        }
        if !new.is_empty() {
            let is_known = self.recall(&new, context);
            if wanted.len() == 1 && !is_known {
                self.guess(wanted[0], has_missed, context);
            }
        }
        if self.order < 0 {
            self.fetch_here(&wanted, context);
        } else if has_missed || !context.budget.is_full() {
            let requested = wanted.iter().map(|basket| context.len(*basket)).sum();
            let mut waiting = BTreeSet::new();
            if has_missed && self.is_in_turns {
                waiting.extend(wanted.iter().map(|basket| basket.branch));
            }
            self.fetch_forward(requested, &waiting, context);
        }
    }

    /// Updates the branches. Returns the branches that were not touched before.
    fn follow(&mut self, request: &[Basket], context: &mut Context<'_>) -> Vec<u32> {
        let (mut new, mut has_jumped, mut has_returned, mut position) = (Vec::new(), false, false, None);
        for &basket in request {
            let Basket { branch, number } = basket;
            let first = context.map.first_entry(basket);
            let state = self.branches.entry(branch).or_insert(Branch::new(number));
            let was_touched = std::mem::replace(&mut state.is_touched, true);
            let known = was_touched || state.came_along && number == state.next;
            if !was_touched {
                self.touched_branches.add(branch);
                new.push(branch);
                self.was_right |= self.guessed.contains(&branch);
            }
            let is_again = number + 1 == state.next && state.passed == 0;
            if number == state.next || is_again {
                if known && number == state.next {
                    state.trust = (state.trust + 2).min(4);
                    self.order = (self.order + 1).min(8);
                    self.has_stepped = true;
                }
            } else if number > state.next && number - state.next <= SKIP {
                let passed = number - state.next;
                self.pass(branch, passed, context);
            } else if known && state.has_passed(number) {
                has_returned = true;
                self.is_in_turns = true;
                // it goes on where it was left, and not at any basket since
                if state.next - number >= state.passed {
                    state.trust = state.trust.max(1);
                }
            } else if known {
                has_jumped = true;
                self.order = (self.order - 3).max(-4);
            }
            if let Some(state) = self.branches.get_mut(&branch) {
                // the same basket again is no step back
                let is_behind = number < state.next && !is_again;
                state.passed = 0;
                state.next = number + 1;
                state.ahead = if is_behind { state.next } else { state.ahead.max(state.next) };
            }
            position = Some(position.map_or(first, |p: u64| p.max(first)));
        }
        if has_returned && !has_jumped {
            // the others go on where they are, when this branch has come as far
            self.position = position.unwrap_or(self.position);
        } else if let Some(position) = position.filter(|&position| has_jumped || position != self.position) {
            self.arrive(position, has_jumped, context);
        }
        new
    }

    /// The reader is at an entry: branches with baskets before it were passed.
    fn arrive(&mut self, position: u64, has_jumped: bool, context: &mut Context<'_>) {
        self.position = position;
        let late: Vec<(u32, u32)> = self
            .branches
            .iter()
            .map(|(&branch, state)| (branch, state.next, context.map.number_at(branch, position)))
            .filter(|(_, next, here)| if has_jumped { next != here && *next != here + 1 } else { here > next })
            .map(|(branch, _, here)| (branch, here))
            .collect();
        for (branch, here) in late {
            let Some(next) = self.branches.get(&branch).map(|b| b.next) else { continue };
            if !has_jumped {
                self.pass(branch, here - next, context);
            }
            if let Some(state) = self.branches.get_mut(&branch) {
                state.ahead = if here < next { here } else { state.ahead.max(here) };
                state.next = here;
                if has_jumped {
                    state.passed = 0;
                }
            }
        }
    }

    /// This many of the next baskets of a branch were not requested.
    fn pass(&mut self, branch: u32, baskets: u32, context: &mut Context<'_>) {
        let Some(state) = self.branches.get_mut(&branch) else { return };
        state.trust = (state.trust - baskets.min(2) as i8).max(-2);
        state.passed = state.passed.saturating_add(baskets);
        for number in state.next..state.next + baskets.min(64) {
            if let Some(span) = context.map.span(Basket { branch, number }) {
                context.budget.passed(span);
            }
        }
    }

    /// Adds the branches of the last matching reader from here on. `new`: the branches touched since this was last done.
    fn recall(&mut self, new: &[u32], context: &Context<'_>) -> bool {
        match &self.recalled {
            Some(set) if set.is_empty() && self.touched_branches.all().len() > MOST_RECALLED => return false,
            Some(set) if !set.is_empty() && new.iter().all(|branch| set.binary_search(branch).is_ok()) => return true,
            _ => {}
        }
        let set = context.memory.recall(context.map.structure(), self.touched_branches.all()).unwrap_or_default();
        for branch in set.iter().copied().filter(|&branch| branch < context.map.branches()) {
            let number = context.map.number_at(branch, self.position);
            self.branches.entry(branch).or_insert(Branch::new(number));
        }
        self.recalled = Some(set.to_vec());
        !set.is_empty()
    }

    /// A branch was touched for the first time: fetches baskets of branches likely to be touched, too.
    fn guess(&mut self, basket: Basket, has_missed: bool, context: &mut Context<'_>) {
        let guess = self.touched_branches.guess(context.map);
        let entry = context.map.first_entry(basket).max(self.position);
        let here = |branch| Basket { branch, number: context.map.number_at(branch, entry) };
        let pattern: Vec<Basket> = guess.pattern.into_iter().map(here).collect();
        let near: Vec<Basket> = guess.near.into_iter().map(here).collect();
        for basket in pattern {
            if !self.suspect(basket, context) {
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
            let len = context.len(basket);
            if len <= room && !self.guessed.contains(&basket.branch) && !self.branches.contains_key(&basket.branch) {
                if !self.suspect(basket, context) {
                    return;
                }
                room -= len;
            }
        }
    }

    /// Fetches a basket of a branch that was not touched; false when there is no more room for guesses.
    fn suspect(&mut self, basket: Basket, context: &mut Context<'_>) -> bool {
        if self.branches.contains_key(&basket.branch) || self.guessed.contains(&basket.branch) {
            return true;
        }
        let is_fetched = context.fetch(basket, true);
        if is_fetched {
            self.guessed.insert(basket.branch);
        }
        is_fetched
    }

    /// For a reader that jumps: the baskets of its branches that hold the same entries.
    fn fetch_here(&mut self, request: &[Basket], context: &mut Context<'_>) {
        let &[basket] = request else { return };
        let (first, last) = (context.map.first_entry(basket), context.map.last_entry(basket));
        let here = self.branches.iter_mut().filter(|(branch, state)| **branch != basket.branch && state.trust > 0);
        for (&branch, state) in here {
            let other = Basket { branch, number: context.map.number_at(branch, first) };
            let holds_all = context.map.last_entry(other) >= last;
            if holds_all && other.number == state.next && state.ahead <= other.number && context.fetch(other, false) {
                state.ahead = other.number + 1;
            }
        }
    }

    /// The next baskets of all branches, by entry, until the window is full. A reader with its own cache, which
    /// requests many bytes at once, gets as many ahead. Branches that it is `waiting` for get half a window even where
    /// others fill it, which it reads later.
    fn fetch_forward(&mut self, least: u64, waiting: &BTreeSet<u32>, context: &mut Context<'_>) {
        let mut next = BinaryHeap::new();
        let most_held = MOST_HELD.saturating_add(4 * self.branches.len() as u32);
        context.seen = 0;
        // one basket of each branch regardless of the window
        let mut room = 0;
        for (&branch, state) in self.branches.iter().filter(|(_, state)| state.trust > 0) {
            let basket = Basket { branch, number: state.ahead.max(state.next) };
            room += context.len(basket);
            if context.map.span(basket).is_some() {
                next.push(Reverse((context.map.first_entry(basket), basket)));
            }
        }
        let is_sure = self.has_stepped;
        let window = context.budget.window().max(room).max(least);
        let mut of_waiting = 0;
        while let Some(Reverse((_, basket))) = next.pop() {
            let (ahead, len) = (context.budget.ahead(), context.len(basket));
            if ahead > 0 && ahead.saturating_add(len) > window {
                if waiting.is_empty() {
                    break;
                }
                if !waiting.contains(&basket.branch) {
                    continue;
                }
                if of_waiting + len > window / 2 {
                    break;
                }
                of_waiting += len;
            }
            // the next request goes on from there
            if context.seen > most_held || !context.fetch(basket, false) {
                break;
            }
            let following = Basket { number: basket.number + 1, ..basket };
            if let Some(state) = self.branches.get_mut(&basket.branch) {
                state.ahead = following.number;
            }
            if is_sure && context.map.span(following).is_some() {
                next.push(Reverse((context.map.first_entry(following), following)));
            }
        }
    }
}
