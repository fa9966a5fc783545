use crate::client::Client;
use crate::cut::Cut;
use crate::network::{Delivery, Network};
use crate::proxy::Proxies;
use crate::scan::{Job, Report, Scan};
use crate::{Faults, Link};
use sapwood_plan::{Basket, Request};
use sapwood_span::{Error, ErrorKind, Result};
use std::time::Duration;

/// Runs one scan in virtual time: plans `baskets` under `request`, over `link`, for `client`, with `faults`.
///
/// Fails if the planner refuses the baskets ([`ErrorKind::Invalid`]), or if the scan comes to a standstill before the
/// last batch ([`ErrorKind::Timeout`]).
pub fn run(baskets: &[Basket], request: Request, link: &Link, client: &Client, faults: &Faults) -> Result<Report> {
    let job = Job { baskets, request, client, cut: None, proxy: None, start: Duration::ZERO };
    one(together(vec![Scan::new(0, job, faults, true)?], Proxies::default(), link, &mut { u64::MAX })?)
}

/// The same with a cut, whose steps are the client's batches: these must ascend without a gap.
///
/// # Errors
/// As [`run`].
pub fn run_with_cut(
    baskets: &[Basket],
    request: Request,
    link: &Link,
    client: &Client,
    faults: &Faults,
    cut: &Cut,
) -> Result<Report> {
    let job = Job { baskets, request, client, cut: Some(cut), proxy: None, start: Duration::ZERO };
    one(together(vec![Scan::new(0, job, faults, true)?], Proxies::default(), link, &mut { u64::MAX })?)
}

/// Runs several scans that share a link: each has a planner and connections of its own. A proxy through which they read has nothing of
/// their files, and keeps nothing of one for another. Times in the reports are counted from the
/// beginning of all, logs are empty. Takes its work from `work`: looks at a scan or a connection, each when anything happens. None if there is
/// not enough.
///
/// # Errors
/// As [`run`].
pub fn run_together(jobs: Vec<Job<'_>>, link: &Link, faults: &Faults, work: &mut u64) -> Result<Option<Vec<Report>>> {
    let proxies = Proxies::new(jobs.iter().map(|job| job.proxy));
    let scans = jobs.into_iter().enumerate().map(|(i, job)| Scan::new(i, job, faults, false));
    together(scans.collect::<Result<_>>()?, proxies, link, work)
}

fn one(reports: Option<Vec<Report>>) -> Result<Report> {
    reports.and_then(|reports| reports.into_iter().next()).ok_or_else(|| Error::invalid("there is no scan"))
}

/// Runs all scans to their ends, if that does not take too much work.
fn together(
    mut scans: Vec<Scan<'_>>,
    mut proxies: Proxies<'_>,
    link: &Link,
    work: &mut u64,
) -> Result<Option<Vec<Report>>> {
    let mut network = Network::new(link);
    let mut now = 0.0;
    for scan in &mut scans {
        scan.begin();
    }
    while scans.iter().any(|s| !s.is_complete()) {
        let looks = scans.len() + network.connections() + proxies.connections();
        let Some(left) = work.checked_sub(looks as u64) else { return Ok(None) };
        *work = left;
        let mut next: Option<f64> = None;
        for (i, scan) in scans.iter_mut().enumerate().filter(|(_, s)| !s.is_complete()) {
            match proxies.network_of(i) {
                Some(near) => scan.act(near),
                None => scan.act(&mut network),
            }
            scan.work();
            next = [next, scan.next()].into_iter().flatten().reduce(f64::min);
        }
        proxies.receive();
        next = [next, network.next_change(), proxies.next()].into_iter().flatten().reduce(f64::min);
        let Some(next) = next else {
            let batch = scans.iter().find(|s| !s.is_complete()).map_or(0, |s| s.batch);
            let what = format!("the scan stands still at {now:.3} s, in batch {batch}");
            return Err(Error::new(ErrorKind::Timeout, what));
        };
        now = next.max(now);
        let mut deliveries = Vec::new();
        network.advance(now, &mut deliveries);
        proxies.advance(now, &mut network, &mut deliveries);
        for (owner, time, delivery) in deliveries {
            if let Delivery::Basket(..) = delivery {
                proxies.brought(owner, network.carried(owner));
            }
            if let Some(scan) = scans.get_mut(owner) {
                scan.deliver(time, delivery);
            }
        }
        for scan in scans.iter_mut().filter(|s| !s.is_complete()) {
            scan.advance(now);
        }
    }
    let report = |(i, scan): (usize, Scan<'_>)| Report { by_proxy: proxies.fetched(i), ..scan.report() };
    Ok(Some(scans.into_iter().enumerate().map(report).collect()))
}
