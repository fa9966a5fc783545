//! Which catalogue wrote a JSON text.

use crate::json::Json;
use crate::listed_file::{ListedFile, with_tree};
use crate::{das, fileset, rucio};
use sapwood_span::{Error, Result};

/// The files of a JSON text. `choice` is what stands behind the list's name: a dataset, a tree, or both.
///
/// # Errors
/// `Invalid` for what is not a list of files, with the reason.
pub(crate) fn files(json: &Json, choice: Option<&str>, redirector: Option<&str>) -> Result<Vec<ListedFile>> {
    let records = match json {
        Json::List(items) if items.iter().all(|i| matches!(i, Json::Text(_))) => {
            return Ok(with_tree(items.iter().filter_map(Json::text).map(ListedFile::text).collect(), choice));
        }
        Json::List(items) => items.as_slice(),
        // as DAS answers over the web
        Json::Object(_) if json.get("data").is_some_and(|d| d.items().iter().any(das::is_record)) => {
            json.get("data").map(Json::items).unwrap_or_default()
        }
        Json::Object(_) if rucio::is_record(json) || das::is_record(json) => std::slice::from_ref(json),
        Json::Object(_) => return fileset::files(json, choice),
        _ => return Err(unknown()),
    };
    if records.iter().all(rucio::is_record) {
        return Ok(with_tree(rucio::files(records)?, choice));
    }
    if records.iter().all(das::is_record) {
        return Ok(with_tree(das::files(records, redirector)?, choice));
    }
    Err(unknown())
}

fn unknown() -> Error {
    Error::invalid("is not a known list of files").with_remedy(
        "pass a list of names, a fileset of coffea ({dataset: files}), or the JSON output of Rucio's list of replicas or of \
         dasgoclient",
    )
}
