//! What is deleted in a file that is updated.

use crate::append::{find, not_found};
use crate::core::Core;
use crate::directory::{CLASS, DirectoryId};
use crate::existing::{object, subdirectory};
use crate::file::FileWriter;
use crate::key::{FIRST_RECORD, Key};
use crate::merge::is_histogram;
use sapwood_format::cursor::Cursor;
use sapwood_format::tree::read_tree;
use sapwood_span::{Error, Result, Span};
use std::collections::HashSet;

/// Classes of trees.
const TREES: [&str; 3] = ["TTree", "TNtuple", "TNtupleD"];

/// Classes besides histograms whose objects hold no trees.
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

/// And templates.
const TEMPLATES_WITHOUT_TREES: [&str; 4] = ["TParameter<", "TVectorT<", "TMatrixT<", "TMatrixTSym<"];

/// Bytes of a basket's key that say how long it is and its class.
const KEY_BEGIN: u64 = 64;

impl FileWriter {
    /// Deletes objects of this name, all cycles or one, and frees their bytes, those of a tree's baskets as well where
    /// no other cycle or tree of the file has them. How many objects there were.
    ///
    /// # Errors
    /// `NotFound` when there is none; `Invalid` for directories that hold anything.
    pub fn delete(&mut self, path: &str, cycle: Option<u16>) -> Result<usize> {
        let mut core = self.shared().lock();
        core.check()?;
        delete(&mut core, path, cycle).map_err(|e| core.named(e))
    }
}

fn delete(core: &mut Core, path: &str, cycle: Option<u16>) -> Result<usize> {
    let (directory, name, _) = find(core, path)?;
    if core.open_trees.iter().any(|(d, t)| *d == directory && *t == name) {
        return Err(Error::invalid(format!("{name} is being written")).with_remedy("finish it first"));
    }
    if let Ok(Some(inner)) = subdirectory(core, directory, &name)
        && !core.directory(inner)?.keys.is_empty()
    {
        return Err(Error::invalid(format!("directory {name} is not empty")).with_remedy("delete what it holds first"));
    }
    core.drain()?;
    let goes = |k: &Key| k.name == name && cycle.is_none_or(|c| k.cycle == c);
    let within = core.directory_mut(directory)?;
    let gone: Vec<Key> = within.keys.extract_if(.., |k| goes(k)).collect();
    if gone.is_empty() {
        return Err(not_found(path));
    }
    within.dirty = true;
    let baskets = gone.iter().filter(|k| is_tree(k)).map(|k| baskets(core, k)).collect::<Vec<_>>();
    gone.iter().for_each(|key| core.space.free(key.span()));
    // a tree that cannot be read, or whose baskets may be another's, keeps them
    let mut alone: HashSet<Span> = baskets.into_iter().filter_map(Result::ok).flatten().collect();
    if !alone.is_empty() {
        match of_others(core) {
            Ok(Some(others)) => alone.retain(|span| !others.contains(span)),
            _ => alone.clear(),
        }
    }
    for span in alone {
        if is_basket(core, span) {
            core.space.free(span);
        }
    }
    Ok(gone.len())
}

fn is_tree(key: &Key) -> bool {
    TREES.contains(&&*key.class)
}

/// Where the baskets of a tree lie in this file.
fn baskets(core: &mut Core, key: &Key) -> Result<Vec<Span>> {
    let (read, payload) = object(core, key.span())?;
    let tree = read_tree(&payload, read.key_len as usize, &key.class, &core.described.streamers())?;
    let here = tree.branches.iter().filter(|branch| branch.file_name.is_empty());
    Ok(here
        .flat_map(|branch| branch.basket_seek.iter().zip(&branch.basket_bytes))
        .filter(|(seek, bytes)| **seek >= FIRST_RECORD && **bytes > 0)
        .map(|(seek, bytes)| Span::new(*seek, u64::from(*bytes)))
        .collect())
}

/// The baskets of all trees that the file has or gets; none where other objects may hold trees.
fn of_others(core: &mut Core) -> Result<Option<HashSet<Span>>> {
    let mut spans: HashSet<Span> = core.tables.iter().flatten().flat_map(|t| &t.baskets).map(|b| b.span).collect();
    let mut next = 0;
    while let Some(directory) = core.directories.get(next) {
        let keys = directory.keys.clone();
        let mut inner = HashSet::new();
        for key in &keys {
            if is_tree(key) {
                spans.extend(baskets(core, key)?);
            } else if matches!(&*key.class, CLASS | "TDirectoryFile") {
                // of two of one name only the last would be read
                if !inner.insert(&key.name) {
                    return Ok(None);
                }
                subdirectory(core, DirectoryId(next), &key.name)?;
            } else if !holds_no_tree(&key.class) {
                return Ok(None);
            }
        }
        next += 1;
    }
    Ok(Some(spans))
}

fn holds_no_tree(class: &str) -> bool {
    is_histogram(class)
        || WITHOUT_TREES.contains(&class)
        || TEMPLATES_WITHOUT_TREES.iter().any(|template| class.starts_with(template))
}

/// Whether a basket lies there, of this length: what a header says may be wrong, and others' bytes would be lost.
fn is_basket(core: &mut Core, span: Span) -> bool {
    if span.start.checked_add(span.len).is_none_or(|end| end > core.sink.position()) {
        return false;
    }
    let Ok(begin) = core.sink.read(Span::new(span.start, span.len.min(KEY_BEGIN))) else { return false };
    let says = || -> Result<(u64, String)> {
        let mut c = Cursor::new(&begin, 0);
        let len = c.u32()?;
        let big = c.u16()? > 1000;
        c.skip(4 + 4 + 2 + 2 + if big { 16 } else { 8 })?;
        Ok((len.into(), c.string()?))
    };
    says().is_ok_and(|(len, class)| len == span.len && class == "TBasket")
}
