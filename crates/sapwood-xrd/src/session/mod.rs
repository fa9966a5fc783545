//! The client's side of one login.
//!
//! A driver owns the sockets: it sends what [`Session::output`] returns, passes in what arrives, and handles what
//! [`Session::event`] returns. Requests may be made at once: how early they are sent is [`Pipelining`]. All of them may be
//! in the first flight, even reads of a file that is not open yet: servers number open files from zero, and a read of a
//! guessed number is only accepted once the open's answer has confirmed it.

mod link;
mod pending_request;
mod replies;
mod setup;

pub use link::LinkId;
pub use pending_request::Id;

use crate::auth::Identity;
use crate::frame::InvalidMessage;
use crate::reply::{Failure, Redirect};
use crate::request::{Handle, Request, SecretBytes};
use bytes::Bytes;
use link::{Link, Phase};
use pending_request::{Answer, Owner, PendingRequest};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

/// Requests in flight at most: there are hardly more stream ids.
const MOST_ASKED: usize = 60_000;
/// Stream 0 is used for the greeting's answer.
const FIRST_STREAM: u16 = 1;

/// How early requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipelining {
    /// After the login.
    None,
    /// Along with the login, which waits for the server's answer to the greeting.
    WithLogin,
    /// Along with the greeting: everything in one flight. Only without TLS.
    WithHandshake,
}

/// Options of a session.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The client's identity.
    pub identity: Identity,
    /// Process ID for the server's log.
    pub pid: u32,
    /// The login token of a redirect.
    pub login_token: SecretBytes,
    /// Whether the connection must be encrypted. Otherwise it is where the server wants it.
    pub tls: bool,
    /// How early requests are sent.
    pub eager: Pipelining,
    /// An authentication method that is sent after the login, before the server asks for it.
    pub guess: Option<String>,
}

/// Actions and news for a driver.
#[derive(Debug)]
pub enum Event {
    /// Start TLS on this link, then call [`Session::secured`].
    StartTls(LinkId),
    /// This link can be used. For the control link: the login is complete; the authentication method, if one was
    /// needed.
    Ready(LinkId, Option<String>),
    /// Bytes of the file for this request, at this offset; none where a part of a directory arrived.
    Bytes(Id, u64, Bytes),
    /// The answer is complete.
    Done(Id, Outcome),
    /// The server makes this request wait this many seconds: it will be sent again, or answered later.
    Waiting(Id, u32, String),
    /// The session cannot be established this way.
    Refused(Refusal),
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With its body; the bytes of reads have been passed on before.
    Ok(Bytes),
    /// This many pages arrived damaged and were not passed on.
    Damaged(u32),
    /// The server's error.
    Failed(Failure),
    /// Another server must be asked.
    Redirect(Redirect),
    /// The file was not opened, or under another number than guessed: nothing was read.
    Unread,
    /// The data link broke.
    Lost,
}

/// Why there is no session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// TLS is wanted and the server has none.
    NoTls,
    /// The server wants TLS, but more than the greeting is already sent: connect again, less eagerly.
    TlsWanted,
    /// The server wants another authentication than guessed, and requests are already sent: connect again, less
    /// eagerly.
    PipeliningRefused,
    /// None of these authentication methods is supported, or none was accepted.
    Auth {
        /// The methods that the server offers.
        offered: Vec<String>,
        /// Its last refusal.
        said: Option<Failure>,
    },
    /// Setting up failed.
    Failed(LinkId, Failure),
    /// The server redirects logins.
    Redirect(Redirect),
}

/// The client's side of one login.
#[derive(Debug)]
pub struct Session {
    options: SessionOptions,
    links: Vec<Link>,
    asked: HashMap<u16, PendingRequest>,
    next_stream: u16,
    next_id: u64,
    events: VecDeque<Event>,
    /// Requests that wait for the login.
    held: Vec<u16>,
    /// Authentication methods not tried yet.
    offers: VecDeque<String>,
    /// All that the server offered.
    offered: Vec<String>,
    /// The method that is being tried, or was accepted.
    auth: Option<String>,
    refused: Option<Failure>,
    session: Option<[u8; 16]>,
    flags: u32,
    /// Handles of open files, and those guessed for files being opened.
    handles: BTreeSet<u32>,
    /// Messages that answer nothing, so far.
    unsolicited: u32,
}

impl Session {
    /// Starts a session: there is output for the control link.
    pub fn new(options: SessionOptions) -> Self {
        let mut session = Self {
            options,
            links: Vec::new(),
            asked: HashMap::new(),
            next_stream: FIRST_STREAM,
            next_id: 0,
            events: VecDeque::new(),
            held: Vec::new(),
            offers: VecDeque::new(),
            offered: Vec::new(),
            auth: None,
            refused: None,
            session: None,
            flags: 0,
            handles: BTreeSet::new(),
            unsolicited: 0,
        };
        session.begin_control();
        session
    }

