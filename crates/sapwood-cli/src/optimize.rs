//! `sapwood optimize`: rewrites a file for faster reading.

use crate::args::{Global, OptimizeArgs};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::perf;
use crate::step_progress::StepProgress;
use crate::target::one_file;
use crate::units;
use sapwood::OpenOptions;
use sapwood::optimize::{OptimizeOptions, OptimizeReport, OptimizedTree, Used, optimize};
use sapwood::raw_text::text_of_path;
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(
    args: &OptimizeArgs,
    options: &OpenOptions,
    global: &Global,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let input = one_file(&args.input, options)?;
    let bar = StepProgress::new(global.quiet || global.json);
    let shown = bar.clone();
    let mut used = Used::default();
    for path in &args.used {
        used.add(perf::load(path)?.used_branches());
    }
    let options = OptimizeOptions::new()
        .force(args.writing.force)
        .compression(args.recompression.compress)
        .cluster(args.cluster)
        .basket_bytes(args.basket)
        .drop(args.drop.clone())
        .first(args.first.clone())
        .used(used)
        .drop_unused(args.drop_unused)
        .keep(args.keep.clone())
        .verify(!args.no_verify)
        .open(options.clone())
        .sync(!args.writing.no_sync)
        .progress(move |p| shown.tell(p.done, p.total, p.bytes))
        .cancel(interrupt.defer_all()?);
    let done = optimize(&args.output, &input, &options);
    bar.done();
    let report = done?;
    output::written(global, &report.remarks, || to_json(args, &report), || summary(args, &report))
}

fn summary(args: &OptimizeArgs, r: &OptimizeReport) -> Vec<String> {
    let checked = if r.verified { "; every entry compared" } else { "" };
    let (before, after) = (units::bytes(r.input_bytes), units::bytes(r.output_bytes));
    let mut out = vec![format!("{}: {after}, from {before}{checked}", text_of_path(&args.output))];
    for t in &r.trees {
        let n = units::count;
        out.push(format!(
            "{}: {} in {}, {} of {} on average, from {} of {}",
            t.path,
            units::entries(t.entries),
            units::plural(t.clusters, "cluster"),
            units::plural(t.baskets.1, if t.is_ntuple { "page" } else { "basket" }),
            mean(t.bytes.1, t.baskets.1),
            n(t.baskets.0),
            mean(t.bytes.0, t.baskets.0),
        ));
        if !t.dropped.is_empty() {
            out.push(format!("  dropped: {}", t.dropped.join(", ")));
        }
        if let [(name, why), others @ ..] = t.whole.as_slice() {
            let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
            out.push(format!("  baskets kept in one piece: {name}: {why}{more}"));
        }
    }
    out
}

fn mean(bytes: u64, baskets: u64) -> String {
    units::bytes(bytes.checked_div(baskets).unwrap_or(0))
}

fn to_json(args: &OptimizeArgs, r: &OptimizeReport) -> Value {
    let tree = |t: &OptimizedTree| {
        let (before, after) = if t.is_ntuple { ("pages_before", "pages") } else { ("baskets_before", "baskets") };
        let whole: Vec<Value> = t.whole.iter().map(|(name, why)| json!({ "branch": name, "reason": why })).collect();
        json!({
            "path": t.path,
            "entries": t.entries,
            "clusters": t.clusters,
            before: t.baskets.0,
            after: t.baskets.1,
            "bytes_before": t.bytes.0,
            "bytes": t.bytes.1,
            "whole": whole,
            "dropped": t.dropped,
        })
    };
    json!({
        "file": text_of_path(&args.output),
        "bytes": r.output_bytes,
        "input_bytes": r.input_bytes,
        "trees": r.trees.iter().map(tree).collect::<Vec<_>>(),
        "verified": r.verified,
        "remarks": r.remarks,
    })
}
