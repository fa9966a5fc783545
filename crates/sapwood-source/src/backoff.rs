//! Attempts and the pauses between them: what the retry budgets of HTTP and XRootD have in common.
//!
//! They are separate because they count different things. An HTTP request may be sent again a number of times, each try
//! within the progress timeout, and a server says how long to wait (`Retry-After`). An XRootD file that has been read
//! once is requested again as long as the progress timeout lasts, from any server; only opening it is counted.

use crate::open::SourceOptions;
use sapwood_span::Error;
use std::time::Duration;

/// Failed attempts, and the pause before the next one: it doubles each time.
pub(crate) struct Backoff {
    attempts: u32,
    first: Duration,
    pause: Duration,
}

impl Backoff {
    pub(crate) fn new(options: &SourceOptions) -> Self {
        Self { attempts: 0, first: options.backoff, pause: options.backoff }
    }

    /// Attempts that failed.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The current pause.
    pub(crate) fn pause(&self) -> Duration {
        self.pause
    }

    /// Counts an attempt that failed.
    pub(crate) fn failed(&mut self) {
        self.attempts += 1;
    }

    /// Something arrived: the next pause is short again.
    pub(crate) fn reset(&mut self) {
        self.pause = self.first;
    }

    /// Waits before the next attempt, at least as long as the server asks; the pause after that is twice as long, up to
    /// `longest`.
    pub(crate) async fn wait(&mut self, at_least: Duration, longest: Duration) {
        tokio::time::sleep(self.pause.max(at_least)).await;
        self.pause = (self.pause * 2).min(longest);
    }

    /// The last error, with the number of attempts.
    pub(crate) fn give_up(&self, error: Error) -> Error {
        match self.attempts {
            0 | 1 => error,
            n => error.with_remedy(format!("failed after {n} attempts")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_begin_again() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let options = SourceOptions { backoff: Duration::from_micros(1), ..SourceOptions::default() };
        let mut backoff = Backoff::new(&options);
        let mut seen = Vec::new();
        for _ in 0..4 {
            backoff.failed();
            runtime.block_on(backoff.wait(Duration::ZERO, Duration::from_micros(5)));
            seen.push(backoff.pause().as_micros());
        }
        assert_eq!(seen, [2, 4, 5, 5]);
        assert!(backoff.give_up(Error::invalid("no")).to_string().ends_with("failed after 4 attempts"));
        backoff.reset();
        assert_eq!((backoff.pause(), backoff.attempts()), (Duration::from_micros(1), 4));
    }
}
