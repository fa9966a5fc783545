//! Channels: one direction of a link, or the disks of a site; and the paths over them.

use crate::clock::{SECOND, Time};

/// What a channel carries: one line of the processor's cache, as each flow that begins or ends changes it.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub(super) struct Channel {
    /// Bytes per second.
    pub(super) capacity: f64,
    /// What its flows would use if they were alone.
    pub(super) load: f64,
    /// Bytes per second now, and since when.
    pub(super) rate: f64,
    pub(super) since: Time,
    /// Bytes that passed, as the integral of the rate.
    pub(super) passed: f64,
    /// Bytes of the flows that have ended.
    pub(super) delivered: u64,
    /// The highest rate.
    pub(super) peak: f64,
    pub(super) flows: u32,
    /// Whether flows wanted more than there is, when rates were last worked out.
    pub(super) full: bool,
}

/// What passed a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Carried {
    /// Bytes of flows that have ended.
    pub(crate) bytes: u64,
    /// The integral of the rate.
    pub(crate) integral: f64,
    /// The highest rate.
    pub(crate) peak: f64,
}

impl Channel {
    pub(super) fn account(&mut self, now: Time) {
        self.passed = self.passed_until(now);
        self.since = now;
    }

    /// Bytes that have passed at a time.
    pub(super) fn passed_until(&self, now: Time) -> f64 {
        self.passed + self.rate * ((now - self.since) as f64 / SECOND)
    }

    pub(super) fn change(&mut self, now: Time, by: f64) {
        // a rate that held for no time was no rate
        if now > self.since {
            self.peak = self.peak.max(self.rate);
        }
        self.account(now);
        self.rate = (self.rate + by).max(0.0);
    }

    pub(super) fn carried(&self) -> Carried {
        Carried { bytes: self.delivered, integral: self.passed, peak: self.peak }
    }
}

/// Channels of a path that are kept beside it.
const BESIDE: usize = 3;

/// The channels of paths. Most have few, which are found without a look elsewhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    /// Of each path how many it has, and these; of more than [`BESIDE`], where they begin among `longer`.
    all: Vec<(u32, [u32; BESIDE])>,
    longer: Vec<u32>,
}

impl Paths {
    pub(super) fn add(&mut self, channels: &[u32]) -> u32 {
        let mut beside = [self.longer.len() as u32; BESIDE];
        match beside.get_mut(..channels.len()) {
            Some(beside) => beside.copy_from_slice(channels),
            None => self.longer.extend_from_slice(channels),
        }
        self.all.push((channels.len() as u32, beside));
        self.all.len() as u32 - 1
    }

    pub(super) fn of(&self, path: u32) -> &[u32] {
        let (count, beside) = &self.all[path as usize];
        let count = *count as usize;
        match beside.get(..count) {
            Some(beside) => beside,
            None => &self.longer[beside[0] as usize..beside[0] as usize + count],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_their_channels() {
        let mut paths = Paths::default();
        for channels in 0..9u32 {
            assert_eq!(paths.add(&(channels..2 * channels).collect::<Vec<u32>>()), channels);
        }
        for channels in 0..9u32 {
            assert!(paths.of(channels).iter().copied().eq(channels..2 * channels));
        }
    }
}
