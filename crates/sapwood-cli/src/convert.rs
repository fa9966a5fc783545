//! `sapwood convert`: trees as ntuples, and ntuples as trees.

use crate::args::{ConvertArgs, ConvertKind, Global};
use crate::failure::{Failure, hint};
use crate::interrupt::Interrupt;
use crate::output;
use crate::step_progress::StepProgress;
use crate::target::Target;
use crate::units;
use sapwood::OpenOptions;
use sapwood::convert::{ConvertOptions, ConvertReport, ConvertTo, convert};
use sapwood::raw_text::text_of_path;
use serde_json::{Value, json};

/// Skipped branches that are told on stderr; JSON has all.
const TOLD: usize = 20;

/// Runs the command.
pub(crate) fn run(
    args: &ConvertArgs,
    options: &OpenOptions,
    global: &Global,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let input = Target::one(&args.input, options)?;
    let bar = StepProgress::new(global.quiet || global.json);
    let shown = bar.clone();
    let to = args.to.map(|kind| match kind {
        ConvertKind::Ntuple => ConvertTo::Ntuple,
        ConvertKind::Tree => ConvertTo::Tree,
    });
    let options = ConvertOptions::new()
        .to(to)
        .force(args.writing.force)
        .compression(args.compress)
        .branches(args.branches.clone())
        .entries(args.entries.map(|(from, to)| from..to))
        .skip_unsupported(args.skip_unsupported)
        .verify(!args.no_verify)
        .open(options.clone())
        .sync(!args.writing.no_sync)
        .progress(move |p| shown.tell(p.done, p.total, p.bytes))
        .cancel(interrupt.defer_all()?);
    let done = convert(&args.output, &input.url, input.object.as_deref(), &options);
    bar.done();
    let report = done?;
    if !global.json && !global.quiet {
        for s in report.skipped.iter().take(TOLD) {
            hint(&format!("skipped: {}:{}: {}", s.tree, s.branch, s.reason));
        }
        if report.skipped.len() > TOLD {
            hint(&format!("skipped: {} more; --json lists all", report.skipped.len() - TOLD));
        }
    }
    output::written(global, &report.remarks, || to_json(args, &report), || summary(args, &report))
}

fn summary(args: &ConvertArgs, r: &ConvertReport) -> Vec<String> {
    let checked = if r.verified { "; every value compared" } else { "" };
    let (before, after) = (units::bytes(r.input_bytes), units::bytes(r.output_bytes));
    let mut out = vec![format!("{}: {after}, from {before}{checked}", text_of_path(&args.output))];
    let what = if r.to == ConvertTo::Ntuple { "field" } else { "branch" };
    for t in &r.trees {
        let columns = match (what, t.branches) {
            ("branch", n) if n != 1 => format!("{} branches", units::count(n)),
            (what, n) => units::plural(n, what),
        };
        out.push(format!("{}: {}, {} in {columns}", t.path, r.to.name(), units::entries(t.entries)));
        if let [(old, new), others @ ..] = t.renamed.as_slice() {
            let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
            out.push(format!("  renamed: {old} to {new}{more}"));
        }
    }
    out
}

fn to_json(args: &ConvertArgs, r: &ConvertReport) -> Value {
    let trees = r.trees.iter().map(|t| {
        let renamed: Vec<Value> = t.renamed.iter().map(|(old, new)| json!({ "branch": old, "as": new })).collect();
        json!({ "path": t.path, "entries": t.entries, "branches": t.branches, "renamed": renamed })
    });
    let skipped = r.skipped.iter().map(|s| json!({ "tree": s.tree, "branch": s.branch, "reason": s.reason }));
    json!({
        "file": text_of_path(&args.output),
        "to": r.to.name(),
        "bytes": r.output_bytes,
        "input_bytes": r.input_bytes,
        "trees": trees.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
        "verified": r.verified,
        "remarks": r.remarks,
    })
}
