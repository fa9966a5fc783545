//! One open request over one session, and what it can lead to.

use super::client::{Client, ServerUrl};
use super::conn::Conn;
use super::failure::{Broken, RetryAction, retry_action};
use super::plan;
use super::state::Take;
use crate::counters::Counters;
use bytes::Bytes;
use sapwood_span::{Error, ErrorKind, Result};
use sapwood_xrd::reply::{self, Failure, Redirect, Stat};
use sapwood_xrd::{Handle, Outcome, Request, SecretBytes, code};
use std::sync::Arc;

/// Why a server did not open a file.
pub(super) enum OpenFailure {
    Redirect(Redirect),
    Failed(Failure),
    Broken(Broken),
    Fatal(Error),
}

impl OpenFailure {
    /// Whether the session was unusable: closed, or unknown to the server. Another one may work.
    pub(super) fn lost_session(&self) -> bool {
        match self {
            Self::Broken(broken) => {
                broken.refusal.is_none() && !broken.stalled && !broken.last && broken.error.kind() == ErrorKind::Io
            }
            Self::Failed(failure) => retry_action(failure) == RetryAction::LogIn,
            Self::Redirect(_) | Self::Fatal(_) => false,
        }
    }
}

/// A file that a server has opened.
pub(super) struct Opened {
    pub conn: Arc<Conn>,
    pub server: ServerUrl,
    pub handle: Handle,
    pub stat: Stat,
    /// Results of the reads sent with the open.
    pub reads: Vec<Result<Outcome, Broken>>,
}

/// Reads sent along with an open, created for each try; their handles are filled in.
pub(super) type ReadsWithOpen<'a> = &'a (dyn Fn() -> Vec<(Request, Take)> + Send + Sync);

/// Opens the file over this session.
pub(super) async fn open_on(
    client: &Client,
    server: &ServerUrl,
    conn: Arc<Conn>,
    along: ReadsWithOpen<'_>,
) -> Result<Opened, OpenFailure> {
    server.check(&conn).map_err(OpenFailure::Fatal)?;
    let counters = client.counters();
    let words = "readv_iov_max readv_ior_max".to_owned();
    let limits = Request::Query { kind: code::QUERY_CONFIG, words };
    let ask_limits = server.host.known().vector.is_none();
    let options = code::open::READ | code::open::RETSTAT | code::open::ASYNC;
    Counters::add(&counters.requests, 1);
    crate::trace::request(|| server.url.redacted(), "open", false);
    let reads = along();
    let riding = reads.len();
    let mut answers = conn.open(&client.path(), options, reads, ask_limits.then_some(&limits), counters).into_iter();
    let Some(open) = answers.next() else { return Err(OpenFailure::Fatal(Error::invalid("no request was sent"))) };
    let body = settle(open.get().await)?;
    server.host.proves(&conn);
    let nonsense = |n: sapwood_xrd::frame::InvalidMessage| {
        OpenFailure::Fatal(Error::new(ErrorKind::Protocol, format!("the server's response is invalid: {n}")))
    };
    let opened = reply::Open::parse(&body).map_err(nonsense)?;
    let mut stat = match opened.stat {
        Some(stat) => stat,
        None => {
            let path = SecretBytes::from(client.path().as_str());
            let body = settle(conn.ask(&Request::Stat { path }, None, counters).get().await)?;
            Stat::parse(&body).map_err(nonsense)?
        }
    };
    if conn.has_flag(code::server::PROXY) {
        // XCache reports times of its own copy, which change as it fills
        (stat.modified, stat.inode) = (0, None);
    }
    let mut outcomes = Vec::with_capacity(riding);
    for answer in answers.by_ref().take(riding) {
        outcomes.push(answer.get().await);
    }
    if let Some(answer) = answers.next() {
        // Last in the flight, it may arrive a round trip later; it is first needed for the first large read.
        let host = Arc::clone(&server.host);
        client.caller.handle().spawn(async move {
            let (ranges, bytes) = match answer.get().await {
                Ok(Outcome::Ok(body)) => reply::vector_limits(&body),
                _ => (None, None),
            };
            host.vector(plan::usable(ranges, bytes));
        });
    }
    Ok(Opened { conn, server: server.clone(), handle: opened.handle, stat, reads: outcomes })
}

/// The body of a successful answer.
pub(super) fn settle(answer: Result<Outcome, Broken>) -> Result<Bytes, OpenFailure> {
    match answer {
        Ok(Outcome::Ok(body)) => Ok(body),
        Ok(Outcome::Failed(failure)) => Err(OpenFailure::Failed(failure)),
        Ok(Outcome::Redirect(to)) => Err(OpenFailure::Redirect(to)),
        Ok(_) => Err(OpenFailure::Fatal(Error::new(ErrorKind::Protocol, "a response of the wrong kind"))),
        Err(broken) => Err(OpenFailure::Broken(broken)),
    }
}
