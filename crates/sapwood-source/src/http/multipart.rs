//! `multipart/byteranges` bodies (RFC 9110, section 14.6; RFC 2046, section 5.1), parsed as they stream in. No I/O
//! here: bytes go in, pieces of the file come out.

use super::range::{ContentRange, content_range};
use crate::assemble::Piece;
use bytes::{Bytes, BytesMut};
use memchr::memmem::Finder;

/// Headers of one part, and the text before the first one, in bytes at most.
const MAX_HEADERS: usize = 8192;

/// Why a body cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    NoBoundary,
    HeadersTooLong,
    NoContentRange,
    TotalsDiffer,
    PartTooShort,
    PartTooLong,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoBoundary => "the announced boundary does not appear",
            Self::HeadersTooLong => "the headers of a part do not end",
            Self::NoContentRange => "a part has no valid Content-Range",
            Self::TotalsDiffer => "the parts disagree on the size of the file",
            Self::PartTooShort => "a part is shorter than its Content-Range says",
            Self::PartTooLong => "a part is longer than its Content-Range says",
        })
    }
}

enum State {
    /// Before the first delimiter.
    Preamble,
    /// Right after a delimiter: another part follows, or two hyphens end the body.
    Delimited,
    /// Inside a part's headers.
    Headers,
    /// Inside a part's data.
    Data { offset: u64, left: u64 },
    /// After a part's data, where a delimiter must follow.
    Behind,
    /// After the last delimiter: what follows has no meaning.
    End,
}

/// The parser: push chunks of any length.
///
/// The delimiter is also searched for inside a part's data: otherwise a part shorter than its `Content-Range` says
/// would pass the delimiter off as data of the file.
pub(crate) struct Multipart {
    delimiter: Vec<u8>,
    finder: Finder<'static>,
    state: State,
    held: BytesMut,
    total: Option<u64>,
}

impl Multipart {
    pub(super) fn new(boundary: &str) -> Self {
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        let finder = Finder::new(&delimiter).into_owned();
        // The first delimiter need not have a line break before it: pretend that one came.
        Self { delimiter, finder, state: State::Preamble, held: BytesMut::from(&b"\r\n"[..]), total: None }
    }

    /// The parser for this `Content-Type`; none if it is not `multipart/byteranges`.
    pub(super) fn for_content_type(value: &str) -> Option<Self> {
        let mut parts = value.split(';');
        if !parts.next()?.trim().eq_ignore_ascii_case("multipart/byteranges") {
            return None;
        }
        let boundary = parts.find_map(|p| {
            let (key, value) = p.split_once('=')?;
            key.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"'))
        })?;
        (!boundary.is_empty() && boundary.len() <= 200).then(|| Self::new(boundary))
    }

    /// Size of the file according to the parts so far.
    pub(super) fn total(&self) -> Option<u64> {
        self.total
    }

    /// Takes the next chunk of the body and appends the pieces of the file in it to `out`.
    pub(super) fn push(&mut self, chunk: Bytes, out: &mut Vec<Piece>) -> Result<(), Malformed> {
        let mut data = chunk;
        if !self.held.is_empty() {
            self.held.extend_from_slice(&data);
            data = self.held.split().freeze();
        }
        while let Some(used) = self.step(&data, out)? {
            let _ = data.split_to(used.min(data.len()));
        }
        if !matches!(self.state, State::End) {
            self.held.extend_from_slice(&data);
        }
        Ok(())
    }

    /// One step; returns the bytes used, or none if it needs more input.
    fn step(&mut self, data: &Bytes, out: &mut Vec<Piece>) -> Result<Option<usize>, Malformed> {
        match self.state {
            State::Preamble => match self.finder.find(data) {
                Some(at) => {
                    self.state = State::Delimited;
                    Ok(Some(at + self.delimiter.len()))
                }
                None if data.len() > MAX_HEADERS => Err(Malformed::NoBoundary),
                None => Ok(None),
            },
            State::Delimited => self.delimited(data),
            State::Headers => self.headers(data),
            State::Data { offset, left } => self.data(data, offset, left, out),
            State::Behind => {
                let there = data.len().min(self.delimiter.len());
                if data.get(..there) != self.delimiter.get(..there) {
                    return Err(Malformed::PartTooLong);
                }
                if there < self.delimiter.len() {
                    return Ok(None);
                }
                self.state = State::Delimited;
                Ok(Some(there))
            }
            State::End => Ok(None),
        }
    }

    fn delimited(&mut self, data: &[u8]) -> Result<Option<usize>, Malformed> {
        if data.starts_with(b"--") {
            self.state = State::End;
            return Ok(Some(2));
        }
        // Spaces may pad the line. The line break stays: it belongs to the headers' end mark when a part has no headers
        // at all.
        let blanks = data.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let rest = data.get(blanks..).unwrap_or_default();
        match rest {
            [b'\r', b'\n', ..] => {
                self.state = State::Headers;
                Ok(Some(blanks))
            }
            [] | [b'\r'] | [b'-'] if data.len() <= MAX_HEADERS => Ok(None),
            _ => Err(Malformed::NoBoundary),
        }
    }

