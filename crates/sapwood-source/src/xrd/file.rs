//! An open file on an XRootD server.

use super::client::{Client, MOST_REDIRECTS, RetryBudget, ServerUrl};
use super::conn::{Answer, Conn};
use super::failure::{Broken, RetryAction, failed, retry_action};
use super::host::DEPTH;
use super::open_request::{OpenFailure, Opened, ReadsWithOpen, open_on, settle};
use super::plan::{self, VECTOR};
use super::query::{RetryPolicy, ask};
use super::reading::{overhead, overhead_of, requests, take, together};
use super::state::Take;
use super::version::FileVersion;
use crate::assemble::Piece;
use crate::bounds;
use crate::checksum::Checksum;
use crate::counters::Counters;
use crate::file_identity::{FirstBytes, first_bytes_differ};
use crate::first_bytes::FirstBytesCheck;
use crate::job::Job;
use crate::lock;
use crate::origin_version::OriginVersion;
use crate::source::{BoxFuture, FetchReport, Sink, Source, SourceStats};
use crate::with_first_bytes::WithFirstBytes;
use sapwood_span::defect::caught_async;
use sapwood_span::sync::begun;
use sapwood_span::{Error, ErrorKind, Limits, Result, Span};
use sapwood_xrd::reply::Stat;
use sapwood_xrd::{CHUNK, Handle, Outcome, Refusal, Request, SecretBytes, code};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// A smaller request does not wait for a session that is free of bulk.
const QUICK: u64 = 64 << 10;
/// Bytes that the answers to a read, and to an open and a stat sent along with it, have at most beside those of the file.
const ANSWER: u64 = 256;
/// Damaged pages are requested this often.
const DAMAGED: u32 = 3;

/// Consecutive answers without an error that bring less than a sixteenth of what is missing.
const MOST_MEAGRE: usize = 32;

/// A plain read this long uses a data link where there is one: nothing waits behind it.
const LONG: u64 = 512 << 10;
/// How often a task that waits for bulk checks whether others would be faster.
const LOOK: Duration = Duration::from_millis(250);

/// Passes on what arrives, unless the first bytes differ from the known ones.
fn recognising(seen: &Arc<Mutex<FirstBytesCheck>>, take: Take) -> Take {
    let seen = Arc::clone(seen);
    Arc::new(move |offset, bytes: bytes::Bytes| {
        let looked = lock(&seen).look(&[Piece { offset, bytes: bytes.clone() }]);
        if looked.is_ok() {
            take(offset, bytes);
        }
    })
}

/// The server's answer contained nothing and calls for an immediate retry.
fn detour(count: &mut usize, budget: &RetryBudget) -> Result<()> {
    *count += 1;
    if *count > MOST_REDIRECTS {
        let what = format!("more than {MOST_REDIRECTS} redirects and retries without any of the requested bytes");
        return Err(Error::new(ErrorKind::Protocol, what).with_remedy("try another server, or later"));
    }
    if budget.is_over() { Err(budget.too_long()) } else { Ok(()) }
}

/// The file's handle in one session; locked while it is being opened there.
type Slot = Arc<tokio::sync::Mutex<Option<Handle>>>;

pub(crate) struct XrdFile {
    pub(super) client: Arc<Client>,
    pub(super) version: FileVersion,
    pub beginning: FirstBytes,
    /// The server's answers leave it open whether the file changed. The first bytes decide.
    doubted: AtomicBool,
    slots: Mutex<HashMap<u64, (std::sync::Weak<Conn>, Slot)>>,
}

impl XrdFile {
    pub(super) fn new(client: Arc<Client>, version: FileVersion) -> Self {
        let (beginning, doubted) = (FirstBytes::default(), AtomicBool::new(false));
        Self { client, version, beginning, doubted, slots: Mutex::default() }
    }

    /// Remembers where it is open.
    pub(super) fn keep(&self, opened: &Opened) {
        let slot: Slot = Arc::new(tokio::sync::Mutex::new(Some(opened.handle)));
        lock(&self.slots).insert(opened.conn.number, (Arc::downgrade(&opened.conn), slot));
    }

