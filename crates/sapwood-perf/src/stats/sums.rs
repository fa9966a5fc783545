//! Computes perf stats from traces of scans.

use super::{BranchPerf, HostPerf, PerfStats, Point, Slowest};
use crate::log::host;
use sapwood_engine::observe::{FileMeter, ScanTrace};
use sapwood_plan::{Action, Basket, Event, Fetch, FetchId, Range, Record, describe_action};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// Sums that grow as scans end.
#[derive(Debug, Default)]
pub(super) struct Sums {
    stats: PerfStats,
    branches: BTreeMap<String, BranchPerf>,
    hosts: BTreeMap<String, HostPerf>,
}

/// A fetch in the log.
struct SentFetch<'a> {
    fetch: &'a Fetch,
    sent: Duration,
    ended: Option<Duration>,
}

/// Maximum length of the text for the slowest request.
const WORDS: usize = 200;

impl Sums {
    /// Adds a scan that began `offset` seconds after the collector.
    pub(super) fn add(&mut self, trace: &ScanTrace, offset: f64) {
        let s = &mut self.stats;
        s.cache_bytes = s.cache_bytes.max(trace.cache_bytes);
        s.leaves = s.leaves.max(trace.leaves);
        s.readahead_bytes = s.readahead_bytes.max(trace.request.limits.range_overhead);
        s.tree_bytes += trace.tree_bytes;
        s.tree_zip_bytes += trace.tree_zip_bytes;
        s.read_bytes += trace.plan.asked_bytes;
        s.read_calls += trace.requests;
        s.scans += 1;
        s.entries += trace.entries.end - trace.entries.start;
        let host = self.hosts.entry(host(&trace.file)).or_default();
        let names: Vec<String> = trace.branches.iter().map(|b| format!("{}/{b}", trace.tree)).collect();
        for (name, t) in names.iter().zip(&trace.times) {
            let b = self.branches.entry(name.clone()).or_default();
            b.baskets += t.baskets;
            b.bytes += t.bytes;
            b.unzipped_bytes += t.unzipped;
            b.unzip_seconds += t.unzip;
            b.decode_seconds += t.decode;
            s.baskets += t.baskets;
            s.unzipped_bytes += t.unzipped;
            s.packed_bytes += t.packed;
            s.inflated_bytes += t.inflated;
            s.unzip_seconds += t.unzip;
            s.decode_seconds += t.decode;
            host.unzip_seconds += t.unzip;
            host.decode_seconds += t.decode;
        }
        let mut walk = Walk::new(trace);
        walk.records(trace);
        for (basket, seen) in trace.baskets.iter().zip(&walk.seen) {
            if let Some(name) = names.get(basket.branch as usize) {
                let b = self.branches.entry(name.clone()).or_default();
                b.missed += u64::from(seen.missed);
                b.repeated += u64::from(seen.asked > 1);
                b.unused += u64::from(seen.arrived.is_some() && !seen.consumed);
            }
        }
        // requested and not a basket's first copy
        let first: u64 =
            (trace.baskets.iter().zip(&walk.seen)).filter(|(_, w)| w.asked > 0).map(|(b, _)| b.span.len).sum();
        s.extra_bytes += trace.plan.asked_bytes.saturating_sub(first);
        s.points.extend(walk.points(&trace.baskets, offset));
        for flight in walk.flights.values() {
            let Some((first_byte, total)) = walk.took.get(&flight.fetch.id) else { continue };
            let seconds = total.as_secs_f64();
            s.disk_seconds += seconds;
            host.transfer_seconds += seconds;
            host.slowest_seconds = host.slowest_seconds.max(seconds);
            if s.slowest.as_ref().is_none_or(|w| w.seconds < seconds) {
                let name = |i: u32| trace.branches.get(i as usize).map_or("?", String::as_str);
                let what = describe_action(&Action::Fetch(flight.fetch.clone()), &trace.baskets, name);
                s.slowest = Some(Slowest {
                    file: trace.file.clone(),
                    seconds,
                    first_byte_seconds: first_byte.as_secs_f64(),
                    sent: offset + flight.sent.as_secs_f64(),
                    bytes: flight.fetch.bytes(),
                    what: shortened(what),
                });
            }
        }
        let waits = walk.waits(trace);
        s.waits += waits.count;
        s.wire_wait_seconds += waits.wire;
        s.work_wait_seconds += waits.work;
        host.wait_seconds += waits.wire;
        for (branch, seconds) in waits.branches {
            if let Some(name) = names.get(branch as usize) {
                self.branches.entry(name.clone()).or_default().wait_seconds += seconds;
            }
        }
    }

