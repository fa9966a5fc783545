//! Clients over HTTP: each of their requests opens the file again, but what they will request next follows from all of
//! them.

use crate::common::Common;
use crate::fetch_ahead::FetchAhead;
use crate::version::OpenVersion;
use sapwood_span::sync::lock;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A client without a request for this long is considered to have closed the file.
const IDLE: Duration = Duration::from_secs(60);
/// Pairs of client and file kept at most; beyond it, idle ones are dropped first.
const MOST: usize = 512;

/// What clients over HTTP read, by their address and the number of the open version.
#[derive(Default)]
pub(crate) struct Clients(Mutex<HashMap<(IpAddr, u64), Client>>);

struct Client {
    last: Instant,
    ahead: Arc<FetchAhead>,
}

impl Clients {
    /// A client's reads of a version. None where nothing is to be fetched ahead.
    pub(crate) fn of(
        &self,
        client: IpAddr,
        version: &Arc<OpenVersion>,
        common: &Arc<Common>,
    ) -> Option<Arc<FetchAhead>> {
        let key = (client, version.number);
        let mut quiet = Vec::new();
        let mut clients = lock(&self.0);
        if let Some(known) = clients.get_mut(&key) {
            known.last = Instant::now();
            return Some(Arc::clone(&known.ahead));
        }
        let ahead = FetchAhead::new(version, common)?;
        if clients.len() >= MOST {
            let mut times: Vec<Instant> = clients.values().map(|client| client.last).collect();
            times.sort_unstable();
            let before = times[MOST / 2];
            quiet.extend(clients.extract_if(|_, client| client.last < before));
        }
        // what was replaced is not requested any more: its files need not stay open
        quiet.extend(clients.extract_if(|_, client| client.ahead.is_of_another(version)));
        clients.insert(key, Client { last: Instant::now(), ahead: Arc::clone(&ahead) });
        drop(clients);
        // dropping these releases their files, which takes other locks
        drop(quiet);
        Some(ahead)
    }

    /// Drops all clients: nothing is served any more.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *lock(&self.0));
        drop(all);
    }

    /// Drops clients without a request for a while.
    pub(crate) fn sweep(&self) {
        let quiet: Vec<_> = lock(&self.0).extract_if(|_, client| client.last.elapsed() >= IDLE).collect();
        drop(quiet);
    }
}
