//! Blocks compressed by ROOT 6.40 itself (`R__zipMultipleAlgorithm`), one per codec.

use sapwood_codec::Decoder;
use sapwood_span::ErrorKind;

const ROOT_MADE: [(&str, &str); 6] = [
    ("ZL", "5a4c08130000800000789c2b4e2c28cfcf4f51281e201a00a02431d1"),
    (
        "XZ",
        "585a004c0000800000fd377a585a0000016922de360200210100000000372797d6e0007f000e5d0039984a68607af0e9c08178f800\
         000000001084ddae000126800100000001e5fa1b3e300d8b020000000001595a",
    ),
    ("CS", "4353080d00008000002b4e2c28cfcf4f51281e201a00"),
    ("L4", "4c34011a000080000064cabd619b15836a8f736170776f6f642008006050776f6f6420"),
    ("ZS", "5a530118000080000028b52ffd20807d000040736170776f6f642001007569e102"),
    (
        "ZL of two blocks",
        "5a4c08130000800000789c2b4e2c28cfcf4f51281e201a00a02431d15a4c08130000800000789c2b4e2c28cfcf4f51281e201a00a02431d1",
    ),
];

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter_map(|b| (b as char).to_digit(16).map(|d| d as u8)).collect();
    digits.chunks_exact(2).map(|p| p[0] << 4 | p[1]).collect()
}

#[test]
fn every_codec_of_root() {
    let mut decoder = Decoder::new();
    let mut vec = Vec::new();
    for (name, hex) in ROOT_MADE {
        let wanted = b"sapwood ".repeat(if name.contains("two") { 32 } else { 16 });
        let mut out = vec![0; wanted.len()];
        decoder.decompress(&bytes(hex), &mut out).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(out, wanted, "{name}");
        decoder.decompress_vec(&bytes(hex), &mut vec, wanted.len()).unwrap();
        assert_eq!(vec, wanted, "{name}");
    }
}

#[test]
fn every_flipped_bit_of_a_checked_payload_is_refused_or_harmless() {
    // The two codecs with a checksum over their data never return a wrong value.
    let mut decoder = Decoder::new();
    let wanted = b"sapwood ".repeat(16);
    for (name, hex) in ROOT_MADE.iter().filter(|(n, _)| matches!(*n, "ZL" | "XZ" | "L4")) {
        let good = bytes(hex);
        for bit in 9 * 8..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let mut out = vec![0; wanted.len()];
            match decoder.decompress(&bad, &mut out) {
                Ok(()) => assert_eq!(out, wanted, "{name} bit {bit}"),
                Err(e) => assert_eq!(e.kind(), ErrorKind::Corrupt),
            }
        }
    }
}

#[test]
fn errors_say_what_and_where() {
    let mut decoder = Decoder::new();
    let zl = bytes(ROOT_MADE[0].1);
    let mut fail = |data: &[u8], size: usize| {
        let e = decoder.decompress(data, &mut vec![0; size]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Corrupt);
        let v = decoder.decompress_vec(data, &mut Vec::new(), size).unwrap_err();
        assert_eq!(v.kind(), ErrorKind::Corrupt);
        e.to_string()
    };
    assert_eq!(fail(&zl, 200), "compressed data end at offset 28 of 28 with 72 decompressed bytes missing");
    assert_eq!(fail(&zl, 100), "zlib block at offset 0 decompresses to 128 bytes, but only 100 are expected");
    assert_eq!(fail(&zl[..20], 128), "zlib block at offset 0 claims 19 bytes, but only 11 are left");
    assert_eq!(fail(b"PK\x03\x04 is not it", 128), "no compressed block at offset 0: its tag is \"PK\"");
    assert_eq!(
        fail(b"ZL\x08\x00\x00\x00\xff\xff\xff", 0xff_ffff),
        "zlib block at offset 0 claims to decompress 0 bytes to 16777215, which is impossible"
    );
    let mut l4 = bytes(ROOT_MADE[3].1);
    l4[20] ^= 1;
    assert!(fail(&l4, 128).starts_with("LZ4 block at offset 0: its checksum is "));
    let mut two = bytes(ROOT_MADE[5].1);
    two[40] ^= 1;
    assert!(fail(&two, 256).starts_with("zlib block at offset 28: "));
}

#[test]
fn bytes_behind_the_last_block_are_ignored_as_root_does() {
    let mut data = bytes(ROOT_MADE[4].1);
    data.extend_from_slice(b"left over");
    let mut out = vec![0; 128];
    Decoder::new().decompress(&data, &mut out).unwrap();
    assert_eq!(out, b"sapwood ".repeat(16));
}

#[test]
fn a_decoder_can_move_to_another_thread() {
    fn send<T: Send>() {}
    send::<Decoder>();
    send::<sapwood_codec::Encoder>();
}
