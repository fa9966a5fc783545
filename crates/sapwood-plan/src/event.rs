use crate::{BasketId, Limits};
use sapwood_span::Span;
use std::time::Duration;

/// The number of a fetch; fetches are numbered from 0 in the order of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FetchId(pub u64);

/// What happened outside. Pass it to [`crate::Planner::handle`] in any order; an event about a fetch or basket that is
/// over, cancelled or unknown is ignored.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The consumer now waits for (or works on) the entries `first..last`: what has not arrived of them takes
    /// precedence, and reading ahead continues after them. It replaces the previous one.
    Want {
        /// First entry of the batch.
        first: u64,
        /// The entry after the last one of the batch.
        last: u64,
    },
    /// All bytes of one basket have arrived.
    Arrived {
        /// The fetch that it came with.
        fetch: FetchId,
        /// The basket.
        basket: BasketId,
    },
    /// A fetch succeeded. Baskets of it that did not arrive (a server may leave parts out) are requested again, as
    /// after a failure.
    Done {
        /// The fetch.
        fetch: FetchId,
        /// Time from sending the request to the first byte of the reply.
        first_byte: Duration,
        /// Time from sending the request to the last byte of the reply.
        total: Duration,
        /// Bytes of the reply.
        bytes: u64,
    },
    /// A fetch failed. What arrived before stays.
    Failed {
        /// The fetch.
        fetch: FetchId,
        /// Whether a retry can help; if not, what did not arrive is given up at once.
        retry: bool,
    },
    /// The bytes of an arrived basket were released: they no longer count as held.
    Consumed {
        /// The basket.
        basket: BasketId,
    },
    /// The source learnt something about the server; holds for requests from now on.
    Limits(Limits),
    /// These baskets, not requested so far, must not be requested until [`Event::Release`]: whether they are needed is
    /// not known yet.
    Withhold(Vec<BasketId>),
    /// These baskets are needed, or may be: withheld ones among them are requested like all others.
    Release(Vec<BasketId>),
    /// These baskets are no longer needed. Those not in pending are never requested; those in pending or arrived count
    /// until they are reported as consumed.
    Skip(Vec<BasketId>),
    /// Another budget ([`crate::Request::hold`]) from now on; zero counts as the default.
    Budget(u64),
    /// The scan ends early: everything in pending is cancelled, nothing more is requested.
    Stop,
}

/// The next action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send this one request.
    Fetch(Fetch),
    /// Drop this fetch. What it still reports is ignored; discard its bytes.
    Cancel(FetchId),
    /// These baskets failed too often, or permanently: return an error to the code that waits for them.
    GiveUp(Vec<BasketId>),
}

/// One request on one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Its number.
    pub id: FetchId,
    /// The ranges to request, ascending, neither overlapping nor empty.
    pub ranges: Vec<Range>,
    /// Whether the consumer already waits for a basket in it.
    pub urgent: bool,
}

impl Fetch {
    /// Bytes requested, bridged gaps included.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|r| r.span.len).sum()
    }

    /// The baskets in it, in file order.
    pub fn baskets(&self) -> impl Iterator<Item = BasketId> + '_ {
        self.ranges.iter().flat_map(|r| r.parts.iter().map(|p| p.basket))
    }
}

/// One range of a request, and the baskets in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The bytes of the file.
    pub span: Span,
    /// The baskets inside, in file order; together with bridged gaps they cover the range.
    pub parts: Vec<Part>,
}

/// A basket's position in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The basket.
    pub basket: BasketId,
    /// Offset of its first byte from the beginning of the range.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u64,
}
