//! `sapwood merge`: many files into one.

use crate::args::{Global, MergeArgs};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::step_progress::StepProgress;
use crate::target::{files, listed};
use crate::units;
use sapwood::merge::{MergeOptions, MergeReport, MergedTree, merge};
use sapwood::raw_text::text_of_path;
use sapwood::{OpenOptions, Result};
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(
    args: &MergeArgs,
    options: &OpenOptions,
    global: &Global,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let inputs = inputs(&args.inputs, options)?;
    let bar = StepProgress::new(global.quiet || global.json);
    let shown = bar.clone();
    let options = MergeOptions::new()
        .force(args.writing.force)
        .compression(args.recompression.compress)
        .union(args.union)
        .open(options.clone())
        .sync(!args.writing.no_sync)
        .progress(move |p| shown.tell(p.inputs as u64, p.total as u64, p.bytes))
        .cancel(interrupt.defer_all()?);
    let merged = merge(&args.output, &inputs, &options);
    bar.done();
    let report = merged?;
    output::written(global, &report.remarks, || to_json(args, &report), || vec![summary(args, &report)])
}

/// The files to merge, with those of patterns and lists: a name may have any colons, lists may name trees.
fn inputs(given: &[String], options: &OpenOptions) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for text in given {
        match text.starts_with('@') {
            true => out.extend(listed(std::iter::once(text.as_str()), options)?.into_iter().map(|target| target.url)),
            false => out.extend(files(text, options)?),
        }
    }
    Ok(out)
}

fn summary(args: &MergeArgs, r: &MergeReport) -> String {
    let many = |n: usize, what: &str| units::plural(n as u64, what);
    let mut parts: Vec<String> = r
        .trees
        .iter()
        .map(|t| format!("{}: {} in {}", t.path, units::entries(t.entries), units::plural(t.baskets, pieces(t))))
        .collect();
    if r.added > 0 {
        parts.push(format!("{} merged", many(r.added, "object")));
    }
    if r.kept > 0 {
        parts.push(format!("{} kept", many(r.kept, "other object")));
    }
    let head =
        format!("{}: {} from {}", text_of_path(&args.output), units::bytes(r.output_bytes), many(r.inputs, "file"));
    format!("{head}; {}", parts.join("; "))
}

/// What a tree or ntuple consists of.
fn pieces(t: &MergedTree) -> &'static str {
    if t.is_ntuple { "page" } else { "basket" }
}

fn to_json(args: &MergeArgs, r: &MergeReport) -> Value {
    let trees: Vec<Value> = r
        .trees
        .iter()
        .map(|t| {
            let key = format!("{}s", pieces(t));
            json!({ "path": t.path, "entries": t.entries, key: t.baskets, "inputs": t.inputs })
        })
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
