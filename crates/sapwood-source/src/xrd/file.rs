//! An open file on an XRootD server.

use super::client::{Client, Hope, Place};
use super::conn::Conn;
use super::host::{DEPTH, VECTOR};
use super::opening::{Along, Fate, Opened, open_on, settle};
use super::plan;
use super::reading::{overhead, request, take};
use super::trouble::{Broken, Cure, cure, failed};
use crate::bounds;
use crate::counters::Counters;
use crate::job::Job;
use crate::lock;
use crate::source::{BoxFuture, FetchReport, Limits, Sink, Source, SourceStats};
use sapwood_span::{Error, ErrorKind, Result, Span};
use sapwood_xrd::{Handle, Outcome, code};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// A request for less does not wait for a session that is free of bulk.
const QUICK: u64 = 64 << 10;
/// Pages that came damaged are asked for so often.
const DAMAGED: u32 = 3;

/// A plain read of so much goes over a data link where there is one: nothing waits behind it.
const LONG: u64 = 512 << 10;
/// How often whoever waits for bulk sees whether others would bring it sooner.
const LOOK: Duration = Duration::from_millis(250);

/// What tells one version of a file from another.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub size: u64,
    modified: i64,
    server: String,
}

impl Version {
    pub fn of(opened: &Opened) -> Self {
        let server = opened.place.url.server();
        Self { size: opened.stat.size, modified: opened.stat.modified, server }
    }

    /// Refuses another version; replicas on other servers have times of their own.
    fn check(&self, opened: &Opened) -> Result<(), Fate> {
        let now = Self::of(opened);
        let what = if now.size != self.size {
            format!("it had {} bytes and has {} now", self.size, now.size)
        } else if now.server == self.server && now.modified != self.modified {
            "it was written to".to_owned()
        } else {
            return Ok(());
        };
        Err(Fate::Fatal(
            Error::new(ErrorKind::Protocol, format!("the file has changed while it was read: {what}"))
                .with_remedy("open it again"),
        ))
    }
}

/// The file's handle in one session; locked while it is being opened there.
type Slot = Arc<tokio::sync::Mutex<Option<Handle>>>;

pub(crate) struct XrdFile {
    client: Arc<Client>,
    version: Version,
    slots: Mutex<HashMap<u64, (std::sync::Weak<Conn>, Slot)>>,
}

impl XrdFile {
    pub fn new(client: Arc<Client>, version: Version) -> Self {
        Self { client, version, slots: Mutex::default() }
    }

    /// Remembers where it is open.
    pub fn keep(&self, opened: &Opened) {
        let slot: Slot = Arc::new(tokio::sync::Mutex::new(Some(opened.handle)));
        lock(&self.slots).insert(opened.conn.number, (Arc::downgrade(&opened.conn), slot));
    }

    fn slot(&self, conn: &Arc<Conn>) -> Slot {
        let mut slots = lock(&self.slots);
        slots.retain(|_, (conn, _)| conn.strong_count() > 0);
        let slot = slots.entry(conn.number).or_insert_with(|| (Arc::downgrade(conn), Slot::default()));
        Arc::clone(&slot.1)
    }

    /// Fills the job with all that it misses.
    pub async fn complete(self: &Arc<Self>, job: &Arc<Job>) -> Result<()> {
        let mut running = JoinSet::new();
        let mut groups = self.cut(job, &[Span::new(0, self.version.size)]);
        let mut moved = Instant::now();
        loop {
            for group in groups {
                let (file, job) = (Arc::clone(self), Arc::clone(job));
                running.spawn_on(async move { file.group(&job, group, moved).await }, &self.client.caller.handle());
            }
            let Some(ended) = running.join_next().await else { return Ok(()) };
            // Leaving at the first failure drops the set and stops the others.
            let left = ended.unwrap_or_else(|e| Err(crate::ended(e)))?;
            groups = self.cut(job, &left);
            // what is asked for anew has waited before
            moved = moved.max(lock(&self.client.place().host.meter).last().unwrap_or(moved));
        }
    }

    /// Requests for what is missing inside these bounds.
    fn cut(&self, job: &Job, bounds: &[Span]) -> Vec<Vec<Span>> {
        let host = self.client.place().host;
        let most = host.piece().unwrap_or(plan::MAX_REQUEST);
        plan::requests(&job.missing(bounds), host.known().vector.unwrap_or(VECTOR), most)
    }

