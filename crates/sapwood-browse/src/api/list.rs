//! What a directory, a file or a directory in a file contains.

use super::read;
use crate::answer::Fault;
use crate::folder::Folder;
use crate::parameters::Parameters;
use crate::place::Place;
use crate::shared::Shared;
use sapwood::raw_text::text_of_path;
use sapwood::{Error, Listing, datetime, list_directory};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::UNIX_EPOCH;

/// Entries shown, at most.
const MOST: usize = 50_000;

pub(super) fn answer(
    shared: &Shared,
    _parameters: &Parameters,
    place: &Place,
    _cancel: &Arc<AtomicBool>,
) -> Result<Value, Fault> {
    if let Some(folder) = &place.folder {
        return match folder {
            Folder::Local(path) => files(path),
            Folder::Remote(url, query) => remote_files(&format!("{url}{query}"), shared),
        };
    }
    read(shared, place, |file| {
        let directory = place.object.as_str();
        let mut listed = file.list(directory, false)?;
        // the newest cycle first, names in the order of the file
        let mut first: HashMap<String, usize> = HashMap::new();
        for (i, one) in listed.iter().enumerate() {
            first.entry(one.path.clone()).or_insert(i);
        }
        listed.sort_by_key(|l| (first.get(&l.path).copied(), Reverse(l.key.cycle)));
        let shown: Vec<Value> = listed.iter().take(MOST).map(entry).collect();
        Ok(json!({ "entries": shown, "truncated": listed.len() > MOST }))
    })
}

fn entry(listing: &Listing) -> Value {
    let key = &listing.key;
    let kind = if key.is_directory() {
        "directory"
    } else if key.is_tree() {
        "tree"
    } else if key.is_ntuple() {
        "ntuple"
    } else {
        "object"
    };
    let (year, month, day, hour, minute, second) = datetime(key.datetime);
    json!({
        "name": key.name,
        "kind": kind,
        "class": key.class,
        "title": key.title,
        "cycle": key.cycle,
        "bytes": key.span.len,
        "modified": format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"),
    })
}

/// Directories and ROOT files in a directory.
fn files(folder: &Path) -> Result<Value, Fault> {
    let failed = |e| Error::io("cannot be read", e).in_file(text_of_path(folder));
    let (mut folders, mut files, mut truncated) = (Vec::new(), Vec::new(), false);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_name().map(|name| text_of_path(Path::new(name))) else { continue };
        if name.starts_with('.') {
            continue;
        }
        if folders.len() + files.len() >= MOST {
            truncated = true;
            break;
        }
        // links are followed: what is behind them is checked when it is opened
        let Ok(facts) = std::fs::metadata(&path) else { continue };
        let modified = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map(|time| time.as_secs());
        if facts.is_dir() {
            folders.push((name, 0, modified));
        } else if facts.is_file() && path.extension().is_some_and(|e| e.eq_ignore_ascii_case("root")) {
            files.push((name, facts.len(), modified));
        }
    }
    Ok(listing(folders, files, truncated))
}

/// Directories and ROOT files of a server.
fn remote_files(url: &str, shared: &Shared) -> Result<Value, Fault> {
    let found = list_directory(url, shared.files.options())?;
    let truncated = found.len() > MOST;
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for one in found.into_iter().filter(|one| !one.name.starts_with('.')).take(MOST) {
        let modified = u64::try_from(one.modified).ok().filter(|&seconds| seconds > 0);
        if one.directory {
            folders.push((one.name, 0, modified));
        } else if one.name.to_ascii_lowercase().ends_with(".root") {
            files.push((one.name, one.size, modified));
        }
    }
    Ok(listing(folders, files, truncated))
}

/// Name, bytes and last change of a file.
type Facts = (String, u64, Option<u64>);

fn listing(mut folders: Vec<Facts>, mut files: Vec<Facts>, truncated: bool) -> Value {
    folders.sort();
    files.sort();
    let shown = |kind: &str, (name, bytes, modified): Facts| {
        let bytes = (kind == "file").then_some(bytes);
        json!({ "name": name, "kind": kind, "class": null, "title": null, "cycle": null, "bytes": bytes, "modified": modified })
    };
    let folders = folders.into_iter().map(|facts| shown("folder", facts));
    let entries: Vec<Value> = folders.chain(files.into_iter().map(|facts| shown("file", facts))).collect();
    json!({ "entries": entries, "truncated": truncated })
}
