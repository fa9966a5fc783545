use crate::external_files::{BasketFile, ExternalFiles};
use crate::fingerprint::recognise;
use crate::free_segments::free_segments;
use crate::local_cache;
use crate::observe::{self, Counters, FileMeters};
use crate::open_source::{open_reader, open_source};
use crate::options::OpenOptions;
use crate::read_source::{answer, read};
use crate::recover::root_keys;
use crate::report::IoReport;
use crate::unlisted_keys::confirmed;
use bytes::Bytes;
use sapwood_format::object::Objects;
use sapwood_format::{Ahead, Header, Key, Listing, ObjectAt, Opener, Recovered, Step, Streamers, Target};
use sapwood_source::{Opening, ReadRanges, Source, SourceStats, sibling_file};
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result, Span, units};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// Bytes in front of the tail that are asked for along with a key list that the tail did not hold, if a tree will be read:
/// most often its header is there, and a round trip is saved.
const GUESS: u64 = 128 << 10;

/// An open ROOT file, near or far. Cheap to clone.
#[derive(Clone)]
pub struct File(Arc<Inner>);

struct Inner {
    url: String,
    external: ExternalFiles,
    source: Arc<dyn Source>,
    size: u64,
    header: Header,
    opener: Mutex<Opener>,
    options: OpenOptions,
    opened: Instant,
    totals: Mutex<IoReport>,
    recovered: Option<Recovered>,
    /// For observers, which are notified when the file is closed.
    meters: FileMeters,
}

impl Counters for Inner {
    fn counts(&self) -> (SourceStats, IoReport) {
        (self.external.stats(), lock(&self.totals).clone())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.meters.closed(|| self.counts());
    }
}

impl OpenOptions {
    /// Opens a file with these options.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open(&self, url: &str) -> Result<File> {
        File::open(url, self)
    }
}

impl File {
    /// Opens a local path, an `http(s)://` URL or a `root(s)://` URL (XRootD).
    ///
    /// # Errors
    /// What the source says, or `Corrupt` when it is not a ROOT file.
    pub fn open(url: &str, options: &OpenOptions) -> Result<Self> {
        let opened = Instant::now();
        Self::of(open_source(url, options)?, opened, Some(url), options)
    }

    /// Opens a file that `reader` reads: an object store's client, a file object of another language. Baskets in other
    /// files are not looked for.
    ///
    /// # Errors
    /// What the reader says, or `Corrupt` when it is not a ROOT file.
    pub fn open_reader(reader: Arc<dyn ReadRanges>, options: &OpenOptions) -> Result<Self> {
        let opened = Instant::now();
        let name = reader.name().to_owned();
        let opening = open_reader(reader, options).map_err(|e| e.in_file(&name))?;
        Self::of(opening, opened, None, options)
    }

    /// `location`: what it was opened by, where files beside it can be found by that.
    fn of(opening: Opening, opened: Instant, location: Option<&str>, options: &OpenOptions) -> Result<Self> {
        let Opening { source, size, head, tail } = opening;
        let mut opener = Opener::new(size);
        if !source.is_local() {
            let tail = if tail.1.is_empty() { Span::new(tail.0, size - tail.0.min(size)) } else { Span::default() };
            opener.ask_ahead(Ahead { tail, tree: if options.keys_only { 0 } else { GUESS } });
        }
        opener.push(0, head);
        if !tail.1.is_empty() {
            opener.push(tail.0, tail.1);
        }
        let name = source.name().to_owned();
        // this refuses what is no ROOT file
        let header = answer(&source, &mut opener, Opener::read_header).map_err(|e| e.in_file(&name))?;
        recognise(&source, &mut opener, &header, size).map_err(|e| e.in_file(&name))?;
        if header.free.start == 0 || header.end < size {
            // its writer may go on
            source.allow_growth();
        }
        let recovered = root_keys(&source, &mut opener, size, options).map_err(|e| e.in_file(&name))?;
        let totals = Mutex::new(IoReport::default());
        let opener = Mutex::new(opener);
        let options = options.clone();
        let meters = FileMeters::default();
        let inner = Inner {
            url: name,
            external: ExternalFiles::new(location, &options, source.clone(), size),
            source,
            size,
            header,
            opener,
            options,
            opened,
            totals,
            recovered,
            meters,
        };
        let file = Self(Arc::new(inner));
        file.watched_by(&observe::observers(), Default::default);
        Ok(file)
    }

    /// The path or URL, without credentials.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// The file header.
    pub fn header(&self) -> &Header {
        &self.0.header
    }