    /// One request, sent again for what is missing as long as there is hope. Gives what is to be asked for in other
    /// requests: its session was given up, for it would have taken too long.
    async fn group(self: &Arc<Self>, job: &Arc<Job>, group: Vec<Span>, moved: Instant) -> Result<Vec<Span>> {
        let mut hope = Hope::proven(&self.client.caller.options, moved);
        let (mut damaged, mut left_out, mut stalled) = (0, 0, false);
        loop {
            let (place, started) = (self.client.place(), Instant::now());
            let missing = job.missing(&group);
            let Some(&at) = missing.first() else { return Ok(missing) };
            let wanted = plan::again(&missing, place.host.known().vector.unwrap_or(VECTOR));
            let before: u64 = missing.iter().map(|s| s.len).sum();
            let result = self.attempt(job, &place, &wanted, &hope).await;
            let moved = job.missing(&group).iter().map(|s| s.len).sum::<u64>() < before;
            if moved {
                hope.renew(lock(&place.host.meter).last().unwrap_or(started));
                (damaged, left_out) = (0, 0);
            }
            let error = match result {
                Ok(Outcome::Ok(_)) if moved => continue,
                Ok(Outcome::Ok(_)) => {
                    left_out += 1;
                    let error = Error::corrupt("the server has fewer bytes of the file than it says");
                    if left_out > 1 {
                        return Err(error.at(at).with_remedy("the file was truncated: compare it with the original"));
                    }
                    error
                }
                Ok(Outcome::Unread) => continue,
                Ok(Outcome::Damaged(pages)) => {
                    damaged += 1;
                    let error = Error::corrupt(format!("{pages} pages came damaged: their checksums are wrong"));
                    if damaged >= DAMAGED {
                        return Err(error.at(at).with_remedy("the network or the server's memory damages data"));
                    }
                    error
                }
                Ok(_) => Error::new(ErrorKind::Io, "a data connection broke"),
                Err(Fate::Broken(broken)) if broken.given_up => return Ok(job.missing(&group)),
                // Once may be the connection; twice is the server, however little it sends in between.
                Err(Fate::Broken(broken)) if broken.stalled && std::mem::replace(&mut stalled, true) => {
                    return Err(broken.error.at(at));
                }
                Err(fate) => match self.consider(&place, fate).map_err(|e| e.at(at))? {
                    Some(error) => error,
                    None => continue,
                },
            };
            hope.spend(error.at(at)).await?;
            job.retried();
            Counters::add(&self.client.counters().retries, 1);
        }
    }

