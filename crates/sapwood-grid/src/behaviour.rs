//! How a job behaves on one path: measured by driving the shipped planner over a model of that path, once for all jobs that are alike.

use crate::clock::{MOST_YEARS, YEAR};
use crate::fetching_ahead::{fetching_ahead, is_fetched_ahead};
use crate::profile::Profile;
use crate::reader::Reader;
use crate::route::Route;
use crate::scenario::Protocol;
use crate::slack::Slack;
use sapwood_engine::{
    Expected, expected_ahead, expected_over_http, expected_over_xrootd, expected_steps, http_measured,
    measured_bandwidth,
};
use sapwood_plan::{Basket, CacheSize, Limits, Request};
use sapwood_prefetch::LongRead;
use sapwood_sim::{Client, Cut, Faults, Fetched, Flight, Job, Link, Proxy, Release, Report, SEGMENT, run_together};
use sapwood_span::{Error, Result, Span, units};
use std::ops::Range;
use std::time::Duration;

/// In each step of a scan all baskets are looked at: so many looks at most, and so many steps.
const LOOKS: u64 = 400_000_000;
const MOST_STEPS: u64 = 10_000;
/// A client reads what comes in a millisecond, but between these numbers of bytes at once; of a long flight more, so that there are no more
/// reads than this.
const READS: [u64; 2] = [SEGMENT as u64, 64 << 10];
const MOST_READS: u64 = 4096;

/// What a job does with one file, alone on its path.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Behaviour {
    pub(crate) requests: f64,
    /// Bytes over the path until its last bytes have come.
    pub(crate) bytes: f64,
    /// Those that a proxy has asked for ahead and that come after that.
    pub(crate) rest: f64,
    /// Of both, those of headers.
    pub(crate) headers: f64,
    /// Those that have come before it can work.
    pub(crate) first: f64,
    /// Bytes of the baskets that it needs.
    pub(crate) wanted: f64,
    /// Its time from the opening of the file on.
    pub(crate) seconds: f64,
    /// Of these, those until the last bytes have come.
    pub(crate) reading: f64,
    /// By how much its bytes may come later than they did.
    pub(crate) slack: Slack,
    /// Those in which a core worked.
    pub(crate) cpu: f64,
}

impl Behaviour {
    /// Its time after the last bytes have come.
    pub(crate) fn after(&self) -> f64 {
        self.seconds - self.reading
    }

    /// The same, if the network is so slow that all other work is done by then.
    pub(crate) fn tail(&self) -> f64 {
        self.after() - self.slack.of_last()
    }

    /// For how long a job works after a flow of its bytes has ended that was so far behind their slack, if it was slower than it may be.
    pub(crate) fn after_late(&self, late: Option<f64>) -> f64 {
        (self.after() + late.unwrap_or(-self.slack.least())).max(0.0)
    }
}

/// The scan of one file by a job.
pub(crate) struct Scan {
    pub(crate) baskets: Vec<Basket>,
    pub(crate) request: Request,
    pub(crate) client: Client,
    pub(crate) cut: Option<Cut>,
    pub(crate) link: Link,
    /// The proxy that fetches ahead.
    pub(crate) proxy: Option<Proxy>,
    pub(crate) opening: Behaviour,
    pub(crate) cpu: f64,
}

