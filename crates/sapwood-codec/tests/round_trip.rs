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

/// Items of so many bytes, divided into planes: rounded numbers, noise, counts, and the same page again and again.
fn pages(width: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 20
    };
    let mut page = |f: &dyn Fn(u64) -> u64| -> Vec<u8> {
        let items: Vec<[u8; 8]> = (0..20_000).map(|_| f(next()).to_le_bytes()).collect();
        (0..width).flat_map(|k| items.iter().map(move |item| item[k])).collect()
    };
    let noise = page(&|x| x ^ (x << 20) ^ (x << 40));
    vec![
        ("rounded", page(&|x| u64::from(((x % 300) as f32 / 16.0).to_bits()))),
        ("counts", page(&|x| x % 12)),
        // incompressible low bytes, in front of others
        ("noisy", page(&|x| (x & 0xffff) | 0x4000_0000)),
        ("again", noise[..2000].repeat(10 * width)),
        ("noise", noise),
    ]
}

/// ROOT reads pages of several blocks, each of which must be smaller than its bytes.
fn assert_blocks_are_smaller(mut blocks: &[u8], what: &str) {
    while let Some((&[_, _, _, c0, c1, c2, u0, u1, u2], _)) = blocks.split_first_chunk::<9>() {
        let number = |bytes: [u8; 3]| bytes.iter().rev().fold(0, |n, b| n << 8 | usize::from(*b));
        let (stored, size) = (9 + number([c0, c1, c2]), number([u0, u1, u2]));
        assert!(stored < size, "{what}: a block of {stored} bytes for {size}");
        blocks = &blocks[stored..];
    }
    assert!(blocks.is_empty(), "{what}");
}

#[test]
fn planes_come_back_with_every_codec_and_are_not_larger() {
    for algorithm in ALGORITHMS {
        for (level, width) in [1, 2, 5].iter().flat_map(|level| [1, 2, 4, 8].map(|width| (*level, width))) {
            let compression = Compression::new(algorithm, level);
            for (name, page) in pages(width) {
                let what = format!("{name}, {width} planes, {compression}");
                let (mut encoder, mut whole, mut planes) = (Encoder::new(), Vec::new(), b"before".to_vec());
                let is_smaller = encoder.compress(&page, compression, &mut whole);
                assert_eq!(encoder.compress_planes(&page, width, compression, &mut planes), is_smaller, "{what}");
                if is_smaller {
                    let mut out = Vec::new();
                    Decoder::new().decompress_vec(&planes[6..], &mut out, page.len()).unwrap();
                    assert!(out == page, "{what}");
                    assert_blocks_are_smaller(&planes[6..], &what);
                    let (planes, whole) = (planes.len() - 6, whole.len());
                    assert!(planes <= whole + whole / 33 + 100, "{what}: {planes} bytes, {whole} whole");
                } else {
                    assert_eq!(planes, b"before", "{what}");
                }
            }
        }
    }
}
