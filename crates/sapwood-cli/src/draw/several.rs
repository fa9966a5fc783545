//! Several draws in one reading of the tree: `-e`, given once or more.

use super::{Draw, UNNAMED};
use crate::args::{DrawArgs, Global};
use crate::draw_output::{Drawn, FileKind};
use crate::entry_list_output;
use crate::failure::Failure;
use crate::output::{self, io_report};
use crate::reading::Reading;
use crate::root_histogram;
use sapwood::Result;
use sapwood::query::{Binding, Bins, DrawOption, DrawnList, Entries, EntryListDraw, Plot, bind_all};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::Write;
use std::ops::ControlFlow;

/// What `-e` asks for. The histograms that were given no name get names that tell them apart.
///
/// # Errors
/// What cannot be read or drawn together.
pub(super) fn draws(
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
        if draw.target.bins.is_empty() && !draw.is_list() {
            draw = draw.binned(bins.cloned())?;
        }
        if draw.target.name == UNNAMED && i > 0 {
            draw.target.name = format!("{UNNAMED}_{}", i + 1);
        }
        if !names.insert(draw.target.name.clone()) {
            let name = &draw.target.name;
            return Err(Failure::Usage(format!("-e: two draws have the name {name}; use --before to add to one")));
        }
        draws.push(draw);
    }
    Ok(draws)
}

/// What is being filled.
enum Filling {
    Histogram(Plot),
    List(EntryListDraw),
}

/// What came out.
pub(super) struct Made {
    histograms: Vec<Drawn>,
    lists: Vec<DrawnList>,
}

/// Fills them in one pass.
///
/// # Errors
/// Those of reading; names that the tree has not.
pub(super) fn fill(draws: Vec<Draw>, reading: &Reading<'_>, chosen: Entries) -> Result<Made, Failure> {
    reading.count(draws.iter().flat_map(|draw| draw.expressions.iter().chain(&draw.cut)))?;
    let (mut plots, mut queries) = (Vec::new(), Vec::new());
    let mut branches: Vec<usize> = Vec::new();
    for draw in &draws {
        let binding = Binding::new(reading.first(), &draw.expressions, draw.cut.as_ref())?;
        plots.push(match draw.is_list() {
            true => Filling::List(EntryListDraw::new(draw.option.list)),
            false => {
                let plot = Plot::new(&binding.query, &draw.target.bins, &draw.option, reading.estimate())?;
                Filling::Histogram(plot)
            }
        });
        branches.extend(&binding.branches);
        queries.push((draw.expressions.clone(), draw.cut.clone()));
    }
    branches.sort_unstable();
    branches.dedup();
    let watched = |bind, plot: &Filling| match plot {
        Filling::List(list) => list.watch(bind),
        Filling::Histogram(_) => bind,
    };
    let bind = plots.iter().fold(bind_all(queries), watched);
    reading.each(chosen, &branches, bind, |part| {
        let filled = reading.with_each(part, |i, query, batch| match plots.get_mut(i) {
            Some(Filling::Histogram(plot)) => plot.fill(query, batch),
            Some(Filling::List(list)) => list.fill(&part.link, query, batch),
            None => Ok(()),
        });
        filled.map_err(|e| e.in_file(part.link.tree.file().url()))?;
        Ok::<_, Failure>(ControlFlow::Continue(()))
    })?;
    let mut made = Made { histograms: Vec::new(), lists: Vec::new() };
    for (draw, plot) in draws.into_iter().zip(plots) {
        match plot {
            Filling::List(list) => made.lists.push(list.finish(&draw.target.name, draw.cut.as_ref())),
            Filling::Histogram(plot) => {
                let mut hist = plot.finish()?;
                if draw.option.norm {
                    hist.normalize();
                }
                made.histograms.push(draw.into_drawn(hist));
            }
        }
    }
    Ok(made)
}

/// Prints and writes them.
///
/// # Errors
/// Those of the disk and of stdout.
pub(super) fn show(made: &Made, args: &DrawArgs, global: &Global, reading: &Reading<'_>) -> Result<(), Failure> {
    for path in &args.outputs {
        root_histogram::write(path, made.histograms.iter(), &made.lists)?;
    }
    let io = reading.io();
    if global.json {
        let histograms: Value = made.histograms.iter().map(|one| one.to_json()["histogram"].take()).collect();
        output::json(&json!({
            "histograms": histograms,
            "lists": made.lists.iter().map(entry_list_output::to_json).collect::<Vec<_>>(),
            "entries": reading.entries(),
            "io": io_report::to_json(&io),
        }))?;
        return Ok(());
    }
    let mut out = output::stdout();
    for one in &made.histograms {
        one.print(&mut out, &[])?;
    }
    for list in &made.lists {
        entry_list_output::print(list, &mut out)?;
    }
    if !global.quiet {
        writeln!(out, "{}", io_report::summary(&io))?;
    }
    Ok(out.flush()?)
}
