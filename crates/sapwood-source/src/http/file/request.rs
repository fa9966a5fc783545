//! One request of a file for some of its ranges, and another one where it stalls.

use super::super::body::Body;
use super::super::failure::{RequestFailure, RetryBudget};
use super::super::range::{self, Line, RangeRequest};
use super::super::version::VersionCheck;
use super::first_bytes_check::{EndCheck, with_beginning};
use super::{HttpFile, SLACK, hulls, no_ranges};
use crate::counters::Counters;
use crate::file_identity::changed;
use crate::first_bytes::FirstBytesCheck;
use crate::job::Job;
use bytes::Bytes;
use sapwood_span::{Error, ErrorKind, Span};
use std::sync::atomic::Ordering::Relaxed;

/// What one request asks for.
#[derive(Clone)]
pub(super) struct Ask {
    pub(super) ranges: Vec<Span>,
    /// The first bytes of the file, if they are among the ranges: they are compared.
    pub(super) along: Option<Bytes>,
    /// They are requested once more after all ranges.
    pub(super) end: Option<Bytes>,
}

/// Whether bytes were accepted of a response without the first bytes of the file. If it is not read to its end, the rest comes in another
/// response, perhaps with another version: then the first bytes are compared after both.
struct Uncompared<'a> {
    job: &'a Job,
    accepted: bool,
}

impl Drop for Uncompared<'_> {
    fn drop(&mut self) {
        self.job.overtaken.fetch_or(self.accepted, Relaxed);
    }
}

impl HttpFile {
    /// One request; if it falls behind those over other connections, one more for what it has not brought. What comes first counts.
    pub(super) async fn request_again_if_stalled(
        &self,
        job: &Job,
        group: &[Span],
        ask: &Ask,
        retry_budget: &mut RetryBudget,
    ) -> Result<(), RequestFailure> {
        let silent_since = retry_budget.silent_since();
        silent_since.clear();
        let mut first = std::pin::pin!(self.request(job, ask, retry_budget));
        tokio::select! {
            biased;
            ended = &mut first => return ended,
            () = silent_since.falls_behind(|| self.client.server().host) => {}
        }
        // what the first one has brought does not end with the first bytes of the file
        job.open_ended.store(true, Relaxed);
        let pieces = hulls(&job.missing(group), group);
        if pieces.is_empty() {
            return Ok(());
        }
        crate::trace::again(|| self.client.server().url.redacted());
        job.retried();
        Counters::add(&self.client.counters.retries, 1);
        let _begun = self.under_way.begin();
        let ranges = ask.along.as_ref().map_or_else(|| pieces.clone(), |beginning| with_beginning(&pieces, beginning));
        let again = Ask { ranges, ..ask.clone() };
        let mut one_try = RetryBudget::new(&self.client.options);
        let mut second = std::pin::pin!(self.request(job, &again, &mut one_try));
        let is_complete = |ended: &Result<(), RequestFailure>| ended.is_ok() && job.missing(group).is_empty();
        tokio::select! {
            biased;
            ended = &mut first => match ended {
                // the second one may bring bytes still
                Err(RequestFailure::Retry { .. }) if is_complete(&second.await) => Ok(()),
                ended => ended,
            },
            ended = &mut second => match ended {
                Err(RequestFailure::Fatal(error)) if error.kind() == ErrorKind::Corrupt => Err(RequestFailure::Fatal(error)),
                ended if is_complete(&ended) => Ok(()),
                // whatever is wrong with the second one, the first one may come
                _ => first.await,
            },
        }
    }

