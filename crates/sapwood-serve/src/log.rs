//! The log of requests to a server.

use sapwood_span::sync::lock;
use sapwood_span::{Span, redact, redact_path};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Ranges kept with them at most: one request may have two thousand.
const RANGES: usize = 200_000;

/// Called for each request answered.
pub type Listener = Arc<dyn Fn(&Served) + Send + Sync>;

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// `GET`, `HEAD` or any other method sent; over XRootD `open`, `read`, `readv`, `pgread`, `stat`, `dirlist`,
    /// `checksum`.
    pub method: String,
    /// The path as it was sent, without its query and without the credentials of URLs in it.
    pub path: String,
    /// The ranges in the answer; none for a whole file.
    pub ranges: Vec<Span>,
    /// HTTP status of the answer; over XRootD the number of the error, or 0.
    pub status: u16,
    /// Length of the answer's body; the client may have left before its end.
    pub bytes: u64,
}

/// A request's path for display: without its query, and without possible credentials in it. A path may hold the URL of
/// an origin, with a password.
pub(crate) fn shown(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default().trim_start_matches('/');
    let url = path.split_once(":/").filter(|(scheme, _)| !scheme.is_empty() && !scheme.contains('/'));
    match url {
        Some((scheme, rest)) => format!("/{}", redact(&format!("{scheme}://{}", rest.trim_start_matches('/')))),
        None => format!("/{}", redact_path(path)),
    }
}

/// The last requests.
pub(crate) struct Log {
    most: usize,
    kept: Mutex<(VecDeque<Served>, usize)>,
}

impl Log {
    /// Keeps at most this many.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    pub(crate) fn push(&self, served: Served) {
        if self.most == 0 {
            return;
        }
        let mut kept = lock(&self.kept);
        let (log, ranges) = &mut *kept;
        *ranges += served.ranges.len();
        log.push_back(served);
        while log.len() > self.most || (*ranges > RANGES && log.len() > 1) {
            *ranges -= log.pop_front().map_or(0, |s| s.ranges.len());
        }
    }

    pub(crate) fn all(&self) -> Vec<Served> {
        lock(&self.kept).0.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_show_no_credentials() {
        for (path, text) in [
            ("/a/b c", "/a/b c"),
            ("//a?authz=SECRET", "/a"),
            ("/https://me:SECRET@host/f?x=SECRET", "/https://host/f"),
            ("/https:/me:SECRET@host/f", "/https://host/f"),
            ("//root://me:SECRET@host//f", "/root://host//f"),
            ("/f;token=SECRET", "/f;token=***"),
            ("/a:b/c", "/a:b/c"),
        ] {
            assert_eq!(shown(path), text);
        }
    }

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
