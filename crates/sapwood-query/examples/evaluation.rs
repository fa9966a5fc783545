//! Evaluates an expression with a selection over columns of floats in memory, to count what a row takes:
//!
//! ```text
//! perf stat -e instructions:u evaluation 'sqrt(px*px+py*py)' 'pt>20 && abs(eta)<2.4' ROUNDS
//! ```
//!
//! The difference between two numbers of rounds, divided by the rows of the rounds between them, is what one row takes. A
//! fourth argument is the binning of a histogram that is filled, too.

use sapwood_column::{Array, Values};
use sapwood_query::{Batch, Bins, DrawOption, Expr, Plot, Query};
use sapwood_span::Error;

const ENTRIES: usize = 1 << 20;
const BATCH: usize = 1 << 16;

fn column(seed: u32, scale: f32, from: f32) -> Array {
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    Array::Flat(Values::F32((0..ENTRIES).map(|_| random() * scale + from).collect()))
}

fn main() -> sapwood_span::Result<()> {
    let mut words = std::env::args().skip(1);
    let (expr, cut) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let rounds: usize = words.next().and_then(|n| n.parse().ok()).unwrap_or(1);
    let binning = words.next();
    let tree: Vec<(String, Array)> = [("px", 80.0, -40.0), ("py", 80.0, -40.0), ("pt", 60.0, 0.0), ("eta", 8.0, -4.0)]
        .iter()
        .zip(1..)
        .map(|((name, scale, from), seed)| (name.to_string(), column(seed, *scale, *from)))
        .collect();
    let cut = if cut.is_empty() { None } else { Some(Expr::parse(&cut)?) };
    let query = Query::new(&Expr::parse_list(&expr)?, cut.as_ref(), tree.as_slice())?;
    let batches: Vec<Vec<Array>> = (0..ENTRIES)
        .step_by(BATCH)
        .map(|from| {
            let of = |name: &String| tree.iter().find(|c| c.0 == *name).map(|c| c.1.slice(from, from + BATCH));
            query.names().iter().filter_map(of).collect()
        })
        .collect();
    let bins = Bins::parse(binning.as_deref().unwrap_or("")).map_err(Error::invalid)?;
    let mut plot = Plot::new(&query, &bins, &DrawOption::default(), 1_000_000)?;
    let mut rows = 0;
    for _ in 0..rounds {
        for (i, columns) in batches.iter().enumerate() {
            let batch = Batch {
                first_entry: (i * BATCH) as u64,
                first_local_entry: (i * BATCH) as u64,
                total_entries: ENTRIES as u64,
                apart: None,
                instances: None,
                present: Vec::new(),
                weight: 1.0,
                entries: BATCH,
                columns: columns.iter().collect(),
            };
            if binning.is_some() {
                plot.fill(&query, &batch)?;
            } else {
                query.visit(&batch, |selected| {
                    rows += selected.weights.len();
                    Ok(())
                })?;
            }
        }
    }
    println!("{} entries evaluated, {rows} rows selected", rounds * ENTRIES);
    Ok(())
}
