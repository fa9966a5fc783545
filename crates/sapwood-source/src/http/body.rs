//! The body of a response as pieces of the file.

use super::multipart::{Malformed, Multipart};
use super::range::content_range;
use super::reply::Reply;
use crate::assemble::Piece;
use bytes::Bytes;

/// How the body of a 200 or 206 carries the file.
pub(crate) enum Body {
    /// Several ranges.
    Parts(Box<Multipart>),
    /// One range (or, from a 200, everything): `left` bytes to come, if that is known.
    Plain { offset: u64, left: Option<u64>, total: Option<u64> },
}

impl Body {
    /// What the response holds; an error as text if it makes no sense.
    pub(super) fn of(reply: &Reply) -> Result<Self, String> {
        if reply.status == 200 {
            let length = reply.length();
            return Ok(Self::Plain { offset: 0, left: length, total: length });
        }
        let kind = reply.header("content-type").unwrap_or_default();
        if let Some(parser) = Multipart::for_content_type(kind) {
            return Ok(Self::Parts(Box::new(parser)));
        }
        let text = reply.header("content-range").unwrap_or_default();
        let all = reply.headers.get_all("content-range");
        if all.iter().any(|other| other.as_bytes() != text.as_bytes()) {
            return Err("the server sends two different Content-Range headers".to_owned());
        }
        let Some(range) = content_range(text) else {
            return Err(format!("the server sends a part of the file with a bad Content-Range ({text:?})"));
        };
        let Some(span) = range.span else { return Err("the server sends a part without a Content-Range".to_owned()) };
        if let Some(length) = reply.length().filter(|&n| n != span.len) {
            return Err(format!("Content-Length ({length}) contradicts Content-Range ({text:?})"));
        }
        Ok(Self::Plain { offset: span.start, left: Some(span.len), total: range.total })
    }

    /// Whether it brings one range only.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain { .. })
    }

    /// Size of the file according to this response so far.
    pub(super) fn total(&self) -> Option<u64> {
        match self {
            Self::Parts(parser) => parser.total(),
            Self::Plain { total, .. } => *total,
        }
    }

    /// Takes a chunk; appends the pieces of the file in it.
    pub(super) fn push(&mut self, chunk: Bytes, out: &mut Vec<Piece>) -> Result<(), Malformed> {
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
