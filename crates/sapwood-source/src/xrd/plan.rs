//! Turns wanted spans into requests.

use sapwood_span::{Span, coalesce};
use sapwood_xrd::{CHUNK, HEADER};

/// What one more range costs on the wire, in bytes: its line in the request and the header before its data.
pub(super) const RANGE_OVERHEAD: u64 = 32;
/// Bytes in one request at most. What has arrived of it when a session is lost is kept.
pub(super) const MAX_REQUEST: u64 = 64 << 20;

/// Ranges in a vector read and bytes in one of them, unless a server says otherwise.
pub(super) const VECTOR: (u32, u32) = (1024, 2_097_136);

/// Ranges that are sent together where a server accepts fewer in a vector read: several reads share the flight, and no
/// gap is read to save ranges.
const MIN_RANGES_PER_FLIGHT: u32 = 256;
/// Ranges in a vector read at most, whatever the server accepts.
const MOST_RANGES: u32 = 4096;
/// Where a range of a vector read may have no more bytes than this, plain reads, which have no such limit, cost less
/// than the headers of all its pieces.
pub(super) const SHORTEST: u32 = 4096;

/// How many ranges a vector read has here, and how many bytes one of them, within the server's limits. One range means
/// plain reads.
pub(super) fn usable(ranges: Option<u32>, bytes: Option<u32>) -> (u32, u32) {
    let (ranges, bytes) = (ranges.unwrap_or(VECTOR.0), bytes.unwrap_or(VECTOR.1));
    let ranges = if bytes < SHORTEST { 1 } else { ranges.clamp(1, MOST_RANGES) };
    (ranges, bytes.max(SHORTEST))
}

/// Ranges in one flight, where a vector read has this many.
pub(super) fn in_a_flight(ranges: u32) -> u32 {
    ranges.max(MIN_RANGES_PER_FLIGHT)
}

/// Bytes that a fresh connection sends before it hears from the other side: ten segments of the usual size (RFC 6928).
const FIRST_FLIGHT: u64 = 14_480;

/// Ranges of a vector read, at most as many as the server accepts, so that the request is sent at once over a
/// connection that has sent this many bytes: what does not fit its window waits a round trip, and so does the server.
pub(super) fn sent_at_once(most: u32, sent: u64) -> u32 {
    let fitting = (FIRST_FLIGHT - HEADER as u64) / CHUNK as u64;
    if sent >= FIRST_FLIGHT { most } else { u32::try_from(fitting).unwrap_or(most).min(most) }
}

/// Divides what is missing into requests of at most `most` bytes, each for one plain read (one span, which can be
/// checked page by page) or for one flight of vector reads, mostly a single one. `ranges` and `bytes` are the server's
/// limits of a vector read: how many, and how much in each.
pub(super) fn requests(missing: &[Span], (ranges, bytes): (u32, u32), most: u64) -> Vec<Vec<Span>> {
    let elements = |span: &Span| if ranges > 1 { span.len.div_ceil(u64::from(bytes.max(1))) } else { 1 };
    let (mut out, mut group, mut size, mut count) = (Vec::new(), Vec::new(), 0, 0);
    for span in coalesce(missing, RANGE_OVERHEAD, most).into_iter().flat_map(|c| cut(c.span, most)) {
        if !group.is_empty() && (count + elements(&span) > u64::from(in_a_flight(ranges)) || size + span.len > most) {
            out.push(std::mem::take(&mut group));
            (size, count) = (0, 0);
        }
        size += span.len;
        count += elements(&span);
        group.push(span);
    }
    out.extend(Some(group).filter(|g| !g.is_empty()));
    out.into_iter().map(|group| again(&group, (ranges, bytes))).collect()
}

/// What is still missing of a request, as one more request can hold it.
pub(super) fn again(missing: &[Span], (ranges, bytes): (u32, u32)) -> Vec<Span> {
    match missing {
        [one] => vec![*one],
        several => {
            let bytes = if ranges > 1 { u64::from(bytes) } else { u64::MAX };
            several.iter().flat_map(|s| cut(*s, bytes)).take(in_a_flight(ranges) as usize).collect()
        }
    }
}

