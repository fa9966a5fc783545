use crate::column::Buffer;
use crate::entry_list::{TreeEntries, numbers, trees};
use crate::error::{Missing, exception};
use crate::meter::Meter;
use crate::text::{Text, texts};
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::query::{
    Aliases, Axis, AxisBins, Binding, Bins, DrawOption, DrawnList, Entries, EntryListDraw, Expr, Histogram, Plot,
    Reader, Target, bind_all, parse_target,
};
use sapwood::{Chain, ChainBatch, Error, ErrorKind, Instances, Result, ScanOptions, Values};
use std::sync::atomic::Ordering;

/// An axis: number of bins, low, high, title; its edges if they are not equally far apart; what its bins stand for if
/// the values were strings.
type DrawnAxis = (usize, f64, f64, Text, Option<Buffer>, Option<Vec<Text>>);

/// A histogram: its axes, x first; with underflow and overflow (the last axis runs fastest) sums of weights and of
/// squared weights, of a profile also means and sums of squared deviations from them; how many values were filled.
pub(crate) type Drawn = (Vec<DrawnAxis>, Vec<Buffer>, u64);

/// A list of entries: class, name, title, rows that passed, entries counted through all files, and the trees.
pub(crate) type DrawnEntries = (&'static str, Text, Text, u64, Buffer, Vec<TreeEntries>);

/// What came out of a draw.
#[derive(IntoPyObject)]
pub(crate) enum Product {
    Histogram(Drawn),
    Entries(DrawnEntries),
}

/// The binning of an axis that was asked for: number of bins, low and high, or the edges of all bins.
pub(crate) type GivenBins = (Option<usize>, Option<(f64, f64)>, Option<Vec<f64>>);

/// The binning that was asked for, x first.
pub(crate) fn bins(given: Vec<GivenBins>) -> Result<Bins> {
    let axis = |(count, limits, edges): GivenBins| -> Result<AxisBins> {
        let axis = edges.map(|e| Axis::variable(&e)).transpose()?;
        let (low, high) = limits.unwrap_or((0.0, 1.0));
        Axis::new(count.unwrap_or(1), low, high)?;
        Ok(AxisBins { count, limits, axis })
    };
    Ok(Bins { axes: given.into_iter().map(axis).collect::<Result<_>>()?, exactly: true })
}

/// Names for expressions, each with its expression.
pub(crate) type GivenAliases = Vec<(Text, Text)>;

/// The aliases without what surrounds them; names and expressions that cannot be are refused.
#[pyfunction]
#[pyo3(name = "checked_aliases")]
pub(crate) fn checked(py: Python<'_>, aliases: GivenAliases) -> PyResult<GivenAliases> {
    let made = self::aliases(&aliases).map_err(|e| exception(py, &e, Missing::Key))?;
    Ok(made.iter().map(|(name, text)| (name.into(), text.into())).collect())
}

/// What is drawn: an expression in TTree::Draw's language, a condition or weight (empty for none), the binning,
/// TTree::Draw's option, and aliases.
pub(crate) type Drawing = (Text, Text, Vec<GivenBins>, Text, GivenAliases);

/// Aliases that expressions take.
pub(crate) fn aliases(given: &GivenAliases) -> Result<Aliases> {
    Aliases::new(given.iter().map(|(name, text)| (name.0.as_str(), text.0.as_str())))
}

/// A chain, or a tree in its place in a chain.
#[derive(Clone)]
pub(crate) struct Part {
    pub chain: Chain,
    /// Entries of the whole chain, where they are known already.
    pub total: Option<u64>,
}

impl Part {
    pub(crate) fn whole(chain: Chain) -> Self {
        Self { chain, total: None }
    }

    /// The chain with its first file open, the tree of that, and the entries that `Entries$` stands for.
    pub(crate) fn opened<'a>(
        &self,
        expressions: impl Iterator<Item = &'a Expr>,
    ) -> Result<(Chain, sapwood::Tree, u64)> {
        let (chain, first) = self.chain.first()?;
        let total = self.total.map_or_else(|| Reader::total(&chain, &first, expressions), Ok)?;
        Ok((chain, first, total))
    }
}

