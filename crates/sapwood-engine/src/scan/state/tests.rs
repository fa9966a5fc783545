//! Scans without a file, a network, threads or clocks: events in, actions out.

use super::{Action, InitialState, Next, OpenBatch, Remainder, ScanState, Stage, column_of};
use crate::entries::EntryList;
use crate::external_files::BasketFile;
use crate::scan::baskets::{Chosen, Column, ScanBasket};
use crate::scan::plan::ScanPlan;
use crate::scan::steps::Steps;
use crate::scan::task::{DecodeOutcome, DecodeTask, Job, Record};
use bytes::Bytes;
use sapwood_column::{Array, DType, Decoded, Entries, Item, Layout, Values};
use sapwood_plan::{BasketId, CacheSize, Fetch, FetchId, Limits, Request};
use sapwood_source::FetchReport;
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Entries and bytes of a basket.
const SIZE: u64 = 100;

/// Branches `a`, `b`, … with `n` baskets each, one for each step, which are batches as well. They lie in the order of
/// entries.
fn plan(branches: usize, n: usize, held: &[usize]) -> Arc<ScanPlan> {
    let file = BasketFile { begin: 0, size: 1 << 20, name: "x.root".into() };
    let column = |c: usize| Column {
        branch: c,
        file: file.clone(),
        layout: Arc::new(Layout::new(Item::Number(DType::I32), Entries::One)),
        baskets: c * n..(c + 1) * n,
        counter: None,
    };
    let basket = |i: usize| ScanBasket {
        pages: Box::default(),
        parts: i..i + 1,
        column: i / n,
        number: i % n,
        entries: (i % n) as u64 * SIZE..(i % n + 1) as u64 * SIZE,
        span: Some(Span::new(1000 + ((i % n) * branches + i / n) as u64 * SIZE, SIZE)),
        embedded: 0,
        unzipped: SIZE,
        steps: (i % n, i % n),
    };
    let chosen = Chosen {
        columns: (0..branches).map(column).collect(),
        wanted: branches,
        baskets: (0..branches * n).map(basket).collect(),
    };
    let steps = Steps {
        steps: (0..n as u64).map(|i| i * SIZE..(i + 1) * SIZE).collect(),
        batches: (0..n).map(|i| i..i + 1).collect(),
    };
    Arc::new(ScanPlan::new("x.root", Box::new(|c| char::from(b'a' + c as u8).to_string()), chosen, steps, |b| {
        held.contains(&b.0)
    }))
}

/// A server far away that takes so many requests at a time, each of so many bytes.
fn far(max_in_flight: usize, max_request_bytes: u64) -> Limits {
    Limits { max_in_flight, max_request_bytes, range_overhead: 0, ..Limits::http(Duration::from_millis(20)) }
}

/// A scan, and what its driver would know.
struct Scan {
    state: ScanState,
    plan: Arc<ScanPlan>,
    now: Duration,
    sent: Vec<(Fetch, bool)>,
    aborted: Vec<FetchId>,
}

impl Scan {
    fn new(plan: Arc<ScanPlan>, limits: Limits, of_cut: Option<&[bool]>) -> Self {
        let local = limits.round_trip.is_none();
        let initial = InitialState {
            request: Request { cache: CacheSize::Auto, limits, clusters: Vec::new(), hold: 0 },
            of_cut,
            selected: vec![None; plan.steps.len()],
            held: BTreeMap::new(),
            local,
            threads: 2,
            traced: false,
        };
        let state = ScanState::new(plan.clone(), initial).unwrap();
        Self { state, plan, now: Duration::ZERO, sent: Vec::new(), aborted: Vec::new() }
    }

    /// What the driver does after each event.
    fn act(&mut self) {
        self.now += Duration::from_millis(1);
        while let Some(action) = self.state.poll(self.now) {
            match action {
                Action::Send { fetch, last } => self.sent.push((fetch, last)),
                Action::Abort(id) => self.aborted.push(id),
            }
        }
    }

    fn want(&mut self, step: usize) {
        self.state.want(self.now, step, step + 1);
        self.act();
    }

    /// The fetch with a basket, and which of its parts that is.
    fn fetch_with(&self, basket: usize) -> (FetchId, sapwood_plan::Part) {
        let ids = self.plan.planner_ids(&[basket]);
        let sent = self.sent.iter().rev();
        let found = sent.flat_map(|(f, _)| f.ranges.iter().flat_map(|r| &r.parts).map(|p| (f.id, *p)));
        found.into_iter().find(|(_, p)| ids.contains(&p.basket)).expect("nobody asked for the basket")
    }