    /// Sends a request; the answer comes over the control link, or over the data link that a read names.
    pub fn request(&mut self, request: &Request) -> Id {
        self.ask(request, 0, None, None)
    }

    /// Opens a file, and returns the handle that it will most likely get: for [`ahead`](Self::ahead).
    pub fn open(&mut self, path: SecretBytes, options: u16) -> (Id, Handle) {
        let guess = (0..u32::MAX).find(|n| !self.handles.contains(n)).unwrap_or(u32::MAX);
        let open = self.ask(&Request::Open { path, options }, 0, None, Some(guess));
        self.handles.insert(guess);
        (open, guess.to_le_bytes())
    }

    /// Reads a file that is being opened, by its guessed handle: nothing is passed on unless the open's answer confirms
    /// it.
    pub fn ahead(&mut self, open: Id, guess: Handle, mut request: Request) -> Id {
        match &mut request {
            Request::Read { handle, .. } | Request::PageRead { handle, .. } => *handle = guess,
            Request::ReadV(chunks) => chunks.iter_mut().for_each(|c| c.handle = guess),
            _ => {}
        }
        let guessed = self.asked.values().any(|a| a.owner == Owner::Caller(open)).then_some(open);
        self.ask(&request, 0, guessed, None)
    }

    /// Closes a file.
    pub fn close(&mut self, handle: Handle) -> Id {
        self.handles.remove(&u32::from_le_bytes(handle));
        self.request(&Request::Close { handle })
    }

    /// Reads over this link: plain, or with checksums.
    pub fn read(&mut self, link: LinkId, handle: Handle, offset: u64, len: u32, pages: bool) -> Id {
        let path_id = self.links.get(link).map_or(0, |l| l.path_id);
        let request = if pages {
            Request::PageRead { handle, offset, len, path_id, again: false }
        } else {
            Request::Read { handle, offset, len, path_id }
        };
        self.ask(&request, if path_id == 0 { 0 } else { link }, None, None)
    }

    /// The ready data link with the least in flight; the control link where there is none.
    pub fn data_link(&self) -> LinkId {
        let ready = self.links.iter().enumerate().skip(1).filter(|(_, l)| l.phase == Phase::Ready);
        ready.min_by_key(|(_, l)| l.load).map_or(0, |(id, _)| id)
    }

    /// Bytes requested that will come over a link.
    pub fn load(&self, link: LinkId) -> u64 {
        self.links.get(link).map_or(0, |l| l.load)
    }

    /// Whether any answer over this link is pending that the server does not hold back on purpose.
    pub fn is_waiting(&self, link: LinkId) -> bool {
        self.asked.values().any(|a| a.link == link && a.resend.is_none() && !a.late)
            || self.links.get(link).is_some_and(|l| !matches!(l.phase, Phase::Ready | Phase::Lost))
    }

    /// Grows when answers to requests over a link make progress: bytes of an answer, or its end. Requests to wait,
    /// messages that answer nothing and empty frames do not count.
    pub fn progress(&self, link: LinkId) -> u64 {
        self.links.get(link).map_or(0, |l| l.progress)
    }

    /// Whether a link still waits for the answer to its greeting.
    pub fn is_greeting(&self, link: LinkId) -> bool {
        self.links.get(link).is_some_and(|l| l.phase == Phase::Greeting)
    }

    /// Whether TLS must be started on a link now.
    pub fn wants_tls(&self, link: LinkId) -> bool {
        self.links.get(link).is_some_and(|l| l.phase == Phase::Tls)
    }

    /// This answer is no longer wanted. What is in flight still counts in its link's load until it has arrived.
    pub fn forget(&mut self, id: Id) {
        let found = self.asked.iter_mut().find(|(_, a)| a.owner == Owner::Caller(id));
        let Some((&stream, asked)) = found else { return };
        asked.mute = true;
        // A pending repetition is dropped; what was never sent needs no answer.
        let unsent = self.held.contains(&stream);
        if asked.resend.is_some() || unsent {
            self.held.retain(|s| *s != stream);
            self.remove(stream);
        }
    }

    /// Server flags, from its protocol reply; 0 before.
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Bytes to be sent over a link, if any.
    pub fn output(&mut self, link: LinkId) -> Option<Vec<u8>> {
        let out = std::mem::take(&mut self.links.get_mut(link)?.output);
        (!out.is_empty()).then_some(out)
    }

    /// The next event.
    pub fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When to call [`tick`](Self::tick), on the clock whose time is passed in.
    pub fn deadline(&self) -> Option<Duration> {
        self.asked.values().filter_map(|a| a.resend).min()
    }

    /// Time has passed: sends requests again that had to wait.
    pub fn tick(&mut self, now: Duration) {
        for asked in self.asked.values_mut() {
            if asked.resend.is_some_and(|at| at <= now) {
                asked.resend = None;
                let link = if matches!(asked.owner, Owner::Caller(_)) { 0 } else { asked.link };
                if let Some(link) = self.links.get_mut(link) {
                    link.output.extend(&asked.encoded);
                }
            }
        }
    }

