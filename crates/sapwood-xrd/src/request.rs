//! A client's requests, as bytes and back.

use crate::code::{self, request as number};
use crate::cursor::Cursor;
use sapwood_span::raw_text::{bytes_of, text_of};
use std::fmt;

/// An open file, as the server names it.
pub type Handle = [u8; 4];

/// A request's fixed part, in bytes.
pub const HEADER: usize = 24;
/// One range of a vector read, in the request and before its data in the reply, in bytes.
pub const CHUNK: usize = 16;

/// One range of a vector read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The file.
    pub handle: Handle,
    /// Offset of the first byte.
    pub offset: u64,
    /// Bytes wanted.
    pub len: u32,
}

/// Bytes that must not appear in messages: a credential, or a path that may hold one.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct SecretBytes(pub Vec<u8>);

impl fmt::Debug for SecretBytes {
    /// Only their number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}

impl From<&str> for SecretBytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

/// A request without its stream id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The first request: version, TLS. Flags and expectation as in [`code::client`].
    Protocol {
        /// The client's abilities and wishes.
        flags: u8,
        /// The kind of request that will follow.
        expect: u8,
    },
    /// Starts a session.
    Login {
        /// Process ID of the client.
        pid: u32,
        /// User name; eight bytes of it are sent.
        user: String,
        /// The login token of a redirect, or nothing.
        token: SecretBytes,
    },
    /// A credential; its first bytes name the kind.
    Auth(SecretBytes),
    /// Makes this link a data link of a session.
    Bind {
        /// The session, from its login's reply.
        session: [u8; 16],
    },
    /// Opens a file; `path` may hold `?key=value&...`.
    Open {
        /// Path and opaque information.
        path: SecretBytes,
        /// As in [`code::open`].
        options: u16,
    },
    /// Size, kind and time of a path.
    Stat {
        /// Path and opaque information.
        path: SecretBytes,
    },
    /// Size and time of an open file.
    StatOpen {
        /// The file.
        handle: Handle,
    },
    /// Closes a file.
    Close {
        /// The file.
        handle: Handle,
    },
    /// Bytes of a file, in order.
    Read {
        /// The file.
        handle: Handle,
        /// Offset of the first byte.
        offset: u64,
        /// Bytes wanted.
        len: u32,
        /// The data link for the data; 0 is this one.
        path_id: u8,
    },
    /// As `Read`, with a checksum for each page.
    PageRead {
        /// The file.
        handle: Handle,
        /// Offset of the first byte.
        offset: u64,
        /// Bytes wanted.
        len: u32,
        /// The data link for the data; 0 is this one.
        path_id: u8,
        /// Whether these pages arrived damaged before.
        again: bool,
    },
    /// Many ranges at once.
    ReadV(Vec<Chunk>),
    /// A query to the server about itself.
    Query {
        /// The kind of query.
        kind: u16,
        /// Its arguments, with bytes written as in [`sapwood_span::raw_text`]: a path among them need not be UTF-8.
        words: String,
    },
    /// Which servers have a file.
    Locate {
        /// Path and opaque information.
        path: SecretBytes,
        /// As in [`code::open`].
        options: u16,
    },
    /// Lists a directory.
    DirList {
        /// Path and opaque information.
        path: SecretBytes,
        /// [`code::DIRLIST_STAT`] or 0.
        options: u8,
    },
    /// A setting of the session, such as the client's name for the server's log.
    Set(SecretBytes),
    /// Tests the connection.
    Ping,
    /// Ends a session.
    EndSession {
        /// The session.
        session: [u8; 16],
    },
}

impl Request {
    /// Its number.
    pub fn number(&self) -> u16 {
        match self {
            Self::Protocol { .. } => number::PROTOCOL,
            Self::Login { .. } => number::LOGIN,
            Self::Auth(_) => number::AUTH,
            Self::Bind { .. } => number::BIND,
            Self::Open { .. } => number::OPEN,
            Self::Stat { .. } | Self::StatOpen { .. } => number::STAT,
            Self::Close { .. } => number::CLOSE,
            Self::Read { .. } => number::READ,
            Self::PageRead { .. } => number::PGREAD,
            Self::ReadV(_) => number::READV,
            Self::Query { .. } => number::QUERY,
            Self::Locate { .. } => number::LOCATE,
            Self::DirList { .. } => number::DIRLIST,
            Self::Set(_) => number::SET,
            Self::Ping => number::PING,
            Self::EndSession { .. } => number::ENDSESS,
        }
    }