    fn arrive(&mut self, basket: usize) {
        let (fetch, part) = self.fetch_with(basket);
        let bytes = Bytes::from(vec![0; part.len as usize]);
        self.state.arrived(self.now, fetch, &[part], part.offset, &bytes);
        self.act();
    }

    fn end(&mut self, fetch: FetchId, result: Result<FetchReport>) {
        self.state.fetch_ended(self.now, fetch, result);
        self.act();
    }

    fn take(&mut self) -> Option<DecodeTask> {
        match self.state.take(0)? {
            Job::Decode(task) => Some(task),
            Job::Read(_) => panic!("a read"),
        }
    }

    /// A worker takes all that there is and decodes it; the values are the entries. Gives the baskets.
    fn decode(&mut self) -> Vec<usize> {
        let mut out = Vec::new();
        while let Some(task) = self.take() {
            out.push(task.basket);
            self.decoded(&task, None);
        }
        out
    }

    fn decoded(&mut self, task: &DecodeTask, failed: Option<Error>) {
        let mut outcome = DecodeOutcome::of(task);
        let entries = self.plan.baskets[task.basket].entries.clone();
        let values = Array::Flat(Values::I32(entries.map(|e| e as i32).collect()));
        outcome.set(&self.plan, failed.map_or(Ok(Decoded::Column(values)), Err));
        self.state.decoded(self.now, outcome);
        self.act();
    }

    fn is_ready(&self, step: usize) -> Result<bool> {
        self.state.is_ready(step, Stage::Whole)
    }
}

fn done() -> Result<FetchReport> {
    let first_byte = Duration::from_millis(20);
    Ok(FetchReport { first_byte, total: first_byte, ..FetchReport::default() })
}

fn lost() -> Error {
    Error::new(ErrorKind::Io, "the connection is lost")
}

#[test]
fn what_arrives_out_of_order_is_decoded_by_entry_and_appended_in_order() {
    let mut scan = Scan::new(plan(1, 3, &[]), far(1, 1 << 20), None);
    scan.state.open_batch(OpenBatch::new(&scan.plan, 0..300));
    scan.want(0);
    let values =
        |next: Option<Next>| -> Vec<Array> { next.unwrap().pieces.iter().map(|(d, _)| column_of(d).clone()).collect() };
    let of = |b: i32| Array::Flat(Values::I32((b * 100..b * 100 + 100).collect()));
    scan.arrive(2);
    assert_eq!(scan.decode(), [2]);
    assert!(!scan.is_ready(0).unwrap() && !scan.is_ready(1).unwrap() && scan.is_ready(2).unwrap());
    assert!(scan.state.next_pieces(0).unwrap().is_none(), "basket 0 is not here");
    scan.arrive(0);
    assert_eq!(scan.decode(), [0]);
    assert_eq!(values(scan.state.next_pieces(0).unwrap()), [of(0)]);
    scan.arrive(1);
    assert_eq!(scan.decode(), [1]);
    // nobody else appends meanwhile
    assert!(scan.state.is_joining(0) && scan.state.next_pieces(0).unwrap().is_none());
    scan.state.joined(0, Remainder::default());
    assert_eq!(values(scan.state.next_pieces(0).unwrap()), [of(1), of(2)]);
    scan.state.joined(0, Remainder::default());
    assert!(!scan.state.is_joining(0) && !scan.state.lacks(0, 2));
}

#[test]
fn a_fetch_from_before_a_jump_is_dropped_and_what_it_brings_late_counts_once() {
    let mut scan = Scan::new(plan(1, 40, &[]), far(1, SIZE), None);
    scan.want(0);
    assert_eq!(scan.sent.len(), 1);
    scan.want(30);
    assert_eq!(scan.aborted, [scan.sent[0].0.id]);
    assert_eq!(scan.fetch_with(30).0, scan.sent[1].0.id);
    // its bytes had come already
    let (late, part) = scan.fetch_with(0);
    let bytes = vec![0; SIZE as usize].into();
    scan.state.arrived(scan.now, late, &[part], part.offset, &bytes);
    scan.end(late, Err(lost()));
    assert_eq!(scan.decode(), [0]);
    assert!(scan.is_ready(0).unwrap() && !scan.is_ready(30).unwrap());
    let (fetch, _) = scan.fetch_with(30);
    scan.arrive(30);
    scan.end(fetch, done());
    assert_eq!(scan.decode(), [30]);
    assert!(scan.is_ready(30).unwrap());
}

