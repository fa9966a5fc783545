//! A caching proxy near the clients that has nothing of their files: what they ask for is fetched over the link, and what they will ask
//! for is fetched ahead.

mod held;

use crate::Link;
use crate::agenda::Agenda;
use crate::network::{Asked, Delivery, Network};
use held::Held;
use sapwood_plan::{Fetch, FetchId, Range};
use sapwood_prefetch::{
    FETCHES_AT_ONCE, FileMap, LONGEST_FETCH, MOST_RANGES, Memory, Reader, RequestedSpan, divided, pieces,
};
use sapwood_span::Span;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// A proxy, as one client sees it.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// The path from the client to it.
    pub near: Link,
    /// The client's file, whose trees the proxy knows.
    pub file: FileMap,
    /// What it got of the file when the client opened it.
    pub opened: Vec<Span>,
    /// Bytes that it fetches ahead at most.
    pub most: u64,
    /// Whether it fetches over HTTP.
    pub is_http: bool,
}

/// What a proxy fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Its requests.
    pub requests: u64,
    /// Ranges in them.
    pub ranges: u64,
    /// Bytes of these ranges.
    pub bytes: u64,
}

/// What happens at a proxy.
#[derive(Debug)]
enum Event {
    Asked(Asked),
    /// A fetch of a client's bytes is complete.
    Fetched(usize, FetchId),
}

/// The proxies of all clients.
#[derive(Default)]
pub(crate) struct Proxies<'a> {
    /// By client; none for those that read directly.
    sessions: Vec<Option<Session<'a>>>,
    agenda: Agenda<Event>,
}

impl<'a> Proxies<'a> {
    /// By client, its proxy.
    pub(crate) fn new(proxies: impl Iterator<Item = Option<&'a Proxy>>) -> Self {
        Self { sessions: proxies.map(|proxy| proxy.map(Session::new)).collect(), ..Self::default() }
    }

    pub(crate) fn connections(&self) -> usize {
        self.sessions.iter().flatten().map(|session| session.near.connections()).sum()
    }

    fn session(&mut self, client: usize) -> Option<&mut Session<'a>> {
        self.sessions.get_mut(client)?.as_mut()
    }

    /// The network of a client that reads through a proxy.
    pub(crate) fn network_of(&mut self, client: usize) -> Option<&mut Network<'a>> {
        self.session(client).map(|session| &mut session.near)
    }

    /// What was fetched for a client, if it reads through a proxy.
    pub(crate) fn fetched(&self, client: usize) -> Option<Fetched> {
        self.sessions.get(client)?.as_ref().map(|session| session.fetched)
    }

    /// Notes what the clients have asked.
    pub(crate) fn receive(&mut self) {
        for asked in self.sessions.iter_mut().flatten().flat_map(|session| session.near.asked()) {
            self.agenda.add(asked.reached, Event::Asked(asked));
        }
    }

    /// When something happens next, at a proxy or on the way to it.
    pub(crate) fn next(&self) -> Option<f64> {
        let near = self.sessions.iter().flatten().filter_map(|session| session.near.next_change());
        near.chain(self.agenda.next()).reduce(f64::min)
    }

    /// Advances time. `far` is the network behind the proxies; of what it has delivered, what is for the proxies is taken away.
    pub(crate) fn advance(&mut self, now: f64, far: &mut Network<'_>, deliveries: &mut Vec<(usize, f64, Delivery)>) {
        deliveries.retain(|&(owner, time, delivery)| {
            let is_for_proxy = self.sessions.get(owner).is_some_and(Option::is_some);
            if let (true, Delivery::Done { fetch, .. }) = (is_for_proxy, delivery) {
                self.agenda.add(time, Event::Fetched(owner, fetch));
            }
            !is_for_proxy
        });
        self.sessions.iter_mut().flatten().for_each(|session| session.near.advance(now, deliveries));
        while let Some(event) = self.agenda.take(now) {
            let owner = match &event {
                Event::Asked(asked) => asked.owner,
                Event::Fetched(owner, _) => *owner,
            };
            let Some(session) = self.session(owner) else { continue };
            match event {
                Event::Asked(asked) => session.asked(&asked),
                Event::Fetched(_, fetch) => session.has_come(fetch),
            }
            session.answer(owner, now);
            session.fetch(owner, far);
        }
    }
}

/// Spans that are fetched together.
struct Piece {
    number: u64,
    spans: Vec<Span>,
    /// A client waits for it.
    is_urgent: bool,
}

