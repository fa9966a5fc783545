//! `sapwood draw`: a histogram of an expression.

mod dask;
mod list;
mod several;

use crate::args::{DrawArgs, Global};
use crate::command_line;
use crate::draw_output::{Drawn, FileKind};
use crate::entry_list_output;
use crate::failure::Failure;
use crate::given_aliases;
use crate::interrupt::Interrupt;
use crate::output::picture::shown;
use crate::output::{self, io_report};
use crate::reading::{Inputs, Reading};
use crate::root_histogram;
use sapwood::query::{
    Aliases, Binding, Bins, DrawOption, DrawnList, Entries, Expr, Histogram, Leaves, Plot, Target, bind_each,
    parse_target,
};
use sapwood::text::shell::quoted;
use sapwood::{Error, ListKind, OpenOptions, Result};
use serde_json::json;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Runs the command.
pub(crate) fn run(
    args: &DrawArgs,
    options: &OpenOptions,
    global: &Global,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    // everything that can be refused is refused before anything is read
    let words = [&args.expression, &args.cut, &args.cut_option];
    command_line::refuse_options("draw", words.into_iter().flatten().chain(&args.expressions).chain(&args.before))?;
    if args.expression.is_none() && args.expressions.is_empty() {
        return Err(nothing_to_draw(args, options));
    }
    if let Some(expression) = &args.expression {
        crate::process::check_expression(expression)?;
    }
    let kinds =
        args.outputs.iter().map(|p| FileKind::of(p)).collect::<Result<Vec<_>, String>>().map_err(Failure::Usage)?;
    let bins = args.bins.as_deref().map(parse_bins).transpose().map_err(Failure::Usage)?;
    let option = args.option.as_ref().or(args.draw_option.as_ref());
    let option: DrawOption = option
        .map_or(Ok(DrawOption::default()), |o| o.parse())
        .map_err(|e: sapwood::Error| Failure::Usage(e.to_string()))?;
    crate::friends::check(&args.friends)?;
    let mut draws = args.before.iter().map(|text| Draw::before(text, option.list)).collect::<Result<Vec<_>>>()?;
    let together = match &args.expression {
        Some(expression) => {
            let cut = args.cut.as_deref().or(args.cut_option.as_deref());
            draws.push(Draw::new(expression, cut.unwrap_or_default(), option)?.binned(bins)?);
            None
        }
        None => Some(several::draws(&args.expressions, &option, bins.as_ref(), &kinds)?),
    };

    if let (Some(scheduler), Some(draw)) = (&args.dask, draws.pop_if(|_| args.dask.is_some())) {
        return dask::run(draw, scheduler, args, global, &kinds);
    }
    let aliases = given_aliases::parse(&args.aliases)?;
    let draws: Vec<Draw> = draws.into_iter().map(|d| d.with_aliases(&aliases)).collect();
    let together = together.map(|draws| draws.into_iter().map(|d| d.with_aliases(&aliases)).collect());

    let inputs =
        Inputs { target: &args.target, add: &args.add, skip_bad: args.skip_bad, friends: &args.friends, open: options };
    let reading = Reading::new(inputs.chain()?, global.quiet || global.json, interrupt)?;
    let chosen = reading.chosen(args.entries.as_deref())?;
    if let Some(draws) = together {
        let drawn = several::fill(draws, &reading, chosen)?;
        reading.tell_skipped();
        return several::show(&drawn, args, global, &reading);
    }
    if draws.last().is_some_and(Draw::is_list) {
        refuse_pictures(&args.outputs, &kinds)?;
    }
    let mut session: Vec<Drawn> = Vec::new();
    let mut lists: Vec<DrawnList> = Vec::new();
    let mut last_is_list = false;
    for draw in draws {
        check_name(&draw, &session, &lists)?;
        last_is_list = draw.is_list();
        if last_is_list {
            let list = draw.fill_list(&reading, chosen.clone(), &lists)?;
            lists.retain(|l| l.name != list.name);
            lists.push(list);
            continue;
        }
        let hist = draw.fill(&reading, chosen.clone(), &session)?;
        // one that is filled on, or again, is the same object
        session.retain(|d| d.name != draw.target.name || d.name == UNNAMED);
        session.push(draw.into_drawn(hist));
    }
    reading.tell_skipped();
    if last_is_list {
        return show_list(&session, &lists, args, global, &reading);
    }
    let Some((drawn, before)) = session.split_last() else { return Ok(()) };
    let below: &[Drawn] = if drawn.same { before } else { &[] };
    for (path, kind) in args.outputs.iter().zip(kinds) {
        match kind {
            FileKind::Picture(kind) => drawn.write(path, kind, below)?,
            FileKind::Root => root_histogram::write(path, session.iter(), &lists)?,
        }
    }
    if global.json {
        let mut json = drawn.to_json();
        json["entries"] = reading.entries().into();
        json["io"] = io_report::to_json(&reading.io());
        output::json(&json)?;
    } else {
        let mut out = output::stdout();
        drawn.print(&mut out, below)?;
        if !global.quiet {
            writeln!(out, "{}", io_report::summary(&reading.io()))?;
        }
        out.flush()?;
    }
    Ok(())
}