impl Scan {
    /// None when it reads nothing.
    pub(crate) fn new(profile: &Profile, reader: Reader<'_>, route: Route) -> Option<Self> {
        let Reader { workload, chosen, threads, windows, .. } = reader;
        let entries = workload.entries_of(profile.entries);
        let is_chosen = |b: &&Basket| chosen.get(b.branch as usize).is_some_and(|&c| c) && b.first < entries;
        let baskets: Vec<Basket> = profile.baskets.iter().filter(is_chosen).copied().collect();
        if baskets.is_empty() {
            return None;
        }
        let far = route.round_trip > 0.0;
        let round_trip = Duration::from_secs_f64(route.round_trip);
        let mut link = route.link(workload, windows);
        let proxied = route.proxy.is_some();
        let expected = |round_trip, proxied| match workload.protocol {
            Protocol::Http => {
                let long = workload.long_ranges;
                expected_over_http(profile.file_bytes, profile.to_open, round_trip, long, proxied)
            }
            Protocol::Xrootd => expected_over_xrootd(profile.file_bytes, profile.to_open, round_trip),
        };
        let on_path = far.then(|| expected(round_trip, proxied));
        let leg = route.proxy.filter(|_| far && is_fetched_ahead(workload.cache));
        let at_once = leg.map(|leg| AtOnce { bandwidth: leg.bandwidth, is_http: workload.protocol == Protocol::Http });
        let (opening, arrivals, waits) =
            on_path.as_ref().map_or_else(Default::default, |e| open(&mut link, e, proxied, at_once));
        let proxy = leg.map(|leg| fetching_ahead(profile, reader, leg, &mut link));
        // what the client knows of its server is what it sees of such a proxy
        let round_trip = proxy.as_ref().map_or(round_trip, |proxy| proxy.near.round_trip);
        let server = if proxy.is_some() { Some(expected(round_trip, false)) } else { on_path };
        let measured = |limits: Limits, round_trip| match workload.protocol {
            Protocol::Http => http_measured(limits, round_trip, &arrivals),
            Protocol::Xrootd => Limits { bandwidth: measured_bandwidth(round_trip, &arrivals), ..limits },
        };
        // until the proxy has answered from what it holds, the server seems as far away as its first answers took
        let seems_far = proxy.is_some() && workload.protocol == Protocol::Http;
        let first =
            waits.into_iter().min().filter(|_| seems_far).map(|wait| measured(expected(wait, false).limits, wait));
        let (limits, warm) = match server {
            Some(e) => {
                let [limits, warm] = [e.limits, e.warm].map(|limits| measured(limits, round_trip));
                let round_trip = first.as_ref().map_or(limits.round_trip, |first| first.round_trip);
                let limits = Limits { round_trip, ..limits };
                (limits.clone(), Some(warm).filter(|warm| *warm != limits))
            }
            None => (Limits::local(threads as usize), None),
        };
        let hold = match workload.cache {
            CacheSize::Bytes(n) => n.max(1),
            _ => 0,
        };
        let request = Request { cache: workload.cache, limits, clusters: profile.clusters.clone(), hold };
        let unzipped = baskets.iter().map(|b| b.unzipped as f64).sum();
        let most = (LOOKS / baskets.len() as u64).clamp(1, MOST_STEPS);
        let steps = expected_steps(&profile.clusters, entries, unzipped, most);
        let batches: Vec<(u64, u64)> = steps.into_iter().map(|step| (step.start, step.end)).collect();
        let of_cut = profile.numbers(&workload.cut).filter(|&b| chosen.get(b as usize).is_some_and(|&c| c));
        let of_cut: Vec<u32> = of_cut.collect();
        // every basket has an entry that passes: what the cut changes is when its baskets are known to be needed
        let cut = (!of_cut.is_empty()).then(|| Cut {
            branches: of_cut,
            passed: vec![Range { start: 0, end: entries }],
            limits: first,
        });
        let bytes: u64 = baskets.iter().map(|b| b.span.len).sum();
        let decompression = bytes as f64 / workload.inflate.max(1.0);
        let work = workload.cpu_per_entry * entries as f64;
        let evaluation = if cut.is_some() { workload.cut_per_entry * entries as f64 } else { 0.0 };
        let of_a_batch = |work: f64| Duration::from_secs_f64((work / batches.len() as f64).min(1e9));
        // nothing is requested of a disk
        let [per_request, per_range] = [workload.costs.cpu_per_request, workload.costs.cpu_per_range]
            .map(|cost| if far { Duration::from_secs_f64(cost) } else { Duration::ZERO });
        let client = Client {
            per_request,
            per_range,
            cores: threads as usize,
            inflate: workload.inflate,
            think: of_a_batch(work),
            cut: of_a_batch(evaluation),
            batches,
            ahead: expected_ahead(threads as usize, !far),
            release: Release::Inflated,
            warm,
        };
        let cpu = work + evaluation + decompression;
        Some(Self { baskets, request, client, cut, link, proxy, opening, cpu })
    }
}

