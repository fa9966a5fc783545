//! What goes into the next request to the origin, of all that waits to be fetched.

use crate::pieces::LONGEST_FETCH;
use sapwood_span::Span;
use std::collections::VecDeque;

/// Ranges in one request at most, where several were waiting.
const MOST_RANGES: usize = 256;

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

/// Takes what the next request includes, in the order of the queue: what clients wait for comes before what is fetched ahead.
pub fn next_request<T: Queued>(queue: &mut VecDeque<T>) -> Vec<T> {
    let is_urgent = queue.iter().any(|queued| queued.purpose().is_urgent());
    let (mut out, mut bytes, mut ranges, mut is_part) = (Vec::new(), 0, 0, false);
    while let Some(at) = queue.iter().position(|queued| queued.purpose().is_urgent() == is_urgent) {
        if let Some(next) = queue.get(at) {
            bytes += next.spans().iter().map(|span| span.len).sum::<u64>();
            ranges += next.spans().len();
            is_part |= next.purpose() == Purpose::Part;
        }
        // the first one is always included
        if !out.is_empty() && (is_part || bytes > LONGEST_FETCH || ranges > MOST_RANGES) {
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

    /// The first byte of each, request by request.
    fn requests(queue: &[(Purpose, u64, u64)]) -> Vec<Vec<u64>> {
        let waiting = |&(purpose, start, len): &_| Waiting(purpose, vec![Span::new(start, len)]);
        let mut queue: VecDeque<Waiting> = queue.iter().map(waiting).collect();
        let next = || Some(next_request(&mut queue)).filter(|taken| !taken.is_empty());
        let starts = |taken: Vec<Waiting>| taken.iter().map(|waiting| waiting.1[0].start).collect();
        std::iter::from_fn(next).map(starts).collect()
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
}
