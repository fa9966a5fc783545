//! The planner's log of one scan as a file: a line of JSON with the planner's input at the beginning, then a
//! line for every event and action. Times are nanoseconds, so that replaying it gives the same actions to the last bit.

use super::ScanLog;
use crate::json::Json;
use sapwood_plan::{
    Action, Basket, BasketId, CacheSize, Event, Fetch, FetchId, Limits, Log, Part, Range, Record, Request,
};
use sapwood_span::{Error, Result, Span};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// Version of the layout, under the name `sapwood_log`.
const VERSION: u64 = 1;

/// More bytes than any file; sums over baskets stay within 64 bits.
const FAR: u64 = 1 << 56;

impl ScanLog {
    /// As lines of text.
    pub fn to_lines(&self) -> String {
        let mut out = String::new();
        let r = &self.request;
        let baskets: Vec<Value> = (self.baskets.iter())
            .map(|b| json!([b.branch, b.index, b.span.start, b.span.len, b.first, b.last, b.unzipped]))
            .collect();
        let head = json!({
            "sapwood_log": VERSION,
            "file": self.file,
            "tree": self.tree,
            "branches": self.branches,
            "cache": r.cache.write(),
            "hold": r.hold,
            "limits": r.limits.write(),
            "clusters": r.clusters,
            "threads": self.threads,
            "inflate": self.inflate,
            "bandwidth": self.bandwidth,
            "round_trip": self.round_trip.write(),
            "baskets": baskets,
        });
        // writing to a string cannot fail
        let _ = writeln!(out, "{head}");
        for (time, record) in &self.log.records {
            let _ = writeln!(out, "{}", write_record(*time, record));
        }
        out
    }

    /// The logs of a file, one scan after another.
    ///
    /// # Errors
    /// `Corrupt` with the number of the line that does not match the format of [`ScanLog::to_lines`].
    pub fn parse(text: &str) -> Result<Vec<Self>> {
        let mut out: Vec<Self> = Vec::new();
        for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            let wrong = || {
                Error::corrupt(format!("line {} is not a recorded event", i + 1))
                    .with_remedy("record one with `sapwood draw --record FILE`")
            };
            let value: Value = serde_json::from_str(line).map_err(|_| wrong())?;
            if let Some(version) = value.get("sapwood_log") {
                if version.as_u64() != Some(VERSION) {
                    return Err(Error::unsupported(format!("an event log of version {version}, not {VERSION}")));
                }
                out.push(read_head(&value).ok_or_else(wrong)?);
            } else {
                let scan = out.last_mut().ok_or_else(wrong)?;
                let (time, record) = read_record(&value, scan.baskets.len()).ok_or_else(wrong)?;
                // a planner's time never runs backwards
                if scan.log.records.last().is_some_and(|(last, _)| *last > time) {
                    return Err(wrong());
                }
                scan.log.records.push((time, record));
            }
        }
        Ok(out)
    }
}

fn write_record(time: Duration, record: &Record) -> Value {
    let t = time.write();
    match record {
        Record::Event(Event::Want { first, last }) => json!([t, "want", first, last]),
        Record::Event(Event::Arrived { fetch, basket }) => json!([t, "arrived", fetch.0, basket.0]),
        Record::Event(Event::Done { fetch, first_byte, total, bytes }) => {
            json!([t, "done", fetch.0, first_byte.write(), total.write(), bytes])
        }
        Record::Event(Event::Failed { fetch, retry }) => json!([t, "failed", fetch.0, retry]),
        Record::Event(Event::Consumed { basket }) => json!([t, "consumed", basket.0]),
        Record::Event(Event::Limits(l)) => json!([t, "limits", l.write()]),
        Record::Event(Event::Withhold(ids)) => json!([t, "withhold", numbers(ids)]),
        Record::Event(Event::Release(ids)) => json!([t, "release", numbers(ids)]),
        Record::Event(Event::Skip(ids)) => json!([t, "skip", numbers(ids)]),
        Record::Event(Event::Budget(bytes)) => json!([t, "budget", bytes]),
        Record::Event(Event::Stop) => json!([t, "stop"]),
        Record::Action(Action::Fetch(f)) => {
            let parts = |r: &Range| r.parts.iter().map(|p| json!([p.basket.0, p.offset, p.len])).collect::<Vec<_>>();
            let ranges: Vec<Value> = f.ranges.iter().map(|r| json!([r.span.start, r.span.len, parts(r)])).collect();
            json!([t, "fetch", f.id.0, f.urgent, ranges])
        }
        Record::Action(Action::Cancel(id)) => json!([t, "cancel", id.0]),
        Record::Action(Action::GiveUp(ids)) => json!([t, "give up", numbers(ids)]),
    }
}

