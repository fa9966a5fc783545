//! The members of trees, branches and leaves that are used here.

use super::aliases_and_friends::{named_list, read_friend};
use super::basket::read_embedded;
use super::index::read_index;
use super::number::{Counts, counted, integer, unsigned};
use super::read::{Reader, TreeHead};
use super::{Branch, BranchElement, Leaf};
use crate::cursor::Cursor;
use crate::object::{Pointed, read_object_array_head, read_pointer};
use crate::streamer::{Element, code, read_named};
use sapwood_span::{Error, Result};

impl Reader<'_> {
    /// A member of a tree; false if it is not used.
    pub(super) fn tree_member(
        &mut self,
        c: &mut Cursor,
        e: &Element,
        t: &mut TreeHead,
        counts: &mut Counts,
    ) -> Result<bool> {
        match e.name.as_str() {
            "fEntries" => t.entries = unsigned(integer(c, e.code)?),
            "fTotBytes" => t.total_bytes = unsigned(integer(c, e.code)?),
            "fZipBytes" => t.zip_bytes = unsigned(integer(c, e.code)?),
            "fAutoFlush" => t.auto_flush = integer(c, e.code)?,
            "fEstimate" => t.estimate = Some(integer(c, e.code)?),
            "fClusterRangeEnd" => t.range_end = counted(c, e, counts)?,
            "fClusterSize" => t.range_size = counted(c, e, counts)?,
            "fBranches" => t.top = self.branches(c)?,
            "fAliases" => t.aliases = named_list(c, "TNamed", read_named)?,
            "fFriends" => t.friends = named_list(c, "TFriendElement", read_friend)?,
            "fTreeIndex" => t.index = read_index(c)?,
            "fWeight" if e.code == code::DOUBLE => t.weight = Some(c.f64()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A member of a branch; false if it is not used.
    pub(super) fn branch_member(
        &mut self,
        c: &mut Cursor,
        e: &Element,
        b: &mut Branch,
        counts: &mut Counts,
    ) -> Result<bool> {
        match e.name.as_str() {
            "fCompress" => b.compression = integer(c, e.code)? as i32,
            "fBasketSize" => b.basket_size = integer(c, e.code)?.clamp(0, i64::from(u32::MAX)) as u32,
            "fEntryOffsetLen" => b.entry_offset_len = integer(c, e.code)? as i32,
            "fWriteBasket" => b.write_basket = unsigned(integer(c, e.code)?) as usize,
            "fSplitLevel" => b.split_level = integer(c, e.code)? as i32,
            "fEntries" => b.entries = unsigned(integer(c, e.code)?),
            "fEntryNumber" => b.entry_number = unsigned(integer(c, e.code)?),
            "fFirstEntry" => b.first_entry = unsigned(integer(c, e.code)?),
            "fTotBytes" => b.total_bytes = unsigned(integer(c, e.code)?),
            "fZipBytes" => b.zip_bytes = unsigned(integer(c, e.code)?),
            "fMaxBaskets" => counts.values.push((e.name.clone(), integer(c, e.code)?)),
            "fBasketBytes" => {
                b.basket_bytes =
                    counted(c, e, counts)?.into_iter().map(|x| x.min(u64::from(u32::MAX)) as u32).collect();
            }
            "fBasketEntry" => b.basket_entry = counted(c, e, counts)?,
            "fBasketSeek" => b.basket_seek = counted(c, e, counts)?,
            "fFileName" => b.file_name = c.string()?,
            "fIOFeatures" => {
                let v = c.version()?;
                // ROOT::TIOFeatures: foreign class (checksum) and one byte of bits
                let end = v.end.ok_or_else(|| Error::corrupt("fIOFeatures has no length"))?;
                if end > c.pos() {
                    c.seek(end - 1)?;
                    b.generated_offsets = c.u8()? & 1 != 0;
                }
            }
            "fBranches" => b.children = self.branches(c)?,
            "fLeaves" => {
                let n = read_object_array_head(c)?;
                for _ in 0..n {
                    if let Some(l) = self.leaf_pointer(c)? {
                        b.leaves.push(l);
                    }
                }
            }
            "fBaskets" => {
                let n = read_object_array_head(c)?;
                for i in 0..n {
                    match read_pointer(c)? {
                        Pointed::Object { class, end, .. } if class == "TBasket" => {
                            let basket = read_embedded(c)?;
                            if let Some(end) = end {
                                c.seek(end)?;
                            }
                            b.embedded.extend(basket.map(|k| (i, k)));
                        }
                        Pointed::Object { end: Some(end), .. } => c.seek(end)?,
                        Pointed::Object { class, .. } => {
                            return Err(Error::corrupt(format!("a {class} among the baskets")));
                        }
                        _ => {}
                    }
                }
            }
            _ if b.class == "TBranchElement" => {
                let mut x = b.element.take().unwrap_or_default();
                let done = self.element_member(c, e, &mut x);
                b.element = Some(x);
                return done;
            }
            "fClassName" => {
                // TBranchObject and TBranchClones store only the class name
                b.element.get_or_insert_default().class_name = c.string()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn element_member(&mut self, c: &mut Cursor, e: &Element, x: &mut BranchElement) -> Result<bool> {
        match e.name.as_str() {
            "fClassName" => x.class_name = c.string()?,
            "fParentName" => x.parent_name = c.string()?,
            "fClonesName" => x.clones_name = c.string()?,
            "fCheckSum" => x.checksum = integer(c, e.code)? as u32,
            "fClassVersion" => x.class_version = integer(c, e.code)? as i32,
            "fID" => x.id = integer(c, e.code)? as i32,
            "fType" => x.kind = integer(c, e.code)? as i32,
            "fStreamerType" => x.streamer_type = integer(c, e.code)? as i32,
            "fMaximum" => x.maximum = integer(c, e.code)? as i32,
            "fBranchCount" => x.count = self.branch_pointer(c)?,
            "fBranchCount2" => x.count2 = self.branch_pointer(c)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A member of a leaf; false if it is not used.
    pub(super) fn leaf_member(&mut self, c: &mut Cursor, e: &Element, l: &mut Leaf) -> Result<bool> {
        match e.name.as_str() {
            "fLen" => l.len = integer(c, e.code)? as i32,
            "fLenType" => l.len_type = integer(c, e.code)? as i32,
            "fOffset" => l.offset = integer(c, e.code)? as i32,
            "fIsRange" => l.is_range = integer(c, e.code)? != 0,
            "fIsUnsigned" => l.is_unsigned = integer(c, e.code)? != 0,
            "fLeafCount" => l.count = self.leaf_pointer(c)?,
            "fMaximum" => l.maximum = integer(c, e.code)?,
            "fType" => l.code = integer(c, e.code)? as i32,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
