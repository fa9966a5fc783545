//! Decompresses every basket and reads every branch and every object as users read them, with the same readers:
//! anything that one of them refuses is found here.

use super::{AT_ONCE, Examination, histograms, named, ntuples};
use sapwood_codec::Decoder;
use sapwood_engine::{File, ScanOptions, Tree};
use sapwood_format::inflate;
use sapwood_format::tree::{BasketHead, split_basket};
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::collections::{BTreeMap, HashSet};

/// Checks all trees and objects of a file.
pub(super) fn check(out: &mut Examination, file: &File) {
    let Ok(keys) = file.list("", true) else { return };
    let mut done = HashSet::new();
    let mut decoder = Decoder::new();
    for l in &keys {
        let name = named(&l.path, &l.key);
        if l.key.is_tree() || l.key.is_ntuple() {
            if let Ok(tree) = file.tree(&name) {
                let mut seen = baskets(out, file, &tree, &name, &mut done, &mut decoder);
                seen.bad.extend(ntuples::pages(out, file, &tree, &name, &mut decoder));
                values(out, &tree, &name, &seen);
            }
        } else if !l.key.is_directory() {
            match file.read_object(&name) {
                Ok(objects) => {
                    out.objects += 1;
                    histograms::check(out, &name, l.key.span, &objects);
                    for r in objects.refused() {
                        let e = Error::new(r.kind, format!("{} is not read: {}", r.class, r.why));
                        out.error("object", &name, Some(l.key.span), &e);
                    }
                }
                Err(e) => out.error("object", &name, Some(l.key.span), &e),
            }
        }
    }
    // readers of these objects get a warning
    for doubt in file.integrity_warnings() {
        out.note("record", "", None, doubt);
    }
}

/// What was observed in a tree's baskets.
#[derive(Default)]
struct Seen {
    /// The bad ones.
    bad: HashSet<Span>,
    /// Branches of which some baskets store where their entries begin, and those of which some do not.
    with_offsets: HashSet<usize>,
    without_offsets: HashSet<usize>,
}

/// Reads all values of all branches. Baskets already reported as bad are not reported again.
fn values(out: &mut Examination, tree: &Tree, name: &str, seen: &Seen) {
    let mut together: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for &i in tree.order() {
        let Some(b) = tree.header().branches.get(i).filter(|b| b.external_file().is_none()) else { continue };
        // a branch that only contains other branches has no values of its own
        let is_empty = || {
            b.field.is_none()
                && b.basket_seek.iter().all(|&s| s == 0)
                && b.embedded.iter().all(|(_, e)| e.data.is_empty())
        };
        if !b.children.is_empty() && is_empty() {
            continue;
        }
        match tree.column_type(i) {
            Ok(_) => together.entry(tree.entries_of(i)).or_default().push(i),
            Err(e) => out.error("tree", &format!("{name}:{}", tree.name_of(i)), Some(tree.key().span), &e),
        }
    }
    for (entries, branches) in together {
        if read_all(tree, branches.clone(), entries).is_ok() {
            continue;
        }
        for i in branches {
            let Err(e) = read_all(tree, vec![i], entries) else { continue };
            if e.span().is_some_and(|span| seen.bad.contains(&span)) {
                continue;
            }
            let place = format!("{name}:{}", tree.name_of(i));
            // baskets of one branch that differ in this are the result of a failed update
            let mixed = seen.with_offsets.contains(&i) && seen.without_offsets.contains(&i);
            if mixed && e.kind() == ErrorKind::Unsupported {
                let what = format!("only some of its baskets store entry offsets: {}", e.what());
                out.damage("basket", &place, e.span().or(Some(tree.key().span)), what);
            } else {
                out.error("basket", &place, Some(tree.key().span), &e);
            }
        }
    }
}

fn read_all(tree: &Tree, branches: Vec<usize>, entries: u64) -> Result<()> {
    let scan = ScanOptions::default().branches(branches).entries(0..entries);
    tree.scan_with(&scan)?.try_for_each(|batch| batch.map(drop))
}

/// Decompresses all baskets.
fn baskets(
    out: &mut Examination,
    file: &File,
    tree: &Tree,
    name: &str,
    done: &mut HashSet<u64>,
    decoder: &mut Decoder,
) -> Seen {
    let mut seen = Seen::default();
    let mut all: Vec<(Span, usize, usize)> = Vec::new();
    for &i in tree.order() {
        let Some(b) = tree.header().branches.get(i).filter(|b| b.file_name.is_empty()) else { continue };
        for (k, (&seek, &bytes)) in b.basket_seek.iter().zip(&b.basket_bytes).take(b.write_basket).enumerate() {
            let span = Span::new(seek, bytes.into());
            // baskets beyond the end were reported before
            if seek != 0 && span.end() <= file.size() && done.insert(seek) {
                all.push((span, i, k));
            }
        }
    }
    all.sort_by_key(|(span, _, _)| span.start);
    let mut rest = all.as_slice();
    while !rest.is_empty() {
        let mut bytes = 0;
        let n = rest
            .iter()
            .take_while(|(s, _, _)| {
                bytes += s.len;
                bytes <= AT_ONCE
            })
            .count()
            .max(1);
        let (now, later) = rest.split_at(n);
        rest = later;
        let spans: Vec<Span> = now.iter().map(|(s, _, _)| *s).collect();
        let records = match file.read(&spans) {
            Ok(records) => records,
            Err(e) => {
                out.error("basket", name, None, &e);
                continue;
            }
        };
        for ((span, branch, k), record) in now.iter().zip(records) {
            out.decompressed += 1;
            let no_offsets = tree.header().branches[*branch].entry_offset_len == 0;
            match whole(&record, decoder, no_offsets) {
                Ok(Some(true)) => drop(seen.with_offsets.insert(*branch)),
                Ok(Some(false)) => drop(seen.without_offsets.insert(*branch)),
                Ok(None) => {}
                Err(e) => {
                    let place = format!("{name}:{}", tree.name_of(*branch));
                    let what = format!("basket {k}: {}", e.what());
                    out.error("basket", &place, Some(*span), &e.worded(what));
                    seen.bad.insert(*span);
                }
            }
        }
    }
    seen
}

/// Whether a basket stores where its entries begin; none for one without values.
fn whole(record: &[u8], decoder: &mut Decoder, no_offsets: bool) -> Result<Option<bool>> {
    let (head, key) = BasketHead::read(record)?;
    let payload = record.get(key.key_len as usize..key.span.len as usize).unwrap_or_default();
    let data = inflate(&key, payload, decoder)?;
    let basket = split_basket(&head, &data)?;
    if no_offsets && basket.offsets.is_some() && basket.entries > 0 {
        // ROOT then assumes that entries are of one size
        return Err(Error::corrupt("it stores entry offsets, but its branch says that no basket does"));
    }
    Ok((!basket.data.is_empty()).then_some(basket.offsets.is_some()))
}
