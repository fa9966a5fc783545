//! Deletes objects in a file that is updated.

use crate::append::{find, not_found};
use crate::core::Core;
use crate::existing_records::{is_record, subdirectory};
use crate::file::FileWriter;
use crate::key::Key;
use crate::ntuple::stored::{Blob, blobs, is_ntuple};
use crate::used_bytes::{Used, baskets, is_tree};
use sapwood_format::cursor::Cursor;
use sapwood_span::{Error, Result, Span};
use std::collections::HashSet;

/// Bytes of a basket's key that hold its length and its class.
const KEY_BEGIN: u64 = 64;

impl FileWriter {
    /// Deletes objects of this name, all cycles or one, and frees their bytes, including those of a tree's baskets and
    /// of an ntuple's pages where no other cycle, tree or ntuple of the file uses them. Returns how many objects there were.
    ///
    /// # Errors
    /// `NotFound` when there is none; `Invalid` for directories that are not empty.
    pub fn delete(&mut self, path: &str, cycle: Option<u16>) -> Result<usize> {
        let mut core = self.shared().lock();
        core.check()?;
        delete(&mut core, path, cycle).map_err(|e| core.named(e))
    }
}

pub(crate) fn delete(core: &mut Core, path: &str, cycle: Option<u16>) -> Result<usize> {
    let (directory, name, _) = find(core, path)?;
    if core.writes_tree(directory, &name, cycle) {
        return Err(Error::invalid(format!("{name} is being written")).with_remedy("finish it first"));
    }
    if let Ok(Some(inner)) = subdirectory(core, directory, &name)
        && !core.directory(inner)?.keys.is_empty()
    {
        return Err(Error::invalid(format!("directory {name} is not empty")).with_remedy("delete its contents first"));
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
    let parts = gone.iter().filter(|k| is_ntuple(&k.class)).map(|k| blobs(core, k.span())).collect::<Vec<_>>();
    for key in &gone {
        // a key may be wrong, and another record's bytes would be lost
        if is_record(core, key.span())? {
            core.space.free(key.span());
        }
    }
    // a tree or ntuple that cannot be read, or whose bytes may belong to another, keeps them
    let mut alone: HashSet<Span> = baskets.into_iter().filter_map(Result::ok).flatten().collect();
    let parts = parts.into_iter().filter_map(Result::ok).flatten().filter(|blob: &Blob| blob.is_record);
    // several cycles may have the same pages
    let mut pages: HashSet<Span> = parts.map(|blob| blob.span).collect();
    if !alone.is_empty() || !pages.is_empty() {
        let others = Used::of(core);
        alone.retain(|span| others.is_all && !others.baskets.contains(span));
        pages = others.without_used(pages);
    }
    for span in alone {
        if is_basket(core, span) {
            core.space.free(span);
        }
    }
    pages.into_iter().for_each(|span| core.space.free(span));
    Ok(gone.len())
}

/// Whether there is a basket at this position with this length: a header may be wrong, and another record's bytes would
/// be lost.
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
