//! Server replies: parsing, and encoding for the server's side.

use crate::cursor::Cursor;
use crate::frame::InvalidMessage;
use crate::request::Handle;
use std::fmt;

/// Reply to a protocol request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// The server's protocol version.
    pub version: u32,
    /// As in [`crate::code::server`].
    pub flags: u32,
}

impl Protocol {
    /// # Errors
    /// Too short.
    pub fn parse(body: &[u8]) -> Result<Self, InvalidMessage> {
        let mut c = Cursor::new(body);
        let (Some(version), Some(flags)) = (c.u32(), c.u32()) else {
            return Err(InvalidMessage("a protocol reply is truncated"));
        };
        Ok(Self { version, flags })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        [self.version.to_be_bytes(), self.flags.to_be_bytes()].concat()
    }
}

/// Reply to a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The session's name: a client that knows it may bind links to it.
    pub session: [u8; 16],
    /// How to authenticate (`&P=unix&P=ztn,...`); empty where that is not required.
    pub security: String,
}

impl Login {
    /// # Errors
    /// Too short.
    pub fn parse(body: &[u8]) -> Result<Self, InvalidMessage> {
        let mut c = Cursor::new(body);
        let session = c.array().ok_or(InvalidMessage("a login's reply is truncated"))?;
        let security = String::from_utf8_lossy(c.rest()).trim_matches(|c: char| c == '\0' || c == ' ').to_owned();
        Ok(Self { session, security })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        [&self.session[..], self.security.as_bytes()].concat()
    }
}

/// Reply to an open request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// The file's name in this session.
    pub handle: Handle,
    /// The file's stat, where it was requested and the server has it.
    pub stat: Option<Stat>,
}

impl Open {
    /// # Errors
    /// Too short, or a stat that makes no sense.
    pub fn parse(body: &[u8]) -> Result<Self, InvalidMessage> {
        let mut c = Cursor::new(body);
        let handle = c.array().ok_or(InvalidMessage("an open's reply is truncated"))?;
        // Block size and name of a compression that servers no longer use.
        let stat = c.take(8).map(|_| c.rest()).filter(|rest| rest.iter().any(|b| *b > b' '));
        Ok(Self { handle, stat: stat.map(Stat::parse).transpose()? })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let stat = self.stat.map(|s| [&[0; 8], s.encode().as_slice()].concat());
        [&self.handle[..], &stat.unwrap_or_default()].concat()
    }
}

/// Metadata of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Size in bytes.
    pub size: u64,
    /// As in [`crate::code::stat`].
    pub flags: u32,
    /// Last change, in seconds since 1970.
    pub modified: i64,
    /// Last change of anything about the file, including its name and permissions; servers before XRootD 5 do not
    /// report it.
    pub inode: Option<i64>,
}

impl Stat {
    /// From `id size flags time [changed ...]`.
    ///
    /// # Errors
    /// Words missing, or not numbers.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidMessage> {
        let text = String::from_utf8_lossy(text);
        let mut words = text.split(['\0', '\n']).next().unwrap_or_default().split_ascii_whitespace().skip(1);
        let mut number = || words.next().and_then(|w| w.parse::<i64>().ok());
        let (Some(size), Some(flags), Some(modified)) = (number(), number(), number()) else {
            return Err(InvalidMessage("a stat that is not four numbers"));
        };
        let inode = number();
        match (u64::try_from(size), u32::try_from(flags)) {
            (Ok(size), Ok(flags)) => Ok(Self { size, flags, modified, inode }),
            _ => Err(InvalidMessage("a stat with a negative size")),
        }
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let inode = self.inode.map_or_else(String::new, |seconds| format!(" {seconds}"));
        format!("0 {} {} {}{inode}\0", self.size, self.flags, self.modified).into_bytes()
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.flags & crate::code::stat::IS_DIR != 0
    }
}

/// A failure as the server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// As in [`crate::code::error`].
    pub number: u32,
    /// The server's message, made printable.
    pub message: String,
}

impl Failure {
    /// # Errors
    /// Too short.
    pub fn parse(body: &[u8]) -> Result<Self, InvalidMessage> {
        let mut c = Cursor::new(body);
        let number = c.u32().ok_or(InvalidMessage("an error's reply is truncated"))?;
        Ok(Self { number, message: printable(c.rest()) })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        [&self.number.to_be_bytes()[..], self.message.as_bytes(), &[0]].concat()
    }
}

const LONGEST_HOST: usize = 255;
const LONGEST_URL: usize = 8 << 10;

