//! Compressed data decompress to the same, and damage never panics.

use proptest::prelude::*;
use sapwood_codec::{Algorithm, Compression, Decoder, Encoder};

const ALGORITHMS: [Algorithm; 4] = [Algorithm::Zlib, Algorithm::Lzma, Algorithm::Lz4, Algorithm::Zstd];

/// Bytes with runs and repeats, as in baskets.
fn compressible() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec((prop::collection::vec(any::<u8>(), 1..24), 1usize..40), 0..40)
        .prop_map(|runs| runs.into_iter().flat_map(|(piece, times)| piece.repeat(times)).collect())
}

fn any_compression() -> impl Strategy<Value = Compression> {
    (0usize..4, 1u8..=9).prop_map(|(a, level)| Compression::new(ALGORITHMS[a], level))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn round_trip(data in compressible(), compression in any_compression()) {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        let mut packed = b"before".to_vec();
        if encoder.compress(&data, compression, &mut packed) {
            prop_assert!(packed.len() < data.len() + 6);
            let mut out = vec![0xaa; 3];
            decoder.decompress_vec(&packed[6..], &mut out, data.len()).unwrap();
            prop_assert_eq!(out, data);
        } else {
            prop_assert_eq!(packed, b"before".to_vec());
        }
    }

    #[test]
    fn damage_never_panics(
        data in compressible(),
        compression in any_compression(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        size in 0usize..100_000,
    ) {
        let mut packed = Vec::new();
        if Encoder::new().compress(&data, compression, &mut packed) {
            for (at, byte) in changes {
                let at = at.index(packed.len());
                packed[at] = byte;
            }
            let mut decoder = Decoder::new();
            let _ = decoder.decompress(&packed, &mut vec![0; data.len()]);
            let _ = decoder.decompress_vec(&packed[..cut.index(packed.len())], &mut Vec::new(), data.len());
            let _ = decoder.decompress_vec(&packed, &mut Vec::new(), size);
        }
    }

    #[test]
    fn noise_never_panics(tag in 0usize..5, method in any::<u8>(), noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut data = [b"ZL", b"XZ", b"CS", b"L4", b"ZS"][tag].to_vec();
        data.extend([method, noise.len() as u8, 0, 0, 0, 2, 0]);
        data.extend(&noise);
        let _ = Decoder::new().decompress(&data, &mut [0; 512]);
        let _ = Decoder::new().decompress(&noise, &mut [0; 512]);
    }
}

#[test]
fn more_than_one_block() {
    let data: Vec<u8> = (0..0xff_ffff_u32 + 1000).map(|i| (i >> 10) as u8).collect();
    for algorithm in [Algorithm::Zlib, Algorithm::Lz4, Algorithm::Zstd] {
        let (mut packed, mut out) = (Vec::new(), Vec::new());
        assert!(Encoder::new().compress(&data, Compression::new(algorithm, 1), &mut packed));
        Decoder::new().decompress_vec(&packed, &mut out, data.len()).unwrap();
        assert!(out == data, "{algorithm:?}");
        assert!(Decoder::new().decompress_vec(&packed, &mut out, data.len() + 1).is_err());
        assert!(out.is_empty());
    }
}

#[test]
fn what_does_not_shrink_stays_raw() {
    let noise: Vec<u8> =
        (0..4000u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_mul(i | 1) >> 40) as u8).collect();
    let mut out = Vec::new();
    for algorithm in ALGORITHMS {
        for data in [&noise[..], &noise[..1], &[]] {
            assert!(!Encoder::new().compress(data, Compression::new(algorithm, 9), &mut out), "{algorithm:?}");
        }
    }
    assert!(!Encoder::new().compress(&[0; 4000], Compression::NONE, &mut out));
    assert!(out.is_empty());
}

#[test]
fn one_encoder_for_all_levels() {
    let data = b"sapwood carries what the roots take up to the leaves ".repeat(50);
    let (mut encoder, mut decoder, mut out) = (Encoder::new(), Decoder::new(), Vec::new());
    for level in [9, 1, 5, 1] {
        for algorithm in ALGORITHMS {
            let mut packed = Vec::new();
            assert!(encoder.compress(&data, Compression::new(algorithm, level), &mut packed));
            decoder.decompress_vec(&packed, &mut out, data.len()).unwrap();
            assert_eq!(out, data);
        }
    }
}
