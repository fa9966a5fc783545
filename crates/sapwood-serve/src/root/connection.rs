//! One connection: what comes is cut into requests, which are answered.

use super::link::{Gone, Link, failure, refuse};
use super::reads::{Wanted, inside};
use super::session::{Handles, Session};
use super::{checksums, listing, reads};
use crate::asked::{self, Asked, ServedPath};
use crate::connections::{ClientLimits, Slot, Watched};
use crate::error::FilesError;
use crate::files::{FileInfo, Found, OpenFile};
use crate::log::{Served, shown};
use crate::shared::Shared;
use bytes::{Bytes, BytesMut};
use sapwood_span::Span;
use sapwood_xrd::answer::{VECTOR_BYTES, VECTOR_RANGES, settings};
use sapwood_xrd::code::{self, DIRLIST_CHECKSUM, DIRLIST_STAT, error, server, status};
use sapwood_xrd::reply::{self, Failure, Location, Login, Protocol};
use sapwood_xrd::{Arrived, Chunk, Handle, Inbound, Request, SecretBytes};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, ReadHalf};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Bytes received at a time, and how often before they are looked at: more stays in the socket.
const RECEIVE: usize = 16 << 10;
const RECEIVED: usize = 4;
/// Requests of a session that are answered side by side.
const AT_ONCE: usize = 4;
/// What a server calls itself.
const VERSION: &str = concat!("sapwood/", env!("CARGO_PKG_VERSION"));

