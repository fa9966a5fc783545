//! Draws: lines of progress, provisional histograms, the result.

use super::{io, repeat, tree_of};
use crate::answer::Fault;
use crate::parameters::Parameters;
use crate::place::Place;
use crate::shared::Shared;
use bytes::Bytes;
use sapwood::query::picture::{Labels, canvas};
use sapwood::query::{
    Axis, Binding, Bins, DrawOption, Entries, Expr, Histogram, Plot, Reader, Target, bind_each, histogram_json,
    parse_target,
};
use sapwood::{Chain, EndedRequest, ScanOptions, Tree};
use sapwood_span::sync::lock;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// How often the page gets the progress of a draw.
const EVERY: Duration = Duration::from_millis(200);
/// Requests in one line.
const REQUESTS: usize = 1000;
/// Bins of a histogram, at most: as JSON, each takes ten times the memory that it has in the histogram.
const MOST_BINS: usize = 1_000_000;

/// Draws, and sends lines until it is done or its client is gone.
pub(super) fn run(
    shared: &Shared,
    parameters: &Parameters,
    place: &Place,
    cancel: &Arc<AtomicBool>,
    lines: &Sender<Bytes>,
) {
    if let Err(fault) = drawn(shared, parameters, place, cancel, lines) {
        if !cancel.load(Ordering::SeqCst) {
            shared.forget_after(&fault, place);
        }
        let mut line = fault.to_json();
        line["event"] = "error".into();
        send(lines, &line);
    }
}

/// Sends a line; false when nobody wants it.
fn send(lines: &Sender<Bytes>, line: &Value) -> bool {
    lines.blocking_send(format!("{line}\n").into()).is_ok()
}

/// What is drawn.
struct Draw {
    expressions: Vec<Expr>,
    text: String,
    target: Target,
    cut: Option<Expr>,
    option: DrawOption,
    /// Whether the binning is that of its own box, not that behind `>>`.
    bins_box: bool,
}

impl Draw {
    fn of(parameters: &Parameters) -> Result<Self, Fault> {
        let (text, mut target) = parse_target(parameters.text("expression")).map_err(Fault::of("expression"))?;
        if text.is_empty() {
            return Err(Fault::in_field("expression")("type an expression of branches, such as x or y:x".to_owned()));
        }
        let expressions = Expr::parse_list(&text).map_err(Fault::of("expression"))?;
        let cut = Expr::selection(parameters.text("cut")).map_err(Fault::of("cut"))?;
        let option: DrawOption = parameters.text("option").parse().map_err(Fault::from)?;
        let bins = parameters.text("bins");
        let bins_box = !bins.trim().is_empty();
        if bins_box {
            target.bins = Bins::parse_exactly(bins).map_err(Fault::in_field("bins"))?;
        }
        Ok(Self { expressions, text, target, cut, option, bins_box })
    }

    fn to_json(&self, hist: &Histogram) -> Value {
        let variables: Vec<String> = self.expressions.iter().rev().map(|e| e.text().to_owned()).collect();
        let cut = self.cut.as_ref().map(Expr::text);
        histogram_json(hist, &self.target.name, &self.text, &variables, cut)
    }

    /// A picture of what the page does not draw by itself: three dimensions, candles, parallel coordinates.
    fn picture(&self, hist: &Histogram, shown: &Value) -> Option<String> {
        let axes = shown["axes"].as_array().map_or(0, Vec::len);
        if shown["axis"].is_object() || matches!(axes, 1 | 2) {
            return None;
        }
        let expressions: Vec<&str> = self.expressions.iter().map(Expr::text).collect();
        let variable = |i: usize| expressions.iter().rev().nth(i).copied().unwrap_or_default();
        let note = self.cut.as_ref().map_or("", Expr::text);
        let labels = Labels { title: &self.text, x: variable(0), y: variable(1), note };
        Some(canvas(hist, &labels, &expressions, self.option.errors, &[]).to_svg())
    }

    fn finished(&self, plot: Plot) -> Result<Histogram, Fault> {
        let mut hist = plot.finish()?;
        let bins: usize = hist.axes().iter().map(Axis::bins).product();
        if bins > MOST_BINS {
            let field = if self.bins_box { "bins" } else { "expression" };
            let what =
                format!("{bins} bins are more than the page shows, {MOST_BINS}; use fewer bins, or `sapwood draw`");
            return Err(Fault::in_field(field)(what));
        }
        if self.option.norm {
            hist.normalize();
        }
        Ok(hist)
    }
}

