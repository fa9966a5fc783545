//! Writes files for experiments and for the checks against ROOT and uproot:
//!
//! ```text
//! write_sample sample PATH [ENTRIES [SEED [clustered|scattered [COMPRESSION]]]]
//! write_sample types PATH ENTRIES COMPRESSION CLUSTER BASKET_BYTES [GAP_BYTES...]
//! ```
//!
//! `types` has a branch of every type, alone, as an array of three and jagged; its values follow from the entry's
//! number by a formula that the checker also uses. CLUSTER is a number of entries, a number of compressed bytes as in
//! `20000B`, or `never`; gaps make the file large without filling it.

use sapwood_codec::Compression;
use sapwood_column::{Array, DType, Values};
use sapwood_span::{Error, Result};
use sapwood_write::sample::{SampleLayout, write_sample_as};
use sapwood_write::{BranchSpec, Cluster, FileWriter, TreeOptions};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["sample", path, rest @ ..] => sample(path, rest),
        ["types", path, entries, compression, cluster, basket_bytes, gaps @ ..] => {
            types(path, [entries, compression, cluster, basket_bytes], gaps)
        }
        _ => Err(Error::invalid("usage: write_sample sample|types PATH ...")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn sample(path: &str, rest: &[&str]) -> Result<()> {
    let entries = rest.first().map_or(Ok(20_000), |n| number(n))?;
    let seed = rest.get(1).map_or(Ok(1), |n| number(n))?;
    let layout = match rest.get(2) {
        None | Some(&"clustered") => SampleLayout::Clustered,
        Some(&"scattered") => SampleLayout::Scattered,
        Some(other) => return Err(Error::invalid(format!("no layout is called {other}"))),
    };
    let compression = rest.get(3).map_or(Ok(Compression::default()), |c| c.parse())?;
    write_sample_as(path, entries, seed, layout, compression)
}

fn types(path: &str, [entries, compression, cluster, basket_bytes]: [&str; 4], gaps: &[&str]) -> Result<()> {
    let cluster = match cluster.strip_suffix('B') {
        Some(bytes) => Cluster::Bytes(number(bytes)?),
        None if cluster == "never" => Cluster::Never,
        None => Cluster::Entries(number(cluster)?),
    };
    let options = TreeOptions::default().cluster(cluster).basket_bytes(number(basket_bytes)?).optimize_baskets(false);
    let mut branches = Vec::new();
    for t in DType::ALL {
        branches.push(BranchSpec::scalar(format!("s_{}", t.name()), t));
        branches.push(BranchSpec::fixed(format!("f_{}", t.name()), t, 3));
        branches.push(BranchSpec::jagged_by(format!("j_{}", t.name()), t, "nj"));
    }
    branches.push(BranchSpec::jagged("own", DType::F32).titled("a jagged branch with a counter of its own"));
    let mut file = FileWriter::create(path, compression.parse()?)?;
    let mut other = file.tree("Other", "", &[BranchSpec::scalar("x", DType::I32)], TreeOptions::default())?;
    other.extend(&[("x", &Array::Flat(Values::I32(vec![1, 2, 3])))])?;
    let mut tree = file.tree("Events", "all types", &branches, options)?;
    let entries: u64 = number(entries)?;
    // Batches of odd sizes, so that baskets, clusters and batches end at different places.
    let mut start = 0;
    while start < entries {
        let stop = entries.min(start + 1 + start % 977);
        let columns: Vec<(String, Array)> =
            branches.iter().map(|b| (b.name.clone(), column(&b.name, start, stop))).collect();
        let given: Vec<(&str, &Array)> = columns.iter().map(|(n, a)| (n.as_str(), a)).collect();
        tree.extend(&given)?;
        start = stop;
    }
    for gap in gaps {
        file.leave_gap(number(gap)?)?;
    }
    tree.finish()?;
    other.finish()?;
    file.finish()
}

/// The entries of a branch; item `j` of entry `i` is `value(i, j)`.
fn column(name: &str, start: u64, stop: u64) -> Array {
    let (kind, dtype) = name.split_once('_').unwrap_or(("own", "float32"));
    let count = |i: u64| match kind {
        "s" => 1,
        "f" => 3,
        "j" => i % 5,
        // Long runs of empty entries, and a long one now and then.
        _ => {
            if i % 100 == 99 {
                300
            } else {
                u64::from(i % 7 == 3)
            }
        }
    };
    let items = || (start..stop).flat_map(|i| (0..count(i)).map(move |j| (i, j)));
    let values = Array::Flat(match dtype {
        "bool" => Values::Bool(items().map(|(i, j)| u8::from(i % 3 == j)).collect()),
        "int8" => Values::I8(items().map(|(i, j)| value(i, j) as i8).collect()),
        "uint8" => Values::U8(items().map(|(i, j)| value(i, j) as u8).collect()),
        "int16" => Values::I16(items().map(|(i, j)| value(i, j) as i16).collect()),
        "uint16" => Values::U16(items().map(|(i, j)| value(i, j) as u16).collect()),
        "int32" => Values::I32(items().map(|(i, j)| value(i, j) as i32).collect()),
        "uint32" => Values::U32(items().map(|(i, j)| value(i, j) as u32).collect()),
        "int64" => Values::I64(items().map(|(i, j)| value(i, j)).collect()),
        "uint64" => Values::U64(items().map(|(i, j)| value(i, j) as u64).collect()),
        "float32" => Values::F32(items().map(|(i, j)| i as f32 * 0.5 - j as f32).collect()),
        _ => Values::F64(items().map(|(i, j)| i as f64 * 0.1 - j as f64).collect()),
    });
    let len = (stop - start) as usize;
    match kind {
        "s" => values,
        "f" => Array::Regular { size: 3, len, content: Box::new(values) },
        _ => {
            let mut offsets = vec![0_i64];
            let mut end = 0;
            for i in start..stop {
                end += count(i) as i64;
                offsets.push(end);
            }
            Array::List { offsets, content: Box::new(values) }
        }
    }
}

/// Of either sign, using all bits; narrower types take the lowest.
fn value(i: u64, j: u64) -> i64 {
    (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64) >> (i % 48) ^ j as i64
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| Error::invalid(format!("\"{text}\" is no number here")))
}
