//! The class descriptions of all inputs, each once.

use sapwood_edit::survey::{Name, Stream, Survey, survey};
use sapwood_format::Streamers;
use sapwood_span::Result;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Descriptions collected from the inputs.
#[derive(Default)]
pub(crate) struct ClassUnion {
    /// Whole records seen so far.
    records: HashSet<u64>,
    /// Descriptions already included: class, version and checksum, or the bytes of anything else.
    known: HashSet<u64>,
    /// Records with the new descriptions in each.
    parts: Vec<Part>,
}

struct Part {
    data: Vec<u8>,
    base: usize,
    items: Vec<Range<usize>>,
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut h = DefaultHasher::new();
    value.hash(&mut h);
    h.finish()
}

fn walk(data: &[u8], base: usize) -> Result<Survey<'_>> {
    survey(data, base, "TList", &Streamers::default())
}

impl ClassUnion {
    /// Adds the descriptions of an input: its decompressed record, after a label of `base` bytes.
    ///
    /// # Errors
    /// `Corrupt` when it cannot be read.
    pub(crate) fn add(&mut self, base: usize, data: &[u8]) -> Result<()> {
        if data.is_empty() || !self.records.insert(hash(data)) {
            return Ok(());
        }
        let s = walk(data, base)?;
        let mut items = Vec::new();
        for node in s.find(|n| n.parent == 0 && n.at.start > 0) {
            let Some(n) = s.nodes.get(node) else { continue };
            let id = match (s.text(node, Name::Identifier), s.integer(node, Name::ClassVersion)) {
                (Some(name), Some(version)) if &*n.class == "TStreamerInfo" => {
                    hash(&(name, version, s.integer(node, Name::CheckSum)))
                }
                _ => hash(data.get(n.body..n.at.end).unwrap_or_default()),
            };
            if self.known.insert(id) {
                items.push(n.at.clone());
            }
        }
        if !items.is_empty() {
            self.parts.push(Part { data: data.to_vec(), base, items });
        }
        Ok(())
    }

    /// The payload of a record with all of them, for a label of `base` bytes.
    ///
    /// # Errors
    /// When it would be too large.
    pub(crate) fn record(&self, base: usize) -> Result<Vec<u8>> {
        let mut out = Stream::new(base);
        let list = out.begin();
        // TList version 5: TObject, no name, number of items
        out.bytes.extend_from_slice(&[0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let n: usize = self.parts.iter().map(|p| p.items.len()).sum();
        out.bytes.extend_from_slice(&(n as u32).to_be_bytes());
        for part in &self.parts {
            let s = walk(&part.data, part.base)?;
            for item in &part.items {
                s.emit(item.clone(), &mut [], &mut out)?;
                // the option of a list's item: none
                out.bytes.push(0);
            }
        }
        out.end(list)?;
        Ok(out.bytes)
    }
}
