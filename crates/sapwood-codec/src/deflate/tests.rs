use super::code::{LONGEST, codes, lengths};
use super::{BLOCK, Columns, Outcome};
use proptest::prelude::*;
use std::io::Read;

/// Compresses any data; two other decoders must return the same, and the buffer must not be overrun.
fn round_trip(columns: &mut Columns, data: &[u8]) -> usize {
    let room = data.len() + data.len() / 1000 + 100;
    let mut out = vec![0xa5; room + 16];
    let Outcome::Compressed(len) = columns.stream(data, &mut out[..room], false) else {
        panic!("{} bytes", data.len())
    };
    assert!(out[room..].iter().all(|b| *b == 0xa5));
    // Miri cannot call C
    if cfg!(not(miri)) {
        let mut back = vec![0; data.len()];
        let n = libdeflater::Decompressor::new().zlib_decompress(&out[..len], &mut back).unwrap();
        assert!(n == data.len() && back == data, "libdeflate, {} bytes", data.len());
    }
    let mut back = Vec::new();
    flate2::read::ZlibDecoder::new(&out[..len]).read_to_end(&mut back).unwrap();
    assert!(back == data, "flate2, {} bytes", data.len());
    len
}

/// Endless pseudo-random numbers.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Typical columns: constants, counts, rounded floats, offsets that rise, noise, flags, doubles, repeated records.
fn kinds(n: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut noise = Noise(n as u64);
    let mut items = |f: &mut dyn FnMut(u64, usize) -> Vec<u8>| -> Vec<u8> {
        let mut bytes = Vec::with_capacity(n + 8);
        let mut i = 0;
        while bytes.len() < n {
            bytes.extend(f(noise.next(), i));
            i += 1;
        }
        bytes.truncate(n);
        bytes
    };
    let mut offset = 70_u32;
    vec![
        ("constant", items(&mut |_, _| vec![7])),
        ("counts", items(&mut |x, _| ((x % 20) as u32).to_be_bytes().to_vec())),
        ("rounded", items(&mut |x, _| ((x % 300) as f32 / 16.0).to_be_bytes().to_vec())),
        (
            "offsets",
            items(&mut |x, _| {
                offset += 4 * (x % 12) as u32;
                offset.to_be_bytes().to_vec()
            }),
        ),
        ("noise", items(&mut |x, _| x.to_be_bytes().to_vec())),
        ("flags", items(&mut |x, _| vec![u8::from(x % 50 == 0)])),
        ("doubles", items(&mut |x, _| ((x % 4096) as f64 * 0.25).to_be_bytes().to_vec())),
        ("period 7", items(&mut |_, i| vec![(i % 7) as u8])),
        ("period 12", items(&mut |_, i| vec![(i % 12) as u8])),
        (
            "records",
            items(&mut |x, i| if i % 3 == 0 { b"name of a".to_vec() } else { vec![x as u8; (x % 70) as usize] }),
        ),
    ]
}

