//! A small server over a directory, which can simulate a distant one.

use crate::connections::ClientLimits;
use crate::exchange::AccessListener;
use crate::local_directory::FolderFiles;
use crate::log::{Listener, Served};
use crate::server::{self, ServerHandle, ServerOptions};
use crate::tls::Tls;
use crate::wan::Wan;
use sapwood_span::{Error, Result};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of an [`Origin`].
#[derive(Clone)]
pub struct OriginOptions {
    /// The directory served. Links inside it are followed as long as they stay inside.
    pub root: PathBuf,
    /// Where to listen; by default on this machine only, on a free port.
    pub bind: SocketAddr,
    /// Where to listen for the XRootD protocol; none serves HTTP only.
    pub bind_root: Option<SocketAddr>,
    /// The server's certificate: HTTP is served over TLS only then, XRootD to clients that want it (`roots://`).
    pub tls: Option<Tls>,
    /// Round-trip time to simulate; zero simulates none.
    pub delay: Duration,
    /// Bandwidth to simulate, in bits per second, shared by all connections.
    pub bandwidth: Option<u64>,
    /// Called for each request when it is answered.
    pub log: Option<Listener>,
    /// Called for each request when its answer has ended.
    pub access: Option<AccessListener>,
    /// How many of the last requests [`OriginHandle::requests`] returns.
    pub remember: usize,
    /// Limits on what clients may use.
    pub limits: ClientLimits,
    /// After how long an XRootD client is asked to wait for a checksum of a long file.
    pub patience: Duration,
    /// Host names accepted besides the server's address and this machine's names. A server that only this machine can
    /// reach accepts no others, or a page of any site could read what it serves.
    pub allowed_hosts: Vec<String>,
}

impl OriginOptions {
    /// Serves this directory on a free port of this machine, as fast as it can.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let usual = ServerOptions::default();
        Self {
            root: root.into(),
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            bind_root: None,
            tls: None,
            delay: Duration::ZERO,
            bandwidth: None,
            log: None,
            access: None,
            remember: usual.remember,
            limits: usual.limits,
            patience: usual.patience,
            allowed_hosts: Vec::new(),
        }
    }
}

/// A [`Server`](crate::Server) over a local directory; it serves what is below its root, and nothing else.
///
/// With a delay or a bandwidth it simulates a distant server: see [`OriginOptions`]. The round trips of connecting and
/// of each request, TCP's slow start and a shared bandwidth are simulated by waiting; loss and queues are not.
pub struct Origin;

impl Origin {
    /// Starts serving, on its own threads, until the handle is stopped or dropped.
    ///
    /// # Errors
    /// The root is not a directory, or the address cannot be listened on.
    pub fn start(options: OriginOptions) -> Result<OriginHandle> {
        let name = options.root.display().to_string();
        let root = options.root.canonicalize().map_err(|e| Error::io("cannot serve", e).in_file(name.clone()))?;
        if !root.is_dir() {
            return Err(Error::invalid("only a directory can be served").in_file(name));
        }
        let wan = Wan::new(options.delay, options.bandwidth);
        let serving = ServerOptions::default()
            .http(Some(options.bind))
            .root(options.bind_root)
            .tls(options.tls)
            .limits(options.limits)
            .patience(options.patience)
            .allowed_hosts(options.allowed_hosts)
            .log(options.log)
            .access(options.access)
            .remember(options.remember);
        let server = server::start(Arc::new(FolderFiles::new(root)), serving, wan)?;
        Ok(OriginHandle { address: server.http_addr().unwrap_or(options.bind), server })
    }
}

/// A running [`Origin`]. Dropping it stops the server.
pub struct OriginHandle {
    address: SocketAddr,
    server: ServerHandle,
}

impl OriginHandle {
    /// The address it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The address of the served directory: `http://127.0.0.1:8080/`.
    pub fn url(&self) -> String {
        self.server.http_url().unwrap_or_default()
    }

    /// The address it listens on for the XRootD protocol, if it does.
    pub fn root_addr(&self) -> Option<SocketAddr> {
        self.server.root_addr()
    }

    /// The URL of the served directory over the XRootD protocol, ready to have a path appended: `root://127.0.0.1:1094//`.
    pub fn root_url(&self) -> Option<String> {
        self.server.root_url()
    }

    /// The last requests ([`OriginOptions::remember`]), the oldest first.
    pub fn requests(&self) -> Vec<Served> {
        self.server.requests()
    }

    /// Serves until the process ends.
    pub fn wait(self) {
        self.server.wait();
    }

    /// Stops serving; transfers in progress are cut off.
    pub fn stop(self) {
        drop(self);
    }

    /// Accepts no more connections and requests, waits at most this long until those in progress are answered, and
    /// stops.
    pub fn stop_within(self, limit: Duration) {
        self.server.stop_within(limit);
    }
}
