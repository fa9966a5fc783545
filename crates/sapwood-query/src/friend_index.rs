//! Entries of friends that are found by index: the values of two expressions, evaluated in both trees.

use crate::{Binding, Expr, Query};
use sapwood_column::{Array, Values};
use sapwood_engine::{FriendIndex, FriendLookup, FriendTree, ScanOptions, Tree};
use sapwood_span::{Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::Arc;

/// A friend whose entries are found by the values of two expressions, not by their numbers.
///
/// # Errors
/// `Invalid` for what is no expression.
pub fn with_index(friend: FriendTree, major: &str, minor: &str) -> Result<FriendTree> {
    Expr::parse(major)?;
    Expr::parse(minor)?;
    Ok(friend.with_index(major, minor))
}

/// How a friend's entries are found, where not by their numbers: by the index that was asked for, else by the one that is
/// stored in its tree, as ROOT does it.
///
/// # Errors
/// What opening the friend says; `Unsupported` for an index that cannot be used.
pub(crate) fn index_of(friend: &FriendTree) -> Result<Option<(String, String)>> {
    if let Some((major, minor)) = friend.index() {
        return Ok(Some((major.to_owned(), minor.to_owned())));
    }
    if friend.files() > 1 {
        return Ok(None);
    }
    let first = friend.first()?;
    let Some(index) = &first.header().index else { return Ok(None) };
    if friend.is_nested() {
        let what = format!("the {} is a friend of a friend, and is found by its index", friend.title());
        return Err(Error::unsupported(what).with_remedy("add it as a friend of the tree itself"));
    }
    if let Some(why) = &index.refused {
        let what = format!("the {} has an index that cannot be used: {why}", friend.title());
        return Err(Error::unsupported(what).with_remedy("specify the expressions to match by as its index"));
    }
    Ok(Some((index.major.clone(), index.minor.clone())))
}

/// The entries of the friend for entries of a tree, `None` where it has none.
///
/// # Errors
/// Names that one of the trees does not have; what reading says.
pub(crate) fn look_up(
    friend: &FriendTree,
    (major, minor): &(String, String),
    tree: &Tree,
    entries: Range<u64>,
) -> Result<Vec<Option<u64>>> {
    let index = friend.index_rows(|| build(friend, major, minor))?;
    let mut found = vec![None; usize::try_from(entries.end - entries.start).unwrap_or(0)];
    let values = |e: Error| {
        let what = format!("the {} is matched by {major},{minor}: {}", friend.title(), e.what());
        let kind = if e.kind() == ErrorKind::NotFound { ErrorKind::Unsupported } else { e.kind() };
        e.worded(what).with_kind(kind).with_remedy("as its index, specify expressions that both trees have")
    };
    each_pair(tree, major, minor, entries.clone(), |entry, major, minor| {
        let place = entry.checked_sub(entries.start).and_then(|at| usize::try_from(at).ok());
        if let Some(found) = place.and_then(|at| found.get_mut(at)) {
            *found = index.entry(major, minor);
        }
    })
    .map_err(values)?;
    Ok(found)
}

/// The index of a friend: that of its header where it is there, else read from its branches.
fn build(friend: &FriendTree, major: &str, minor: &str) -> Result<FriendIndex> {
    let mut rows = Vec::new();
    for file in 0..friend.files() {
        let (tree, first) = friend.file(file)?;
        let stored = tree.header().index.as_ref();
        match stored.filter(|i| i.refused.is_none() && i.major == major && i.minor == minor) {
            Some(index) => rows.extend(index.rows.iter().map(|(a, b, entry)| (*a, *b, entry.saturating_add(first)))),
            None => each_pair(&tree, major, minor, 0..tree.entries(), |entry, a, b| rows.push((a, b, entry + first)))?,
        }
    }
    Ok(FriendIndex::new(rows))
}

/// Calls `f` with entry, major and minor of each entry that has both.
fn each_pair(
    tree: &Tree,
    major: &str,
    minor: &str,
    entries: Range<u64>,
    mut f: impl FnMut(u64, i64, i64),
) -> Result<()> {
    let exprs = [Expr::parse(major)?, Expr::parse(minor)?];
    let binding = Binding::alone(tree, &exprs)?;
    if entries.is_empty() {
        return Ok(());
    }
    let options = ScanOptions::new(binding.branches.clone()).entries(Some(entries));
    for batch in tree.scan_with(&options)? {
        let batch = batch?;
        let of = |query: &Query, b: &crate::Batch<'_>| query.rows(b);
        let rows = binding.with_batch(&batch, &batch.columns, 0, tree.entries(), |b| of(&binding.query, b))?;
        let mut last = None;
        for (row, &entry) in rows.entry.iter().enumerate() {
            // of an entry with several values the first counts
            if last.replace(entry) == Some(entry) {
                continue;
            }
            let value = |column: usize| rows.columns.get(column).and_then(|c| whole(c, row));
            if let (Some(major), Some(minor)) = (value(0), value(1)) {
                f(entry, major, minor);
            }
        }
    }
    Ok(())
}

/// A value as a whole number, as ROOT takes it: without its fraction.
fn whole(column: &Array, row: usize) -> Option<i64> {
    let Array::Flat(values) = column else { return None };
    match values {
        Values::I64(v) => v.get(row).copied(),
        Values::U64(v) => v.get(row).map(|x| *x as i64),
        other => other.get_f64(row).filter(|x| !x.is_nan()).map(|x| x as i64),
    }
}

/// Finds entries of a friend for entries of a tree, to be asked when reading begins.
pub(crate) fn finder(friend: &FriendTree, names: (String, String), tree: &Tree) -> FriendLookup {
    let (friend, tree) = (friend.clone(), tree.clone());
    Arc::new(move |entries| look_up(&friend, &names, &tree, entries))
}
