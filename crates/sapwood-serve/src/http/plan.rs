//! The answer to a request, before it is sent.

use super::conditions;
use super::page;
use super::ranges::{RequestedRange, wanted};
use super::stream::{BodyPart, Sending, Streamed};
use crate::client_request::ClientRequest;
use crate::connections::Busy;
use crate::error::FilesError;
use crate::exchange::Exchange;
use crate::files::{Files, Found, OpenFile};
use crate::shared::Shared;
use crate::wan::Window;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use sapwood_span::Span;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use tokio::sync::Mutex;

/// A body of at most this many bytes is read before its head is sent.
const SHORT_BODY: u64 = 256 << 10;
/// Bytes of a longer one that are read before its head is sent.
const BEGINNING: u64 = 64 << 10;

pub(super) type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// An answer before it is sent.
pub(super) struct Plan {
    pub status: StatusCode,
    headers: HeaderMap,
    pub ranges: Vec<Span>,
    pieces: VecDeque<BodyPart>,
    file: Option<Arc<dyn OpenFile>>,
}

impl Plan {
    fn new(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), ranges: Vec::new(), pieces: VecDeque::new(), file: None }
    }

    pub(super) fn text(status: StatusCode, text: &str) -> Self {
        let mut plan = Self::new(status);
        plan.set(header::CONTENT_TYPE, "text/plain; charset=utf-8");
        plan.pieces.push_back(BodyPart::Bytes(Bytes::copy_from_slice(text.as_bytes())));
        plan
    }

    /// The answer where files cannot be served.
    pub(super) fn failed(error: &FilesError) -> Self {
        let mut plan = Self::text(error.http_status(), &format!("{error}\n"));
        match error {
            // The standard requires a challenge with a 401.
            FilesError::Unauthorized { challenge, .. } => {
                plan.set(header::WWW_AUTHENTICATE, challenge.as_deref().unwrap_or("Bearer"));
            }
            FilesError::Changed | FilesError::Busy(_) => plan.set(header::RETRY_AFTER, "5"),
            _ => {}
        }
        plan
    }

    /// A page about a directory. It runs no scripts, whatever it contains.
    fn page(content_type: &str, body: Bytes) -> Self {
        let mut plan = Self::new(StatusCode::OK);
        plan.set(header::CONTENT_TYPE, content_type);
        plan.set(header::CONTENT_SECURITY_POLICY, "default-src 'none'");
        plan.pieces.push_back(BodyPart::Bytes(body));
        plan
    }

    pub(super) fn set(&mut self, name: HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
    }

    pub(super) fn length(&self) -> u64 {
        self.pieces.iter().map(BodyPart::len).sum()
    }

    /// Reads the beginning of the body before the head is sent, and all of a short one: both go in one write, the
    /// client gets a status if it cannot be read, and the time to the first byte shows how far away the bytes are.
    ///
    /// # Errors
    /// Those of reading; `Changed` where another version has replaced the file.
    pub(super) async fn read_beginning(mut self) -> Result<Self, FilesError> {
        let Some(file) = self.file.clone() else { return Ok(self) };
        let all: Vec<Span> = self.pieces.iter().filter_map(BodyPart::span).collect();
        if all.is_empty() {
            return Ok(self);
        }
        file.expect(&all);
        let is_short = self.length() <= SHORT_BODY;
        let rest = self.split_off(if is_short { SHORT_BODY } else { BEGINNING });
        let spans: Vec<Span> = self.pieces.iter().filter_map(BodyPart::span).collect();
        let mut read = if spans.is_empty() { Vec::new() } else { file.read(spans).await? }.into_iter();
        for piece in &mut self.pieces {
            if let Some(span) = piece.span() {
                match read.next() {
                    Some(bytes) if bytes.len() as u64 == span.len => *piece = BodyPart::Bytes(bytes),
                    _ => return Err(FilesError::Failed("reading failed".to_owned())),
                }
            }
        }
        if rest.is_empty() {
            self.file = None;
        }
        self.pieces.extend(rest);
        Ok(self)
    }

    /// Splits off what follows the first `at` bytes of the body.
    fn split_off(&mut self, at: u64) -> VecDeque<BodyPart> {
        let mut left = at;
        let mut rest = VecDeque::new();
        for piece in std::mem::take(&mut self.pieces) {
            let (first, second) = piece.split(left);
            left -= first.as_ref().map_or(0, BodyPart::len);
            self.pieces.extend(first);
            rest.extend(second);
        }
        rest
    }

    /// Starts to send it.
    pub(super) fn send(
        mut self,
        bodyless: bool,
        shared: &Shared,
        window: Arc<Mutex<Window>>,
        busy: Busy,
        exchange: Exchange,
    ) -> Answer {
        let length = self.length();
        self.set(header::CONTENT_LENGTH, &length.to_string());
        self.set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        let body = if bodyless || length == 0 {
            Full::default().map_err(|never| match never {}).boxed_unsync()
        } else {
            let sending = Sending { file: self.file, window, room: Arc::clone(&shared.room) };
            Streamed::begin(self.pieces, sending, busy, exchange).boxed_unsync()
        };
        let mut answer = Response::new(body);
        *answer.status_mut() = self.status;
        *answer.headers_mut() = self.headers;
        answer
    }
}

