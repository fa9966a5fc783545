//! The formats of traces: which one it is, and what a record tells.

use super::cinfo::{self, Listing};
use super::entry::{Entry, bytes, missing, object, text, time};
use super::times;
use sapwood_perf::PerfStats;
use sapwood_span::{Error, Result};
use serde_json::Value;

/// A format, and what of the lines so far the next ones need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// I/O statistics of `sapwood perf`, one object on each line.
    PerfStats,
    /// The access log of `sapwood proxy`.
    AccessLog,
    /// XCache's monitoring: `file_close` records of its g-stream as JSON.
    Xcache,
    /// What `xrdpfc_print` tells of XCache's `.cinfo` files, as text or JSON.
    Cinfo(Listing),
    /// Rucio's traces.
    Rucio,
}

impl Format {
    pub(super) fn named(name: &str) -> Result<Self> {
        match name {
            "perf" => Ok(Self::PerfStats),
            "proxy" => Ok(Self::AccessLog),
            "xcache" => Ok(Self::Xcache),
            "cinfo" => Ok(Self::Cinfo(Listing::default())),
            "rucio" => Ok(Self::Rucio),
            _ => {
                let what = format!("\"{name}\" is no format of traces; there are perf, proxy, xcache, cinfo, rucio");
                Err(Error::invalid(what))
            }
        }
    }

    /// The format of a trace that begins with this line.
    pub(super) fn of(line: &str) -> Result<Self> {
        if Listing::begins(line) {
            return Ok(Self::Cinfo(Listing::default()));
        }
        if !line.starts_with('{') {
            return access(line).map(|_| Self::AccessLog);
        }
        let value = object(line)?;
        let has = |key: &str| value.get(key).is_some();
        let found = match () {
            () if has("perf_stats") => Self::PerfStats,
            () if has("event") && (has("lfn") || has("attach_t")) => Self::Xcache,
            () if is_header(&value) => Self::Xcache,
            () if has("accesses") => Self::Cinfo(Listing::default()),
            () if has("eventType") => Self::Rucio,
            () => {
                let what = "is no record of sapwood perf, sapwood proxy, XCache or Rucio";
                return Err(Error::invalid(what));
            }
        };
        Ok(found)
    }

    /// The reads, or parts of reads, that a record tells of. `name` is the trace itself.
    pub(super) fn entries(&mut self, line: &str, name: &str) -> Result<Vec<Entry>> {
        match self {
            Self::PerfStats => perf_stats(line, name).map(|e| vec![e]),
            Self::AccessLog => Ok(access(line)?.into_iter().collect()),
            Self::Xcache => Ok(xcache(&object(line)?)?.into_iter().collect()),
            Self::Cinfo(_) if line.starts_with('{') => cinfo::record(&object(line)?),
            Self::Cinfo(listing) => Ok(listing.next(line)?.into_iter().collect()),
            Self::Rucio => Ok(rucio(&object(line)?)?.into_iter().collect()),
        }
    }
}

/// One record is one read: of the tree, as the file itself is not described.
fn perf_stats(line: &str, name: &str) -> Result<Entry> {
    let stats = PerfStats::from_json(line)?;
    let file = stats.slowest.as_ref().map_or_else(|| name.to_owned(), |s| s.file.clone());
    let read = stats.bytes_wanted.max(stats.read_bytes);
    let cpu = Some(stats.cpu_seconds).filter(|c| c.is_finite() && *c >= 0.0);
    let size = Some(stats.tree_zip_bytes.max(read)).filter(|&n| n > 0);
    Ok(Entry { file, size, bytes: Some(read), cpu, ..Entry::default() })
}

/// Address, protocol, method, path, status, bytes, milliseconds; a time may be before them. None for what reads no file.
fn access(line: &str) -> Result<Option<Entry>> {
    let wrong =
        || Error::invalid("is no line of an access log: address, protocol, method, \"path\", status, bytes, time");
    let (before, rest) = line.split_once('"').ok_or_else(wrong)?;
    let (path, after) = rest.rsplit_once('"').ok_or_else(wrong)?;
    let words: Vec<&str> = before.split_whitespace().collect();
    let [.., client, protocol, method] = words.as_slice() else { return Err(wrong()) };
    let stamp = words.get(..words.len() - 3).unwrap_or_default().join(" ");
    let not_a_time = || Error::invalid(format!("\"{stamp}\" is not a time"));
    let when = if stamp.is_empty() { None } else { Some(times::seconds(&stamp).ok_or_else(not_a_time)?) };
    let numbers: Vec<&str> = after.split_whitespace().collect();
    let [status, sent, _] = numbers.as_slice() else { return Err(wrong()) };
    let (status, sent): (u32, u64) = status.parse().ok().zip(sent.parse().ok()).ok_or_else(wrong)?;
    let (reads, good) = match *protocol {
        "http" | "https" => (*method == "GET", status == 200 || status == 206),
        "root" | "roots" => (matches!(*method, "open" | "read" | "readv" | "pgread"), status == 0),
        _ => return Err(wrong()),
    };
    let opens = *method == "open";
    let entry = Entry {
        time: when,
        file: path.to_owned(),
        bytes: Some(sent),
        client: Some((*client).to_owned()),
        opens,
        ..Entry::default()
    };
    Ok((reads && good).then_some(entry))
}

/// The header of a packet of XRootD's monitoring, which says from which server it is.
fn is_header(value: &Value) -> bool {
    ["code", "src", "pseq"].iter().all(|key| value.get(key).is_some())
}

/// A file was closed: what this access read.
fn xcache(value: &Value) -> Result<Option<Entry>> {
    if value.get("event").and_then(Value::as_str).is_some_and(|e| e != "file_close") || is_header(value) {
        return Ok(None);
    }
    let size = bytes(value, "size")?;
    let mut sum = 0u64;
    for key in ["b_hit", "b_miss", "b_bypass"] {
        sum = sum.saturating_add(bytes(value, key)?.unwrap_or(0));
    }
    let time = Some(time(value, "attach_t")?.ok_or_else(|| missing("attach_t"))?);
    Ok(Some(Entry { time, file: text(value, "lfn")?, size, bytes: Some(sum), ..Entry::default() }))
}

/// A file was fetched whole; none for what was written or has failed.
fn rucio(value: &Value) -> Result<Option<Entry>> {
    let event = text(value, "eventType")?;
    let state = value.get("clientState").and_then(Value::as_str);
    let is_read = event == "download" || event.starts_with("get") || event.starts_with("sm_get");
    if !is_read || state.is_some_and(|s| !matches!(s, "DONE" | "FOUND_ROOT" | "ALREADY_DONE")) {
        return Ok(None);
    }
    let scope = value.get("scope").and_then(Value::as_str).unwrap_or_default();
    let file = format!("{scope}:{}", text(value, "filename")?);
    let mut when = None;
    for key in ["transferStart", "timeStart", "traceTimeentryUnix"] {
        when = when.or(time(value, key)?);
    }
    let site = value.get("localSite").and_then(Value::as_str).map(str::to_owned);
    Ok(Some(Entry { time: when, site, file, size: bytes(value, "filesize")?, ..Entry::default() }))
}