/// Serves a connection to its end.
pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>, slot: Arc<Slot>) {
    shared.wan.connect().await;
    let Ok(here) = stream.local_addr() else { return };
    let limits = *shared.connections.limits();
    let (read, write) = tokio::io::split(Watched::new(stream, limits.stall));
    let link = Arc::new(Link::new(write, shared.wan.window(), Arc::clone(&slot)));
    let (sender, arrivals) = mpsc::channel(RECEIVED);
    let mut receiver = JoinSet::new();
    receiver.spawn(receive(read, sender));
    let now = Instant::now();
    let mut connection = Connection {
        address: slot.address,
        shared,
        slot,
        here,
        limits,
        link,
        inbound: Inbound::default(),
        role: Role::New,
        authorization: None,
        handles: Handles::default(),
        permits: Arc::new(Semaphore::new(AT_ONCE)),
        tasks: JoinSet::new(),
        began: now,
        last: now,
        midway: None,
    };
    if connection.run(arrivals).await == End::Left {
        // It asks nothing more, and may still want to hear what it has asked; or it has gone, and nobody waits for what is slow.
        let rest = async { while connection.tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(limits.stall, rest).await;
    }
    if let Role::Session(session) = &connection.role {
        session.links().iter().for_each(|link| link.close());
    }
}

/// Passes on what comes, with its time.
async fn receive(mut read: ReadHalf<Watched>, sender: mpsc::Sender<(Instant, Bytes)>) {
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

/// Why a connection is not served any more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The client will say nothing more.
    Left,
    /// It is to be closed at once.
    Closed,
}

/// What a connection is for.
enum Role {
    /// Nobody has logged in yet.
    New,
    Session(Arc<Session>),
    /// A data link: requests come elsewhere.
    Data,
}

struct Connection {
    address: IpAddr,
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    /// The address that the client has called.
    here: SocketAddr,
    limits: ClientLimits,
    link: Arc<Link>,
    inbound: Inbound,
    role: Role,
    /// What the login has shown.
    authorization: Option<SecretBytes>,
    handles: Handles,
    permits: Arc<Semaphore>,
    tasks: JoinSet<()>,
    began: Instant,
    /// When something last came.
    last: Instant,
    /// Since when a request has begun and not ended.
    midway: Option<Instant>,
}

impl Connection {
    async fn run(&mut self, mut arrivals: mpsc::Receiver<(Instant, Bytes)>) -> End {
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
                () = self.slot.ended() => return End::Closed,
            }
        }
    }

    /// Until when something has to come.
    fn deadline(&self) -> Instant {
        match (&self.role, self.midway) {
            (Role::New, _) => self.began + self.limits.idle,
            (_, Some(since)) => since + self.limits.idle,
            (_, None) => self.last + self.limits.idle_session,
        }
    }

    /// Answers what was said, or begins to.
    async fn hear(&mut self, arrived: Arrived) -> Result<(), Gone> {
        let _busy = self.slot.busy();
        match arrived {
            Arrived::Greeting => self.link.send(&Inbound::greeting_reply(), &[]).await,
            Arrived::Refused(stream, failure) => self.link.fail(stream, &failure).await,
            Arrived::Request(stream, request) => {
                let answered = match &self.role {
                    Role::New => self.enter(stream, request).await?,
                    Role::Session(_) => self.answer(stream, request).await?,
                    Role::Data => Err(refuse(error::INVALID_REQUEST, "this is a data link: ask on the session's link")),
                };
                match answered {
                    Ok(()) => Ok(()),
                    Err(failure) => self.link.fail(stream, &failure).await,
                }
            }
        }
    }

    /// Before the login.
    async fn enter(&mut self, stream: u16, request: Request) -> Result<Result<(), Failure>, Gone> {
        match request {
            Request::Protocol { .. } => self.protocol(stream).await?,
            Request::Login { .. } => {
                let session = self.shared.sessions.begin(self.address);
                let body = Login { session: session.id, security: String::new() }.encode();
                self.role = Role::Session(session);
                self.link.reply(stream, status::OK, &body).await?;
            }
            Request::Bind { session } => {
                let Some(session) = self.shared.sessions.find(&session, self.address) else {
                    return Ok(Err(refuse(error::NOT_FOUND, "there is no such session")));
                };
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

    async fn protocol(&self, stream: u16) -> Result<(), Gone> {
        let body = Protocol { version: code::VERSION, flags: server::DATA | server::PAGES }.encode();
        self.link.reply(stream, status::OK, &body).await
    }

    /// Answers a request of a session. The outer error ends the connection.
    async fn answer(&mut self, stream: u16, request: Request) -> Result<Result<(), Failure>, Gone> {
        match request {
            Request::Protocol { .. } => self.protocol(stream).await?,
            Request::Login { .. } | Request::Auth(_) | Request::Bind { .. } => {
                return Ok(Err(refuse(error::INVALID_REQUEST, "this session has logged in already")));
            }
            Request::Open { path, options } => return self.open(stream, &path.0, options).await,
            Request::Stat { path } => {
                let info = self.info(&path.0).await;
                self.log("stat", &path.0, Vec::new(), info.as_ref().err().map(failure).as_ref());
                match info {
                    Ok(info) => self.link.reply(stream, status::OK, &listing::stat_of(&info).encode()).await?,
                    Err(e) => return Ok(Err(failure(&e))),
                }
            }
            Request::StatOpen { handle } => {
                let Some(opened) = self.handles.get(&handle) else { return Ok(Err(not_open())) };
                match opened.file.info().await {
                    Ok(info) => self.link.reply(stream, status::OK, &listing::stat_of(&info).encode()).await?,
                    Err(e) => return Ok(Err(failure(&e))),
                }
            }
            Request::Close { handle } => {
                if !self.handles.close(&handle) {
                    return Ok(Err(not_open()));
                }
                self.link.done(stream).await?;
            }
            Request::Read { handle, offset, len, path_id } => {
                let Some(file) = self.file(&handle) else { return Ok(Err(not_open())) };
                let span = inside(&*file, offset, len);
                self.log_read("read", &handle, vec![span]);
                let link = self.link_for(path_id);
                self.begin(async move { reads::read(&link, stream, &*file, span).await }).await;
            }
            Request::PageRead { handle, offset, len, path_id, .. } => {
                let Some(file) = self.file(&handle) else { return Ok(Err(not_open())) };
                let span = inside(&*file, offset, len);
                self.log_read("pgread", &handle, vec![span]);
                let link = self.link_for(path_id);
                self.begin(async move { reads::page_read(&link, stream, &*file, span).await }).await;
            }
            Request::ReadV(chunks) => match self.wanted(&chunks) {
                Ok(wanted) => {
                    let spans = chunks.iter().map(|c| Span::new(c.offset, c.len.into())).collect();
                    self.log_read("readv", &chunks.first().map(|c| c.handle).unwrap_or_default(), spans);
                    let link = Arc::clone(&self.link);
                    self.begin(async move { reads::vector_read(&link, stream, &wanted).await }).await;
                }
                Err(failure) => return Ok(Err(failure)),
            },
            Request::Query { kind: code::QUERY_CONFIG, words } => {
                self.link.reply(stream, status::OK, &settings(&words, VERSION)).await?;
            }
            Request::Query { kind: code::QUERY_CHECKSUM, words } => {
                return self.checksum(stream, &sapwood_span::raw_text::bytes_of(&words)).await;
            }
            Request::Query { .. } => {
                return Ok(Err(refuse(error::UNSUPPORTED, "this server does not support the query")));
            }
            Request::Locate { path, .. } => return self.locate(stream, &path.0).await,
            Request::DirList { path, options } => return self.list(stream, &path.0, options).await,
            Request::Set(_) | Request::Ping => self.link.done(stream).await?,
            Request::EndSession { session } => {
                if let Some(other) = self.shared.sessions.find(&session, self.address)
                    && !matches!(&self.role, Role::Session(own) if own.id == other.id)
                {
                    other.end.notify_one();
                }
                self.link.done(stream).await?;
            }
        }
        Ok(Ok(()))
    }

    async fn open(&mut self, stream: u16, path: &[u8], options: u16) -> Result<Result<(), Failure>, Gone> {
        let opened = self.opened(path, options).await;
        self.log("open", path, Vec::new(), opened.as_ref().err());
        let (handle, file) = match opened {
            Ok(opened) => opened,
            Err(failure) => return Ok(Err(failure)),
        };
        let stat = if options & code::open::RETSTAT == 0 {
            None
        } else {
            match file.info().await {
                Ok(info) => Some(listing::stat_of(&info)),
                Err(e) => {
                    self.handles.close(&handle);
                    return Ok(Err(failure(&e)));
                }
            }
        };
        self.link.reply(stream, status::OK, &reply::Open { handle, stat }.encode()).await.map(Ok)
    }

    async fn opened(&mut self, path: &[u8], options: u16) -> Result<(Handle, Arc<dyn OpenFile>), Failure> {
        if options & code::open::WRITES != 0 {
            return Err(refuse(error::READ_ONLY, "this server is read-only"));
        }
        let asked = self.asked(path).map_err(|e| failure(&e))?;
        let Some(place) = self.slot.file() else {
            return Err(refuse(error::OVERLOADED, "too many open files: close some, or try again later"));
        };
        match self.shared.files.find(&asked).await {
            Ok(Found::File(_)) if asked.path.is_folder => Err(failure(&FilesError::NotFound)),
            Ok(Found::File(file)) => Ok((self.handles.open(asked.path, Arc::clone(&file), place), file)),
            Ok(Found::Folder(_) | Found::Page(_)) => Err(refuse(error::IS_DIRECTORY, "it is a directory")),
            Err(e) => Err(failure(&e)),
        }
    }

    fn file(&self, handle: &Handle) -> Option<Arc<dyn OpenFile>> {
        self.handles.get(handle).map(|opened| Arc::clone(&opened.file))
    }

    /// The link on which an answer is wanted; this one, if the other has gone.
    fn link_for(&self, path_id: u8) -> Arc<Link> {
        let data = match &self.role {
            Role::Session(session) if path_id > 0 => session.link(path_id),
            _ => None,
        };
        data.unwrap_or_else(|| Arc::clone(&self.link))
    }

    /// Answers beside other requests; waits while too many are being answered.
    async fn begin(&mut self, answer: impl Future<Output = Result<(), Gone>> + Send + 'static) {
        let Ok(permit) = Arc::clone(&self.permits).acquire_owned().await else { return };
        let busy = self.link.busy();
        self.tasks.spawn(async move {
            // Who cannot be answered has been noticed where it was tried.
            let _ = answer.await;
            drop((permit, busy));
        });
    }

    /// Checks a vector read before any of it is read.
    fn wanted(&self, chunks: &[Chunk]) -> Result<Vec<Wanted>, Failure> {
        if chunks.len() > VECTOR_RANGES {
            return Err(refuse(error::ARG_TOO_LONG, "too many ranges in a vector read: see readv_iov_max"));
        }
        let wanted = |chunk: &Chunk| {
            let file = self.file(&chunk.handle).ok_or_else(not_open)?;
            if chunk.len > VECTOR_BYTES {
                return Err(refuse(error::NO_MEMORY, "a range of a vector read is too long: see readv_ior_max"));
            }
            if inside(&*file, chunk.offset, chunk.len).len < u64::from(chunk.len) {
                return Err(refuse(error::FS_ERROR, "a range of a vector read ends beyond the end of the file"));
            }
            Ok((*chunk, file))
        };
        chunks.iter().map(wanted).collect()
    }

    async fn checksum(&mut self, stream: u16, words: &[u8]) -> Result<Result<(), Failure>, Gone> {
        let asked = match self.asked(words) {
            Ok(asked) => asked,
            Err(e) => return Ok(Err(failure(&e))),
        };
        let found = self.shared.files.find(&asked).await;
        self.log("checksum", words, Vec::new(), found.as_ref().err().map(failure).as_ref());
        let file = match found {
            Ok(Found::File(file)) => file,
            Ok(Found::Folder(_) | Found::Page(_)) => return Ok(Err(refuse(error::IS_DIRECTORY, "it is a directory"))),
            Err(e) => return Ok(Err(failure(&e))),
        };
        let (link, shared) = (Arc::clone(&self.link), Arc::clone(&self.shared));
        self.begin(async move { checksums::answer(&link, stream, &shared, &asked.path, &*file).await }).await;
        Ok(Ok(()))
    }

    async fn locate(&self, stream: u16, path: &[u8]) -> Result<Result<(), Failure>, Gone> {
        // A star asks for the servers of all files.
        let info = match path.strip_prefix(b"*") {
            Some(_) => Ok(()),
            None => self.info(path).await.map(|_| ()),
        };
        match info {
            Ok(()) => {
                let address = SocketAddr::new(self.here.ip().to_canonical(), self.here.port()).to_string();
                let location = Location { address, manager: false, pending: false };
                self.link.reply(stream, status::OK, &location.encode()).await.map(Ok)
            }
            Err(e) => Ok(Err(failure(&e))),
        }
    }

    async fn list(&mut self, stream: u16, path: &[u8], options: u8) -> Result<Result<(), Failure>, Gone> {
        if options & DIRLIST_CHECKSUM != 0 {
            return Ok(Err(refuse(error::UNSUPPORTED, "listings with checksums are not supported")));
        }
        let found = match self.asked(path) {
            Ok(asked) => self.shared.files.find(&asked).await,
            Err(e) => Err(e),
        };
        self.log("dirlist", path, Vec::new(), found.as_ref().err().map(failure).as_ref());
        match found {
            Ok(Found::Folder(folder)) => {
                let link = Arc::clone(&self.link);
                let stats = options & DIRLIST_STAT != 0;
                self.begin(async move { listing::list(&link, stream, &*folder, stats).await }).await;
                Ok(Ok(()))
            }
            Ok(Found::Page(_)) => Ok(Err(refuse(error::UNSUPPORTED, "the origin has no listing, only a page"))),
            Ok(Found::File(_)) => Ok(Err(refuse(error::FS_ERROR, "it is not a directory"))),
            Err(e) => Ok(Err(failure(&e))),
        }
    }

    /// What is asked of the files.
    fn asked(&self, path: &[u8]) -> Result<Asked, FilesError> {
        let path = ServedPath::of_bytes(path).ok_or(FilesError::NotFound)?;
        let asked = Asked::new(path, self.slot.address, asked::Protocol::Root).connection(self.slot.number);
        Ok(asked.authorization(self.authorization.clone()))
    }

    async fn info(&self, path: &[u8]) -> Result<FileInfo, FilesError> {
        self.shared.files.info(&self.asked(path)?).await
    }

    fn log_read(&self, method: &str, handle: &Handle, ranges: Vec<Span>) {
        if let Some(opened) = self.handles.get(handle) {
            self.log(method, &opened.path.parts().join(&b'/'), ranges, None);
        }
    }

    fn log(&self, method: &str, path: &[u8], ranges: Vec<Span>, failure: Option<&Failure>) {
        let path = shown(&String::from_utf8_lossy(path));
        let bytes = ranges.iter().map(|r| r.len).sum();
        let status = failure.map_or(0, |f| u16::try_from(f.number).unwrap_or(u16::MAX));
        self.shared.log(Served { method: method.to_owned(), path, ranges, status, bytes });
    }
}

fn not_open() -> Failure {
    refuse(error::FILE_NOT_OPEN, "no such file is open")
}
