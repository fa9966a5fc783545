//! The body of an answer as pieces of the file.

use super::client::Reply;
use super::multipart::{Malformed, Multipart};
use super::range::content_range;
use crate::assemble::Piece;
use bytes::Bytes;
use hyper::header::HeaderMap;
use sapwood_span::{Error, ErrorKind, Result};

/// How the body of a 200 or 206 brings the file.
pub(crate) enum Body {
    /// Several ranges.
    Parts(Box<Multipart>),
    /// One range (or, from a 200, everything): `left` bytes to come, if that is known.
    Plain { offset: u64, left: Option<u64>, total: Option<u64> },
}

impl Body {
    /// Says what the answer brings; in words what is wrong if it makes no sense.
    pub fn of(reply: &Reply) -> Result<Self, String> {
        if reply.status == 200 {
            let length = reply.length();
            return Ok(Self::Plain { offset: 0, left: length, total: length });
        }
        let kind = reply.header("content-type").unwrap_or_default();
        if let Some(parser) = Multipart::for_content_type(kind) {
            return Ok(Self::Parts(Box::new(parser)));
        }
        let text = reply.header("content-range").unwrap_or_default();
        let Some(range) = content_range(text) else {
            return Err(format!("the server sends a part of the file with a bad Content-Range ({text:?})"));
        };
        let Some(span) = range.span else { return Err("the server sends a part but does not say which".to_owned()) };
        if let Some(length) = reply.length().filter(|&n| n != span.len) {
            return Err(format!("Content-Length ({length}) contradicts Content-Range ({text:?})"));
        }
        Ok(Self::Plain { offset: span.start, left: Some(span.len), total: range.total })
    }

    /// Whether it brings one range only.
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Plain { .. })
    }

    /// Size of the file as this answer tells it, so far.
    pub fn total(&self) -> Option<u64> {
        match self {
            Self::Parts(parser) => parser.total(),
            Self::Plain { total, .. } => *total,
        }
    }

    /// Takes a chunk; appends the pieces of the file that it brings.
    pub fn push(&mut self, chunk: Bytes, out: &mut Vec<Piece>) -> Result<(), Malformed> {
        match self {
            Self::Parts(parser) => parser.push(chunk, out),
            Self::Plain { offset, left, .. } => {
                let len = chunk.len() as u64;
                if let Some(left) = left {
                    *left = left.checked_sub(len).ok_or(Malformed::PartTooLong)?;
                }
                out.push(Piece { offset: *offset, bytes: chunk });
                *offset += len;
                Ok(())
            }
        }
    }
}

/// What tells two versions of a file apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Validator {
    etag: Option<String>,
    modified: Option<String>,
}

impl Validator {
    pub fn of(headers: &HeaderMap) -> Self {
        let get = |name| headers.get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
        Self { etag: get("etag"), modified: get("last-modified") }
    }

    /// Refuses an answer that comes from another version of the file.
    ///
    /// `If-Range` is not sent: some servers ignore it, and for the others looking at the answer
    /// says the same without a body that nobody wants.
    pub fn check(&self, headers: &HeaderMap) -> Result<()> {
        let now = Self::of(headers);
        let differ = |name: &str, old: &Option<String>, new: &Option<String>| match (old, new) {
            (Some(old), Some(new)) => {
                Some((old != new).then(|| changed(&format!("{name} was {old} and is {new} now"))))
            }
            _ => None,
        };
        let verdict =
            differ("ETag", &self.etag, &now.etag).or_else(|| differ("Last-Modified", &self.modified, &now.modified));
        verdict.flatten().map_or(Ok(()), Err)
    }
}

/// The file is not the one that was opened.
pub(crate) fn changed(how: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the file changed on the server while being read: {how}"))
        .with_remedy("open it again")
}