/// Draws all of it in one reading: parses here, binds, scans and fills on a thread of its own. `entries` are counted through the
/// chain.
pub(crate) fn draw(
    py: Python<'_>,
    part: &Part,
    drawings: &[Drawing],
    (entries, instances): (Entries, Instances),
    options: ScanOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Product>> {
    let parsed = parsed(py, drawings)?;
    let part = part.clone();
    let filled = run(py, options, progress, move |options| fill(parsed, &part, entries, &instances, options))?;
    Ok(filled.into_iter().map(Filled::product).collect())
}

/// What is drawn, without any tree.
pub(crate) fn parsed(py: Python<'_>, drawings: &[Drawing]) -> PyResult<Vec<Parsed>> {
    drawings.iter().map(Parsed::new).collect::<Result<Vec<_>>>().map_err(|e| exception(py, &e, Missing::Key))
}

/// Does it on a thread of its own; Ctrl-C and an exception of the progress function end it.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    mut options: ScanOptions,
    progress: Option<Py<PyAny>>,
    what: impl FnOnce(ScanOptions) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let meter = Meter::attach(&mut options, progress);
    let cancel = options.cancel.clone();
    let done = wait(py, |py| meter.tell(py), move || what(options));
    if done.is_err() {
        cancel.store(true, Ordering::Relaxed);
    }
    let done = done?.map_err(|e| exception(py, &e, Missing::Key))?;
    meter.tell(py)?;
    Ok(done)
}

/// A histogram as Python takes it; titles are those of the expressions, the last one is of x.
pub(crate) fn drawn(hist: &Histogram, mut titles: Vec<String>) -> Drawn {
    titles.reverse();
    let labels: Vec<Option<Vec<Text>>> =
        (0..titles.len()).map(|i| hist.labels(i).map(|names| texts(names.to_vec()))).collect();
    let axes = hist.axes().into_iter().zip(titles).zip(labels).map(|((a, title), labels)| {
        let edges = a.edges().map(|e| Buffer::new(Values::F64(e.to_vec())));
        (a.bins(), a.low(), a.high(), title.into(), edges, labels)
    });
    let cells = match hist {
        Histogram::One(h) => vec![h.values(true).to_vec(), h.variances(true).to_vec()],
        Histogram::Many(h) => vec![h.values(true), h.variances(true)],
        Histogram::Profile(p) => {
            let (weights, squared) = (p.sums_of_weights(), p.sums_of_squared_weights());
            vec![weights, squared, p.means(true), p.squared_deviations()]
        }
        Histogram::Rows(_) => Vec::new(),
    };
    let cells = cells.into_iter().map(|c| Buffer::new(Values::F64(c))).collect();
    (axes.collect(), cells, hist.entries())
}

/// What is drawn, before any tree is known.
pub(crate) struct Parsed {
    target: Target,
    pub expressions: Vec<Expr>,
    pub cut: Option<Expr>,
    pub bins: Bins,
    pub option: DrawOption,
}

impl Parsed {
    /// Draws without option `norm`.
    pub(crate) fn leave_scale(&mut self) {
        self.option.norm = false;
    }

    pub(crate) fn new((expression, cut, given, option, names): &Drawing) -> Result<Self> {
        let (text, target) = parse_target(expression)?;
        // nothing but a target: a list of entries
        let is_list = text.is_empty() && expression.contains(">>");
        let expressions = if is_list { Vec::new() } else { Expr::parse_list(&text)? };
        let cut = Expr::selection(cut)?;
        let names = aliases(names)?;
        let expressions = expressions.into_iter().map(|e| e.with_aliases(&names)).collect();
        let cut = cut.map(|e| e.with_aliases(&names));
        let given = bins(given.clone())?;
        let bins = if given.is_empty() { target.bins.clone() } else { given };
        if is_list && !bins.is_empty() {
            return Err(Error::invalid(format!(">>{}: an entry list has no binning", target.name)));
        }
        let option: DrawOption = option.parse()?;
        if option.chart.is_some() {
            return Err(Error::unsupported("para and candle make a picture, not a histogram")
                .with_remedy("draw them with `sapwood draw`"));
        }
        Ok(Self { target, expressions, cut, bins, option })
    }
}

