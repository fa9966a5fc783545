use super::{Lane, OUT_ROOM, Pair};
use crate::adler::adler32;
use peer::{judge, pack};
use proptest::prelude::*;

/// libdeflate, which creates the streams and decides which are valid.
#[cfg(not(miri))]
mod peer {
    use libdeflater::{CompressionLvl, Compressor, Decompressor};

    pub(super) fn pack(data: &[u8], level: i32) -> Vec<u8> {
        let mut c = Compressor::new(CompressionLvl::new(level).unwrap());
        let mut out = vec![0; c.zlib_compress_bound(data.len())];
        let n = c.zlib_compress(data, &mut out).unwrap();
        out.truncate(n);
        out
    }

    pub(super) fn judge(input: &[u8], size: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; size];
        let n = Decompressor::new().zlib_decompress(input, &mut out).ok()?;
        (n == size).then_some(out)
    }
}

/// Miri cannot call C: a library in Rust does the same there.
#[cfg(miri)]
mod peer {
    use std::io::{Read, Write};

    pub(super) fn pack(data: &[u8], level: i32) -> Vec<u8> {
        let level = flate2::Compression::new(level.clamp(0, 9) as u32);
        let mut to = flate2::write::ZlibEncoder::new(Vec::new(), level);
        to.write_all(data).unwrap();
        to.finish().unwrap()
    }

    pub(super) fn judge(input: &[u8], size: usize) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        flate2::read::ZlibDecoder::new(input).take(size as u64 + 1).read_to_end(&mut out).ok()?;
        (out.len() == size).then_some(out)
    }
}

/// A number of bytes or of cases: a hundredth under Miri, which is slower by more than that.
const fn scaled(n: usize) -> usize {
    if cfg!(miri) { n.div_ceil(100) } else { n }
}

fn all(streams: &[(&[u8], usize)]) -> Vec<Option<Vec<u8>>> {
    let mut queue = streams
        .iter()
        .enumerate()
        .map(|(i, &(input, size))| Lane::new((input, size, i), (0..input.len(), size), vec![0xa5; size + OUT_ROOM]));
    let mut outs = vec![None; streams.len()];
    let (mut pair, mut lanes) = (Pair::new(), [None, None]);
    loop {
        for lane in &mut lanes {
            *lane = lane.take().or_else(|| queue.next());
        }
        if lanes.iter().all(Option::is_none) {
            return outs;
        }
        pair.advance(&mut lanes);
        for lane in &mut lanes {
            if let Some(ended) = lane.take_if(|lane| !lane.is_active())
                && ended.is_right()
            {
                outs[ended.item.2] = Some(ended.out[..ended.item.1].to_vec());
            }
        }
    }
}

fn both(a: (&[u8], usize), b: (&[u8], usize)) -> [Option<Vec<u8>>; 2] {
    all(&[a, b]).try_into().unwrap()
}

/// Deterministic noise.
fn noise(seed: u64) -> impl FnMut() -> u32 {
    let mut x = seed | 1;
    move || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) as u32
    }
}

/// Each byte half as frequent as the one before: the longest codes there are.
fn skewed(length: usize) -> Vec<u8> {
    let mut next = noise(7);
    (0..length).map(|_| (next() | 1 << 24).trailing_zeros() as u8 * 9 + (next() % 3) as u8).collect()
}

/// Big-endian floats that differ a little, as baskets hold them.
fn floats(length: usize) -> Vec<u8> {
    let mut next = noise(3);
    (0..length / 4).flat_map(|_| ((1000 + next() % 4096) as f32 / 16.0).to_be_bytes()).collect()
}

fn periodic(period: usize, length: usize) -> Vec<u8> {
    let mut next = noise(period as u64);
    let piece: Vec<u8> = (0..period).map(|_| next() as u8).collect();
    piece.iter().copied().cycle().take(length).collect()
}

#[test]
fn streams_of_every_kind_are_unpacked_here() {
    let s = scaled;
    let mut kinds = vec![Vec::new(), vec![1], vec![0; s(100_000)], skewed(s(200_000)), floats(s(70_000))];
    let periods = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 255, 258, 259];
    kinds.extend(periods.map(|p| periodic(p, 3 * p + s(1000))));
    if !cfg!(miri) {
        kinds.push(floats(1 << 20));
        kinds.extend([32_768, 32_769].map(|p| periodic(p, 3 * p + 1000)));
    }
    kinds.push(skewed(s(90_000)).into_iter().chain(periodic(s(70_000), s(70_000))).chain(floats(s(90_000))).collect());
    for level in if cfg!(miri) { vec![1, 6] } else { vec![0, 1, 6, 12] } {
        let packed: Vec<Vec<u8>> = kinds.iter().map(|k| pack(k, level)).collect();
        for (i, (data, input)) in kinds.iter().zip(&packed).enumerate() {
            let j = (i * 7 + 3) % kinds.len();
            let [x, y] = both((input, data.len()), (&packed[j], kinds[j].len()));
            assert!(x.as_ref() == Some(data), "kind {i} beside {j} at level {level}");
            assert!(y.as_ref() == Some(&kinds[j]), "kind {j} beside {i} at level {level}");
        }
    }
}

