//! One connection: the input is split into requests, which are answered.

use super::RootShared;
use super::link::{Gone, Link, refuse};
use super::opening::{self, Opened, protocol};
use super::reply::Reply;
use super::session::{Handles, Session};
use crate::client_request::Protocol;
use crate::connections::{ClientLimits, Slot, Watched};
use crate::exchange::Exchange;
use crate::shared::over;
use crate::tls::Stream;
use bytes::{Bytes, BytesMut};
use sapwood_xrd::auth;
use sapwood_xrd::code::{error, status};
use sapwood_xrd::reply::{Failure, Login};
use sapwood_xrd::{Arrived, Inbound, Request, SecretBytes};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, ReadHalf};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// Bytes received at a time, and how many times before they are processed: more stays in the socket.
const RECEIVE: usize = 16 << 10;
const RECEIVED: usize = 4;
/// Requests of a session that are answered concurrently.
const AT_ONCE: usize = 4;

/// Serves a connection to its end.
pub(super) async fn serve(stream: TcpStream, shared: Arc<RootShared>, slot: Arc<Slot>) {
    let _connected = shared.reports.counters.of(Protocol::Root).connected();
    let (limits, mut ending) = (*shared.connections.limits(), shared.ending.subscribe());
    shared.wan.connect().await;
    let began = Instant::now();
    let Ok(here) = stream.local_addr() else { return };
    let opened = tokio::select! {
        opened = timeout(limits.idle, opening::open(Watched::new(stream, limits.stall), &shared)) => opened,
        () = slot.ended() => return,
        () = over(&mut ending) => return,
    };
    let Ok(Some(Opened { stream, inbound, first })) = opened else { return };
    let is_secure = stream.is_secure();
    let (read, write) = tokio::io::split(stream);
    let link = Arc::new(Link::new(write, shared.wan.window(), Arc::clone(&slot), is_secure));
    let (sender, arrivals) = mpsc::channel(RECEIVED);
    let mut receiver = JoinSet::new();
    receiver.spawn(receive(read, sender));
    let mut connection = Connection {
        address: slot.address,
        shared: Arc::clone(&shared),
        slot,
        here,
        limits,
        link,
        inbound,
        role: Role::New,
        authorization: None,
        handles: Handles::default(),
        permits: Arc::new(Semaphore::new(AT_ONCE)),
        tasks: JoinSet::new(),
        current: None,
        ending,
        began,
        last: Instant::now(),
        midway: None,
    };
    if connection.run(first, arrivals).await == End::Left {
        // It sends no more requests, and may still wait for answers; or it has gone, and slow answers are not waited
        // for.
        let rest = async { while connection.tasks.join_next().await.is_some() {} };
        let _ = timeout(limits.stall, rest).await;
    }
    if let Role::Session(session) = &connection.role {
        session.links().iter().for_each(|link| link.close());
    }
}

/// Passes on input, with its time of arrival.
async fn receive(mut read: ReadHalf<Stream>, sender: mpsc::Sender<(Instant, Bytes)>) {
    loop {
        let mut buffer = BytesMut::with_capacity(RECEIVE);
        match read.read_buf(&mut buffer).await {
            Ok(n) if n > 0 => {}
            _ => return,
        }
        if sender.send((Instant::now(), buffer.freeze())).await.is_err() {
            return;
        }
    }
}

/// Why a connection is no longer served.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The client will send nothing more.
    Left,
    /// Close it at once.
    Closed,
}

/// What a connection is for.
pub(super) enum Role {
    /// Before the login.
    New,
    /// A login that was asked for a token.
    Entering(Arc<Session>),
    Session(Arc<Session>),
    /// A data link: requests come over another link.
    Data,
}

pub(super) struct Connection {
    pub address: IpAddr,
    pub shared: Arc<RootShared>,
    pub slot: Arc<Slot>,
    /// The local address that the client connected to.
    pub here: SocketAddr,
    limits: ClientLimits,
    pub link: Arc<Link>,
    inbound: Inbound,
    pub role: Role,
    /// The token presented at login.
    pub authorization: Option<SecretBytes>,
    pub handles: Handles,
    permits: Arc<Semaphore>,
    tasks: JoinSet<()>,
    /// The request being answered, if it is one that is counted.
    pub current: Option<Exchange>,
    ending: watch::Receiver<bool>,
    began: Instant,
    /// When input last arrived.
    last: Instant,
    /// Since when a request has been incomplete.
    midway: Option<Instant>,
}