/// What is being filled.
enum Filling {
    Histogram { plot: Plot, titles: Vec<String>, norm: bool },
    List { list: EntryListDraw, target: Target, cut: Option<Expr> },
}

/// What was filled.
pub(crate) enum Filled {
    /// With the titles of its expressions.
    Histogram(Histogram, Vec<String>),
    List(DrawnList),
}

impl Filled {
    fn product(self) -> Product {
        match self {
            Self::Histogram(hist, titles) => Product::Histogram(drawn(&hist, titles)),
            Self::List(DrawnList { name, title, kind, list, through, rows }) => {
                let class = kind.class();
                Product::Entries((class, name.into(), title.into(), rows, numbers(&through), trees(&list)))
            }
        }
    }
}

/// What came out of each, in their order.
pub(crate) fn fill(
    drawings: Vec<Parsed>,
    part: &Part,
    entries: Entries,
    instances: &Instances,
    options: ScanOptions,
) -> Result<Vec<Filled>> {
    let (chain, first, total) = part.opened(drawings.iter().flat_map(|d| d.expressions.iter().chain(&d.cut)))?;
    let estimate = Reader::estimate(&chain, &first);
    let mut fillings = Vec::new();
    for drawing in &drawings {
        let binding = Binding::new(&first, &drawing.expressions, drawing.cut.as_ref())?;
        fillings.push(if drawing.expressions.is_empty() {
            let list = EntryListDraw::new(drawing.option.list);
            Filling::List { list, target: drawing.target.clone(), cut: drawing.cut.clone() }
        } else {
            let plot = Plot::new(&binding.query, &drawing.bins, &drawing.option, estimate)?;
            Filling::Histogram { plot, titles: binding.query.titles().to_vec(), norm: drawing.option.norm }
        });
    }
    let bind = bind_all(drawings.into_iter().map(|d| (d.expressions, d.cut)).collect());
    let bind = fillings.iter().fold(bind, |bind, filling| match filling {
        Filling::List { list, .. } => list.watch(bind),
        Filling::Histogram { .. } => bind,
    });
    let instances = Some(instances).filter(|instances| !instances.is_empty());
    let cancel = options.cancel.clone();
    for part in (Reader { chain, entries, total, options, bind }).read() {
        let ChainBatch { link, prepared, batch } = part?;
        for (binding, filling) in prepared.bindings().zip(&mut fillings) {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "reading was interrupted"));
            }
            let query = &binding.query;
            let fill = |batch: &sapwood::query::Batch<'_>| match filling {
                Filling::Histogram { plot, .. } => plot.fill(query, &batch.through(instances)),
                Filling::List { list, .. } => list.fill(&link, query, &batch.through(instances)),
            };
            let filled = binding.with_batch(&batch, &batch.columns, link.first_entry, total, fill);
            filled.map_err(|e| e.in_file(link.tree.file().url()))?;
        }
    }
    let mut filled: Vec<Filled> = Vec::with_capacity(fillings.len());
    for filling in fillings {
        let made = match filling {
            Filling::Histogram { plot, titles, norm } => {
                let mut hist = plot.finish()?;
                if norm {
                    hist.normalize();
                }
                Filled::Histogram(hist, titles)
            }
            Filling::List { list, target, cut } => {
                let made = list.finish(&target.name, cut.as_ref());
                let there = filled.iter().rev().find_map(|f| match f {
                    Filled::List(list) if target.append && list.name == target.name => Some(list),
                    _ => None,
                });
                Filled::List(there.map_or(Ok(made.clone()), |there| there.add(made))?)
            }
        };
        filled.push(made);
    }
    Ok(filled)
}
