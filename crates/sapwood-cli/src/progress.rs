//! A progress bar on stderr, for a person who waits.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sapwood::Progress;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Nothing is shown for work that ends sooner than this.
const PATIENCE: Duration = Duration::from_millis(400);

/// What a scan calls after every batch.
pub type Callback = Arc<dyn Fn(Progress) + Send + Sync>;

/// A bar that appears only when the work takes long, and leaves no trace.
pub struct Bar(Option<Arc<State>>);

struct State {
    begin: Instant,
    bar: Mutex<Option<ProgressBar>>,
}

impl Bar {
    /// A bar, or nothing when `hidden` or when nobody looks at stderr.
    pub fn new(hidden: bool) -> Self {
        let shown = !hidden && std::io::stderr().is_terminal();
        Self(shown.then(|| Arc::new(State { begin: Instant::now(), bar: Mutex::new(None) })))
    }

    /// For [`sapwood::ScanOptions::progress`].
    pub fn callback(&self) -> Option<Callback> {
        let state = self.0.clone()?;
        Some(Arc::new(move |p| state.show(p)))
    }
}

impl State {
    fn show(&self, p: Progress) {
        if self.begin.elapsed() < PATIENCE {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(p.total), ProgressDrawTarget::stderr());
            // the template is ours and right; were it not, the plain bar does as well
            if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {msg}  {eta} left") {
                bar.set_style(style);
            }
            bar
        });
        let rate = p.bytes as f64 / self.begin.elapsed().as_secs_f64().max(1e-3);
        bar.set_message(format!("{}/s", crate::units::bytes(rate as u64)));
        bar.set_position(p.entries);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(state) = &self.0 {
            if let Some(bar) = state.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
                bar.finish_and_clear();
            }
        }
    }
}
