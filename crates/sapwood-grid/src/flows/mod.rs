//! Flows over shared channels: each has a rate of its own at most, and full channels are shared max-min fairly.
//!
//! Flows with the same path and the same largest rate always have the same rate: they are a class, and one number, the bytes that each
//! of them has received, stands for all. So an event costs as much as there are classes whose rate it changes, however many flows they
//! have. A channel on which all flows together want less than its capacity does not matter for any rate; only classes that full
//! channels connect are worked out together.

mod channel;
mod class;
mod due;
mod shares;
mod track;

pub(crate) use channel::Carried;
use channel::{Channel, Paths};
pub(crate) use class::NewFlow;
use class::{Class, Flow, Lines, class_key};
use due::{Due, Entry};
use track::Track;

use crate::clock::{SECOND, Time};
use crate::keys::Map;
use crate::lookup::Lookup;
use crate::slack::Slack;
use sapwood_pages::prefetch;

/// A flow that gets a smaller part of its bytes in a while stands still.
const STALLED: f64 = 1e-3;
/// Flows that are looked at to know how long they last.
const LOOKS: usize = 256;

/// What a flow is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tag {
    /// A job waits for it.
    Job(u32),
    /// A file is copied.
    Transfer(u32),
    /// It fills a cache.
    Fill(u32),
    /// A proxy has asked for it ahead of a job that has all it reads.
    Rest(u32),
}

/// A flow that has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) tag: Tag,
    /// Of a job's flow that was slower than it may be: how far some of its bytes came behind their slack, in seconds. Negative, if all
    /// came sooner.
    pub(crate) late: Option<f64>,
}

/// All flows.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    channels: Vec<Channel>,
    paths: Paths,
    classes: Vec<Class>,
    lines: Lines,
    links: shares::Links,
    /// Classes by path and largest rate.
    index: Lookup<u32>,
    due: Due,
    /// Of classes that have been slower than they may be since they have flows.
    tracks: Map<u32, Track>,
    dirty: Vec<u32>,
    pending: Vec<(u32, u64, Tag)>,
    sequence: u64,
    /// How many classes make it worth looking for those without flows.
    many: usize,
}

