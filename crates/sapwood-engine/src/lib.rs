//! What runs: files, trees and scans. The only crate that starts threads.
//!
//! A [`Scan`] drives the planner: fetches run on the network runtime (or, for local files, on the unzip workers),
//! baskets are inflated and decoded by the same worker, and batches come out in the order of entries while later
//! clusters are in flight.

#![warn(unreachable_pub, unnameable_types)]

mod batch;
mod byte_file;
mod chain;
mod entries;
mod entry_list_object;
mod entry_reader;
mod expected;
mod external_files;
mod file;
mod fingerprint;
mod free_segments;
mod friend_rows;
mod friends;
mod instances;
pub mod local_cache;
mod names;
pub mod observe;
mod only_tree;
mod open_source;
mod options;
mod raw_file;
mod read_source;
mod recover;
mod remote;
mod report;
mod runtime;
mod scan;
mod scan_builder;
mod selector;
mod tree;
mod unlisted_keys;
mod wildcard;

pub use batch::Batch;
pub use byte_file::ByteFile;
pub use chain::{Chain, ChainBatch, ChainFile, ChainOptions, ChainScan, Prepare, ReadRequest, Skipped};
pub use entries::EntryList;
pub use entry_list_object::{Counted, EntryListObject, ListKind, ListPart};
pub use entry_reader::{Block, EntryReader, EntryStats};
pub use expected::{
    Expected, bytes_of_beginning, bytes_to_open, expected_ahead, expected_over_http, expected_over_xrootd,
    expected_steps, http_measured, measured_bandwidth,
};
pub use file::File;
pub use friend_rows::{FriendEntries, FriendReader, FriendRequest, FriendRows};
pub use friends::{FriendLookup, FriendMatch, friend_request};
pub use instances::Instances;
pub use names::did_you_mean;
pub use options::{Cut, CutTest, EndedRequest, OnRecovery, OnRequest, OpenOptions, Progress, ScanOptions, StepSize};
pub use raw_file::RawFile;
pub use remote::{list_directory, locate_file};
pub use report::IoReport;
pub use sapwood_source::{ReadRanges, RemoteEntry, S3Keys, S3Options, is_remote, local_path, redacted};
pub use scan::Scan;
pub use scan_builder::ScanBuilder;
pub use selector::Selector;
pub use tree::{FriendIndex, FriendTree, Tree};
pub use wildcard::{Expansion, expand, glob_match};