    async fn request(&self, job: &Job, ask: &Ask, retry_budget: &mut RetryBudget) -> Result<(), RequestFailure> {
        let (pieces, end) = (&ask.ranges[..], ask.end.clone());
        let mut seen = ask.along.clone().map(FirstBytesCheck::new);
        let multi = pieces.len() > 1;
        let wanted: u64 = pieces.iter().map(|s| s.len).sum();
        job.request_sent();
        let again = end.as_ref().map(|bytes| Span::new(0, bytes.len() as u64));
        let mut end = end.map(|bytes| EndCheck::new(bytes, wanted));
        let header = range::header(&pieces.iter().copied().chain(again).collect::<Vec<_>>());
        let ranges = RangeRequest { header: &header, ranges: pieces.len(), bytes: wanted };
        let mut reply = self.client.send(ranges, retry_budget).await?;
        if !matches!(reply.status, 200 | 206) {
            if let Some(now) = reply.header("content-range").and_then(range::content_range).and_then(|r| r.total) {
                self.check_size(Some(now))?;
            }
            reply.drain().await;
            if matches!(reply.status, 400 | 413 | 414 | 431) && Line::is_long(&header) {
                let what = format!("the server does not accept header lines of {} bytes", header.len());
                return Err(RequestFailure::FewerRanges(Error::new(ErrorKind::Protocol, what)));
            }
            if multi && reply.status != 403 {
                job.stepped.store(true, Relaxed);
            }
            if reply.status == 412 && self.client.is_pinned() {
                return Err(RequestFailure::Fatal(changed("the store has another version of it by now (If-Match)")));
            }
            if matches!(reply.status, 404 | 410) {
                let what = format!("the server responded with {}: the file existed when it was opened", reply.status);
                let remedy = "it has since been removed or renamed: open it again when it is back";
                return Err(RequestFailure::Fatal(Error::new(ErrorKind::Gone, what).with_remedy(remedy)));
            }
            return Err(self.client.refused(&reply, multi));
        }
        if self.version.check(&reply).map_err(RequestFailure::Fatal)? == VersionCheck::NewServer {
            let url = reply.url.clone();
            // its connection must be free for the next request
            drop(reply);
            self.recognise(&url).await?;
            return Err(RequestFailure::OtherServer);
        }
        let mut body = Body::of(&reply).map_err(|what| RequestFailure::nonsense(what, multi))?;
        let plain = body.is_plain();
        let mut budget = wanted.saturating_mul(2).saturating_add(SLACK);
        if reply.status == 200 {
            self.check_size(body.total())?;
            self.accept_whole(wanted, multi).inspect_err(|_| job.stepped.store(true, Relaxed))?;
            budget = self.size;
        }
        let mut out = Vec::new();
        // pieces wait until the first bytes of the file, which are usually in front of all, have been compared
        let mut held = Vec::new();
        let mut uncompared = Uncompared { job, accepted: false };
        while let Some(chunk) = reply.chunk().await? {
            job.moved(chunk.len() as u64);
            retry_budget.heard();
            if reply.wire > budget {
                job.stepped.store(true, Relaxed);
                return Err(RequestFailure::nonsense("the server sends much more than was requested", multi));
            }
            let pushed = body.push(chunk, &mut out);
            self.check_size(body.total())?;
            if let Some(seen) = &mut seen {
                seen.look(&out).map_err(RequestFailure::Fatal)?;
            }
            if let Some(end) = &mut end {
                end.look(&out).map_err(RequestFailure::Fatal)?;
            }
            held.append(&mut out);
            if seen.as_ref().is_none_or(FirstBytesCheck::is_complete) {
                uncompared.accepted = seen.is_none();
                job.accept(&mut held);
            }
            pushed.map_err(|m| RequestFailure::nonsense(format!("the server's response is invalid: {m}"), multi))?;
        }
        job.accept(&mut held);
        uncompared.accepted = false;
        if !seen.as_ref().is_some_and(FirstBytesCheck::is_complete) {
            job.unrecognised.store(true, Relaxed);
        }
        if !end.as_ref().is_some_and(EndCheck::is_complete) {
            job.open_ended.store(true, Relaxed);
        }
        let left_out = seen.is_some_and(|s| !s.is_complete()) || !job.missing(pieces).is_empty();
        if multi && plain && reply.status == 206 && left_out {
            job.stepped.store(true, Relaxed);
            return Err(RequestFailure::nonsense("the server responds to one range only", true));
        }
        if !multi && reply.status == 206 && job.stepped.load(Relaxed) {
            reply.host.refuses_multi();
        }
        Ok(())
    }

    /// Whether a response with the whole file is acceptable.
    fn accept_whole(&self, wanted: u64, multi: bool) -> Result<(), RequestFailure> {
        if self.size <= wanted.saturating_mul(2).saturating_add(SLACK) {
            return Ok(());
        }
        if multi {
            return Err(RequestFailure::nonsense("the server responded to several ranges with the whole file", true));
        }
        if self.size <= self.client.options.whole_file {
            return Ok(());
        }
        Err(RequestFailure::Fatal(no_ranges(Some(self.size))))
    }
}