#[test]
fn a_failed_fetch_fails_its_baskets_by_name_and_what_came_before_stays() {
    let mut scan = Scan::new(plan(1, 3, &[]), far(1, 1 << 20), None);
    scan.want(0);
    let (fetch, _) = scan.fetch_with(1);
    scan.arrive(0);
    assert_eq!(scan.decode(), [0]);
    scan.end(fetch, Err(lost()));
    assert!(scan.is_ready(0).unwrap());
    let error = scan.is_ready(1).unwrap_err();
    assert_eq!((error.kind(), error.branch(), error.file()), (ErrorKind::Io, Some("a"), Some("x.root")));
    assert!(scan.is_ready(2).is_err(), "nobody waits for what comes behind");
    assert!(!scan.state.must_wait(2, Stage::Whole));
}

#[test]
fn a_basket_that_cannot_be_decoded_fails_its_step_and_those_behind() {
    let mut scan = Scan::new(plan(2, 3, &[]), far(1, 1 << 20), None);
    scan.want(0);
    // the first basket of step 1, branch b
    scan.arrive(4);
    let task = scan.take().unwrap();
    scan.decoded(&task, Some(Error::corrupt("its checksum is wrong")));
    assert!(!scan.is_ready(0).unwrap());
    let error = scan.is_ready(1).unwrap_err();
    assert_eq!(error.what(), "basket 1: its checksum is wrong");
    assert_eq!((error.branch(), error.span()), (Some("b"), Some(Span::new(1000 + 3 * SIZE, SIZE))));
    // an earlier failure counts from its own step on, a later one changes nothing
    scan.arrive(0);
    let task = scan.take().unwrap();
    scan.decoded(&task, Some(Error::corrupt("it is truncated")));
    assert_eq!(scan.is_ready(2).unwrap_err().what(), "basket 0: it is truncated");
}

#[test]
fn a_file_that_changed_fails_the_last_step_at_the_latest() {
    let mut scan = Scan::new(plan(1, 2, &[]), far(1, 1 << 20), None);
    scan.want(0);
    let (fetch, _) = scan.fetch_with(1);
    assert!(scan.sent.iter().any(|(f, last)| f.id == fetch && *last), "it asks for all there is");
    scan.arrive(0);
    scan.arrive(1);
    assert_eq!(scan.decode(), [0, 1]);
    assert!(scan.is_ready(0).unwrap() && scan.is_ready(1).unwrap());
    assert!(!scan.state.is_settled().unwrap(), "the fetch has not ended");
    scan.end(fetch, Err(Error::corrupt("changed while it was being read")));
    assert!(scan.is_ready(0).unwrap() && scan.is_ready(1).is_err() && scan.state.is_settled().is_err());
}

/// What it has brought may be of another version, although the last fetch, which compared, ended before it.
#[test]
fn a_fetch_that_has_brought_something_is_waited_for() {
    let mut scan = Scan::new(plan(1, 2, &[]), far(2, SIZE), None);
    scan.want(0);
    scan.want(1);
    let (first, second) = (scan.fetch_with(0).0, scan.fetch_with(1).0);
    assert!(first != second && scan.sent.iter().any(|(f, last)| f.id == first && !*last));
    scan.arrive(1);
    scan.end(second, Ok(FetchReport::default()));
    assert!(scan.state.is_settled().unwrap(), "nothing has come of the other one");
    scan.arrive(0);
    assert_eq!(scan.decode(), [0, 1]);
    assert!(!scan.state.is_settled().unwrap());
    scan.end(first, Err(Error::corrupt("changed while it was being read")));
    assert!(scan.state.is_settled().is_err());
}

#[test]
fn who_gives_up_fails_every_step_and_ends_appending() {
    let mut scan = Scan::new(plan(1, 2, &[]), far(1, 1 << 20), None);
    scan.state.open_batch(OpenBatch::new(&scan.plan, 0..100));
    scan.want(0);
    scan.arrive(0);
    assert_eq!(scan.decode(), [0]);
    assert!(scan.state.next_pieces(0).unwrap().is_some() && scan.state.is_joining(0));
    scan.state.give_up(&Error::new(ErrorKind::Defect, "a defect"));
    assert!(!scan.state.is_joining(0), "the one who appended may be the one who panicked");
    for step in 0..2 {
        assert_eq!(scan.is_ready(step).unwrap_err().kind(), ErrorKind::Defect);
    }
    assert!(scan.state.is_settled().is_err());
}

