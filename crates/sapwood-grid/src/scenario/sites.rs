//! Sites: cores, disks, caches and proxies.

use super::numbered;
use super::table::Table;
use crate::clock::Time;
use sapwood_span::Result;

pub(super) const MOST_SITES: usize = 10_000;

/// A place with some of: cores, a disk, caches.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Its name.
    pub name: String,
    /// Jobs that run at once.
    pub cores: u64,
    /// Bytes of disk for replicas.
    pub disk: u64,
    /// Bytes per second that the disk delivers to all jobs together; none: never the bottleneck.
    pub storage: Option<f64>,
    /// A caching proxy that the jobs of the site share.
    pub proxy: Option<Proxy>,
    /// Bytes of the local cache of each node.
    pub local_cache: u64,
    /// Nodes that the cores are in; jobs of a node share its local cache.
    pub nodes: u64,
    /// Round-trip time inside the site.
    pub lan: Time,
    /// Bytes per second of one node's network.
    pub lan_bandwidth: f64,
}

/// A caching proxy.
#[derive(Clone, Debug, PartialEq)]
pub struct Proxy {
    /// Bytes it may keep.
    pub bytes: u64,
    /// The site whose proxy it reads through; none: from where the files are.
    pub parent: Option<usize>,
    /// Whether it fetches whole files where a client reads a part, as some caches do.
    pub whole_files: bool,
}

pub(super) fn read(top: &Table<'_>) -> Result<Vec<Site>> {
    let mut out = Vec::new();
    let mut parents: Vec<(usize, usize, String)> = Vec::new();
    let tables = top.tables("site", MOST_SITES)?;
    for (number, table) in tables.iter().enumerate() {
        let name = table.required("name", table.name()?)?;
        let count = table.count("count", MOST_SITES as u64)?.unwrap_or(1);
        let proxy = table.bytes("proxy")?;
        let parent = table.text("parent")?;
        let fetch = table.text("fetch")?;
        let whole_files = match fetch.as_deref() {
            None | Some("ranges") => false,
            Some("files") => true,
            Some(_) => return Err(table.wrong_value("fetch", "must be \"ranges\" or \"files\"")),
        };
        if proxy.is_none() && (parent.is_some() || fetch.is_some()) {
            return Err(table.wrong("parent and fetch are for sites with a proxy; add proxy = \"10 TB\""));
        }
        let site = Site {
            name: String::new(),
            cores: table.count("cores", 10_000_000)?.unwrap_or(0),
            disk: table.bytes("disk")?.unwrap_or(0),
            storage: table.rate("storage")?,
            proxy: proxy.map(|bytes| Proxy { bytes, parent: None, whole_files }),
            local_cache: table.bytes("local_cache")?.unwrap_or(0),
            nodes: table.positive("nodes", 1_000_000)?.unwrap_or(1),
            lan: table.time("lan")?.unwrap_or(300_000),
            lan_bandwidth: table.rate("lan_bandwidth")?.unwrap_or(1.25e9),
        };
        table.finished()?;
        for name in numbered(&name, count) {
            if out.iter().any(|s: &Site| s.name == name) {
                return Err(table.wrong_value("name", format!("there are two sites with the name {name}")));
            }
            if out.len() >= MOST_SITES {
                return Err(table.wrong_value("count", format!("there are more than {MOST_SITES} sites")));
            }
            if let Some(parent) = &parent {
                parents.push((out.len(), number, parent.clone()));
            }
            out.push(Site { name, ..site.clone() });
        }
    }
    if out.is_empty() {
        return Err(top.wrong("there are no sites; add a [[site]]"));
    }
    for (site, number, parent) in parents {
        let wrong = |what: String| match tables.get(number) {
            Some(table) => table.wrong_value("parent", what),
            None => top.wrong(what),
        };
        let at = out.iter().position(|s| s.name == parent && s.proxy.is_some());
        let at = at.ok_or_else(|| wrong(format!("no site {parent} with a proxy exists")))?;
        if let Some(proxy) = out.get_mut(site).and_then(|s| s.proxy.as_mut()) {
            proxy.parent = Some(at);
        }
        // the chain must end
        let mut next = Some(at);
        for _ in 0..=MOST_SITES {
            next = next.and_then(|at| out.get(at)).and_then(|s| s.proxy.as_ref()).and_then(|p| p.parent);
            if next == Some(site) {
                return Err(wrong("the proxies read through each other in a circle".to_owned()));
            }
            if next.is_none() {
                break;
            }
        }
    }
    Ok(out)
}