impl Flows {
    pub(crate) fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        let channel = |capacity| Channel { capacity, ..Channel::default() };
        let channels: Vec<Channel> = capacities.into_iter().map(channel).collect();
        Self { links: shares::Links::new(channels.len()), channels, ..Self::default() }
    }

    /// A path over these channels.
    pub(crate) fn add_path(&mut self, channels: &[u32]) -> u32 {
        self.paths.add(channels)
    }

    /// Begins a flow of some bytes at this rate at most. Until rates are [settled](Self::settle) it gets what is free on its channels; where
    /// nothing is, it waits.
    pub(crate) fn start(&mut self, now: Time, path: u32, cap: f64, bytes: u64, tag: Tag) {
        self.start_one(now, &NewFlow::new(path, cap, bytes, tag));
    }

    /// Begins flows, one after the other.
    pub(crate) fn start_all(&mut self, now: Time, all: &[NewFlow]) {
        if all.len() > 1 {
            // each step needs what the one before has fetched
            all.iter().for_each(|new| self.index.prefetch(new.key()));
            let classes = || all.iter().filter_map(|new| self.classes.get(self.index.get(new.key())? as usize));
            classes().for_each(prefetch);
            classes().for_each(|class| self.lines.prefetch_last(&class.line));
        }
        all.iter().for_each(|new| self.start_one(now, new));
    }

    fn start_one(&mut self, now: Time, new: &NewFlow) {
        let &NewFlow { path, cap, bytes, tag } = new;
        let class = match self.index.get(new.key()) {
            Some(class) => class,
            None => self.new_class(now, path, cap),
        };
        let mut full = false;
        for &c in self.paths.of(path) {
            let channel = &mut self.channels[c as usize];
            channel.load += cap;
            channel.flows += 1;
            full |= channel.load > channel.capacity;
        }
        // those of a class have the same rate
        let c = &self.classes[class as usize];
        let rate_of_class = (c.flows > 0).then_some(c.rate);
        let mut rate = rate_of_class.unwrap_or(cap);
        if full {
            let mut free = f64::INFINITY;
            self.dirty.extend(self.paths.of(path));
            for &i in self.paths.of(path) {
                let channel = &mut self.channels[i as usize];
                free = free.min(channel.capacity - channel.rate);
                // until rates are worked out: others may end before that, and it must get a rate nevertheless
                channel.full = true;
            }
            rate = rate_of_class.unwrap_or(cap.min(free));
            if !(rate > 0.0 && rate <= free) {
                self.pending.push((class, bytes, tag));
                return;
            }
        }
        self.join(now, class, bytes, tag);
        self.set_rate(now, class, rate);
    }

    /// How many flows share a path that has this bandwidth, with as many more: those on the channel that gives each of them least.
    pub(crate) fn sharing(&self, path: u32, bandwidth: f64, more: u64) -> f64 {
        self.on_fullest(path, bandwidth, |_, flows| f64::from(flows) + more as f64)
    }

    /// The same, where a flow that will end within so many seconds counts in part only.
    pub(crate) fn company(&self, now: Time, path: u32, bandwidth: f64, more: u64, seconds: f64) -> f64 {
        self.on_fullest(path, bandwidth, |channel, _| self.present(channel, now, seconds) + more as f64)
    }

    /// How many flows of this bandwidth would fill a channel of a path as much as those that `count` gives for it fill it; on the fullest one.
    fn on_fullest(&self, path: u32, bandwidth: f64, count: impl Fn(u32, u32) -> f64) -> f64 {
        let of = |&channel: &u32| {
            let c = self.channels.get(channel as usize)?;
            Some(count(channel, c.flows) * bandwidth / c.capacity.max(bandwidth))
        };
        self.paths.of(path).iter().filter_map(of).fold(1.0, f64::max)
    }

    /// How many flows a channel has for the next seconds, on average.
    fn present(&self, channel: u32, now: Time, seconds: f64) -> f64 {
        let mut sum = 0.0;
        let mut looks = 0;
        let mut flows = 0u32;
        for class in self.links.classes_of(channel).iter().filter_map(|&class| self.classes.get(class as usize)) {
            flows += class.flows;
            let served = class.served + class.rate * ((now - class.since) as f64 / SECOND);
            for flow in self.lines.all(&class.line).take(LOOKS - looks) {
                looks += 1;
                let left = (f64::from_bits(flow.end) - served).max(0.0) / class.rate.max(f64::MIN_POSITIVE);
                sum += (left / seconds.max(f64::MIN_POSITIVE)).min(1.0);
            }
        }
        // what was not looked at is as that
        if looks > 0 { sum * f64::from(flows) / looks as f64 } else { 0.0 }
    }

    /// Whether rates must be worked out again.
    pub(crate) fn is_unsettled(&self) -> bool {
        !self.dirty.is_empty() || !self.pending.is_empty()
    }

    /// Changes the bytes per second of a channel.
    pub(crate) fn set_capacity(&mut self, channel: u32, capacity: f64) {
        self.channels[channel as usize].capacity = capacity;
        self.dirty.push(channel);
        // a channel that becomes narrow was not full before
        self.channels[channel as usize].full = true;
    }

    /// When the next flow ends at the present rates.
    pub(crate) fn next_end(&mut self) -> Option<Time> {
        while let Some(entry) = self.due.peek() {
            if self.classes[entry.class() as usize].stamp == entry.stamp() {
                return Some(entry.time());
            }
            self.due.pop();
        }
        None
    }

    /// Fetches memory for the flows that end next, if it was not done for them. Returns what they are for.
    pub(crate) fn prefetch_next(&mut self) -> impl Iterator<Item = Tag> {
        let next = self.due.came().unwrap_or_default();
        let classes = || next.iter().rev().filter_map(|due| self.classes.get(due.class() as usize));
        classes().for_each(prefetch);
        classes().for_each(|class| self.lines.prefetch(&class.line));
        classes().for_each(|class| self.lines.prefetch_second(&class.line));
        classes().filter_map(|class| self.lines.peek(&class.line).map(|flow| flow.tag()))
    }

    /// Ends the flows that are due. `slack` knows that of a job's bytes, and in how many files they are.
    pub(crate) fn advance<'a>(
        &mut self,
        now: Time,
        ended: &mut Vec<Ended>,
        slack: impl Fn(u32) -> Option<(&'a Slack, u32)>,
    ) {
        while self.next_end().is_some_and(|t| t <= now) {
            let Some(class) = self.due.pop().map(Entry::class) else { return };
            let c = &mut self.classes[class as usize];
            c.touch(now);
            c.noted = Time::MAX;
            let reached = c.served * (1.0 + 1e-12) + c.rate * 2e-9 + 1e-3;
            let track = if self.tracks.is_empty() { None } else { self.tracks.get(&class) };
            let mut left = 0;
            while let Some(&flow) = self.lines.peek(&c.line) {
                // the first one is due, whatever is lost by rounding: after years a step is larger than what is left
                if left > 0 && f64::from_bits(flow.end) > reached {
                    break;
                }
                self.lines.pop(&mut c.line);
                let tag = flow.tag();
                let late = match (track, tag) {
                    (Some(track), Tag::Job(job)) => slack(job).map(|slack| late(c, track, &flow, slack)),
                    _ => None,
                };
                ended.push(Ended { tag, late });
                left += 1;
                for &channel in self.paths.of(c.path) {
                    self.channels[channel as usize].delivered += flow.bytes;
                }
            }
            self.leave(now, class, left);
        }
    }

    /// Works out the rates of all flows that the changes since the last time concern.
    pub(crate) fn settle(&mut self, now: Time) {
        for (class, bytes, tag) in std::mem::take(&mut self.pending) {
            self.join(now, class, bytes, tag);
        }
        self.collect_garbage();
        let (classes, channels) = self.concerned();
        let rates = self.shares(&classes, &channels);
        for (class, rate) in classes.into_iter().zip(rates) {
            if self.classes[class as usize].rate != rate {
                self.set_rate(now, class, rate);
            } else {
                self.schedule(now, class);
            }
        }
    }

    /// The channels and what they carried up to now.
    pub(crate) fn carried(&mut self, now: Time) -> Vec<Carried> {
        for channel in &mut self.channels {
            channel.account(now);
        }
        self.channels.iter().map(Channel::carried).collect()
    }

    /// Bytes that have passed these channels, as integrals of their rates.
    pub(crate) fn passed(&self, now: Time, channels: std::ops::Range<usize>) -> f64 {
        self.channels.get(channels).unwrap_or_default().iter().map(|channel| channel.passed_until(now)).sum()
    }

    /// Bytes per second over these channels now.
    #[cfg(test)]
    fn rate(&self, channels: std::ops::Range<usize>) -> f64 {
        self.channels.get(channels).unwrap_or_default().iter().map(|c| c.rate).sum()
    }

    fn new_class(&mut self, now: Time, path: u32, cap: f64) -> u32 {
        let class = self.classes.len() as u32;
        self.classes.push(Class { path, cap, since: now, noted: Time::MAX, ..Class::default() });
        self.index.insert(class_key(path, cap), class);
        self.links.add_class(class, self.paths.of(path));
        class
    }

    fn join(&mut self, now: Time, class: u32, bytes: u64, tag: Tag) {
        self.sequence += 1;
        let c = &mut self.classes[class as usize];
        c.touch(now);
        if c.flows == 0 {
            (c.served, c.rate) = (0.0, 0.0);
        }
        let end = (c.served + bytes as f64).to_bits();
        self.lines.push(&mut c.line, Flow::new(end, self.sequence, bytes, tag));
        c.flows += 1;
        let rate = c.rate;
        for &channel in self.paths.of(c.path) {
            self.channels[channel as usize].change(now, rate);
        }
    }

    fn leave(&mut self, now: Time, class: u32, flows: u32) {
        let c = &mut self.classes[class as usize];
        c.flows -= flows;
        let (rate, cap) = (c.rate, c.cap);
        for &i in self.paths.of(c.path) {
            let channel = &mut self.channels[i as usize];
            channel.change(now, -rate * f64::from(flows));
            channel.flows -= flows;
            channel.load = if channel.flows == 0 { 0.0 } else { channel.load - cap * f64::from(flows) };
            if channel.flows == 0 {
                channel.rate = 0.0;
            }
            if channel.full {
                self.dirty.push(i);
            }
        }
        if self.classes[class as usize].flows == 0 && !self.tracks.is_empty() {
            self.tracks.remove(&class);
        }
        self.schedule(now, class);
    }

    fn set_rate(&mut self, now: Time, class: u32, rate: f64) {
        let c = &mut self.classes[class as usize];
        c.touch(now);
        let change = (rate - c.rate) * f64::from(c.flows);
        c.rate = rate;
        if c.flows > 0 && (rate < c.cap || !self.tracks.is_empty() && self.tracks.contains_key(&class)) {
            self.tracks.entry(class).or_default().note(now, c.served);
        }
        for &channel in self.paths.of(c.path) {
            self.channels[channel as usize].change(now, change);
        }
        self.schedule(now, class);
    }

    /// Notes when the next flow of a class ends.
    fn schedule(&mut self, now: Time, class: u32) {
        let c = &mut self.classes[class as usize];
        c.touch(now);
        let mut at = Time::MAX;
        if let Some(Flow { end, .. }) = self.lines.peek(&c.line)
            && c.rate > 0.0
        {
            let left = (f64::from_bits(*end) - c.served).max(0.0) / c.rate * SECOND;
            // beyond this a flow never ends
            if left < 9e18 {
                at = now.saturating_add(left.ceil() as Time);
            }
        }
        if at != c.noted {
            // what was noted before is of no use any more
            c.stamp = c.stamp.wrapping_add(1);
            c.noted = at;
            if at != Time::MAX {
                self.due.push(Entry::new(at, class, c.stamp));
            }
        }
    }

    /// Forgets classes without flows, when they are most.
    fn collect_garbage(&mut self) {
        if self.classes.len() <= self.many {
            return;
        }
        let used = self.classes.iter().filter(|c| c.flows > 0).count();
        self.many = 64 + 4 * used;
        if self.classes.len() <= self.many {
            return;
        }
        let mut places = vec![u32::MAX; self.classes.len()];
        let mut kept = Vec::with_capacity(used);
        for (class, place) in std::mem::take(&mut self.classes).into_iter().zip(&mut places) {
            if class.flows > 0 {
                *place = kept.len() as u32;
                kept.push(class);
            }
        }
        self.classes = kept;
        let place = |class: u32| Some(places[class as usize]).filter(|place| *place != u32::MAX);
        self.index.change_all(place);
        self.links.move_classes(&places);
        let tracks = std::mem::take(&mut self.tracks).into_iter();
        self.tracks = tracks.filter_map(|(class, track)| Some((place(class)?, track))).collect();
        self.due.change_all(|due| Some(Entry::new(due.time(), place(due.class())?, due.stamp())));
    }
}

