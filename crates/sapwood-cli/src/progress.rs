//! A progress bar on stderr, for a person who waits.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sapwood::query::Entries;
use sapwood::{OnRecovery, Progress, Tree};
use std::io::IsTerminal;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Nothing is shown for work that ends sooner than this.
const PATIENCE: Duration = Duration::from_millis(400);
/// Between two looks at how far the work has come.
const BEAT: Duration = Duration::from_millis(100);
/// Steps of the bar: thousandths.
const STEPS: u64 = 1000;

/// What a scan calls after every batch.
pub(crate) type Callback = Arc<dyn Fn(Progress) + Send + Sync>;

/// A bar that appears only when the work takes long, and leaves no trace.
///
/// Batches are too coarse for it where the network is slow, so it also follows the bytes that arrive.
pub(crate) struct Bar(Option<Shown>);

struct Shown {
    /// Thousandths of the entries that were delivered.
    delivered: Arc<AtomicU64>,
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    /// A bar for reading these branches, or nothing when `hidden` or when nobody looks at stderr.
    pub(crate) fn new(hidden: bool, tree: &Tree, branches: &[usize], chosen: &Entries) -> Self {
        if hidden || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let delivered = Arc::new(AtomicU64::new(0));
        let (stop, stopped) = mpsc::channel::<()>();
        let (tree, expected) = (tree.clone(), expected_bytes(tree, branches, chosen));
        let seen = delivered.clone();
        let thread = std::thread::spawn(move || {
            let before = tree.file().io().bytes_fetched;
            let begin = Instant::now();
            let mut wait = PATIENCE;
            let mut bar = None;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = BEAT;
                let bytes = tree.file().io().bytes_fetched.saturating_sub(before);
                let bar = bar.get_or_insert_with(new_bar);
                let rate = bytes as f64 / begin.elapsed().as_secs_f64().max(1e-3);
                bar.set_message(format!("{}/s", crate::units::bytes(rate as u64)));
                bar.set_position(thousandths(bytes, expected).min(STEPS - 1).max(seen.load(Relaxed)));
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        Self(Some(Shown { delivered, stop: Some(stop), thread: Some(thread) }))
    }

    /// For [`sapwood::ScanOptions::progress`].
    pub(crate) fn callback(&self) -> Option<Callback> {
        let delivered = self.0.as_ref()?.delivered.clone();
        Some(Arc::new(move |p| delivered.store(thousandths(p.entries, p.total), Relaxed)))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // it only draws: should it have panicked, the work is none the worse
            let _ = thread.join();
        }
    }
}

/// A bar for looking at all records of a file far away; nothing when `hidden` or when nobody looks at stderr.
pub(crate) fn recovery(hidden: bool) -> Option<OnRecovery> {
    if hidden || !std::io::stderr().is_terminal() {
        return None;
    }
    let shown: Mutex<Option<ProgressBar>> = Mutex::default();
    Some(OnRecovery(Arc::new(move |done, all| {
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = shown.get_or_insert_with(new_bar);
        bar.set_message("recovering");
        bar.set_position(thousandths(done, all));
        if done >= all
            && let Some(bar) = shown.take()
        {
            bar.finish_and_clear();
        }
    })))
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
    // the template is ours and right; were it not, the plain bar does as well
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {msg}  {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn thousandths(part: u64, whole: u64) -> u64 {
    (u128::from(part.min(whole)) * u128::from(STEPS) / u128::from(whole.max(1))) as u64
}

/// Bytes of the baskets that hold these entries, by the tree's header.
fn expected_bytes(tree: &Tree, branches: &[usize], chosen: &Entries) -> u64 {
    let wanted = |r: Range<u64>| match chosen {
        Entries::Range(chosen) => r.start < chosen.end && r.end > chosen.start,
        Entries::List(list) => list.touches(&r),
    };
    let branches = branches.iter().filter_map(|&i| tree.header().branches.get(i));
    branches
        .flat_map(|b| {
            let ends = b.basket_entry.iter().skip(1).copied().chain([b.entries]);
            b.basket_entry.iter().copied().zip(ends).zip(&b.basket_bytes)
        })
        .filter(|((from, to), _)| wanted(*from..*to))
        .map(|(_, &bytes)| u64::from(bytes))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::thousandths;

    #[test]
    fn parts_of_nothing_and_of_everything() {
        assert_eq!((thousandths(0, 0), thousandths(5, 0)), (0, 0));
        assert_eq!((thousandths(1, 3), thousandths(7, 3)), (333, 1000));
        assert_eq!(thousandths(u64::MAX, u64::MAX), 1000);
    }
}
