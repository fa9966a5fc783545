//! Perf stats as text: first the output of ROOT's `TTreePerfStats::Print("unzip")`, line by line, then the rest.

use super::PerfStats;
use super::number::general;
use sapwood_span::units::bytes;
use std::fmt;

/// Branches printed; the JSON has all.
const BRANCHES: usize = 10;

impl fmt::Display for PerfStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root(f)?;
        self.beyond(f)?;
        self.by_host(f)?;
        self.by_branch(f)
    }
}

impl PerfStats {
    /// In ROOT's format. A rate over zero time is left out.
    fn root(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mega = |bytes: f64| general(bytes * 1e-6);
        writeln!(f, "TreeCache = {} MBytes", self.cache_bytes / 1_000_000)?;
        writeln!(f, "N leaves  = {}", self.leaves)?;
        writeln!(f, "ReadTotal = {} MBytes", mega(self.read_bytes as f64))?;
        writeln!(f, "ReadUnZip = {} MBytes", mega(self.read_unzip_bytes()))?;
        writeln!(f, "ReadCalls = {}", self.read_calls)?;
        if let Some(size) = self.read_size() {
            writeln!(f, "ReadSize  = {:7.3} KBytes/read", size * 1e-3)?;
        }
        writeln!(f, "Readahead = {} KBytes", self.readahead_bytes / 1000)?;
        writeln!(f, "Readextra = {:5.2} per cent", self.extra_percent())?;
        writeln!(f, "Real Time = {:7.3} seconds", self.real_seconds)?;
        writeln!(f, "CPU  Time = {:7.3} seconds", self.cpu_seconds)?;
        writeln!(f, "Disk Time = {:7.3} seconds", self.disk_seconds)?;
        writeln!(f, "Strm Time = {:7.3} seconds", self.stream_seconds())?;
        writeln!(f, "UnzipTime = {:7.3} seconds", self.unzip_seconds)?;
        for (name, rate) in self.rates() {
            if let Some(rate) = rate {
                writeln!(f, "{name:<9} = {:7.3} MBytes/s", rate * 1e-6)?;
            }
        }
        Ok(())
    }

    fn beyond(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, name: &str, value: String| writeln!(f, "{name:<12} {value}");
        let kinds = |n: u64, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
        writeln!(f, "\nAll I/O, including opening files:")?;
        let again = if self.retries > 0 { format!(", {} sent again", self.retries) } else { String::new() };
        let away = if self.redirects > 0 { format!(", {}", kinds(self.redirects, "redirect")) } else { String::new() };
        line(
            f,
            "round trips",
            format!(
                "{} waited for one after another; {} of {}, {}{again}{away}",
                self.round_trips,
                kinds(self.requests, "request"),
                kinds(self.ranges, "range"),
                kinds(self.connections, "new connection")
            ),
        )?;
        let percent =
            if self.bytes_fetched == 0 { 0.0 } else { 100.0 * self.bytes_wasted as f64 / self.bytes_fetched as f64 };
        line(
            f,
            "bytes",
            format!(
                "{} received, {} wanted, {} wasted ({percent:.1} per cent)",
                bytes(self.bytes_fetched),
                bytes(self.bytes_wanted),
                bytes(self.bytes_wasted)
            ),
        )?;
        if self.local_cache_reads > 0 {
            let what = format!("{} in {}", bytes(self.local_cache_bytes), kinds(self.local_cache_reads, "read"));
            line(f, "local cache", what)?;
        }
        line(
            f,
            "read",
            format!(
                "{} of {}, {}, {} uncompressed",
                kinds(self.scans, "scan"),
                if self.entries == 1 { "1 entry".to_owned() } else { format!("{} entries", self.entries) },
                kinds(self.baskets, "basket"),
                bytes(self.unzipped_bytes)
            ),
        )?;
        line(
            f,
            "waiting",
            format!(
                "{:.3} s for bytes ({}), {:.3} s for other threads",
                self.wire_wait_seconds,
                kinds(self.waits, "time"),
                self.work_wait_seconds
            ),
        )?;
        line(
            f,
            "working",
            format!(
                "{:.3} s decompressing, {:.3} s decoding, all threads together",
                self.unzip_seconds, self.decode_seconds
            ),
        )?;
        if let Some(s) = &self.slowest {
            line(
                f,
                "slowest",
                format!(
                    "{:.3} s (first byte after {:.3} s), sent at {:.3} s: {}",
                    s.seconds, s.first_byte_seconds, s.sent, s.what
                ),
            )?;
        }
        Ok(())
    }

