//! Work that several threads do and one takes over in order: opening inputs, reading ahead, packing.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What the threads share.
struct Shared<R> {
    state: Mutex<State<R>>,
    /// Something in the state has changed.
    changed: Condvar,
}

struct State<R> {
    /// Results that nobody took yet, by number.
    done: BTreeMap<usize, R>,
    /// Results that were taken.
    taken: usize,
    /// How many jobs there are, once that is known.
    total: Option<usize>,
    /// Nobody wants any more results.
    stop: bool,
}

impl<R> Shared<R> {
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, guard: MutexGuard<'a, State<R>>) -> MutexGuard<'a, State<R>> {
        self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the work however its user ends: threads that wait for room must not wait for ever.
struct Stop<'a, R>(&'a Shared<R>);

impl<R> Drop for Stop<'_, R> {
    fn drop(&mut self) {
        self.0.lock().stop = true;
        self.0.changed.notify_all();
    }
}

/// The results in the order of their jobs.
pub(crate) struct Results<'a, R>(&'a Shared<R>);

impl<R> Iterator for Results<'_, R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        let mut state = self.0.lock();
        loop {
            let next = state.taken;
            if let Some(r) = state.done.remove(&next) {
                state.taken += 1;
                drop(state);
                self.0.changed.notify_all();
                return Some(r);
            }
            if state.stop || state.total.is_some_and(|t| next >= t) {
                return None;
            }
            state = self.0.wait(state);
        }
    }
}

/// Does `work` for all `jobs` on so many threads and hands the results, in order, to `consume`. At most `window` results
/// are under way or wait to be taken: that bounds memory. Each thread has a state of its own made by `begin`.
///
/// A thread that panics ends the results early and panics here.
pub(crate) fn ordered<J, W, R: Send, T>(
    threads: usize,
    window: usize,
    jobs: impl Iterator<Item = J> + Send,
    begin: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, J) -> R + Sync,
    consume: impl FnOnce(Results<'_, R>) -> T,
) -> T {
    let state = State { done: BTreeMap::new(), taken: 0, total: None, stop: false };
    let shared = Shared { state: Mutex::new(state), changed: Condvar::new() };
    let jobs = Mutex::new((jobs, 0));
    let (shared, jobs, begin, work) = (&shared, &jobs, &begin, &work);
    std::thread::scope(|scope| {
        let stop = Stop(shared);
        for _ in 0..threads.max(1) {
            scope.spawn(move || {
                // should the work panic, the consumer must not wait for its result
                let panicked = Stop(shared);
                let mut own = begin();
                while let Some((n, job)) = take(jobs, shared, window.max(1)) {
                    let result = work(&mut own, job);
                    shared.lock().done.insert(n, result);
                    shared.changed.notify_all();
                }
                std::mem::forget(panicked);
            });
        }
        let out = consume(Results(shared));
        drop(stop);
        out
    })
}

/// The next job, once there is room for its result. Whoever waits here holds the jobs and nothing else.
fn take<J, R>(jobs: &Mutex<(impl Iterator<Item = J>, usize)>, shared: &Shared<R>, window: usize) -> Option<(usize, J)> {
    let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
    let mut state = shared.lock();
    while !state.stop && state.total.is_none() && jobs.1 >= state.taken + window {
        state = shared.wait(state);
    }
    if state.stop || state.total.is_some() {
        return None;
    }
    drop(state);
    let n = jobs.1;
    match jobs.0.next() {
        Some(job) => {
            jobs.1 += 1;
            Some((n, job))
        }
        None => {
            shared.lock().total = Some(n);
            shared.changed.notify_all();
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn results_come_in_order_and_the_window_holds() {
        let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let out: Vec<usize> = ordered(
            4,
            6,
            0..500,
            || (),
            |(), n: usize| {
                most.fetch_max(under_way.fetch_add(1, SeqCst) + 1, SeqCst);
                if n.is_multiple_of(7) {
                    std::thread::yield_now();
                }
                n * 2
            },
            |results| results.inspect(|_| assert!(under_way.fetch_sub(1, SeqCst) > 0)).collect(),
        );
        assert_eq!(out, (0..500).map(|n| n * 2).collect::<Vec<_>>());
        // the one that is just taken is counted until `inspect` has seen it
        assert!(most.load(SeqCst) <= 7, "{most:?}");
    }

    #[test]
    fn whoever_has_enough_may_leave() {
        let first = ordered(2, 4, 0.., || (), |(), n: u64| n, |mut r| r.next());
        assert_eq!(first, Some(0));
        let nested = ordered(
            2,
            2,
            0..100u32,
            || (),
            |(), n| n,
            |outer| ordered(2, 3, outer.flat_map(|n| [n, n]), || (), |(), n| n, |r| r.map(u64::from).sum::<u64>()),
        );
        assert_eq!(nested, 9900);
    }
}