    /// Bytes arrived over a link.
    ///
    /// # Errors
    /// The input is not the protocol, or answers no request: the session is unusable.
    pub fn received(&mut self, link: LinkId, mut bytes: Bytes, now: Duration) -> Result<(), InvalidMessage> {
        loop {
            let Some(here) = self.links.get_mut(link) else { return Ok(()) };
            // An attacker on the path could have inserted it, and it would count as received over TLS.
            if here.phase == Phase::Tls && !bytes.is_empty() {
                return Err(InvalidMessage("unencrypted data follow where TLS should begin"));
            }
            let Some(part) = here.decoder.next(&mut bytes)? else { return Ok(()) };
            self.part(link, part, now)?;
        }
    }

    /// A data link broke: answers over it are lost.
    pub fn lost(&mut self, link: LinkId) {
        if let Some(here) = self.links.get_mut(link) {
            here.phase = Phase::Lost;
            here.output.clear();
        }
        let gone: Vec<u16> = self.asked.iter().filter(|(_, a)| a.link == link).map(|(s, _)| *s).collect();
        for stream in gone {
            if let Some(asked) = self.remove(stream) {
                self.done(&asked, Outcome::Lost);
            }
        }
    }

    fn ask(&mut self, request: &Request, link: LinkId, guessed: Option<Id>, guess: Option<u32>) -> Id {
        let id = Id(self.next_id);
        self.next_id += 1;
        if self.asked.len() >= MOST_ASKED {
            self.events.push_back(Event::Done(id, Outcome::Unread));
            return id;
        }
        let stream = self.free_stream();
        let mut encoded = Vec::new();
        request.encode(stream, &mut encoded);
        let answer = Answer::to(request);
        let load = if matches!(answer, Answer::Body { .. }) { 0 } else { answer.left() };
        if let Some(link) = self.links.get_mut(link) {
            link.load += load;
        }
        let asked = PendingRequest {
            owner: Owner::Caller(id),
            link,
            encoded,
            answer,
            resend: None,
            delayed: false,
            late: false,
            answer_is_final: false,
            mute: false,
            guessed,
            guess,
            load,
        };
        if let Some(control) = self.links.first_mut() {
            if control.phase == Phase::Ready || self.held.is_empty() && self.may_send() {
                self.send(&asked);
            } else {
                self.held.push(stream);
            }
        }
        self.asked.insert(stream, asked);
        id
    }

    /// Whether requests may be sent before the login is complete.
    fn may_send(&self) -> bool {
        let phase = self.links.first().map_or(Phase::Lost, |l| l.phase);
        match self.options.eager {
            Pipelining::None => false,
            Pipelining::WithLogin => matches!(phase, Phase::Entering | Phase::Auth),
            Pipelining::WithHandshake => matches!(phase, Phase::Greeting | Phase::Entering | Phase::Auth),
        }
    }

    /// Requests are sent over the control link, whichever link carries the answer.
    fn send(&mut self, asked: &PendingRequest) {
        if let Some(control) = self.links.first_mut() {
            control.output.extend(&asked.encoded);
        }
    }

    fn send_held(&mut self) {
        for stream in std::mem::take(&mut self.held) {
            if let (Some(asked), Some(control)) = (self.asked.get(&stream), self.links.first_mut()) {
                control.output.extend(&asked.encoded);
            }
        }
    }

    /// A stream id that no pending request uses.
    fn free_stream(&mut self) -> u16 {
        loop {
            let stream = self.next_stream;
            self.next_stream = stream.checked_add(1).unwrap_or(FIRST_STREAM);
            if !self.asked.contains_key(&stream) {
                return stream;
            }
        }
    }

    /// The request for an answer on this stream.
    fn asked(&mut self, stream: u16) -> Result<&mut PendingRequest, InvalidMessage> {
        let unsent = self.held.contains(&stream);
        let asked = self.asked.get_mut(&stream).filter(|_| !unsent);
        asked.ok_or(InvalidMessage("a reply to no request"))
    }

    fn remove(&mut self, stream: u16) -> Option<PendingRequest> {
        let asked = self.asked.remove(&stream)?;
        if let Some(link) = self.links.get_mut(asked.link) {
            link.load = link.load.saturating_sub(asked.load);
        }
        Some(asked)
    }

    /// A request over this link has made this much progress.
    fn advance(&mut self, link: LinkId, by: u64) {
        if let Some(link) = self.links.get_mut(link) {
            link.progress = link.progress.wrapping_add(by);
        }
    }

    fn done(&mut self, asked: &PendingRequest, outcome: Outcome) {
        if let (Owner::Caller(id), false) = (asked.owner, asked.mute) {
            self.events.push_back(Event::Done(id, outcome));
        }
    }
}
