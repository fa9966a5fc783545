//! Entry lists as TTree::Draw makes them: TEventList, TEntryList and TEntryListArray.

use crate::buffer::{Mark, ObjectBuffer};
use sapwood_span::{Error, Result};
use std::ops::Range;

/// The bit that ROOT sets in objects of a directory (kMustCleanup).
const IN_DIRECTORY: u32 = 8;
/// Words of 16 bits in a full TEntryListBlock.
const WORDS: usize = 4000;
/// Entries of a TEntryListBlock.
const BLOCK: u64 = 16 * WORDS as u64;
/// What ROOT makes room for in a TEventList that is empty.
const ROOM: i32 = 1000;

/// The entries of one tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeEntries<'a> {
    /// Path of the tree in its file.
    pub tree: &'a str,
    /// Path or URL of the file.
    pub file: &'a str,
    /// Runs of entries, ascending, neither empty nor touching.
    pub runs: &'a [Range<u64>],
    /// Of some entries, ascending, the instances that are chosen; of the others all are.
    pub instances: Vec<(u64, &'a [u32])>,
}

/// The classes of entry lists and of their parts, as [`crate::FileWriter::describe_own`] takes them.
pub const ENTRY_LIST_CLASSES: [&str; 4] = ["TEventList", "TEntryList", "TEntryListArray", "TEntryListBlock"];

impl ObjectBuffer {
    /// A TEventList of these entries: runs, ascending, neither empty nor touching.
    ///
    /// # Errors
    /// `Unsupported` for more entries than ROOT counts in such a list.
    pub fn event_list(&mut self, name: &str, title: &str, runs: &[Range<u64>]) -> Result<()> {
        let count = count(runs);
        let len = i32::try_from(count).map_err(|_| {
            Error::unsupported(format!("a TEventList cannot have {count} entries"))
                .with_remedy("use the option entrylist, which makes a TEntryList")
        })?;
        let body = self.begin(4);
        self.named(IN_DIRECTORY, name, title);
        self.i32(len);
        // ROOT allocates as many numbers as it reads: it must not take more for free
        self.i32(if len == 0 { ROOM } else { len });
        self.i32(100);
        self.u8(0);
        self.u8(u8::from(len > 0));
        runs.iter().cloned().flatten().for_each(|entry| self.i64(entry as i64));
        self.end(body);
        Ok(())
    }

    /// A TEntryList, or with `array` a TEntryListArray: of one tree, or of several with a list for each.
    pub fn entry_list(&mut self, name: &str, title: &str, trees: &[TreeEntries<'_>], array: bool) {
        match trees {
            [one] => self.list(name, title, one, &[], array),
            _ => {
                let first = trees.first().cloned().unwrap_or_default();
                self.list(name, title, &TreeEntries { runs: &[], instances: Vec::new(), ..first }, trees, array);
            }
        }
    }

    fn list(&mut self, name: &str, title: &str, own: &TreeEntries<'_>, lists: &[TreeEntries<'_>], array: bool) {
        let outer = array.then(|| self.begin(1));
        self.blocks(IN_DIRECTORY, (name, title), own, lists, array);
        if let Some(outer) = outer {
            self.instances(&own.instances);
            // of an entry by itself
            self.i64(-1);
            self.end(outer);
        }
    }