/// How far some bytes of a flow that ends now came behind their slack.
fn late(class: &Class, track: &Track, flow: &Flow, (slack, files): (&Slack, u32)) -> f64 {
    let (end, bytes) = (f64::from_bits(flow.end), flow.bytes as f64);
    let alone = bytes / class.cap;
    let of = |(at, seconds): (f64, f64)| {
        let since = track.since((class.since, class.served), end - bytes * (1.0 - at), class.cap);
        alone * (1.0 - at) - since - seconds
    };
    let latest = slack.of_files(files).map(of).fold(f64::NEG_INFINITY, f64::max);
    // between two points, if nothing came for a while: what came next
    let stalls = track.stalls(bytes * STALLED).filter_map(|(served, until)| {
        let at = 1.0 - (end - served) / bytes;
        let seconds = slack.between(at, files)?;
        Some(alone * (1.0 - at) - (class.since.saturating_sub(until)) as f64 / SECOND - seconds)
    });
    stalls.fold(latest, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs flows (path, cap, bytes, start) to their ends; returns the time of each.
    fn ends(capacities: &[f64], paths: &[&[u32]], flows: &[(u32, f64, u64, Time)]) -> Vec<f64> {
        let mut all = Flows::new(capacities.iter().copied());
        for path in paths {
            all.add_path(path);
        }
        let mut out = vec![0.0; flows.len()];
        let mut next = 0;
        loop {
            let start = flows.get(next).map(|f| f.3);
            let Some(now) = [all.next_end(), start].into_iter().flatten().min() else { break };
            let mut ended = Vec::new();
            all.advance(now, &mut ended, |_| None);
            for ended in ended {
                if let Tag::Job(i) = ended.tag {
                    out[i as usize] = now as f64 / 1e9;
                }
            }
            while let Some(&(path, cap, bytes, at)) = flows.get(next) {
                if at > now {
                    break;
                }
                all.start(now, path, cap, bytes, Tag::Job(next as u32));
                next += 1;
            }
            if all.is_unsettled() {
                all.settle(now);
            }
            for channel in &all.channels {
                assert!(channel.rate <= channel.capacity * (1.0 + 1e-9), "{channel:?}");
            }
        }
        let sums = all.carried(u64::MAX >> 8);
        for c in sums {
            assert!((c.integral - c.bytes as f64).abs() <= 1e-6 * c.integral + 1.0, "{c:?}");
        }
        out
    }

    #[test]
    fn one_flow_uses_what_it_may() {
        assert_eq!(ends(&[100.0], &[&[0]], &[(0, 50.0, 500, 0)]), [10.0]);
        assert_eq!(ends(&[100.0], &[&[0]], &[(0, 1e9, 500, 0)]), [5.0]);
    }

    #[test]
    fn what_is_free_is_used_before_rates_are_worked_out() {
        let mut all = Flows::new([100.0]);
        all.add_path(&[0]);
        let second = 1_000_000_000;
        all.start(0, 0, 1e9, 500, Tag::Job(0));
        assert_eq!(all.next_end(), Some(5 * second));
        // nothing is left for others until then, and nothing goes beyond what is free
        all.start(0, 0, 50.0, 500, Tag::Job(1));
        assert!(all.is_unsettled() && all.next_end() == Some(5 * second) && all.rate(0..1) == 100.0);
        all.settle(second);
        assert_eq!((all.next_end(), all.rate(0..1)), (Some(9 * second), 100.0));
    }

    #[test]
    fn flows_share_and_what_one_leaves_the_others_get() {
        // two share 100: 50 each; after 10 s the first is gone
        let out = ends(&[100.0], &[&[0]], &[(0, 1e9, 500, 0), (0, 1e9, 1000, 0)]);
        assert!((out[0] - 10.0).abs() < 1e-6 && (out[1] - 15.0).abs() < 1e-6, "{out:?}");
        // one wants 16 only: the other has 84
        let out = ends(&[100.0], &[&[0]], &[(0, 16.0, 160, 0), (0, 1e9, 840, 0)]);
        assert!((out[0] - 10.0).abs() < 1e-6 && (out[1] - 10.0).abs() < 1e-6, "{out:?}");
    }

    #[test]
    fn the_tightest_channel_decides_and_the_rest_is_shared() {
        // the classic: a long path over both channels, a short one on each
        let out = ends(&[10.0, 100.0], &[&[0, 1], &[0], &[1]], &[(0, 1e9, 50, 0), (1, 1e9, 50, 0), (2, 1e9, 950, 0)]);
        assert!(out.iter().all(|t| (t - 10.0).abs() < 1e-6), "{out:?}");
    }

    #[test]
    fn an_outage_stops_a_flow_until_it_ends() {
        let mut all = Flows::new([100.0]);
        all.add_path(&[0]);
        all.start(0, 0, 50.0, 500, Tag::Job(0));
        let second = 1_000_000_000;
        all.set_capacity(0, 0.0);
        all.settle(2 * second);
        assert_eq!(all.next_end(), None);
        all.set_capacity(0, 100.0);
        all.settle(7 * second);
        assert_eq!(all.next_end(), Some(15 * second));
    }

    proptest::proptest! {
        #[test]
        fn no_channel_carries_more_than_it_can(
            capacities in proptest::collection::vec(1.0f64..1000.0, 3),
            flows in proptest::collection::vec((0u32..6, 1.0f64..500.0, 1u64..10_000, 0u64..100), 1..60),
        ) {
            let paths: &[&[u32]] = &[&[0], &[1], &[2], &[0, 1], &[1, 2], &[0, 1, 2]];
            let mut flows: Vec<_> = flows.into_iter().map(|(p, c, b, t)| (p, c, b, t * 100_000_000)).collect();
            flows.sort_by_key(|f| f.3);
            let out = ends(&capacities, paths, &flows);
            for (end, (path, cap, bytes, start)) in out.iter().zip(flows) {
                let best = paths[path as usize].iter().map(|&c| capacities[c as usize]).fold(cap * 1.004, f64::min);
                let least = start as f64 / 1e9 + bytes as f64 / best;
                proptest::prop_assert!(*end >= least * (1.0 - 1e-6) - 1e-6, "{end} {least}");
            }
        }
    }
}