/// The reads of one client.
struct Session<'a> {
    proxy: &'a Proxy,
    /// From the client to the proxy.
    near: Network<'a>,
    reader: Reader,
    held: Held,
    fetched: Fetched,
    /// Pieces so far.
    pieces: u64,
    queue: VecDeque<Piece>,
    /// By request: the pieces that it brings.
    under_way: HashMap<FetchId, Vec<u64>>,
    /// By the client's fetch, in the order in which they came: pieces that it waits for.
    waiting: Vec<(FetchId, BTreeSet<u64>)>,
}

impl<'a> Session<'a> {
    fn new(proxy: &'a Proxy) -> Self {
        let mut reader = Reader::new(proxy.most);
        let requested: Vec<RequestedSpan> = proxy.opened.iter().map(|&span| RequestedSpan { span, held: 0 }).collect();
        let ahead = reader.on_request(&requested, &proxy.file, &|_| false, &Memory::default());
        reader.failed(&ahead);
        let mut held = Held::default();
        proxy.opened.iter().for_each(|&span| held.arrived(span));
        let near = Network::to_proxy(&proxy.near);
        let (fetched, queue, under_way, waiting) = Default::default();
        Self { proxy, near, reader, held, fetched, pieces: 0, queue, under_way, waiting }
    }

    /// The client asks.
    fn asked(&mut self, asked: &Asked) {
        let held = &self.held;
        let of = |&span: &Span| RequestedSpan { span, held: held.bytes(span) };
        let request: Vec<RequestedSpan> = asked.spans.iter().map(of).collect();
        let is_held = |span: Span| held.bytes(span) == span.len;
        let ahead = self.reader.on_request(&request, &self.proxy.file, &is_held, &Memory::default());
        self.begin(&asked.spans, true);
        for spans in pieces(&ahead, self.proxy.is_http) {
            self.begin(&spans, false);
        }
        let needs = asked.spans.iter().flat_map(|&span| self.held.pending(span)).collect();
        self.waiting.push((asked.fetch, needs));
    }

    /// What is absent of some spans is to be fetched.
    fn begin(&mut self, spans: &[Span], is_urgent: bool) {
        let absent: Vec<Span> = spans.iter().flat_map(|&span| self.held.absent(span)).collect();
        for spans in divided(&absent) {
            self.pieces += 1;
            spans.iter().for_each(|&span| self.held.coming(span, self.pieces));
            self.queue.push_back(Piece { number: self.pieces, spans, is_urgent });
        }
    }

    fn has_come(&mut self, fetch: FetchId) {
        for piece in self.under_way.remove(&fetch).unwrap_or_default() {
            self.held.has_come(piece);
            self.waiting.iter_mut().for_each(|(_, needs)| {
                needs.remove(&piece);
            });
        }
    }

    /// Answers requests of which all bytes are here.
    fn answer(&mut self, owner: usize, now: f64) {
        let near = &mut self.near;
        self.waiting.retain(|(fetch, needs)| {
            if needs.is_empty() {
                near.answer(owner, *fetch, now);
            }
            !needs.is_empty()
        });
    }

    /// Sends requests for what is queued: those that a client waits for first.
    fn fetch(&mut self, owner: usize, far: &mut Network<'_>) {
        while self.under_way.len() < FETCHES_AT_ONCE && !self.queue.is_empty() {
            let is_urgent = self.queue.iter().any(|piece| piece.is_urgent);
            let (mut numbers, mut spans, mut bytes) = (Vec::new(), Vec::new(), 0);
            while let Some(at) = self.queue.iter().position(|piece| piece.is_urgent == is_urgent) {
                let next = self.queue.get(at).map_or(&[][..], |piece| &piece.spans);
                bytes += next.iter().map(|span| span.len).sum::<u64>();
                let is_too_much = bytes > LONGEST_FETCH || spans.len() + next.len() > MOST_RANGES;
                if !numbers.is_empty() && is_too_much {
                    break;
                }
                let Some(piece) = self.queue.remove(at) else { break };
                numbers.push(piece.number);
                spans.extend(piece.spans);
            }
            spans.sort_unstable_by_key(|span| span.start);
            let joined = sapwood_span::coalesce(&spans, 0, u64::MAX);
            let ranges: Vec<Range> =
                joined.iter().map(|joined| Range { span: joined.span, parts: Vec::new() }).collect();
            let id = FetchId(self.fetched.requests);
            self.fetched.requests += 1;
            self.fetched.ranges += ranges.len() as u64;
            self.fetched.bytes += ranges.iter().map(|range| range.span.len).sum::<u64>();
            far.send(owner, &Fetch { id, ranges, urgent: is_urgent }, None);
            self.under_way.insert(id, numbers);
        }
    }
}