impl Connection {
    async fn run(&mut self, first: Arrived, mut arrivals: mpsc::Receiver<(Instant, Bytes)>) -> End {
        if self.hear(first).await.is_err() {
            return End::Closed;
        }
        loop {
            match self.inbound.arrived() {
                Ok(Some(arrived)) => {
                    self.midway = None;
                    if self.hear(arrived).await.is_err() {
                        return End::Closed;
                    }
                    continue;
                }
                Ok(None) => {}
                // What follows could be anything.
                Err(_) => return End::Closed,
            }
            if self.inbound.is_midway() {
                self.midway.get_or_insert(self.last);
            }
            while self.tasks.try_join_next().is_some() {}
            let session = match &self.role {
                Role::Session(session) => Some(Arc::clone(session)),
                _ => None,
            };
            tokio::select! {
                arrived = arrivals.recv() => match arrived {
                    Some((when, bytes)) => {
                        self.shared.wan.round_trip(when).await;
                        self.last = Instant::now();
                        self.inbound.received(bytes);
                    }
                    None => return End::Left,
                },
                () = tokio::time::sleep_until(self.deadline()) => {
                    if self.tasks.is_empty() {
                        return End::Closed;
                    }
                    self.last = Instant::now();
                }
                () = async { match &session { Some(s) => s.end.notified().await, None => std::future::pending().await } } => {
                    return End::Closed;
                }
                () = self.link.lost() => return End::Closed,
                // Data links end with their sessions.
                () = over(&mut self.ending), if !matches!(self.role, Role::Data) => return End::Left,
                () = self.slot.ended() => return End::Closed,
            }
        }
    }

    /// When input must arrive at the latest.
    fn deadline(&self) -> Instant {
        match (&self.role, self.midway) {
            (Role::New | Role::Entering(_), _) => self.began + self.limits.idle,
            (_, Some(since)) => since + self.limits.idle,
            (_, None) => self.last + self.limits.idle_session,
        }
    }

    /// Answers a message, or starts to.
    async fn hear(&mut self, arrived: Arrived) -> Result<(), Gone> {
        let _busy = self.slot.busy();
        match arrived {
            Arrived::Greeting => self.link.send(&Inbound::greeting_reply(), &[]).await,
            Arrived::Refused(stream, failure) => self.link.fail(stream, &failure).await,
            Arrived::Request(stream, request) => {
                let answered = match &self.role {
                    Role::New => self.enter(stream, request).await?,
                    Role::Entering(session) => self.authenticate(Arc::clone(session), stream, request).await?,
                    Role::Session(_) => self.answer(stream, request).await?,
                    Role::Data => {
                        Err(refuse(error::INVALID_REQUEST, "this is a data link: send requests on the session's link"))
                    }
                };
                let exchange = self.current.take();
                let mut reply = Reply { link: Arc::clone(&self.link), stream, exchange };
                match answered {
                    Ok(()) => Ok(()),
                    Err(failure) => reply.fail(&failure).await,
                }
            }
        }
    }

    /// Before the login.
    async fn enter(&mut self, stream: u16, request: Request) -> Result<Result<(), Failure>, Gone> {
        match request {
            Request::Protocol { .. } => self.protocol(stream).await?,
            Request::Login { .. } => {
                let session = self.shared.sessions.begin(self.address, self.link.is_secure);
                let asks = self.shared.ask_tokens && self.link.is_secure;
                let security = if asks { auth::TOKEN_OR_USER.to_owned() } else { String::new() };
                let body = Login { session: session.id, security }.encode();
                self.role = if asks { Role::Entering(session) } else { Role::Session(session) };
                self.link.reply(stream, status::OK, &body).await?;
            }
            Request::Bind { session } => {
                let Some(session) = self.shared.sessions.find(&session, self.address) else {
                    return Ok(Err(refuse(error::NOT_FOUND, "there is no such session")));
                };
                if session.is_secure && !self.link.is_secure {
                    let why = "the session is encrypted: its data links have to be, too";
                    return Ok(Err(refuse(error::TLS_REQUIRED, why)));
                }
                let Some(number) = session.bind(&self.link) else {
                    return Ok(Err(refuse(error::OVERLOADED, "the session has too many data links")));
                };
                self.role = Role::Data;
                self.link.reply(stream, status::OK, &[number]).await?;
            }
            Request::Ping => self.link.done(stream).await?,
            _ => return Ok(Err(refuse(error::INVALID_REQUEST, "log in first"))),
        }
        Ok(Ok(()))
    }

    /// Accepts a token, for the files to check; a client without one sends a user name, which is ignored.
    async fn authenticate(
        &mut self,
        session: Arc<Session>,
        stream: u16,
        request: Request,
    ) -> Result<Result<(), Failure>, Gone> {
        let Request::Auth(credential) = request else {
            return Ok(Err(refuse(error::NOT_AUTHORIZED, "authenticate with a token or a user name first")));
        };
        self.authorization =
            auth::token_of(&credential.0).map(|token| SecretBytes([b"Bearer ", &token.0[..]].concat()));
        self.role = Role::Session(session);
        self.link.done(stream).await?;
        Ok(Ok(()))
    }

    /// A second protocol request: TLS starts before the login, or not at all.
    pub(super) async fn protocol(&self, stream: u16) -> Result<(), Gone> {
        self.link.reply(stream, status::OK, &protocol(&self.shared, false)).await
    }

    /// Answers concurrently with other requests; waits while too many are being answered.
    pub(super) async fn begin(&mut self, answer: impl Future<Output = Result<(), Gone>> + Send + 'static) {
        let Ok(permit) = Arc::clone(&self.permits).acquire_owned().await else { return };
        let busy = self.link.busy();
        self.tasks.spawn(async move {
            // A failure to send has been noticed where it occurred.
            let _ = answer.await;
            drop((permit, busy));
        });
    }
}
