//! Splits a stream of bytes into messages: replies for a client, requests for a server.

use crate::checksum::crc32c;
use crate::code::{FIRST_REQUEST, status};
use crate::cursor::Cursor;
use crate::request::{HEADER, Request};
use bytes::Bytes;

/// A reply's fixed part, in bytes.
pub const REPLY_HEADER: usize = 8;
/// The rest of a status frame's fixed part, in bytes.
const STATUS_BODY: usize = 16;
/// A status frame's information beyond its fixed part, in bytes at most.
const STATUS_INFO: usize = 1024;

/// The next thing in a stream of replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The beginning of a reply (without bytes), or a part of its body: the whole body has `len` bytes, and these begin
    /// at `at`.
    Reply {
        /// The stream of the request.
        stream: u16,
        /// As in [`status`].
        status: u16,
        /// Length of the body.
        len: u32,
        /// Position of these bytes in the body.
        at: u32,
        /// The bytes; none at the beginning, so that a length can be refused before its bytes arrive.
        bytes: Bytes,
    },
    /// The beginning of a status frame; its data follow.
    Status(StatusHead),
    /// Data of the latest status frame.
    Data {
        /// The stream of the request.
        stream: u16,
        /// Bytes still to come.
        left: u32,
        /// The bytes.
        bytes: Bytes,
    },
}

/// The head of a status frame, before its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusHead {
    /// The stream of the request.
    pub stream: u16,
    /// Number of the request that is answered.
    pub request: u16,
    /// 0: the last frame of the answer, 1: more follow, 2: only a sign of life.
    pub kind: u8,
    /// Information specific to the request.
    pub info: Vec<u8>,
    /// Bytes of data after it.
    pub len: u32,
}

/// Why a stream of replies cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidMessage(pub &'static str);

impl std::fmt::Display for InvalidMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for InvalidMessage {}

/// Splits a stream of replies. Keeps no more than a header: bodies pass through.
#[derive(Debug, Default)]
pub struct ReplyDecoder {
    header: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Header,
    Body {
        stream: u16,
        status: u16,
        len: u32,
        at: u32,
    },
    Status {
        stream: u16,
        len: usize,
    },
    Data {
        stream: u16,
        left: u32,
    },
}

impl ReplyDecoder {
    /// The next part, taken from the front of `input`; none when more bytes are needed.
    ///
    /// # Errors
    /// Negative lengths, damaged status frames: the rest of the stream cannot be parsed.
    pub fn next(&mut self, input: &mut Bytes) -> Result<Option<Part>, InvalidMessage> {
        loop {
            match self.state {
                State::Header => {
                    if !fill(&mut self.header, REPLY_HEADER, input) {
                        return Ok(None);
                    }
                    let mut header = Cursor::new(&self.header);
                    let (Some(stream), Some(status), Some(len)) = (header.u16(), header.u16(), header.i32()) else {
                        return Err(InvalidMessage("a header is truncated"));
                    };
                    let len = u32::try_from(len).map_err(|_| InvalidMessage("a reply of negative length"))?;
                    self.header.clear();
                    if status == status::STATUS {
                        let len = usize::try_from(len).unwrap_or(usize::MAX);
                        if !(STATUS_BODY..=STATUS_BODY + STATUS_INFO).contains(&len) {
                            return Err(InvalidMessage("a status frame of impossible length"));
                        }
                        self.state = State::Status { stream, len };
                    } else {
                        if len > 0 {
                            self.state = State::Body { stream, status, len, at: 0 };
                        }
                        return Ok(Some(Part::Reply { stream, status, len, at: 0, bytes: Bytes::new() }));
                    }
                }
                State::Body { stream, status, len, at } => {
                    let Some(bytes) = pass(input, len - at) else { return Ok(None) };
                    let end = at + bytes.len() as u32;
                    self.state = if end == len { State::Header } else { State::Body { stream, status, len, at: end } };
                    return Ok(Some(Part::Reply { stream, status, len, at, bytes }));
                }
                State::Status { stream, len } => {
                    if !fill(&mut self.header, len, input) {
                        return Ok(None);
                    }
                    let head = status_head(stream, &self.header)?;
                    self.header.clear();
                    self.state = if head.len == 0 { State::Header } else { State::Data { stream, left: head.len } };
                    return Ok(Some(Part::Status(head)));
                }
                State::Data { stream, left } => {
                    let Some(bytes) = pass(input, left) else { return Ok(None) };
                    let left = left - bytes.len() as u32;
                    self.state = if left == 0 { State::Header } else { State::Data { stream, left } };
                    return Ok(Some(Part::Data { stream, left, bytes }));
                }
            }
        }
    }
}

