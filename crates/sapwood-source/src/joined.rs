//! Several files read as one.

use crate::source::{BoxFuture, FetchReport, Sink, Source, SourceStats};
use bytes::Bytes;
use sapwood_span::{Error, Limits, Result, Span};
use std::sync::Arc;
use std::task::Poll;

/// Distance between two files: no gap this wide is read over.
const APART: u64 = 1 << 30;

/// Concatenated files, so that a planner can treat them as one.
#[derive(Clone)]
pub struct Joined {
    /// Where each begins, ascending.
    parts: Vec<(u64, Arc<dyn Source>)>,
    end: u64,
}

impl Joined {
    /// A file, at its own positions.
    pub fn new(first: Arc<dyn Source>, size: u64) -> Self {
        Self { parts: vec![(0, first)], end: size }
    }

    /// Adds a file; returns where it begins.
    ///
    /// # Errors
    /// `Corrupt` for impossible sizes.
    pub fn add(&mut self, source: Arc<dyn Source>, size: u64) -> Result<u64> {
        let begin = self.end.checked_add(APART);
        let Some((begin, end)) = begin.and_then(|begin| Some((begin, begin.checked_add(size)?))) else {
            return Err(Error::corrupt(format!("a file of {size} bytes")).in_file(source.name()));
        };
        self.parts.push((begin, source));
        self.end = end;
        Ok(begin)
    }

    fn first(&self) -> &Arc<dyn Source> {
        &self.parts[0].1
    }

    /// The file in which a span begins, and the span relative to it.
    fn part_of(&self, span: Span) -> (&Arc<dyn Source>, Span) {
        let part = self.parts.partition_point(|(begin, _)| *begin <= span.start) - 1;
        let (begin, source) = &self.parts[part];
        (source, Span::new(span.start - begin, span.len))
    }

    /// Reads from each file the spans in it, from all concurrently.
    fn fetch_as(
        &self,
        spans: &[Span],
        sink: &Arc<dyn Sink>,
        fetch: impl Fn(Arc<dyn Source>, Vec<Span>, Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>>,
    ) -> BoxFuture<'static, Result<FetchReport>> {
        let mut shares: Vec<(Vec<Span>, Vec<usize>)> = vec![Default::default(); self.parts.len()];
        for (index, span) in spans.iter().enumerate() {
            let part = self.parts.partition_point(|(begin, _)| *begin <= span.start) - 1;
            shares[part].0.push(Span::new(span.start - self.parts[part].0, span.len));
            shares[part].1.push(index);
        }
        let shares = self.parts.iter().zip(shares).filter(|(_, (spans, _))| !spans.is_empty());
        let run = |((_, source), (spans, indices)): (&(u64, Arc<dyn Source>), _)| {
            fetch(Arc::clone(source), spans, Arc::new(Share { indices, sink: Arc::clone(sink) }))
        };
        let running = shares.map(run).collect();
        Box::pin(async move { Ok(sum(together(running).await?)) })
    }
}

/// Awaits all; the first error cancels the others.
async fn together(mut running: Vec<BoxFuture<'static, Result<FetchReport>>>) -> Result<Vec<FetchReport>> {
    let mut reports = Vec::with_capacity(running.len());
    std::future::poll_fn(move |cx| {
        let mut failed = None;
        running.retain_mut(|one| match one.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(Ok(report)) => {
                reports.push(report);
                false
            }
            Poll::Ready(Err(error)) => {
                failed.get_or_insert(error);
                false
            }
        });
        match failed {
            Some(error) => Poll::Ready(Err(error)),
            None if running.is_empty() => Poll::Ready(Ok(std::mem::take(&mut reports))),
            None => Poll::Pending,
        }
    })
    .await
}

fn sum(reports: Vec<FetchReport>) -> FetchReport {
    let first_byte = reports.iter().map(|r| r.first_byte).filter(|t| !t.is_zero()).min().unwrap_or_default();
    let start = FetchReport {
        first_byte,
        compared: !reports.is_empty(),
        compared_at_end: !reports.is_empty(),
        ..FetchReport::default()
    };
    reports.iter().fold(start, |all, one| FetchReport {
        first_byte,
        total: all.total.max(one.total),
        payload: all.payload + one.payload,
        wire: all.wire + one.wire,
        requests: all.requests + one.requests,
        retries: all.retries + one.retries,
        compared: all.compared && one.compared,
        compared_at_end: all.compared_at_end && one.compared_at_end,
    })
}

/// The part of a fetch that reads one of the files.
struct Share {
    /// For each of its spans the index among all.
    indices: Vec<usize>,
    sink: Arc<dyn Sink>,
}

impl Sink for Share {
    fn part(&self, index: usize, bytes: Bytes) {
        if let Some(&index) = self.indices.get(index) {
            self.sink.part(index, bytes);
        }
    }

    fn moved(&self, bytes: u64) {
        self.sink.moved(bytes);
    }
}

impl Source for Joined {
    fn name(&self) -> &str {
        self.first().name()
    }

    fn size(&self) -> Option<u64> {
        Some(self.end)
    }

