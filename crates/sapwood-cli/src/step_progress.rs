//! A progress bar on stderr for work that counts its own steps.

use crate::units;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Nothing is shown for work that ends sooner than this.
const PATIENCE: Duration = Duration::from_millis(400);

/// A bar that appears when the work takes long and leaves no trace; cheap to clone.
#[derive(Clone)]
pub(crate) struct StepProgress(Option<(ProgressBar, Instant)>);

impl StepProgress {
    /// A bar, or nothing when `hidden` or when nobody looks at stderr.
    pub(crate) fn new(hidden: bool) -> Self {
        if hidden || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        // the template is ours and right; were it not, the plain bar does as well
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {msg}") {
            bar.set_style(style);
        }
        Self(Some((bar, Instant::now())))
    }

    /// Shows that `done` of `all` steps are behind us, and how many bytes were written.
    pub(crate) fn tell(&self, done: u64, all: u64, bytes: u64) {
        let Some((bar, begun)) = &self.0 else { return };
        if begun.elapsed() < PATIENCE {
            return;
        }
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_length(all);
        bar.set_position(done);
        bar.set_message(format!("{} written", units::bytes(bytes)));
    }

    /// Takes the bar away.
    pub(crate) fn done(&self) {
        if let Some((bar, _)) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