#[test]
fn every_kind_at_every_edge() {
    let mut columns = Columns::default();
    let edges =
        [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 127, 128, 129, 255, 256, 257, 258, 259];
    let large = [1000, 4095, 4096, 27_001, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK * 3 / 2 - 1, BLOCK * 3 / 2];
    let larger = [BLOCK * 3 / 2 + 1, BLOCK * 2 + 31, BLOCK * 5 / 2, BLOCK * 5 / 2 + 1, BLOCK * 4];
    if cfg!(miri) {
        for n in [0, 33, 300] {
            for (_, data) in kinds(n) {
                round_trip(&mut columns, &data);
            }
        }
        return;
    }
    for n in edges.into_iter().chain(large).chain(larger) {
        for (_, data) in kinds(n) {
            round_trip(&mut columns, &data);
        }
    }
    // every length around where the parts change their sizes
    for n in 240..600 {
        for (_, data) in &kinds(n)[1..4] {
            round_trip(&mut columns, data);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "compares with a C library")]
fn sizes_are_what_the_data_allow() {
    let mut columns = Columns::default();
    let mut out = vec![0; 200_000];
    let mut general = libdeflater::Compressor::new(libdeflater::CompressionLvl::new(1).unwrap());
    for (name, data) in kinds(100_000) {
        let other = general.zlib_compress(&data, &mut out).unwrap();
        let outcome = columns.zlib(&data, &mut out);
        match name {
            "constant" | "flags" | "period 7" | "period 12" => assert_eq!(outcome, Outcome::Unsuited, "{name}"),
            "counts" | "rounded" | "offsets" | "noise" => assert_ne!(outcome, Outcome::Unsuited, "{name}"),
            _ => {}
        }
        if let Outcome::Compressed(len) = outcome {
            assert!(len <= other + other / 10, "{name}: {len} bytes, libdeflate's level 1 has {other}");
        }
    }
    // distant repetitions and short data are left to others
    let mut noise = Noise(1);
    let far: Vec<u8> = (0..500).map(|_| noise.next() as u8).collect::<Vec<u8>>().repeat(100);
    assert_eq!(columns.zlib(&far, &mut out), Outcome::Unsuited);
    assert_eq!(columns.zlib(&kinds(4000)[2].1, &mut out), Outcome::Unsuited);
}

#[test]
fn where_the_room_ends() {
    let mut columns = Columns::default();
    for (name, data) in kinds(if cfg!(miri) { 300 } else { 6000 }) {
        let whole = round_trip(&mut columns, &data);
        for room in (0..whole).step_by(if cfg!(miri) || name == "noise" { 331 } else { 41 }) {
            let mut out = vec![0xa5; room + 16];
            let outcome = columns.stream(&data, &mut out[..room], false);
            assert_eq!(outcome, Outcome::NoRoom, "{name} in {room} of {whole} bytes");
            assert!(out[room..].iter().all(|b| *b == 0xa5));
        }
    }
}

/// Bytes of columns with a change here and there.
fn column() -> impl Strategy<Value = Vec<u8>> {
    let item = prop::collection::vec(any::<u8>(), 1..=12);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40);
    let longest = if cfg!(miri) { 600 } else { 70_000 };
    (prop::collection::vec(item, 1..8), 0_usize..longest, any::<u64>(), changes).prop_map(
        |(items, n, seed, changes)| {
            let mut noise = Noise(seed);
            let mut bytes = Vec::with_capacity(n + 12);
            while bytes.len() < n {
                let x = noise.next();
                let item = &items[(x >> 8) as usize % items.len()];
                bytes.extend_from_slice(item);
                if x.is_multiple_of(5)
                    && let Some(last) = bytes.last_mut()
                {
                    *last = (x >> 16) as u8;
                }
            }
            bytes.truncate(n);
            for (at, byte) in changes {
                if n > 0 {
                    bytes[at.index(n)] = byte;
                }
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 200 }))]

    #[test]
    fn columns_come_back(first in column(), second in column()) {
        let mut columns = Columns::default();
        round_trip(&mut columns, &first);
        let (mut used, mut fresh) = (vec![0; second.len() + 200], vec![0; second.len() + 200]);
        // earlier data leave no trace
        let a = columns.stream(&second, &mut used, false);
        let b = Columns::default().stream(&second, &mut fresh, false);
        prop_assert_eq!(a, b);
        prop_assert!(used == fresh);
        round_trip(&mut columns, &second);
    }

    #[test]
    #[cfg_attr(miri, ignore = "all of it is safe code")]
    fn codes_are_complete(frequencies in prop::collection::vec(0_u32..100_000, 2..286), limit in 9..=LONGEST) {
        check_code(&frequencies, limit);
    }
}

#[test]
#[cfg_attr(miri, ignore = "all of it is safe code")]
fn codes_of_steep_frequencies() {
    let mut steep = vec![1_u32, 1];
    while steep.len() < 40 {
        steep.push(steep[steep.len() - 1].saturating_add(steep[steep.len() - 2]));
    }
    for limit in 7..=LONGEST {
        check_code(&steep, limit);
        check_code(&vec![1; 1 << 7], limit);
    }
    check_code(&[0, 0, 0, 5], 15);
    check_code(&[0, 0, 0, 0], 15);
}

/// A code must be complete, without codes that are too long or a prefix of another; frequent symbols never have longer
/// ones.
fn check_code(frequencies: &[u32], limit: usize) {
    let mut len = vec![0; frequencies.len()];
    lengths(frequencies, limit, &mut len);
    let used: u32 = len.iter().filter(|&&l| l > 0).map(|&l| 1 << (LONGEST - usize::from(l))).sum();
    assert_eq!(used, 1 << LONGEST);
    let mut code = vec![0; len.len()];
    codes(&len, &mut code);
    for (i, &a) in len.iter().enumerate() {
        assert!(usize::from(a) <= limit);
        assert!(a > 0 || frequencies[i] == 0);
        for (j, &b) in len.iter().enumerate().filter(|&(j, &b)| j != i && a > 0 && b >= a) {
            assert!(frequencies[j] <= frequencies[i] || b == a, "{i} and {j}");
            assert_ne!(code[j] & ((1 << a) - 1), code[i], "{i} begins {j}");
        }
    }
}

