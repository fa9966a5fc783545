//! Where the baskets are in a file, and the key of one of them.

use super::read;
use crate::answer::Fault;
use crate::parameters::Parameters;
use crate::place::Place;
use crate::shared::Shared;
use sapwood::map::FileMap;
use sapwood::{Key, Span, datetime};
use sapwood_format::cursor::Cursor;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bytes in which a key is looked for.
const KEY: u64 = 4096;

pub(super) fn answer(
    shared: &Shared,
    _parameters: &Parameters,
    place: &Place,
    _cancel: &Arc<AtomicBool>,
) -> Result<Value, Fault> {
    read(shared, place, |file| {
        let tree = if place.object.is_empty() { None } else { Some(file.tree(&place.object)?) };
        let map = FileMap::new(file, tree.as_ref(), &[])?;
        let (mut offset, mut bytes, mut kind, mut branch, mut first, mut entries) =
            (vec![], vec![], vec![], vec![], vec![], vec![]);
        let (mut branches, mut what) = (Vec::new(), Vec::new());
        for one in map.trees() {
            for (name, baskets) in one.branches() {
                for (entry, end, span) in baskets {
                    offset.push(span.start);
                    bytes.push(span.len);
                    kind.push(if one.noun() == "page" { 2 } else { 0 });
                    branch.push(branches.len() as i64);
                    what.push(None);
                    first.push(Some(*entry));
                    entries.push(Some(end.saturating_sub(*entry)));
                }
                branches.push(name.to_owned());
            }
        }
        for (name, span) in map.records() {
            what.push(Some(name));
            offset.push(span.start);
            bytes.push(span.len);
            kind.push(1);
            branch.push(-1);
            first.push(None);
            entries.push(None);
        }
        Ok(json!({
            "size": file.size(),
            "regions": {
                "offset": offset, "bytes": bytes, "kind": kind, "branch": branch, "first_entry": first, "entries": entries,
                "name": what,
            },
            "kinds": ["basket", "record", "page"],
            "branches": branches,
        }))
    })
}

/// The key at a byte of the file; nothing where none begins, as at the metadata of an ntuple.
pub(super) fn key(
    shared: &Shared,
    parameters: &Parameters,
    place: &Place,
    _cancel: &Arc<AtomicBool>,
) -> Result<Value, Fault> {
    let offset = parameters.whole("offset").ok_or_else(|| Fault::new("offset is missing"))?;
    read(shared, place, |file| {
        let header = file.header().begin;
        if offset < header {
            return Ok(
                json!({ "class": "TFile", "name": "", "title": "the header of the file", "offset": 0, "bytes": header }),
            );
        }
        let length = KEY.min(file.size().saturating_sub(offset));
        if length == 0 {
            return Err(Fault::new(format!("byte {offset} is beyond the end of the file")));
        }
        let bytes = file.read(&[Span::new(offset, length)])?;
        let bytes = bytes.first().cloned().unwrap_or_default();
        let Some(key) = Key::read(&mut Cursor::new(&bytes, 0)).ok().filter(|key| key.span.start == offset) else {
            return Ok(json!({}));
        };
        let (year, month, day, hour, minute, second) = datetime(key.datetime);
        Ok(json!({
            "class": key.class,
            "name": key.name,
            "title": key.title,
            "cycle": key.cycle,
            "offset": key.span.start,
            "bytes": key.span.len,
            "key_bytes": key.key_len,
            "uncompressed_bytes": key.object_len,
            "modified": format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"),
        }))
    })
}
