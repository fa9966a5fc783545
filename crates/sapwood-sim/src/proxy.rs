//! A caching proxy near the clients that has nothing of their files: what they ask for is fetched over the link, and what they will ask
//! for is fetched ahead.

mod answer;
mod held;

use crate::Link;
use crate::agenda::Agenda;
use crate::network::{Asked, Delivery, Network};
use answer::Answer;
use held::Held;
use sapwood_plan::{Fetch, FetchId, Range};
use sapwood_prefetch::{
    FETCHES_AT_ONCE, FileMap, Memory, Purpose, Queued, Reader, RequestedSpan, divided, next_request, pieces,
};
use sapwood_span::Span;
use std::collections::{HashMap, VecDeque};

/// A proxy, as one client sees it.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// The path from the client to it.
    pub near: Link,
    /// The client's file, whose trees the proxy knows.
    pub file: FileMap,
    /// What the client requested when it opened the file, by request: the proxy has it now. From baskets among it the proxy learns what
    /// the client reads, once it knows the trees, that is with the client's next request.
    pub opened: Vec<RequestedSpan>,
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
    /// Bytes that had been sent to it when its client had the last basket, headers among them. What it still fetches then, nobody waits for.
    pub awaited: u64,
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

    /// Notes that so much had been sent to a client's proxy when a basket reached the client.
    pub(crate) fn brought(&mut self, client: usize, sent: f64) {
        if let Some(session) = self.session(client) {
            session.fetched.awaited = sent.round() as u64;
        }
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
    purpose: Purpose,
}

impl Queued for Piece {
    fn spans(&self) -> &[Span] {
        &self.spans
    }

    fn purpose(&self) -> Purpose {
        self.purpose
    }
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
    /// What the client waits for, in the order in which it asked.
    waiting: Vec<Answer>,
}

impl<'a> Session<'a> {
    fn new(proxy: &'a Proxy) -> Self {
        let near = Network::to_proxy(&proxy.near);
        let (held, fetched, queue, under_way, waiting) = Default::default();
        let reader = Reader::new(proxy.most);
        let mut new = Self { proxy, near, reader, held, fetched, pieces: 0, queue, under_way, waiting };
        let unknown = FileMap { size: proxy.file.size, trees: Vec::new() };
        for &requested in &proxy.opened {
            // what is not part of a tree is not read ahead so soon
            new.on_request(&[requested], &unknown);
            new.held.arrived(requested.span);
        }
        new
    }

    /// The client asks.
    fn asked(&mut self, asked: &Asked) {
        let of = |&span: &Span| RequestedSpan { span, held: self.held.bytes(span) };
        let request: Vec<RequestedSpan> = asked.spans.iter().map(of).collect();
        let ahead = self.on_request(&request, &self.proxy.file);
        let mut answer = Answer::new(asked, self.proxy.is_http);
        for (spans, purpose) in answer.begin() {
            self.begin(&spans, purpose);
        }
        for spans in pieces(&ahead, self.proxy.is_http) {
            self.begin(&spans, Purpose::Ahead);
        }
        self.waiting.push(answer);
    }

    /// What is to be fetched ahead after a request.
    fn on_request(&mut self, request: &[RequestedSpan], file: &FileMap) -> Vec<Span> {
        let is_held = |span: Span| self.held.bytes(span) == span.len;
        self.reader.on_request(request, file, &is_held, &Memory::default())
    }

    /// What is absent of some spans is to be fetched.
    fn begin(&mut self, spans: &[Span], purpose: Purpose) {
        let absent: Vec<Span> = spans.iter().flat_map(|&span| self.held.absent(span)).collect();
        for spans in divided(&absent) {
            self.pieces += 1;
            spans.iter().for_each(|&span| self.held.coming(span, self.pieces));
            self.queue.push_back(Piece { number: self.pieces, spans, purpose });
        }
    }

    fn has_come(&mut self, fetch: FetchId) {
        for piece in self.under_way.remove(&fetch).unwrap_or_default() {
            self.held.has_come(piece);
        }
    }

    /// Answers requests as far as their bytes are here, and fetches what follows in long ones.
    fn answer(&mut self, owner: usize, now: f64) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain_mut(|answer| {
            let has_more = answer.advance(&self.held);
            let part = answer.part();
            if !has_more && part.is_some() {
                return true;
            }
            // nothing more is fetched for a request that was given up
            let is_expected = self.near.answer(owner, answer.fetch, now, part);
            if is_expected {
                answer.follow().iter().for_each(|spans| self.begin(spans, Purpose::Part));
            }
            is_expected && part.is_some()
        });
        self.waiting = waiting;
    }

    /// Sends requests for what is queued: those that a client waits for first.
    fn fetch(&mut self, owner: usize, far: &mut Network<'_>) {
        while self.under_way.len() < FETCHES_AT_ONCE {
            let pieces = next_request(&mut self.queue, self.proxy.is_http, self.under_way.len());
            if pieces.is_empty() {
                return;
            }
            let is_urgent = pieces.iter().any(|piece| piece.purpose.is_urgent());
            let (numbers, spans): (Vec<u64>, Vec<Vec<Span>>) = pieces.into_iter().map(|p| (p.number, p.spans)).unzip();
            let mut spans = spans.concat();
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