    /// TEntryList.
    fn blocks(
        &mut self,
        bits: u32,
        (name, title): (&str, &str),
        own: &TreeEntries<'_>,
        lists: &[TreeEntries<'_>],
        array: bool,
    ) {
        let body = self.begin(2);
        self.named(bits, name, title);
        if lists.is_empty() {
            self.u32(0);
        } else {
            let list = self.begin_list(lists.len());
            for one in lists {
                let (object, _) = self.begin_object(if array { "TEntryListArray" } else { "TEntryList" });
                self.list("", "", one, &[], array);
                self.end(object);
                self.u8(0);
            }
            self.end_list(list);
        }
        // blocks up to the last that has an entry
        let blocks = own.runs.last().map_or(0, |r| (r.end - 1) / BLOCK + 1);
        self.i32(blocks as i32);
        if blocks == 0 {
            self.u32(0);
        } else {
            let (object, _) = self.begin_object("TObjArray");
            let array = self.begin_array(blocks as usize);
            let mut runs = own.runs;
            for first in (0..blocks).map(|i| i * BLOCK) {
                runs = self.block(first, runs);
            }
            self.end(array);
            self.end(object);
        }
        self.i64((count(own.runs) + lists.iter().map(|l| count(l.runs)).sum::<u64>()) as i64);
        self.i64(0);
        self.string(own.tree);
        self.string(own.file);
        self.u8(0);
        self.end(body);
    }

    /// The block of entries from `first`, in the shortest of its forms; gives the runs that are not behind it.
    fn block<'r>(&mut self, first: u64, runs: &'r [Range<u64>]) -> &'r [Range<u64>] {
        let behind = runs.partition_point(|r| r.end <= first + BLOCK);
        let here = runs.iter().map(|r| r.start.max(first) - first..r.end.min(first + BLOCK).max(first) - first);
        let here: Vec<Range<u64>> = here.take(behind + 1).filter(|r| r.start < r.end.min(BLOCK)).collect();
        let passed = count(&here);
        let (kind, passing, words): (i32, bool, Vec<u16>) = if passed == 0 {
            (-1, true, Vec::new())
        } else if (passed as usize) < WORDS {
            (1, true, here.iter().cloned().flatten().map(|n| n as u16).collect())
        } else if BLOCK - passed < WORDS as u64 {
            let starts = std::iter::once(0).chain(here.iter().map(|r| r.end));
            let ends = here.iter().map(|r| r.start).chain(std::iter::once(BLOCK));
            (1, false, starts.zip(ends).flat_map(|(a, b)| a..b).map(|n| n as u16).collect())
        } else {
            let mut words = vec![0u16; WORDS];
            for n in here.iter().cloned().flatten() {
                if let Some(word) = words.get_mut(n as usize / 16) {
                    *word |= 1 << (n % 16);
                }
            }
            (0, true, words)
        };
        let (object, _) = self.begin_object("TEntryListBlock");
        let body = self.begin(1);
        self.object(0);
        // ROOT counts here what is in the array: of a list of those that did not pass, these
        self.i32(if kind == 1 { words.len() as i32 } else { passed as i32 });
        self.i32(if kind == -1 { WORDS as i32 } else { words.len() as i32 });
        self.u8(u8::from(!words.is_empty()));
        words.iter().for_each(|w| self.u16(*w));
        self.i32(kind);
        self.u8(u8::from(passing));
        self.end(body);
        self.end(object);
        runs.get(behind..).unwrap_or_default()
    }

    /// The instances of entries: a TEntryListArray for each.
    fn instances(&mut self, entries: &[(u64, &[u32])]) {
        if entries.is_empty() {
            self.u32(0);
            return;
        }
        let list = self.begin_list(entries.len());
        for (entry, numbers) in entries {
            let runs = runs(numbers);
            let own = TreeEntries { runs: &runs, ..TreeEntries::default() };
            let (object, _) = self.begin_object("TEntryListArray");
            let body = self.begin(1);
            self.blocks(0, ("", ""), &own, &[], true);
            self.u32(0);
            self.i64(*entry as i64);
            self.end(body);
            self.end(object);
            self.u8(0);
        }
        self.end_list(list);
    }

    fn begin_list(&mut self, len: usize) -> (Mark, Mark) {
        let (object, _) = self.begin_object("TList");
        let body = self.begin(5);
        self.object(0);
        self.string("");
        self.i32(len as i32);
        (object, body)
    }

    fn end_list(&mut self, (object, body): (Mark, Mark)) {
        self.end(body);
        self.end(object);
    }
}

/// How many entries.
fn count(runs: &[Range<u64>]) -> u64 {
    runs.iter().map(|r| r.end - r.start).sum()
}

/// Ascending numbers as runs.
fn runs(numbers: &[u32]) -> Vec<Range<u64>> {
    let mut out: Vec<Range<u64>> = Vec::new();
    for n in numbers.iter().map(|n| u64::from(*n)) {
        match out.last_mut() {
            Some(last) if last.end == n => last.end += 1,
            _ => out.push(n..n + 1),
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    /// The bytes are those that ROOT 6.40 wrote, but for the room behind the numbers (1000 in ROOT).
    #[test]
    fn an_event_list_as_root_has_it() {
        let mut b = ObjectBuffer::new(10);
        b.event_list("ev", "x<7", &[3..5]).unwrap();
        let named = "40000013000100010000000000000008026576".to_owned() + "03783c37";
        let rest = "0000000200000002000000640001".to_owned() + "00000000000000030000000000000004";
        assert_eq!(hex(&b.finish().unwrap()), format!("400000370004{named}{rest}"));
        let mut b = ObjectBuffer::new(10);
        assert!(b.event_list("ev", "", &[0..1 << 31]).is_err());
    }

    /// The bytes are those that ROOT 6.40 wrote for `x<0`.
    #[test]
    fn an_empty_list_as_root_has_it() {
        let mut b = ObjectBuffer::new(54);
        let own = TreeEntries { tree: "sub/t", file: "/tmp/lists/c.root", ..TreeEntries::default() };
        b.entry_list("none", "x<0", &[own], false);
        let named = "40000015000100010000000000000008046e6f6e6503783c30";
        let names = "057375622f74112f746d702f6c697374732f632e726f6f7400";
        let zeros = "00".repeat(4 + 4 + 4 + 8 + 8);
        assert_eq!(hex(&b.finish().unwrap()), format!("400000500002{named}{zeros}{names}"));
    }

    #[test]
    fn blocks_are_written_in_their_shortest_form() {
        let block = |first: u64, runs: &[Range<u64>]| {
            let mut b = ObjectBuffer::new(0);
            let left = b.block(first, runs).len();
            let bytes = b.finish().unwrap();
            let at = |from: usize| i32::from_be_bytes(bytes[from..from + 4].try_into().unwrap());
            // behind class name, byte counts and TObject
            (at(40), at(44), bytes.len(), bytes[bytes.len() - 2] as i8, bytes[bytes.len() - 1], left)
        };
        let fixed = 54;
        assert_eq!(block(0, &[3..5]), (2, 2, fixed + 4, 1, 1, 0));
        assert_eq!(block(64_000, &[64_001..64_002, 130_000..130_001]), (1, 1, fixed + 2, 1, 1, 1));
        assert_eq!(block(0, &[70_000..70_001]), (0, 4000, fixed, -1, 1, 1));
        assert_eq!(block(0, &[0..64_000]), (0, 0, fixed, 1, 0, 0));
        assert_eq!(block(0, &[1..80_000]), (1, 1, fixed + 2, 1, 0, 1));
        assert_eq!(block(64_000, &[1..80_000]), (16_000, 4000, fixed + 8000, 0, 1, 0));
    }
}
