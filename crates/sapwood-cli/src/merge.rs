//! `sapwood merge`: many files into one.

use crate::args::{Global, MergeArgs};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::step_progress::StepProgress;
use crate::target::listed;
use crate::units;
use sapwood::merge::{MergeOptions, MergeReport, merge};
use sapwood::raw_text::text_of_path;
use sapwood::{OpenOptions, Result};
use serde_json::{Value, json};

/// Runs the verb.
pub(crate) fn run(
    args: &MergeArgs,
    options: &OpenOptions,
    global: &Global,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let inputs = inputs(&args.inputs)?;
    let bar = StepProgress::new(global.quiet || global.json);
    let shown = bar.clone();
    let options = MergeOptions::new()
        .force(args.writing.force)
        .compression(args.recompression.compress)
        .open(options.clone())
        .sync(!args.writing.no_sync)
        .progress(move |p| shown.tell(p.inputs as u64, p.total as u64, p.bytes))
        .cancel(interrupt.defer_all()?);
    let merged = merge(&args.output, &inputs, &options);
    bar.done();
    let report = merged?;
    output::written(global, &report.remarks, || to_json(args, &report), || vec![summary(args, &report)])
}

/// The files to merge: a name may have any colons, lists may name trees.
fn inputs(given: &[String]) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for text in given {
        match text.starts_with('@') {
            true => out.extend(listed(std::iter::once(text.as_str()))?.into_iter().map(|target| target.url)),
            false => out.push(text.clone()),
        }
    }
    Ok(out)
}

fn summary(args: &MergeArgs, r: &MergeReport) -> String {
    let many = |n: usize, what: &str| units::plural(n as u64, what);
    let mut parts: Vec<String> = r
        .trees
        .iter()
        .map(|t| format!("{}: {} in {}", t.path, units::entries(t.entries), units::plural(t.baskets, "basket")))
        .collect();
    if r.added > 0 {
        parts.push(format!("{} added up", many(r.added, "object")));
    }
    if r.kept > 0 {
        parts.push(format!("{} kept", many(r.kept, "other object")));
    }
    let head =
        format!("{}: {} from {}", text_of_path(&args.output), units::bytes(r.output_bytes), many(r.inputs, "file"));
    format!("{head}; {}", parts.join("; "))
}

fn to_json(args: &MergeArgs, r: &MergeReport) -> Value {
    let trees: Vec<Value> = r
        .trees
        .iter()
        .map(|t| json!({ "path": t.path, "entries": t.entries, "baskets": t.baskets, "inputs": t.inputs }))
        .collect();
    json!({
        "file": text_of_path(&args.output),
        "bytes": r.output_bytes,
        "inputs": r.inputs,
        "input_bytes": r.input_bytes,
        "trees": trees,
        "added": r.added,
        "kept": r.kept,
        "remarks": r.remarks,
    })
}
