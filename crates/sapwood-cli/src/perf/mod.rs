//! `sapwood perf`: what a read costs, and what the planner did.

mod replay;

use crate::args::{Global, PerfArgs};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::option_file;
use crate::output;
use crate::output::picture::{self, Kind};
use crate::reading::Reading;
use crate::target::{Target, several};
use sapwood::perf::{Collector, PerfStats};
use sapwood::query::{Binding, Bound, Expr, bind_each};
use sapwood::raw_text::text_of_path;
use sapwood::{Chain, ChainBatch, ChainFile, Error, OpenOptions, Result, Tree, glob_match, redacted};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Runs the command.
pub(crate) fn run(
    args: &PerfArgs,
    options: &OpenOptions,
    global: &Global,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    for path in &args.outputs {
        Kind::of(path).map_err(Failure::Usage)?;
    }
    let tries =
        args.all || !args.if_cache.is_empty() || !args.if_round_trip.is_empty() || !args.if_bandwidth.is_empty();
    if tries && args.replay.is_none() {
        return Err(Failure::Usage("--all and --if-* require --replay FILE".to_owned()));
    }
    if let Some(path) = &args.replay {
        return replay::run(args, path, global.json);
    }
    let (stats, title) = match &args.load {
        Some(path) => (load(path)?, text_of_path(path)),
        None => {
            let files: Vec<String> = args.files.iter().map(|file| redacted(file)).collect();
            (read(args, options, global, interrupt)?, files.join(", "))
        }
    };
    for path in &args.outputs {
        save(path, &stats, &title)?;
    }
    if global.json {
        let mut out = output::stdout();
        output::escaped(&mut out, &stats.to_json())?;
        writeln!(out)?;
        out.flush()?;
    } else {
        let mut out = output::stdout();
        // names of branches come from the file
        for line in stats.to_string().lines() {
            writeln!(out, "{}", output::clean(line))?;
        }
        out.flush()?;
    }
    Ok(())
}

/// The perf stats that `-o FILE.json` wrote.
///
/// # Errors
/// That it cannot be read, or is something else.
pub(crate) fn load(path: &Path) -> Result<PerfStats> {
    let name = text_of_path(path);
    let text = option_file::read_text(path)?;
    PerfStats::from_json(&text).map_err(|e| e.in_file(&name))
}

/// Does `work` and writes the planner's log of all its scans into `path`, also when it fails; just does it without one.
///
/// # Errors
/// Those of the work, then that the log cannot be written.
pub(crate) fn recorded(path: Option<&Path>, work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let Some(path) = path else { return work() };
    let collector = Collector::start(true);
    let done = work();
    let written = write_logs(path, &collector);
    done.and(written)
}

fn write_logs(path: &Path, collector: &Collector) -> Result<(), Failure> {
    let lines: String = collector.take_logs().iter().map(|l| l.to_lines()).collect();
    Ok(output::write_file(path, lines.as_bytes())?)
}

/// Reads what is asked for, and counts.
fn read(args: &PerfArgs, options: &OpenOptions, global: &Global, interrupt: &Interrupt) -> Result<PerfStats, Failure> {
    let exprs = args.draw.as_deref().map(Expr::parse_list).transpose()?;
    let cut = args.cut.as_deref().map_or(Ok(None), Expr::selection)?;
    let collector = Collector::start(args.record.is_some());
    let job = Job { args, options, exprs: exprs.as_deref(), cut: cut.as_ref(), global, interrupt };
    let targets = several(args.files.iter().map(String::as_str), options)?;
    let done = targets.iter().try_for_each(|target| job.read(target));
    let stats = collector.stats();
    let written = args.record.as_ref().map_or(Ok(()), |path| write_logs(path, &collector));
    done.and(written).map(|()| stats)
}

/// What is read of every file.
struct Job<'a> {
    args: &'a PerfArgs,
    options: &'a OpenOptions,
    exprs: Option<&'a [Expr]>,
    cut: Option<&'a Expr>,
    global: &'a Global,
    interrupt: &'a Interrupt,
}

impl Job<'_> {
    fn read(&self, target: &Target) -> Result<(), Failure> {
        let file = target.open(self.options)?;
        let tree = target.tree(&file)?;
        let quiet = self.global.quiet || self.global.json;
        let (exprs, cut) = (self.exprs.unwrap_or_default(), self.cut);
        let alone = exprs.is_empty() && cut.is_none();
        let shown = if alone { branches(&tree, &self.args.branches)? } else { Vec::new() };
        let binding = Binding::new(&tree, exprs, cut)?;
        let branches = [shown.clone(), binding.branches].concat();
        let reading = Reading::new(Chain::of(tree), quiet, self.interrupt)?;
        let chosen = reading.chosen(self.args.entries.as_deref())?;
        let each = bind_each(exprs.to_vec(), cut.cloned(), false);
        let bind = move |link: &ChainFile| Ok(Bound { shown: shown.clone(), ..each(link)? });
        let compute = |part: &ChainBatch<Bound>| {
            if !alone {
                reading.rows(part)?;
            }
            Ok::<_, Failure>(ControlFlow::Continue(()))
        };
        reading.each(chosen, &branches, Arc::new(bind), compute).map(drop)
    }
}

/// The branches with values that match a pattern and can be read; all without one.
fn branches(tree: &Tree, patterns: &[String]) -> Result<Vec<usize>> {
    let header = &tree.header().branches;
    let mut used = vec![false; patterns.len()];
    let mut out = Vec::new();
    for &i in tree.order() {
        let Some(branch) = header.get(i) else { continue };
        let path = tree.name_of(i);
        let hit = patterns.iter().position(|p| glob_match(p, &path) || glob_match(p, &branch.name));
        if let Some(used) = hit.and_then(|h| used.get_mut(h)) {
            *used = true;
        } else if !patterns.is_empty() {
            continue;
        }
        if branch.children.is_empty() {
            match tree.column_type(i) {
                Ok(_) => out.push(i),
                // a branch that was named gets a reason why it is not read
                Err(e) if patterns.iter().any(|p| *p == path || *p == branch.name) => return Err(e),
                Err(_) => {}
            }
        }
    }
    match patterns.iter().zip(used).find(|(_, used)| !used) {
        // without a wildcard: says what is like it
        Some((p, _)) if !p.contains(['*', '?']) => tree.find(p).map(|i| vec![i]),
        Some((p, _)) => Err(Error::not_found(format!("no branch matches {p}")).in_file(tree.file().url())),
        None => Ok(out),
    }
}

/// Draws the stats, or keeps them.
fn save(path: &Path, stats: &PerfStats, title: &str) -> Result<(), Failure> {
    let picture = || stats.picture(title);
    let bytes = match Kind::of(path).map_err(Failure::Usage)? {
        Kind::Png => picture().to_png(picture::SCALE)?,
        Kind::Svg => picture().to_svg().into_bytes(),
        Kind::Json => stats.to_json().into_bytes(),
    };
    Ok(output::write_file(path, &bytes)?)
}
