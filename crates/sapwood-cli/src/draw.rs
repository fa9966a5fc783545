//! `sapwood draw`: a histogram of an expression.

use crate::args::{DrawArgs, Global};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::picture::{self, Kind};
use crate::output::{self, clean, io_report};
use crate::reading::{Inputs, Reading};
use sapwood::query::picture::Labels;
use sapwood::query::{AutoHist, Axis, BinCount, Binding, Expr, Hist1D, Selected, TextHist, bind_each, parse_target};
use sapwood::{Error, IoReport, OpenOptions, Result};
use serde_json::{Value, json};
use std::io::Write;
use std::ops::ControlFlow;

/// Runs the verb.
pub fn run(args: &DrawArgs, options: &OpenOptions, global: &Global, interrupt: &Interrupt) -> Result<(), Failure> {
    // everything that can be refused is refused before anything is read
    crate::process::check_expression(&args.expression)?;
    let kinds = args.outputs.iter().map(|p| Kind::of(p)).collect::<Result<Vec<_>, String>>().map_err(Failure::Usage)?;
    let bins = args.bins.as_deref().map(parse_bins).transpose().map_err(Failure::Usage)?;
    let (text, asked) = parse_target(&args.expression)?;
    let binning = match (asked.axes.as_slice(), asked.bins, bins) {
        ([], None, Some(bins)) => bins,
        ([], None, None) => Binning::Automatic(BinCount::Automatic),
        ([], Some(bins), None) => Binning::Automatic(BinCount::Near(bins)),
        ([axis], None, None) => Binning::Given(*axis),
        ([] | [_], _, Some(_)) => {
            return Err(Failure::Usage("the binning is given twice: after >> and in --bins".to_owned()));
        }
        _ => return Err(Error::invalid("a histogram of one variable has one axis: (bins,low,high)").into()),
    };
    let expr = single(&text)?;
    let cut = args.cut.as_ref().or(args.cut_option.as_ref()).map_or(Ok(None), |c| Expr::selection(c))?;

    let inputs = Inputs { target: &args.target, add: &args.add, skip_bad: args.skip_bad, open: options };
    let reading = Reading::new(inputs.chain()?, global.quiet || global.json, interrupt)?;
    let chosen = reading.chosen(args.entries.as_deref())?;
    reading.count(std::iter::once(&expr).chain(cut.as_ref()))?;
    let binding = Binding::new(reading.first(), std::slice::from_ref(&expr), cut.as_ref())?;
    let texts = binding.query.is_text(0);
    if texts && !matches!(binning, Binning::Automatic(BinCount::Automatic)) {
        return Err(Error::invalid(format!("{} is a string: each of its values has its own bin", expr.text()))
            .with_remedy("omit the binning")
            .into());
    }
    let mut filling = Filling::new(binning, texts, binding.query.is_integer(0), reading.estimate());
    reading.each(chosen, &binding.branches, bind_each(vec![expr.clone()], cut.clone(), false), |part| {
        let file = || part.link.tree.file().url();
        if part.prepared.binding.query.is_text(0) != texts {
            let kind = if texts {
                "not a string, but was one in earlier files"
            } else {
                "a string, but was not one in earlier files"
            };
            return Err(Error::invalid(format!("{} is {kind}", expr.text())).in_file(file()).into());
        }
        reading.with(part, |query, batch| match &mut filling {
            Filling::Texts(h) => {
                let rows = query.rows(batch)?;
                rows.columns.iter().try_for_each(|column| h.fill(column, &rows.weights))
            }
            _ => query.visit(batch, |rows| filling.fill(rows)),
        })?;
        Ok::<_, Failure>(ControlFlow::Continue(()))
    })?;
    reading.tell_skipped();
    let drawn = Drawn {
        hist: filling.finish()?,
        name: asked.name,
        expression: expr.text().to_owned(),
        cut: cut.as_ref().map(|c| c.text().to_owned()),
        entries: reading.entries(),
        io: reading.io(),
    };
    for (path, kind) in args.outputs.iter().zip(kinds) {
        let labels = drawn.labels();
        output::write_file(path, &picture::render(kind, &drawn.hist, &drawn.name, &labels)?)?;
    }
    if global.json {
        output::json(&drawn.to_json())?;
    } else {
        drawn.print(global.quiet)?;
    }
    Ok(())
}

/// How the axis is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Binning {
    Given(Axis),
    /// The data decide about the axis, perhaps not about the number of bins.
    Automatic(BinCount),
}

