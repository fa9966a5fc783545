//! TTree and its parts as plain structs.

mod aliases_and_friends;
mod basket;
mod clusters;
mod index;
mod members;
mod nesting;
mod number;
mod read;
mod stored;

use crate::ntuple::Ntuple;
use std::sync::Arc;

pub use basket::{BasketData, BasketHead, EmbeddedBasket, split_basket};
pub use clusters::clusters;
pub use index::TreeIndex;
pub use number::{integer, width};
pub use read::read_tree;
pub use stored::{BasketPlace, StoredBasket, reach, stored_baskets};

/// Another tree, whose branches are available alongside those of this one when it is read as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Friend {
    /// Its name in expressions.
    pub name: String,
    /// Its file; empty: the same file.
    pub file: String,
    /// Its own name.
    pub tree: String,
}

/// A tree's header: everything but the values.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Name.
    pub name: String,
    /// Title.
    pub title: String,
    /// Class: `TTree`, `TNtuple`, …
    pub class: String,
    /// Entries.
    pub entries: u64,
    /// Bytes of all branches, not compressed.
    pub total_bytes: u64,
    /// Bytes of all branches in the file.
    pub zip_bytes: u64,
    /// Entries between two flushes (positive), bytes between two (negative), or 0: never.
    pub auto_flush: i64,
    /// Rows from which TTree::Draw finds limits; below 1, all of them.
    pub estimate: Option<i64>,
    /// Ranges of entries with clusters of one size: (last entry of the range, entries of a cluster).
    pub cluster_ranges: Vec<(u64, u64)>,
    /// Names for expressions.
    pub aliases: Vec<(String, String)>,
    /// Trees whose entries extend those of this one.
    pub friends: Vec<Friend>,
    /// Entries by the values of two expressions.
    pub index: Option<TreeIndex>,
    /// What its entries count in a histogram (TTree::SetWeight); 1 unless it was set.
    pub weight: Option<f64>,
    /// All branches at every depth.
    pub branches: Vec<Branch>,
    /// Top-level branches, as indices into `branches`.
    pub top: Vec<usize>,
    /// All leaves.
    pub leaves: Vec<Leaf>,
    /// The ntuple that this is the view of as a tree: its fields are the branches.
    pub ntuple: Option<Arc<Ntuple>>,
}

/// A branch's header.
#[derive(Clone, Debug, Default)]
pub struct Branch {
    /// Name, as in the file.
    pub name: String,
    /// Title: the leaf list.
    pub title: String,
    /// `TBranch`, `TBranchElement`, …
    pub class: String,
    /// 100 · algorithm + level.
    pub compression: i32,
    /// Bytes of a basket's buffer.
    pub basket_size: u32,
    /// Bytes of the table of entry offsets; 0 when entries have one size.
    pub entry_offset_len: i32,
    /// Index of the basket that was being filled.
    pub write_basket: usize,
    /// Split level.
    pub split_level: i32,
    /// Entries.
    pub entries: u64,
    /// Number of the entry that would be written next.
    pub entry_number: u64,
    /// First entry.
    pub first_entry: u64,
    /// Uncompressed bytes.
    pub total_bytes: u64,
    /// Bytes in the file.
    pub zip_bytes: u64,
    /// Whether the offsets are left out and derived from the counter (ROOT's kGenerateOffsetMap).
    pub generated_offsets: bool,
    /// Length of each basket's record in the file.
    pub basket_bytes: Vec<u32>,
    /// First entry of each basket.
    pub basket_entry: Vec<u64>,
    /// Position of each basket's record; 0 for one stored in the header.
    pub basket_seek: Vec<u64>,
    /// Baskets stored in the tree's header, with their number.
    pub embedded: Vec<(usize, EmbeddedBasket)>,
    /// Another file that holds the baskets.
    pub file_name: String,
    /// Sub-branches, as indices into the tree's branches.
    pub children: Vec<usize>,
    /// The parent branch.
    pub parent: Option<usize>,
    /// Leaves, as indices into the tree's leaves.
    pub leaves: Vec<usize>,
    /// The additional members of a TBranchElement.
    pub element: Option<BranchElement>,
    /// The field of an ntuple.
    pub field: Option<usize>,
}

impl Branch {
    /// The other file that holds its baskets (those in the tree's header are here, whatever file others went to).
    pub fn external_file(&self) -> Option<&str> {
        let written = self.basket_seek.iter().take(self.write_basket).any(|&at| at != 0);
        Some(self.file_name.as_str()).filter(|name| written && !name.is_empty())
    }
}

/// The members of a TBranchElement.
#[derive(Clone, Debug, Default)]
pub struct BranchElement {
    /// Class of the object that the branch belongs to.
    pub class_name: String,
    /// Class of the parent object.
    pub parent_name: String,
    /// Class in the TClonesArray.
    pub clones_name: String,
    /// Checksum of the class.
    pub checksum: u32,
    /// Version of the class.
    pub class_version: i32,
    /// Number of the element in the class description; -1 the object itself.
    pub id: i32,
    /// 0 leaf, 1 base class, 2 object, 3/31 TClonesArray and its members, 4/41 collection and its members, -1 …
    pub kind: i32,
    /// Type code of the element; -1 the object itself.
    pub streamer_type: i32,
    /// Largest number of items in a collection.
    pub maximum: i32,
    /// The branch with the number of items.
    pub count: Option<usize>,
    /// The branch with the lengths of arrays.
    pub count2: Option<usize>,
}

/// A leaf: one variable of a branch.
#[derive(Clone, Debug, Default)]
pub struct Leaf {
    /// Name.
    pub name: String,
    /// Title: name and dimensions.
    pub title: String,
    /// `TLeafF`, `TLeafElement`, …
    pub class: String,
    /// Items per entry, counted dimension left out.
    pub len: i32,
    /// Bytes of an item in memory.
    pub len_type: i32,
    /// Position in the structure.
    pub offset: i32,
    /// Whether it counts others.
    pub is_range: bool,
    /// Whether it is unsigned.
    pub is_unsigned: bool,
    /// The leaf that holds the number of items.
    pub count: Option<usize>,
    /// Largest value seen.
    pub maximum: i64,
    /// Type code, for leaves of elements.
    pub code: i32,
    /// The branch it belongs to.
    pub branch: Option<usize>,
}

impl Tree {
    /// A branch's name after those of its parent branches, as in `event/tracks/tracks.px`.
    pub fn path(&self, branch: usize) -> String {
        let mut names = Vec::new();
        let mut at = Some(branch);
        while let Some(i) = at {
            let b = &self.branches[i];
            names.push(b.name.as_str());
            at = b.parent;
        }
        names.reverse();
        names.join(if self.ntuple.is_some() { "." } else { "/" })
    }

    /// All branches in the order of the tree, parents before children.
    pub fn in_order(&self) -> Vec<usize> {
        let mut out = Vec::with_capacity(self.branches.len());
        let mut stack: Vec<usize> = self.top.iter().rev().copied().collect();
        let mut seen = vec![false; self.branches.len()];
        while let Some(i) = stack.pop() {
            if !std::mem::replace(&mut seen[i], true) {
                out.push(i);
                stack.extend(self.branches[i].children.iter().rev());
            }
        }
        out
    }
}