/// Items of eight bytes as planes: counts, positions that rise, noise, rounded doubles, rare changes.
fn planes(n: usize, width: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut noise = Noise(n as u64);
    let mut items = |f: &mut dyn FnMut(u64) -> u64| -> Vec<u8> {
        let items: Vec<[u8; 8]> = (0..n).map(|_| f(noise.next()).to_le_bytes()).collect();
        (0..width).flat_map(|k| items.iter().map(move |item| item[k])).collect()
    };
    vec![
        ("constant", items(&mut |_| 7)),
        ("counts", items(&mut |x| x % 20)),
        ("noise", items(&mut |x| x)),
        ("rounded", items(&mut |x| ((x % 300) as f64 / 16.0).to_bits())),
        ("rare", items(&mut |x| u64::from(x.is_multiple_of(90)) << (x >> 20 & 40))),
    ]
}

#[test]
fn planes_come_back_and_are_not_larger() {
    let mut columns = Columns::default();
    // Miri cannot call C
    let level = || libdeflater::Compressor::new(libdeflater::CompressionLvl::new(1).unwrap());
    let mut general = cfg!(not(miri)).then(level);
    let lengths = if cfg!(miri) { &[1100][..] } else { &[513, 4096, 27_001, BLOCK, BLOCK * 3 / 2 + 1, BLOCK * 2 + 31] };
    let widths = if cfg!(miri) { &[4][..] } else { &[2, 4, 8] };
    for (&n, &width) in lengths.iter().flat_map(|n| widths.iter().map(move |width| (n, width))) {
        for (name, data) in planes(n, width).into_iter().step_by(if cfg!(miri) { 4 } else { 1 }) {
            if data.len() < super::SHORT {
                continue;
            }
            let room = data.len() + data.len() / 1000 + 100;
            let mut out = vec![0xa5; room + 16];
            let outcome = columns.zlib_planes(&data, width, &mut out[..room]);
            let Outcome::Compressed(len) = outcome else { panic!("{name}, {n} of {width}: {outcome:?}") };
            assert!(out[room..].iter().all(|b| *b == 0xa5));
            let mut back = Vec::new();
            flate2::read::ZlibDecoder::new(&out[..len]).read_to_end(&mut back).unwrap();
            assert!(back == data, "{name}, {n} of {width}");
            for less in (0..len).step_by(if cfg!(miri) { len } else { len / 7 + 1 }) {
                let mut out = vec![0xa5; less + 16];
                assert_eq!(columns.zlib_planes(&data, width, &mut out[..less]), Outcome::NoRoom, "{name}");
                assert!(out[less..].iter().all(|b| *b == 0xa5));
            }
            if let Some(general) = &mut general {
                let mut back = vec![0; data.len()];
                libdeflater::Decompressor::new().zlib_decompress(&out[..len], &mut back).unwrap();
                assert!(back == data, "{name}, {n} of {width}, libdeflate");
                let mut other = vec![0; room];
                let other = general.zlib_compress(&data, &mut other).unwrap();
                assert!(len <= other + other / 20 + 200, "{name}, {n} of {width}: {len} bytes, libdeflate has {other}");
            }
        }
    }
}

#[test]
fn planes_with_distant_repetitions_and_odd_lengths_are_left_to_others() {
    let mut columns = Columns::default();
    let mut out = vec![0; 100_000];
    let mut noise = Noise(1);
    let far: Vec<u8> = (0..500).map(|_| noise.next() as u8).collect::<Vec<u8>>().repeat(128);
    assert_eq!(columns.zlib_planes(&far, 4, &mut out), Outcome::Unsuited);
    assert_eq!(columns.zlib_planes(&planes(10_000, 4)[1].1, 3, &mut out), Outcome::Unsuited);
    assert_eq!(columns.zlib_planes(&planes(1000, 4)[1].1, 4, &mut out), Outcome::Unsuited);
}
