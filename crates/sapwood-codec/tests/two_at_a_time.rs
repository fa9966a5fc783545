//! Chains decompressed together give the same as each alone, whole or damaged.

use proptest::prelude::*;
use sapwood_codec::{Algorithm, Compression, Decoder, DecompressQueue, Encoder};
use sapwood_span::Result as Read;
use std::time::Duration;

fn alone(compressed: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    Decoder::new().decompress_vec(compressed, &mut out, size).map_err(|e| e.to_string())?;
    Ok(out)
}

/// A chain, its size and its number.
type Chain<'a> = (&'a [u8], usize, usize);

/// Returns chains in sequence; now and then none while one is in progress.
struct Given<'a> {
    chains: std::vec::IntoIter<Chain<'a>>,
    hesitates: bool,
    asked: usize,
    done: Vec<Option<Result<Vec<u8>, String>>>,
}

impl<'a> DecompressQueue for Given<'a> {
    type Item = Chain<'a>;

    fn next(&mut self, beside: bool) -> Option<Chain<'a>> {
        self.asked += 1;
        if beside && self.hesitates && !self.asked.is_multiple_of(3) { None } else { self.chains.next() }
    }

    fn done(&mut self, chain: Chain<'a>, bytes: Read<&[u8]>, _: Duration) {
        let before = self.done[chain.2].replace(bytes.map(<[u8]>::to_vec).map_err(|e| e.to_string()));
        assert!(before.is_none(), "chain {} twice", chain.2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn as_alone(
        chains in prop::collection::vec((
            prop::collection::vec((prop::collection::vec(any::<u8>(), 1..24), 1usize..300), 0..60),
            prop::collection::vec(0usize..5, 1..4),
            prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
            -1isize..2,
        ), 0..9),
    ) {
        let algorithms = [Algorithm::Zlib, Algorithm::Zlib, Algorithm::Zlib, Algorithm::Zlib, Algorithm::Lz4];
        let mut packed = vec![Vec::new(); chains.len()];
        let mut sizes = vec![0; chains.len()];
        for ((runs, parts, damage, off), (packed, size)) in
            chains.iter().zip(packed.iter_mut().zip(sizes.iter_mut()))
        {
            let data: Vec<u8> = runs.iter().flat_map(|(piece, times)| piece.repeat(*times)).collect();
            // a block for each part, or none where it is not smaller: such a chain is refused
            for (part, algorithm) in data.chunks(data.len() / parts.len() + 1).zip(parts) {
                let _ = Encoder::new().compress(part, Compression::new(algorithms[*algorithm], 1), packed);
            }
            if let (Some((at, byte)), false) = (damage, packed.is_empty()) {
                let at = at.index(packed.len());
                packed[at] = *byte;
            }
            *size = if damage.is_none() { data.len() } else { data.len().saturating_add_signed(*off) };
        }
        let mut decoder = Decoder::new();
        for hesitates in [false, true] {
            let all: Vec<Chain> = packed.iter().zip(&sizes).enumerate().map(|(i, (p, size))| (&p[..], *size, i)).collect();
            let mut given = Given { chains: all.into_iter(), hesitates, asked: 0, done: vec![None; packed.len()] };
            decoder.decompress_each(&mut given);
            for ((packed, size), done) in packed.iter().zip(&sizes).zip(given.done) {
                prop_assert_eq!(done, Some(alone(packed, *size)));
            }
        }
    }
}
