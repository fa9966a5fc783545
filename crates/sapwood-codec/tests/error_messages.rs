//! Messages about damaged blocks: the same plain words for every codec, none from a C library.

use sapwood_codec::{Decoder, Encoder};

const SIZE: usize = 5000;

fn data() -> Vec<u8> {
    (0..SIZE as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 28) as u8).collect()
}

/// The data as one block, and the length of the headers before the codec's own bytes.
fn packed(compression: &str) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    assert!(Encoder::new().compress(&data(), compression.parse().unwrap(), &mut out), "{compression}");
    (out, 9)
}

fn failure(chain: &[u8], size: usize) -> String {
    Decoder::new().decompress_vec(chain, &mut Vec::new(), size).unwrap_err().to_string()
}

#[test]
fn invalid_data_are_named_alike_for_all_codecs() {
    for (compression, codec) in [("zlib:1", "zlib"), ("lzma:1", "xz"), ("zstd:1", "zstd")] {
        let (chain, header) = packed(compression);
        let said = format!("{codec} block at offset 0: invalid compressed data");
        // the middle of the stream, its first bytes, and its last ones
        for at in [chain.len() / 2, header, chain.len() - 3] {
            let mut bad = chain.clone();
            bad[at..at + 3].iter_mut().for_each(|b| *b ^= 0x55);
            let mut out = Vec::new();
            if Decoder::new().decompress_vec(&bad, &mut out, SIZE).is_ok() {
                // zstd has no checksum here: some changes give other valid data
                assert_eq!(codec, "zstd", "byte {at}");
                continue;
            }
            assert_eq!(failure(&bad, SIZE), said, "byte {at}");
        }
        // truncated in the middle of the stream
        let mut short = chain[..chain.len() / 2].to_vec();
        let left = short.len() - header;
        short[3..6].copy_from_slice(&(left as u32).to_le_bytes()[..3]);
        assert_eq!(failure(&short, SIZE), said);
    }
}

#[test]
fn a_wrong_size_is_named() {
    for (compression, codec) in [("zlib:1", "zlib"), ("lzma:1", "xz"), ("lz4:1", "LZ4"), ("zstd:1", "zstd")] {
        let (chain, _) = packed(compression);
        for (claimed, said) in [
            (SIZE - 1, "it decompresses to more than the 4999 bytes it claims".to_owned()),
            (SIZE + 1, format!("it decompresses to {SIZE} bytes, not the 5001 it claims")),
        ] {
            let mut bad = chain.clone();
            bad[6..9].copy_from_slice(&(claimed as u32).to_le_bytes()[..3]);
            let said = match codec {
                // its decoder cannot distinguish this from other damage
                "LZ4" if claimed < SIZE => "invalid compressed data".to_owned(),
                _ => said,
            };
            assert_eq!(failure(&bad, claimed), format!("{codec} block at offset 0: {said}"));
        }
    }
}