    fn slot(&self, conn: &Arc<Conn>) -> Slot {
        let mut slots = lock(&self.slots);
        slots.retain(|_, (conn, _)| conn.strong_count() > 0);
        let slot = slots.entry(conn.number).or_insert_with(|| (Arc::downgrade(conn), Slot::default()));
        Arc::clone(&slot.1)
    }

    /// Fetches all that the job is missing.
    pub(super) async fn complete(self: &Arc<Self>, job: &Arc<Job>) -> Result<()> {
        let mut running = JoinSet::new();
        let mut groups = self.cut(job, &[Span::new(0, self.version.size)]);
        let mut moved = Instant::now();
        loop {
            for group in groups {
                let (file, job) = (Arc::clone(self), Arc::clone(job));
                // sent here, as far as a session is free: new tasks may begin in any order
                let request = begun(caught_async(async move { file.group(&job, group, moved).await })).await;
                running.spawn_on(request, &self.client.caller.handle());
            }
            let Some(ended) = running.join_next().await else { return Ok(()) };
            // Returning at the first failure drops the set and cancels the others.
            let left = ended.unwrap_or_else(|e| Err(crate::ended(e)))?;
            groups = self.cut(job, &left);
            // a repeated request has waited before
            moved = moved.max(lock(&self.client.server().host.meter).last().unwrap_or(moved));
        }
    }

    /// Requests for what is missing inside these bounds.
    fn cut(&self, job: &Job, bounds: &[Span]) -> Vec<Vec<Span>> {
        let host = self.client.server().host;
        let most = host.piece().unwrap_or(plan::MAX_REQUEST);
        plan::requests(&job.missing(bounds), host.known().vector.unwrap_or(VECTOR), most)
    }

    /// One request, sent again for what is missing as long as a retry may help. Returns what other requests must fetch:
    /// its session was given up because it would have taken too long.
    async fn group(self: &Arc<Self>, job: &Arc<Job>, group: Vec<Span>, moved: Instant) -> Result<Vec<Span>> {
        let mut budget = RetryBudget::proven(&self.client.caller.options, moved);
        let (mut damaged, mut left_out, mut stalled, mut forgotten) = (0, 0, 0, false);
        // Answers that bring nothing and call for an immediate retry; answers that bring little of what they should.
        let (mut detours, mut meagre) = (0, 0);
        loop {
            let (server, started) = (self.client.server(), Instant::now());
            let missing = job.missing(&group);
            let Some(&at) = missing.first() else { return Ok(missing) };
            let wanted = plan::again(&missing, server.host.known().vector.unwrap_or(VECTOR));
            let before: u64 = missing.iter().map(|s| s.len).sum();
            let result = self.attempt(job, &server, &wanted, &budget).await;
            let after = job.missing(&group).iter().map(|s| s.len).sum::<u64>();
            let moved = after < before;
            if moved {
                budget.renew(lock(&server.host.meter).last().unwrap_or(started));
                (damaged, left_out, detours) = (0, 0, 0);
            }
            let error = match result {
                Ok(Outcome::Ok(_)) if moved => {
                    meagre += usize::from(after > before / 16 * 15);
                    if meagre > MOST_MEAGRE {
                        let what = "the server keeps returning a small part of what is requested";
                        return Err(Error::new(ErrorKind::Protocol, what).at(at));
                    }
                    continue;
                }
                Ok(Outcome::Ok(_)) => {
                    left_out += 1;
                    let error = Error::corrupt("the server has fewer bytes of the file than it reported");
                    if left_out > 1 {
                        return Err(error.at(at).with_remedy("the file was truncated: compare it with the original"));
                    }
                    error
                }
                Ok(Outcome::Unread) => {
                    detour(&mut detours, &budget).map_err(|e| e.at(at))?;
                    continue;
                }
                Ok(Outcome::Damaged(pages)) => {
                    damaged += 1;
                    let error = Error::corrupt(format!("{pages} pages arrived damaged: their checksums do not match"));
                    if damaged >= DAMAGED {
                        return Err(error.at(at).with_remedy("the network or the server's memory damages data"));
                    }
                    error
                }
                Ok(_) => Error::new(ErrorKind::Io, "a data connection broke"),
                Err(OpenFailure::Broken(broken)) if broken.given_up => return Ok(job.missing(&group)),
                // Once may be the connection; twice is the server, however little it sends in between.
                Err(OpenFailure::Broken(broken)) if broken.stalled && budget.is_silent(&mut stalled) => {
                    return Err(broken.error.at(at));
                }
                // Once may be a server that was restarted behind the connection.
                Err(OpenFailure::Failed(failure))
                    if retry_action(&failure) == RetryAction::LogIn && std::mem::replace(&mut forgotten, true) =>
                {
                    return Err(failed(&failure).at(at));
                }
                Err(outcome) => match self.consider(&server, outcome).map_err(|e| e.at(at))? {
                    Some(error) => error,
                    None => {
                        detour(&mut detours, &budget).map_err(|e| e.at(at))?;
                        continue;
                    }
                },
            };
            budget.spend(error.at(at)).await?;
            job.retried();
            Counters::add(&self.client.counters().retries, 1);
        }
    }

