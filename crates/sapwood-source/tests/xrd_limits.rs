//! XRootD servers that accept few or short ranges in a vector read: the cost stays in proportion to what is wanted.

mod common;

use common::xrd_scripted::{XrdServer, good};
use common::{fetch, impatient, noise, open_right, runtime};
use sapwood_source::SourceStats;
use sapwood_span::Span;
use sapwood_xrd::Request;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const SIZE: usize = 6_000_000;

/// What reading scattered spans cost.
struct Cost {
    /// Bytes of the requests and of the answers.
    wire: u64,
    requests: usize,
    flights: usize,
    stats: SourceStats,
}

fn cost(limits: &'static str, spans: &[Span]) -> Cost {
    let (file, wire) = (noise(SIZE), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&wire);
    let server = XrdServer::far(Duration::from_millis(5), move |asked, back| {
        let mut out = Vec::new();
        asked.request.encode(0, &mut out);
        let before = back.len();
        let then = match &asked.request {
            Request::Query { .. } => back.ok(limits.as_bytes()),
            _ => good(asked, back, &file),
        };
        count.fetch_add((out.len() + back.len() - before) as u64, Ordering::Relaxed);
        then
    });
    let (rt, file) = (runtime(), noise(SIZE));
    let options = sapwood_source::SourceOptions { progress_timeout: Duration::from_secs(30), ..impatient() };
    let opening = open_right(&rt, &server.url(), &options, &file);
    let opening = opening.unwrap();
    let (before, flights) = (server.log().len(), server.flights());
    wire.store(0, Ordering::Relaxed);
    fetch(&rt, &opening.source, spans, &file).unwrap();
    Cost {
        wire: wire.load(Ordering::Relaxed),
        requests: server.log().len() - before,
        flights: server.flights() - flights,
        stats: opening.source.stats(),
    }
}

/// Scattered spans of this length.
fn scattered(len: u64) -> Vec<Span> {
    (0..1000).map(|i| Span::new(i * 5900 + i * 13 % 700, len)).collect()
}

#[test]
fn limits_of_one_cost_little_more_than_what_is_wanted() {
    for (limits, len) in [
        ("1\n2097136\n", 1400),
        ("2\n2097136\n", 1400),
        ("1024\n1\n", 140),
        ("1024\n1\n", 1400),
        ("1\n1\n", 140),
        ("0\n0\n", 1400),
        ("4000000000\n1\n", 1400),
        ("-1\n-1\n", 1400),
    ] {
        let cost = cost(limits, &scattered(len));
        let wanted = 1000 * len;
        assert!(cost.wire <= wanted * 3 / 2, "{limits:?}: {} bytes for {wanted}", cost.wire);
        // a thousand reads in at most four flights on a session, and the cost of opening further sessions
        assert!(cost.flights <= 12 && cost.requests <= 1020, "{limits:?}: {} flights", cost.flights);
    }
}

#[test]
fn reads_of_a_limit_of_one_are_sent_together() {
    let cost = cost("1\n2097136\n", &scattered(300)[..200]);
    assert!(cost.flights <= 2, "{} flights", cost.flights);
    assert!(cost.stats.requests >= 200, "each of them is a request: {:?}", cost.stats);
}
