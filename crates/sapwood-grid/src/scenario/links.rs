//! Links between sites: the network.

use super::matching;
use super::sites::Site;
use super::table::Table;
use crate::clock::Time;
use sapwood_span::Result;
use std::collections::HashMap;

const MOST_LINKS: usize = 100_000;
const MOST_OUTAGES: usize = 1000;

/// A connection between two sites, as wide in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Its name.
    pub name: String,
    /// The site at one end.
    pub from: usize,
    /// The site at the other end.
    pub to: usize,
    /// Round-trip time.
    pub rtt: Time,
    /// Bytes per second in each direction.
    pub bandwidth: f64,
    /// The part of packets that are lost.
    pub loss: f64,
    /// When it is down: beginning and end of each time.
    pub outages: Vec<(Time, Time)>,
}

/// The part of a link's bytes that is payload: 1448 of 1500 in a packet, with TCP's and IP's headers.
const PAYLOAD: f64 = 1448.0 / 1500.0;

impl LinkSpec {
    /// Bytes of files per second in each direction.
    pub fn payload(&self) -> f64 {
        self.bandwidth * PAYLOAD
    }
}

pub(super) fn read(top: &Table<'_>, sites: &[Site]) -> Result<Vec<LinkSpec>> {
    let mut out: Vec<LinkSpec> = Vec::new();
    // by the sites of each link, the lower number first: the line of its table
    let mut lines: HashMap<(usize, usize), usize> = HashMap::new();
    for table in top.tables("link", MOST_LINKS)? {
        let names = || sites.iter().map(|s| s.name.as_str());
        let ends = |key: &str| {
            let patterns = table.required(key, table.texts(key)?)?;
            matching(&table, key, &patterns, names(), "site")
        };
        let (from, to) = (ends("from")?, ends("to")?);
        let name = table.name()?;
        let rtt = table.required("rtt", table.time("rtt")?)?;
        let bandwidth = table.required("bandwidth", table.rate("bandwidth")?)?;
        let loss = table.number("loss", 0.0, 0.5)?.unwrap_or(0.0);
        let mut outages = Vec::new();
        for outage in table.tables("outage", MOST_OUTAGES)? {
            let from = outage.required("from", outage.time("from")?)?;
            let lasts = outage.required("for", outage.time("for")?)?;
            outage.finished()?;
            outages.push((from, from.saturating_add(lasts)));
        }
        outages.sort_unstable();
        if outages.windows(2).any(|w| w[0].1 > w[1].0) {
            return Err(table.wrong("two outages of the link overlap; write them as one"));
        }
        table.finished()?;
        let mut linked = false;
        for &a in &from {
            for &b in to.iter().filter(|&&b| b != a) {
                linked = true;
                let ends = [a, b].map(|i| sites.get(i).map_or("", |s| s.name.as_str()));
                let line = *lines.entry((a.min(b), a.max(b))).or_insert(table.line());
                if line != table.line() {
                    let what = format!(
                        "there is a link between {} and {} in line {line}; remove one of them, or write one with the bandwidth of both",
                        ends[0], ends[1]
                    );
                    return Err(table.wrong(what));
                }
                // patterns of a mesh name each pair twice
                if lines.len() == out.len() {
                    continue;
                }
                if out.len() >= MOST_LINKS {
                    return Err(table.wrong(format!("there are more than {MOST_LINKS} links")));
                }
                let one = from.len() * to.len() == 1;
                let name = name.as_ref().filter(|_| one).cloned().unwrap_or_else(|| ends.join(" - "));
                out.push(LinkSpec { name, from: a, to: b, rtt, bandwidth, loss, outages: outages.clone() });
            }
        }
        if !linked {
            return Err(
                table.wrong("from and to are the same site; a link is between two, and lan is the network within one")
            );
        }
    }
    Ok(out)
}
