//! Work done by several threads whose results are consumed in order: opening inputs, reading ahead, compressing.

use sapwood_span::defect::{caught, inject};
use sapwood_span::sync::{lock, wait};
use sapwood_span::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard};

/// State shared by the threads.
struct Shared<R> {
    state: Mutex<State<R>>,
    /// Something in the state has changed.
    changed: Condvar,
}

struct State<R> {
    /// Results not taken yet, by number.
    done: BTreeMap<usize, R>,
    /// Results that were taken.
    taken: usize,
    /// How many jobs there are, once known.
    total: Option<usize>,
    /// No more results are wanted.
    stop: bool,
    /// Why there are no more, where a thread panicked.
    defect: Option<Error>,
}

impl<R> Shared<R> {
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        lock(&self.state)
    }

    fn wait<'a>(&self, guard: MutexGuard<'a, State<R>>) -> MutexGuard<'a, State<R>> {
        wait(&self.changed, guard)
    }
}

/// Ends the work however its user ends: threads waiting for room must not wait forever.
struct Stop<'a, R>(&'a Shared<R>);

impl<R> Drop for Stop<'_, R> {
    fn drop(&mut self) {
        self.0.lock().stop = true;
        self.0.changed.notify_all();
    }
}

/// The results in the order of their jobs.
pub struct Results<'a, R>(&'a Shared<R>);

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

/// Runs `work` for all `jobs` on this many threads and passes the results, in order, to `consume`. At most `window`
/// results are in progress or wait to be taken: that bounds memory. Each thread has its own state created by `begin`.
///
/// # Errors
/// The error of `consume`. A thread that panics ends the results early, and what `consume` did with them does not
/// count: the panic becomes the error, so nothing may be committed before this returns.
pub fn ordered<J, W, R: Send, T>(
    threads: usize,
    window: usize,
    jobs: impl Iterator<Item = J> + Send,
    begin: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, J) -> R + Sync,
    consume: impl FnOnce(Results<'_, R>) -> Result<T>,
) -> Result<T> {
    let state = State { done: BTreeMap::new(), taken: 0, total: None, stop: false, defect: None };
    let shared = Shared { state: Mutex::new(state), changed: Condvar::new() };
    let jobs = Mutex::new((jobs, 0));
    let (shared, jobs, begin, work) = (&shared, &jobs, &begin, &work);
    let out = std::thread::scope(|scope| {
        let stop = Stop(shared);
        for _ in 0..threads.max(1) {
            scope.spawn(move || {
                let ended = caught(|| {
                    let mut own = begin();
                    while let Some((n, job)) = take(jobs, shared, window.max(1)) {
                        inject::here("ordered");
                        let result = work(&mut own, job);
                        shared.lock().done.insert(n, result);
                        shared.changed.notify_all();
                    }
                    Ok(())
                });
                if let Err(defect) = ended {
                    // the consumer must not wait for its result
                    let stop = Stop(shared);
                    shared.lock().defect.get_or_insert(defect);
                    drop(stop);
                }
            });
        }
        let out = consume(Results(shared));
        drop(stop);
        out
    });
    let defect = shared.lock().defect.take();
    defect.map_or(out, Err)
}

/// The next job, once there is room for its result. A waiting thread holds only the lock on the jobs.
fn take<J, R>(jobs: &Mutex<(impl Iterator<Item = J>, usize)>, shared: &Shared<R>, window: usize) -> Option<(usize, J)> {
    // the thread that panicked over the jobs reports it
    let Ok(mut jobs) = jobs.lock() else { return None };
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
            |results| Ok(results.inspect(|_| assert!(under_way.fetch_sub(1, SeqCst) > 0)).collect()),
        )
        .unwrap();
        assert_eq!(out, (0..500).map(|n| n * 2).collect::<Vec<_>>());
        // the one just taken is counted until `inspect` has seen it
        assert!(most.load(SeqCst) <= 7, "{most:?}");
    }

    #[test]
    fn whoever_has_enough_may_leave() {
        let first = ordered(2, 4, 0.., || (), |(), n: u64| n, |mut r| Ok(r.next()));
        assert_eq!(first.unwrap(), Some(0));
        let nested = ordered(
            2,
            2,
            0..100u32,
            || (),
            |(), n| n,
            |outer| ordered(2, 3, outer.flat_map(|n| [n, n]), || (), |(), n| n, |r| Ok(r.map(u64::from).sum::<u64>())),
        );
        assert_eq!(nested.unwrap(), 9900);
    }

    #[test]
    fn a_panic_of_a_worker_is_an_error_whatever_was_made_of_the_results() {
        for threads in [1, 4] {
            let work = |(): &mut (), n: u32| if n == 37 { panic!("over {n}") } else { n };
            let e = ordered(threads, 8, 0..100, || (), work, |r| Ok(r.count())).unwrap_err();
            assert!(e.what().contains("a bug in Sapwood: over 37"), "{e}");
            // the iterator of jobs, likewise
            let jobs = (0..100).map(|n| if n == 37 { panic!("no job {n}") } else { n });
            let e = ordered(threads, 8, jobs, || (), |(), n: u32| n, |r| Ok(r.count())).unwrap_err();
            assert!(e.what().contains("no job 37"), "{e}");
        }
    }
}
