//! A proxy that fetches ahead for a job.

use crate::profile::Profile;
use crate::reader::Reader;
use crate::route::{Leg, Route};
use crate::scenario::Protocol;
use sapwood_engine::bytes_of_beginning;
use sapwood_plan::CacheSize;
use sapwood_prefetch::{BEGINNING, FileMap, RequestedSpan, TreeAt, USUAL_AHEAD};
use sapwood_sim::{Link, Proxy};
use sapwood_span::Span;

/// Seconds of a round trip to a proxy at least.
const SHORTEST: f64 = 1e-6;

/// Whether a job with this tree cache is simulated basket by basket behind a proxy that fetches ahead. With one that chooses its own size a
/// job asks so far ahead itself that one path comes nearer to what was measured.
pub(crate) fn is_fetched_ahead(cache: CacheSize) -> bool {
    cache != CacheSize::Auto
}

/// A proxy that fetches what it has not over `link`, which is the path to the job before, and what the job will ask for ahead.
pub(crate) fn fetching_ahead(profile: &Profile, reader: Reader<'_>, leg: Leg, link: &mut Link) -> Proxy {
    let Reader { workload, windows, map, .. } = reader;
    let near = Route { round_trip: leg.round_trip.max(SHORTEST), ..Route::disk(leg.bandwidth, 0.0) };
    let near = Link { open: link.open.clone(), ..near.link(workload, windows) };
    link.round_trip = link.round_trip.saturating_sub(near.round_trip);
    let size = profile.file_bytes;
    let is_http = workload.protocol == Protocol::Http;
    let head = Span::new(0, bytes_of_beginning(!is_http).min(size));
    // over HTTP the rest of it has been asked for when the proxy looks at the client's first request
    let held = if is_http { head.len } else { BEGINNING.min(head.len) };
    let tail = Span::new(size.saturating_sub(profile.to_open), profile.to_open);
    let trees = map.of(profile).map(|baskets| TreeAt { header: tail, baskets });
    Proxy {
        near,
        file: FileMap { size, trees: trees.into_iter().collect() },
        opened: vec![RequestedSpan { span: head, held }, RequestedSpan { span: tail, held: 0 }],
        most: USUAL_AHEAD,
        is_http,
    }
}
