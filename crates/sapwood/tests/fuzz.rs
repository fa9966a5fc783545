//! Damage of every kind, at random: no panic, no hang, no memory that the input does not justify.
//!
//! The same cases in every run; `SAPWOOD_FUZZ_SECONDS=60 cargo test --release -p sapwood --test fuzz` goes on with
//! others for a minute per target, and `SAPWOOD_FUZZ_SEED=n` repeats one.

#[path = "fuzz/cases.rs"]
mod cases;
mod common;
#[path = "fuzz/layouts.rs"]
mod layouts;
#[path = "fuzz/memory.rs"]
mod memory;
#[path = "fuzz/random.rs"]
mod random;
#[path = "fuzz/reading.rs"]
mod reading;
#[path = "fuzz/seeds.rs"]
mod seeds;

use random::{Random, damage};
use reading::{look_at_tree, read_everything};
use sapwood_codec::{Compression, Decoder, Encoder};
use sapwood_format::Streamers;
use sapwood_format::tree::{BasketHead, read_tree, split_basket};
use seeds::{SEEDS, Seed, TreeSeed};
use std::path::PathBuf;

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

fn some_tree<'a>(r: &mut Random) -> (&'a Seed, &'a TreeSeed) {
    let seed = r.pick(&SEEDS);
    (seed, r.pick(&seed.trees))
}

#[test]
fn whole_files() {
    let folder = common::Folder::new();
    let path = folder.file("damaged.root");
    for seed in SEEDS.iter() {
        std::fs::write(&path, &seed.bytes).unwrap();
        let read = read_everything(&path).unwrap_or_else(|e| panic!("{}: {e}", seed.name));
        assert!(read > 0, "{}: nothing is read of the undamaged file", seed.name);
    }
    cases::run("whole files", 1500, |r| {
        let mut bytes = r.pick(&SEEDS).bytes.clone();
        damage(&mut bytes, &r.pick(&SEEDS).bytes, r);
        std::fs::write(&path, &bytes).unwrap();
        let _ = read_everything(&path);
        bytes.len()
    });
}

/// Headers that count far more entries than their baskets hold, in steps of one entry.
#[test]
fn entries_that_are_only_claimed() {
    let folder = common::Folder::new();
    let path = folder.file("claims.root");
    for claimed in [10_000_000, 1 << 40, i64::MAX as u64] {
        cases::all(
            "claimed entries",
            &SEEDS,
            |seed| format!("{}, {claimed} entries", seed.name),
            |seed| {
                let mut bytes = seed.bytes.clone();
                for tree in &seed.trees {
                    let said = tree.tree.entries.to_be_bytes();
                    let places: Vec<usize> = (0..bytes.len() - 8).filter(|&i| bytes[i..i + 8] == said).collect();
                    for at in places {
                        bytes[at..at + 8].copy_from_slice(&claimed.to_be_bytes());
                    }
                }
                std::fs::write(&path, &bytes).unwrap();
                let _ = read_everything(&path);
                bytes.len()
            },
        );
    }
}

#[test]
fn headers_of_trees() {
    cases::run("headers of trees", 40_000, |r| {
        let (_, t) = some_tree(r);
        let mut header = t.header.clone();
        damage(&mut header, &some_tree(r).1.header, r);
        if let Ok(tree) = read_tree(&header, t.key_len, &t.class, &t.streamers) {
            look_at_tree(&tree, &t.streamers);
        }
        header.len()
    });
}

#[test]
fn class_descriptions() {
    cases::run("class descriptions", 25_000, |r| {
        let (seed, t) = some_tree(r);
        let mut info = seed.info.0.clone();
        damage(&mut info, &some_tree(r).0.info.0, r);
        if let Ok(streamers) = Streamers::parse(&info, seed.info.1) {
            look_at_tree(&t.tree, &streamers);
            if let Ok(tree) = read_tree(&t.header, t.key_len, &t.class, &streamers) {
                look_at_tree(&tree, &streamers);
            }
        }
        info.len() + t.header.len()
    });
}

