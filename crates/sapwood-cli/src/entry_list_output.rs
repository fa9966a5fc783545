//! Entry lists of `sapwood draw`: terminal, JSON, ROOT files.

use crate::output::clean;
use sapwood::query::DrawnList;
use sapwood::write::{DirectoryId, FileWriter, append_entry_list};
use sapwood::{ListPart, Result};
use serde_json::{Value, json};
use std::io::Write;

/// Runs of entries that are shown of each tree.
const MOST_RUNS: usize = 20;

/// Writes it as ROOT reads it.
///
/// # Errors
/// Those of the disk; more entries than ROOT can count.
pub(crate) fn append(list: &DrawnList, file: &mut FileWriter, directory: DirectoryId) -> Result<()> {
    append_entry_list(file, directory, list.kind, (&list.name, &list.title), &list.list)
}

/// Shows it on the terminal: entries in the form that `--entries` takes.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn print(list: &DrawnList, out: &mut impl Write) -> std::io::Result<()> {
    let cut = if list.title.is_empty() { String::new() } else { format!(" {{{}}}", list.title) };
    writeln!(out, "{}: {} entries", clean(&format!("{}{cut}", list.name)), list.list.len())?;
    let parts = list.list.parts();
    for part in parts {
        let runs = part.entries.runs();
        let shown = runs.iter().take(MOST_RUNS).map(|r| match r.end - r.start {
            1 => r.start.to_string(),
            _ => format!("{}:{}", r.start, r.end),
        });
        let more = (runs.len() > MOST_RUNS).then(|| "...".to_owned());
        let mut line = shown.chain(more).collect::<Vec<_>>().join(",");
        if line.is_empty() {
            "none".clone_into(&mut line);
        }
        match parts {
            [_] => writeln!(out, "  {line}")?,
            _ => writeln!(out, "  {}:{}  {line}", clean(&part.file), clean(&part.tree))?,
        }
    }
    Ok(())
}

/// The same as JSON.
pub(crate) fn to_json(list: &DrawnList) -> Value {
    json!({
        "name": list.name,
        "class": list.kind.class(),
        "title": list.title,
        "rows": list.rows,
        "entries": list.list.len(),
        "trees": list.list.parts().iter().map(tree).collect::<Vec<_>>(),
    })
}

/// The entries of one tree: runs from the first to behind the last, and instances where not all are chosen.
fn tree(part: &ListPart) -> Value {
    let runs = part.entries.runs().iter().map(|r| [r.start, r.end]);
    let mut json = json!({ "runs": runs.collect::<Vec<_>>() });
    if !part.tree.is_empty() {
        json["tree"] = part.tree.clone().into();
        json["file"] = part.file.clone().into();
    }
    if !part.instances.is_empty() {
        json["instances"] = part.instances.iter().map(|(entry, numbers)| json!([entry, numbers])).collect();
    }
    json
}
