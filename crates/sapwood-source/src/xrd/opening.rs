//! Opening a file: everything that can be sent at once goes out in one flight.

use super::client::{Client, RetryBudget};
use super::failure::{RetryAction, failed, retry_action};
use super::file::XrdFile;
use super::open_request::{OpenFailure, Opened, ReadsWithOpen, open_on};
use super::plan::VECTOR;
use super::root_url::RootUrl;
use super::state::Take;
use super::version::FileVersion;
use crate::assemble::Piece;
use crate::counters::Counters;
use crate::job::Job;
use crate::lock;
use crate::open::SourceOptions;
use crate::source::{Opening, Sink, Source};
use bytes::Bytes;
use sapwood_span::{Error, ErrorKind, Result, Span};
use sapwood_xrd::{Request, code};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::runtime;

/// A fresh connection sends ten segments before the first acknowledgement, and the answers to greeting, login and open
/// take some of them. The rest is requested along with the open: it costs nothing, and the window doubles.
const FIRST_WINDOW: u64 = 6 << 10;

/// Bytes of the beginning that come along with the open, of which `head` are wanted.
pub(crate) fn beginning(head: u64) -> u64 {
    head.max(FIRST_WINDOW)
}

/// What arrives in the next round trip: the tail of the file is no longer than this.
pub(super) const SECOND_WINDOW: u64 = 26_000;

/// Opens a file on an XRootD server.
pub(crate) async fn open(url: RootUrl, options: SourceOptions, handle: runtime::Handle) -> Result<Opening> {
    let name = url.redacted();
    let client = Arc::new(Client::new(url, options, handle));
    ends(&client).await.map_err(|e| e.in_file(name))
}

async fn ends(client: &Arc<Client>) -> Result<Opening> {
    let options = &client.caller.options;
    let first = if options.tail > 0 { beginning(options.head) } else { options.head };
    let head_len = u32::try_from(first).unwrap_or(u32::MAX).min(VECTOR.1);
    let found: Arc<Mutex<Vec<Piece>>> = Arc::default();
    let along = || {
        let found = Arc::clone(&found);
        lock(&found).clear();
        let take: Take = Arc::new(move |offset, bytes| lock(&found).push(Piece { offset, bytes }));
        let read = Request::Read { handle: [0; 4], offset: 0, len: head_len, path_id: 0 };
        if head_len == 0 {
            return Vec::new();
        }
        Counters::add(&client.counters().requests, 1);
        Counters::add(&client.counters().ranges, 1);
        vec![(read, take)]
    };
    let opened = to_open(client, RetryBudget::fresh(options), &along).await?;
    let size = opened.stat.size;
    let (head, tail) = (first.min(size), options.tail.min(SECOND_WINDOW).min(size));
    let spans = [Span::new(0, head), Span::new(size - tail, if options.tail_later { 0 } else { tail })];
    let file = Arc::new(XrdFile::new(Arc::clone(client), FileVersion::of(&opened)));
    file.keep(&opened);
    let gathered = Arc::new(Ends::default());
    let sink: Arc<dyn Sink> = gathered.clone();
    let job = Job::new(&spans, sink, Instant::now());
    let mut pieces = std::mem::take(&mut *lock(&found));
    let came = pieces.iter().map(|p| p.bytes.len() as u64).sum();
    job.moved(came);
    Counters::add(&client.counters().wire, came);
    job.accept(&mut pieces);
    if options.warm && size > head + tail {
        file.prepare(usize::MAX);
    }
    job.last.store(options.compared, std::sync::atomic::Ordering::Relaxed);
    file.complete(&job).await?;
    let [first, last] = std::mem::take(&mut *lock(&gathered.0));
    if let Some(head) = &first {
        file.beginning.keep(head);
    }
    let lost = || Error::new(ErrorKind::Protocol, "the ends of the file did not arrive");
    Counters::add(&client.counters().payload, crate::bounds::covered(&spans));
    Ok(Opening { size, head: first.ok_or_else(lost)?, tail: (size - tail, last.ok_or_else(lost)?), source: file })
}

