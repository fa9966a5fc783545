//! How late bytes may come before a job ends later.
//!
//! A job works on what it has while the rest is on its way. What comes first is needed by almost all of its work, what comes last by little
//! of it. So each part of its bytes has a slack, the time by which it may be late: the job ends when it would alone, or later by as much
//! as some part is later than its slack.

use sapwood_plan::Basket;
use sapwood_sim::{Client, Report};

/// Points are in so many equal parts of the bytes, one in each at most.
const PARTS: usize = 32;

/// A part of the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// Its end: from 0 to 1.
    pub(crate) at: f32,
    /// By how many seconds it may be late.
    pub(crate) seconds: f32,
}

/// The slack of a file's bytes, where it matters: later parts have more of it. The last point is the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Slack {
    points: Vec<Point>,
    /// Whether work follows bytes so closely that there are parts in which some of it waits for more of them than the rest.
    is_close: bool,
}

impl Slack {
    /// From when baskets arrived. `opened` is the part of the bytes that came before; `end` is when the job ended.
    pub(crate) fn new(baskets: &[Basket], client: &Client, report: &Report, opened: f64, end: f64) -> Self {
        let total = report.sent_until.last().copied().unwrap_or(0).max(1) as f64;
        let (think, inflate) = ((client.think + client.cut).as_secs_f64(), client.inflate.max(1.0));
        let last = client.batches.len();
        let (mut needed_by, mut later, mut needs) = (last, 0u64, 0);
        let mut parts: [Option<Point>; PARTS] = [None; PARTS];
        // of each basket: the work that cannot be done before it has come
        for ((id, at), &sent) in report.arrived.iter().zip(&report.arrived_at).zip(&report.sent_until).rev() {
            let Some(basket) = baskets.get(id.index()) else { continue };
            // over several connections baskets are complete at nearly the same time, when most bytes of all have come
            let position = opened + (1.0 - opened) * sent as f64 / total;
            later += basket.span.len;
            let batch = client.batches.partition_point(|batch| batch.1 <= basket.first);
            needs += usize::from(batch < needed_by);
            needed_by = needed_by.min(batch);
            let analysis = (last - needed_by) as f64 * think;
            // one thing after the other, or as much at once as there are cores
            let in_turn = analysis + basket.span.len as f64 / inflate;
            let work = in_turn.max((analysis + later as f64 / inflate) / client.cores.max(1) as f64);
            let seconds = (end - at.as_secs_f64() - work).max(0.0) as f32;
            let part = ((position * PARTS as f64).ceil() as usize).clamp(1, PARTS) - 1;
            if parts[part].is_none_or(|known| seconds < known.seconds) {
                parts[part] = Some(Point { at: position as f32, seconds });
            }
        }
        Self::of(parts.into_iter().flatten(), needs > PARTS)
    }

    /// What is late stays late: of two parts with the same slack the later one decides.
    fn of(points: impl DoubleEndedIterator<Item = Point>, is_close: bool) -> Self {
        let mut least = f32::INFINITY;
        let matters = |point: &Point| {
            let less = point.seconds < least;
            least = least.min(point.seconds);
            less
        };
        let mut points: Vec<Point> = points.rev().filter(matters).collect();
        points.reverse();
        Self { points, is_close }
    }

    /// That of the same bytes if without others they came sooner, the last of them by so many seconds: what is late by that is on time.
    pub(crate) fn sooner(&self, seconds: f64) -> Self {
        let sooner = |p: &Point| Point { seconds: p.seconds - seconds as f32 * (1.0 - p.at), ..*p };
        Self::of(self.points.iter().map(sooner), self.is_close)
    }

    /// That of the same bytes if the job ended so many seconds later.
    pub(crate) fn later(mut self, seconds: f64) -> Self {
        self.points.iter_mut().for_each(|point| point.seconds += seconds as f32);
        self
    }

    /// The parts of the last of several files that are read one after the other; of the others none ends the job later.
    pub(crate) fn of_files(&self, files: u32) -> impl Iterator<Item = (f64, f64)> {
        let files = f64::from(files.max(1));
        self.points.iter().map(move |point| ((files - 1.0 + f64::from(point.at)) / files, f64::from(point.seconds)))
    }

    /// That of a part between two points of [`Self::of_files`], if it is between theirs.
    pub(crate) fn between(&self, at: f64, files: u32) -> Option<f64> {
        if !self.is_close {
            return None;
        }
        let files = f64::from(files.max(1));
        // in the last file
        let at = at * files - (files - 1.0);
        let next = self.points.partition_point(|point| f64::from(point.at) < at);
        let before = self.points.get(next.checked_sub(1)?)?;
        let after = self.points.get(next)?;
        let part = (at - f64::from(before.at)) / f64::from(after.at - before.at);
        Some(f64::from(before.seconds) + part * f64::from(after.seconds - before.seconds))
    }

    /// That of the part which has least.
    pub(crate) fn least(&self) -> f64 {
        self.points.first().map_or(0.0, |point| f64::from(point.seconds))
    }

    /// That of what comes last.
    pub(crate) fn of_last(&self) -> f64 {
        self.points.last().map_or(0.0, |point| f64::from(point.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slack(points: &[(f32, f32)]) -> Slack {
        Slack::of(points.iter().map(|&(at, seconds)| Point { at, seconds }), true)
    }

    #[test]
    fn only_what_comes_later_with_as_much_slack_counts() {
        let of = |slack: &Slack| slack.of_files(1).collect::<Vec<_>>();
        let some = slack(&[(0.25, 3.0), (0.5, 2.0), (0.75, 5.0), (1.0, 4.0)]);
        assert_eq!(of(&some), [(0.5, 2.0), (1.0, 4.0)]);
        assert_eq!((some.least(), some.of_last()), (2.0, 4.0));
        // in the last of four files
        assert_eq!(some.of_files(4).collect::<Vec<_>>(), [(0.875, 2.0), (1.0, 4.0)]);
        // sooner by a second for the last bytes: what comes in the middle by half of one, and may be as much later
        assert_eq!(of(&some.sooner(1.0)), [(0.5, 1.5), (1.0, 4.0)]);
        assert_eq!(of(&some.later(0.5)), [(0.5, 2.5), (1.0, 4.5)]);
    }

    #[test]
    fn between_two_points_slack_grows_evenly() {
        let some = slack(&[(0.5, 2.0), (1.0, 4.0)]);
        assert_eq!(some.between(0.75, 1), Some(3.0));
        assert_eq!(some.between(0.75, 2), None, "the first half of the second file");
        assert_eq!(some.between(0.9375, 4), Some(3.0));
        assert_eq!(some.between(0.2, 1), None);
    }
}