/// That an expression is missing, with an example of this tree.
fn nothing_to_draw(args: &DrawArgs, options: &OpenOptions) -> Failure {
    let target = &args.target;
    let inputs = Inputs { target, add: &args.add, skip_bad: args.skip_bad, friends: &args.friends, open: options };
    let leaf = inputs.chain().and_then(|chain| chain.first()).and_then(|(_, tree)| Leaves::of(&tree, 1));
    match leaf {
        Ok(leaves) => {
            let name = leaves.expressions.first().map_or("EXPR", Expr::text);
            let words = [target.as_str(), name].map(quoted).join(" ");
            Failure::Usage(format!(
                "an expression is missing: write what to draw after the file, as in\n    sapwood draw {words}"
            ))
        }
        Err(e) => e.into(),
    }
}

/// Refuses a name that something of another kind has, as ROOT does.
fn check_name(draw: &Draw, session: &[Drawn], lists: &[DrawnList]) -> Result<()> {
    let name = &draw.target.name;
    let (what, taken) = match draw.is_list() {
        true => ("a histogram", session.iter().any(|d| d.name == *name)),
        false => ("a list of entries", lists.iter().any(|l| l.name == *name)),
    };
    match taken {
        true => Err(Error::invalid(format!(">>{name}: {what} has this name")).with_remedy("use another name")),
        false => Ok(()),
    }
}

/// Refuses files that cannot hold a list of entries.
fn refuse_pictures(paths: &[PathBuf], kinds: &[FileKind]) -> Result<(), Failure> {
    let wrong = paths.iter().zip(kinds).find(|(_, kind)| !kind.holds_lists());
    wrong.map_or(Ok(()), |(path, _)| {
        Err(Failure::Usage(format!(
            "-o {}: an entry list is written to a .root or .json file, not as a picture",
            shown(path)
        )))
    })
}

/// Prints and writes the list that was made last, and with it what was drawn before.
fn show_list(
    session: &[Drawn],
    lists: &[DrawnList],
    args: &DrawArgs,
    global: &Global,
    reading: &Reading<'_>,
) -> Result<(), Failure> {
    let Some(list) = lists.last() else { return Ok(()) };
    for path in &args.outputs {
        match FileKind::of(path) {
            Ok(FileKind::Root) => root_histogram::write(path, session.iter(), lists)?,
            _ => output::write_file(path, format!("{}\n", entry_list_output::to_json(list)).as_bytes())?,
        }
    }
    if global.json {
        let io = io_report::to_json(&reading.io());
        output::json(&json!({ "list": entry_list_output::to_json(list), "entries": reading.entries(), "io": io }))?;
        return Ok(());
    }
    let mut out = output::stdout();
    entry_list_output::print(list, &mut out)?;
    if !global.quiet {
        writeln!(out, "{}", io_report::summary(&reading.io()))?;
    }
    Ok(out.flush()?)
}

/// The name of a histogram that was given none, as in ROOT.
const UNNAMED: &str = "htemp";

/// One draw: what, into what, how.
struct Draw {
    expressions: Vec<Expr>,
    /// As it was written, without what stands behind `>>`.
    text: String,
    target: Target,
    cut: Option<Expr>,
    option: DrawOption,
}

impl Draw {
    fn new(expression: &str, cut: &str, option: DrawOption) -> Result<Self> {
        let (text, target) = parse_target(expression)?;
        // nothing but a target: a list of entries
        let is_list = text.is_empty() && expression.contains(">>");
        let expressions = if is_list { Vec::new() } else { Expr::parse_list(&text)? };
        let draw = Self { expressions, text, target, cut: Expr::selection(cut)?, option };
        if draw.is_list() {
            draw.check_list()?;
        }
        Ok(draw)
    }

    /// `EXPR?CUT` of `--before`: a list is of the class that the option names.
    fn before(text: &str, list: ListKind) -> Result<Self> {
        Self::with_cut(text, DrawOption { list, ..DrawOption::default() })
    }

    /// `EXPR?CUT`.
    fn with_cut(text: &str, option: DrawOption) -> Result<Self> {
        let (expression, cut) = split_cut(text);
        Self::new(expression, cut, option)
    }

    /// The same with the aliases of `--alias`.
    fn with_aliases(mut self, aliases: &Aliases) -> Self {
        self.expressions = self.expressions.into_iter().map(|e| e.with_aliases(aliases)).collect();
        self.cut = self.cut.map(|e| e.with_aliases(aliases));
        self
    }