    /// How to react to a failure: an immediate retry, a retry after a pause (the error given), or none (the error).
    fn consider(&self, server: &ServerUrl, outcome: OpenFailure) -> Result<Option<Error>> {
        let (error, action, why) = match outcome {
            OpenFailure::Fatal(error) => return Err(error),
            OpenFailure::Redirect(to) => return self.client.follow(server, &to).map(|()| None),
            OpenFailure::Failed(failure) => {
                let why = if failure.number == code::error::NOT_FOUND { "enoent" } else { "ioerr" };
                (failed(&failure), retry_action(&failure), why)
            }
            OpenFailure::Broken(broken) => {
                if let Some(Refusal::Redirect(to)) = &broken.refusal {
                    return self.client.follow(server, to).map(|()| None);
                }
                if server.host.adapt(&broken) {
                    return Ok(None);
                }
                let lasting = broken.last || broken.error.kind() == ErrorKind::Denied;
                (broken.error, if lasting { RetryAction::None } else { RetryAction::Again }, "ioerr")
            }
        };
        let redirected = self.client.is_redirected(server);
        match action {
            RetryAction::Smaller if server.host.shrink() => Ok(None),
            // A grant from the redirect may have expired.
            RetryAction::Again | RetryAction::None if redirected && self.client.go_back(server, why)? => Ok(None),
            RetryAction::None => Err(error),
            _ => {
                if redirected {
                    self.client.begin_anew();
                }
                Ok(Some(error))
            }
        }
    }

    async fn attempt(
        self: &Arc<Self>,
        job: &Arc<Job>,
        server: &ServerUrl,
        wanted: &[Span],
        budget: &RetryBudget,
    ) -> Result<Outcome, OpenFailure> {
        let time_limit = budget.connect_timeout(self.client.connect_timeout(server));
        let total: u64 = wanted.iter().map(|s| s.len).sum();
        if total <= QUICK {
            let answer = total + ANSWER + (wanted.len() * CHUNK) as u64;
            let conn = server.host.quick(&self.client.caller, time_limit, answer).await.map_err(OpenFailure::Broken)?;
            return self.read(job, server, conn, wanted).await;
        }
        if let &[one] = wanted
            && one.len >= LONG
            && let Some(outcome) = self.read_aside(job, server, one, time_limit).await
        {
            return outcome;
        }
        let lease = server.host.bulk(&self.client.caller, time_limit).await.map_err(OpenFailure::Broken)?;
        let mut reading = std::pin::pin!(self.read(job, server, Arc::clone(&lease.conn), wanted));
        loop {
            tokio::select! {
                biased;
                outcome = &mut reading => return outcome,
                () = sleep(LOOK) => server.host.relieve(&lease.conn),
            }
        }
    }

    /// Reads one long span over a data link of a session where the file is open: nothing else waits behind it. None
    /// where there is no such link yet.
    async fn read_aside(
        &self,
        job: &Arc<Job>,
        server: &ServerUrl,
        span: Span,
        time_limit: std::time::Duration,
    ) -> Option<Result<Outcome, OpenFailure>> {
        let caller = &self.client.caller;
        let conn = server.host.quick(caller, time_limit, 0).await.ok()?;
        let slot = self.slot(&conn);
        let handle = (*slot.lock().await)?;
        let link = conn.data_link(server.host.spare_data_links() > 0, time_limit, caller)?;
        let known = server.host.known();
        let pages = known.pages && !known.tls;
        self.count(job, 1, 1);
        let take = take(job, &caller.counters);
        let extra = overhead_of(&requests(handle, &[span], pages, 1));
        let answer = conn.read_over(link, handle, span, pages, take, &caller.counters).get().await;
        if job.last.load(Relaxed) {
            // the links of a session do not wait for each other; such servers are near
            let stat = conn.ask(&Request::StatOpen { handle }, None, &caller.counters);
            if let Err(outcome) = self.compare(server, Some(stat)).await {
                return Some(Err(outcome));
            }
        }
        Some(self.ended(job, &conn, &slot, extra, answer).await)
    }