#[test]
fn after_its_end_nothing_is_done() {
    let mut scan = Scan::new(plan(1, 40, &[]), far(1, SIZE), None);
    scan.want(0);
    scan.arrive(0);
    scan.state.stop(scan.now);
    let sent = scan.sent.len();
    scan.want(20);
    assert!(scan.state.is_stopped() && scan.take().is_none());
    assert_eq!((scan.sent.len(), scan.aborted.len()), (sent, 0), "the driver drops what is under way");
}

#[test]
fn what_a_cut_skips_is_not_waited_for_and_not_decoded() {
    // a is the cut's; the way carries the first baskets of b along with it
    let mut scan = Scan::new(plan(2, 4, &[]), far(1, 1 << 20), Some(&[true, false]));
    scan.want(0);
    let (fetch, _) = scan.fetch_with(4);
    for basket in 0..4 {
        scan.arrive(basket);
    }
    assert_eq!(scan.state.next_cut(), None);
    assert_eq!(scan.decode(), [0, 1, 2, 3]);
    assert!(scan.state.is_ready(0, Stage::Cut).unwrap() && !scan.is_ready(0).unwrap());
    assert_eq!(scan.state.next_cut().map(|(step, _)| step), Some(0));
    let wanted = scan.state.report().bytes_wanted;
    scan.state.cut_evaluated(scan.now, 0, &EntryList::default());
    scan.act();
    assert!(scan.is_ready(0).unwrap(), "nothing of it passed");
    assert_eq!(scan.state.report().bytes_wanted, wanted - SIZE);
    // step 1 passes in part, and waits for its basket
    scan.state.cut_evaluated(scan.now, 1, &EntryList::from(150..160));
    scan.act();
    assert!(!scan.is_ready(1).unwrap());
    assert_eq!(scan.state.selected(1).as_deref(), Some(std::slice::from_ref(&(150..160))));
    // a skipped basket that was in flight is dropped when it arrives
    scan.arrive(4);
    assert!(scan.take().is_none());
    scan.arrive(5);
    assert_eq!(scan.decode(), [5]);
    assert!(scan.is_ready(1).unwrap());
    let pieces = scan.state.step_pieces(1, 1).unwrap();
    let mut out = Array::Flat(Values::I32(Vec::new()));
    pieces.iter().for_each(|p| p.append_to(&mut out).unwrap());
    assert_eq!(out, Array::Flat(Values::I32((150..160).collect())));
    scan.end(fetch, done());
}

#[test]
fn one_worker_keeps_reading_a_local_file_while_others_decode() {
    let mut scan = Scan::new(plan(1, 40, &[]), Limits { max_request_bytes: SIZE, ..Limits::local(4) }, None);
    scan.want(0);
    assert!(scan.sent.is_empty(), "workers read it");
    let Some(Job::Read(first)) = scan.state.take(0) else { panic!("nothing to read") };
    // nothing is to be decoded: another one reads as well
    let Some(Job::Read(second)) = scan.state.take(0) else { panic!("one read at a time") };
    let bytes = vec![0; SIZE as usize].into();
    scan.state.arrived(scan.now, first.id, &first.ranges[0].parts, 0, &bytes);
    scan.act();
    let Some(Job::Decode(task)) = scan.state.take(0) else { panic!("the second reads still") };
    assert_eq!(task.planned, Some(BasketId(0)));
    scan.decoded(&task, None);
    for fetch in [first, second] {
        scan.state.read_ended();
        scan.end(fetch.id, done());
    }
    assert!(matches!(scan.state.take(0), Some(Job::Read(_))));
}

#[test]
fn what_is_here_already_is_never_asked_for() {
    let plan = plan(1, 2, &[0]);
    let initial = InitialState {
        request: Request { cache: CacheSize::Auto, limits: far(1, 1 << 20), clusters: Vec::new(), hold: 0 },
        of_cut: None,
        selected: vec![None; 2],
        held: BTreeMap::from([((0, 0), Record::Here(vec![0; SIZE as usize].into()))]),
        local: false,
        threads: 2,
        traced: false,
    };
    let state = ScanState::new(plan.clone(), initial).unwrap();
    let mut scan = Scan { state, plan, now: Duration::ZERO, sent: Vec::new(), aborted: Vec::new() };
    assert_eq!(scan.decode(), [0]);
    scan.want(0);
    assert!(scan.is_ready(0).unwrap());
    let asked: Vec<BasketId> = scan.sent.iter().flat_map(|(f, _)| f.baskets()).collect();
    assert_eq!(asked, scan.plan.planner_ids(&[1]));
}