fn drawn(
    shared: &Shared,
    parameters: &Parameters,
    place: &Place,
    cancel: &Arc<AtomicBool>,
    lines: &Sender<Bytes>,
) -> Result<(), Fault> {
    let began = Instant::now();
    let draw = Draw::of(parameters)?;
    let tree = tree_of(shared, place)?;
    // the expressions alone first: an error is of the box that has it
    Binding::new(&tree, &draw.expressions, None).map_err(Fault::of("expression"))?;
    let binding = Binding::new(&tree, &draw.expressions, draw.cut.as_ref()).map_err(Fault::of("cut"))?;
    let chain = Chain::of(tree.clone());
    let exprs = draw.expressions.iter().chain(&draw.cut);
    let total = Reader::total(&chain, &tree, exprs)?;
    let estimate = Reader::estimate(&chain, &tree);
    let empty = || Plot::new(&binding.query, &draw.target.bins, &draw.option, estimate);
    // too many bins are refused before something is read
    draw.finished(empty()?)?;
    let mut plot = empty()?;
    let entries = parameters.pair("entries").map_or(0..tree.entries(), |(a, b)| a..b.min(tree.entries()));
    let before = tree.file().io();
    let progress = |entries: u64, tree: &Tree| {
        json!({
            "event": "progress",
            "entries": entries,
            "of": tree.entries(),
            "seconds": began.elapsed().as_secs_f64(),
            "io": io::since(&before, &tree.file().io()),
        })
    };
    if !send(lines, &progress(0, &tree)) {
        return Ok(());
    }
    let bind = bind_each(draw.expressions.clone(), draw.cut.clone(), false);
    let requests: Arc<Mutex<Vec<EndedRequest>>> = Arc::default();
    let heard = requests.clone();
    let options =
        ScanOptions::default().cancel(cancel.clone()).on_request(move |request| lock(&heard).push(request.clone()));
    let mut shown = Instant::now();
    let reader = Reader { chain, entries: Entries::Range(entries), total, options, bind };
    for part in reader.read() {
        let part = part?;
        let columns = part.batch.columns.get(part.prepared.shown.len()..).unwrap_or_default();
        let fill = |b: &sapwood::query::Batch<'_>| plot.fill(&part.prepared.binding.query, b);
        part.prepared.binding.with_batch(&part.batch, columns, part.link.first_entry, total, fill)?;
        if shown.elapsed() >= EVERY {
            // a plot that cannot be shown yet is shown when it is done
            let provisional = draw.finished(plot.clone());
            let picture = provisional
                .map(|hist| json!({ "event": "histogram", "partial": true, "histogram": draw.to_json(&hist) }));
            let wanted = send(lines, &progress(part.batch.entries.end, &tree))
                && send_requests(lines, &requests, began)
                && picture.is_ok_and(|line| send(lines, &line));
            if !wanted && lines.is_closed() {
                return Ok(());
            }
            shown = Instant::now();
        }
    }
    let hist = draw.finished(plot)?;
    let shown = draw.to_json(&hist);
    let picture = draw.picture(&hist, &shown);
    let all = [
        json!({ "event": "histogram", "partial": false, "histogram": shown, "picture": picture }),
        progress(tree.entries(), &tree),
    ];
    if !all.iter().all(|line| send(lines, line)) {
        return Ok(());
    }
    if !send_requests(lines, &requests, began) {
        return Ok(());
    }
    let bins = draw.bins_box.then(|| repeat::python_bins(&draw.target.bins, &hist.axes()));
    let again = repeat::draw(&tree, parameters, bins.as_deref());
    let io = io::since(&before, &tree.file().io());
    send(lines, &json!({ "event": "done", "command": again.command, "python": again.python, "io": io }));
    Ok(())
}

/// Sends the requests that have ended since the last time, each range for itself.
fn send_requests(lines: &Sender<Bytes>, requests: &Mutex<Vec<EndedRequest>>, began: Instant) -> bool {
    let ended = std::mem::take(&mut *lock(requests));
    let seconds = |time: Instant| time.saturating_duration_since(began).as_secs_f64();
    let shown: Vec<Value> = ended
        .iter()
        .flat_map(|request| request.ranges.iter().map(move |range| (request, range)))
        .map(|(request, (span, entry))| {
            json!({
                "begin": seconds(request.began),
                "end": seconds(request.ended),
                "offset": span.start,
                "bytes": span.len,
                "entry": entry,
            })
        })
        .collect();
    shown.chunks(REQUESTS).all(|some| send(lines, &json!({ "event": "requests", "requests": some })))
}