fn numbers(ids: &[BasketId]) -> Vec<u32> {
    ids.iter().map(|b| b.0).collect()
}

fn span(start: &Value, len: &Value) -> Option<Span> {
    let (start, len) = (start.as_u64()?, len.as_u64()?);
    (start < FAR && len < FAR).then(|| Span::new(start, len))
}

fn read_head(v: &Value) -> Option<ScanLog> {
    let list = |name: &str| v.get(name)?.as_array();
    let number = |v: &Value| u32::try_from(v.as_u64()?).ok();
    let basket = |b: &Value| match b.as_array()?.as_slice() {
        [branch, index, start, len, first, last, unzipped] => Some(Basket {
            branch: number(branch)?,
            index: number(index)?,
            span: span(start, len)?,
            first: first.as_u64()?,
            last: last.as_u64()?,
            unzipped: unzipped.as_u64().filter(|n| *n < FAR)?,
        }),
        _ => None,
    };
    let baskets = list("baskets")?.iter().map(basket).collect::<Option<Vec<_>>>()?;
    let sum = |f: fn(&Basket) -> u64| baskets.iter().try_fold(0u64, |a, b| a.checked_add(f(b)));
    // the planner adds them up, twice at most
    sum(|b| b.span.len)?.checked_mul(4)?;
    sum(|b| b.unzipped)?;
    Some(ScanLog {
        file: String::read(v.get("file")?)?,
        tree: String::read(v.get("tree")?)?,
        branches: Vec::read(v.get("branches")?)?,
        baskets,
        request: Request {
            cache: CacheSize::read(v.get("cache")?)?,
            limits: Limits::read(v.get("limits")?)?,
            clusters: Vec::read(v.get("clusters")?)?,
            hold: u64::read(v.get("hold")?).filter(|n| *n < FAR)?,
        },
        threads: u64::read(v.get("threads")?)?,
        inflate: f64::read(v.get("inflate")?)?,
        bandwidth: Json::read(v.get("bandwidth")?)?,
        round_trip: Json::read(v.get("round_trip")?)?,
        log: Log::default(),
    })
}