/// A proxy that hands on short answers when it has all of them.
#[derive(Clone, Copy)]
struct AtOnce {
    bandwidth: f64,
    is_http: bool,
}

impl AtOnce {
    fn waits_for(&self, bytes: u64) -> bool {
        LongRead::new(&[Span::new(0, bytes)]).is_short(self.is_http)
    }

    fn burst(&self, bytes: u64) -> Flight {
        let end = Duration::from_secs_f64(bytes as f64 / self.bandwidth.max(1.0));
        Flight { begin: Duration::ZERO, end, bytes }
    }
}

/// Opens the file: what it costs, and connections over `link` that are open then, with windows as wide as what they carried made them.
/// What a proxy divides is one request of the job. Also gives when how many bytes came, and how long each flight took, with the
/// connection before the first one.
fn open(
    link: &mut Link,
    expected: &Expected,
    proxied: bool,
    at_once: Option<AtOnce>,
) -> (Behaviour, Vec<(Duration, u64)>, Vec<Duration>) {
    let mut seconds = link.round_trip.as_secs_f64() * f64::from(expected.connecting);
    let mut open = vec![link.initial_window];
    let mut out = Behaviour { requests: expected.beside as f64, ..Behaviour::default() };
    let mut arrivals = Vec::new();
    let mut small_replies = expected.small_replies;
    let mut waits = Vec::new();
    let mut before = 0.0;
    for flight in &expected.opening {
        let headers = link.request_header + link.range_header;
        let all: u64 = flight.iter().map(|bytes| bytes + headers).sum();
        open.resize(open.len().max(flight.len()), link.initial_window);
        let (mut longest, mut whole) = (0.0f64, Vec::new());
        for (&bytes, window) in flight.iter().zip(&mut open) {
            // more was asked of those with wider windows, so that all end together
            let share = (bytes + headers) as f64 / all.max(1) as f64;
            let (flights, wider) = link.flights(bytes + headers, *window, share);
            *window = wider;
            longest = longest.max(flights.last().map_or(0.0, |f| f.end.as_secs_f64()));
            let requested = Duration::from_secs_f64(seconds);
            match at_once.filter(|proxy| proxy.waits_for(bytes)) {
                Some(proxy) => whole.push(proxy.burst(bytes + headers)),
                None => arrivals.extend(flights.iter().flat_map(|f| reads(requested, f))),
            }
            out.bytes += (bytes + headers) as f64;
            out.headers += headers as f64;
        }
        out.requests += if proxied { 1.0 } else { flight.len() as f64 };
        if let Some(first) = open.first_mut() {
            *first = first.saturating_add(std::mem::take(&mut small_replies).saturating_mul(SEGMENT as u64));
        }
        seconds += longest;
        let end = Duration::from_secs_f64(seconds);
        arrivals.extend(whole.iter().flat_map(|flight| reads(end, flight)));
        waits.push(Duration::from_secs_f64(seconds - before));
        before = seconds;
    }
    link.open = open;
    out.wanted = out.bytes - out.headers;
    out.seconds = seconds;
    arrivals.sort_unstable();
    (out, arrivals, waits)
}

/// When the client reads how much of a flight in a response to a request of this time.
fn reads(requested: Duration, flight: &Flight) -> impl Iterator<Item = (Duration, u64)> + use<> {
    let in_a_millisecond = flight.bytes as f64 * 1e-3 / (flight.end - flight.begin).as_secs_f64().max(1e-9);
    let each = (in_a_millisecond as u64).clamp(READS[0], READS[1]).max(flight.bytes / MOST_READS);
    let (flight, count) = (*flight, flight.bytes.div_ceil(each));
    (0..count).map(move |i| {
        let end = ((i + 1) * each).min(flight.bytes);
        let took = (flight.end - flight.begin).mul_f64(end as f64 / flight.bytes as f64);
        (requested + flight.begin + took, end - i * each)
    })
}

