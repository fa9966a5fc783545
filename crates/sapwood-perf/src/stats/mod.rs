//! Perf stats: what reads did, as in ROOT's `TTreePerfStats` and beyond.

mod collector;
mod json;
mod number;
#[cfg(feature = "pictures")]
mod picture;
mod sums;
mod text;

pub use collector::Collector;

/// What reads did: the fields of ROOT's `TTreePerfStats`, and what ROOT does not count.
///
/// Fields that ROOT has mean the same: they count what scans read of trees, not the opening of files. The fields from
/// [`PerfStats::requests`] on count everything, including the opening.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerfStats {
    /// Largest tree cache of the scans, in bytes; for an automatic one its limit. `TreeCache`.
    pub cache_bytes: u64,
    /// Leaves of the largest tree. `N leaves`.
    pub leaves: u64,
    /// Bytes that scans requested, including bridged gaps and repetitions. `ReadTotal`, R in the formulas.
    pub read_bytes: u64,
    /// Of these, bytes that no basket needed: gaps that were cheaper than another range, and repeated requests.
    pub extra_bytes: u64,
    /// Requests of scans (local files: reads). `ReadCalls`.
    pub read_calls: u64,
    /// The widest gap between two baskets that is read over, in bytes. `Readahead`.
    pub readahead_bytes: u64,
    /// Compressed bytes that were decompressed, without keys.
    pub packed_bytes: u64,
    /// Their decompressed size.
    pub inflated_bytes: u64,
    /// The trees' bytes before compression, of all their branches, according to their headers.
    pub tree_bytes: u64,
    /// The trees' bytes in the file.
    pub tree_zip_bytes: u64,
    /// From the collector's start to now, in seconds. `Real Time`.
    pub real_seconds: f64,
    /// CPU time of the process in that time, all threads, in seconds. `CPU  Time`.
    pub cpu_seconds: f64,
    /// Durations of all requests of scans, one after another, in seconds. `Disk Time`.
    pub disk_seconds: f64,
    /// Time spent decompressing, all threads together, in seconds. `UnzipTime`.
    pub unzip_seconds: f64,

    /// Requests sent (local files: reads), including repeated ones.
    pub requests: u64,
    /// Byte ranges in them.
    pub ranges: u64,
    /// Consecutive waits for a server, by file; requests in flight together count as one.
    pub round_trips: u64,
    /// Connections opened.
    pub connections: u64,
    /// Requests sent again after a failure.
    pub retries: u64,
    /// Redirects followed.
    pub redirects: u64,
    /// Bytes that came from the local cache instead of a server.
    pub local_cache_bytes: u64,
    /// Reads from the local cache.
    pub local_cache_reads: u64,
    /// Bytes received, including headers between parts, gaps and repetitions.
    pub bytes_fetched: u64,
    /// Bytes of records that were needed: tree headers, objects and baskets.
    pub bytes_wanted: u64,
    /// Bytes received that were not needed.
    pub bytes_wasted: u64,
    /// Decompressed bytes of baskets.
    pub unzipped_bytes: u64,
    /// Finished scans.
    pub scans: u64,
    /// Their entries.
    pub entries: u64,
    /// Baskets decoded.
    pub baskets: u64,
    /// How often an idle consumer waited for bytes.
    pub waits: u64,
    /// How long, in seconds: the time lost to the network (or the disk).
    pub wire_wait_seconds: f64,
    /// Time in which a consumer waited for other threads to decompress and decode, in seconds.
    pub work_wait_seconds: f64,
    /// Time spent decoding, all threads together, in seconds.
    pub decode_seconds: f64,
    /// The slowest request of a scan.
    pub slowest: Option<Slowest>,
    /// By branch, those with the longest waits first, then those with the most work.
    pub branches: Vec<BranchPerf>,
    /// By host.
    pub hosts: Vec<HostPerf>,
    /// The ranges that scans requested, in the order of the requests: the points of the picture.
    pub points: Vec<Point>,
}

/// The slowest request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slowest {
    /// File.
    pub file: String,
    /// From sending to the last byte, in seconds.
    pub seconds: f64,
    /// From sending to the first byte, in seconds.
    pub first_byte_seconds: f64,
    /// When it was sent, in seconds from the collector's start.
    pub sent: f64,
    /// Bytes requested.
    pub bytes: u64,
    /// What was requested, as text.
    pub what: String,
}

/// The cost of one branch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BranchPerf {
    /// Tree and branch.
    pub name: String,
    /// Baskets decoded.
    pub baskets: u64,
    /// Their compressed bytes.
    pub bytes: u64,
    /// Their decompressed bytes.
    pub unzipped_bytes: u64,
    /// Time a consumer waited for its baskets, in seconds; where several branches arrived together, divided by their
    /// bytes.
    pub wait_seconds: f64,
    /// Time spent decompressing, in seconds.
    pub unzip_seconds: f64,
    /// Time spent decoding, in seconds.
    pub decode_seconds: f64,
    /// Baskets that had not arrived when the consumer needed them. ROOT: missed.
    pub missed: u64,
    /// Baskets requested more than once. ROOT: read twice.
    pub repeated: u64,
    /// Baskets that arrived and were not used. ROOT: read and not used.
    pub unused: u64,
}

