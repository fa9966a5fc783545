//! The bytes in use in an updated file, so that nothing live is overwritten: directories, keys and their records,
//! baskets, records of ntuples. A file's own list of free bytes may be wrong.

use crate::commit::LONGEST_GAP;
use crate::core::Core;
use crate::directory::{CLASS, DirectoryId};
use crate::existing_records::{object, subdirectory};
use crate::key::{FIRST_RECORD, Key};
use crate::ntuple::stored::{blobs, is_ntuple};
use sapwood_format::is_histogram;
use sapwood_format::tree::read_tree;
use sapwood_span::{Result, Span};
use std::collections::HashSet;

/// Classes of trees.
const TREES: [&str; 3] = ["TTree", "TNtuple", "TNtupleD"];

/// Classes other than histograms whose objects contain no trees.
const WITHOUT_TREES: [&str; 16] = [
    "TH1K",
    "TH2Poly",
    "TProfile2Poly",
    "TGraph",
    "TGraphErrors",
    "TGraphAsymmErrors",
    "TGraphBentErrors",
    "TGraphMultiErrors",
    "TGraph2D",
    "TCutG",
    "TF1",
    "TF2",
    "TF3",
    "TObjString",
    "TNamed",
    "TEfficiency",
];

/// And class templates.
const TEMPLATES_WITHOUT_TREES: [&str; 4] = ["TParameter<", "TVectorT<", "TMatrixT<", "TMatrixTSym<"];

pub(crate) fn is_tree(key: &Key) -> bool {
    TREES.contains(&&*key.class)
}

fn is_directory(key: &Key) -> bool {
    matches!(&*key.class, CLASS | "TDirectoryFile")
}

fn holds_no_tree(class: &str) -> bool {
    is_histogram(class)
        || WITHOUT_TREES.contains(&class)
        || TEMPLATES_WITHOUT_TREES.iter().any(|template| class.starts_with(template))
}

/// The baskets of a tree that are in this file.
pub(crate) fn baskets(core: &mut Core, key: &Key) -> Result<Vec<Span>> {
    let (read, payload) = object(core, key.span())?;
    let tree = read_tree(&payload, read.key_len as usize, &key.class, &core.described.streamers())?;
    let here = tree.branches.iter().filter(|branch| branch.file_name.is_empty());
    Ok(here
        .flat_map(|branch| branch.basket_seek.iter().zip(&branch.basket_bytes))
        .filter(|(seek, bytes)| **seek >= FIRST_RECORD && **bytes > 0)
        .map(|(seek, bytes)| Span::new(*seek, u64::from(*bytes)))
        .collect())
}

/// The bytes in use.
#[derive(Default)]
pub(crate) struct Used {
    /// Baskets of all trees.
    pub(crate) baskets: HashSet<Span>,
    /// Directories, their lists of keys, and the records they point to.
    pub(crate) records: HashSet<Span>,
    /// Pages and metadata of all ntuples.
    pub(crate) blobs: Vec<Span>,
    /// Whether that is all: no unreadable tree, ntuple or directory, nothing of a class that may contain trees.
    pub(crate) is_all: bool,
}

impl Used {
    pub(crate) fn of(core: &mut Core) -> Self {
        let mut used = Self { is_all: true, ..Self::default() };
        used.baskets.extend(core.tables.iter().flatten().flat_map(|t| &t.baskets).map(|b| b.span));
        used.blobs.extend(core.pending_blobs.iter().map(|(_, span)| *span));
        used.records.extend([core.info, core.free_list]);
        let mut next = 0;
        while let Some(directory) = core.directories.get(next) {
            used.records.insert(Span::new(directory.seek, directory.record_len() as u64));
            used.records.insert(directory.list);
            let keys = directory.keys.clone();
            let mut inner = HashSet::new();
            for key in &keys {
                used.records.insert(key.span());
                if is_tree(key) {
                    match baskets(core, key) {
                        Ok(spans) => used.baskets.extend(spans),
                        Err(_) => used.is_all = false,
                    }
                } else if is_ntuple(&key.class) {
                    match blobs(core, key.span()) {
                        Ok(found) => used.blobs.extend(found.iter().map(|blob| blob.span)),
                        Err(_) => used.is_all = false,
                    }
                } else if is_directory(key) {
                    // of two with one name only the last is read
                    used.is_all &= inner.insert(&key.name);
                    used.is_all &= subdirectory(core, DirectoryId(next), &key.name).is_ok();
                } else {
                    used.is_all &= holds_no_tree(&key.class);
                }
            }
            next += 1;
        }
        used
    }

    /// Those of these spans that nothing uses any of, and that do not overlap each other. None where some bytes in use
    /// are unknown.
    pub(crate) fn without_used(&self, spans: HashSet<Span>) -> HashSet<Span> {
        if !self.is_all {
            return HashSet::new();
        }
        let used = self.baskets.iter().chain(&self.records).chain(&self.blobs);
        let mut all: Vec<(Span, bool)> = used.filter(|s| s.len > 0).map(|&span| (span, true)).collect();
        all.extend(spans.iter().map(|&span| (span, false)));
        all.sort_unstable_by_key(|(span, is_used)| (span.start, *is_used));
        let (mut wrong, mut last): (HashSet<Span>, Option<(Span, bool)>) = (HashSet::new(), None);
        for (span, is_used) in all {
            if let Some((before, was_used)) = last.filter(|(before, _)| before.end() > span.start) {
                if !is_used {
                    wrong.insert(span);
                }
                if !was_used {
                    wrong.insert(before);
                }
            }
            // the one that reaches farthest
            if last.is_none_or(|(before, _)| span.end() > before.end()) {
                last = Some((span, is_used));
            }
        }
        spans.into_iter().filter(|span| !wrong.contains(span)).collect()
    }
}

/// Removes the gaps of a file's list that are in use, or may be. If the list is wrong in one place, it is not trusted
/// there; the bytes stay unchanged.
pub(crate) fn check_gaps(core: &mut Core) -> Result<()> {
    let used = Used::of(core);
    let mut spans: Vec<Span> =
        used.baskets.iter().chain(&used.records).chain(&used.blobs).copied().filter(|s| s.len > 0).collect();
    // bytes deleted since the last commit are in use until the next
    spans.extend_from_slice(core.space.freed());
    spans.sort_by_key(|s| s.start);
    let mut merged: Vec<Span> = vec![Span::new(0, FIRST_RECORD)];
    for span in spans {
        match merged.last_mut() {
            Some(last) if last.end() >= span.start => last.len = span.end().max(last.end()) - last.start,
            _ => merged.push(span),
        }
    }
    let mut marked = HashSet::new();
    if !used.is_all {
        // where some bytes in use are unknown, a gap must be marked as one
        for gap in core.space.gaps().to_vec() {
            let says = core.sink.read(Span::new(gap.start, gap.len.min(4)))?;
            let len = gap.len.min(LONGEST_GAP) as i32;
            if says == (-len).to_be_bytes() {
                marked.insert(gap.start);
            }
        }
    }
    core.space.retain(|gap| {
        let before = merged.partition_point(|s| s.start < gap.end());
        let in_use = before.checked_sub(1).and_then(|i| merged.get(i)).is_some_and(|s| s.end() > gap.start);
        !in_use && (used.is_all || marked.contains(&gap.start))
    });
    Ok(())
}