/// Drives scans over one link, each from its start in seconds on, and takes their work from `work`; none if there is not enough.
pub(crate) fn together(scans: &[(&Scan, f64)], link: &Link, work: &mut u64) -> Result<Option<Vec<Report>>> {
    let jobs = scans.iter().map(|(scan, start)| Job {
        baskets: &scan.baskets,
        request: scan.request.clone(),
        client: &scan.client,
        cut: scan.cut.as_ref(),
        proxy: scan.proxy.as_ref(),
        start: Duration::from_secs_f64(*start),
    });
    run_together(jobs.collect(), link, &Faults::default(), work)
}

/// Measures a job with one file of this profile.
///
/// # Errors
/// When the planner refuses the baskets, or it would take more than 10 years.
pub(crate) fn measure(profile: &Profile, reader: Reader<'_>, route: Route) -> Result<Behaviour> {
    let Some(scan) = Scan::new(profile, reader, route) else { return Ok(Behaviour::default()) };
    let (baskets, client) = (&scan.baskets, &scan.client);
    let bytes: u64 = baskets.iter().map(|b| b.span.len).sum();
    let years = (bytes as f64 / route.bandwidth).max(scan.cpu) / YEAR;
    if years > MOST_YEARS {
        let what = format!(
            "a job of {} would take {} years to read {}; look at bandwidth and decompression",
            reader.workload.name,
            units::count(years.round() as u64),
            units::bytes(bytes)
        );
        return Err(Error::invalid(what));
    }
    let reports = together(&[(&scan, 0.0)], &scan.link, &mut { u64::MAX })?;
    let report = reports.and_then(|reports| reports.into_iter().next());
    let report = report.ok_or_else(|| Error::invalid("the scan was not driven"))?;
    // the last pause is work, too
    let seconds = report.time.as_secs_f64() + scan.client.think.as_secs_f64();
    let (open, stats) = (&scan.opening, &report.stats);
    let Client { per_request, per_range, .. } = scan.client;
    let requesting = per_request.as_secs_f64() * stats.requests as f64 + per_range.as_secs_f64() * stats.ranges as f64;
    let asked = Fetched { requests: stats.requests, ranges: stats.ranges, bytes: stats.asked_bytes, awaited: u64::MAX };
    let Fetched { requests, ranges, bytes, awaited } = report.by_proxy.unwrap_or(asked);
    let headers = scan.link.request_header * requests + scan.link.range_header * ranges;
    let all = bytes + headers;
    let awaited = awaited.min(all);
    let bytes = open.bytes + awaited as f64;
    let first = open.bytes + before_first_batch(baskets, client, &report) as f64;
    let slack = Slack::new(baskets, client, &report, open.bytes / bytes.max(1.0), seconds);
    Ok(Behaviour {
        requests: open.requests + stats.requests as f64,
        bytes,
        rest: (all - awaited) as f64,
        first,
        headers: open.headers + headers as f64,
        wanted: open.wanted + stats.wanted_bytes as f64,
        seconds: open.seconds + seconds,
        reading: open.seconds + report.last_basket.as_secs_f64(),
        slack,
        cpu: scan.cpu + requesting,
    })
}

/// Bytes of baskets that have come when the first batch has all of its own.
fn before_first_batch(baskets: &[Basket], client: &Client, report: &Report) -> u64 {
    let end = client.batches.first().map_or(0, |batch| batch.1);
    let arrived: Vec<&Basket> = report.arrived.iter().filter_map(|id| baskets.get(id.index())).collect();
    let last = arrived.iter().rposition(|basket| basket.first < end);
    arrived.iter().take(last.map_or(0, |last| last + 1)).map(|basket| basket.span.len).sum()
}