/// The answer from `files`. `path` is the request's, as it was sent.
pub(super) async fn plan(
    files: &dyn Files,
    asked: &ClientRequest,
    path: &str,
    is_get: bool,
    headers: &HeaderMap,
) -> Plan {
    let nothing = || Plan::failed(&FilesError::NotFound);
    let found = match files.find(asked).await {
        Ok(found) => found,
        Err(e) => return Plan::failed(&e),
    };
    match found {
        Found::Folder(folder) if asked.path.is_folder => match page::of(&*folder, path).await {
            Ok(page) => Plan::page("text/html; charset=utf-8", page.into()),
            Err(e) => Plan::failed(&e),
        },
        Found::Page(page) if asked.path.is_folder => Plan::page(&page.content_type, page.body),
        // Browsers treat a backslash as a slash.
        Found::Folder(_) | Found::Page(_) if path.contains('\\') => nothing(),
        Found::Folder(_) | Found::Page(_) => {
            // Links on the page are relative to it: its address must end in a slash. One slash
            // at the front: two would name a host.
            let mut plan = Plan::text(StatusCode::MOVED_PERMANENTLY, "a directory\n");
            plan.set(header::LOCATION, &format!("/{}/", path.trim_matches('/')));
            plan
        }
        // Not a directory.
        Found::File(_) if asked.path.is_folder => nothing(),
        Found::File(file) => of_file(file, is_get, headers),
    }
}

fn of_file(file: Arc<dyn OpenFile>, is_get: bool, headers: &HeaderMap) -> Plan {
    let text = |name: HeaderName| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    let (size, version) = (file.size(), file.version().clone());
    // A range of another version must not be mixed with what the client has. Ranges apply to GET only.
    let same = is_get && conditions::same_for_range(&version, headers);
    let mut plan = if let Some(status) = conditions::unmet(&version, headers) {
        Plan::new(status)
    } else {
        match if same { wanted(text(header::RANGE), size) } else { RequestedRange::Whole } {
            RequestedRange::Whole => {
                let mut plan = Plan::new(StatusCode::OK);
                plan.pieces.push_back(BodyPart::File(Span::new(0, size)));
                plan
            }
            RequestedRange::Nothing => {
                let mut plan =
                    Plan::text(StatusCode::RANGE_NOT_SATISFIABLE, "the range is beyond the end of the file\n");
                plan.set(header::CONTENT_RANGE, &format!("bytes */{size}"));
                plan
            }
            RequestedRange::Ranges(spans) => of_ranges(spans, size),
        }
    };
    if plan.status != StatusCode::RANGE_NOT_SATISFIABLE && !plan.headers.contains_key(header::CONTENT_TYPE) {
        plan.set(header::CONTENT_TYPE, file.content_type().unwrap_or("application/octet-stream"));
    }
    plan.set(header::ACCEPT_RANGES, "bytes");
    plan.set(header::ETAG, &version.etag);
    plan.set(header::LAST_MODIFIED, &version.modified);
    plan.file = Some(file);
    plan
}

fn of_ranges(spans: Vec<Span>, size: u64) -> Plan {
    let mut plan = Plan::new(StatusCode::PARTIAL_CONTENT);
    let text = |s: &Span| format!("bytes {}-{}/{size}", s.start, s.end().saturating_sub(1));
    if let [one] = spans.as_slice() {
        plan.set(header::CONTENT_RANGE, &text(one));
        plan.pieces.push_back(BodyPart::File(*one));
    } else {
        // Random, so that no file contains it: 128 bits from the system's hash keys.
        let boundary = format!("{:016x}{:016x}", RandomState::new().hash_one(0), RandomState::new().hash_one(1));
        plan.set(header::CONTENT_TYPE, &format!("multipart/byteranges; boundary={boundary}"));
        for span in &spans {
            let head = format!(
                "\r\n--{boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: {}\r\n\r\n",
                text(span)
            );
            plan.pieces.push_back(BodyPart::Bytes(head.into()));
            plan.pieces.push_back(BodyPart::File(*span));
        }
        plan.pieces.push_back(BodyPart::Bytes(format!("\r\n--{boundary}--\r\n").into()));
    }
    plan.ranges = spans;
    plan
}
