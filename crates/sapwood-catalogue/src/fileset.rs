//! Filesets of coffea and dictionaries of uproot: datasets, their files, and the tree in each.

use crate::json::Json;
use crate::listed_file::{ListedFile, with_tree};
use sapwood_span::similar;
use sapwood_span::{Error, Result};

/// The files of the chosen dataset, or of the only one.
///
/// # Errors
/// `Invalid` for what is no fileset, or no such dataset; without a choice among several.
pub(crate) fn files(json: &Json, choice: Option<&str>) -> Result<Vec<ListedFile>> {
    if json.get("files").is_some_and(Json::is_group) {
        return Ok(with_tree(of_dataset(json, "the fileset")?, choice));
    }
    let members = json.members();
    if !members.is_empty() && members.iter().all(|(_, value)| matches!(value, Json::Text(_) | Json::Null)) {
        // {file: tree}
        return Ok(with_tree(of_files(json, "the list")?, choice));
    }
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    let (dataset, tree) = chosen(&names, choice)?;
    let value = json.get(dataset).filter(|value| value.is_group());
    let value = value.ok_or_else(|| Error::invalid(format!("expected a list of files for dataset {dataset:?}")))?;
    Ok(with_tree(of_dataset(value, &format!("the dataset {dataset:?}"))?, tree))
}

/// The dataset, and the tree behind it.
fn chosen<'n>(names: &[&'n str], choice: Option<&'n str>) -> Result<(&'n str, Option<&'n str>)> {
    match (names, choice) {
        ([], _) => Err(Error::invalid("the fileset has no dataset")),
        ([only], None) => Ok((only, None)),
        (_, None) => {
            let some = shown(names);
            Err(Error::invalid(format!("the fileset has {} datasets: {some}", names.len()))
                .with_remedy("specify one: @FILE:DATASET"))
        }
        (names, Some(choice)) => {
            // names of datasets may have colons: the longest one counts
            let fits =
                |name: &&&str| choice == **name || choice.strip_prefix(**name).is_some_and(|r| r.starts_with(':'));
            if let Some(name) = names.iter().filter(fits).max_by_key(|name| name.len()) {
                let tree = choice.get(name.len() + 1..).filter(|tree| !tree.is_empty());
                return Ok((name, tree));
            }
            if let [only] = names {
                // the tree alone
                return Ok((only, Some(choice)));
            }
            let near = similar::near_misses(choice, names.iter().copied());
            let remedy = match near.is_empty() {
                true => format!("its datasets are: {}", shown(names)),
                false => format!("did you mean {}?", near.join(", ")),
            };
            Err(Error::not_found(format!("the fileset has no dataset {choice:?}")).with_remedy(remedy))
        }
    }
}

fn shown(names: &[&str]) -> String {
    let more = names.len().saturating_sub(20);
    let some = names.iter().take(20).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{some}, and {more} more") } else { some }
}

fn of_dataset(value: &Json, what: &str) -> Result<Vec<ListedFile>> {
    match value.get("files") {
        Some(files) if files.is_group() => of_files(files, what),
        _ => of_files(value, what),
    }
}

/// For what a list says of a file and no reader would do.
const REMEDY: &str = "omit it from the list; pass friends separately, and make weights a part of the selection";

/// A list of files, or an object with the tree of each: its name, or what coffea's preprocessing found.
fn of_files(value: &Json, what: &str) -> Result<Vec<ListedFile>> {
    let wrong = |of: &str| Error::invalid(format!("{what} is not a list of files: {of}"));
    match value {
        Json::List(items) => {
            let name = |item: &Json| item.text().map(ListedFile::text).ok_or_else(|| wrong("an item is not a name"));
            items.iter().map(name).collect()
        }
        Json::Object(members) => {
            let file = |(name, value): &(String, Json)| match value {
                Json::Text(tree) => Ok(ListedFile::of(name, Some(tree))),
                Json::Null => Ok(ListedFile::of(name, None)),
                Json::Object(_) => {
                    all_entries(name, value)?;
                    for ignored in ["weight", "friends"] {
                        if value.get(ignored).is_some_and(|v| !matches!(v, Json::Null)) {
                            let what = format!("{name:?} has {ignored:?}, which lists of files do not support");
                            return Err(Error::unsupported(what).with_remedy(REMEDY));
                        }
                    }
                    match value.get("object_path") {
                        Some(Json::Text(tree)) => Ok(ListedFile::of(name, Some(tree))),
                        None | Some(Json::Null) => Ok(ListedFile::of(name, None)),
                        Some(_) => Err(wrong(&format!("the object_path of {name:?} is not a name"))),
                    }
                }
                _ => Err(wrong(&format!("{name:?} has no tree"))),
            };
            members.iter().map(file).collect()
        }
        _ => Err(wrong("it is neither a list nor an object")),
    }
}

/// Steps divide the work; steps that do not cover all entries would be read in full.
fn all_entries(name: &str, spec: &Json) -> Result<()> {
    let Some(Json::List(steps)) = spec.get("steps") else { return Ok(()) };
    let mut next = 0;
    for step in steps {
        let [first, stop] = step.items() else {
            return Err(Error::invalid(format!("a step of {name:?} is not [START, STOP]")));
        };
        match (first.whole(), stop.whole()) {
            (Some(first), Some(stop)) if first == next && stop >= first => next = stop,
            _ => return Err(left_out(name)),
        }
    }
    match spec.get("num_entries").and_then(Json::whole) {
        Some(entries) if entries == next => Ok(()),
        Some(_) => Err(left_out(name)),
        None => {
            let what = format!("{name:?} has steps but no num_entries: they may not cover all entries");
            Err(Error::unsupported(what).with_remedy("use coffea's preprocessed fileset, or one without steps"))
        }
    }
}

fn left_out(name: &str) -> Error {
    Error::unsupported(format!("the steps of {name:?} do not cover all entries"))
        .with_remedy("use the fileset without steps, and select the entries in each file")
}
