//! Traces of real reads: what perf stats, access logs of proxies, XCache and Rucio tell of each.
//!
//! Every line is one record, or the text is one JSON value. What a format does not tell is missing in the record; the scenario says what
//! is assumed then.

mod formats;
mod times;

use formats::Format;
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

/// Bytes of a trace at most, and of one line.
const MOST_BYTES: u64 = 4 << 30;
const LONGEST_LINE: usize = 4 << 20;
/// Reads in a trace at most.
pub(crate) const MOST_READS: usize = 20_000_000;
/// Requests of a client for a file belong to one read unless nothing happens for this long.
const PAUSE: f64 = 60.0;

/// A read of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileRead {
    /// When it began, in seconds since 1970; none if the trace does not tell.
    pub(crate) time: Option<f64>,
    /// The site of the reader.
    pub(crate) site: Option<String>,
    /// The number of the file, in the order in which files appear.
    pub(crate) file: u32,
    /// Bytes of the whole file.
    pub(crate) size: Option<u64>,
    /// Bytes that were read; none: all.
    pub(crate) bytes: Option<u64>,
    /// Seconds in which a core worked on them.
    pub(crate) cpu: Option<f64>,
}

/// What one record tells.
#[derive(Clone, Debug, Default, PartialEq)]
struct Entry {
    time: Option<f64>,
    site: Option<String>,
    file: String,
    size: Option<u64>,
    bytes: Option<u64>,
    cpu: Option<f64>,
    /// Of a request, which is a part of a read: by whom. The requests of a client for a file are one read.
    client: Option<String>,
    /// It begins a read.
    opens: bool,
}

/// Reads a trace; `name` is the file, for errors.
pub(crate) fn load(path: &Path, format: Option<&str>, name: &str) -> Result<Vec<FileRead>> {
    let file = std::fs::File::open(path).map_err(|e| Error::io("cannot be opened", e).in_file(name))?;
    parse(BufReader::new(file), format, name).map_err(|e| e.in_file(name))
}

/// Reads the text of a trace.
fn parse(text: impl BufRead, format: Option<&str>, name: &str) -> Result<Vec<FileRead>> {
    let mut format = format.map(Format::named).transpose()?;
    let mut text = text.take(MOST_BYTES + 1);
    let mut reads = Reads::default();
    let (mut line, mut number) = (Vec::new(), 0u64);
    loop {
        line.clear();
        let most = LONGEST_LINE as u64 + 1;
        let n = (&mut text).take(most).read_until(b'\n', &mut line).map_err(|e| Error::io("cannot be read", e))?;
        if n == 0 {
            break;
        }
        number += 1;
        if line.len() > LONGEST_LINE {
            return Err(Error::invalid(format!("line {number} has more than {LONGEST_LINE} bytes: it is not a trace")));
        }
        let record = String::from_utf8_lossy(&line);
        let record = record.trim();
        if record.is_empty() {
            continue;
        }
        let wrong = |e: Error| Error::invalid(format!("line {number}: {e}"));
        let chosen = match format {
            Some(format) => format,
            None => *format.insert(Format::of(record).map_err(wrong)?),
        };
        for entry in chosen.entries(record, name).map_err(wrong)? {
            reads.add(entry).map_err(wrong)?;
        }
    }
    if text.limit() == 0 {
        return Err(Error::invalid(format!("has more than {} GiB; split it", MOST_BYTES >> 30)));
    }
    if reads.all.is_empty() {
        return Err(Error::invalid("no read of a file is in it"));
    }
    Ok(reads.all)
}

/// The reads so far.
#[derive(Default)]
struct Reads {
    all: Vec<FileRead>,
    files: HashMap<String, u32>,
    /// By client and file: the read that its requests belong to, and when the last one was.
    open: HashMap<(String, u32), (usize, Option<f64>)>,
}

