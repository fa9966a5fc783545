//! Pieces that were partly read a moment ago: the next part is likely to be read soon.

use crate::locked;
use crate::segment::Segment;
use crate::segment_index::Slot;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Pieces that are kept: at most 4 MiB together.
const COUNT: usize = 64;

/// The pieces, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<VecDeque<(Arc<Segment>, Slot, Bytes)>>);

impl Recent {
    /// The whole piece with this segment and slot, as only all of it was checked.
    pub(crate) fn get(&self, segment: &Arc<Segment>, slot: &Slot) -> Option<Bytes> {
        let all = locked(&self.0);
        all.iter().rev().find(|(s, known, _)| known == slot && Arc::ptr_eq(s, segment)).map(|(_, _, b)| b.clone())
    }

    /// Keeps a piece in place of the oldest one.
    pub(crate) fn add(&self, segment: &Arc<Segment>, slot: &Slot, bytes: &Bytes) {
        let mut all = locked(&self.0);
        if all.len() >= COUNT {
            all.pop_front();
        }
        all.push_back((segment.clone(), *slot, bytes.clone()));
    }
}