    /// The stats, including the files' own counters.
    pub(super) fn finish(&self, files: &[Arc<FileMeter>], real: f64, cpu: f64) -> PerfStats {
        let mut s = self.stats.clone();
        s.real_seconds = real;
        s.cpu_seconds = cpu;
        let mut hosts = self.hosts.clone();
        for file in files {
            let done = file.counts();
            let host = hosts.entry(host(file.url())).or_default();
            host.files += 1;
            host.requests += done.requests;
            host.ranges += done.ranges;
            host.round_trips += done.round_trips;
            host.connections += done.connections;
            host.retries += done.retries;
            host.redirects += done.redirects;
            host.local_cache_bytes += done.local_cache_bytes;
            s.local_cache_reads += done.local_cache_reads;
            host.bytes_fetched += done.bytes_fetched;
            host.bytes_wanted += done.bytes_wanted;
        }
        for (name, host) in &mut hosts {
            host.host.clone_from(name);
            s.requests += host.requests;
            s.ranges += host.ranges;
            s.round_trips += host.round_trips;
            s.connections += host.connections;
            s.retries += host.retries;
            s.redirects += host.redirects;
            s.local_cache_bytes += host.local_cache_bytes;
            s.bytes_fetched += host.bytes_fetched;
            s.bytes_wanted += host.bytes_wanted;
        }
        s.bytes_wasted = s.bytes_fetched.saturating_add(s.local_cache_bytes).saturating_sub(s.bytes_wanted);
        s.hosts = hosts.into_values().collect();
        s.branches = self.branches.iter().map(|(name, b)| BranchPerf { name: name.clone(), ..b.clone() }).collect();
        let work = |b: &BranchPerf| b.unzip_seconds + b.decode_seconds;
        s.branches.sort_by(|a, b| b.wait_seconds.total_cmp(&a.wait_seconds).then_with(|| work(b).total_cmp(&work(a))));
        s
    }
}

fn shortened(mut words: String) -> String {
    if let Some((cut, _)) = words.char_indices().nth(WORDS) {
        words.truncate(cut);
        words.push('…');
    }
    words
}

/// What happened to a basket.
#[derive(Clone, Copy, Default)]
struct Seen {
    asked: u32,
    arrived: Option<Duration>,
    consumed: bool,
    missed: bool,
}

/// One pass through a log.
struct Walk<'a> {
    seen: Vec<Seen>,
    flights: BTreeMap<FetchId, SentFetch<'a>>,
    took: HashMap<FetchId, (Duration, Duration)>,
    /// The consumer's entry at the time of a fetch's request.
    at: HashMap<FetchId, u64>,
    /// Arrivals in order of time.
    arrivals: Vec<(Duration, usize)>,
}

impl<'a> Walk<'a> {
    fn new(trace: &ScanTrace) -> Self {
        Self {
            seen: vec![Seen::default(); trace.baskets.len()],
            flights: BTreeMap::new(),
            took: HashMap::new(),
            at: HashMap::new(),
            arrivals: Vec::new(),
        }
    }

