//! What a server receives on one connection: the greeting, then requests.

use crate::code::{self, error, request as number};
use crate::frame::{InvalidMessage, RequestDecoder};
use crate::reply::Failure;
use crate::request::{Request, greeting};
use bytes::Bytes;

/// Bytes that follow a request's fixed part, at most: a full vector read has a quarter of this, paths are shorter.
const MOST_PAYLOAD: usize = 64 << 10;

/// The next message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// It uses XRootD: answer with [`Inbound::greeting_reply`].
    Greeting,
    /// A request, and the stream for its answer.
    Request(u16, Request),
    /// A request that this kind of server does not support, or that makes no sense, and the answer to it.
    Refused(u16, Failure),
}

/// Splits the input into a greeting and requests. Takes memory for received bytes, and never more than for one request.
#[derive(Debug)]
pub struct Inbound {
    /// The received part of the greeting; none when it was complete.
    greeting: Option<Vec<u8>>,
    decoder: RequestDecoder,
    input: Bytes,
}

impl Default for Inbound {
    fn default() -> Self {
        Self { greeting: Some(Vec::new()), decoder: RequestDecoder::new(MOST_PAYLOAD), input: Bytes::new() }
    }
}

impl Inbound {
    /// Adds received bytes. Call it when [`Inbound::arrived`] has nothing more.
    pub fn received(&mut self, bytes: Bytes) {
        self.input = if self.input.is_empty() { bytes } else { [&self.input[..], &bytes].concat().into() };
    }

    /// The next message; none when more bytes are needed.
    ///
    /// # Errors
    /// It is not XRootD, or a request is longer than any may be: what follows cannot be parsed.
    pub fn arrived(&mut self) -> Result<Option<Arrived>, InvalidMessage> {
        if let Some(kept) = &mut self.greeting {
            let wanted = greeting();
            let more = (wanted.len() - kept.len()).min(self.input.len());
            kept.extend(self.input.split_to(more));
            if !wanted.starts_with(kept) {
                return Err(InvalidMessage("the client does not use the XRootD protocol"));
            }
            if kept.len() < wanted.len() {
                return Ok(None);
            }
            self.greeting = None;
            return Ok(Some(Arrived::Greeting));
        }
        let next = self.decoder.next(&mut self.input)?;
        Ok(next.map(|(stream, request)| match request {
            Ok(request) => Arrived::Request(stream, request),
            Err(number) => Arrived::Refused(stream, refusal(number)),
        }))
    }

    /// Whether a greeting or a request is incomplete, or the greeting has not arrived yet.
    pub fn is_midway(&self) -> bool {
        self.greeting.is_some() || self.decoder.is_midway()
    }

    /// Whether all input was processed, with nothing incomplete.
    pub fn is_at_rest(&self) -> bool {
        !self.is_midway() && self.input.is_empty()
    }

    /// A data server's answer to a greeting: the protocol's version, and its kind.
    pub fn greeting_reply() -> Vec<u8> {
        let mut out = Vec::new();
        let body = [code::VERSION.to_be_bytes(), code::server::DATA.to_be_bytes()].concat();
        crate::frame::encode_reply(0, code::status::OK, &body, &mut out);
        out
    }
}

/// The answer to an unsupported request.
fn refusal(request: u16) -> Failure {
    let (number, message) = match request {
        number::CHMOD
        | number::MKDIR
        | number::MV
        | number::CHKPOINT
        | number::RM
        | number::RMDIR
        | number::SYNC
        | number::WRITE
        | number::PGWRITE
        | number::TRUNCATE
        | number::WRITEV => (error::READ_ONLY, "this server is read-only"),
        number::READ | number::PGREAD | number::READV => (error::ARG_INVALID, "the offset or length is invalid"),
        number::AUTH..=number::WRITEV => (error::UNSUPPORTED, "this server does not support the request"),
        _ => (error::INVALID_REQUEST, "there is no such request"),
    };
    Failure { number, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], cut: usize) -> Result<Vec<Arrived>, InvalidMessage> {
        let mut inbound = Inbound::default();
        let mut out = Vec::new();
        for piece in bytes.chunks(cut) {
            inbound.received(Bytes::copy_from_slice(piece));
            while let Some(arrived) = inbound.arrived()? {
                out.push(arrived);
            }
        }
        Ok(out)
    }

    #[test]
    fn a_conversation_cut_anywhere() {
        let mut bytes = greeting().to_vec();
        let asked = [Request::Ping, Request::Open { path: "/f".into(), options: 16 }, Request::Set("appid x".into())];
        for (i, request) in asked.iter().enumerate() {
            request.encode(i as u16, &mut bytes);
        }
        for cut in 1..=bytes.len() {
            let got = all(&bytes, cut).unwrap();
            assert_eq!(got[0], Arrived::Greeting);
            assert_eq!(got.len(), 4);
            for (i, request) in asked.iter().enumerate() {
                assert_eq!(got[i + 1], Arrived::Request(i as u16, request.clone()));
            }
        }
        let mut inbound = Inbound::default();
        assert!(inbound.is_midway(), "a greeting has to come");
        inbound.received(bytes.clone().into());
        while inbound.arrived().unwrap().is_some() {}
        assert!(!inbound.is_midway());
    }

    #[test]
    fn other_protocols_are_refused_at_their_first_byte() {
        for other in [&b"G"[..], b"GET / HTTP/1.1\r\n\r\n", &[0, 0, 0, 1], &[0; 20]] {
            assert!(all(other, 100).is_err(), "{other:?}");
        }
    }

    fn request(number: u16, fixed: [u8; 16], len: i32, payload: &[u8]) -> Vec<u8> {
        let head = [&greeting()[..], &[0, 7], &number.to_be_bytes(), &fixed, &len.to_be_bytes()].concat();
        [&head, payload].concat()
    }

    #[test]
    fn what_is_not_fulfilled_is_refused_by_number() {
        let negative_length = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0];
        let negative_offset = [0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        for (asked, fixed, want) in [
            (number::READ, negative_length, error::ARG_INVALID),
            (number::READ, negative_offset, error::ARG_INVALID),
            (number::PGREAD, negative_length, error::ARG_INVALID),
            (number::READV, [0; 16], error::ARG_INVALID),
            (number::WRITE, [0; 16], error::READ_ONLY),
            (number::RM, [0; 16], error::READ_ONLY),
            (number::STAT, [1; 16], error::UNSUPPORTED),
            (3020, [0; 16], error::UNSUPPORTED),
            (3032, [0; 16], error::INVALID_REQUEST),
            (0, [0; 16], error::INVALID_REQUEST),
        ] {
            let got = all(&request(asked, fixed, 0, b""), 1000).unwrap();
            assert!(matches!(&got[1], Arrived::Refused(7, f) if f.number == want), "{asked}: {got:?}");
        }
    }

    #[test]
    fn lengths_out_of_bounds_end_the_conversation() {
        for len in [-1, i32::MIN, i32::MAX, MOST_PAYLOAD as i32 + 1] {
            assert!(all(&request(number::OPEN, [0; 16], len, b""), 1000).is_err(), "{len}");
        }
        let longest = vec![b'x'; MOST_PAYLOAD];
        let got = all(&request(number::OPEN, [0; 16], MOST_PAYLOAD as i32, &longest), 1000).unwrap();
        assert_eq!(got.len(), 2);
    }
}