/// `N` or `N,LOW,HIGH` of `--bins`.
fn parse_bins(text: &str) -> Result<Binning, String> {
    let bad = || format!("--bins {text}: write the number of bins, and optionally the edges, as in 100,0,40");
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let number = |t: &str| t.parse::<usize>().map_err(|_| bad());
    let edge = |t: &str| t.parse::<f64>().map_err(|_| bad());
    let axis = |n, low, high| Axis::new(n, low, high).map_err(|e| format!("--bins {text}: {e}"));
    match parts.as_slice() {
        [bins] => axis(number(bins)?, 0.0, 1.0).map(|a| Binning::Automatic(BinCount::Exactly(a.bins()))),
        [bins, low, high] => axis(number(bins)?, edge(low)?, edge(high)?).map(Binning::Given),
        _ => Err(bad()),
    }
}

fn single(text: &str) -> Result<Expr> {
    let mut exprs = Expr::parse_list(text)?;
    match (exprs.pop(), exprs.len()) {
        (Some(expr), 0) => Ok(expr),
        (_, others) => Err(Error::unsupported(format!("{} variables: this version draws one", others + 1))
            .with_remedy("`sapwood scan` prints several")),
    }
}

/// A histogram while it is filled.
enum Filling {
    Given(Hist1D),
    /// The data decide about the axis.
    Automatic(Box<AutoHist>),
    /// A bin for each string.
    Texts(TextHist),
}

impl Filling {
    fn new(binning: Binning, texts: bool, integer: bool, estimate: i64) -> Self {
        match binning {
            _ if texts => Filling::Texts(TextHist::new()),
            Binning::Given(axis) => Filling::Given(Hist1D::new(axis)),
            Binning::Automatic(bins) => {
                Filling::Automatic(Box::new(AutoHist::with_bins(integer, bins).estimate(estimate)))
            }
        }
    }

    fn fill(&mut self, rows: &Selected) -> Result<()> {
        let Some(values) = rows.values.first() else { return Ok(()) };
        match self {
            Filling::Given(h) => h.fill(values, rows.weights),
            Filling::Automatic(h) => h.fill(values, rows.weights)?,
            Filling::Texts(_) => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<Hist1D> {
        match self {
            Filling::Given(h) => Ok(h),
            Filling::Automatic(h) => h.finish(),
            Filling::Texts(h) => h.finish(),
        }
    }
}

/// What came out.
struct Drawn {
    hist: Hist1D,
    name: String,
    expression: String,
    cut: Option<String>,
    entries: u64,
    io: IoReport,
}

impl Drawn {
    /// Expression and selection, as ROOT titles its histograms.
    fn title(&self) -> String {
        match &self.cut {
            Some(cut) => format!("{} {{{cut}}}", self.expression),
            None => self.expression.clone(),
        }
    }

    /// What stands around the picture.
    fn labels(&self) -> Labels<'_> {
        let title = if self.name == "htemp" { &self.expression } else { &self.name };
        Labels { title, x: &self.expression, y: "entries", note: self.cut.as_deref().unwrap_or_default() }
    }

    fn print(&self, quiet: bool) -> std::io::Result<()> {
        let mut out = output::stdout();
        writeln!(out, "{}", clean(&self.title()))?;
        write!(out, "{}", picture::terminal(&self.hist))?;
        if !quiet {
            writeln!(out, "{}", io_report::summary(&self.io))?;
        }
        out.flush()
    }

    fn to_json(&self) -> Value {
        let h = &self.hist;
        let axis = h.axis();
        let values = h.values(true);
        json!({
            "histogram": {
                "name": self.name,
                "expression": self.expression,
                "cut": self.cut,
                "axis": { "bins": axis.bins(), "low": axis.low(), "high": axis.high() },
                "labels": h.labels(),
                "counts": h.values(false).iter().copied().map(number).collect::<Vec<_>>(),
                "variances": h.variances(false).iter().copied().map(number).collect::<Vec<_>>(),
                "underflow": values.first().copied().map(number),
                "overflow": values.last().copied().map(number),
                "entries": h.entries(),
                "mean": h.mean(),
                "std_dev": h.std_dev(),
            },
            "entries": self.entries,
            "io": io_report::to_json(&self.io),
        })
    }
}

/// Counts are whole numbers unless weights made them others: 3, not 3.0.
fn number(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 9007199254740992.0 { json!(x as i64) } else { json!(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_from_the_option() {
        let axis = Axis::new(100, -1.5, 1000.0).unwrap();
        assert_eq!(parse_bins(" 100, -1.5 ,1e3"), Ok(Binning::Given(axis)));
        assert_eq!(parse_bins("20"), Ok(Binning::Automatic(BinCount::Exactly(20))));
        for text in ["", "0", "x", "10,0", "0,0,1", "10,1,0", "10,0,nan", "1,2,3,4"] {
            assert!(parse_bins(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_variable_only() {
        assert_eq!(single("c ? 1 : 2").unwrap().text(), "c ? 1 : 2");
        assert!(single("x:y").unwrap_err().to_string().contains("2 variables"));
    }
}
