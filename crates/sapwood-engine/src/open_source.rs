//! From a path or URL to the source that reads it.

use crate::local_cache;
use crate::options::OpenOptions;
use crate::read_source::poll_once;
use crate::runtime;
use sapwood_source::{Opening, ReadRanges, SourceOptions};
use sapwood_span::raw_text::path_of;
use sapwood_span::{MissingItem, Result};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Bytes of the file's beginning that opening asks for: the root directory, and behind it the header of an ntuple, which
/// ROOT writes first.
pub(crate) const HEAD: u64 = 4 << 10;

/// Bytes of the file's end that opening asks for: key list and class descriptions lie there. A fresh connection carries
/// as much in two round trips (10 segments of 1448 bytes, then 20), head and headers included, some of which fill no
/// segment; a longer tail would cost a third whether or not it holds the tree, and a shorter one would leave the window
/// narrower for what comes next.
pub(crate) const TAIL: u64 = (39 << 10) - HEAD;

/// No transfer is waited for longer: a hundred years can be added to any time.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// How a file is opened, for a source.
pub(crate) fn source_options(options: &OpenOptions) -> SourceOptions {
    let defaults = SourceOptions::default();
    SourceOptions {
        head: HEAD,
        tail: TAIL,
        tail_later: true,
        // a time beyond the clock's range is unlimited
        progress_timeout: options.timeout.min(FOREVER),
        max_connections: options.max_connections.unwrap_or(defaults.max_connections),
        ca_dir: options.ca_dir.clone(),
        insecure_redirects: options.insecure_redirects || insecure_redirects_everywhere(),
        s3: options.s3.clone(),
        ..defaults
    }
}

fn insecure_redirects_everywhere() -> bool {
    static SET: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("SAPWOOD_INSECURE_REDIRECTS").is_some_and(|v| v == "1"));
    *SET
}

/// Opens a file that other code reads.
pub(crate) fn open_reader(reader: Arc<dyn ReadRanges>, options: &OpenOptions) -> Result<Opening> {
    let wanted = source_options(options);
    let handle = runtime::handle()?;
    runtime::wait(async move { sapwood_source::open_reader(reader, wanted.head, wanted.tail, &handle).await })
}

pub(crate) fn open_source(url: &str, options: &OpenOptions) -> Result<Opening> {
    open_any(url, options).map_err(|e| match file_of_object(url) {
        Some((file, object)) if e.missing_item() == Some(MissingItem::File) => {
            e.with_other_remedy(format!("if you mean the file {}, omit :{object}", sapwood_source::redacted(file)))
        }
        _ => e,
    })
}

/// The two parts of `FILE:OBJECT`, where only a whole file can be named.
fn file_of_object(url: &str) -> Option<(&str, &str)> {
    if url.contains("://") {
        let at = url.find(".root:")? + ".root".len();
        return Some((url.get(..at)?, url.get(at + 1..)?));
    }
    let parts = url.rmatch_indices(':').map(|(at, _)| url.split_at(at));
    parts.map(|(file, rest)| (file, &rest[1..])).find(|(file, _)| path_of(file).is_file())
}

fn open_any(url: &str, options: &OpenOptions) -> Result<Opening> {
    let wanted = source_options(options);
    if sapwood_source::is_remote(url) {
        return local_cache::open(url, options, &wanted);
    }
    if url.contains("://") {
        let handle = runtime::handle()?;
        return poll_once(sapwood_source::open(url, &wanted, &handle));
    }
    sapwood_source::open_local(path_of(url), wanted.head, wanted.tail)
}
