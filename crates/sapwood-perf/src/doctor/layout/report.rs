//! The section on performance: the layout of trees and ntuples in the file, and what reading them costs.

use super::{Diagnosis, Price, diagnose};
use crate::text::table::{Align, Table};
use crate::text::{clean, units};
use sapwood_engine::{File, OpenOptions};
use sapwood_plan::CacheSize;
use sapwood_span::Result;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::time::Duration;

/// The conditions for which the cost of reading is computed, each cache with each network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Sizes of the tree cache.
    pub caches: Vec<CacheSize>,
    /// Round-trip times; zero is a local disk.
    pub round_trips: Vec<Duration>,
}

impl Default for Conditions {
    /// Without a cache and with one; the same machine, a distant site in the country, the other side of the world.
    fn default() -> Self {
        let round_trips = [0, 20, 200].map(Duration::from_millis).to_vec();
        Self { caches: vec![CacheSize::Off, CacheSize::Auto], round_trips }
    }
}

impl Conditions {
    /// These, with the defaults where none are given.
    pub fn new(caches: &[CacheSize], round_trips: &[Duration]) -> Self {
        let mut out = Self::default();
        if !caches.is_empty() {
            out.caches = caches.to_vec();
        }
        if !round_trips.is_empty() {
            out.round_trips = round_trips.to_vec();
        }
        out
    }
}

/// A tree and its diagnosis.
pub(crate) struct Examined {
    path: String,
    entries: u64,
    diagnosis: Diagnosis,
}

/// Examines all trees of a file by their headers. The other section reports those too damaged to be read.
pub(crate) fn examine(file: &str, options: &OpenOptions, conditions: &Conditions) -> Vec<Examined> {
    trees(file, options, conditions).unwrap_or_default()
}

fn trees(url: &str, options: &OpenOptions, conditions: &Conditions) -> Result<Vec<Examined>> {
    let file = File::open(url, options)?;
    let mut paths: Vec<String> =
        file.list("", true)?.into_iter().filter(|l| l.key.is_tree() || l.key.is_ntuple()).map(|l| l.path).collect();
    paths.sort();
    paths.dedup();
    let Conditions { caches, round_trips } = conditions;
    let one = |path: &String| {
        let tree = file.tree(path).ok()?;
        let diagnosis = diagnose(tree.header(), tree.clusters(), caches, round_trips).ok()?;
        Some(Examined { path: path.clone(), entries: tree.entries(), diagnosis })
    };
    Ok(paths.iter().filter_map(one).collect())
}

/// As text.
///
/// # Errors
/// When `out` cannot be written.
pub(crate) fn print(trees: &[Examined], out: &mut impl Write) -> io::Result<()> {
    for t in trees.iter().filter(|t| t.diagnosis.baskets > 0) {
        let d = &t.diagnosis;
        let (n, b) = (units::count, units::bytes);
        let clusters = d.clusters.len().saturating_sub(1) as u64;
        writeln!(out, "\n{}: {} in {}", clean(&t.path), units::entries(t.entries), units::plural(clusters, "cluster"))?;
        let (least, median, most) = d.basket_bytes;
        writeln!(
            out,
            "  {} of {} to {} (median {}), {} in all; {} out of order, {} overlapping",
            units::plural(d.baskets, d.noun),
            b(least),
            b(most),
            b(median),
            b(d.bytes),
            n(d.backward),
            n(d.overlapping)
        )?;
        if d.shared > 0 {
            writeln!(out, "  {} with the bytes of another, stored once", units::plural(d.shared, d.noun))?;
        }
        let largest: Vec<String> =
            d.branches.iter().take(3).map(|x| format!("{} {}", clean(&x.name), b(x.bytes))).collect();
        let branches = if d.noun == "page" { "fields" } else { "branches" };
        writeln!(out, "  largest {branches}: {}", largest.join(", "))?;
        let titles = [("reading", Align::Left), ("cache", Align::Left), ("round trip", Align::Right)];
        let numbers = ["requests", "bytes", "time", "rewritten: requests", "bytes", "time"].map(|t| (t, Align::Right));
        let mut table = Table::new(titles.into_iter().chain(numbers));
        for c in &d.costs {
            let price = |p: &Price| [n(p.requests), b(p.bytes), units::seconds(p.time.as_secs_f64())];
            let far =
                if c.round_trip.is_zero() { "local".to_owned() } else { units::seconds(c.round_trip.as_secs_f64()) };
            let head = [c.reads.to_owned(), cache(c.cache), far];
            table.row(head.into_iter().chain(price(&c.now)).chain(price(&c.rewritten)));
        }
        table.write(out)?;
    }
    Ok(())
}

fn cache(size: CacheSize) -> String {
    match size {
        CacheSize::Auto => "auto".to_owned(),
        CacheSize::Off => "none".to_owned(),
        CacheSize::Bytes(n) => units::bytes(n),
    }
}

/// The member `layout` of `--json`.
pub(crate) fn to_json(trees: &[Examined]) -> Value {
    let price = |p: &Price| json!({ "requests": p.requests, "ranges": p.ranges, "bytes": p.bytes, "seconds": p.time.as_secs_f64() });
    let tree = |t: &Examined| {
        let d = &t.diagnosis;
        let costs: Vec<Value> = d
            .costs
            .iter()
            .map(|c| {
                json!({
                    "reads": c.reads,
                    "cache_bytes": match c.cache {
                        CacheSize::Auto => None,
                        CacheSize::Off => Some(0),
                        CacheSize::Bytes(n) => Some(n),
                    },
                    "round_trip_seconds": c.round_trip.as_secs_f64(),
                    "now": price(&c.now),
                    "rewritten": price(&c.rewritten),
                })
            })
            .collect();
        let branches: Vec<Value> =
            d.branches.iter().map(|b| json!({ "name": b.name, "baskets": b.baskets, "bytes": b.bytes })).collect();
        json!({
            "tree": t.path,
            "consists_of": format!("{}s", d.noun),
            "entries": t.entries,
            "clusters": d.clusters,
            "baskets": d.baskets,
            "bytes": d.bytes,
            "smallest_basket": d.basket_bytes.0,
            "median_basket": d.basket_bytes.1,
            "largest_basket": d.basket_bytes.2,
            "backward": d.backward,
            "shared": d.shared,
            "overlapping": d.overlapping,
            "branches": branches,
            "costs": costs,
        })
    };
    Value::Array(trees.iter().map(tree).collect())
}