    fn by_host(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hosts.is_empty() {
            return Ok(());
        }
        let width = self.hosts.iter().map(|h| h.host.chars().count()).max().unwrap_or(0).max(4);
        writeln!(
            f,
            "\n{:<width$}  {:>5} {:>8} {:>11} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8}",
            "host",
            "files",
            "requests",
            "round trips",
            "received",
            "wanted",
            "wait s",
            "decomp s",
            "decode s",
            "slowest"
        )?;
        for h in &self.hosts {
            writeln!(
                f,
                "{:<width$}  {:>5} {:>8} {:>11} {:>10} {:>10} {:>8.3} {:>8.3} {:>8.3} {:>8.3}",
                h.host,
                h.files,
                h.requests,
                h.round_trips,
                bytes(h.bytes_fetched),
                bytes(h.bytes_wanted),
                h.wait_seconds,
                h.unzip_seconds,
                h.decode_seconds,
                h.slowest_seconds
            )?;
        }
        Ok(())
    }

    fn by_branch(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.branches.get(..BRANCHES).unwrap_or(&self.branches);
        if shown.is_empty() {
            return Ok(());
        }
        let width = shown.iter().map(|b| b.name.chars().count()).max().unwrap_or(0).max(6);
        writeln!(
            f,
            "\n{:<width$}  {:>7} {:>10} {:>12} {:>8} {:>8} {:>8} {:>6} {:>5} {:>6}",
            "branch", "baskets", "bytes", "uncompressed", "wait s", "decomp s", "decode s", "missed", "twice", "unused"
        )?;
        for b in shown {
            writeln!(
                f,
                "{:<width$}  {:>7} {:>10} {:>12} {:>8.3} {:>8.3} {:>8.3} {:>6} {:>5} {:>6}",
                b.name,
                b.baskets,
                bytes(b.bytes),
                bytes(b.unzipped_bytes),
                b.wait_seconds,
                b.unzip_seconds,
                b.decode_seconds,
                b.missed,
                b.repeated,
                b.unused
            )?;
        }
        let more = self.branches.len() - shown.len();
        if more > 0 { writeln!(f, "and {more} more branches: the JSON output lists all") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of a read by ROOT 6.40 of five branches of a NanoAOD-like file, and the output of its
    /// Print("unzip").
    #[test]
    fn prints_what_root_prints() {
        let stats = PerfStats {
            cache_bytes: 30_000_000,
            leaves: 1055,
            read_bytes: 945_004,
            extra_bytes: 828_876,
            read_calls: 16,
            readahead_bytes: 256_000,
            packed_bytes: 109_878,
            inflated_bytes: 1_800_000,
            real_seconds: 0.858_95,
            cpu_seconds: 0.31,
            disk_seconds: 0.030_234_3,
            unzip_seconds: 0.010_171_655,
            ..PerfStats::default()
        };
        let text = stats.to_string();
        let root = "\
TreeCache = 30 MBytes
N leaves  = 1055
ReadTotal = 0.945004 MBytes
ReadUnZip = 15.4809 MBytes
ReadCalls = 16
ReadSize  =  59.063 KBytes/read
Readahead = 256 KBytes
Readextra = 87.71 per cent
Real Time =   0.859 seconds
CPU  Time =   0.310 seconds
Disk Time =   0.030 seconds
Strm Time =   0.300 seconds
UnzipTime =   0.010 seconds
Disk IO   =  31.256 MBytes/s
ReadUZRT  =  18.023 MBytes/s
ReadUZCP  =  49.938 MBytes/s
ReadRT    =   1.100 MBytes/s
ReadCP    =   3.048 MBytes/s
ReadStrCP =  51.632 MBytes/s
ReadZipCP = 1521.962 MBytes/s
";
        assert!(text.starts_with(root), "{text}");
        assert_eq!(PerfStats::from_json(&stats.to_json()).unwrap(), stats);
    }

    #[test]
    fn nothing_read_divides_by_nothing() {
        let text = PerfStats::default().to_string();
        assert!(!text.contains("inf") && !text.contains("NaN") && !text.contains("Disk IO"), "{text}");
        assert!(PerfStats::from_json("{}").is_err());
        assert!(PerfStats::from_json("{\"perf_stats\":1,\"leaves\":\"x\"}").is_err());
        assert!(PerfStats::from_json("{\"perf_stats\":9}").unwrap_err().to_string().contains("version 9"));
    }
}
