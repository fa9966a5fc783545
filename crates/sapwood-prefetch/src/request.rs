//! The baskets in a request.

use crate::map::{Basket, BasketMap};
use sapwood_span::Span;

/// A request with more baskets is treated as plain bytes: no reader selects so many. In a damaged file any number of them may be at one place.
const MOST_BASKETS: usize = 1 << 16;

/// The baskets in a request.
#[derive(Default)]
pub(crate) struct Request {
    /// None when most of its bytes are not baskets.
    pub(crate) baskets: Vec<Basket>,
    /// Others in the same spans: a client that joins spans may have no use for the baskets between those it wants.
    pub(crate) between: Vec<Basket>,
}

impl Request {
    /// The baskets of a map in the spans that a client requests.
    pub(crate) fn new(map: &BasketMap, spans: &[Span]) -> Self {
        let mut out = Self::default();
        let (mut requested, mut known, mut looks) = (0u64, 0u64, MOST_BASKETS);
        for &span in spans {
            requested = requested.saturating_add(span.len);
            let Some(left) = looks.checked_sub(map.beginning_in(span)) else { return Self::default() };
            looks = left;
            let within: Vec<Basket> = map.within(span).collect();
            known += within.iter().filter_map(|basket| map.span(*basket)).map(|s| s.len).sum::<u64>();
            match within[..] {
                [first, ref between @ .., last] if !between.is_empty() => {
                    // several pages of a column are next to each other
                    let is_named = |basket: &&Basket| [first.branch, last.branch].contains(&basket.branch);
                    out.baskets.extend([first, last]);
                    out.baskets.extend(between.iter().filter(is_named));
                    out.between.extend(between.iter().filter(|basket| !is_named(basket)));
                }
                _ => out.baskets.extend(within),
            }
        }
        if known < requested / 2 { Self::default() } else { out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::BranchBaskets;

    #[test]
    fn what_lies_between_is_not_asked_for_by_name() {
        let baskets = |at: u64| vec![(0, Span::new(at, 10)), (5, Span::new(at + 100, 10))];
        let branches = [0, 10, 20, 30].map(|at| BranchBaskets { path: "x", counter: None, baskets: baskets(at) });
        let map = BasketMap::new("t", 10, branches).unwrap();
        let requested = |start, len| {
            let request = Request::new(&map, &[Span::new(start, len)]);
            let branches = |baskets: &[Basket]| baskets.iter().map(|b| b.branch).collect::<Vec<_>>();
            (branches(&request.baskets), branches(&request.between))
        };
        assert_eq!(requested(10, 10), (vec![1], vec![]));
        assert_eq!(requested(0, 20), (vec![0, 1], vec![]));
        assert_eq!(requested(0, 40), (vec![0, 3], vec![1, 2]));
        assert_eq!(requested(20, 90), (vec![], vec![]), "most of it is no basket");
        let same = vec![(0, Span::new(100, 10)); MOST_BASKETS / 2];
        let map = BasketMap::new("t", 5, [BranchBaskets { path: "x", counter: None, baskets: same }]).unwrap();
        let request = |ranges| Request::new(&map, &vec![Span::new(100, 10); ranges]);
        assert_eq!((request(1).baskets.len(), request(2).baskets.len(), request(3).baskets.len()), (32768, 65536, 0));
        let pages = (0..5).map(|n| (n, Span::new(10 * n, 10))).collect();
        let map = BasketMap::new("t", 5, [BranchBaskets { path: "x", counter: None, baskets: pages }]).unwrap();
        let request = Request::new(&map, &[Span::new(10, 30)]);
        assert_eq!((request.baskets.len(), request.between.len()), (3, 0), "consecutive pages of a column");
    }
}
