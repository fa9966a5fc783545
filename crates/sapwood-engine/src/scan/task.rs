//! What workers are given to do, and what they give back.

use super::plan::ScanPlan;
use bytes::Bytes;
use sapwood_column::{Array, Decoded};
use sapwood_plan::{BasketId, Fetch};
use sapwood_span::{Error, Result, Span};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Something for a worker to do.
pub(super) enum Job {
    /// Read these ranges of a local file.
    Read(Arc<Fetch>),
    /// Inflate and decode a basket.
    Decode(DecodeTask),
}

/// Where the record of a basket is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// Here.
    Here(Bytes),
    /// In the local cache: the thread that decodes it reads it.
    Stored(Span),
    /// It has none: the basket is in the tree's header.
    InHeader,
    /// The pages of a field's cluster.
    Pages(Arc<ClusterPages>),
}

/// The pages of a field's cluster, which is decoded in parts.
#[derive(Debug)]
pub(super) struct ClusterPages {
    /// In the order of the cluster's first part.
    pub records: Vec<Record>,
    /// Pages that the next part needs, too, by their number in the ntuple: decompressed.
    pub open: Mutex<HashMap<usize, Arc<Vec<u8>>>>,
}

impl ClusterPages {
    pub(super) fn new(records: Vec<Record>) -> Self {
        Self { records, open: Mutex::default() }
    }
}

impl PartialEq for ClusterPages {
    fn eq(&self, other: &Self) -> bool {
        self.records == other.records
    }
}

impl Eq for ClusterPages {}

/// A basket to decode.
pub(super) struct DecodeTask {
    pub basket: usize,
    /// Its number among the planner's baskets, if it was fetched.
    pub planned: Option<BasketId>,
    /// Its record in the file.
    pub record: Record,
    /// Memory for its values.
    pub spare: Option<Array>,
}

impl DecodeTask {
    /// Of a basket that needs not be fetched: its record is here, or it is in the tree's header.
    pub(super) fn held(basket: usize, record: Record) -> Self {
        Self { basket, planned: None, record, spare: None }
    }
}

/// A decoded basket and what it took.
pub(super) struct DecodeOutcome {
    pub basket: usize,
    pub planned: Option<BasketId>,
    pub result: Result<Arc<Decoded>>,
    /// Bytes of its values.
    pub bytes: u64,
    pub unzipped: u64,
    /// Compressed bytes that were inflated to them, without the record's key; 0 where nothing was compressed.
    pub packed: u64,
    pub unzip: Duration,
    pub decode: Duration,
}

impl DecodeOutcome {
    /// Of a basket that is not decoded yet.
    pub(super) fn of(task: &DecodeTask) -> Self {
        Self::unfinished(task.basket, task.planned)
    }

    /// Of a basket of this number, and of this one among the planner's.
    pub(super) fn unfinished(basket: usize, planned: Option<BasketId>) -> Self {
        Self {
            basket,
            planned,
            result: Err(Error::invalid("not decoded")),
            bytes: 0,
            unzipped: 0,
            packed: 0,
            unzip: Duration::ZERO,
            decode: Duration::ZERO,
        }
    }

    /// The basket is decoded, or it failed: the error says which it is.
    pub(super) fn set(&mut self, plan: &ScanPlan, result: Result<Decoded>) {
        self.result = match result {
            Ok(d) => {
                self.bytes = match &d {
                    Decoded::Column(a) | Decoded::Uncounted(a) => a.nbytes() as u64,
                };
                Ok(Arc::new(d))
            }
            Err(e) => Err(plan.in_basket(self.basket, e)),
        };
    }
}