    /// Waits for the server's stat of the open file, and compares; where it has none, the first bytes decide.
    async fn compare(&self, server: &ServerUrl, stat: Option<Answer>) -> Result<(), OpenFailure> {
        let Some(stat) = stat else { return Ok(()) };
        let now = match stat.get().await {
            Ok(Outcome::Ok(body)) => Stat::parse(&body).ok(),
            _ => None,
        };
        let doubted = match now {
            Some(now) => self.version.compare(&server.url.server(), &now).map_err(OpenFailure::Fatal)?,
            None => true,
        };
        if doubted {
            self.doubted.store(true, Relaxed);
        }
        Ok(())
    }

    /// Refuses a file that is not the one first opened, by its first bytes or by the server's stat.
    fn refuse_another(&self, opened: &Opened, differs: bool) -> Result<(), OpenFailure> {
        let server = opened.server.url.server();
        if self.version.knows(&server) {
            if self.version.compare(&server, &opened.stat).map_err(OpenFailure::Fatal)? {
                self.doubted.store(true, Relaxed);
            }
            return if differs { Err(OpenFailure::Fatal(first_bytes_differ())) } else { Ok(()) };
        }
        let how = match opened.stat.size {
            size if size != self.version.size => format!("of {size} bytes, not {}", self.version.size),
            _ if differs => "its first bytes differ".to_owned(),
            _ => {
                self.version.learn(opened);
                return Ok(());
            }
        };
        let error = Error::corrupt(format!("{server} has a different file: {how}"));
        Err(OpenFailure::Fatal(error.with_remedy("its replicas differ: open it again, or specify one server")))
    }

    /// Counts requests being sent.
    fn count(&self, job: &Job, requests: usize, ranges: u64) {
        let counters = self.client.counters();
        (0..requests).for_each(|_| job.request_sent());
        Counters::add(&counters.requests, requests as u64);
        Counters::add(&counters.ranges, ranges);
        crate::trace::request_of(|| self.client.server().url.redacted(), requests, ranges);
    }

    /// A read is answered; `extra` bytes of the answer are not part of the file.
    async fn ended(
        &self,
        job: &Job,
        conn: &Conn,
        slot: &Slot,
        extra: u64,
        answer: Result<Outcome, Broken>,
    ) -> Result<Outcome, OpenFailure> {
        overhead(job, self.client.counters(), extra, &answer);
        match answer {
            Ok(outcome @ (Outcome::Damaged(_) | Outcome::Unread | Outcome::Lost)) => Ok(outcome),
            other => {
                let settled = settle(other);
                if let Err(OpenFailure::Failed(failure)) = &settled {
                    match retry_action(failure) {
                        RetryAction::Reopen => *slot.lock().await = None,
                        RetryAction::LogIn => conn.give_up(),
                        _ => {}
                    }
                }
                settled.map(Outcome::Ok)
            }
        }
    }