/// The activity of one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostPerf {
    /// Host and port in the URL; `local` for local files. Redirect targets are not recorded.
    pub host: String,
    /// Files.
    pub files: u64,
    /// Requests.
    pub requests: u64,
    /// Ranges in them.
    pub ranges: u64,
    /// Consecutive waits.
    pub round_trips: u64,
    /// Connections opened.
    pub connections: u64,
    /// Requests sent again.
    pub retries: u64,
    /// Redirects.
    pub redirects: u64,
    /// Bytes of its files that came from the local cache instead.
    pub local_cache_bytes: u64,
    /// Bytes received.
    pub bytes_fetched: u64,
    /// Bytes of records that were needed.
    pub bytes_wanted: u64,
    /// Time a consumer waited for it, in seconds.
    pub wait_seconds: f64,
    /// Durations of all requests of scans, in seconds.
    pub transfer_seconds: f64,
    /// Time spent decompressing its data, in seconds.
    pub unzip_seconds: f64,
    /// Time spent decoding its data, in seconds.
    pub decode_seconds: f64,
    /// The longest request of a scan, in seconds.
    pub slowest_seconds: f64,
}

/// One requested range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// The first entry that needs it.
    pub entry: u64,
    /// The consumer's entry at the time of the request.
    pub at: u64,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Time of the request, in seconds from the collector's start.
    pub time: f64,
    /// How long the request took, in seconds; 0 for one that was cancelled or failed.
    pub seconds: f64,
}

impl PerfStats {
    /// The compression factor, C in the formulas, as in ROOT 6.40: of what was decompressed; where nothing was, of the
    /// trees over all their branches.
    pub fn compression(&self) -> f64 {
        match (self.packed_bytes, self.tree_zip_bytes) {
            (0, 0) => 1.0,
            (0, zipped) => (self.tree_bytes as f64 + 1e-5) / zipped as f64,
            (packed, _) => self.inflated_bytes as f64 / packed as f64,
        }
    }

    /// Bytes read times compression factor: `ReadUnZip`.
    pub fn read_unzip_bytes(&self) -> f64 {
        self.read_bytes as f64 * self.compression()
    }

    /// Bytes of a request: `ReadSize`.
    pub fn read_size(&self) -> Option<f64> {
        (self.read_calls > 0).then(|| self.read_bytes as f64 / self.read_calls as f64)
    }

    /// Extra bytes in per cent of those read: `Readextra`.
    pub fn extra_percent(&self) -> f64 {
        if self.read_bytes == 0 { 0.0 } else { 100.0 * self.extra_bytes as f64 / self.read_bytes as f64 }
    }

    /// CPU time outside of decompression: `Strm Time`.
    pub fn stream_seconds(&self) -> f64 {
        (self.cpu_seconds - self.unzip_seconds).max(0.0)
    }

    /// The rates, in bytes per second, under ROOT's names: `Disk IO` R/disk, `ReadUZRT` R·C/real, `ReadUZCP` R·C/CPU,
    /// `ReadRT` R/real, `ReadCP` R/CPU, `ReadStrCP` R·C/streaming, `ReadZipCP` R·C/unzip. None where no time passed.
    pub fn rates(&self) -> [(&'static str, Option<f64>); 7] {
        let rate = |bytes: f64, seconds: f64| (seconds > 0.0).then(|| bytes / seconds);
        let (r, u) = (self.read_bytes as f64, self.read_unzip_bytes());
        [
            ("Disk IO", rate(r, self.disk_seconds)),
            ("ReadUZRT", rate(u, self.real_seconds)),
            ("ReadUZCP", rate(u, self.cpu_seconds)),
            ("ReadRT", rate(r, self.real_seconds)),
            ("ReadCP", rate(r, self.cpu_seconds)),
            ("ReadStrCP", rate(u, self.stream_seconds())),
            ("ReadZipCP", rate(u, self.unzip_seconds)),
        ]
    }

    /// Tree and branch, as in `Events/muons/muons.pt`, of each branch with a decoded basket.
    pub fn used_branches(&self) -> impl Iterator<Item = &str> {
        self.branches.iter().filter(|b| b.baskets > 0).map(|b| b.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_used_when_a_basket_of_it_was_decoded() {
        let branch = |name: &str, baskets| BranchPerf { name: name.into(), baskets, ..BranchPerf::default() };
        let stats = PerfStats { branches: vec![branch("t/a", 1), branch("t/b", 0)], ..PerfStats::default() };
        assert_eq!(stats.used_branches().collect::<Vec<_>>(), ["t/a"]);
    }
}
