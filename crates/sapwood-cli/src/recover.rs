//! `sapwood recover`: what is left of a damaged file, in a new one.

use crate::args::{Global, RecoverArgs};
use crate::failure::{Failure, hint};
use crate::interrupt::Interrupt;
use crate::output;
use crate::step_progress::StepProgress;
use crate::target::one_file;
use crate::units;
use sapwood::OpenOptions;
use sapwood::merge::MergeOptions;
use sapwood::raw_text::text_of_path;
use sapwood::recover::{Recovered, recover};
use serde_json::{Value, json};

/// Losses reported on stderr, at most; JSON has all.
const TOLD: usize = 20;

/// Runs the command.
pub(crate) fn run(
    args: &RecoverArgs,
    options: &OpenOptions,
    global: &Global,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let input = one_file(&args.input, options)?;
    let bar = StepProgress::new(global.quiet || global.json);
    let shown = bar.clone();
    let options = MergeOptions::default()
        .force(args.writing.force)
        .sync(!args.writing.no_sync)
        .open(options.clone())
        .progress(move |p| shown.tell(p.inputs as u64, p.total as u64, p.bytes))
        .cancel(interrupt.defer_all()?);
    let recovered = recover(&input, &args.output, &options);
    bar.done();
    let report = recovered?;
    for lost in report.lost.iter().take(TOLD) {
        hint(&format!("lost: {lost}"));
    }
    if report.lost.len() > TOLD {
        hint(&format!("lost: {} more; --json lists all", report.lost.len() - TOLD));
    }
    output::written(global, &report.remarks, || to_json(args, &report), || vec![summary(args, &report)])
}

fn summary(args: &RecoverArgs, r: &Recovered) -> String {
    let kept = |path: &str, entries: u64| match lost_entries(r, path) {
        0 => format!("{path}: {}", units::entries(entries)),
        lost => format!("{path}: {} of {}", units::count(entries), units::entries(entries + lost)),
    };
    let mut parts: Vec<String> = r.trees.iter().map(|t| kept(&t.path, t.entries)).collect();
    if r.objects > 0 {
        parts.push(units::plural(r.objects as u64, "other object"));
    }
    if parts.is_empty() {
        parts.push("no objects".to_owned());
    }
    let lost = if r.lost.is_empty() { "nothing was lost" } else { "losses are listed above" };
    format!("{}: {}; {}; {lost}", text_of_path(&args.output), units::bytes(r.output_bytes), parts.join("; "))
}

/// The number of entries of a tree that the output lacks.
fn lost_entries(r: &Recovered, path: &str) -> u64 {
    r.lost_entries.iter().filter(|l| l.path == path).map(|l| l.entries).max().unwrap_or(0)
}

fn to_json(args: &RecoverArgs, r: &Recovered) -> Value {
    let trees: Vec<Value> = r
        .trees
        .iter()
        .map(
            |t| json!({ "path": t.path, "entries": t.entries, "baskets": t.baskets, "lost": lost_entries(r, &t.path) }),
        )
        .collect();
    let ranges = r.lost_entries.iter().flat_map(|l| {
        l.ranges.iter().map(|x| {
            json!({
                "tree": l.path,
                "cycle": l.cycle,
                "first": x.first,
                "last": x.last,
                "branch": x.branch,
                "position": x.position,
                "reason": x.reason,
            })
        })
    });
    json!({
        "file": text_of_path(&args.output),
        "bytes": r.output_bytes,
        "input_bytes": r.input_bytes,
        "trees": trees,
        "objects": r.objects,
        "directories": r.directories,
        "lost": r.lost,
        "lost_entries": ranges.collect::<Vec<Value>>(),
        "remarks": r.remarks,
    })
}