    fn records(&mut self, trace: &'a ScanTrace) {
        let baskets = &trace.baskets;
        // wants ascend: each basket is evaluated when the first of them reaches it
        let mut order: Vec<usize> = (0..baskets.len()).collect();
        order.sort_by_key(|&i| baskets[i].first);
        let (mut judged, mut entry) = (0, 0);
        for (time, record) in &trace.log.records {
            match record {
                Record::Event(Event::Want { first, last }) => {
                    entry = *first;
                    while let Some(&i) = order.get(judged).filter(|&&i| baskets[i].first < *last) {
                        self.seen[i].missed = self.seen[i].arrived.is_none();
                        judged += 1;
                    }
                }
                Record::Event(Event::Arrived { basket, .. }) => {
                    if let Some(seen) = self.seen.get_mut(basket.index()) {
                        seen.arrived.get_or_insert(*time);
                        self.arrivals.push((*time, basket.index()));
                    }
                }
                Record::Event(Event::Consumed { basket }) => {
                    if let Some(seen) = self.seen.get_mut(basket.index()) {
                        seen.consumed = true;
                    }
                }
                Record::Event(Event::Done { fetch, first_byte, total, .. }) => {
                    self.took.insert(*fetch, (*first_byte, *total));
                    self.ended(*fetch, *time);
                }
                Record::Event(Event::Failed { fetch, .. }) | Record::Action(Action::Cancel(fetch)) => {
                    self.ended(*fetch, *time);
                }
                Record::Action(Action::Fetch(fetch)) => {
                    for basket in fetch.baskets() {
                        if let Some(seen) = self.seen.get_mut(basket.index()) {
                            seen.asked += 1;
                        }
                    }
                    self.at.insert(fetch.id, entry);
                    self.flights.insert(fetch.id, SentFetch { fetch, sent: *time, ended: None });
                }
                Record::Event(
                    Event::Limits(_)
                    | Event::Withhold(_)
                    | Event::Release(_)
                    | Event::Skip(_)
                    | Event::Budget(_)
                    | Event::Stop,
                )
                | Record::Action(Action::GiveUp(_)) => {}
            }
        }
    }

    fn ended(&mut self, fetch: FetchId, time: Duration) {
        if let Some(flight) = self.flights.get_mut(&fetch) {
            flight.ended.get_or_insert(time);
        }
    }

    fn points<'b>(&'b self, baskets: &'b [Basket], offset: f64) -> impl Iterator<Item = Point> + 'b {
        self.flights.values().flat_map(move |flight| {
            let id = flight.fetch.id;
            let seconds = self.took.get(&id).map_or(0.0, |(_, total)| total.as_secs_f64());
            let at = self.at.get(&id).copied().unwrap_or(0);
            let first = |r: &Range| r.parts.iter().filter_map(|p| baskets.get(p.basket.index())).map(|b| b.first).min();
            flight.fetch.ranges.iter().map(move |r| Point {
                entry: first(r).unwrap_or(at),
                at,
                offset: r.span.start,
                len: r.span.len,
                time: offset + flight.sent.as_secs_f64(),
                seconds,
            })
        })
    }

    /// The consumer's waits: the parts during which a request was in flight count as network time, the rest as other
    /// threads' work. The network time goes to the branches whose baskets ended the wait.
    fn waits(&self, trace: &ScanTrace) -> Waits {
        let mut out = Waits::default();
        let mut flown: Vec<(Duration, Duration)> =
            self.flights.values().map(|f| (f.sent, f.ended.unwrap_or(Duration::MAX))).collect();
        flown.sort_unstable();
        let flown = union(flown);
        for &(from, to) in &trace.waits {
            let start = flown.partition_point(|f| f.1 <= from);
            let wire: Duration = (flown.iter().skip(start))
                .take_while(|f| f.0 < to)
                .map(|f| f.1.min(to).saturating_sub(f.0.max(from)))
                .sum();
            let whole = to.saturating_sub(from);
            out.work += whole.saturating_sub(wire).as_secs_f64();
            if wire.is_zero() {
                continue;
            }
            out.count += 1;
            out.wire += wire.as_secs_f64();
            let first = self.arrivals.partition_point(|a| a.0 < from);
            let came = self.arrivals.iter().skip(first).take_while(|a| a.0 <= to);
            let came: Vec<_> = came.filter_map(|a| trace.baskets.get(a.1)).collect();
            let bytes: u64 = came.iter().map(|b| b.span.len).sum();
            for b in came {
                let share = b.span.len as f64 / bytes.max(1) as f64;
                *out.branches.entry(b.branch).or_default() += share * wire.as_secs_f64();
            }
        }
        out
    }
}

