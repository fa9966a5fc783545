//! The reads of a trace, collected from its records.

use super::entry::Entry;
use sapwood_span::{Error, Result, units};
use std::collections::HashMap;

/// Reads in a trace at most.
pub(crate) const MOST_READS: usize = 20_000_000;
/// Requests of a client for a file belong to one read unless nothing happens for so many seconds; if it opened the file, as over XRootD,
/// until it opens it again. Lines may be in another order than their times by as much.
const PAUSE: f64 = 60.0;
/// In place of a number that is not known.
const WHOLE: u64 = u64::MAX;
const NOWHERE: u32 = u32::MAX;

/// A read of a file; there may be millions of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FileRead {
    /// When it began, in seconds since 1970; 0 if the trace has no times.
    pub(crate) time: f64,
    /// The number of the file, in the order in which files appear.
    pub(crate) file: u32,
    site: u32,
    bytes: u64,
    /// Seconds in which a core worked on it; 0 if the trace does not tell.
    pub(crate) cpu: f32,
}

impl FileRead {
    /// Bytes that were read; none: all of the file.
    pub(crate) fn bytes(&self) -> Option<u64> {
        (self.bytes != WHOLE).then_some(self.bytes)
    }

    /// The number of the site of the reader, among those that the trace names.
    pub(crate) fn site(&self) -> Option<usize> {
        (self.site != NOWHERE).then_some(self.site as usize)
    }
}

/// A trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) reads: Vec<FileRead>,
    /// Whether reads have times.
    pub(crate) timed: bool,
    /// By file: its name.
    pub(crate) names: Vec<String>,
    /// By file: its bytes, as far as the trace tells.
    pub(crate) sizes: Vec<Option<u64>>,
    /// The sites that the trace names.
    pub(crate) sites: Vec<String>,
}

/// A read that may go on.
struct Open {
    read: usize,
    /// When its last request was.
    last: Option<f64>,
    /// Whether the file was opened for it.
    opened: bool,
}

/// The reads so far.
#[derive(Default)]
pub(super) struct Reads {
    trace: Trace,
    /// The line of the first read.
    first_line: u64,
    files: HashMap<String, u32>,
    sites: HashMap<String, u32>,
    /// By client and file: the read that its requests belong to.
    open: HashMap<(String, u32), Open>,
    /// The latest time of a request so far.
    latest: f64,
}

impl Reads {
    /// Adds what a record in this line tells.
    pub(super) fn add(&mut self, entry: Entry, line: u64) -> Result<()> {
        self.timed_as_before(&entry, line)?;
        let file = match self.files.get(&entry.file) {
            Some(&known) => known,
            None => {
                let next = self.files.len() as u32;
                self.files.insert(entry.file, next);
                self.trace.sizes.push(None);
                next
            }
        };
        // a file of no bytes that was read is one whose size was not known
        if let Some(size) = entry.size.filter(|&size| size > 0)
            && let Some(slot) = self.trace.sizes.get_mut(file as usize)
        {
            *slot = (*slot).max(Some(size));
        }
        let bytes = entry.bytes.map_or(WHOLE, |n| n.min(WHOLE - 1));
        if let Some(client) = entry.client {
            let time = entry.time.unwrap_or(0.0);
            if time + PAUSE < self.latest {
                let what = format!("is {:.0} s before a line above it; sort the log by time", self.latest - time);
                return Err(Error::invalid(what));
            }
            self.latest = self.latest.max(time);
            let key = (client, file);
            let goes_on =
                |open: &Open| open.opened || open.last.zip(entry.time).is_none_or(|(last, time)| time - last <= PAUSE);
            if let Some(open) = self.open.get_mut(&key).filter(|open| !entry.opens && goes_on(open))
                && let Some(read) = self.trace.reads.get_mut(open.read)
            {
                open.last = entry.time;
                read.bytes = read.bytes.saturating_add(bytes).min(WHOLE - 1);
                return Ok(());
            }
            let open = Open { read: self.trace.reads.len(), last: entry.time, opened: entry.opens };
            self.open.insert(key, open);
        }
        if self.trace.reads.len() >= MOST_READS {
            let most = units::count(MOST_READS as u64);
            return Err(Error::invalid(format!("there are more than {most} reads; split the trace")));
        }
        let site = entry.site.map_or(NOWHERE, |name| self.site(name));
        let cpu = entry.cpu.unwrap_or(0.0) as f32;
        self.trace.reads.push(FileRead { time: entry.time.unwrap_or(0.0), file, site, bytes, cpu });
        Ok(())
    }

    /// Either all records have times, or none.
    fn timed_as_before(&mut self, entry: &Entry, line: u64) -> Result<()> {
        let timed = entry.time.is_some();
        if self.first_line == 0 {
            (self.first_line, self.trace.timed) = (line, timed);
        }
        match (timed, self.trace.timed) {
            (false, true) => Err(Error::invalid(format!("has no time, and line {} has one", self.first_line))),
            (true, false) => Err(Error::invalid(format!("has a time, and line {} has none", self.first_line))),
            _ => Ok(()),
        }
    }

    fn site(&mut self, name: String) -> u32 {
        let next = self.trace.sites.len() as u32;
        *self.sites.entry(name).or_insert_with_key(|name| {
            self.trace.sites.push(name.clone());
            next
        })
    }

    /// The whole trace. What only opened a file, and read nothing of it, is no read.
    pub(super) fn finished(mut self) -> Result<Trace> {
        self.trace.reads.retain(|read| read.bytes > 0);
        if self.trace.reads.is_empty() {
            return Err(Error::invalid("no read of a file is in it"));
        }
        self.trace.names = vec![String::new(); self.files.len()];
        for (name, number) in self.files {
            if let Some(slot) = self.trace.names.get_mut(number as usize) {
                *slot = name;
            }
        }
        Ok(self.trace)
    }
}
