//! Every basket decompressed, every branch and every object read as users read them, by the same readers: what any of
//! them refuses is found here.

use super::{Examination, histograms, named};
use crate::file::{File, read};
use crate::options::ScanOptions;
use crate::tree::Tree;
use sapwood_codec::Decoder;
use sapwood_format::inflate;
use sapwood_format::tree::{BasketHead, split_basket};
use sapwood_span::{Error, Result, Span};
use std::collections::{BTreeMap, HashSet};

/// Bytes of baskets that are fetched at once.
const AT_ONCE: u64 = 8 << 20;

/// Checks all trees and objects of a file.
pub fn check(out: &mut Examination, file: &File) {
    let Ok(keys) = file.list("", true) else { return };
    let mut done = HashSet::new();
    let mut decoder = Decoder::new();
    for l in &keys {
        let name = named(&l.path, &l.key);
        if l.key.is_tree() {
            if let Ok(tree) = file.tree(&name) {
                let bad = baskets(out, file, &tree, &name, &mut done, &mut decoder);
                values(out, &tree, &name, &bad);
            }
        } else if !l.key.is_directory() {
            match file.read_object(&name) {
                Ok(objects) => {
                    out.objects += 1;
                    histograms::check(out, &name, l.key.span, &objects);
                    for r in objects.refused() {
                        out.note("object", &name, Some(l.key.span), format!("{} is not read: {}", r.class, r.why));
                    }
                }
                Err(e) => out.error("object", &name, Some(l.key.span), &e),
            }
        }
    }
    // whoever reads these objects is warned
    for doubt in file.integrity_warnings() {
        out.note("record", "", None, doubt);
    }
}

/// Reads all values of all branches. Baskets of which it was said already that they are bad are not told of again.
fn values(out: &mut Examination, tree: &Tree, name: &str, bad: &HashSet<Span>) {
    let mut together: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for &i in tree.order() {
        let Some(b) = tree.header().branches.get(i).filter(|b| b.elsewhere().is_none()) else { continue };
        // what only holds other branches has no values of its own
        if !b.children.is_empty() && b.write_basket == 0 && b.embedded.is_empty() {
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
            if e.span().is_none_or(|span| !bad.contains(&span)) {
                out.error("basket", &format!("{name}:{}", tree.name_of(i)), Some(tree.key().span), &e);
            }
        }
    }
}

fn read_all(tree: &Tree, branches: Vec<usize>, entries: u64) -> Result<()> {
    let scan = ScanOptions { branches, entries: Some(0..entries), ..ScanOptions::default() };
    tree.scan(&scan)?.try_for_each(|batch| batch.map(drop))
}

/// Decompresses all baskets; gives those that are bad.
fn baskets(
    out: &mut Examination,
    file: &File,
    tree: &Tree,
    name: &str,
    done: &mut HashSet<u64>,
    decoder: &mut Decoder,
) -> HashSet<Span> {
    let mut bad = HashSet::new();
    let mut all: Vec<(Span, usize, usize)> = Vec::new();
    for &i in tree.order() {
        let Some(b) = tree.header().branches.get(i).filter(|b| b.file_name.is_empty()) else { continue };
        for (k, (&seek, &bytes)) in b.basket_seek.iter().zip(&b.basket_bytes).take(b.write_basket).enumerate() {
            let span = Span::new(seek, bytes.into());
            // what lies beyond the end was told before
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
        let records = match read(file.source(), &spans) {
            Ok(records) => records,
            Err(e) => {
                out.error("basket", name, None, &e);
                continue;
            }
        };
        for ((span, branch, k), record) in now.iter().zip(records) {
            out.decompressed += 1;
            let no_offsets = tree.header().branches[*branch].entry_offset_len == 0;
            if let Err(e) = whole(&record, decoder, no_offsets) {
                let place = format!("{name}:{}", tree.name_of(*branch));
                out.damage("basket", &place, Some(*span), format!("basket {k}: {}", e.what()));
                bad.insert(*span);
            }
        }
    }
    bad
}

fn whole(record: &[u8], decoder: &mut Decoder, no_offsets: bool) -> Result<()> {
    let (head, key) = BasketHead::read(record)?;
    let payload = record.get(key.key_len as usize..key.span.len as usize).unwrap_or_default();
    let data = inflate(&key, payload, decoder)?;
    let basket = split_basket(&head, &data)?;
    if no_offsets && basket.offsets.is_some() && basket.entries > 0 {
        // ROOT then takes entries to be of one size
        return Err(Error::corrupt("it keeps where its entries begin, but its branch says that no basket does"));
    }
    Ok(())
}
