//! Requests of a session and their answers.

use super::connection::{Connection, Role};
use super::link::{Gone, Link, failure, refuse};
use super::reads::{Wanted, inside};
use super::reply::Reply;
use super::{checksums, listing, reads};
use crate::client_request::{self, ClientRequest, ServedPath};
use crate::error::FilesError;
use crate::exchange::Exchange;
use crate::files::{FileInfo, Found, OpenFile};
use crate::log::{Served, shown};
use sapwood_span::Span;
use sapwood_xrd::answer::{VECTOR_BYTES, VECTOR_RANGES, settings};
use sapwood_xrd::code::{self, DIRLIST_CHECKSUM, DIRLIST_STAT, error, status};
use sapwood_xrd::reply::{self, Failure, Location};
use sapwood_xrd::{Chunk, Handle, Request};
use std::net::SocketAddr;
use std::sync::Arc;

/// The server's name and version.
const VERSION: &str = concat!("sapwood/", env!("CARGO_PKG_VERSION"));

impl Connection {
    /// Answers a request of a session. The outer error ends the connection.
    pub(super) async fn answer(&mut self, stream: u16, request: Request) -> Result<Result<(), Failure>, Gone> {
        match request {
            Request::Protocol { .. } => self.protocol(stream).await?,
            Request::Login { .. } | Request::Auth(_) | Request::Bind { .. } => {
                return Ok(Err(refuse(error::INVALID_REQUEST, "this session has logged in already")));
            }
            Request::Open { path, options } => return self.open(stream, &path.0, options).await,
            Request::Stat { path } => {
                self.count("stat", &path.0);
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
                let reply = self.reply(self.link_for(path_id), stream);
                self.begin(async move { reads::read(reply, &*file, span).await }).await;
            }
            Request::PageRead { handle, offset, len, path_id, .. } => {
                let Some(file) = self.file(&handle) else { return Ok(Err(not_open())) };
                let span = inside(&*file, offset, len);
                self.log_read("pgread", &handle, vec![span]);
                let reply = self.reply(self.link_for(path_id), stream);
                self.begin(async move { reads::page_read(reply, &*file, span).await }).await;
            }
            Request::ReadV(chunks) => match self.wanted(&chunks) {
                Ok(wanted) => {
                    let spans = chunks.iter().map(|c| Span::new(c.offset, c.len.into())).collect();
                    self.log_read("readv", &chunks.first().map(|c| c.handle).unwrap_or_default(), spans);
                    let reply = self.reply(Arc::clone(&self.link), stream);
                    self.begin(async move { reads::vector_read(reply, &wanted).await }).await;
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
        self.count("open", path);
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
        self.count("checksum", words);
        let found = self.shared.files.find(&asked).await;
        self.log("checksum", words, Vec::new(), found.as_ref().err().map(failure).as_ref());
        let file = match found {
            Ok(Found::File(file)) => file,
            Ok(Found::Folder(_) | Found::Page(_)) => return Ok(Err(refuse(error::IS_DIRECTORY, "it is a directory"))),
            Err(e) => return Ok(Err(failure(&e))),
        };
        let (reply, shared) = (self.reply(Arc::clone(&self.link), stream), Arc::clone(&self.shared));
        self.begin(async move { checksums::answer(reply, &shared, &asked.path, &*file).await }).await;
        Ok(Ok(()))
    }

    async fn locate(&mut self, stream: u16, path: &[u8]) -> Result<Result<(), Failure>, Gone> {
        self.count("locate", path);
        // A star requests the servers of all files.
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
        self.count("dirlist", path);
        let found = match self.asked(path) {
            Ok(asked) => self.shared.files.find(&asked).await,
            Err(e) => Err(e),
        };
        self.log("dirlist", path, Vec::new(), found.as_ref().err().map(failure).as_ref());
        match found {
            Ok(Found::Folder(folder)) => {
                let reply = self.reply(Arc::clone(&self.link), stream);
                let stats = options & DIRLIST_STAT != 0;
                self.begin(async move { listing::list(reply, &*folder, stats).await }).await;
                Ok(Ok(()))
            }
            Ok(Found::Page(_)) => {
                Ok(Err(refuse(error::UNSUPPORTED, "the origin lists the directory only as a web page")))
            }
            Ok(Found::File(_)) => Ok(Err(refuse(error::FS_ERROR, "it is not a directory"))),
            Err(e) => Ok(Err(failure(&e))),
        }
    }

    /// The request to the files.
    fn asked(&self, path: &[u8]) -> Result<ClientRequest, FilesError> {
        let path = ServedPath::of_bytes(path).ok_or(FilesError::NotFound)?;
        let asked = ClientRequest::new(path, self.slot.address, client_request::Protocol::Root)
            .connection(self.slot.number)
            .is_secure(self.link.is_secure);
        Ok(asked.authorization(self.authorization.clone()))
    }

    async fn info(&self, path: &[u8]) -> Result<FileInfo, FilesError> {
        self.shared.files.info(&self.asked(path)?).await
    }

    fn log_read(&mut self, method: &str, handle: &Handle, ranges: Vec<Span>) {
        if let Some(opened) = self.handles.get(handle) {
            let path = opened.path.parts().join(&b'/');
            self.count(method, &path);
            self.log(method, &path, ranges, None);
        }
    }

    /// The last request is counted until its answer has ended.
    fn count(&mut self, method: &str, path: &[u8]) {
        let path = String::from_utf8_lossy(path);
        self.current =
            Some(Exchange::begin(&self.shared.reports, self.address, client_request::Protocol::Root, method, &path));
    }

    /// The answer to the last request.
    fn reply(&mut self, link: Arc<Link>, stream: u16) -> Reply {
        Reply { link, stream, exchange: self.current.take() }
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