#[test]
fn as_many_as_there_are() {
    let data = |i: usize| if i.is_multiple_of(3) { skewed(scaled(i * 1700)) } else { floats(scaled(i * 900)) };
    let most = if cfg!(miri) { 4 } else { 40 };
    let datas: Vec<Vec<u8>> = (0..most).map(data).collect();
    let packed: Vec<Vec<u8>> = datas.iter().enumerate().map(|(i, d)| pack(d, i as i32 % 13)).collect();
    for n in [0, 1, 2, 3, most] {
        let mut streams: Vec<(&[u8], usize)> =
            packed.iter().zip(&datas).map(|(p, d)| (&p[..], d.len())).take(n).collect();
        // damaged ones among them
        streams.iter_mut().skip(1).step_by(5).for_each(|(input, _)| *input = &input[..input.len() / 2]);
        for (i, out) in all(&streams).into_iter().enumerate() {
            assert!(out.as_ref() == (i % 5 != 1).then_some(&datas[i]), "stream {i} of {n}");
        }
    }
}

#[test]
fn every_length_up_to_a_few_steps_of_the_loop() {
    let (f, p) = (floats(700), periodic(5, 700));
    for n in (0..700).step_by(if cfg!(miri) { 101 } else { 1 }) {
        let (x, y) = (&f[..f.len().min(n)], &p[..n]);
        let (a, b) = (pack(x, 1), pack(y, 9));
        assert_eq!(both((&a, x.len()), (&b, n)), [Some(x.to_vec()), Some(y.to_vec())], "{n} bytes");
    }
}

#[test]
fn a_stream_of_another_size_or_sum_is_refused() {
    let data = floats(scaled(40_000));
    let good = pack(&data, 1);
    let mut bad = good.clone();
    *bad.last_mut().unwrap() ^= 1;
    let [x, y] = both((&good, data.len() - 1), (&bad, data.len()));
    assert!(x.is_none() && y.is_none());
    let [x, y] = both((&good, data.len() + 1), (&good[..good.len() - 5], data.len()));
    assert!(x.is_none() && y.is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 6 } else { 96 }))]

    /// Damage: accepted streams are those that libdeflate accepts too, and the other stream is not harmed.
    #[test]
    fn damage_is_never_taken_for_data(
        kind in 0usize..4,
        length in 1usize..scaled(60_000),
        level in 0i32..10,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        off in -2isize..3,
    ) {
        let data = match kind { 0 => skewed(length), 1 => floats(length), 2 => periodic(length % 300 + 1, length), _ => vec![0; length] };
        let mut input = pack(&data, level);
        let sound = input.clone();
        for (at, byte) in changes {
            let at = at.index(input.len());
            input[at] = byte;
        }
        if let Some(cut) = cut {
            input.truncate(cut.index(input.len()));
        }
        let size = data.len().saturating_add_signed(off);
        let [x, y] = both((&input, size), (&sound, data.len()));
        if x.is_some() {
            prop_assert_eq!(x, judge(&input, size));
        }
        prop_assert_eq!(y, Some(data));
    }

    /// Streams of noise, with valid zlib headers: neither a panic nor a byte beyond the buffers.
    #[test]
    fn noise_is_refused(block in 0u8..8, a in prop::collection::vec(any::<u8>(), 0..scaled(3000)), size in 0usize..9000) {
        let mut input = vec![0x78, 0x01, block];
        input.extend(a);
        let [x, y] = both((&input, size), (&input[..input.len() / 2], size / 2));
        prop_assert!(x.is_none_or(|x| judge(&input, size) == Some(x)));
        prop_assert!(y.is_none_or(|y| judge(&input[..input.len() / 2], size / 2) == Some(y)));
    }
}

/// Bits of a block in the fixed code, its first 1 marking the last block: `a`, three bytes from three before, the end.
const REACHES_BACK: &str = "1 10 10010001 0000001 00010 0000000";

#[test]
fn a_block_does_not_reach_into_the_one_before() {
    let before = floats(scaled(4000));
    let first = pack(&before, 1);
    let mut second = vec![0x78, 0x01, 0, 0, 0, 0];
    for (i, _) in REACHES_BACK.bytes().filter(|b| *b != b' ').enumerate().filter(|(_, b)| *b == b'1') {
        second[2 + i / 8] |= 1 << (i % 8);
    }
    // the checksum of what it would decompress to
    let [.., y, z] = before[..] else { unreachable!() };
    second.extend(adler32(&[b'a', y, z, b'a']).to_be_bytes());
    assert_eq!(judge(&second, 4), None);
    // bytes after it, or none: with the fast loop, and without
    for behind in [64, 0] {
        let chain = [&first[..], &second, &vec![0; behind]].concat();
        let item = (&chain[..], before.len() + 4, ());
        let mut lanes = [Some(Lane::new(item, (0..first.len(), before.len()), Vec::new())), None];
        let mut pair = Pair::new();
        for next in [Some((first.len()..chain.len(), 4)), None] {
            while lanes[0].as_ref().is_some_and(Lane::is_active) {
                pair.advance(&mut lanes);
            }
            let lane = lanes[0].as_mut().unwrap();
            assert_eq!(lane.is_right(), next.is_some(), "{behind} bytes behind");
            next.into_iter().for_each(|block| lane.go_on(block));
        }
    }
}
