//! Indices of joined trees (`TTreeIndex`): entries by two numbers, ascending.

use crate::survey::{Edit, Name, Survey, put_integer};
use sapwood_format::cursor::Cursor;
use sapwood_format::streamer::code;
use sapwood_span::Result;

/// Entries of all inputs that an index may list: more would not fit into the tree's header, limited to 1 GiB by ROOT.
const MOST: usize = 40_000_000;

/// Two numbers, and their entry.
type Row = (i64, i64, i64);

/// The index in a tree's header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeIndex {
    /// The expressions for the two numbers.
    major: Vec<u8>,
    minor: Vec<u8>,
    /// One for each entry.
    rows: Vec<Row>,
}

/// The index in a header; none where there is no index that can be joined.
pub(super) fn read_index(s: &Survey) -> Option<TreeIndex> {
    let node = s.child(0, Name::TreeIndex)?;
    let column = |name| {
        let items = s.data.get(s.field(node, name)?.at.clone())?;
        let mut c = Cursor::new(items, 0);
        (0..items.len() / 8).map(|_| c.i64().ok()).collect::<Option<Vec<i64>>>()
    };
    let (major, minor, entries) = (column(Name::IndexValues)?, column(Name::MinorValues)?, column(Name::Index)?);
    Some(TreeIndex {
        major: s.text(node, Name::Major)?.to_vec(),
        minor: s.text(node, Name::Minor)?.to_vec(),
        rows: major.into_iter().zip(minor).zip(entries).map(|((a, b), e)| (a, b, e)).collect(),
    })
}

impl TreeIndex {
    /// Appends the index of a tree whose entries begin at `from`; false where the two cannot be joined.
    pub fn append(&mut self, other: &Self, from: u64) -> bool {
        let fits = self.major == other.major && self.minor == other.minor;
        if !fits || self.rows.len() + other.rows.len() > MOST {
            return false;
        }
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        self.rows.extend(other.rows.iter().map(|&(a, b, e)| (a, b, e.saturating_add(from))));
        true
    }

    /// Replaces the index in the header of the first tree by this one.
    pub fn edits(&mut self, s: &Survey, edits: &mut Vec<Edit>) -> Result<()> {
        let Some(node) = s.child(0, Name::TreeIndex) else { return Ok(()) };
        self.rows.sort_by_key(|&(a, b, _)| (a, b));
        if let Some(f) = s.field(node, Name::IndexSize) {
            let mut bytes = Vec::new();
            put_integer(&mut bytes, code::LONG64, self.rows.len() as i64)?;
            edits.push(Edit { at: f.at.clone(), bytes });
        }
        let column = |name, number: fn(&Row) -> i64| (name, number);
        for (name, column) in
            [column(Name::IndexValues, |r| r.0), column(Name::MinorValues, |r| r.1), column(Name::Index, |r| r.2)]
        {
            if let Some(f) = s.field(node, name) {
                let bytes = self.rows.iter().flat_map(|r| column(r).to_be_bytes()).collect();
                edits.push(Edit { at: f.at.clone(), bytes });
            }
        }
        Ok(())
    }
}