#[derive(Default)]
struct Waits {
    count: u64,
    wire: f64,
    work: f64,
    branches: BTreeMap<u32, f64>,
}

/// Intervals, ascending, joined where they meet.
fn union(intervals: Vec<(Duration, Duration)>) -> Vec<(Duration, Duration)> {
    let mut out: Vec<(Duration, Duration)> = Vec::new();
    for (from, to) in intervals {
        match out.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => out.push((from, to)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Conditions, ScanLog};
    use sapwood_engine::observe::DecodeTimes;
    use sapwood_plan::{BasketId, CacheSize, Log, Part, PlanStats, Request};
    use sapwood_span::Span;
    use std::time::Instant;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// x[0], y[0] and, after a gap of 50 bytes, x[1]; y[1] far away.
    fn baskets() -> Vec<Basket> {
        let basket = |branch, index: u32, start, len| {
            let first = u64::from(index) * 10;
            Basket { branch, index, span: Span::new(start, len), first, last: first + 10, unzipped: 0 }
        };
        vec![basket(0, 0, 100, 300), basket(1, 0, 400, 100), basket(0, 1, 550, 50), basket(1, 1, 9000, 70)]
    }

    fn fetch(id: u64, span: Span, parts: &[(u32, u64, u64)]) -> Record {
        let parts = parts.iter().map(|&(b, offset, len)| Part { basket: BasketId(b), offset, len }).collect();
        Record::Action(Action::Fetch(Fetch { id: FetchId(id), ranges: vec![Range { span, parts }], urgent: true }))
    }

    /// A scan of two steps: the first three baskets arrive together after 100 ms, the last, requested twice, after 40
    /// ms of a second wait and is never used. 20 ms are spent waiting for other threads.
    fn trace() -> ScanTrace {
        let arrived = |f, b| Record::Event(Event::Arrived { fetch: FetchId(f), basket: BasketId(b) });
        let consumed = |b| Record::Event(Event::Consumed { basket: BasketId(b) });
        let done = |f, total| {
            let fetch = FetchId(f);
            Record::Event(Event::Done { fetch, first_byte: ms(total / 2), total: ms(total), bytes: 500 })
        };
        let last = |id| fetch(id, Span::new(9000, 70), &[(3, 0, 70)]);
        let records = vec![
            (ms(0), Record::Event(Event::Want { first: 0, last: 10 })),
            (ms(0), fetch(0, Span::new(100, 500), &[(0, 0, 300), (1, 300, 100), (2, 450, 50)])),
            (ms(100), arrived(0, 0)),
            (ms(100), arrived(0, 1)),
            (ms(101), arrived(0, 2)),
            (ms(101), done(0, 100)),
            (ms(150), consumed(0)),
            (ms(150), consumed(1)),
            (ms(150), consumed(2)),
            (ms(200), Record::Event(Event::Want { first: 10, last: 20 })),
            (ms(200), last(1)),
            (ms(210), Record::Event(Event::Failed { fetch: FetchId(1), retry: true })),
            (ms(210), last(2)),
            (ms(240), arrived(2, 3)),
            (ms(240), done(2, 30)),
            (ms(240), Record::Event(Event::Stop)),
        ];
        ScanTrace {
            file: "http://h:80/a.root".into(),
            tree: "t".into(),
            branches: vec!["x".into(), "y".into()],
            baskets: baskets(),
            request: Request::default(),
            log: Log { records },
            threads: 0,
            plan: PlanStats { asked_bytes: 640, ..PlanStats::default() },
            times: vec![
                DecodeTimes {
                    baskets: 2,
                    bytes: 350,
                    unzipped: 900,
                    unzip: 0.5,
                    decode: 0.25,
                    ..DecodeTimes::default()
                };
                2
            ],
            began: Instant::now(),
            entries: 0..20,
            leaves: 7,
            tree_bytes: 30,
            tree_zip_bytes: 10,
            cache_bytes: 1000,
            requests: 3,
            waits: vec![(ms(0), ms(100)), (ms(120), ms(140)), (ms(200), ms(240))],
        }
    }

    #[test]
    fn what_a_log_adds_up_to() {
        let mut sums = Sums::default();
        sums.add(&trace(), 1.0);
        let s = sums.finish(&[], 2.0, 1.5);
        assert_eq!((s.read_bytes, s.extra_bytes, s.read_calls), (640, 120, 3), "a gap of 50, and 70 again");
        assert_eq!((s.cache_bytes, s.leaves, s.compression().round()), (1000, 7, 3.0));
        assert_eq!((s.scans, s.entries, s.baskets, s.unzipped_bytes), (1, 20, 4, 1800));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} and {b}");
        near(s.disk_seconds, 0.13);
        near(s.wire_wait_seconds, 0.14);
        near(s.work_wait_seconds, 0.02);
        assert_eq!(s.waits, 2);
        // x has 300 of 400 bytes of the first wait: its second basket arrived later
        let [x, y] = s.branches.as_slice() else { panic!("{:?}", s.branches) };
        assert_eq!((x.name.as_str(), y.name.as_str()), ("t/x", "t/y"));
        near(x.wait_seconds, 0.075);
        near(y.wait_seconds, 0.065);
        assert_eq!((x.missed, x.repeated, x.unused), (1, 0, 0), "x[1] was read ahead");
        assert_eq!((y.missed, y.repeated, y.unused), (2, 1, 1));
        let [host] = s.hosts.as_slice() else { panic!("{:?}", s.hosts) };
        assert_eq!(host.host, "h:80");
        near(host.wait_seconds, 0.14);
        near(host.slowest_seconds, 0.1);
        let slowest = s.slowest.as_ref().unwrap();
        assert!(slowest.what.contains("x[0..2] y[0]"), "{}", slowest.what);
        near(slowest.sent, 1.0);
        let points: Vec<_> = s.points.iter().map(|p| (p.entry, p.at, p.offset, p.len)).collect();
        assert_eq!(points, [(0, 0, 100, 500), (10, 10, 9000, 70), (10, 10, 9000, 70)]);
        near(s.points[1].time, 1.2);
        assert_eq!(PerfStats::from_json(&s.to_json()).unwrap(), s);
    }

    #[test]
    fn the_recorded_scan_can_be_tried_elsewhere() {
        // as fast as cores usually are: the log has no rate
        let log = ScanLog { inflate: 0.0, ..ScanLog::of(&trace()) };
        let what = |cache, far| Conditions { cache: Some(cache), round_trip: Some(ms(far)), bandwidth: Some(1e6) };
        let near = log.what_if(&what(CacheSize::Auto, 0)).unwrap();
        let far = log.what_if(&what(CacheSize::Auto, 100)).unwrap();
        let one_by_one = log.what_if(&what(CacheSize::Off, 100)).unwrap();
        assert!(near.seconds < far.seconds && far.seconds < one_by_one.seconds, "{near:?} {far:?} {one_by_one:?}");
        assert_eq!((one_by_one.requests, one_by_one.bytes), (4, 520));
        assert!(far.requests < 4, "{far:?}");
        let none = ScanLog { log: Log::default(), ..log };
        assert!(none.what_if(&Conditions::default()).unwrap_err().to_string().contains("read no entries"));
    }
}
