//! Hooks for perf stats: who listens to the reading of this process, what files and scans tell them.
//!
//! An [`Observer`] hears of every file that is used and of every scan that ends, while its [`Observing`] lives. With none,
//! scans count what they always count ([`crate::IoReport`]) and nothing more; with one, the planner's log is kept until a
//! scan ends. What becomes of the numbers is the observer's affair.

mod cpu;
mod file;
mod trace;

pub use cpu::cpu_seconds;
pub(crate) use file::{Counters, FileMeters};
pub use file::{FileCounts, FileMeter};
pub(crate) use trace::Probe;
pub use trace::{DecodeTimes, ScanTrace};

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Hears of the reading of this process.
pub trait Observer: Send + Sync {
    /// A file is opened, or used for the first time since the observer began. Comes once for each file.
    fn file_used(&self, meter: Arc<FileMeter>);

    /// A scan has ended; only those that began while the observer was there are told of.
    fn scan_ended(&self, trace: &ScanTrace);
}

/// Those who listen now.
static OBSERVERS: Mutex<Vec<Registered>> = Mutex::new(Vec::new());
/// How many, for a look without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The number of the next observer.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// An observer, and the number that tells it apart.
#[derive(Clone)]
pub(crate) struct Registered {
    number: u64,
    observer: Arc<dyn Observer>,
}

/// While this lives, its observer listens.
pub struct Observing(u64);

/// Begins to tell an observer of all reading. Several may listen at the same time.
#[must_use = "dropping it ends the listening"]
pub fn observe(observer: Arc<dyn Observer>) -> Observing {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut all = lock(&OBSERVERS);
    all.push(Registered { number, observer });
    COUNT.store(all.len(), Ordering::Relaxed);
    Observing(number)
}

impl Drop for Observing {
    fn drop(&mut self) {
        let mut all = lock(&OBSERVERS);
        let ended = all.iter().position(|r| r.number == self.0).map(|i| all.remove(i));
        COUNT.store(all.len(), Ordering::Relaxed);
        drop(all);
        // not under the lock: it may be the observer's last owner
        drop(ended);
    }
}

/// The observers that listen now; none in nearly all processes.
pub(crate) fn observers() -> Vec<Registered> {
    if COUNT.load(Ordering::Relaxed) == 0 { Vec::new() } else { lock(&OBSERVERS).clone() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
