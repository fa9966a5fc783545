//! Every basket decompressed, every object read.

use super::{Examination, named};
use crate::file::{File, read};
use crate::tree::Tree;
use sapwood_codec::Decoder;
use sapwood_format::inflate;
use sapwood_format::tree::{BasketHead, split_basket};
use sapwood_span::{Result, Span};
use std::collections::HashSet;

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
                baskets(out, file, &tree, &name, &mut done, &mut decoder);
            }
        } else if !l.key.is_directory() {
            match file.read_object(&name) {
                Ok(objects) => {
                    out.objects += 1;
                    for r in objects.refused() {
                        out.note("object", &name, Some(l.key.span), format!("{} is not read: {}", r.class, r.why));
                    }
                }
                Err(e) => out.error("object", &name, Some(l.key.span), &e),
            }
        }
    }
}

fn baskets(
    out: &mut Examination,
    file: &File,
    tree: &Tree,
    name: &str,
    done: &mut HashSet<u64>,
    decoder: &mut Decoder,
) {
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
            if let Err(e) = whole(&record, decoder) {
                let place = format!("{name}:{}", tree.name_of(*branch));
                out.damage("basket", &place, Some(*span), format!("basket {k}: {}", e.what()));
            }
        }
    }
}

fn whole(record: &[u8], decoder: &mut Decoder) -> Result<()> {
    let (head, key) = BasketHead::read(record)?;
    let payload = record.get(key.key_len as usize..key.span.len as usize).unwrap_or_default();
    let data = inflate(&key, payload, decoder)?;
    split_basket(&head, &data).map(|_| ())
}
