//! Rules that hold for any requests, and for any damaged header.

mod common;

use common::budget_holds;
use proptest::prelude::*;
use sapwood_prefetch::{BasketMap, BranchBaskets, FileMap, Memory, Reader, RequestedSpan, TreeAt};
use sapwood_span::Span;
use std::sync::Arc;

/// A branch's counter, and the first entry, the offset and the length of its baskets.
type Listed = (u8, Vec<(u64, u64, u64)>);

/// A few branches with baskets anywhere, also outside of the file and overlapping.
fn trees() -> impl Strategy<Value = Vec<Listed>> {
    let basket = (0..2000u64, prop_oneof![0..3_000_000u64, Just(u64::MAX - 5)], 0..40_000u64);
    prop::collection::vec((0..9u8, prop::collection::vec(basket, 0..60)), 0..9)
}

proptest! {
    #[test]
    fn budgets_hold_and_nothing_is_fetched_twice(
        branches in trees(),
        reads in prop::collection::vec((any::<prop::sample::Index>(), 0..3_000_000u64, 0..200_000u64, 0..4u8), 1..300),
        most in prop_oneof![Just(0u64), 0..3_000_000u64],
        remembered in prop::collection::vec(0..12u32, 0..6),
    ) {
        let size = 2_900_000;
        let list = branches.iter().map(|(counter, baskets)| BranchBaskets {
            path: ["a", "M_x", "M_y", "E_x"][usize::from(*counter % 4)],
            counter: Some(usize::from(*counter)),
            baskets: baskets.iter().map(|&(e, s, n)| (e, Span::new(s, n))).collect(),
        });
        let map = Arc::new(BasketMap::new("t", 2000, list).unwrap());
        let mut memory = Memory::default();
        memory.remember(map.structure(), remembered);
        let file = FileMap { size, trees: vec![TreeAt { header: Span::new(100, 50), baskets: map }] };
        let spans: Vec<Span> = branches.iter().flat_map(|b| b.1.iter().map(|&(_, s, n)| Span::new(s, n))).collect();
        let mut reader = Reader::new(most);
        let mut held: Vec<Span> = Vec::new();
        for (index, start, len, kind) in reads {
            let asked = match kind {
                0 => vec![Span::new(start, len)],
                1 if !spans.is_empty() => spans.iter().copied().skip(index.index(spans.len())).take(5).collect(),
                _ if !spans.is_empty() => vec![*index.get(&spans)],
                _ => vec![Span::new(start, len)],
            };
            let is_held = |span: Span| held.iter().any(|h| h.contains(span));
            let request: Vec<RequestedSpan> =
                asked.iter().map(|&span| RequestedSpan { span, held: if is_held(span) { span.len } else { 0 } }).collect();
            let ahead = reader.on_request(&request, &file, &is_held, &memory);
            held.extend(asked);
            for span in ahead {
                prop_assert!(span.len > 0 && span.end() <= size, "{span}");
                prop_assert!(!held.iter().any(|h| h.contains(span)), "{span} again");
                held.push(span);
            }
            let s = reader.stats();
            prop_assert!(s.ahead <= most);
            prop_assert!(budget_holds(&s), "{s:?}");
        }
        reader.remember(&mut memory);
    }
}
