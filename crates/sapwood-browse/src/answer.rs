//! Answers: JSON, bytes, and lines of JSON that come while work goes on.

use crate::cancel::CancelOnDrop;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use sapwood::{Error, ErrorKind, Setting};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// Scripts and styles of the page only; frames only of notebooks on this machine.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'self' http://localhost:* http://127.0.0.1:*";

/// The body of an answer.
pub(crate) enum Content {
    /// All of it.
    Whole(Option<Bytes>),
    /// Lines as they are made. The work stops when they are not wanted any more.
    Lines(mpsc::Receiver<Bytes>, #[expect(dead_code, reason = "its drop tells the work to stop")] CancelOnDrop),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Lines(lines, _) => lines.poll_recv(context).map(|line| line.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Lines(..) => SizeHint::default(),
        }
    }
}

/// An answer.
pub(crate) type Answer = Response<Content>;

/// An answer of this type, with the headers that all have.
pub(crate) fn answer(status: StatusCode, kind: &'static str, content: Content) -> Answer {
    let mut answer = Response::new(content);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// A whole answer.
pub(crate) fn whole(status: StatusCode, kind: &'static str, bytes: impl Into<Bytes>) -> Answer {
    answer(status, kind, Content::Whole(Some(bytes.into()).filter(|bytes: &Bytes| !bytes.is_empty())))
}

/// A value.
pub(crate) fn json(value: &Value) -> Answer {
    whole(StatusCode::OK, "application/json", value.to_string())
}

/// Lines of JSON, one for each value that is sent.
pub(crate) fn lines(lines: mpsc::Receiver<Bytes>, cancel: CancelOnDrop) -> Answer {
    answer(StatusCode::OK, "application/x-ndjson", Content::Lines(lines, cancel))
}

/// A refusal.
pub(crate) fn refused(status: StatusCode, message: &str) -> Answer {
    whole(status, "application/json", json!({ "message": message }).to_string())
}

/// What went wrong, and where in the text of which box.
#[derive(Debug)]
pub(crate) struct Fault {
    status: StatusCode,
    message: String,
    field: Option<&'static str>,
    column: Option<usize>,
    of_file: bool,
}

impl Fault {
    /// A request that makes no sense.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into(), field: None, column: None, of_file: false }
    }

    /// A request that has to wait.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, ..Self::new(message) }
    }

    /// Of the text in a box of the page: expressions show where they are wrong.
    pub(crate) fn of(field: &'static str) -> impl Fn(Error) -> Self {
        move |error| Self { field: Some(field), ..Self::from(error) }
    }

    /// Of a box whose text is wrong as a whole.
    pub(crate) fn in_field(field: &'static str) -> impl Fn(String) -> Self {
        move |message| Self { field: Some(field), ..Self::new(message) }
    }

    /// Whether the file could not be read: it may have changed, and is opened again.
    pub(crate) fn is_of_file(&self) -> bool {
        self.of_file
    }

    /// The members that the page shows.
    pub(crate) fn to_json(&self) -> Value {
        json!({ "message": self.message, "field": self.field, "column": self.column })
    }

    /// As an answer.
    pub(crate) fn answer(&self) -> Answer {
        whole(self.status, "application/json", self.to_json().to_string())
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Denied => StatusCode::FORBIDDEN,
            _ if is_of_file(error.kind()) => StatusCode::BAD_GATEWAY,
            _ => StatusCode::BAD_REQUEST,
        };
        // the lines behind the first show the expression with a caret: the page marks it in its box
        let (first, column) = match error.what().split_once('\n') {
            Some((first, _)) => with_column(first),
            None => (error.what(), None),
        };
        let setting = error.setting().and_then(option).map_or_else(String::new, |option| format!("; {option}"));
        let message = if column.is_some() { first.to_owned() } else { format!("{error}{setting}") };
        Self { status, message, field: None, column, of_file: is_of_file(error.kind()) }
    }
}

/// Whether an error is of the file or its server, not of what was asked for.
fn is_of_file(kind: ErrorKind) -> bool {
    use ErrorKind::{Corrupt, Denied, Gone, Io, Protocol, Timeout};
    matches!(kind, Corrupt | Denied | Gone | Io | Protocol | Timeout)
}

/// How to make this program allow what it refused.
fn option(setting: Setting) -> Option<&'static str> {
    match setting {
        Setting::Recover => Some("start `sapwood browse` with --recover"),
        Setting::InsecureRedirects => Some("start `sapwood browse` with --insecure-redirects"),
        Setting::Online => Some("start `sapwood browse` without --offline"),
        _ => None,
    }
}

/// Takes `(column 5)` from the end of a message; columns of the page begin with 0.
fn with_column(first: &str) -> (&str, Option<usize>) {
    let found = first.strip_suffix(')').and_then(|front| front.rsplit_once(" (column "));
    match found.and_then(|(message, column)| Some((message, column.parse::<usize>().ok()?.checked_sub(1)?))) {
        Some((message, column)) => (message, Some(column)),
        None => (first, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_an_expression_says_where() {
        let error = Error::invalid("the tree has no branch nix (column 5)\n    x + nix\n        ^");
        let fault = Fault::of("cut")(error);
        assert_eq!(fault.to_json(), json!({ "message": "the tree has no branch nix", "field": "cut", "column": 4 }));
        let fault = Fault::from(Error::not_found("no object t").in_file("a.root"));
        assert_eq!(fault.to_json(), json!({ "message": "a.root: no object t", "field": null, "column": null }));
        assert_eq!((fault.status, fault.is_of_file()), (StatusCode::NOT_FOUND, false));
        for (kind, status) in [
            (ErrorKind::Timeout, StatusCode::BAD_GATEWAY),
            (ErrorKind::Gone, StatusCode::BAD_GATEWAY),
            (ErrorKind::Protocol, StatusCode::BAD_GATEWAY),
            (ErrorKind::Denied, StatusCode::FORBIDDEN),
        ] {
            let fault = Fault::from(Error::new(kind, "no"));
            assert_eq!((fault.status, fault.is_of_file()), (status, true), "{kind:?}");
        }
    }
}
