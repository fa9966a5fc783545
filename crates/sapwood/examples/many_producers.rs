//! Many threads fill one tree: what that costs, beside one thread that does it alone.
//!
//!     many_producers FILE [PRODUCERS [BRANCHES [BATCHES]]]
//!
//! Prints pieces handed on, bytes, seconds and, on Linux, the most memory held.

use sapwood::write::{BranchSpec, FileWriter, Merger, TreeOptions};
use sapwood::{Array, Compression, DType, Result, Values};
use std::time::Instant;

/// Entries of a batch.
const BATCH: u64 = 50;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, or: u64| words.get(i).and_then(|w| w.parse().ok()).unwrap_or(or);
    let path = words.first().map_or("many_producers.root", String::as_str);
    let (producers, branches, batches) = (number(1, 16).max(1), number(2, 10_000), number(3, 128));

    let specs: Vec<BranchSpec> = (0..branches).map(|i| BranchSpec::scalar(format!("b{i}"), DType::F32)).collect();
    let mut file = FileWriter::create(path, Compression::default())?;
    let merger = Merger::new(file.tree("t", "many producers", &specs, TreeOptions::default())?);
    let began = Instant::now();
    let done: Result<()> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..producers)
            .map(|who| {
                let (merger, specs) = (&merger, &specs);
                scope.spawn(move || -> Result<()> {
                    let mut producer = merger.producer()?;
                    for batch in (who..batches).step_by(usize::try_from(producers).unwrap_or(1)) {
                        let value = |k| (batch * BATCH + k) as f32 / 16.0;
                        let column = Array::Flat(Values::F32((0..BATCH).map(value).collect()));
                        let columns: Vec<(&str, &Array)> = specs.iter().map(|s| (&*s.name, &column)).collect();
                        producer.extend(&columns)?;
                    }
                    producer.finish()
                })
            })
            .collect();
        threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    done?;
    let summary = merger.finish()?;
    file.finish()?;
    let seconds = began.elapsed().as_secs_f64();
    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = memory.lines().find_map(|l| l.strip_prefix("VmHWM:")).map_or("?", str::trim);
    let mb = (batches * BATCH * branches * 4) as f64 / 1e6;
    println!(
        "{producers} producers, {branches} branches, {mb:.0} MB: {} pieces, {seconds:.2} s, {memory} held",
        summary.pieces
    );
    Ok(())
}
