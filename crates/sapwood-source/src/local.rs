mod stamp;

use crate::bounds;
use crate::source::{BoxFuture, FetchReport, Opening, Sink, Source, SourceStats};
use bytes::Bytes;
use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, ErrorKind, Limits, Result, Span};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use stamp::Stamp;

/// Reading over a gap up to this many bytes (a page) costs less than another system call.
const GAP: u64 = 4096;

/// A regular file on a mounted file system, read by position: no shared file offset, no lock.
pub struct LocalFile {
    name: String,
    file: File,
    size: u64,
    stamp: Stamp,
    reads: AtomicU64,
    bytes: AtomicU64,
}

impl LocalFile {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// Missing, unreadable, a directory or a device: the error says which.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = text_of_path(path);
        // Checked before it is opened: opening a pipe would wait for its writer.
        let meta = std::fs::metadata(path).map_err(|e| cannot_open(e, &name))?;
        if meta.is_dir() {
            return Err(Error::invalid("this is a directory, not a file").in_file(name));
        }
        if !meta.is_file() {
            return Err(Error::invalid("is not a regular file").in_file(name).with_remedy("copy it to a file first"));
        }
        let file = File::open(path).map_err(|e| cannot_open(e, &name))?;
        let meta = file.metadata().map_err(|e| cannot_open(e, &name))?;
        let (size, stamp) = (meta.len(), Stamp::of(path, &meta));
        Ok(Self { name, file, size, stamp, reads: AtomicU64::new(0), bytes: AtomicU64::new(0) })
    }

    /// Reads one span.
    ///
    /// # Errors
    /// The span leaves the file, the file has changed since it was opened, or the system fails.
    pub fn read(&self, span: Span) -> Result<Bytes> {
        bounds::check(&[span], self.size, &self.name)?;
        let len = usize::try_from(span.len)
            .map_err(|_| Error::invalid("too many bytes for one read").at(span).in_file(&self.name))?;
        let mut buffer = vec![0; len];
        self.read_into(span.start, &mut buffer)?;
        Ok(Bytes::from(buffer))
    }

    /// Fills a buffer with the bytes at a position.
    ///
    /// # Errors
    /// As [`LocalFile::read`].
    pub fn read_into(&self, start: u64, buffer: &mut [u8]) -> Result<()> {
        let span = Span::new(start, buffer.len() as u64);
        bounds::check(&[span], self.size, &self.name)?;
        if buffer.is_empty() {
            return Ok(());
        }
        self.file.read_exact_at(buffer, start).map_err(|e| self.failed(e, span))?;
        self.stamp.check(&self.file).map_err(|e| e.at(span).in_file(&self.name))?;
        self.reads.fetch_add(1, Relaxed);
        self.bytes.fetch_add(span.len, Relaxed);
        Ok(())
    }

    /// The first `head` and the last `tail` bytes.
    fn ends(self, head: u64, tail: u64) -> Result<Opening> {
        let size = self.size;
        let (head_len, tail_start) = (head.min(size), size - tail.min(size));
        let (head, tail): (Bytes, Bytes) = if tail_start <= head_len {
            let whole = self.read(Span::new(0, size))?;
            (whole.slice(..head_len as usize), whole.slice(tail_start as usize..))
        } else {
            (self.read(Span::new(0, head_len))?, self.read(Span::new(tail_start, size - tail_start))?)
        };
        self.stamp.keep(&head);
        Ok(Opening { source: Arc::new(self), size, head, tail: (tail_start, tail) })
    }

    fn failed(&self, error: std::io::Error, span: Span) -> Error {
        let error = if error.kind() == std::io::ErrorKind::UnexpectedEof {
            let now = self.file.metadata().map(|m| m.len());
            let now = now.map_or_else(|_| "unknown".to_owned(), |n| n.to_string());
            let what = format!("the file was truncated while being read: {} bytes when opened, now {now}", self.size);
            Error::corrupt(what).with_remedy("open it again when it is complete")
        } else {
            Error::io("cannot read", error)
        };
        error.at(span).in_file(&self.name)
    }
}

fn cannot_open(error: std::io::Error, name: &str) -> Error {
    let error = match error.kind() {
        std::io::ErrorKind::NotFound if name.contains(['*', '?']) => {
            Error::no_such_file("no such file").with_remedy("to read the files of a pattern, open it as a chain")
        }
        std::io::ErrorKind::NotFound => Error::no_such_file("no such file"),
        std::io::ErrorKind::PermissionDenied => Error::new(ErrorKind::Denied, "no permission to read this file"),
        _ => Error::io("cannot open", error),
    };
    error.in_file(name)
}

/// Opens a local file and reads its first `head` and last `tail` bytes, without any runtime.
///
/// # Errors
/// As [`LocalFile::open`] and [`LocalFile::read`].
pub fn open_local(path: impl AsRef<Path>, head: u64, tail: u64) -> Result<Opening> {
    LocalFile::open(path)?.ends(head, tail)
}

impl Source for LocalFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn limits(&self) -> Limits {
        Limits {
            max_ranges: 1024,
            max_range_bytes: u64::MAX,
            max_request_bytes: 64 << 20,
            queue: 1,
            streams: None,
            max_in_flight: 4,
            range_overhead: GAP,
            round_trip: Some(Duration::ZERO),
            bandwidth: None,
        }
    }

    fn is_local(&self) -> bool {
        true
    }

    fn fetch(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        Box::pin(async move {
            let begin = Instant::now();
            bounds::check(&spans, self.size, &self.name)?;
            let mut report = FetchReport { payload: bounds::covered(&spans), ..FetchReport::default() };
            for (index, &span) in spans.iter().enumerate() {
                let bytes = self.read(span)?;
                if !span.is_empty() {
                    if report.requests == 0 {
                        report.first_byte = begin.elapsed();
                    }
                    report.requests = report.requests.saturating_add(1);
                    report.wire += span.len;
                    sink.moved(span.len);
                }
                sink.part(index, bytes);
            }
            report.total = begin.elapsed();
            Ok(report)
        })
    }

    fn recognise_by(&self, first: &Bytes) {
        self.stamp.lengthen(first);
    }

    fn allow_growth(&self) {
        self.stamp.allow_growth();
    }

    fn read_at_once(&self, start: u64, buffer: &mut [u8]) -> Result<bool> {
        self.read_into(start, buffer).map(|()| true)
    }

    fn stats(&self) -> SourceStats {
        let (reads, bytes) = (self.reads.load(Relaxed), self.bytes.load(Relaxed));
        SourceStats { requests: reads, ranges: reads, payload: bytes, wire: bytes, ..SourceStats::default() }
    }
}
