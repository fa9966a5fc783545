//! The policies to compare, rules of replication, prices.

use super::datasets::Dataset;
use super::matching;
use super::sites::Site;
use super::table::Table;
use crate::clock::Time;
use sapwood_span::Result;

/// A policy to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySpec {
    /// Its name in the report.
    pub name: String,
    /// What it does.
    pub kind: Kind,
    /// Where jobs that pull may run.
    pub place: Place,
    /// For a mixture: the datasets that are pushed.
    pub pushed: Vec<usize>,
    /// Transfers of files to one site at the same time.
    pub transfers: usize,
    /// Connections of one transfer.
    pub streams: u64,
    /// Time that starting one transfer takes.
    pub overhead: Time,
}

/// What a policy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Files are copied to sites, jobs go to the files.
    Push,
    /// Jobs read what they need from where it is, through caches.
    Pull,
    /// Some datasets are pushed, all others pulled.
    Mixed,
    /// What the program that embeds the simulator decides.
    Custom,
}

/// Where jobs that pull may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where most cores are free.
    Anywhere,
    /// At the site of the user.
    Home,
}

/// Copies of datasets that are made when these are created, by policies that push.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The datasets.
    pub datasets: Vec<usize>,
    /// The sites to choose from.
    pub sites: Vec<usize>,
    /// Copies of each file.
    pub copies: usize,
}

/// What things cost, in a currency of the reader's choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    /// A terabyte of disk for 30 days.
    pub disk_tb_month: f64,
    /// A terabyte over a link between sites.
    pub network_tb: f64,
    /// A core for an hour, busy or waiting in a job.
    pub core_hour: f64,
}

pub(super) fn read(top: &Table<'_>, datasets: &[Dataset]) -> Result<Vec<PolicySpec>> {
    let mut out = Vec::new();
    for table in top.tables("policy", 100)? {
        let kind_name = table.required("kind", table.text("kind")?)?;
        let kind = match kind_name.as_str() {
            "push" => Kind::Push,
            "pull" => Kind::Pull,
            "mixed" => Kind::Mixed,
            _ => return Err(table.wrong_value("kind", "must be \"push\", \"pull\" or \"mixed\"")),
        };
        let pushed = table.texts("push")?;
        let pushed = match (kind, pushed) {
            (Kind::Mixed, Some(p)) => {
                matching(&table, "push", &p, datasets.iter().map(|d| d.name.as_str()), "dataset")?
            }
            (Kind::Mixed, None) => return Err(table.wrong("push is missing: the datasets that are pushed")),
            (_, Some(_)) => return Err(table.wrong_value("push", "is for kind = \"mixed\"")),
            (_, None) => Vec::new(),
        };
        let place = match table.text("place")?.as_deref() {
            None | Some("anywhere") => Place::Anywhere,
            Some("home") => Place::Home,
            Some(_) => return Err(table.wrong_value("place", "must be \"anywhere\" or \"home\"")),
        };
        let policy = PolicySpec {
            name: table.name()?.unwrap_or(kind_name),
            kind,
            place,
            pushed,
            transfers: table.positive("transfers", 100_000)?.unwrap_or(20) as usize,
            streams: table.positive("streams", 64)?.unwrap_or(8),
            overhead: table.time("overhead")?.unwrap_or(0),
        };
        table.finished()?;
        if out.iter().any(|p: &PolicySpec| p.name == policy.name) {
            let what = format!("there are two policies with the name {}; add a name", policy.name);
            return Err(table.wrong_value("name", what));
        }
        out.push(policy);
    }
    if out.is_empty() {
        out = vec![PolicySpec::new("push", Kind::Push), PolicySpec::new("pull", Kind::Pull)];
    }
    Ok(out)
}

impl PolicySpec {
    /// A policy with everything else as it is where a scenario does not say.
    pub fn new(name: &str, kind: Kind) -> Self {
        let name = name.to_owned();
        Self { name, kind, place: Place::Anywhere, pushed: Vec::new(), transfers: 20, streams: 8, overhead: 0 }
    }
}

pub(super) fn rules(top: &Table<'_>, sites: &[Site], datasets: &[Dataset]) -> Result<Vec<Rule>> {
    let one = |table: &Table<'_>| {
        let patterns = table.required("dataset", table.texts("dataset")?)?;
        let which = matching(table, "dataset", &patterns, datasets.iter().map(|d| d.name.as_str()), "dataset")?;
        let patterns = table.required("site", table.texts("site")?)?;
        let at = matching(table, "site", &patterns, sites.iter().map(|s| s.name.as_str()), "site")?;
        let copies = table.count("copies", 10_000)?.unwrap_or(1) as usize;
        if copies > at.len() {
            return Err(table.wrong_value("copies", format!("only {} sites are given", at.len())));
        }
        table.finished()?;
        Ok(Rule { datasets: which, sites: at, copies })
    };
    top.tables("rule", 10_000)?.iter().map(one).collect()
}

pub(super) fn prices(top: &Table<'_>) -> Result<Prices> {
    let Some(table) = top.table("prices")? else { return Ok(Prices::default()) };
    let price = |key| Ok(table.number(key, 0.0, 1e9)?.unwrap_or(0.0));
    let out = Prices {
        disk_tb_month: price("disk_tb_month")?,
        network_tb: price("network_tb")?,
        core_hour: price("core_hour")?,
    };
    table.finished()?;
    Ok(out)
}
