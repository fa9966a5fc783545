//! Pieces of which a part was read a moment ago: the next part is likely to be wanted soon.

use crate::locked;
use crate::segment::Segment;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Pieces that are kept: at most 4 MiB together.
const COUNT: usize = 64;

/// The pieces, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<VecDeque<(Arc<Segment>, u64, Bytes)>>);

impl Recent {
    /// A piece by its segment and its position there.
    pub(crate) fn get(&self, segment: &Arc<Segment>, position: u64) -> Option<Bytes> {
        let all = locked(&self.0);
        all.iter().rev().find(|(s, at, _)| *at == position && Arc::ptr_eq(s, segment)).map(|(_, _, b)| b.clone())
    }

    /// Keeps a piece instead of the oldest one.
    pub(crate) fn add(&self, segment: &Arc<Segment>, position: u64, bytes: &Bytes) {
        let mut all = locked(&self.0);
        if all.len() >= COUNT {
            all.pop_front();
        }
        all.push_back((segment.clone(), position, bytes.clone()));
    }
}