    /// The same with the binning of `--bins`.
    fn binned(mut self, bins: Option<Bins>) -> Result<Self, Failure> {
        if let Some(bins) = bins {
            if !self.target.bins.is_empty() {
                return Err(Failure::Usage("the binning is specified twice: after >> and in --bins".to_owned()));
            }
            if self.is_list() {
                return Err(Failure::Usage("--bins: an entry list has no binning".to_owned()));
            }
            self.target.bins = bins;
        }
        Ok(self)
    }

    /// Draws what it says; `session` is what was drawn before.
    fn fill(&self, reading: &Reading<'_>, chosen: Entries, session: &[Drawn]) -> Result<Histogram, Failure> {
        reading.count(self.expressions.iter().chain(&self.cut))?;
        let binding = Binding::new(reading.first(), &self.expressions, self.cut.as_ref())?;
        let (query, target) = (&binding.query, &self.target);
        let there = session.iter().rev().find(|d| d.name == target.name && d.name != UNNAMED);
        let again = match there {
            Some(there) if target.bins.is_empty() => {
                let start = if target.append { there.hist.clone() } else { there.hist.emptied()? };
                Plot::again(query, &start, &self.option)
            }
            _ => None,
        };
        let mut plot = match again {
            Some(plot) => plot,
            None => Plot::new(query, &self.bins(session), &self.option, reading.estimate())?,
        };
        let bind = bind_each(self.expressions.clone(), self.cut.clone(), false);
        reading.each(chosen, &binding.branches, bind, |part| {
            let filled = reading.with(part, |query, batch| plot.fill(query, batch));
            filled.map_err(|e| e.in_file(part.link.tree.file().url()))?;
            Ok::<_, Failure>(ControlFlow::Continue(()))
        })?;
        let mut hist = plot.finish()?;
        if self.option.norm {
            hist.normalize();
        }
        Ok(hist)
    }

    /// The binning; into a picture that is there, that of its first histogram.
    fn bins(&self, session: &[Drawn]) -> Bins {
        let bins = &self.target.bins;
        match session.first().map(|d| &d.hist) {
            Some(first) if self.option.same && bins.is_empty() && first.labels(0).is_none() => {
                let axes = first.axes();
                let profile = self.option.profile.is_some() && self.expressions.len() > 1;
                let wanted = self.expressions.len() - usize::from(profile);
                if axes.len() == wanted { Bins::of(axes) } else { bins.clone() }
            }
            _ => bins.clone(),
        }
    }

    fn into_drawn(self, hist: Histogram) -> Drawn {
        Drawn {
            hist,
            name: self.target.name,
            expression: self.text,
            variables: self.expressions.iter().rev().map(|e| e.text().to_owned()).collect(),
            cut: self.cut.map(|c| c.text().to_owned()),
            same: self.option.same,
            errors: self.option.errors,
        }
    }
}

/// The binning of `--bins`.
fn parse_bins(text: &str) -> Result<Bins, String> {
    Bins::parse_exactly(text).map_err(|e| format!("--bins {text}: {e}"))
}

/// Splits `EXPR?CUT`. A `?` with its `:` is a choice, so a cut that has one is written in parentheses.
fn split_cut(text: &str) -> (&str, &str) {
    let (mut depth, mut quote, mut at, mut colon) = (0i32, None, None, false);
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), _) => quote = (c != q).then_some(q),
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth -= 1,
            (None, '?') if depth == 0 => (at, colon) = (Some(i), false),
            (None, ':') if depth == 0 => colon = true,
            _ => {}
        }
    }
    match at {
        Some(i) if !colon => (&text[..i], &text[i + 1..]),
        _ => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood::query::Axis;

    #[test]
    fn bins_from_the_option() {
        let limits = |text: &str| parse_bins(text).unwrap().axes[0].limits;
        assert_eq!(limits(" 100, -1.5 ,1e3"), Some((-1.5, 1000.0)));
        assert_eq!((parse_bins("20").unwrap().axes[0].count, limits("20")), (Some(20), None));
        assert_eq!(parse_bins("10,0,1,20,0,2").unwrap().axes.len(), 2);
        let axis = Axis::variable(&[0.0, 1.0, 5.0]).unwrap();
        assert_eq!(parse_bins("[0,1,5]").unwrap(), Bins::of(vec![axis]));
        for text in ["", "0", "x", "10,0", "0,0,1", "10,1,0", "10,0,nan", "[1,0]"] {
            assert!(parse_bins(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_cut_of_what_is_drawn_before() {
        assert_eq!(split_cut("x>>h(10,0,1)?y>0"), ("x>>h(10,0,1)", "y>0"));
        assert_eq!(split_cut("y:x"), ("y:x", ""));
        assert_eq!(split_cut("c?1:2"), ("c?1:2", ""));
        assert_eq!(split_cut("c?1:2?(a?b:c)"), ("c?1:2", "(a?b:c)"));
        assert_eq!(split_cut("n==\"?\""), ("n==\"?\"", ""));
    }
}