    fn headers(&mut self, data: &[u8]) -> Result<Option<usize>, Malformed> {
        let Some(end) = memchr::memmem::find(data, b"\r\n\r\n") else {
            return if data.len() > MAX_HEADERS { Err(Malformed::HeadersTooLong) } else { Ok(None) };
        };
        let text = String::from_utf8_lossy(data.get(..end).unwrap_or_default());
        let range = stated_range(&text).ok_or(Malformed::NoContentRange)?;
        let span = range.span.ok_or(Malformed::NoContentRange)?;
        match (self.total, range.total) {
            (Some(a), Some(b)) if a != b => return Err(Malformed::TotalsDiffer),
            (None, total) => self.total = total,
            _ => {}
        }
        self.state = State::Data { offset: span.start, left: span.len };
        Ok(Some(end + 4))
    }

    fn data(&mut self, data: &Bytes, offset: u64, left: u64, out: &mut Vec<Piece>) -> Result<Option<usize>, Malformed> {
        if left == 0 {
            self.state = State::Behind;
            return Ok(Some(0));
        }
        let left_here = usize::try_from(left).unwrap_or(usize::MAX);
        // A delimiter that begins before the part's end means that the part is too short.
        let reach = left_here.saturating_add(self.delimiter.len() - 1).min(data.len());
        if self.finder.find(data.get(..reach).unwrap_or_default()).is_some() {
            return Err(Malformed::PartTooShort);
        }
        let safe = data.len() - self.unfinished_delimiter(data, left_here);
        let take = safe.min(left_here);
        if take == 0 {
            return Ok(None);
        }
        out.push(Piece { offset, bytes: data.slice(..take) });
        self.state = State::Data { offset: offset.saturating_add(take as u64), left: left - take as u64 };
        Ok(Some(take))
    }

    /// Length of the longest suffix of `data` that may be the beginning of a delimiter, among those that begin inside
    /// the part.
    fn unfinished_delimiter(&self, data: &[u8], left: usize) -> usize {
        let longest = (self.delimiter.len() - 1).min(data.len());
        let shortest = data.len().saturating_sub(left).saturating_add(1).max(1);
        (shortest..=longest).rev().find(|&n| self.delimiter.starts_with(&data[data.len() - n..])).unwrap_or(0)
    }
}