#[derive(Default)]
struct Ends(Mutex<[Option<Bytes>; 2]>);

impl Sink for Ends {
    fn part(&self, index: usize, bytes: Bytes) {
        if let Some(end) = lock(&self.0).get_mut(index) {
            *end = Some(bytes);
        }
    }
}

/// Opens the file wherever redirects lead, going back for another server where one fails.
pub(super) async fn to_open(client: &Client, mut budget: RetryBudget, along: ReadsWithOpen<'_>) -> Result<Opened> {
    let (mut adapted, mut stalled, mut lost) = (0, 0, false);
    // The error of a redirect's target: it says more than the redirector's.
    let mut first_failure: Option<Error> = None;
    loop {
        if budget.is_over() {
            return Err(first_failure.unwrap_or_else(|| budget.too_long()));
        }
        let server = client.server();
        let time_limit = budget.connect_timeout(client.connect_timeout(&server));
        let outcome = match server.host.quick(&client.caller, time_limit, 0).await {
            Ok(conn) => {
                let used = conn.is_used();
                match open_on(client, &server, Arc::clone(&conn), along).await {
                    Ok(opened) => {
                        client.arrived();
                        return Ok(opened);
                    }
                    Err(outcome) => {
                        if outcome.lost_session() {
                            conn.give_up();
                            // The server has dropped the session while it was idle.
                            if used && !std::mem::replace(&mut lost, true) {
                                continue;
                            }
                        }
                        outcome
                    }
                }
            }
            Err(broken) => OpenFailure::Broken(broken),
        };
        let mut unreached = client.counters().snapshot().round_trips == 0;
        let (error, action, why) = match outcome {
            OpenFailure::Redirect(to) => {
                client.follow(&server, &to)?;
                continue;
            }
            OpenFailure::Fatal(error) => (error, RetryAction::None, "ioerr"),
            OpenFailure::Failed(failure) => {
                let why = if failure.number == code::error::NOT_FOUND { "enoent" } else { "ioerr" };
                let action = if retry_action(&failure) == RetryAction::LogIn {
                    RetryAction::None
                } else {
                    retry_action(&failure)
                };
                (failed(&failure), action, why)
            }
            OpenFailure::Broken(broken) => {
                if let Some(sapwood_xrd::Refusal::Redirect(to)) = &broken.refusal {
                    client.follow(&server, to)?;
                    continue;
                }
                if adapted < 4 && server.host.adapt(&broken) {
                    adapted += 1;
                    continue;
                }
                // Once may be the connection; twice is the server.
                let again = broken.stalled && budget.is_silent(&mut stalled);
                let lasting = broken.last || again || matches!(broken.refusal, Some(ref r) if is_lasting(r));
                let lasting = lasting || matches!(broken.error.kind(), ErrorKind::Denied | ErrorKind::Invalid);
                // half of the progress timeout is left
                unreached &= !broken.stalled;
                (broken.error, if lasting { RetryAction::None } else { RetryAction::Again }, "ioerr")
            }
        };
        if client.is_redirected(&server) && error.kind() != ErrorKind::Invalid {
            if client.go_back(&server, why).map_err(|_| error.clone())? {
                first_failure = Some(error);
                continue;
            }
            // The redirector has named the same server again: perhaps it comes back.
            budget.spend(error).await?;
            client.begin_anew();
            continue;
        }
        let error = match first_failure.take() {
            Some(first) if action == RetryAction::None => {
                first.with_remedy(format!("asked for another server: {}", error.what()))
            }
            _ => error,
        };
        if action == RetryAction::None || (unreached && budget.is_fresh()) {
            return Err(error);
        }
        budget.spend(error).await?;
        Counters::add(&client.counters().retries, 1);
    }
}

fn is_lasting(refusal: &sapwood_xrd::Refusal) -> bool {
    use sapwood_xrd::Refusal;
    matches!(refusal, Refusal::NoTls | Refusal::TlsWanted | Refusal::Auth { .. } | Refusal::PipeliningRefused)
}