/// The server to ask instead.
#[derive(Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Host and port; a negative port means that `host` holds a URL.
    pub host: String,
    /// See `host`.
    pub port: i32,
    /// To be added after the path's question mark: may hold credentials.
    pub opaque: String,
    /// For the login: may be a credential.
    pub token: String,
}

impl fmt::Debug for Redirect {
    /// Without possible credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host.split(['?', '@']).next().unwrap_or_default();
        write!(f, "Redirect({host}:{})", self.port)
    }
}

impl Redirect {
    /// From a port and `host[?opaque[?token]]`; the text after a URL's second question mark is its token.
    ///
    /// # Errors
    /// Too short, no host, characters not allowed in a host.
    pub fn parse(body: &[u8]) -> Result<Self, InvalidMessage> {
        let mut c = Cursor::new(body);
        let port = c.i32().ok_or(InvalidMessage("a redirect is truncated"))?;
        let text = std::str::from_utf8(c.rest()).map_err(|_| InvalidMessage("a redirect that is not text"))?;
        let mut parts = text.trim_end_matches('\0').splitn(3, '?');
        let mut part = || parts.next().unwrap_or_default().to_owned();
        let (host, opaque, token) = (part(), part().trim_start_matches('&').to_owned(), part());
        let fits = |text: &str| !text.bytes().any(|b| b.is_ascii_control() || b == b' ');
        // No host name is longer (RFC 1035); a negative port means that this is a whole URL.
        let most = if port < 0 { LONGEST_URL } else { LONGEST_HOST };
        if host.is_empty() || host.len() > most || ![&host, &opaque, &token].into_iter().all(|t| fits(t)) {
            return Err(InvalidMessage("a redirect without a valid host"));
        }
        Ok(Self { host, port, opaque, token })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.port.to_be_bytes().to_vec();
        out.extend(self.host.as_bytes());
        if !self.opaque.is_empty() || !self.token.is_empty() {
            out.extend(format!("?{}", self.opaque).as_bytes());
        }
        if !self.token.is_empty() {
            out.extend(format!("?{}", self.token).as_bytes());
        }
        out
    }
}

/// Seconds to wait, and optionally why.
///
/// # Errors
/// Too short, or negative.
pub fn wait(body: &[u8]) -> Result<(u32, String), InvalidMessage> {
    let mut c = Cursor::new(body);
    let seconds = c.i32().and_then(|s| u32::try_from(s).ok()).ok_or(InvalidMessage("a wait without a time"))?;
    Ok((seconds, printable(c.rest())))
}

/// The body of a message with a late answer, announced by a [`wait`](crate::code::status::WAITRESP).
pub fn late(stream: u16, status: u16, body: &[u8]) -> Vec<u8> {
    let mut out = crate::code::action::RESPONSE.to_be_bytes().to_vec();
    out.extend([0; 4]);
    crate::frame::encode_reply(stream, status, body, &mut out);
    out
}

/// The largest vector read that a server accepts: how many ranges, and how many bytes in one of them. From the answer
/// to the query `readv_iov_max readv_ior_max`, one line each; a value that is not a number is unknown to the server.
pub fn vector_limits(body: &[u8]) -> (Option<u32>, Option<u32>) {
    let text = String::from_utf8_lossy(body);
    let mut lines = text.trim_matches(['\0', '\n']).lines();
    let mut number = || lines.next().and_then(|l| l.trim().parse().ok());
    (number(), number())
}

/// A server that has a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// `host:port`.
    pub address: String,
    /// A manager of servers, to be queried in turn.
    pub manager: bool,
    /// It is fetching the file at the moment.
    pub pending: bool,
}

impl Location {
    /// Encodes it as the only location: a server with read-only files.
    pub fn encode(&self) -> Vec<u8> {
        let kind = match (self.manager, self.pending) {
            (false, false) => 'S',
            (false, true) => 's',
            (true, false) => 'M',
            (true, true) => 'm',
        };
        format!("{kind}r{}\0", self.address).into_bytes()
    }
}

/// The servers that have a file, from the answer to a locate request.
///
/// # Errors
/// Not an address of a server.
pub fn locations(body: &[u8]) -> Result<Vec<Location>, InvalidMessage> {
    let strange = InvalidMessage("a location that is not a server address");
    let text = std::str::from_utf8(body).map_err(|_| strange)?;
    let location = |word: &str| {
        let mut letters = word.chars();
        let (kind, _access) = (letters.next()?, letters.next()?);
        let address = letters.as_str();
        let (host, port) = address.rsplit_once(':')?;
        let fits = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:[]%".contains(&b));
        let known = matches!(kind, 'S' | 's' | 'M' | 'm') && fits && port.parse::<u16>().is_ok();
        known.then(|| Location {
            address: address.to_owned(),
            manager: matches!(kind, 'M' | 'm'),
            pending: matches!(kind, 's' | 'm'),
        })
    };
    let words = text.trim_end_matches('\0').split_ascii_whitespace();
    words.map(|word| location(word).ok_or(strange)).collect()
}

