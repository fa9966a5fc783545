//! Reading files: trees by scans of many entries or entry by entry, objects of any class, several files as one chain.
//!
//! ```no_run
//! use sapwood::read::{OpenOptions, StepSize};
//! use sapwood::query::ScanCut as _;
//! use std::time::Duration;
//!
//! # fn main() -> sapwood::Result<()> {
//! let file = OpenOptions::new().timeout(Duration::from_secs(20)).open("https://example.org/events.root")?;
//! let tree = file.tree("Events")?;
//! let scan = tree.scan().branches(["Muon_pt", "Muon_eta"]).cut("nMuon >= 2").entries(0..100_000);
//! for batch in scan.step(StepSize::Entries(1000)).build()? {
//!     let batch = batch?;
//!     println!("{} columns of entries {:?}", batch.columns.len(), batch.entries);
//! }
//! # Ok(()) }
//! ```

pub use sapwood_engine::local_cache;
pub use sapwood_engine::{
    Batch, Block, ByteFile, Chain, ChainBatch, ChainFile, ChainOptions, ChainScan, Counted, Cut, CutTest, EndedRequest,
    EntryList, EntryListObject, EntryReader, EntryStats, File, FriendRequest, FriendTree, Instances, IoReport,
    ListKind, ListPart, OnRecovery, OnRequest, OpenOptions, Prepare, Progress, ReadRanges, ReadRequest, RemoteEntry,
    S3Keys, S3Options, Scan, ScanBuilder, ScanOptions, Selector, Skipped, StepSize, Tree, expand, glob_match,
    is_remote, list_directory, locate_file, redacted,
};
pub use sapwood_format::object::{Data, Numbers, Object, Objects, Refused, Value};
pub use sapwood_format::streamer::{ClassInfo, Element};
pub use sapwood_format::tree::{Branch, BranchElement, EmbeddedBasket, Friend, Leaf, Tree as TreeHeader};
pub use sapwood_format::{Header, Key, Listing, OrphanBasket, Orphans, Recovered, Streamers, datetime};
pub use sapwood_plan::CacheSize;

/// Opens a local path or an `http(s)://`, `root(s)://` or `s3://` URL with default options; [`OpenOptions`] opens with others.
///
/// # Errors
/// As [`File::open`].
pub fn open(url: &str) -> sapwood_span::Result<File> {
    File::open(url, &OpenOptions::default())
}