fn read_record(v: &Value, baskets: usize) -> Option<(Duration, Record)> {
    let id = |v: &Value| {
        let n = u32::try_from(v.as_u64()?).ok()?;
        ((n as usize) < baskets).then_some(BasketId(n))
    };
    let ids = |v: &Value| v.as_array()?.iter().map(id).collect::<Option<Vec<_>>>();
    let fetch = |v: &Value| v.as_u64().map(FetchId);
    let part = |v: &Value| match v.as_array()?.as_slice() {
        [basket, offset, len] => Some(Part { basket: id(basket)?, offset: offset.as_u64()?, len: len.as_u64()? }),
        _ => None,
    };
    let range = |v: &Value| match v.as_array()?.as_slice() {
        [start, len, parts] => {
            let parts = parts.as_array()?.iter().map(part).collect::<Option<_>>()?;
            Some(Range { span: span(start, len)?, parts })
        }
        _ => None,
    };
    let (time, kind, rest) = match v.as_array()?.as_slice() {
        [time, kind, rest @ ..] => (Duration::read(time)?, kind.as_str()?, rest),
        _ => return None,
    };
    let record = match (kind, rest) {
        ("want", [first, last]) => Record::Event(Event::Want { first: first.as_u64()?, last: last.as_u64()? }),
        ("arrived", [f, b]) => Record::Event(Event::Arrived { fetch: fetch(f)?, basket: id(b)? }),
        ("done", [f, first_byte, total, bytes]) => Record::Event(Event::Done {
            fetch: fetch(f)?,
            first_byte: Duration::read(first_byte)?,
            total: Duration::read(total)?,
            bytes: bytes.as_u64()?,
        }),
        ("failed", [f, retry]) => Record::Event(Event::Failed { fetch: fetch(f)?, retry: retry.as_bool()? }),
        ("consumed", [b]) => Record::Event(Event::Consumed { basket: id(b)? }),
        ("limits", [l]) => Record::Event(Event::Limits(Limits::read(l)?)),
        ("withhold", [b]) => Record::Event(Event::Withhold(ids(b)?)),
        ("release", [b]) => Record::Event(Event::Release(ids(b)?)),
        ("skip", [b]) => Record::Event(Event::Skip(ids(b)?)),
        ("budget", [bytes]) => Record::Event(Event::Budget(bytes.as_u64().filter(|n| *n < FAR)?)),
        ("stop", []) => Record::Event(Event::Stop),
        ("fetch", [f, urgent, ranges]) => Record::Action(Action::Fetch(Fetch {
            id: fetch(f)?,
            urgent: urgent.as_bool()?,
            ranges: ranges.as_array()?.iter().map(range).collect::<Option<_>>()?,
        })),
        ("cancel", [f]) => Record::Action(Action::Cancel(fetch(f)?)),
        ("give up", [b]) => Record::Action(Action::GiveUp(ids(b)?)),
        _ => return None,
    };
    Some((time, record))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_survives() {
        let basket = Basket { branch: 0, index: 3, span: Span::new(100, 50), first: 0, last: 9, unzipped: 99 };
        let limits = Limits { bandwidth: Some(0.1 + 0.2), ..Limits::http(Duration::from_nanos(123_456_789)) };
        let part = Part { basket: BasketId(0), offset: 0, len: 50 };
        let ranges = vec![Range { span: Span::new(100, 50), parts: vec![part] }];
        let f = FetchId(0);
        let records = [
            Record::Event(Event::Want { first: 0, last: 9 }),
            Record::Action(Action::Fetch(Fetch { id: f, ranges, urgent: true })),
            Record::Event(Event::Limits(limits.clone())),
            Record::Event(Event::Arrived { fetch: f, basket: BasketId(0) }),
            Record::Event(Event::Done {
                fetch: f,
                first_byte: Duration::from_nanos(1),
                total: Duration::from_nanos(2),
                bytes: 50,
            }),
            Record::Event(Event::Failed { fetch: f, retry: true }),
            Record::Action(Action::Cancel(f)),
            Record::Action(Action::GiveUp(vec![BasketId(0)])),
            Record::Event(Event::Consumed { basket: BasketId(0) }),
            Record::Event(Event::Withhold(vec![BasketId(0)])),
            Record::Event(Event::Release(vec![BasketId(0)])),
            Record::Event(Event::Skip(vec![])),
            Record::Event(Event::Budget(99)),
            Record::Event(Event::Stop),
        ];
        let records = records.into_iter().enumerate().map(|(i, r)| (Duration::from_nanos(i as u64 * 7), r)).collect();
        let log = ScanLog {
            file: "http://h/a.root".into(),
            tree: "t".into(),
            branches: vec!["x".into()],
            baskets: vec![basket],
            request: Request { cache: CacheSize::Bytes(5), limits, clusters: vec![0, 9], hold: 7 },
            threads: 2,
            inflate: 1e8,
            log: Log { records },
            ..ScanLog::default()
        };
        let text = log.to_lines();
        let read = ScanLog::parse(&format!("{text}{text}")).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!((&read[1].log, &read[1].baskets), (&log.log, &log.baskets));
        assert_eq!(read[1].request.limits, log.request.limits);
        assert_eq!(read[1].to_lines(), text);
        assert_eq!(log.describe(true).lines().count(), 14);
        assert_eq!(log.describe(false).lines().count(), 12);
        // a line that is not part of a log is refused with its number
        for (from, to) in [("\"arrived\",0,0", "\"arrived\",0,1"), ("[7,", "[700,"), ("\"stop\"", "\"go\"")] {
            let e = ScanLog::parse(&text.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(e.contains("line "), "{e}");
        }
        assert!(ScanLog::parse("[0,\"stop\"]").is_err());
        assert!(ScanLog::parse("{\"sapwood_log\":2}").unwrap_err().to_string().contains("version 2"));
    }
}