/// One line of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its stat, where it was requested and the server has it.
    pub stat: Option<Stat>,
}

/// Names in one directory at most: each takes many times the bytes of a short name in memory.
const MOST_ENTRIES: usize = 2_000_000;

/// A whole directory, from the answer to a listing. With stats, names and stats alternate after a first line `.`.
///
/// # Errors
/// A stat that makes no sense, or is missing; too many names.
pub fn entries(body: &[u8]) -> Result<Vec<Entry>, InvalidMessage> {
    let text = String::from_utf8_lossy(body);
    let mut lines = text.trim_end_matches('\0').split('\n').filter(|l| !l.is_empty()).peekable();
    let with_stats = lines.next_if(|l| l.trim() == ".").is_some();
    if with_stats {
        lines.next();
    }
    let mut out = Vec::new();
    while let Some(name) = lines.next() {
        if out.len() == MOST_ENTRIES {
            return Err(InvalidMessage("a directory with too many names"));
        }
        let stat = if with_stats {
            let line = lines.next().ok_or(InvalidMessage("a listing is truncated"))?;
            Some(Stat::parse(line.as_bytes())?)
        } else {
            None
        };
        out.push(Entry { name: name.to_owned(), stat });
    }
    Ok(out)
}

/// The beginning of a listing with stats.
pub const LISTING_WITH_STATS: &[u8] = b".\n0 0 0 0\n";

/// Appends one line of a listing to `out`; with a stat another line: the server's side. The last line of a listing ends
/// in a zero instead of a newline.
pub fn encode_entry(name: &[u8], stat: Option<&Stat>, out: &mut Vec<u8>) {
    out.extend(name);
    out.push(b'\n');
    if let Some(stat) = stat {
        let mut line = stat.encode();
        line.pop();
        out.extend(line);
        out.push(b'\n');
    }
}

/// A server's text without control characters, and shortened if too long.
fn printable(bytes: &[u8]) -> String {
    const MOST: usize = 300;
    let text = String::from_utf8_lossy(bytes);
    let clean = text.trim_matches(['\0', '\n', ' ']).chars().map(|c| if c.is_control() { ' ' } else { c });
    clean.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects() {
        let parse = |port: i32, text: &str| Redirect::parse(&[&port.to_be_bytes()[..], text.as_bytes()].concat());
        let plain = parse(1094, "h.example.org").unwrap();
        assert_eq!((plain.host.as_str(), plain.port, plain.opaque.as_str()), ("h.example.org", 1094, ""));
        let full = parse(1095, "h?&a=b&c=d?tok").unwrap();
        assert_eq!((full.opaque.as_str(), full.token.as_str()), ("a=b&c=d", "tok"));
        assert_eq!(Redirect::parse(&full.encode()).unwrap(), full);
        assert!(!format!("{full:?}").contains("a=b"));
        for bad in ["", "?a", "h h", "h\n", "h?a b"] {
            assert!(parse(1, bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn stats() {
        let stat = Stat::parse(b"140698833649660 4096 51 1700000000 1700000000\0").unwrap();
        assert_eq!((stat.size, stat.flags, stat.is_dir()), (4096, 51, true));
        for bad in [&b""[..], b"1 2 3", b"1 x 3 4", b"1 -2 3 4", b"1 99999999999999999999 3 4"] {
            assert!(Stat::parse(bad).is_err());
        }
        assert_eq!(Open::parse(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap().stat, None);
    }

    #[test]
    fn lists() {
        assert_eq!(vector_limits(b"1024\n2097136\n"), (Some(1024), Some(2_097_136)));
        assert_eq!(vector_limits(b"readv_iov_max\n7\n\0"), (None, Some(7)));
        let found = locations(b"Srh1:1094 Mr[::1]:2 swh:3\0").unwrap();
        assert_eq!(found.len(), 3);
        assert_eq!((found[1].address.as_str(), found[1].manager), ("[::1]:2", true));
        let list = entries(b".\n0 0 0 0\na b\n1 5 0 7\nd\n1 6 2 7\0").unwrap();
        assert_eq!((list[0].name.as_str(), list[0].stat.unwrap().size), ("a b", 5));
        assert!(list[1].stat.unwrap().is_dir());
        assert_eq!(entries(b"x\ny\n").unwrap().len(), 2);
        assert!(entries(b"").unwrap().is_empty());
    }
}
