//! A running proxy.

use crate::common::Common;
use crate::files::ProxyFiles;
use crate::metrics::ProxyMetrics;
use crate::open_files::OpenFiles;
use crate::options::ProxyOptions;
use crate::route::Routes;
use crate::status::ProxyStatus;
use crate::target::Target;
use sapwood_engine::local_cache::{Store, StoreOptions};
use sapwood_serve::{Served, Server, ServerHandle};
use sapwood_span::{Error, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long it waits at the end for origins to confirm the last bytes.
const SETTLE: Duration = Duration::from_secs(2);

/// A caching proxy: see [`ProxyOptions`].
pub struct Proxy;

impl Proxy {
    /// Starts proxying, on its own threads, until the handle is stopped or dropped. An unusable local cache is no
    /// error: see [`ProxyHandle::warnings`].
    ///
    /// # Errors
    /// No origin, one that is not the URL of a server or is this proxy itself, or an address that cannot be listened
    /// on.
    pub fn start(options: ProxyOptions) -> Result<ProxyHandle> {
        if options.origins.is_empty() && options.allow.is_empty() {
            let what = "a proxy needs an origin, or a pattern of origins that clients may use";
            return Err(Error::invalid(what).with_remedy("specify an origin, or allow some"));
        }
        let origins = options.origins.iter().map(|url| Target::parse(url)).collect::<Result<Vec<_>>>()?;
        if let Some(dir) = &options.ca_dir {
            // said now, and not to the first client
            std::fs::read_dir(dir).map_err(|e| {
                Error::io("cannot read the directory of certificates", e).in_file(dir.display().to_string())
            })?;
        }
        let mut warnings = Vec::new();
        let open = |directory: &std::path::PathBuf| {
            Store::open(&StoreOptions { directory: directory.clone(), max_bytes: options.cache_max_bytes })
        };
        let store = match options.cache_directory.as_ref().map(open).transpose() {
            Ok(store) => store,
            Err(error) => {
                warnings.push(format!("the local cache is not used: {error}"));
                None
            }
        };
        let named = origins.clone();
        let common = Common::new(&options, origins.iter().map(Target::server).collect(), store);
        let table = OpenFiles::new(Arc::clone(&common));
        let routes = Routes::new(origins, options.allow);
        let mut serving = options.server;
        if serving.status.is_none() {
            serving.status = Some(Arc::new(ProxyStatus(Arc::clone(&common))));
        }
        let files = ProxyFiles::new(routes, Arc::clone(&common), Arc::clone(&table));
        let server = Server::start(Arc::new(files), serving)?;
        for origin in &named {
            let bound = if origin.scheme.is_http() { server.http_addr() } else { server.root_addr() };
            if bound.is_some_and(|bound| origin.is_at(bound)) {
                let what = "this is the address of the proxy itself: it would send requests to itself";
                return Err(Error::invalid(what)
                    .in_file(origin.url())
                    .with_remedy("specify the server that has the files"));
            }
        }
        Ok(ProxyHandle { server: Some(server), common, table, warnings })
    }
}

/// A running [`Proxy`]. Dropping it stops it.
pub struct ProxyHandle {
    /// None once it has been stopped.
    server: Option<ServerHandle>,
    common: Arc<Common>,
    table: Arc<OpenFiles>,
    warnings: Vec<String>,
}

impl ProxyHandle {
    /// Its HTTP URL, ready to have a path appended: `http://127.0.0.1:8080/`.
    pub fn http_url(&self) -> Option<String> {
        self.server.as_ref()?.http_url()
    }

    /// Its URL over the XRootD protocol, ready to have a path appended: `root://127.0.0.1:1094//`.
    pub fn root_url(&self) -> Option<String> {
        self.server.as_ref()?.root_url()
    }

    /// Its counters so far.
    pub fn metrics(&self) -> ProxyMetrics {
        self.common.metrics.now()
    }

    /// The last requests of clients, the oldest first.
    pub fn requests(&self) -> Vec<Served> {
        self.server.as_ref().map(ServerHandle::requests).unwrap_or_default()
    }

    /// Why the local cache is not used, or not fully: each reason once.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.iter().cloned().chain(self.common.warnings()).collect()
    }

    /// Where it serves only `/metrics` and `/health`, if it does.
    pub fn metrics_addr(&self) -> Option<SocketAddr> {
        self.server.as_ref()?.metrics_addr()
    }

    /// Accepts no more requests, waits at most this long for those in progress, and stops.
    pub fn stop_within(mut self, limit: Duration) {
        if let Some(server) = self.server.take() {
            self.table.settle(SETTLE);
            server.stop_within(limit);
        }
    }

    /// Stops; transfers in progress are cut off. Received bytes are kept.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for ProxyHandle {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.table.settle(SETTLE);
            drop(server);
        }
        // dropping them records what their clients read
        self.table.clients.clear();
        self.common.flush();
    }
}