fn status_head(stream: u16, body: &[u8]) -> Result<StatusHead, InvalidMessage> {
    let short = InvalidMessage("a status frame is truncated");
    let mut c = Cursor::new(body);
    let sum = c.u32().ok_or(short)?;
    if crc32c(c.rest()) != sum {
        return Err(InvalidMessage("a status frame arrived damaged: its checksum is wrong"));
    }
    let same = c.u16().ok_or(short)?;
    let (request, kind) = (c.u8().ok_or(short)?, c.u8().ok_or(short)?);
    c.u32().ok_or(short)?;
    let len = u32::try_from(c.i32().ok_or(short)?).map_err(|_| InvalidMessage("a status frame of negative length"))?;
    if same != stream {
        return Err(InvalidMessage("a status frame has two stream ids"));
    }
    Ok(StatusHead { stream, request: FIRST_REQUEST + u16::from(request), kind, info: c.rest().to_vec(), len })
}

/// Collects bytes until there are `len`.
fn fill(kept: &mut Vec<u8>, len: usize, input: &mut Bytes) -> bool {
    let more = len.saturating_sub(kept.len()).min(input.len());
    kept.extend(input.split_to(more));
    kept.len() >= len
}

/// At most this many bytes from the front; none when there are none.
fn pass(input: &mut Bytes, most: u32) -> Option<Bytes> {
    let len = input.len().min(usize::try_from(most).unwrap_or(usize::MAX));
    (len > 0).then(|| input.split_to(len))
}

/// The header of a reply with a body of `len` bytes: the server's side.
pub fn reply_head(stream: u16, status: u16, len: u32) -> [u8; REPLY_HEADER] {
    let ([a, b], [c, d], [e, f, g, h]) = (stream.to_be_bytes(), status.to_be_bytes(), len.to_be_bytes());
    [a, b, c, d, e, f, g, h]
}

/// Appends a reply's bytes to `out`: the server's side.
pub fn encode_reply(stream: u16, status: u16, body: &[u8], out: &mut Vec<u8>) {
    out.extend(reply_head(stream, status, body.len() as u32));
    out.extend(body);
}

/// The header before the `head.len` bytes of a status frame's data: the server's side.
pub fn status_head_bytes(head: &StatusHead) -> Vec<u8> {
    let mut body = Vec::with_capacity(STATUS_BODY + head.info.len());
    body.extend(head.stream.to_be_bytes());
    body.extend([(head.request - FIRST_REQUEST) as u8, head.kind, 0, 0, 0, 0]);
    body.extend(head.len.to_be_bytes());
    body.extend(&head.info);
    let sum = crc32c(&body).to_be_bytes();
    let mut out = Vec::with_capacity(REPLY_HEADER + sum.len() + body.len());
    encode_reply(head.stream, status::STATUS, &[&sum[..], &body].concat(), &mut out);
    out
}

/// A status frame and its data: the server's side. `head.len` is taken from the data.
pub fn encode_status(head: &StatusHead, data: &[u8], out: &mut Vec<u8>) {
    out.extend(status_head_bytes(&StatusHead { len: data.len() as u32, ..head.clone() }));
    out.extend(data);
}

/// Splits a stream of requests: the server's side. Remove the client's greeting first.
#[derive(Debug)]
pub struct RequestDecoder {
    kept: Vec<u8>,
    most: usize,
}

impl RequestDecoder {
    /// Refuses payloads longer than this.
    pub fn new(max_payload: usize) -> Self {
        Self { kept: Vec::new(), most: max_payload }
    }

    /// Whether a request has partly arrived.
    pub fn is_midway(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The next request and its stream, taken from the front of `input`; none when more bytes are needed. An
    /// unsupported request is returned as its number.
    ///
    /// # Errors
    /// A payload longer than allowed.
    #[allow(clippy::type_complexity)]
    pub fn next(&mut self, input: &mut Bytes) -> Result<Option<(u16, Result<Request, u16>)>, InvalidMessage> {
        if !fill(&mut self.kept, HEADER, input) {
            return Ok(None);
        }
        let mut c = Cursor::new(&self.kept);
        let (Some(stream), Some(number), Some(fixed), Some(len)) = (c.u16(), c.u16(), c.array::<16>(), c.i32()) else {
            return Ok(None);
        };
        let len = usize::try_from(len).ok().filter(|len| *len <= self.most);
        let len = len.ok_or(InvalidMessage("a request with a payload of impossible length"))?;
        if !fill(&mut self.kept, HEADER + len, input) {
            return Ok(None);
        }
        let payload = self.kept.get(HEADER..).unwrap_or_default();
        let request = Request::decode(number, &fixed, payload).ok_or(number);
        self.kept.clear();
        Ok(Some((stream, request)))
    }
}
