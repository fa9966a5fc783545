//! What dasgoclient prints with `-json` for files of a dataset.

use crate::json::Json;
use crate::listed_file::ListedFile;
use crate::logical::{REDIRECTOR, join};
use sapwood_span::{Error, Result};
use std::collections::HashSet;

/// Whether it is a record with files.
pub(crate) fn is_record(json: &Json) -> bool {
    matches!(json.get("file"), Some(Json::List(_)))
}

/// The files in order, each once: several services of DAS may name one.
///
/// # Errors
/// `Invalid` without the server in front of their names.
pub(crate) fn files(records: &[Json], redirector: Option<&str>) -> Result<Vec<ListedFile>> {
    let (mut out, mut seen) = (Vec::new(), HashSet::new());
    for file in records.iter().filter_map(|r| r.get("file")).flat_map(Json::items) {
        let Some(name) = file.get("name").and_then(Json::text) else {
            return Err(Error::invalid("a file in the output of DAS has no name"));
        };
        if !seen.insert(name) {
            continue;
        }
        let Some(server) = redirector else {
            return Err(Error::invalid(format!("DAS lists files without a server: {name}"))
                .with_remedy(format!("set {REDIRECTOR}, for example to root://cms-xrd-global.cern.ch/")));
        };
        out.push(ListedFile::of(join(server, name), None));
    }
    Ok(out)
}
