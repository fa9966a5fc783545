//! How fast the zlib blocks of a ROOT file are decompressed, in sequence and many together, on one thread.
//!
//! ```text
//! cargo run --release -p sapwood-codec --example inflate FILE
//! ```

use sapwood_codec::{Decoder, DecompressQueue};
use std::time::{Duration, Instant};

/// A block and the size that its header states.
type Block<'a> = (&'a [u8], usize, ());

/// All blocks in order.
struct Each<'a>(std::vec::IntoIter<Block<'a>>);

impl<'a> DecompressQueue for Each<'a> {
    type Item = Block<'a>;

    fn next(&mut self, _: bool) -> Option<Self::Item> {
        self.0.next()
    }

    fn done(&mut self, _: Self::Item, bytes: sapwood_span::Result<&[u8]>, _: Duration) {
        bytes.expect("it unpacked before");
    }
}

/// The blocks of a file, whatever keys they belong to: found by their tag, kept if they decompress.
fn blocks(file: &[u8]) -> Vec<Block<'_>> {
    let (mut found, mut at, mut out) = (Vec::new(), 0, Vec::new());
    while let Some(&[a, b, c, c0, c1, c2, u0, u1, u2]) = file.get(at..).and_then(|rest| rest.first_chunk()) {
        let end = at + 9 + u32::from_le_bytes([c0, c1, c2, 0]) as usize;
        let size = u32::from_le_bytes([u0, u1, u2, 0]) as usize;
        match file.get(at..end) {
            Some(compressed)
                if [a, b, c] == *b"ZL\x08" && Decoder::new().decompress_vec(compressed, &mut out, size).is_ok() =>
            {
                found.push((compressed, size, ()));
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// The best of five.
fn best(mut work: impl FnMut()) -> Duration {
    let once = |_| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    (0..5).map(once).min().unwrap_or_default()
}

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: inflate FILE");
        std::process::exit(2);
    };
    let file = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let blocks = blocks(&file);
    let bytes: usize = blocks.iter().map(|b| b.1).sum();
    let (mut decoder, mut out) = (Decoder::new(), Vec::new());
    let alone = best(|| {
        for (compressed, size, ()) in &blocks {
            decoder.decompress_vec(compressed, &mut out, *size).expect("it did before");
        }
    });
    let together = best(|| decoder.decompress_each(&mut Each(blocks.clone().into_iter())));
    println!("{} blocks of {:.1} MB in all", blocks.len(), bytes as f64 / 1e6);
    for (how, took) in [("one after the other", alone), ("together", together)] {
        let seconds = took.as_secs_f64();
        println!("{how:20} {seconds:.3} s  {:5.0} MB/s", bytes as f64 / 1e6 / seconds);
    }
    println!("{:.2} of the time", together.as_secs_f64() / alone.as_secs_f64());
}
