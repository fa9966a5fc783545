//! Traces of real reads: what perf stats, access logs of proxies, XCache and Rucio tell of each.
//!
//! Every line is one record, or a part of one: JSON may be indented. What a format does not tell is missing in the record; the scenario says what is assumed
//! then.

mod cinfo;
mod entry;
mod formats;
mod reads;
mod times;

use formats::Format;
use reads::Reads;
pub(crate) use reads::{FileRead, MOST_READS, Trace};
use sapwood_span::{Error, Result};
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

/// Bytes of a trace at most, and of one line.
const MOST_BYTES: u64 = 4 << 30;
const LONGEST_LINE: usize = 4 << 20;
/// How compressed files begin, and what decompresses them.
const COMPRESSED: &[(&[u8], &str)] =
    &[(b"\x1f\x8b", "gunzip"), (b"\x28\xb5\x2f\xfd", "unzstd"), (b"\xfd7zXZ", "unxz"), (b"BZh", "bunzip2")];

/// Reads a trace; `name` is the file, for errors.
pub(crate) fn load(path: &Path, format: Option<&str>, name: &str) -> Result<Trace> {
    let opened = |e| Error::io("cannot be opened", e).in_file(name);
    // a pipe would wait for somebody who writes
    if !std::fs::metadata(path).map_err(opened)?.is_file() {
        return Err(Error::invalid("is not a file").in_file(name));
    }
    let file = std::fs::File::open(path).map_err(opened)?;
    parse(BufReader::new(file), format, name).map_err(|e| e.in_file(name))
}