    /// Reads over this session, where the file may have to be opened first: in the same flight.
    async fn read(
        self: &Arc<Self>,
        job: &Arc<Job>,
        server: &ServerUrl,
        conn: Arc<Conn>,
        wanted: &[Span],
    ) -> Result<Outcome, OpenFailure> {
        let counters = self.client.counters();
        let slot = self.slot(&conn);
        let mut open = slot.lock().await;
        // TLS detects damage by itself.
        let known = server.host.known();
        let pages = known.pages && !known.tls;
        let (ranges, _) = known.vector.unwrap_or(VECTOR);
        let ask = |handle: Handle| -> Vec<(Request, Take)> {
            requests(handle, wanted, pages, ranges).into_iter().map(|r| (r, take(job, counters))).collect()
        };
        let mut sent = requests([0; 4], wanted, pages, ranges);
        let answer = match *open {
            Some(handle) => {
                drop(open);
                self.count(job, sent.len(), wanted.len() as u64);
                let reads = ask(handle).into_iter().map(|(request, take)| (request, Some(take)));
                // after the reads in the same flight: it describes the file after the bytes were read
                let stat = job.last.load(Relaxed).then_some((Request::StatOpen { handle }, None));
                let mut answers = conn.ask_all(reads.chain(stat).collect(), counters);
                let stat = if answers.len() > sent.len() { answers.pop() } else { None };
                let mut outcomes = Vec::with_capacity(sent.len());
                for answer in answers {
                    outcomes.push(answer.get().await);
                    // The others are not waited for then: what has not arrived is requested again.
                    if !matches!(outcomes.last(), Some(Ok(Outcome::Ok(_)))) {
                        break;
                    }
                }
                let answer = together(outcomes);
                if matches!(answer, Ok(Outcome::Ok(_))) {
                    self.compare(server, stat).await?;
                }
                answer
            }
            None => {
                // the name may now refer to another file, or to a replica of another: compare its first bytes first
                let beginning = self.beginning.bytes();
                let seen = beginning.as_ref().map(|then| Arc::new(Mutex::new(FirstBytesCheck::new(then.clone()))));
                let first = beginning.map(|b| Span::new(0, b.len() as u64));
                // as one more range of a vector read they cost no request
                let within = first.filter(|_| wanted.len() > 1 && !wanted.len().is_multiple_of(ranges.max(1) as usize));
                let alone = if within.is_none() { first } else { None };
                let spans: Vec<Span> = within.into_iter().chain(wanted.iter().copied()).collect();
                let of = |handle: Handle| {
                    let mut all: Vec<Request> = alone.iter().flat_map(|s| requests(handle, &[*s], false, 1)).collect();
                    all.extend(requests(handle, &spans, pages, ranges));
                    all
                };
                sent = of([0; 4]);
                self.count(job, sent.len(), (spans.len() + usize::from(alone.is_some())) as u64);
                let along = || {
                    let take =
                        seen.as_ref().map_or_else(|| take(job, counters), |s| recognising(s, take(job, counters)));
                    of([0; 4]).into_iter().map(|request| (request, Arc::clone(&take))).collect()
                };
                let opened = open_on(&self.client, server, Arc::clone(&conn), &along as ReadsWithOpen).await?;
                self.refuse_another(&opened, seen.as_ref().is_some_and(|seen| lock(seen).differs()))?;
                if seen.is_none_or(|seen| lock(&seen).is_complete()) {
                    *open = Some(opened.handle);
                } else {
                    conn.close(opened.handle);
                }
                drop(open);
                self.client.arrived();
                together(opened.reads)
            }
        };
        self.ended(job, &conn, &slot, overhead_of(&sent), answer).await
    }
}

impl XrdFile {
    /// Reads the first bytes again.
    ///
    /// # Errors
    /// `Corrupt` where they differ, and any error of the read.
    async fn compare_first_bytes(self: &Arc<Self>, sink: &Arc<dyn Sink>) -> Result<()> {
        let mut spans = Vec::new();
        let Some(compare) = WithFirstBytes::add(&mut spans, sink, &self.beginning) else { return Ok(()) };
        let job = Job::new(&spans, Arc::<WithFirstBytes>::clone(&compare), Instant::now());
        self.complete(&job).await?;
        compare.check()
    }

