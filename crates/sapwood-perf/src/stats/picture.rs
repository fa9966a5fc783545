//! A picture of perf stats: what was read, entry by entry.

use super::PerfStats;
use crate::text::clean;
use sapwood_query::picture::{Canvas, Read, reads};

impl PerfStats {
    /// Draws which ranges were read and when; `title` names what was read.
    pub fn picture(&self, title: &str) -> Canvas {
        let note = format!(
            "{:.1} MB in {} reads, {:.2} s, {:.2} s of it waiting",
            self.read_bytes as f64 * 1e-6,
            self.read_calls,
            self.real_seconds,
            self.wire_wait_seconds
        );
        let points: Vec<Read> =
            (self.points.iter()).map(|p| Read { entry: p.entry, offset: p.offset, len: p.len, time: p.time }).collect();
        reads(&clean(title), &note, &points)
    }
}
