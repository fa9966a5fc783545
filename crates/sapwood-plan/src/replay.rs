use crate::{Basket, Log, Planner, Record, Request};
use sapwood_span::Result;

/// Runs the events of a log through a fresh planner, polling where the log has an action: the
/// same planner gives the same log again.
pub fn replay(baskets: Vec<Basket>, request: Request, log: &Log) -> Result<Log> {
    let mut planner = Planner::new(baskets, request)?;
    planner.record(true);
    for (time, record) in &log.records {
        match record {
            Record::Event(event) => planner.handle(*time, event.clone()),
            Record::Action(_) => {
                planner.poll(*time);
            }
        }
    }
    Ok(planner.take_log())
}