#[test]
fn records_of_baskets() {
    let all: Vec<_> = SEEDS.iter().flat_map(|s| &s.trees).flat_map(|t| &t.baskets).collect();
    assert!(all.len() > 50, "{} baskets to damage", all.len());
    let mut decoder = Decoder::new();
    let (mut split_ones, mut decoded) = (0, 0);
    cases::run("records of baskets", 100_000, |r| {
        let basket = r.pick(&all);
        let mut record = basket.record.clone();
        if r.below(3) == 0 {
            damage(&mut record, &r.pick(&all).record, r);
        }
        let Ok((mut head, key)) = BasketHead::read(&record) else { return record.len() };
        let Some(payload) = record.get(key.key_len as usize..) else { return record.len() };
        let Ok(mut data) = sapwood_format::inflate(&key, payload, &mut decoder) else { return record.len() };
        if r.below(3) > 0 {
            damage(&mut data, &record, r);
        }
        match r.below(6) {
            0 => head.entries = r.below(100) as u32,
            1 => head.entries = *r.pick(&[0, 1, i32::MAX as u32, u32::MAX]),
            2 => head.last = head.key_len + r.below(data.len() + 2) as u32,
            3 => head.key_len = r.below(200) as u32,
            _ => {}
        }
        if let Ok(split) = split_basket(&head, &data) {
            split_ones += 1;
            decoded += u32::from(basket.layout.decode(&split, None).is_ok());
            for _ in 0..3 {
                decoded += u32::from(layouts::layout(r).decode(&split, None).is_ok());
            }
        }
        record.len() + data.len()
    });
    println!("{split_ones} damaged baskets could be divided, {decoded} decoded");
}

#[test]
fn chains_of_compressed_blocks() {
    let mut encoder = Encoder::new();
    let mut decoder = Decoder::new();
    let settings: Vec<Compression> =
        ["zlib:1", "zlib:9", "lzma:1", "lz4:1", "lz4:9", "zstd:1", "zstd:9"].map(|s| s.parse().unwrap()).to_vec();
    cases::run("compressed blocks", 4000, |r| {
        let plain: Vec<u8> = (0..r.below(3000)).map(|i| (i / (1 + i % 7)) as u8).collect();
        let mut packed = Vec::new();
        let mut size = 0;
        for part in plain.chunks(1 + r.below(2000)) {
            if encoder.compress(part, *r.pick(&settings), &mut packed) {
                size += part.len();
            }
        }
        let mut out = Vec::new();
        assert!(decoder.decompress_vec(&packed, &mut out, size).is_ok() && out.len() == size, "undamaged");
        let other = packed.clone();
        damage(&mut packed, &other, r);
        if r.below(4) == 0 {
            size = *r.pick(&[0, 1, size + 1, size * 2, 0xff_ffff, 1 << 30]);
        }
        if decoder.decompress_vec(&packed, &mut out, size).is_ok() {
            assert_eq!(out.len(), size);
        } else {
            assert!(out.is_empty());
        }
        packed.len() + plain.len()
    });
}

/// Real files of experiments, where they lie beside the repository.
#[test]
fn the_corpus_and_damage_to_it() {
    let files = reading::corpus();
    if files.is_empty() {
        println!("skipped: there is no corpus at ../shared/corpus beside the repository");
        return;
    }
    let mut read = 0;
    let name = |path: &PathBuf| path.display().to_string();
    cases::all("the corpus", &files, name, |path| {
        read += usize::from(read_everything(path.to_str().unwrap()).is_ok_and(|n| n > 0));
        std::fs::metadata(path).map_or(0, |m| m.len() as usize)
    });
    println!("{read} of {} files have columns that are read", files.len());
    assert!(read > files.len() / 3, "{read} of {} files have columns that are read", files.len());

    let small: Vec<Vec<u8>> = files.iter().filter_map(|p| std::fs::read(p).ok()).filter(|b| b.len() < 30_000).collect();
    let folder = common::Folder::new();
    let path = folder.file("damaged.root");
    cases::run("the corpus, damaged", 400, |r| {
        let mut bytes = r.pick(&small).clone();
        damage(&mut bytes, &r.pick(&small).clone(), r);
        std::fs::write(&path, &bytes).unwrap();
        let _ = read_everything(&path);
        bytes.len()
    });
}
