//! Several draws in one reading of the tree: `-e`, given once or more.

use super::{Draw, UNNAMED};
use crate::args::{DrawArgs, Global};
use crate::drawn::{Drawn, FileKind};
use crate::failure::Failure;
use crate::output::{self, io_report};
use crate::reading::Reading;
use crate::root_histogram;
use sapwood::Result;
use sapwood::query::{Binding, Bins, DrawOption, Entries, Plot, bind_all};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::Write;
use std::ops::ControlFlow;

/// What `-e` asks for. The histograms that were given no name get names that tell them apart.
///
/// # Errors
/// What cannot be read or drawn together.
pub fn draws(
    texts: &[String],
    option: &DrawOption,
    bins: Option<&Bins>,
    kinds: &[FileKind],
) -> Result<Vec<Draw>, Failure> {
    if kinds.iter().any(|kind| *kind != FileKind::Root) {
        let what = "-o: several draws are written to a .root file; draw them one by one for pictures";
        return Err(Failure::Usage(what.to_owned()));
    }
    if option.same {
        return Err(Failure::Usage("-e: same draws over another histogram; use --before".to_owned()));
    }
    let mut names = HashSet::new();
    let mut draws = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let mut draw = Draw::with_cut(text, option.clone())?;
        if draw.target.bins.is_empty() {
            draw = draw.binned(bins.cloned())?;
        }
        if draw.target.name == UNNAMED && i > 0 {
            draw.target.name = format!("{UNNAMED}_{}", i + 1);
        }
        if !names.insert(draw.target.name.clone()) {
            let name = &draw.target.name;
            return Err(Failure::Usage(format!("-e: two histograms have the name {name}; use --before to add to one")));
        }
        draws.push(draw);
    }
    Ok(draws)
}

/// Fills them in one pass.
///
/// # Errors
/// Those of reading; names that the tree has not.
pub fn fill(draws: Vec<Draw>, reading: &Reading<'_>, chosen: Entries) -> Result<Vec<Drawn>, Failure> {
    reading.count(draws.iter().flat_map(|draw| draw.expressions.iter().chain(&draw.cut)))?;
    let (mut plots, mut queries) = (Vec::new(), Vec::new());
    let mut branches: Vec<usize> = Vec::new();
    for draw in &draws {
        let binding = Binding::new(reading.first(), &draw.expressions, draw.cut.as_ref())?;
        plots.push(Plot::new(&binding.query, &draw.target.bins, &draw.option, reading.estimate())?);
        branches.extend(&binding.branches);
        queries.push((draw.expressions.clone(), draw.cut.clone()));
    }
    branches.sort_unstable();
    branches.dedup();
    reading.each(chosen, &branches, bind_all(queries), |part| {
        let filled = reading.with_each(part, |i, query, batch| match plots.get_mut(i) {
            Some(plot) => plot.fill(query, batch),
            None => Ok(()),
        });
        filled.map_err(|e| e.in_file(part.link.tree.file().url()))?;
        Ok::<_, Failure>(ControlFlow::Continue(()))
    })?;
    let finish = |(draw, plot): (Draw, Plot)| {
        let mut hist = plot.finish()?;
        if draw.option.norm {
            hist.normalize();
        }
        Ok(draw.into_drawn(hist))
    };
    draws.into_iter().zip(plots).map(finish).collect()
}

/// Prints and writes them.
///
/// # Errors
/// Those of the disk and of stdout.
pub fn show(drawn: &[Drawn], args: &DrawArgs, global: &Global, reading: &Reading<'_>) -> Result<(), Failure> {
    for path in &args.outputs {
        root_histogram::write(path, drawn.iter())?;
    }
    let io = reading.io();
    if global.json {
        let histograms = drawn.iter().map(|one| Ok(one.to_json()?["histogram"].take()));
        let histograms: Value = histograms.collect::<Result<Vec<_>>>()?.into();
        output::json(&json!({
            "histograms": histograms,
            "entries": reading.entries(),
            "io": io_report::to_json(&io),
        }))?;
        return Ok(());
    }
    let mut out = output::stdout();
    for one in drawn {
        one.print(&mut out, &[])?;
    }
    if !global.quiet {
        writeln!(out, "{}", io_report::summary(&io))?;
    }
    Ok(out.flush()?)
}
