//! What was asked of a server.

use sapwood_span::Span;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Ranges remembered with them, at most: one request may have two thousand.
const RANGES: usize = 200_000;

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// `GET`, `HEAD` or what else was tried; over XRootD `open`, `read`, `readv`, `pgread`, `stat`, `dirlist`, `checksum`.
    pub method: String,
    /// The path as it was sent, without query.
    pub path: String,
    /// The ranges that the answer brings; none for a whole file.
    pub ranges: Vec<Span>,
    /// HTTP status of the answer; over XRootD the number of the error, or 0.
    pub status: u16,
    /// Length of the answer's body; the client may have left before its end.
    pub bytes: u64,
}

/// The last requests.
pub(crate) struct Log {
    most: usize,
    kept: Mutex<(VecDeque<Served>, usize)>,
}

impl Log {
    /// Remembers so many.
    pub fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    pub fn push(&self, served: Served) {
        if self.most == 0 {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (log, ranges) = &mut *kept;
        *ranges += served.ranges.len();
        log.push_back(served);
        while log.len() > self.most || (*ranges > RANGES && log.len() > 1) {
            *ranges -= log.pop_front().map_or(0, |s| s.ranges.len());
        }
    }

    pub fn all(&self) -> Vec<Served> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).0.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_grow() {
        let served = |ranges: usize| Served {
            method: "GET".into(),
            path: "/".into(),
            ranges: vec![Span::new(0, 1); ranges],
            status: 206,
            bytes: 1,
        };
        let log = Log::new(1000);
        (0..5000).for_each(|_| log.push(served(1)));
        assert_eq!(log.all().len(), 1000);
        (0..500).for_each(|_| log.push(served(2000)));
        assert_eq!(log.all().iter().map(|s| s.ranges.len()).sum::<usize>(), RANGES);
        let off = Log::new(0);
        off.push(served(1));
        assert!(off.all().is_empty());
    }
}
