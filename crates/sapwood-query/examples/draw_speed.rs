//! Times `rawtr` with the selection `E33>5` over synthetic data of the size of the seed's tree:
//! 283 813 entries, two lists of twelve floats on average. Prints milliseconds, best of seven.

use sapwood_column::{Array, Values};
use sapwood_query::{AutoHist, Axis, Batch, Expr, Hist1D, Query};
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

fn main() -> sapwood_span::Result<()> {
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
    for (expr, cut) in cases {
        let cut_expr = if cut.is_empty() { None } else { Some(Expr::parse(cut)?) };
        let query = Query::new(&[Expr::parse(expr)?], cut_expr.as_ref(), tree.as_slice())?;
        let batches: Vec<Vec<Array>> = (0..ENTRIES)
            .step_by(BATCH)
            .map(|from| {
                let of = |name: &String| tree.iter().find(|c| c.0 == *name).map(|c| c.1.slice(from, from + BATCH));
                query.names().iter().filter_map(of).collect()
            })
            .collect();
        let run = |fill: &mut dyn FnMut(&[f64], &[f64])| -> sapwood_span::Result<f64> {
            let start = Instant::now();
            for (i, columns) in batches.iter().enumerate() {
                let batch = Batch {
                    first_entry: (i * BATCH) as u64,
                    first_local_entry: (i * BATCH) as u64,
                    total_entries: ENTRIES as u64,
                    apart: None,
                    entries: columns.first().map_or(0, Array::len),
                    columns: columns.iter().collect(),
                };
                query.visit(&batch, |rows| {
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
    Ok(())
}
