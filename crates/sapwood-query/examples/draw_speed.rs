//! Times `rawtr` with the selection `E33>5` over synthetic data of the size of the seed's tree:
//! 283 813 entries, two lists of twelve floats on average. Prints milliseconds, best of seven. Then the same for two
//! variables and profiles, beside one variable that reads both branches. With a number as argument, only that one of these
//! is filled, once: for counting instructions.

use sapwood_column::{Array, Values};
use sapwood_query::{AutoHist, Axis, Batch, Bins, DrawOption, Expr, Hist1D, Plot, Query};
use std::time::Instant;

const ENTRIES: usize = 283_813;
const BATCH: usize = 4096;

/// Twelve values per entry on average, pseudo-random.
fn column(seed: u32) -> Array {
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let mut offsets = vec![0];
    let mut values = Vec::new();
    for entry in 0..ENTRIES {
        values.extend((0..entry * 7 % 25).map(|_| random() * 40.0));
        offsets.push(values.len() as i64);
    }
    Array::List { offsets, content: Box::new(Array::Flat(Values::F32(values))) }
}

/// Variables, option and binning of what is compared.
const PLOTS: [(&str, &str, &str); 7] = [
    ("rawtr", "", "100,0,60"),
    ("rawtr+E33", "", "100,0,100"),
    ("E33:rawtr", "", "40,0,60,40,0,60"),
    ("E33:rawtr", "prof", "100,0,60"),
    ("E33:rawtr", "", ""),
    ("E33:rawtr", "prof", ""),
    ("Entry$:E33:rawtr", "prof", "40,0,60,40,0,60"),
];

fn batch<'c>(i: usize, columns: &'c [Array]) -> Batch<'c> {
    Batch {
        first_entry: (i * BATCH) as u64,
        first_local_entry: (i * BATCH) as u64,
        total_entries: ENTRIES as u64,
        apart: None,
        instances: None,
        present: Vec::new(),
        weight: 1.0,
        entries: columns.first().map_or(0, Array::len),
        columns: columns.iter().collect(),
    }
}

fn plots(tree: &[(String, Array)], only: Option<usize>) -> sapwood_span::Result<()> {
    for (i, (text, option, bins)) in PLOTS.iter().enumerate() {
        if only.is_some_and(|only| only != i) {
            continue;
        }
        let query = Query::new(&Expr::parse_list(text)?, None, tree)?;
        let (bins, option) = (Bins::parse(bins).unwrap_or_default(), option.parse::<DrawOption>()?);
        let batches = batches(tree, &query);
        let mut best = f64::INFINITY;
        for _ in 0..if only.is_some() { 1 } else { 7 } {
            let start = Instant::now();
            let mut plot = Plot::new(&query, &bins, &option, 1_000_000)?;
            for (i, columns) in batches.iter().enumerate() {
                plot.fill(&query, &batch(i, columns))?;
            }
            plot.finish()?;
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        println!("{i} {text:28} {best:7.2} ms");
    }
    Ok(())
}

fn batches(tree: &[(String, Array)], query: &Query) -> Vec<Vec<Array>> {
    (0..ENTRIES)
        .step_by(BATCH)
        .map(|from| {
            let of = |name: &String| tree.iter().find(|c| c.0 == *name).map(|c| c.1.slice(from, from + BATCH));
            query.names().iter().filter_map(of).collect()
        })
        .collect()
}

fn main() -> sapwood_span::Result<()> {
    let only = std::env::args().nth(1).and_then(|n| n.parse::<usize>().ok());
    let tree = vec![("rawtr".to_string(), column(1)), ("E33".to_string(), column(2))];
    let cases = [
        ("rawtr", "E33>5"),
        ("rawtr", "E33>35"),
        ("rawtr", ""),
        ("sqrt(rawtr**2+E33**2)", ""),
        ("atan2(rawtr,E33)", "rawtr>1&&E33>1"),
        ("Sum$(rawtr)", "Length$(rawtr)>3"),
        ("rawtr[0]", "Max$(E33)>20"),
    ];
    if only.is_some() {
        return plots(&tree, only);
    }
    for (expr, cut) in cases {
        let cut_expr = if cut.is_empty() { None } else { Some(Expr::parse(cut)?) };
        let query = Query::new(&[Expr::parse(expr)?], cut_expr.as_ref(), tree.as_slice())?;
        let batches = batches(&tree, &query);
        let run = |fill: &mut dyn FnMut(&[f64], &[f64])| -> sapwood_span::Result<f64> {
            let start = Instant::now();
            for (i, columns) in batches.iter().enumerate() {
                query.visit(&batch(i, columns), |rows| {
                    fill(&rows.values[0], rows.weights);
                    Ok(())
                })?;
            }
            Ok(start.elapsed().as_secs_f64() * 1e3)
        };
        let (mut fixed, mut automatic) = (f64::INFINITY, f64::INFINITY);
        let mut entries = 0;
        for _ in 0..7 {
            let mut hist = Hist1D::new(Axis::new(100, 0.0, 60.0)?);
            fixed = fixed.min(run(&mut |v, w| hist.fill(v, w))?);
            entries = hist.entries();
            let mut auto = AutoHist::new(query.is_integer(0));
            automatic = automatic.min(run(&mut |v, w| {
                let _ = auto.fill(v, w);
            })?);
        }
        println!("{expr:28} {cut:20} {entries:8} rows  {fixed:7.2} ms  (automatic limits {automatic:7.2} ms)");
    }
    plots(&tree, None)
}
