//! The bytes of any file, near or far, whatever they mean.

use crate::open_source::open_source;
use crate::options::OpenOptions;
use crate::read_source::gathered;
use bytes::Bytes;
use sapwood_source::{Opening, Source, SourceStats};
use sapwood_span::{Result, Span};
use std::sync::Arc;

/// An open file of any format. Cheap to clone.
#[derive(Clone)]
pub struct ByteFile {
    source: Arc<dyn Source>,
    size: u64,
    /// The file's ends, which came with its opening.
    ends: [(u64, Bytes); 2],
}

impl ByteFile {
    /// Opens a local path, an `http(s)://` URL or a `root(s)://` URL (XRootD).
    ///
    /// # Errors
    /// What the source says.
    pub fn open(url: &str, options: &OpenOptions) -> Result<Self> {
        let Opening { source, size, head, tail } = open_source(url, options)?;
        Ok(Self { source, size, ends: [(0, head), tail] })
    }

    /// The path or URL, without credentials.
    pub fn url(&self) -> &str {
        self.source.name()
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads spans, in any order, in as few requests as the server allows; what came with the opening is not asked for
    /// again.
    ///
    /// # Errors
    /// `Corrupt` for spans that leave the file, or when the file has changed since it was opened; what the source says.
    pub fn read(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        let held = |span: &Span| {
            self.ends.iter().find_map(|(start, bytes)| {
                let from = usize::try_from(span.start.checked_sub(*start)?).ok()?;
                let to = from.checked_add(usize::try_from(span.len).ok()?)?;
                (to <= bytes.len()).then(|| bytes.slice(from..to))
            })
        };
        let mut out: Vec<Option<Bytes>> = spans.iter().map(held).collect();
        let missing: Vec<Span> = spans.iter().zip(&out).filter(|(_, held)| held.is_none()).map(|(s, _)| *s).collect();
        if !missing.is_empty() {
            let fetch = |sink| Arc::clone(&self.source).fetch_last(missing.clone(), sink);
            let mut read = gathered(&self.source, &missing, fetch)?.into_iter();
            out.iter_mut().filter(|held| held.is_none()).for_each(|held| *held = read.next());
        }
        Ok(out.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Remarks for the user on the source of the file.
    pub fn remarks(&self) -> Vec<String> {
        self.source.remarks()
    }

    /// A remark for the user if the server serves no byte ranges, so that the whole file had to be fetched.
    pub fn whole_file_remark(&self) -> Option<String> {
        self.source.whole_file_remark()
    }

    /// What opening and reading have done so far.
    pub fn stats(&self) -> SourceStats {
        self.source.stats()
    }

    /// Has the server close the file.
    pub fn close(&self) {
        self.source.close();
    }
}
