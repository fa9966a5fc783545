//! What goes into the next request to the origin, of all that waits to be fetched.

use crate::pieces::{AHEAD_AT_ONCE, LONGEST_FETCH, SHORT};
use sapwood_span::Span;
use std::collections::VecDeque;

/// Ranges in one request at most, where several were waiting.
const MOST_RANGES: usize = 256;
/// While fewer requests than this are under way, pieces fetched ahead over XRootD are requested one by one; otherwise they are joined.
const FEW: usize = 6;

/// What is fetched for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A client waits for it.
    Read,
    /// A client waits for it and for more: it is fetched by itself.
    Part,
    /// No client has asked for it.
    Ahead,
}

impl Purpose {
    /// Whether a client waits.
    pub fn is_urgent(self) -> bool {
        self != Self::Ahead
    }
}

/// Spans that wait to be fetched together.
pub trait Queued {
    /// The spans.
    fn spans(&self) -> &[Span];
    /// What they are fetched for.
    fn purpose(&self) -> Purpose;
}

/// Takes what the next request includes, in the order of the queue: what clients wait for comes before what is fetched ahead. `under_way`:
/// requests that are. Over XRootD nothing more is fetched ahead while [`AHEAD_AT_ONCE`] are.
///
/// What a request brings is handed on when all of it is there. Over XRootD, where requests follow one another without a pause, the
/// pieces of what is fetched ahead come one by one, the first ones soon.
pub fn next_request<T: Queued>(queue: &mut VecDeque<T>, is_http: bool, under_way: usize) -> Vec<T> {
    let is_urgent = queue.iter().any(|queued| queued.purpose().is_urgent());
    if !is_urgent && !is_http && under_way >= AHEAD_AT_ONCE {
        return Vec::new();
    }
    let enough = if is_urgent || is_http || under_way >= FEW { LONGEST_FETCH } else { SHORT };
    let (mut out, mut bytes, mut ranges, mut is_part) = (Vec::new(), 0, 0, false);
    while let Some(at) = queue.iter().position(|queued| queued.purpose().is_urgent() == is_urgent) {
        let is_enough = bytes >= enough;
        if let Some(next) = queue.get(at) {
            bytes += next.spans().iter().map(|span| span.len).sum::<u64>();
            ranges += next.spans().len();
            is_part |= next.purpose() == Purpose::Part;
        }
        // the first one is always included
        if !out.is_empty() && (is_part || is_enough || bytes > LONGEST_FETCH || ranges > MOST_RANGES) {
            break;
        }
        out.extend(queue.remove(at));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Waiting(Purpose, Vec<Span>);

    impl Queued for Waiting {
        fn spans(&self) -> &[Span] {
            &self.1
        }

        fn purpose(&self) -> Purpose {
            self.0
        }
    }

    /// The first byte of each, request by request, with so many requests under way.
    fn requests_beside(queue: &[(Purpose, u64, u64)], is_http: bool, under_way: usize) -> Vec<Vec<u64>> {
        let waiting = |&(purpose, start, len): &_| Waiting(purpose, vec![Span::new(start, len)]);
        let mut queue: VecDeque<Waiting> = queue.iter().map(waiting).collect();
        let next = || Some(next_request(&mut queue, is_http, under_way)).filter(|taken| !taken.is_empty());
        let starts = |taken: Vec<Waiting>| taken.iter().map(|waiting| waiting.1[0].start).collect();
        std::iter::from_fn(next).map(starts).collect()
    }

    fn requests(queue: &[(Purpose, u64, u64)]) -> Vec<Vec<u64>> {
        requests_beside(queue, false, 0)
    }

    #[test]
    fn what_clients_wait_for_comes_first_and_parts_are_alone() {
        use Purpose::{Ahead, Part, Read};
        let queue = [(Ahead, 0, 10), (Read, 10, 10), (Part, 20, 10), (Read, 30, 10), (Ahead, 40, 10), (Read, 50, 10)];
        assert_eq!(requests(&queue), [vec![10], vec![20], vec![30, 50], vec![0, 40]]);
    }

    #[test]
    fn requests_are_bounded() {
        let half = LONGEST_FETCH / 2;
        let long = [(Purpose::Read, 0, half), (Purpose::Read, half, half), (Purpose::Read, 2 * half, 1)];
        assert_eq!(requests(&long), [vec![0, half], vec![2 * half]]);
        assert_eq!(requests(&[(Purpose::Ahead, 7, 3 * LONGEST_FETCH)]), [[7]], "one at least");
        let many: Vec<_> = (0..300).map(|i| (Purpose::Ahead, i, 1)).collect();
        assert_eq!(requests(&many).iter().map(Vec::len).collect::<Vec<_>>(), [256, 44]);
    }

    #[test]
    fn over_xrootd_pieces_fetched_ahead_come_one_by_one_while_few_are_under_way() {
        use Purpose::{Ahead, Read};
        let ahead = [(0, SHORT / 2), (1, SHORT / 2), (2, 2 * SHORT), (3, 10)].map(|(start, len)| (Ahead, start, len));
        let queue = [&ahead[..], &[4, 5, 6].map(|start| (Read, start, SHORT))].concat();
        assert_eq!(requests_beside(&queue, false, FEW - 1), [vec![4, 5, 6], vec![0, 1], vec![2], vec![3]]);
        for (is_http, under_way) in [(false, FEW), (true, 0), (true, AHEAD_AT_ONCE)] {
            assert_eq!(requests_beside(&queue, is_http, under_way), [vec![4, 5, 6], vec![0, 1, 2, 3]]);
        }
        assert_eq!(requests_beside(&queue, false, AHEAD_AT_ONCE), [[4, 5, 6]], "clients find room");
    }
}
