//! Ntuples joined by copying their compressed pages untouched: only header, page lists, footer and anchor are new.
//!
//! Schemas are compared field by field (`schema`). A column that an input stores in another encoding becomes a further
//! representation of its field, as the format allows: so nothing is encoded again, but for positions of 32 bits and numbers of
//! reduced precision (`reduced`). Elements that an input lacks, because
//! the field was added later, become pages of zeros, of which the file has one for each size (`zeros`).
//!
//! A new layout (`relayout`) cuts and joins columns between entries (`walk`), as elements next to each other
//! (`canonical`).

mod canonical;
mod copy;
mod elements;
mod input;
mod reduced;
mod relayout;
mod schema;
mod sum;
mod used;
mod walk;
mod zeros;

pub(crate) use copy::{PageChunk, PagePlan, copy_pages};
pub(crate) use input::InputNtuple;
pub(crate) use relayout::{NtuplePlan, NtupleSums};
pub(crate) use sum::{CurrentNtuple, NtupleSum};
