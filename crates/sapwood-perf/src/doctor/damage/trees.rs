//! Trees: their headers, and every basket listed there against the records of the file.

use super::records::Records;
use super::{Examination, named, ntuples};
use sapwood_engine::{File, Tree};
use sapwood_format::tree::Branch;
use sapwood_span::Span;
use std::collections::HashMap;

/// Checks all trees of a file, in all cycles; positions and lengths of all baskets listed in them.
///
/// Returns what they refer to, by position: also pages and metadata of ntuples.
pub(super) fn check(out: &mut Examination, file: &File, records: &Records) -> HashMap<u64, u64> {
    let mut known = HashMap::new();
    let Ok(keys) = file.list("", true) else { return known };
    for l in keys.iter().filter(|l| l.key.is_tree() || l.key.is_ntuple()) {
        let name = named(&l.path, &l.key);
        match file.tree(&name) {
            Ok(tree) if tree.header().ntuple.is_some() => ntuples::check(out, &tree, &name, records, &mut known),
            Ok(tree) => {
                out.trees += 1;
                check_tree(out, &tree, &name, records, &mut known);
            }
            Err(e) => out.error("tree", &name, Some(l.key.span), &e),
        }
    }
    let (mut n, mut bytes) = (0u64, 0);
    for span in records.baskets().filter(|s| !known.contains_key(&s.start)) {
        n += 1;
        bytes += span.len;
    }
    if n > 0 {
        let what = format!("{n} baskets of {bytes} bytes belong to no tree that can be read");
        if file.recovered().is_some() {
            out.damage("tree", "", None, what);
        } else {
            out.note("tree", "", None, what);
        }
    }
    known
}

fn check_tree(out: &mut Examination, tree: &Tree, name: &str, records: &Records, known: &mut HashMap<u64, u64>) {
    let mut mine = HashMap::new();
    for &i in tree.order() {
        let Some(b) = tree.header().branches.get(i) else { continue };
        if b.file_name.is_empty() {
            let place = format!("{name}:{}", tree.name_of(i));
            check_branch(out, b, &place, tree, records, &mut mine);
        }
    }
    known.extend(mine);
}

fn check_branch(
    out: &mut Examination,
    b: &Branch,
    place: &str,
    tree: &Tree,
    records: &Records,
    mine: &mut HashMap<u64, u64>,
) {
    let (entries, header) = (tree.entries(), Some(tree.key().span));
    let counted = b.embedded.len() as u64 + b.basket_seek.iter().filter(|&&s| s != 0).count() as u64;
    if counted == 0 {
        return;
    }
    if b.entries != entries && b.entries != 0 {
        out.note("tree", place, header, format!("the branch has {} entries, the tree {entries}", b.entries));
    }
    let tables = b.basket_seek.iter().zip(&b.basket_bytes).zip(&b.basket_entry).take(b.write_basket);
    for (i, ((&seek, &bytes), &first)) in tables.enumerate() {
        if seek == 0 {
            if !b.embedded.iter().any(|(n, _)| *n == i) {
                out.damage("basket", place, header, format!("basket {i} (from entry {first}) has no position"));
            }
            continue;
        }
        out.baskets += 1;
        let span = Span::new(seek, bytes.into());
        let what = format!("basket {i} (from entry {first})");
        if mine.insert(seek, bytes.into()).is_some() {
            out.damage("basket", place, Some(span), format!("{what} is at the position of another basket of the tree"));
        }
        let next = b.basket_entry.get(i + 1).copied().filter(|&n| n > 0 || i + 1 < b.write_basket);
        let next = next.unwrap_or(b.entry_number.max(b.entries));
        if next < first {
            out.damage("tree", place, Some(span), format!("{what} is followed by entry {next}"));
            continue;
        }
        match records.at(seek) {
            None => out.damage("basket", place, Some(span), format!("{what}: no record begins there")),
            Some(r) if r.len != u64::from(bytes) => out.damage(
                "basket",
                place,
                Some(span),
                format!("{what}: its record has {} bytes, the tree's header says {bytes}", r.len),
            ),
            Some(r) => match r.entries {
                None => out.damage("basket", place, Some(span), format!("{what}: the record there is not a basket")),
                Some(n) if u64::from(n) != next - first => out.damage(
                    "basket",
                    place,
                    Some(span),
                    format!("{what}: it contains {n} entries, the tree's header says {}", next - first),
                ),
                Some(_) => {}
            },
        }
    }
}
