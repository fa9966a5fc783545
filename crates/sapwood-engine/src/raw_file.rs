//! A file as a sequence of records, for checks that must not rely on its directories.

use crate::free_segments::free_segments;
use crate::open_source::open_source;
use crate::options::OpenOptions;
use crate::read_source::{answer, read};
use crate::recover::window;
use crate::unlisted_keys::unlisted;
use sapwood_format::{Found, Header, Key, Listing, Opener, Step, Walk};
use sapwood_source::{Opening, Source};
use sapwood_span::{Result, Span};
use std::sync::Arc;

/// A file of which nothing but the header has been read: unlike [`crate::File`], it is neither refused nor recovered
/// when its directories are damaged.
pub struct RawFile {
    source: Arc<dyn Source>,
    size: u64,
    header: Header,
    opener: Opener,
}

impl RawFile {
    /// Opens a local path or a URL.
    ///
    /// # Errors
    /// What the source says, or `Corrupt` when it has no header of a ROOT file.
    pub fn open(url: &str, options: &OpenOptions) -> Result<Self> {
        let Opening { source, size, head, tail } = open_source(url, options)?;
        let mut opener = Opener::new(size);
        opener.push(0, head);
        opener.push(tail.0, tail.1);
        let header = answer(&source, &mut opener, Opener::read_header).map_err(|e| e.in_file(source.name()))?;
        Ok(Self { source, size, header, opener })
    }

    /// Its header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// How many classes it describes.
    ///
    /// # Errors
    /// That the descriptions cannot be read.
    pub fn count_classes(&mut self) -> Result<usize> {
        answer(&self.source, &mut self.opener, Opener::read_streamers).map(|s| s.classes().len())
    }

    /// The keys of the root directory, or of it and all below.
    ///
    /// # Errors
    /// That a directory cannot be read.
    pub fn list(&mut self, recursive: bool) -> Result<Vec<Listing>> {
        answer(&self.source, &mut self.opener, |o| o.list("", recursive))
    }

    /// The entries of its list of free segments, in order, without the one after the end of the file.
    ///
    /// # Errors
    /// That the list cannot be read.
    pub fn free_segments(&self) -> Result<Vec<Span>> {
        free_segments(&self.source, &self.header, self.size)
    }

    /// Keys of existing objects that are not in `listed`: they follow in a directory's list of keys after the number of keys
    /// that the list states.
    ///
    /// # Errors
    /// When the source fails.
    pub fn unlisted(&self, listed: &[Listing]) -> Result<Vec<Key>> {
        let free = self.free_segments().unwrap_or_default();
        unlisted(&self.source, &self.header, listed, &free, self.size)
    }

    /// Walks over all records from the first to `end`, and hands over what it finds.
    ///
    /// # Errors
    /// When the source fails.
    pub fn walk(&self, end: u64, mut found: impl FnMut(Found)) -> Result<()> {
        let mut walk = Walk::new(self.header.begin, end, window(&self.source));
        loop {
            match walk.step() {
                Step::Need(spans) => {
                    for (span, bytes) in spans.iter().zip(self.read(&spans)?) {
                        walk.push(span.start, bytes);
                    }
                }
                Step::Done(Found::End) => return Ok(()),
                Step::Done(other) => found(other),
            }
        }
    }

    fn read(&self, spans: &[Span]) -> Result<Vec<bytes::Bytes>> {
        read(&self.source, spans).map_err(|e| e.in_file(self.source.name()))
    }
}
