//! Hooks for perf stats: what files and scans report while an observer is registered.
//!
//! An [`Observer`] is called for every file that is used and for every scan that ends, until its [`Observing`] is dropped.
//! Without observers, scans count what they always count ([`crate::IoReport`]) and nothing more; with one, the planner's
//! log is kept until the scan ends. What is computed from the numbers is up to the observer.

mod cpu;
mod file;
mod trace;

pub use cpu::cpu_seconds;
pub(crate) use file::{Counters, FileMeters};
pub use file::{FileCounts, FileMeter};
pub(crate) use trace::Probe;
pub use trace::{DecodeTimes, ScanTrace};

use sapwood_span::sync::lock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Receives what files and scans of this process report.
pub trait Observer: Send + Sync {
    /// A file is opened, or used for the first time since the observer was registered. Called once for each file.
    fn file_used(&self, meter: Arc<FileMeter>);

    /// A scan has ended that began after the observer was registered.
    fn scan_ended(&self, trace: &ScanTrace);
}

/// The registered observers.
static OBSERVERS: Mutex<Vec<Registered>> = Mutex::new(Vec::new());
/// How many, for a look without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The number that the next observer gets.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// An observer, and the number that tells it apart.
#[derive(Clone)]
pub(crate) struct Registered {
    number: u64,
    observer: Arc<dyn Observer>,
}

/// Keeps an observer registered until it is dropped.
pub struct Observing(u64);

/// Registers an observer. There may be several at the same time.
#[must_use = "the observer is removed when this is dropped"]
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

/// The registered observers; none in nearly all processes.
pub(crate) fn observers() -> Vec<Registered> {
    if COUNT.load(Ordering::Relaxed) == 0 { Vec::new() } else { lock(&OBSERVERS).clone() }
}
