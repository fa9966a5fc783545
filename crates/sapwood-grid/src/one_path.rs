//! Jobs over one path in the model of flows.

use crate::behaviour::Behaviour;
use crate::clock::{from_seconds, seconds};
use crate::flows::{Ended, Flows, Tag};
use crate::route::Route;

/// When a job has all bytes in the model, and when it is done.
pub(crate) struct Ends {
    pub(crate) read: f64,
    pub(crate) end: f64,
}

/// Jobs over one path in the model: how each behaves, what the opening of its file is, when it begins with that.
pub(crate) fn in_model(route: Route, jobs: &[(&Behaviour, &Behaviour, f64)]) -> Vec<Ends> {
    let mut flows = Flows::new([route.bandwidth]);
    let path = flows.add_path(&[0]);
    // basket by basket, what opening a file brings is on no link
    let starts = |i: usize| jobs[i].2 + jobs[i].1.seconds;
    let alone = |(job, _, at): &(&Behaviour, &Behaviour, f64)| Ends { read: *at, end: at + job.seconds };
    let mut ends: Vec<Ends> = jobs.iter().map(alone).collect();
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|&a, &b| starts(a).total_cmp(&starts(b)));
    let mut order = order.into_iter().peekable();
    let mut ended = Vec::new();
    loop {
        let start = order.peek().map(|&i| from_seconds(starts(i)));
        let Some(now) = [start, flows.next_end()].into_iter().flatten().min() else { return ends };
        flows.advance(now, &mut ended, |i| Some((&jobs.get(i as usize)?.0.slack, 1)));
        for Ended { tag, late } in ended.drain(..) {
            if let Tag::Job(i) = tag {
                let Ends { read, end } = &mut ends[i as usize];
                *read = seconds(now);
                *end = end.max(*read + jobs[i as usize].0.after_late(late));
            }
        }
        while let Some(i) = order.next_if(|&i| from_seconds(starts(i)) <= now) {
            let (job, opening, _) = jobs[i];
            let bytes = (job.bytes - opening.bytes).round().max(1.0);
            let rate = bytes / (job.reading - opening.seconds).max(1e-6);
            flows.start(now, path, rate, bytes as u64, Tag::Job(i as u32));
        }
        flows.settle(now);
    }
}
