//! Chains unpacked together give what each gives alone, be they whole or damaged.

use proptest::prelude::*;
use sapwood_codec::{Algorithm, Chain, Compression, Decoder, Encoder};

fn alone(compressed: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    Decoder::new().decompress_vec(compressed, &mut out, size).map_err(|e| e.to_string())?;
    Ok(out)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn as_alone(
        chains in prop::collection::vec((
            prop::collection::vec((prop::collection::vec(any::<u8>(), 1..24), 1usize..300), 0..60),
            0usize..4,
            prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
            -1isize..2,
        ), 0..9),
    ) {
        let algorithms = [Algorithm::Zlib, Algorithm::Zlib, Algorithm::Zlib, Algorithm::Lz4];
        let mut packed = vec![Vec::new(); chains.len()];
        let mut sizes = vec![0; chains.len()];
        for ((runs, algorithm, damage, off), (packed, size)) in
            chains.iter().zip(packed.iter_mut().zip(sizes.iter_mut()))
        {
            let data: Vec<u8> = runs.iter().flat_map(|(piece, times)| piece.repeat(*times)).collect();
            let _ = Encoder::new().compress(&data, Compression::new(algorithms[*algorithm], 1), packed);
            if let (Some((at, byte)), false) = (damage, packed.is_empty()) {
                let at = at.index(packed.len());
                packed[at] = *byte;
            }
            *size = if damage.is_none() { data.len() } else { data.len().saturating_add_signed(*off) };
        }
        let all: Vec<Chain> = packed.iter().zip(sizes).map(|(p, size)| Chain { compressed: p, size }).collect();
        let mut out = vec![1; 5];
        let mut decoder = Decoder::new();
        for _ in 0..2 {
            let done = decoder.decompress_all(&all, &mut out);
            prop_assert_eq!(done.len(), all.len());
            for (chain, done) in all.iter().zip(done) {
                let done = done.map(|place| out[place].to_vec()).map_err(|e| e.to_string());
                prop_assert_eq!(done, alone(chain.compressed, chain.size));
            }
        }
    }
}