/// Pieces of about the same size, none longer than `most`.
fn cut(span: Span, most: u64) -> impl Iterator<Item = Span> {
    let pieces = span.len.div_ceil(most.max(1)).max(1);
    let len = span.len.div_ceil(pieces).max(1);
    (0..pieces).map(move |i| {
        let start = i * len;
        Span::new(span.start + start, len.min(span.len.saturating_sub(start)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_requests_with_the_usual_limits() {
        let scattered: Vec<Span> = (0..1000).map(|i| Span::new(i * 100_000, 8000)).collect();
        assert_eq!(requests(&scattered, (1024, 2_097_136), MAX_REQUEST).len(), 1);
        assert_eq!(requests(&scattered, (300, 2_097_136), MAX_REQUEST).len(), 4);
        assert_eq!(requests(&scattered, (3, 2_097_136), MAX_REQUEST).len(), 4, "flights of several reads");
        assert_eq!(requests(&[Span::new(0, 64 << 20)], (1024, 2_097_136), 16 << 20).len(), 4);
        let one_large = [&scattered[..], &[Span::new(200 << 20, 3 << 20)]].concat();
        assert_eq!(requests(&one_large, (1024, 2_097_136), MAX_REQUEST).len(), 1);
        // Two of a megabyte are one vector read, one alone is a plain one.
        let two = [Span::new(0, 3 << 20), Span::new(5 << 20, 3 << 20)];
        assert_eq!(requests(&two, (1024, 2_097_136), MAX_REQUEST)[0].len(), 4);
        assert_eq!(requests(&two[..1], (1024, 2_097_136), MAX_REQUEST), [vec![two[0]]]);
    }

    #[test]
    fn limits_without_sense_mean_plain_reads() {
        assert_eq!(usable(None, None), VECTOR);
        assert_eq!(usable(Some(0), Some(0)), (1, SHORTEST));
        assert_eq!((usable(Some(1024), Some(1)).0, usable(Some(u32::MAX), None).0), (1, MOST_RANGES));
        let short: Vec<Span> = (0..1000).map(|i| Span::new(i * 100_000, 8000)).collect();
        let all = requests(&short, usable(Some(1024), Some(1)), MAX_REQUEST);
        assert_eq!((all.len(), all.concat()), (4, short), "nothing is cut where it is read plainly");
    }

    #[test]
    fn the_first_request_fits_the_first_window() {
        assert_eq!((sent_at_once(1024, 0), sent_at_once(1024, 300), sent_at_once(1024, 20_000)), (903, 903, 1024));
        assert_eq!((sent_at_once(10, 0), sent_at_once(10, 20_000)), (10, 10));
    }

    proptest! {
        #[test]
        fn limits_hold_and_nothing_is_left_out(
            spans in prop::collection::vec((prop_oneof![0u64..100, 0u64..5_000_000], 1u64..700_000), 1..40),
            ranges in 1u32..50, bytes in 1000u32..100_000, most in 100_000u64..20_000_000,
        ) {
            let mut at = 0;
            let spans: Vec<Span> = spans.iter().map(|(gap, len)| { at += gap + len; Span::new(at - len, *len) }).collect();
            let all = requests(&spans, (ranges, bytes), most);
            for group in all.iter().filter(|g| g.len() > 1) {
                prop_assert!(group.len() <= in_a_flight(ranges) as usize);
                prop_assert!(ranges < 2 || group.iter().all(|s| s.len <= u64::from(bytes)));
            }
            prop_assert!(all.iter().flatten().all(|s| s.len > 0) && all.iter().all(|g| g.iter().map(|s| s.len).sum::<u64>() <= most));
            let flat: Vec<Span> = all.concat();
            let joined: Vec<Span> = coalesce(&flat, 0, u64::MAX).into_iter().map(|c| c.span).collect();
            // A short gap is read with its neighbours, but not where they would be longer than a request.
            let want: Vec<Span> = coalesce(&spans, RANGE_OVERHEAD, most).into_iter().map(|c| c.span).collect();
            let want: Vec<Span> = coalesce(&want, 0, u64::MAX).into_iter().map(|c| c.span).collect();
            prop_assert_eq!(joined, want);
        }
    }
}
