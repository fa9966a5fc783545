use crate::{Action, Basket, Event, describe_action, describe_event};
use std::fmt::Write;
use std::time::Duration;

/// One line of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// What happened.
    Event(Event),
    /// What the planner did.
    Action(Action),
}

/// Events and actions of a scan, with the time of each from the start of the scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// In the order in which they occurred.
    pub records: Vec<(Duration, Record)>,
}

impl Log {
    pub(crate) fn event(&mut self, now: Duration, event: &Event) {
        self.records.push((now, Record::Event(event.clone())));
    }

    pub(crate) fn action(&mut self, now: Duration, action: &Action) {
        self.records.push((now, Record::Action(action.clone())));
    }

    /// The log as text, one line each; `name` gives the name of a branch.
    pub fn describe<N: AsRef<str>>(&self, baskets: &[Basket], name: impl Fn(u32) -> N) -> String {
        let mut out = String::new();
        for (time, record) in &self.records {
            let words = match record {
                Record::Event(e) => describe_event(e, baskets, &name),
                Record::Action(a) => describe_action(a, baskets, &name),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{:>9.3} ms  {words}", time.as_secs_f64() * 1e3);
        }
        out
    }
}