/// The range in a part's headers. A line that begins with a blank continues the one before (RFC 5322, section 2.2.3),
/// whatever it looks like; contradictory ranges give none.
fn stated_range(headers: &str) -> Option<ContentRange> {
    let mut unfolded = String::with_capacity(headers.len());
    for line in headers.split("\r\n") {
        if !line.starts_with([' ', '\t']) {
            unfolded.push('\n');
        }
        unfolded.push_str(line);
    }
    let mut ranges = unfolded.lines().filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.trim().eq_ignore_ascii_case("content-range").then(|| content_range(value))
    });
    let first = ranges.next()??;
    ranges.all(|other| other == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(boundary: &str, body: &[u8], cuts: &[usize]) -> Result<(Vec<Piece>, Option<u64>), Malformed> {
        let mut parser = Multipart::new(boundary);
        let mut out = Vec::new();
        let mut rest = Bytes::copy_from_slice(body);
        let mut cuts = cuts.iter().cycle();
        while !rest.is_empty() {
            let n = cuts.next().copied().unwrap_or(usize::MAX).clamp(1, rest.len());
            parser.push(rest.split_to(n), &mut out)?;
        }
        let mut joined: Vec<Piece> = Vec::new();
        for piece in out {
            match joined.last_mut() {
                Some(last) if last.offset + last.bytes.len() as u64 == piece.offset => {
                    last.bytes = [&last.bytes[..], &piece.bytes].concat().into();
                }
                _ => joined.push(piece),
            }
        }
        Ok((joined, parser.total()))
    }

    fn body(boundary: &str, total: u64, parts: &[(u64, Vec<u8>)]) -> Vec<u8> {
        let mut out = Vec::new();
        for (offset, data) in parts {
            let end = offset + data.len() as u64 - 1;
            out.extend(
                format!("\r\n--{boundary}\r\nContent-Type: a/b\r\nContent-Range: bytes {offset}-{end}/{total}\r\n\r\n")
                    .bytes(),
            );
            out.extend(data);
        }
        out.extend(format!("\r\n--{boundary}--\r\n").bytes());
        out
    }

    #[test]
    fn content_types() {
        assert!(Multipart::for_content_type("multipart/byteranges; boundary=abc").is_some());
        assert!(Multipart::for_content_type("Multipart/ByteRanges;charset=x; Boundary=\"a b\"").is_some());
        for bad in ["multipart/byteranges", "multipart/byteranges; boundary=", "text/plain; boundary=a"] {
            assert!(Multipart::for_content_type(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn first_delimiter_without_line_break() {
        let body = b"--B\r\ncontent-range: bytes 5-6/9\r\n\r\nxy\r\n--B--";
        let (pieces, total) = parse("B", body, &[1]).unwrap();
        assert_eq!(pieces, [Piece { offset: 5, bytes: Bytes::from_static(b"xy") }]);
        assert_eq!(total, Some(9));
    }

    #[test]
    fn lies_are_found() {
        let with = |range: &str, data: &str| {
            let text = format!("--B\r\nContent-Range: {range}\r\n\r\n{data}\r\n--B--\r\n");
            parse("B", text.as_bytes(), &[3]).unwrap_err()
        };
        assert_eq!(with("bytes 0-9/99", "short"), Malformed::PartTooShort);
        assert_eq!(with("bytes 0-3/99", "longer"), Malformed::PartTooLong);
        assert_eq!(with("bytes 9-3/99", "x"), Malformed::NoContentRange);
        assert_eq!(parse("B", b"--B\r\n\r\nx\r\n--B--", &[1]).unwrap_err(), Malformed::NoContentRange);
        assert_eq!(parse("B", &[b'x'; 20000], &[999]).unwrap_err(), Malformed::NoBoundary);
        assert_eq!(parse("B", b"--Bogus\r\n\r\n", &[1]).unwrap_err(), Malformed::NoBoundary);
        let endless = [b"--B\r\n".as_slice(), &[b'x'; 20000]].concat();
        assert_eq!(parse("B", &endless, &[999]).unwrap_err(), Malformed::HeadersTooLong);
        let two = b"--B\r\nContent-Range: bytes 0-0/5\r\n\r\nx\r\n--B\r\nContent-Range: bytes 1-1/6\r\n\r\nx\r\n--B--";
        assert_eq!(parse("B", two, &[7]).unwrap_err(), Malformed::TotalsDiffer);
    }

    #[test]
    fn a_folded_line_is_no_header_of_its_own() {
        let of = |headers: &str| parse("B", format!("--B\r\n{headers}\r\n\r\nxy\r\n--B--").as_bytes(), &[5]);
        let at = |headers: &str| of(headers).unwrap().0[0].offset;
        assert_eq!(at("Content-Range: bytes\r\n 5-6/9"), 5);
        assert_eq!(at("X: y\r\n Content-Range: bytes 0-1/9\r\nContent-Range: bytes 5-6/9"), 5);
        assert_eq!(of("X: y\r\n\tContent-Range: bytes 0-1/9").unwrap_err(), Malformed::NoContentRange);
        assert_eq!(at("Content-Range: bytes 5-6/9\r\ncontent-range: bytes 5-6/9"), 5);
        let two = "Content-Range: bytes 0-1/9\r\nContent-Range: bytes 5-6/9";
        assert_eq!(of(two).unwrap_err(), Malformed::NoContentRange);
    }

    #[test]
    fn no_byte_of_an_early_delimiter_is_handed_out() {
        let text = b"--B\r\nContent-Range: bytes 0-9/99\r\n\r\nabc\r\n--B--\r\n";
        let mut parser = Multipart::new("B");
        let mut out = Vec::new();
        let failed = text.iter().any(|&b| parser.push(Bytes::copy_from_slice(&[b]), &mut out).is_err());
        let got: Vec<u8> = out.iter().flat_map(|p| p.bytes.to_vec()).collect();
        assert!(failed);
        assert_eq!(got, b"abc");
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_parts(
            parts in prop::collection::vec((0u64..1_000_000, prop::collection::vec(prop::sample::select(b"\r\n-Bx".to_vec()), 1..60)), 1..6),
            cuts in prop::collection::vec(1usize..50, 1..8),
        ) {
            // The boundary cannot occur in the data: its letters are not among those above.
            let parts: Vec<(u64, Vec<u8>)> =
                parts.into_iter().enumerate().map(|(i, (o, d))| (i as u64 * 2_000_000 + o, d)).collect();
            let body = body("B7Q", 99_000_000, &parts);
            let (got, total) = parse("B7Q", &body, &cuts).unwrap();
            let got: Vec<(u64, Vec<u8>)> = got.into_iter().map(|p| (p.offset, p.bytes.to_vec())).collect();
            prop_assert_eq!(got, parts);
            prop_assert_eq!(total, Some(99_000_000));
        }

        #[test]
        fn garbage_never_panics(
            body in prop::collection::vec(prop::sample::select(b"\r\n-B: Content-Range: bytes 0-9/10".to_vec()), 0..300),
            cuts in prop::collection::vec(1usize..50, 1..8),
        ) {
            let _ = parse("B", &body, &cuts);
        }

        #[test]
        fn damage_never_panics_nor_invents(
            at in 0usize..200, byte in any::<u8>(), cuts in prop::collection::vec(1usize..50, 1..8),
        ) {
            let mut text = body("B", 100, &[(0, vec![b'a'; 40]), (60, vec![b'a'; 40])]);
            if let Some(b) = text.get_mut(at) { *b = byte; }
            if let Ok((pieces, _)) = parse("B", &text, &cuts) {
                for p in pieces {
                    prop_assert!(p.bytes.iter().filter(|&&b| b != b'a').count() <= 1);
                }
            }
        }
    }
}
