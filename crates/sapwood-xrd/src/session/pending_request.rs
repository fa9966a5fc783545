//! A request that awaits its response.

use super::link::LinkId;
use crate::code::request as number;
use crate::frame::{InvalidMessage, StatusHead};
use crate::pages::PageBody;
use crate::request::{CHUNK, Request};
use crate::vector::VectorBody;
use bytes::Bytes;
use std::time::Duration;

/// Identifies a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(super) u64);

/// The receiver of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The caller.
    Caller(Id),
    /// The session itself: the answer is part of setting up a link.
    Setup(Step),
}

/// Steps of setting up a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Protocol,
    Login,
    /// The bool: sent before the server asked for it.
    Auth(bool),
    Bind,
}

#[derive(Debug)]
pub(super) struct PendingRequest {
    pub owner: Owner,
    /// The link over which the answer will come.
    pub link: LinkId,
    /// The request's bytes, to be sent again after a wait.
    pub encoded: Vec<u8>,
    pub answer: Answer,
    /// When to send it again.
    pub resend: Option<Duration>,
    /// Whether the server has made it wait before.
    pub delayed: bool,
    /// The server has announced that the answer will come later.
    pub late: bool,
    /// The latest status frame is the last one of the answer.
    pub answer_is_final: bool,
    /// The answer is no longer wanted.
    pub mute: bool,
    /// It uses a guessed handle: this open must confirm it first.
    pub guessed: Option<Id>,
    /// The guessed handle for this open.
    pub guess: Option<u32>,
    /// Bytes that count in the link's load.
    pub load: u64,
}

/// The state of an answer: what has arrived, and what may still come.
#[derive(Debug)]
pub(super) enum Answer {
    /// A small body, kept until it is complete.
    Body { most: usize, kept: Vec<u8> },
    /// Bytes from `at` to `end`.
    Read { at: u64, end: u64 },
    /// Ranges with headers; at most `left` bytes.
    Vector { body: VectorBody, left: u64 },
    /// Pages with checksums; at most `left` bytes.
    Pages { body: PageBody, left: u64 },
}

/// A directory may be large; no other answer is.
const DIRECTORY: usize = 64 << 20;
const SMALL: usize = 256 << 10;

impl Answer {
    pub(super) fn to(request: &Request) -> Self {
        match request {
            Request::Read { offset, len, .. } => {
                Self::Read { at: *offset, end: offset.saturating_add(u64::from(*len)) }
            }
            Request::PageRead { offset, len, .. } => Self::Pages {
                body: PageBody::new(*offset, u64::from(*len)),
                left: PageBody::wire_len(*offset, u64::from(*len)),
            },
            Request::ReadV(chunks) => Self::Vector {
                body: VectorBody::new(chunks),
                left: chunks.iter().map(|c| u64::from(c.len) + CHUNK as u64).sum(),
            },
            Request::DirList { .. } => Self::Body { most: DIRECTORY, kept: Vec::new() },
            _ => Self::Body { most: SMALL, kept: Vec::new() },
        }
    }

    /// Bytes still to come at most.
    pub(super) fn left(&self) -> u64 {
        match self {
            Self::Body { most, kept } => (most - kept.len().min(*most)) as u64,
            Self::Read { at, end } => end - at,
            Self::Vector { left, .. } | Self::Pages { left, .. } => *left,
        }
    }

    /// Takes a part of a reply's body.
    pub(super) fn push(&mut self, bytes: Bytes, out: &mut Vec<(u64, Bytes)>) -> Result<(), InvalidMessage> {
        let len = bytes.len() as u64;
        if len > self.left() {
            return Err(InvalidMessage("a reply is longer than requested"));
        }
        match self {
            Self::Body { kept, .. } => kept.extend_from_slice(&bytes),
            Self::Read { at, .. } => {
                if !bytes.is_empty() {
                    out.push((*at, bytes));
                    *at += len;
                }
            }
            Self::Vector { body, left } => {
                *left -= len;
                body.push(bytes, out)?;
            }
            Self::Pages { .. } => {
                if !bytes.is_empty() {
                    return Err(InvalidMessage("a page read returns no checksums"));
                }
            }
        }
        Ok(())
    }

    /// A status frame starts.
    pub(super) fn status(&mut self, head: &StatusHead) -> Result<(), InvalidMessage> {
        let Self::Pages { body, left } = self else {
            return Err(InvalidMessage("a status frame is not for a page read"));
        };
        let offset = head.info.first_chunk::<8>().map(|b| u64::from_be_bytes(*b));
        let Some(offset) = offset.filter(|_| head.request == number::PGREAD && head.kind < 2) else {
            return Err(InvalidMessage("a status frame that does not fit the page read"));
        };
        if u64::from(head.len) > *left {
            return Err(InvalidMessage("a page read is longer than requested"));
        }
        body.frame(offset)
    }

    /// Data of that status frame; `last` marks its end.
    pub(super) fn data(&mut self, bytes: &[u8], last: bool, out: &mut Vec<(u64, Bytes)>) -> Result<(), InvalidMessage> {
        match self {
            Self::Pages { body, left } => {
                *left = left.saturating_sub(bytes.len() as u64);
                body.push(bytes, last, out)
            }
            _ => Err(InvalidMessage("data without a page read")),
        }
    }

    /// Whether each byte counts as progress. Small answers are sent in one go: only their end counts.
    pub(super) fn is_long(&self) -> bool {
        !matches!(self, Self::Body { most, .. } if *most <= SMALL)
    }

    /// Number of damaged pages.
    pub(super) fn damaged(&self) -> u32 {
        match self {
            Self::Pages { body, .. } => body.damaged,
            _ => 0,
        }
    }
}