    fn fetch_as(
        self: Arc<Self>,
        mut spans: Vec<Span>,
        mut sink: Arc<dyn Sink>,
        last: bool,
        compare: bool,
    ) -> BoxFuture<'static, Result<FetchReport>> {
        Box::pin(async move {
            let begin = Instant::now();
            bounds::check(&spans, self.version.size, &self.client.name)?;
            let payload = bounds::covered(&spans);
            let compare = compare.then(|| WithFirstBytes::add(&mut spans, &sink, &self.beginning)).flatten();
            if let Some(compare) = &compare {
                sink = Arc::<WithFirstBytes>::clone(compare);
            }
            let job = Job::new(&spans, Arc::clone(&sink), begin);
            job.last.store(last, Relaxed);
            let gone = |e: Error| if e.kind() == ErrorKind::NotFound { e.with_kind(ErrorKind::Gone) } else { e };
            self.complete(&job).await.map_err(|e| gone(e).in_file(&self.client.name))?;
            if let Some(compare) = compare {
                compare.check().map_err(|e| e.in_file(&self.client.name))?;
            } else if self.doubted.swap(false, Relaxed) {
                self.compare_first_bytes(&sink).await.map_err(|e| e.in_file(&self.client.name))?;
            }
            Counters::add(&self.client.counters().payload, payload);
            Ok(FetchReport { compared: last, ..job.report(payload) })
        })
    }
}

impl Source for XrdFile {
    fn name(&self) -> &str {
        &self.client.name
    }

    fn size(&self) -> Option<u64> {
        Some(self.version.size)
    }

    fn limits(&self) -> Limits {
        let host = self.client.server().host;
        let (ranges, _) = host.known().vector.unwrap_or(VECTOR);
        let (ranges, streams) = (host.ranges_at_once(plan::in_a_flight(ranges)), host.streams());
        let meter = lock(&host.meter);
        Limits {
            max_ranges: ranges as usize,
            max_range_bytes: u64::MAX,
            max_request_bytes: plan::MAX_REQUEST,
            max_in_flight: streams * DEPTH,
            queue: DEPTH,
            streams: None,
            range_overhead: plan::RANGE_OVERHEAD,
            round_trip: meter.round_trip(),
            bandwidth: meter.bandwidth(),
        }
    }

    fn is_local(&self) -> bool {
        false
    }

    fn fetch(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(spans, sink, false, false)
    }

    fn fetch_soon(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(spans, sink, true, false)
    }

    fn fetch_last(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        // servers report modification times in seconds
        let compare = self.version.recently_modified;
        self.fetch_as(spans, sink, true, compare)
    }

    fn fetch_soon_compared(
        self: Arc<Self>,
        spans: Vec<Span>,
        sink: Arc<dyn Sink>,
    ) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_last(spans, sink)
    }

    fn version(&self) -> Option<OriginVersion> {
        let (size, modified, beginning) = (self.version.size, self.version.modified(), self.beginning.bytes()?);
        let has_validator = modified.is_some();
        Some(OriginVersion { size, modified, has_validator, beginning, ..OriginVersion::default() })
    }

    fn checksum(self: Arc<Self>) -> BoxFuture<'static, Result<Option<Checksum>>> {
        Box::pin(async move {
            let question = |path: SecretBytes| Request::Query {
                kind: code::QUERY_CHECKSUM,
                words: sapwood_span::raw_text::text_of(&path.0),
            };
            match ask(&self.client, &self.client.caller.options, &question, RetryPolicy::Never).await {
                Ok(answer) => Ok(Checksum::of_xrootd(&answer)),
                Err(e) if e.kind() == ErrorKind::Timeout => Err(e.in_file(&self.client.name)),
                // servers that compute none report that in many ways
                Err(_) => Ok(None),
            }
        })
    }

    fn recognise_by(&self, first: &bytes::Bytes) {
        self.beginning.lengthen(first);
    }

    fn prepare(&self, requests: usize) {
        let server = self.client.server();
        // For a nearby server, a session costs next to nothing when it is needed.
        if !server.host.is_near() {
            let time_limit = self.client.connect_timeout(&server);
            server.host.warm(requests, &self.client.caller, time_limit);
        }
    }

    fn stats(&self) -> SourceStats {
        let host = self.client.server().host;
        let meter = lock(&host.meter);
        let counted = self.client.counters().snapshot();
        SourceStats { round_trip: meter.round_trip(), bandwidth: meter.bandwidth(), ..counted }
    }

    fn close(&self) {
        if !self.client.caller.is_ours() {
            return;
        }
        for (conn, slot) in lock(&self.slots).values() {
            if let (Some(conn), Ok(mut open)) = (conn.upgrade(), slot.try_lock())
                && let Some(handle) = open.take()
            {
                conn.close(handle);
            }
        }
    }
}

impl Drop for XrdFile {
    fn drop(&mut self) {
        self.close();
    }
}
