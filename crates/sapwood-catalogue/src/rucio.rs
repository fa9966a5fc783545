//! Rucio's lists of file replicas: records with `pfns`, or `rses` in older versions.

use crate::json::Json;
use crate::listed_file::ListedFile;
use sapwood_span::{Error, Result};

/// Schemes that can be read, the best one first, and what they are called here.
const SCHEMES: [(&str, &str); 7] = [
    ("roots", "roots"),
    ("root", "root"),
    ("xroot", "root"),
    ("https", "https"),
    ("davs", "https"),
    ("http", "http"),
    ("dav", "http"),
];

/// Whether it is a record of a file.
pub(crate) fn is_record(json: &Json) -> bool {
    json.get("name").is_some_and(|n| n.text().is_some()) && json.get("scope").is_some_and(|s| s.text().is_some())
}

/// One replica of each file: on disk before tape, then by Rucio's priority, then in its order.
///
/// # Errors
/// `Invalid` for files without a replica that can be read.
pub(crate) fn files(records: &[Json]) -> Result<Vec<ListedFile>> {
    records.iter().map(file).collect()
}

fn file(record: &Json) -> Result<ListedFile> {
    let did = |key| record.get(key).and_then(Json::text).unwrap_or_default();
    let name = format!("{}:{}", did("scope"), did("name"));
    let all = replicas(record);
    if all.is_empty() {
        return Err(Error::invalid(format!("{name} has no replica in this list")).with_remedy(
            "use the output of `rucio replica list file` (or list-file-replicas), not that of a list of names",
        ));
    }
    let best = all.iter().filter_map(|r| Some((r.tape, r.priority, readable(&r.url)?))).min_by_key(|r| (r.0, r.1));
    match best {
        Some((_, _, url)) => Ok(ListedFile::of(url, None)),
        None => {
            let schemes: Vec<&str> = all.iter().map(|r| r.url.split("://").next().unwrap_or_default()).collect();
            Err(Error::unsupported(format!("no replica of {name} can be read: {}", schemes.join(", ")))
                .with_remedy("request replicas over the protocols root and davs"))
        }
    }
}

struct Replica {
    url: String,
    tape: bool,
    priority: u64,
}

fn replicas(record: &Json) -> Vec<Replica> {
    let pfns = record.get("pfns").map(Json::members).unwrap_or_default();
    if !pfns.is_empty() {
        let replica = |(url, of): &(String, Json)| Replica {
            url: url.clone(),
            tape: of.get("type").and_then(Json::text).is_some_and(|t| t.eq_ignore_ascii_case("tape")),
            priority: of.get("priority").and_then(Json::whole).unwrap_or(u64::MAX),
        };
        return pfns.iter().map(replica).collect();
    }
    let available = |rse: &str| {
        let state = record.get("states").and_then(|s| s.get(rse)).and_then(Json::text);
        state.is_none_or(|state| state.eq_ignore_ascii_case("available"))
    };
    let rses = record.get("rses").map(Json::members).unwrap_or_default();
    let urls = rses.iter().filter(|(rse, _)| available(rse)).flat_map(|(_, urls)| urls.items());
    urls.filter_map(Json::text).map(|url| Replica { url: url.to_owned(), tape: false, priority: u64::MAX }).collect()
}

/// The URL with the name that its scheme has here.
fn readable(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (_, own) = SCHEMES.iter().find(|(known, _)| scheme.eq_ignore_ascii_case(known))?;
    Some(format!("{own}://{rest}"))
}
