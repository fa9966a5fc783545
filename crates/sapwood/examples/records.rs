//! A tree from structs: `records FILE [ENTRIES]` writes one, and prints its branches and a column.

use sapwood::write::{FileWriter, Record, TreeOptions};
use sapwood::{Compression, File, OpenOptions, Result, ScanOptions};
use std::collections::BTreeMap;

/// A class of C++, too: other rows may hold it.
#[derive(Clone, Record)]
#[record(class = "RecPoint")]
struct Point {
    x: f32,
    y: f64,
}

#[derive(Record)]
#[record(class = "RecHit")]
struct Hit {
    id: i32,
    name: String,
    amplitudes: Vec<f32>,
    covariance: [f64; 3],
}

#[derive(Record)]
#[record(class = "RecVertex")]
struct Vertex {
    at: Point,
    tracks: Vec<Point>,
    tags: Vec<String>,
}

/// A row: each field is a branch.
#[derive(Record)]
struct Event {
    run: u32,
    good: bool,
    #[record(title = "energy in GeV", compression = "zstd:5", basket_bytes = 64_000)]
    energy: f64,
    momentum: [f32; 4],
    matrix: [[i16; 3]; 2],
    #[record(counter = "nJet")]
    jet_pt: Vec<f32>,
    #[record(counter = "nJet")]
    jet_id: Vec<i8>,
    #[record(vector)]
    weights: Vec<f64>,
    nested: Vec<Vec<i32>>,
    label: String,
    words: Vec<String>,
    triggers: BTreeMap<String, i32>,
    #[record(name = "beam", split = 0)]
    spot: Point,
    vertex: Vertex,
    #[record(name = "coarse.", split = 1)]
    coarse: Vertex,
    hits: Vec<Hit>,
    #[record(split = 0)]
    kept: Vec<Hit>,
    #[record(skip)]
    _not_written: std::time::Duration,
}

fn event(k: u32) -> Event {
    let point = |i: u32| Point { x: i as f32 / 2.0, y: -f64::from(i) };
    let vertex = |i: u32| Vertex {
        at: point(i),
        tracks: (0..i % 3).map(point).collect(),
        tags: (0..i % 2).map(|j| format!("tag{j}")).collect(),
    };
    let hit = |i: u32| Hit {
        id: i as i32,
        name: format!("hit{i}"),
        amplitudes: (0..i % 4).map(|j| j as f32).collect(),
        covariance: [1.0, f64::from(i), 0.5],
    };
    Event {
        run: k,
        good: k.is_multiple_of(3),
        energy: f64::from(k) * 1.5,
        momentum: [0.0, 1.0, 2.0, 3.0].map(|i| i + k as f32),
        matrix: [[0, 1, 2], [3, 4, 5]].map(|row| row.map(|i: i16| i + (k % 100) as i16)),
        jet_pt: (0..k % 5).map(|i| i as f32 + 0.25).collect(),
        jet_id: (0..k % 5).map(|i| i as i8).collect(),
        weights: (0..k % 3).map(f64::from).collect(),
        nested: (0..k % 3).map(|i| (0..i).map(|j| j as i32).collect()).collect(),
        label: format!("event {k}"),
        words: (0..k % 3).map(|i| format!("word{i}")).collect(),
        triggers: (0..k % 3).map(|i| (format!("t{i}"), i as i32)).collect(),
        spot: point(k),
        vertex: vertex(k),
        coarse: vertex(k + 1),
        hits: (0..k % 3).map(hit).collect(),
        kept: (0..k % 3).map(hit).collect(),
        _not_written: std::time::Duration::ZERO,
    }
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let path = words.next().unwrap_or_else(|| "records.root".to_owned());
    let entries = words.next().and_then(|n| n.parse().ok()).unwrap_or(1000);

    let mut file = FileWriter::create(&path, Compression::default())?;
    let mut tree = file.records::<Event>("events", "rows of structs", TreeOptions::default())?;
    for k in 0..entries {
        tree.fill(&event(k))?;
    }
    tree.finish()?;
    file.finish()?;

    let tree = File::open(&path, &OpenOptions::default())?.tree("events")?;
    println!("{} entries of {} branches", tree.entries(), tree.header().branches.len());
    let branches = vec![tree.find("vertex/tracks/tracks.x")?];
    for batch in tree.scan_with(&ScanOptions::default().branches(branches))? {
        println!("{:?}", batch?.columns[0].slice(0, 5));
    }
    Ok(())
}