    /// What scanning all records found, if the file was not closed, was truncated or lost its directory; None for a file
    /// that is intact as far as opening it shows.
    pub fn recovered(&self) -> Option<&Recovered> {
        self.0.recovered.as_ref()
    }

    /// How the file was recovered, in words, if it was.
    pub fn recovery_summary(&self) -> Option<String> {
        let found = self.recovered()?;
        let objects = units::counted(found.keys.len() as u64, "object was", "objects were");
        Some(match found.stated_size {
            Some(stated) => {
                format!("the file is truncated: it has {} of {stated} bytes; {objects} recovered", self.size())
            }
            None => format!("the file was not closed, or its directory is damaged; {objects} recovered"),
        })
    }

    /// Signs of damage in what was read so far. It could be read, but other values may be damaged as well.
    pub fn integrity_warnings(&self) -> Vec<String> {
        self.opener().integrity_warnings().to_vec()
    }

    /// How it was opened.
    pub fn options(&self) -> &OpenOptions {
        &self.0.options
    }

    /// Where a file is that this one names.
    pub(crate) fn sibling_file(&self, name: &str) -> Result<String> {
        sibling_file(self.0.external.location()?, name)
    }

    /// The file of this name, in which a branch says that its baskets lie.
    ///
    /// # Errors
    /// See [`ExternalFiles::find`].
    pub(crate) fn external(&self, name: &str) -> Result<BasketFile> {
        self.0.external.find(name)
    }

    /// This file, and behind it those with baskets of its trees that were needed so far.
    pub(crate) fn all_sources(&self) -> Arc<dyn Source> {
        self.0.external.all_sources()
    }