    fn limits(&self) -> Limits {
        let others = self.parts.iter().skip(1).map(|(_, source)| source.limits());
        others.fold(self.first().limits(), |all, one| Limits {
            max_ranges: all.max_ranges.min(one.max_ranges),
            max_range_bytes: u64::MAX,
            max_request_bytes: all.max_request_bytes.min(one.max_request_bytes),
            max_in_flight: all.max_in_flight.min(one.max_in_flight),
            range_overhead: all.range_overhead.max(one.range_overhead),
            ..all
        })
    }

    fn is_local(&self) -> bool {
        self.parts.iter().all(|(_, source)| source.is_local())
    }

    fn fetch(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(&spans, &sink, |source, spans, sink| source.fetch(spans, sink))
    }

    fn fetch_soon(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(&spans, &sink, |source, spans, sink| source.fetch_soon(spans, sink))
    }

    fn fetch_last(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(&spans, &sink, |source, spans, sink| source.fetch_last(spans, sink))
    }

    fn is_held(&self, span: Span) -> bool {
        let (part, span) = self.part_of(span);
        part.is_held(span)
    }

    fn read_held(&self, span: Span) -> Option<Bytes> {
        let (part, span) = self.part_of(span);
        part.read_held(span)
    }

    fn remarks(&self) -> Vec<String> {
        self.parts.iter().flat_map(|(_, source)| source.remarks()).collect()
    }

    fn whole_file_remark(&self) -> Option<String> {
        self.parts.iter().find_map(|(_, source)| source.whole_file_remark())
    }

    fn prepare(&self, requests: usize) {
        self.parts.iter().for_each(|(_, source)| source.prepare(requests));
    }

    fn stats(&self) -> SourceStats {
        let others = self.parts.iter().skip(1).map(|(_, source)| source.stats());
        others.fold(self.first().stats(), |all, one| SourceStats {
            requests: all.requests + one.requests,
            ranges: all.ranges + one.ranges,
            payload: all.payload + one.payload,
            wire: all.wire + one.wire,
            connections: all.connections + one.connections,
            round_trips: all.round_trips + one.round_trips,
            retries: all.retries + one.retries,
            redirects: all.redirects + one.redirects,
            fallbacks: all.fallbacks + one.fallbacks,
            cached_bytes: all.cached_bytes + one.cached_bytes,
            cached_reads: all.cached_reads + one.cached_reads,
            ..all
        })
    }

    fn close(&self) {
        self.parts.iter().for_each(|(_, source)| source.close());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_local;
    use std::sync::Mutex;

    struct Kept(Mutex<Vec<Option<Bytes>>>);

    impl Sink for Kept {
        fn part(&self, index: usize, bytes: Bytes) {
            let before = self.0.lock().unwrap()[index].replace(bytes);
            assert!(before.is_none(), "span {index} twice");
        }
    }

    fn local(name: &str, text: &str) -> (Arc<dyn Source>, std::path::PathBuf) {
        let path = std::env::temp_dir().join(format!("sapwood-joined-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        (open_local(&path, 0, 0).unwrap().source, path)
    }

    fn read(source: &Arc<dyn Source>, spans: &[Span]) -> Result<(Vec<String>, FetchReport)> {
        let kept = Arc::new(Kept(Mutex::new(vec![None; spans.len()])));
        let mut fetch = source.clone().fetch(spans.to_vec(), kept.clone());
        let Poll::Ready(report) = fetch.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
        else {
            panic!("local files make nobody wait");
        };
        let text = |bytes: Option<Bytes>| String::from_utf8(bytes.unwrap().to_vec()).unwrap();
        let report = report?;
        let texts = kept.0.lock().unwrap().drain(..).map(text).collect();
        Ok((texts, report))
    }

    #[test]
    fn each_span_comes_from_its_file() {
        let ((a, of_a), (b, of_b)) = (local("a", "first file"), local("b", "the second"));
        let mut joined = Joined::new(a, 10);
        let begin = joined.add(b, 10).unwrap();
        let source: Arc<dyn Source> = Arc::new(joined);
        let (texts, report) =
            read(&source, &[Span::new(begin + 4, 6), Span::new(6, 4), Span::new(begin, 3), Span::new(0, 0)]).unwrap();
        assert_eq!(texts, ["second", "file", "the", ""]);
        assert_eq!((report.payload, report.wire, report.requests), (13, 13, 3));
        assert_eq!(source.stats().requests, 3);
        // neither beyond the end of one, nor between them
        let error = read(&source, &[Span::new(0, 4), Span::new(begin + 8, 4)]).unwrap_err();
        assert!(error.to_string().contains("-b"), "{error}");
        assert!(read(&source, &[Span::new(8, 4)]).is_err());
        [of_a, of_b].into_iter().for_each(|path| std::fs::remove_file(path).unwrap());
    }

    #[test]
    fn sizes_that_no_files_have_are_refused() {
        let (a, path) = local("c", "x");
        assert!(Joined::new(a.clone(), 1).add(a.clone(), u64::MAX - 5).is_err());
        assert!(Joined::new(a.clone(), u64::MAX).add(a, 1).is_err());
        std::fs::remove_file(path).unwrap();
    }
}