    /// What to do about a failure: at once again, again after a pause (the error given), or nothing (the error).
    fn consider(&self, place: &Place, fate: Fate) -> Result<Option<Error>> {
        let (error, cure, why) = match fate {
            Fate::Fatal(error) => return Err(error),
            Fate::Redirect(to) => return self.client.follow(place, &to).map(|()| None),
            Fate::Failed(failure) => {
                let why = if failure.number == code::error::NOT_FOUND { "enoent" } else { "ioerr" };
                (failed(&failure), cure(&failure), why)
            }
            Fate::Broken(broken) => {
                if place.host.adapt(&broken) {
                    return Ok(None);
                }
                let lasting = broken.last || broken.error.kind() == ErrorKind::Denied;
                (broken.error, if lasting { Cure::None } else { Cure::Again }, "ioerr")
            }
        };
        let redirected = self.client.is_redirected(place);
        match cure {
            Cure::Smaller if place.host.shrink() => Ok(None),
            // What a redirect granted may have run out.
            Cure::Again | Cure::None if redirected && self.client.go_back(place, why)? => Ok(None),
            Cure::None => Err(error),
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
        place: &Place,
        wanted: &[Span],
        hope: &Hope,
    ) -> Result<Outcome, Fate> {
        let patience = hope.connect_timeout(self.client.connect_timeout(place));
        let total: u64 = wanted.iter().map(|s| s.len).sum();
        if total <= QUICK {
            let conn = place.host.quick(&self.client.caller, patience).await.map_err(Fate::Broken)?;
            return self.read(job, place, conn, wanted).await;
        }
        if let &[one] = wanted
            && one.len >= LONG
            && let Some(outcome) = self.read_aside(job, place, one, patience).await
        {
            return outcome;
        }
        let lease = place.host.bulk(&self.client.caller, patience).await.map_err(Fate::Broken)?;
        let mut reading = std::pin::pin!(self.read(job, place, Arc::clone(&lease.conn), wanted));
        loop {
            tokio::select! {
                biased;
                outcome = &mut reading => return outcome,
                () = sleep(LOOK) => place.host.relieve(&lease.conn),
            }
        }
    }

    /// Reads one long span over a data link of a session where the file is open: nothing else waits behind it. None
    /// where there is no such link yet.
    async fn read_aside(
        &self,
        job: &Arc<Job>,
        place: &Place,
        span: Span,
        patience: std::time::Duration,
    ) -> Option<Result<Outcome, Fate>> {
        let caller = &self.client.caller;
        let conn = place.host.quick(caller, patience).await.ok()?;
        let slot = self.slot(&conn);
        let handle = (*slot.lock().await)?;
        let link = conn.data_link(place.host.spare_data_links() > 0, patience, caller)?;
        let known = place.host.known();
        let pages = known.pages && !known.tls;
        self.count(job, 1);
        let take = take(job, &caller.counters);
        let answer = conn.read_over(link, handle, span, pages, take, &caller.counters).get().await;
        Some(self.ended(job, &slot, &[span], pages, answer).await)
    }

    /// A request goes out.
    fn count(&self, job: &Job, ranges: u64) {
        let counters = self.client.counters();
        job.request_sent();
        Counters::add(&counters.requests, 1);
        Counters::add(&counters.ranges, ranges);
    }

    /// A read is answered.
    async fn ended(
        &self,
        job: &Job,
        slot: &Slot,
        wanted: &[Span],
        pages: bool,
        answer: Result<Outcome, Broken>,
    ) -> Result<Outcome, Fate> {
        overhead(job, self.client.counters(), wanted, pages, &answer);
        match answer {
            Ok(outcome @ (Outcome::Damaged(_) | Outcome::Unread | Outcome::Lost)) => Ok(outcome),
            other => {
                let settled = settle(other);
                if let Err(Fate::Failed(failure)) = &settled
                    && cure(failure) == Cure::Reopen
                {
                    *slot.lock().await = None;
                }
                settled.map(Outcome::Ok)
            }
        }
    }

    /// Reads over this session, where the file may have to be opened first: in the same flight.
    async fn read(
        self: &Arc<Self>,
        job: &Arc<Job>,
        place: &Place,
        conn: Arc<Conn>,
        wanted: &[Span],
    ) -> Result<Outcome, Fate> {
        let counters = self.client.counters();
        let slot = self.slot(&conn);
        let mut open = slot.lock().await;
        // Encryption notices damage by itself.
        let known = place.host.known();
        let pages = known.pages && !known.tls;
        let ask = |handle: Handle| (request(handle, wanted, pages), take(job, counters));
        self.count(job, wanted.len() as u64);
        let answer = match *open {
            Some(handle) => {
                drop(open);
                let (request, take) = ask(handle);
                conn.ask(&request, Some(take), counters).get().await
            }
            None => {
                let along = || vec![ask([0; 4])];
                let opened = open_on(&self.client, place, Arc::clone(&conn), &along as Along).await?;
                self.version.check(&opened)?;
                *open = Some(opened.handle);
                drop(open);
                self.client.arrived();
                opened.reads.into_iter().next().unwrap_or(Ok(Outcome::Unread))
            }
        };
        self.ended(job, &slot, wanted, pages, answer).await
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
        let host = self.client.place().host;
        let (ranges, _) = host.known().vector.unwrap_or(VECTOR);
        let (ranges, streams) = (host.ranges_at_once(ranges), host.streams());
        let meter = lock(&host.meter);
        Limits {
            max_ranges: ranges as usize,
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
        Box::pin(async move {
            let begin = Instant::now();
            bounds::check(&spans, self.version.size, &self.client.name)?;
            let payload = bounds::covered(&spans);
            let job = Job::new(&spans, sink, begin);
            self.complete(&job).await.map_err(|e| e.in_file(&self.client.name))?;
            Counters::add(&self.client.counters().payload, payload);
            Ok(job.report(payload))
        })
    }

    fn prepare(&self, requests: usize) {
        let place = self.client.place();
        // Next door a session costs next to nothing when it is needed.
        if !place.host.is_near() {
            let patience = self.client.connect_timeout(&place);
            place.host.warm(requests, &self.client.caller, patience);
        }
    }

    fn stats(&self) -> SourceStats {
        let host = self.client.place().host;
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