impl Reads {
    fn add(&mut self, entry: Entry) -> Result<()> {
        let next = self.files.len() as u32;
        let file = *self.files.entry(entry.file).or_insert(next);
        if let Some(client) = &entry.client {
            let key = (client.clone(), file);
            let later = |last: Option<f64>| last.zip(entry.time).is_some_and(|(a, b)| b - a > PAUSE);
            if let Some((at, last)) = self.open.get_mut(&key).filter(|(_, last)| !entry.opens && !later(*last))
                && let Some(read) = self.all.get_mut(*at)
            {
                *last = entry.time;
                let sum = read.bytes.unwrap_or(0).saturating_add(entry.bytes.unwrap_or(0));
                read.bytes = Some(sum);
                return Ok(());
            }
            self.open.insert(key, (self.all.len(), entry.time));
        }
        if self.all.len() >= MOST_READS {
            return Err(Error::invalid(format!("there are more than {MOST_READS} reads; split the trace")));
        }
        let Entry { time, site, size, bytes, cpu, .. } = entry;
        self.all.push(FileRead { time, site, file, size, bytes, cpu });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XCACHE: &str = r#"{"event":"file_close","lfn":"/store/a.root","size":2000000,"blk_size":131072,"n_blks":16,"n_blks_done":8,"access_cnt":1,"attach_t":1700000000,"detach_t":1700000060,"remotes":["x"],"b_hit":0,"b_miss":500000,"b_bypass":0,"n_cks_errs":0}
{"event":"file_close","lfn":"/store/a.root","size":2000000,"attach_t":1700000100,"detach_t":1700000160,"b_hit":700000,"b_miss":100000,"b_bypass":200000}
"#;
    const RUCIO: &str = r#"{"eventType":"get_sm","localSite":"tier2","scope":"mc","filename":"f1","filesize":1000,"clientState":"DONE","traceTimeentryUnix":1700000000.5,"traceId":"x"}
{"eventType":"download","localSite":"tier3","scope":"mc","filename":"f1","filesize":1000,"clientState":"DONE","transferStart":1700000009.0,"traceTimeentryUnix":1700000010}
{"eventType":"put_sm","localSite":"tier3","scope":"mc","filename":"f2","clientState":"DONE","traceTimeentryUnix":1700000010}
{"eventType":"download","localSite":"tier3","scope":"mc","filename":"f3","clientState":"FILE_NOT_FOUND","traceTimeentryUnix":1700000010}
"#;
    const ACCESS: &str = "10.0.0.1 http GET \"/store/a.root\" 206 1000 1.2
10.0.0.2 root open \"/store/a.root\" 0 0 0.1
10.0.0.2 root readv \"/store/a.root\" 0 5000 0.1
10.0.0.1 http GET \"/store/a.root\" 206 2000 1.2
10.0.0.1 http GET \"/missing\" 404 10 1.2
10.0.0.2 root open \"/store/a.root\" 0 0 0.1
10.0.0.2 root read \"/store/a.root\" 0 700 0.1
";

    fn reads(text: &str) -> Result<Vec<FileRead>> {
        parse(text.as_bytes(), None, "trace")
    }

    #[test]
    fn xcache_records_are_reads_of_parts() {
        let all = reads(XCACHE).unwrap();
        let of = |r: &FileRead| (r.time, r.file, r.size, r.bytes);
        assert_eq!(of(&all[0]), (Some(1.7e9), 0, Some(2_000_000), Some(500_000)));
        assert_eq!(of(&all[1]), (Some(1_700_000_100.0), 0, Some(2_000_000), Some(1_000_000)));
    }

    #[test]
    fn rucio_traces_are_whole_files_and_failures_are_none() {
        let all = reads(RUCIO).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].site.as_deref(), all[0].size, all[0].bytes), (Some("tier2"), Some(1000), None));
        assert_eq!((all[1].time, all[1].file), (Some(1_700_000_009.0), 0));
    }

    #[test]
    fn requests_in_an_access_log_are_joined_to_reads() {
        let all = reads(ACCESS).unwrap();
        assert_eq!(all.iter().map(|r| r.bytes).collect::<Vec<_>>(), [Some(3000), Some(5000), Some(700)]);
        assert!(all.iter().all(|r| r.time.is_none() && r.file == 0));
        // with times before them, a pause ends a read
        let timed = "2023-11-14T22:13:20Z 10.0.0.1 http GET \"/a\" 200 10 1.0\n2023-11-14T22:13:50.5Z 10.0.0.1 http GET \"/a\" 206 5 1.0\n1700000300 10.0.0.1 http GET \"/a\" 200 7 1.0\n";
        let all = reads(timed).unwrap();
        assert_eq!(
            all.iter().map(|r| (r.time, r.bytes)).collect::<Vec<_>>(),
            [(Some(1.7e9), Some(15)), (Some(1_700_000_300.0), Some(7))]
        );
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_line() {
        for (text, said) in [
            ("", "no read"),
            ("hello", "line 1"),
            ("{\"a\":1}", "line 1"),
            ("{\"event\":\"file_close\",\"lfn\":\"a\",\"size\":-1,\"attach_t\":1}", "line 1: size"),
            ("{\"event\":\"file_close\",\"size\":1,\"attach_t\":1}", "line 1: lfn"),
            (&format!("{XCACHE}{{"), "line 3"),
        ] {
            let message = reads(text).unwrap_err().to_string();
            assert!(message.contains(said), "{text}: {message}");
        }
    }

    /// Bytes changed at random, in each format: an error or a trace, never a panic.
    #[test]
    fn no_text_makes_it_panic() {
        let mut chance = crate::rng::Rng::new(1, 1);
        for text in [XCACHE, RUCIO, ACCESS] {
            for _ in 0..3000 {
                let mut bytes = text.as_bytes().to_vec();
                for _ in 0..=chance.below(3) {
                    let at = chance.below(bytes.len() as u64) as usize;
                    match chance.below(3) {
                        0 => bytes[at] = chance.next() as u8,
                        1 => bytes.truncate(at.max(1)),
                        _ => bytes.insert(at, b"\"{}[]0-9.e,:\n"[chance.below(13) as usize]),
                    }
                }
                let _ = parse(&bytes[..], None, "trace");
            }
        }
    }
}