/// Reads the text of a trace.
fn parse(text: impl BufRead, format: Option<&str>, name: &str) -> Result<Trace> {
    let mut format = format.map(Format::named).transpose()?;
    let mut text = text.take(MOST_BYTES + 1);
    let mut reads = Reads::default();
    let (mut line, mut number) = (Vec::new(), 0u64);
    // a JSON record that is indented over several lines, so far
    let mut begun = String::new();
    loop {
        line.clear();
        let most = LONGEST_LINE as u64 + 1;
        let n = (&mut text).take(most).read_until(b'\n', &mut line).map_err(|e| Error::io("cannot be read", e))?;
        if n == 0 {
            break;
        }
        number += 1;
        if let Some((_, program)) = COMPRESSED.iter().find(|(magic, _)| number == 1 && line.starts_with(magic)) {
            return Err(Error::invalid(format!("is compressed; decompress it first with {program}")));
        }
        if line.len() > LONGEST_LINE {
            return Err(Error::invalid(format!("line {number} has more than {LONGEST_LINE} bytes: it is not a trace")));
        }
        let record = String::from_utf8_lossy(&line);
        // packets of XRootD's monitoring end with NUL
        let record = record.trim_start_matches('\u{feff}').trim_matches(|c: char| c.is_whitespace() || c == '\0');
        if record.is_empty() {
            continue;
        }
        if record == "{" || !begun.is_empty() {
            begun.push_str(record);
            if begun.len() > LONGEST_LINE {
                let what = format!("line {number}: its record has more than {LONGEST_LINE} bytes: it is not a trace");
                return Err(Error::invalid(what));
            }
            if !line.starts_with(b"}") {
                continue;
            }
        }
        let whole = std::mem::take(&mut begun);
        let record = if whole.is_empty() { record } else { &whole };
        let wrong = |e: Error| Error::invalid(format!("line {number}: {e}"));
        let chosen = match &mut format {
            Some(format) => format,
            none => none.insert(Format::of(record).map_err(|e| {
                let named = "give the trace's format = \"perf\", \"proxy\", \"xcache\", \"cinfo\" or \"rucio\"";
                wrong(e).with_remedy(named)
            })?),
        };
        for entry in chosen.entries(record, name).map_err(wrong)? {
            reads.add(entry, number).map_err(wrong)?;
        }
    }
    if text.limit() == 0 {
        return Err(Error::invalid(format!("has more than {} GiB; split it", MOST_BYTES >> 30)));
    }
    if !begun.is_empty() {
        return Err(Error::invalid(format!("line {number}: its record has no end")));
    }
    reads.finished()
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

    const CINFO: &str = include_str!("../../../../tests/data/xrdpfc_print.txt");

    fn trace(text: &str) -> Result<Trace> {
        parse(text.as_bytes(), None, "trace")
    }

    /// Time, file, its size, bytes.
    fn told(trace: &Trace) -> Vec<(f64, u32, Option<u64>, Option<u64>)> {
        trace.reads.iter().map(|r| (r.time, r.file, trace.sizes[r.file as usize], r.bytes())).collect()
    }

    #[test]
    fn xcache_records_are_reads_of_parts() {
        let all = told(&trace(XCACHE).unwrap());
        assert_eq!(all[0], (1.7e9, 0, Some(2_000_000), Some(500_000)));
        assert_eq!(all[1], (1_700_000_100.0, 0, Some(2_000_000), Some(1_000_000)));
        // as packets: what server it is from before them, NUL at their ends
        let header = r#"{"code":"=","pseq":1,"stod":1795743559,"sid":5632537446751,"src":{"site":"S","host":"vm"}}"#;
        assert_eq!(told(&trace(&format!("{header}\0\n{header}\n{}\0", XCACHE.trim())).unwrap()), all);
    }

    #[test]
    fn listings_of_xcache_are_reads_of_parts() {
        let all = trace(CINFO).unwrap();
        let begin = 1_795_740_127.0;
        let (a, b) = (Some(8_035_620), Some(2_000_000_000));
        assert_eq!(
            told(&all),
            [
                (begin, 0, a, Some(36_172 + 1_599_850)),
                (begin + 3.0, 0, a, Some(1_636_022)),
                // read while it was open, and behind the cache
                (begin + 86_400.0, 1, b, Some(3_000_000_000)),
            ],
            "an access that read nothing is no read"
        );
        // in kB, as it is printed if nothing is said; of blocks nothing is read
        let rounded = CINFO.replace("8035620 B", "7847 kB").replace("[B]", "[kB]");
        let rounded = rounded.replace(" 36172 ", " 35 ").replace(" 1599850 ", " 1562 ");
        let sum = (35 + 1562) * 1024;
        assert_eq!(told(&trace(&rounded).unwrap())[0], (begin, 0, Some(7847 * 1024), Some(sum)));
    }

    #[test]
    fn indented_records_are_records() {
        let flat = r#"{"accesses":[{"B_hit":1,"B_miss":2,"attach":"261127:004207"},{"B_hit":4,"attach":"261127:004208"}],"file":"a","file_size":9}"#;
        let value: serde_json::Value = serde_json::from_str(flat).unwrap();
        let indented = serde_json::to_string_pretty(&value).unwrap();
        let twice = format!("{indented}\n{indented}\n");
        assert_eq!(told(&trace(&twice).unwrap()), told(&trace(&format!("{flat}\n{flat}\n")).unwrap()));
        let half = indented.trim_end_matches('}');
        let message = trace(half).unwrap_err().to_string();
        assert!(message.contains("line 14: its record has no end"), "{message}");
        let long = format!("{{\n{}", "\"a\":1,\n".repeat(1_000_000));
        assert!(trace(&long).unwrap_err().to_string().contains("its record has more than"));
    }

    #[test]
    fn rucio_traces_are_whole_files_and_failures_are_none() {
        let all = trace(RUCIO).unwrap();
        assert_eq!(
            all.reads.iter().map(|r| r.site().map(|s| &*all.sites[s])).collect::<Vec<_>>(),
            [Some("tier2"), Some("tier3")]
        );
        let all = told(&all);
        assert_eq!(all[0], (1_700_000_000.5, 0, Some(1000), None));
        assert_eq!(all[1], (1_700_000_009.0, 0, Some(1000), None));
    }

    #[test]
    fn requests_in_an_access_log_are_joined_to_reads() {
        let all = trace(ACCESS).unwrap();
        assert_eq!(all.reads.iter().map(FileRead::bytes).collect::<Vec<_>>(), [Some(3000), Some(5000), Some(700)]);
        assert!(!all.timed && all.reads.iter().all(|r| r.file == 0));
        // with times before them, a pause ends a read
        let timed = "2023-11-14T22:13:20Z 10.0.0.1 http GET \"/a\" 200 10 1.0\n2023-11-14T22:13:50.5Z 10.0.0.1 http GET \"/a\" 206 5 1.0\n1700000300 10.0.0.1 http GET \"/a\" 200 7 1.0\n";
        let all = trace(timed).unwrap();
        assert_eq!(told(&all), [(1.7e9, 0, None, Some(15)), (1_700_000_300.0, 0, None, Some(7))]);
        assert!(all.timed);
        // over XRootD a read goes on until the file is opened again, however long it works
        let line = |minute: u32, method: &str, bytes: u64| {
            format!("2023-11-14T22:{minute}:00Z 10.0.0.1 root {method} \"/a\" 0 {bytes} 1.0\n")
        };
        let slow = [
            line(10, "open", 0),
            line(11, "read", 10),
            line(30, "readv", 20),
            line(50, "open", 0),
            line(50, "read", 5),
        ];
        let all = trace(&slow.concat()).unwrap();
        assert_eq!(all.reads.iter().map(FileRead::bytes).collect::<Vec<_>>(), [Some(30), Some(5)]);
        assert_eq!(all.names, ["/a"]);
        // requests in another order than their times would be other reads
        let message = trace(&[line(30, "read", 10), line(28, "read", 10)].concat()).unwrap_err().to_string();
        assert!(message.contains("line 2: is 120 s before a line above it; sort the log by time"), "{message}");
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_line() {
        let closed = |time: &str| format!("{XCACHE}{{\"event\":\"file_close\",\"lfn\":\"a\",\"b_miss\":1{time}}}");
        let cinfo = |from: &str, to: &str| {
            assert!(CINFO.contains(from), "{from}");
            CINFO.replacen(from, to, 1)
        };
        for (text, said) in [
            ("", "no read"),
            ("hello", "line 1"),
            ("\x1f\u{8b}", "line 1"),
            ("{\"a\":1}", "line 1"),
            ("{\"event\":\"file_close\",\"lfn\":\"a\",\"size\":-1,\"attach_t\":1}", "line 1: size"),
            ("{\"event\":\"file_close\",\"size\":1,\"attach_t\":1}", "line 1: lfn"),
            (&format!("{XCACHE}{{"), "line 3: its record has no end"),
            (&closed(",\"attach_t\":-5"), "line 3: attach_t is not a time: -5"),
            (&closed(",\"attach_t\":\"noon\""), "line 3: attach_t is not a time: \"noon\""),
            (&closed(",\"attach_t\":[1]"), "line 3: attach_t is not a time"),
            (&closed(""), "line 3: attach_t is missing"),
            (&format!("{ACCESS}noon {ACCESS}"), "line 8: \"noon\" is not a time"),
            (&format!("{ACCESS}-5 {ACCESS}"), "line 8: \"-5\" is not a time"),
            (&format!("{ACCESS}1700000000 {ACCESS}"), "line 8: has a time, and line 1 has none"),
            (&format!("1700000000 {ACCESS}"), "line 2: has no time, and line 1 has one"),
            (&RUCIO.replace("1700000009.0", "-9"), "line 2: transferStart is not a time: -9"),
            (
                &cinfo("8035620 B", "7 MB"),
                "line 5: sizes in whole MB say too little; print them in bytes: xrdpfc_print -u B",
            ),
            (&cinfo("8035620 B", "7"), "line 5: file_size has no number and unit"),
            (&cinfo("261127:004207", "261327:004207"), "line 12: \"261327:004207\" is not a time"),
            (&cinfo("36172", "-36172"), "line 12: is no access of xrdpfc_print"),
            (&cinfo("version 4", "hello"), "line 4: is no line of xrdpfc_print"),
            (&cinfo("FILE: ", "x is not cinfo file.\nFILES: "), "line 4: stands before the first line with FILE:"),
        ] {
            let message = trace(text).unwrap_err().to_string();
            assert!(message.contains(said), "{text}: {message}");
        }
        let message = parse(&b"\x1f\x8b\x08\0\0"[..], None, "trace").unwrap_err().to_string();
        assert!(message.contains("decompress it first with gunzip"), "{message}");
    }

    /// Bytes changed at random, in each format: an error or a trace, never a panic.
    #[test]
    fn no_text_makes_it_panic() {
        let mut chance = crate::rng::Rng::new(1, 1);
        for text in [XCACHE, RUCIO, ACCESS, CINFO] {
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
