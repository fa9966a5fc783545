//! Files read by other code: an object store's client, a Python file object.

use crate::source::{BoxFuture, FetchReport, Opening, Sink, Source, SourceStats};
use crate::{bounds, ended};
use bytes::Bytes;
use sapwood_span::{Error, ErrorKind, Limits, Result, Span, coalesce};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use tokio::runtime::Handle;

/// Gaps up to this many bytes are read over: one more range may be one more request to a distant store.
const GAP: u64 = 32 << 10;

/// Bytes of one call at most; more are read in several calls, to bound memory and show progress.
const MAX_REQUEST: u64 = 32 << 20;

/// Ranges of one call at most.
const MAX_RANGES: usize = 256;

/// What reads the bytes of one file.
pub trait ReadRanges: Send + Sync {
    /// For messages.
    fn name(&self) -> &str;

    /// Size of the file in bytes.
    fn size(&self) -> u64;

    /// Reads ranges, which ascend, do not overlap, are not empty and are inside the file: exactly their bytes, in
    /// order. It may block; several threads may call it at once.
    ///
    /// # Errors
    /// Any error of the read.
    fn read_ranges(&self, ranges: &[Span]) -> Result<Vec<Vec<u8>>>;
}

/// A source over [`ReadRanges`]. Its calls run on the runtime's blocking threads.
struct ReaderSource {
    reader: Arc<dyn ReadRanges>,
    name: String,
    size: u64,
    handle: Handle,
    calls: AtomicU64,
    ranges: AtomicU64,
    payload: AtomicU64,
    wire: AtomicU64,
}

/// Reads both ends of a file through `reader`.
///
/// # Errors
/// Any error of the reader.
pub async fn open_reader(reader: Arc<dyn ReadRanges>, head: u64, tail: u64, handle: &Handle) -> Result<Opening> {
    let (name, size) = (reader.name().to_owned(), reader.size());
    let counter = AtomicU64::default;
    let source = Arc::new(ReaderSource {
        reader,
        name,
        size,
        handle: handle.clone(),
        calls: counter(),
        ranges: counter(),
        payload: counter(),
        wire: counter(),
    });
    let (head, tail) = (head.min(size), tail.min(size));
    let spans = [Span::new(0, head), Span::new(size - tail, tail)];
    let mut ends = source.clone().read(spans.to_vec()).await?.0.into_iter();
    let (head, tail) = (ends.next().unwrap_or_default(), ends.next().unwrap_or_default());
    Ok(Opening { source, size, head, tail: (spans[1].start, tail) })
}

impl ReaderSource {
    /// The bytes of some spans, and how many were read for them including gaps.
    async fn read(self: Arc<Self>, spans: Vec<Span>) -> Result<(Vec<Bytes>, u64)> {
        let joined = coalesce(&spans, GAP, MAX_REQUEST);
        let ranges: Vec<Span> = joined.iter().map(|c| c.span).collect();
        let mut out = vec![Bytes::new(); spans.len()];
        if ranges.is_empty() {
            return Ok((out, 0));
        }
        let wire = ranges.iter().map(|s| s.len).sum();
        self.calls.fetch_add(1, Relaxed);
        self.ranges.fetch_add(ranges.len() as u64, Relaxed);
        self.wire.fetch_add(wire, Relaxed);
        let reader = Arc::clone(&self.reader);
        let read = self.handle.spawn_blocking(move || reader.read_ranges(&ranges)).await.map_err(ended)??;
        if read.len() != joined.len() {
            let what = format!("its reader returned {} ranges instead of {}", read.len(), joined.len());
            return Err(Error::new(ErrorKind::Protocol, what));
        }
        for (range, bytes) in joined.into_iter().zip(read) {
            if bytes.len() as u64 != range.span.len {
                let what = format!("its reader returned {} bytes instead of {}", bytes.len(), range.span.len);
                let error = Error::new(ErrorKind::Protocol, what).at(range.span);
                return Err(error.with_remedy("the file may have changed: open it again"));
            }
            let bytes = Bytes::from(bytes);
            for index in range.members {
                // inside the range, whose bytes are all here
                let start = (spans[index].start - range.span.start) as usize;
                out[index] = bytes.slice(start..start + spans[index].len as usize);
            }
        }
        Ok((out, wire))
    }
}

/// Spans in calls of a bounded size, with their indices.
fn calls(spans: &[Span]) -> Vec<Vec<(usize, Span)>> {
    let mut order: Vec<(usize, Span)> = spans.iter().copied().enumerate().collect();
    order.sort_by_key(|(_, span)| span.start);
    let mut out: Vec<Vec<(usize, Span)>> = Vec::new();
    let mut bytes = 0u64;
    for (index, span) in order {
        bytes = bytes.saturating_add(span.len);
        match out.last_mut() {
            Some(call) if call.len() < MAX_RANGES && bytes <= MAX_REQUEST => call.push((index, span)),
            _ => {
                bytes = span.len;
                out.push(vec![(index, span)]);
            }
        }
    }
    out
}

impl Source for ReaderSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn limits(&self) -> Limits {
        Limits {
            max_ranges: MAX_RANGES,
            max_range_bytes: u64::MAX,
            max_request_bytes: MAX_REQUEST,
            queue: 1,
            streams: None,
            max_in_flight: 4,
            range_overhead: GAP,
            round_trip: None,
            bandwidth: None,
        }
    }

    fn is_local(&self) -> bool {
        false
    }

    fn fetch(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        Box::pin(async move {
            let begin = Instant::now();
            bounds::check(&spans, self.size, &self.name)?;
            let mut report = FetchReport { payload: bounds::covered(&spans), ..FetchReport::default() };
            for call in calls(&spans) {
                let wanted = call.iter().map(|(_, span)| *span).collect();
                let (parts, wire) = self.clone().read(wanted).await.map_err(|e| e.in_file(&self.name))?;
                if report.requests == 0 {
                    report.first_byte = begin.elapsed();
                }
                report.requests = report.requests.saturating_add(u32::from(wire > 0));
                report.wire = report.wire.saturating_add(wire);
                sink.moved(wire);
                for ((index, _), bytes) in call.into_iter().zip(parts) {
                    sink.part(index, bytes);
                }
            }
            self.payload.fetch_add(report.payload, Relaxed);
            report.total = begin.elapsed();
            Ok(report)
        })
    }

    fn stats(&self) -> SourceStats {
        let of = |counter: &AtomicU64| counter.load(Relaxed);
        SourceStats {
            requests: of(&self.calls),
            ranges: of(&self.ranges),
            payload: of(&self.payload),
            wire: of(&self.wire),
            round_trips: of(&self.calls),
            ..SourceStats::default()
        }
    }
}