    /// Appends the request's bytes to `out`. Offsets above 2^63 and payloads above 2^31 bytes cannot be expressed in
    /// this protocol: callers check them.
    pub fn encode(&self, stream: u16, out: &mut Vec<u8>) {
        let mut fixed = [0u8; 16];
        let mut payload: Vec<u8> = Vec::new();
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(place) = fixed.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        };
        match self {
            Self::Protocol { flags, expect } => {
                put(0, &code::VERSION.to_be_bytes());
                put(4, &[*flags, *expect]);
            }
            Self::Login { pid, user, token } => {
                put(0, &pid.to_be_bytes());
                put(4, user.as_bytes().get(..8).unwrap_or(user.as_bytes()));
                put(13, &[code::client::ABILITY, code::client::CAPABILITY]);
                payload.extend(&token.0);
            }
            Self::Auth(credential) => {
                put(12, credential.0.get(..4).unwrap_or_default());
                payload.extend(&credential.0);
            }
            Self::Bind { session } | Self::EndSession { session } => put(0, session),
            Self::Open { path, options } => {
                put(2, &options.to_be_bytes());
                payload.extend(&path.0);
            }
            Self::Stat { path } => payload.extend(&path.0),
            Self::StatOpen { handle } => put(12, handle),
            Self::Close { handle } => put(0, handle),
            Self::Read { handle, offset, len, path_id } => {
                put(0, handle);
                put(4, &offset.to_be_bytes());
                put(12, &len.to_be_bytes());
                if *path_id > 0 {
                    payload.extend([*path_id, 0, 0, 0, 0, 0, 0, 0]);
                }
            }
            Self::PageRead { handle, offset, len, path_id, again } => {
                put(0, handle);
                put(4, &offset.to_be_bytes());
                put(12, &len.to_be_bytes());
                if *path_id > 0 || *again {
                    payload.extend([*path_id, u8::from(*again)]);
                }
            }
            Self::ReadV(chunks) => {
                for chunk in chunks {
                    payload.extend(chunk.handle);
                    payload.extend(chunk.len.to_be_bytes());
                    payload.extend(chunk.offset.to_be_bytes());
                }
            }
            Self::Query { kind, words } => {
                put(0, &kind.to_be_bytes());
                payload.extend(bytes_of(words).iter());
            }
            Self::Locate { path, options } => {
                put(0, &options.to_be_bytes());
                payload.extend(&path.0);
            }
            Self::DirList { path, options } => {
                put(15, &[*options]);
                payload.extend(&path.0);
            }
            Self::Set(words) => payload.extend(&words.0),
            Self::Ping => {}
        }
        out.reserve(HEADER + payload.len());
        out.extend(stream.to_be_bytes());
        out.extend(self.number().to_be_bytes());
        out.extend(fixed);
        out.extend((payload.len() as u32).to_be_bytes());
        out.extend(payload);
    }

    /// A request from its number, its sixteen fixed bytes and its payload: the server's side. None for requests that
    /// make no sense or that are not needed for reading.
    pub fn decode(request: u16, fixed: &[u8; 16], payload: &[u8]) -> Option<Self> {
        let mut f = Cursor::new(fixed);
        let path = || SecretBytes(payload.to_vec());
        let offset = |f: &mut Cursor| f.i64().and_then(|o| u64::try_from(o).ok());
        let length = |f: &mut Cursor| f.i32().and_then(|l| u32::try_from(l).ok());
        Some(match request {
            number::PROTOCOL => {
                f.u32()?;
                Self::Protocol { flags: f.u8()?, expect: f.u8()? }
            }
            number::LOGIN => {
                let pid = f.u32()?;
                let user: [u8; 8] = f.array()?;
                let user = String::from_utf8_lossy(&user).trim_end_matches('\0').to_owned();
                Self::Login { pid, user, token: path() }
            }
            number::AUTH => Self::Auth(path()),
            number::BIND => Self::Bind { session: f.array()? },
            number::ENDSESS => Self::EndSession { session: f.array()? },
            number::OPEN => {
                f.u16()?;
                Self::Open { path: path(), options: f.u16()? }
            }
            number::STAT if fixed[0] & code::STAT_SPACE != 0 => return None,
            number::STAT if payload.is_empty() => {
                let handle = fixed.get(12..).and_then(|h| h.try_into().ok())?;
                Self::StatOpen { handle }
            }
            number::STAT => Self::Stat { path: path() },
            number::CLOSE => Self::Close { handle: f.array()? },
            number::READ => Self::Read {
                handle: f.array()?,
                offset: offset(&mut f)?,
                len: length(&mut f)?,
                path_id: payload.first().copied().unwrap_or(0),
            },
            number::PGREAD => Self::PageRead {
                handle: f.array()?,
                offset: offset(&mut f)?,
                len: length(&mut f)?,
                path_id: payload.first().copied().unwrap_or(0),
                again: payload.get(1).is_some_and(|flags| flags & 1 == 1),
            },
            number::READV => {
                let (chunks, rest) = payload.as_chunks::<CHUNK>();
                if chunks.is_empty() || !rest.is_empty() {
                    return None;
                }
                let chunk = |bytes: &[u8; CHUNK]| {
                    let mut c = Cursor::new(bytes);
                    Some(Chunk { handle: c.array()?, len: length(&mut c)?, offset: offset(&mut c)? })
                };
                Self::ReadV(chunks.iter().map(chunk).collect::<Option<_>>()?)
            }
            number::QUERY => Self::Query { kind: f.u16()?, words: text_of(payload).trim_end_matches('\0').to_owned() },
            number::LOCATE => Self::Locate { path: path(), options: f.u16()? },
            number::DIRLIST => Self::DirList { path: path(), options: fixed[15] },
            number::SET => Self::Set(path()),
            number::PING => Self::Ping,
            _ => return None,
        })
    }
}

/// The twenty bytes that a client sends first.
pub fn greeting() -> [u8; 20] {
    let mut out = [0; 20];
    out[12..16].copy_from_slice(&4u32.to_be_bytes());
    out[16..].copy_from_slice(&code::ROOTD_PQ.to_be_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_not_printed() {
        let open = Request::Open { path: "/f?authz=SECRET".into(), options: 16 };
        let auth = Request::Auth("ztn\0SECRET".into());
        let login = Request::Login { pid: 1, user: "u".into(), token: "SECRET".into() };
        assert!(!format!("{open:?}{auth:?}{login:?}").contains("SECRET"));
    }

    #[test]
    fn a_read_is_laid_out_as_the_protocol_says() {
        let mut out = Vec::new();
        let read = Request::Read { handle: [1, 2, 3, 4], offset: 0x0102_0304_0506, len: 7, path_id: 3 };
        read.encode(0xabcd, &mut out);
        let want = [
            &[0xab, 0xcd, 0x0b, 0xc5, 1, 2, 3, 4][..],
            &[0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 7, 0, 0, 0, 8],
            &[3, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(out, want.concat());
    }
}
