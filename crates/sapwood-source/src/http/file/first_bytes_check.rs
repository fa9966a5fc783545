//! Checks by the file's first bytes whether responses are of the file that was opened.
//!
//! Validators (ETag, Last-Modified) need not distinguish two versions of a file: most servers derive them from size and
//! modification time, which `cp -p` and `rsync -t` preserve. So each request for several ranges includes the file's
//! first bytes: the response is of one file, and its first part shows of which.

use super::super::body::Body;
use super::super::failure::{RequestFailure, RetryBudget};
use super::super::range::{self, RangeRequest};
use super::super::version::{Validator, VersionCheck};
use super::HttpFile;
use crate::assemble::Piece;
use crate::first_bytes::FirstBytesCheck;
use crate::url::Url;
use bytes::Bytes;
use sapwood_span::{Error, ErrorKind, Result, Span};

/// The ranges with the file's first bytes among them, ascending and disjoint as they were.
pub(crate) fn with_beginning(spans: &[Span], beginning: &Bytes) -> Vec<Span> {
    let mut first = Span::new(0, beginning.len() as u64);
    let joined = spans.iter().take_while(|s| s.start <= first.end() && grow(&mut first, **s)).count();
    std::iter::once(first).chain(spans[joined..].iter().copied()).collect()
}

/// The end of a long response: the file's first bytes once more, sent after all other ranges. A file that is written to in
/// place while the response is sent shows itself there. Servers that sort or join ranges send nothing like it.
pub(super) struct EndCheck {
    check: FirstBytesCheck,
    /// Bytes that come before.
    before: u64,
}

impl EndCheck {
    /// After ranges of so many bytes.
    pub(super) fn new(then: Bytes, before: u64) -> Self {
        Self { check: FirstBytesCheck::new(then), before }
    }

    /// Checks received pieces.
    ///
    /// # Errors
    /// As [`FirstBytesCheck::look`].
    pub(super) fn look(&mut self, pieces: &[Piece]) -> Result<()> {
        for piece in pieces {
            match self.before.checked_sub(piece.bytes.len() as u64) {
                Some(left) if self.before > 0 => self.before = left,
                _ => self.check.look(std::slice::from_ref(piece))?,
            }
        }
        Ok(())
    }

    pub(super) fn is_complete(&self) -> bool {
        self.before == 0 && self.check.is_complete()
    }
}

fn grow(first: &mut Span, by: Span) -> bool {
    first.len = first.end().max(by.end());
    true
}

impl HttpFile {
    /// Compares the size and the first bytes on another server (redirected to, or taking over) with those of the file
    /// that was opened.
    pub(in crate::http) async fn recognise(&self, url: &Url) -> Result<(), RequestFailure> {
        let _one = self.version.asking.lock().await;
        if self.version.knows(url) {
            return Ok(());
        }
        let Some(then) = self.version.beginning.bytes() else {
            let what = "another server took over while the file was being opened";
            return Err(RequestFailure::retry(Error::new(ErrorKind::Io, what)));
        };
        let span = Span::new(0, then.len() as u64);
        let mut reply = self
            .client
            .send(RangeRequest::short(&range::header(&[span]), 1), &mut RetryBudget::new(&self.client.options))
            .await?;
        if reply.url.without_query() != url.without_query()
            || self.version.check(&reply).map_err(RequestFailure::Fatal)? == VersionCheck::Same
        {
            return Ok(());
        }
        if !matches!(reply.status, 200 | 206) {
            reply.drain().await;
            return Err(self.client.refused(&reply, false));
        }
        let validator = Validator::of(&reply.headers);
        let mut body = Body::of(&reply).map_err(|what| RequestFailure::nonsense(what, false))?;
        let another = |how: String| {
            let what = format!("{} has a different file: {how}", url.redacted());
            RequestFailure::Fatal(Error::corrupt(what).with_remedy("open it again"))
        };
        let mut out = Vec::new();
        let mut seen = FirstBytesCheck::new(then);
        while !seen.is_complete()
            && let Some(chunk) = reply.chunk().await?
        {
            body.push(chunk, &mut out).map_err(|m| RequestFailure::nonsense(m.to_string(), false))?;
            if seen.look(&out).is_err() {
                return Err(another("its first bytes differ".to_owned()));
            }
            out.clear();
        }
        match body.total() {
            Some(now) if now != self.size => return Err(another(format!("of {now} bytes, not {}", self.size))),
            _ if !seen.is_complete() => {
                return Err(RequestFailure::nonsense("the server returned fewer bytes than requested", false));
            }
            _ => self.version.learn(&reply, validator),
        }
        // to its end, so that the connection can be used again
        if reply.status == 206 {
            while let Ok(Some(_)) = reply.chunk().await {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_counts_only_behind_all_else() {
        let piece = |offset, bytes: &'static [u8]| Piece { offset, bytes: Bytes::from_static(bytes) };
        let all = [piece(0, b"root"), piece(50, b"abc"), piece(53, b"de")];
        let mut end = EndCheck::new(Bytes::from_static(b"root"), 9);
        end.look(&all).unwrap();
        assert!(!end.is_complete());
        end.look(&[piece(0, b"ro")]).unwrap();
        assert!(!end.is_complete());
        end.look(&[piece(2, b"ot")]).unwrap();
        assert!(end.is_complete());
        // written to in the meantime
        let mut end = EndCheck::new(Bytes::from_static(b"root"), 9);
        assert!(end.look(&all).is_ok() && end.look(&[piece(0, b"rOot")]).is_err());
        // a server that sorts ranges sends the beginning before the rest
        let mut end = EndCheck::new(Bytes::from_static(b"root"), 9);
        end.look(&[piece(0, b"root"), piece(0, b"root"), piece(50, b"abcde")]).unwrap();
        assert!(!end.is_complete());
    }

    #[test]
    fn the_beginning_comes_first_and_once() {
        let beginning = Bytes::from_static(&[7; 100]);
        let joined = |spans: &[(u64, u64)]| {
            let spans: Vec<Span> = spans.iter().map(|&(start, len)| Span::new(start, len)).collect();
            with_beginning(&spans, &beginning).iter().map(|s| (s.start, s.len)).collect::<Vec<_>>()
        };
        assert_eq!(joined(&[(500, 10), (600, 1)]), [(0, 100), (500, 10), (600, 1)]);
        assert_eq!(joined(&[(10, 10), (30, 100), (130, 5), (200, 5)]), [(0, 135), (200, 5)]);
        assert_eq!(joined(&[(0, 20)]), [(0, 100)]);
        assert_eq!(joined(&[]), [(0, 100)]);
    }
}