    fn opener(&self) -> MutexGuard<'_, Opener> {
        lock(&self.0.opener)
    }

    /// Bytes that arrived while a remote file was opened.
    pub(crate) fn held(&self, span: Span) -> Option<Bytes> {
        if self.0.source.is_local() { None } else { self.opener().held(span) }
    }

    /// Asks until the question is answered, and reads what that needs.
    pub(crate) fn ask<T>(&self, question: impl FnMut(&mut Opener) -> Result<Step<T>>) -> Result<T> {
        self.watched_by(&observe::observers(), || self.counts());
        answer(&self.0.source, &mut self.opener(), question).map_err(|e| e.in_file(&self.0.url))
    }

    /// The keys of a directory (`""` is the root), or of it and all below.
    ///
    /// Objects after the end of a directory's list of keys are reported in [`File::integrity_warnings`].
    pub fn list(&self, directory: &str, recursive: bool) -> Result<Vec<Listing>> {
        let listed = self.ask(|o| o.list(directory, recursive))?;
        let unlisted = self.unlisted(&listed)?;
        if let [first, others @ ..] = unlisted.as_slice() {
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            let what = format!(
                "{};{}{more} is in the file, but after the end of its directory's list of keys",
                first.name, first.cycle
            );
            self.opener().doubt(what);
        }
        Ok(listed)
    }

    /// The objects that are there, but whose keys lie behind as many as their directory says that it lists, of those
    /// directories that were read. `listed` are known. Programs see none of them.
    ///
    /// # Errors
    /// When the source fails.
    pub fn unlisted(&self, listed: &[Listing]) -> Result<Vec<Key>> {
        let behind = self.opener().behind().to_vec();
        if behind.is_empty() {
            return Ok(behind);
        }
        let free = free_segments(&self.0.source, &self.0.header, self.0.size).unwrap_or_default();
        confirmed(&self.0.source, behind, listed, &free, self.0.size).map_err(|e| e.in_file(&self.0.url))
    }

    /// The key of an object: `dir/name;cycle`.
    pub fn find(&self, path: &str) -> Result<Listing> {
        let target = Target::parse(path);
        self.ask(|o| o.find(&target))
    }

    /// The file's class descriptions.
    ///
    /// # Errors
    /// `Corrupt` when they cannot be read.
    pub fn streamers(&self) -> Result<Arc<Streamers>> {
        self.ask(Opener::read_streamers)
    }

    /// An object's decompressed bytes, its key and the file's class descriptions.
    pub fn object(&self, path: &str) -> Result<ObjectAt> {
        let target = Target::parse(path);
        self.ask(|o| o.object(&target))
    }

    /// An object of any class as data: `dir/name;cycle`.
    ///
    /// # Errors
    /// `Unsupported` when its class is not described, `Corrupt` when its bytes do not follow the description. Parts that
    /// cannot be read are refused by name in [`Objects::refused`].
    pub fn read_object(&self, path: &str) -> Result<Objects> {
        let at = self.object(path)?;
        self.add(|t| t.bytes_wanted += at.key.span.len);
        at.read().map_err(|e| e.in_file(&self.0.url))
    }

    /// Raw bytes of the file, for copying records: all spans, in as few requests as the source allows.
    ///
    /// # Errors
    /// A span that leaves the file, or what the source says.
    pub fn read(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        if let Some(out) = spans.iter().find(|s| s.end() > self.size()) {
            let e = Error::corrupt(format!("a record is beyond the end of the file of {} bytes", self.size()));
            return Err(e.at(*out).in_file(self.url()).with_remedy("the file is truncated: fetch it again"));
        }
        let wanted: u64 = spans.iter().map(|s| s.len).sum();
        self.add(|t| t.bytes_wanted += wanted);
        read(&self.0.source, spans).map_err(|e| e.in_file(self.url()))
    }

    /// Fills a buffer from a position of a local file; false for remote files.
    ///
    /// # Errors
    /// What the system says, or `Corrupt` when the file has changed since it was opened.
    pub fn read_into(&self, start: u64, buffer: &mut [u8]) -> Result<bool> {
        self.0.source.read_at_once(start, buffer)
    }

    /// Remarks for the user on the source of the file.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = self.all_sources().remarks();
        if !self.is_local() {
            remarks.extend(local_cache::warnings(&self.0.options.local_cache));
        }
        remarks
    }

    /// A remark for the user if the server serves no byte ranges, so that the whole file had to be fetched.
    pub fn whole_file_remark(&self) -> Option<String> {
        self.all_sources().whole_file_remark()
    }

    /// Whether reading needs no network.
    pub fn is_local(&self) -> bool {
        self.0.source.is_local()
    }

    /// Nothing more is to be read: the server need not keep the file open until this, its trees and scans are dropped.
    pub fn close(&self) {
        self.all_sources().close();
    }

    /// What opening and all scans so far did.
    pub fn io(&self) -> IoReport {
        let mut r = lock(&self.0.totals).clone();
        r.wire(&self.all_sources().stats(), &SourceStats::default());
        r.seconds = self.0.opened.elapsed().as_secs_f64();
        r
    }

    /// What the source counts, and what scans and headers added up.
    pub(crate) fn counts(&self) -> (SourceStats, IoReport) {
        self.0.counts()
    }

    /// These observers want to know what it does from now on; `before` is what it has done.
    pub(crate) fn watched_by(&self, observers: &[observe::Registered], before: impl Fn() -> (SourceStats, IoReport)) {
        if !observers.is_empty() {
            let counters: Arc<dyn Counters> = self.0.clone();
            self.0.meters.watch(observers, &self.0.url, &Arc::downgrade(&counters), before);
        }
    }

    pub(crate) fn add(&self, change: impl FnOnce(&mut IoReport)) {
        change(&mut lock(&self.0.totals));
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "File({}, {} bytes)", self.0.url, self.0.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{FileMeter, Observer, ScanTrace, observe};

    /// Keeps the meters of the files that it hears of.
    #[derive(Default)]
    struct Meters(Mutex<Vec<Arc<FileMeter>>>);

    impl Observer for Meters {
        fn file_used(&self, meter: Arc<FileMeter>) {
            self.0.lock().unwrap().push(meter);
        }
        fn scan_ended(&self, _: &ScanTrace) {}
    }

    #[test]
    fn reads_of_external_files_count_when_the_file_is_closed() {
        let folder = std::env::temp_dir().join(format!("sapwood-external-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("tree.root");
        sapwood_write::FileWriter::create(&path, sapwood_codec::Compression::default()).unwrap().finish().unwrap();
        std::fs::write(folder.join("baskets.root"), [&b"root"[..], &[0; 2000]].concat()).unwrap();

        let meters = Arc::new(Meters::default());
        let observing = observe(meters.clone());
        let file = File::open(path.to_str().unwrap(), &OpenOptions::default()).unwrap();
        let external = file.external("baskets.root").unwrap();
        read(&file.all_sources(), &[Span::new(external.begin + 100, 50)]).unwrap();
        let counted = || {
            let mut meters = meters.0.lock().unwrap().clone();
            // other tests of this process read files too
            meters.retain(|m| m.url().contains("sapwood-external"));
            assert_eq!(meters.len(), 1);
            (meters[0].counts().requests, meters[0].counts().bytes_fetched)
        };
        let open = counted();
        assert!(open.0 > 0 && open.1 > 0);
        drop(file);
        assert_eq!(counted(), open);
        drop(observing);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
