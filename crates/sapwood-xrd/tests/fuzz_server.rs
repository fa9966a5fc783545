//! The server's side: whatever a client sends, no panic, no memory taken for absent data, and requests do not depend on
//! how the input was split. The noise is the same in every run.

use bytes::Bytes;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sapwood_span::Span;
use sapwood_xrd::answer::{frames, page_frames, page_head, range_head, settings, vector_frames};
use sapwood_xrd::code::{error, status};
use sapwood_xrd::frame::{InvalidMessage, Part, ReplyDecoder, encode_reply};
use sapwood_xrd::reply::{LISTING_WITH_STATS, Location, Stat, encode_entry, entries, late, locations};
use sapwood_xrd::{Arrived, CHUNK, Chunk, HEADER, Inbound, Request, encode_pages, greeting};

/// What a server receives when bytes arrive in these pieces.
fn hear(bytes: &[u8], cuts: &[usize]) -> (Vec<Arrived>, Result<(), InvalidMessage>) {
    let (mut inbound, mut out, mut at) = (Inbound::default(), Vec::new(), 0);
    let mut ends: Vec<usize> = cuts.iter().map(|c| c % (bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    for end in ends {
        inbound.received(Bytes::copy_from_slice(&bytes[at..end]));
        at = end;
        loop {
            match inbound.arrived() {
                Ok(Some(arrived)) => out.push(arrived),
                Ok(None) => break,
                Err(e) => return (out, Err(e)),
            }
        }
    }
    (out, Ok(()))
}

fn header(stream: u16, number: u16, fixed: [u8; 16], len: i32) -> Vec<u8> {
    [&stream.to_be_bytes()[..], &number.to_be_bytes(), &fixed, &len.to_be_bytes()].concat()
}

/// An arbitrary request, its length right or wrong.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![4 => 2998u16..3034, 1 => any::<u16>()];
    let len = prop_oneof![8 => Just(None), 1 => any::<i32>().prop_map(Some)];
    let payload = prop::collection::vec(any::<u8>(), 0..100);
    (any::<u16>(), number, any::<[u8; 16]>(), len, payload).prop_map(|(stream, number, fixed, len, payload)| {
        let mut out = header(stream, number, fixed, len.unwrap_or(payload.len() as i32));
        out.extend(payload);
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8000, rng_seed: RngSeed::Fixed(17), ..ProptestConfig::default() })]

    #[test]
    fn noise_is_cut_the_same_however_it_comes(
        requests in prop::collection::vec(request(), 0..6),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        cuts in prop::collection::vec(any::<usize>(), 0..5),
    ) {
        let mut bytes = [&greeting()[..], &requests.concat()].concat();
        if let Some((place, value)) = damage {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        let whole = hear(&bytes, &[]);
        prop_assert_eq!(&whole, &hear(&bytes, &cuts));
        // nothing is received twice, or from nothing
        let heard = whole.0.iter().filter(|a| **a != Arrived::Greeting).count();
        prop_assert!(heard * HEADER <= bytes.len());
        for arrived in &whole.0 {
            if let Arrived::Request(_, Request::ReadV(chunks)) = arrived {
                prop_assert!(chunks.len() * CHUNK < bytes.len());
            }
            if let Arrived::Refused(_, failure) = arrived {
                prop_assert!((3000..3036).contains(&failure.number));
            }
        }
    }

    #[test]
    fn a_listing_comes_back(names in prop::collection::vec("[a-zA-Z0-9 ._é-]{1,12}", 0..20), size in 0u64..1 << 62) {
        let stat = Stat { size, flags: 16, modified: 5, inode: Some(7) };
        for stats in [false, true] {
            let mut body = if stats && !names.is_empty() { LISTING_WITH_STATS.to_vec() } else { Vec::new() };
            for name in &names {
                encode_entry(name.as_bytes(), stats.then_some(&stat), &mut body);
            }
            if let Some(end) = body.last_mut() {
                *end = 0;
            }
            // a listing with stats begins with a dot, so a first name of a dot is ambiguous
            prop_assume!(stats || names.first().is_none_or(|n| n.trim() != "."));
            let back = entries(&body).unwrap();
            prop_assert!(back.iter().map(|e| &e.name).eq(&names));
            prop_assert!(back.iter().all(|e| e.stat == stats.then_some(stat)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, rng_seed: RngSeed::Fixed(17), ..ProptestConfig::default() })]

    /// Frames of any size carry each byte once, in order, and clients can parse them.
    #[test]
    fn frames_bring_everything_once(start in 0u64..100_000, len in 0u64..200_000, most in 1u64..70_000) {
        let span = Span::new(start, len);
        let joined: u64 = frames(span, most).map(|(s, _)| s.len).sum();
        prop_assert_eq!(joined, len);
        let mut at = start;
        for (piece, last) in page_frames(span, most.next_multiple_of(4096)) {
            prop_assert_eq!(piece.start, at);
            at = piece.end();
            let data = encode_pages(piece.start, &vec![7; piece.len as usize]);
            let head = page_head(9, last, piece.start, data.len() as u32);
            let mut input = Bytes::from([&head[..], &data].concat());
            let Ok(Some(Part::Status(status))) = ReplyDecoder::default().next(&mut input) else {
                panic!("not understood");
            };
            prop_assert_eq!((status.stream, status.kind, status.len as usize), (9, u8::from(!last), data.len()));
            prop_assert_eq!(status.info, piece.start.to_be_bytes());
        }
        prop_assert_eq!(at, start + len);
    }

    #[test]
    fn vectors_are_never_cut_within_a_range(lens in prop::collection::vec(0u32..3000, 1..50), most in 0usize..9000) {
        let chunks: Vec<Chunk> =
            lens.iter().enumerate().map(|(i, &len)| Chunk { handle: [1; 4], offset: i as u64, len }).collect();
        let plan = vector_frames(&chunks, most);
        prop_assert!(plan.iter().flat_map(Clone::clone).eq(0..chunks.len()));
        for frame in plan {
            let size: usize = chunks[frame.clone()].iter().map(|c| CHUNK + c.len as usize).sum();
            prop_assert!(frame.len() == 1 || size <= most);
        }
    }
}

#[test]
fn single_answers_come_back() {
    for (manager, pending) in [(false, false), (true, false), (false, true), (true, true)] {
        let location = Location { address: "[::1]:1094".into(), manager, pending };
        assert_eq!(locations(&location.encode()).unwrap(), [location]);
    }
    let chunk = Chunk { handle: [1, 2, 3, 4], offset: 5, len: 6 };
    assert_eq!(range_head(&chunk), [1, 2, 3, 4, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 5]);
    assert!(settings("", "v").is_empty());
    let mut inner = Vec::new();
    encode_reply(7, status::OK, b"body", &mut inner);
    let late = late(7, status::OK, b"body");
    assert_eq!((&late[..4], &late[8..]), (&5008u32.to_be_bytes()[..], &inner[..]));
    let (heard, end) = hear(b"GET / HTTP/1.1\r\n", &[]);
    assert!(heard.is_empty() && end.is_err());
    let write = [&greeting()[..], &header(1, 3019, [0; 16], 0)].concat();
    let (heard, _) = hear(&write, &[]);
    assert!(matches!(&heard[1], Arrived::Refused(1, f) if f.number == error::READ_ONLY));
}
