//! `sapwood serve` and `sapwood proxy`.

use super::local_cache::{folder, size};
use crate::units;
use clap::Args;
use sapwood::local_cache::LocalCache;
use sapwood::proxy::AllowRule;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// `sapwood serve`
#[derive(Args)]
#[command(after_help = "\
The first line of output shows the addresses. Append a path to one of them. Press Ctrl-C to stop.

Examples:
  # simulate a server 50 ms away with a bandwidth of 100 Mbit/s
  sapwood serve data --delay 50ms --bandwidth 100Mbit
  # serve the same directory to xrdcp and ROOT, too, on the usual port of XRootD
  sapwood serve data --root 1094")]
pub struct ServeArgs {
    /// Directory to serve
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Port to listen on; 0 for any free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Address to listen on; the default is reachable from this machine only
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// Serve the directory over the XRootD protocol, too. ADDR is a port, an IP address, or both (127.0.0.1:1094). The default
    /// is any free port of the address of --bind
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "0", value_parser = listen_address)]
    pub root: Option<ListenAddress>,
    /// Accept HTTP requests with this Host name; can be repeated. By default only localhost and IP addresses are accepted,
    /// so that web pages cannot read the files through a browser
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allowed_hosts: Vec<String>,
    /// Serve over TLS with this certificate (PEM, with the certificates of intermediate authorities): https:// instead of
    /// http://, and roots:// beside root://. It is read again when the file changes
    #[arg(long, value_name = "FILE", requires = "key")]
    pub certificate: Option<PathBuf>,
    /// Private key of the certificate (PEM, not encrypted)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub key: Option<PathBuf>,
    /// Simulated round-trip time
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = units::parse_delay)]
    pub delay: Duration,
    /// Simulated bandwidth, shared by all connections [default: unlimited]
    #[arg(long, value_name = "RATE", value_parser = units::parse_bandwidth)]
    pub bandwidth: Option<u64>,
}

/// `sapwood proxy`
#[derive(Args)]
#[command(after_help = "\
The first line of output shows the addresses. Append the path of a file on the origin to one of them: clients of HTTP and
XRootD read it as if it were there. What was read is kept in the cache directory, for all clients. Credentials of clients
are passed on to the origin. The proxy has none of its own, except for s3:// origins: for clients without an access key it
signs requests with the credentials that it finds (AWS_*, unless --s3-anonymous is given), so whoever can connect to the proxy
can read what they allow. Press Ctrl-C to stop.

Examples:
  # a cache for one server, for all computers of a site
  sapwood proxy --origin root://eos.example.org//store --listen-root 0.0.0.0:1094 --listen-http 0.0.0.0:8080 --cache-max 2TB
  # a bucket
  sapwood proxy --origin s3://bucket/data --listen-http 8080
  # clients name the server: root://proxy//root://se1.example.org//store/a.root
  sapwood proxy --allow 'root://*.example.org/' --allow 'https://*.example.org/'")]
pub struct ProxyArgs {
    /// URL of the server, or of a directory on it, whose files are served; can be repeated for servers with the same files, which
    /// are tried in this order
    #[arg(long = "origin", value_name = "URL", required_unless_present = "allow")]
    pub origins: Vec<String>,
    /// Let clients name any server that matches, as in root://proxy//root://host//path or http://proxy/https://host/path; can be
    /// repeated. In the host, *. matches any number of leading parts, any other * characters of one part
    #[arg(long, value_name = "PATTERN")]
    pub allow: Vec<AllowRule>,
    /// Serve HTTP on this address: a port, an IP address, or both; "off" disables HTTP [default: 127.0.0.1, any free port]
    #[arg(long, value_name = "ADDR", value_parser = listener)]
    pub listen_http: Option<Listener>,
    /// Serve the XRootD protocol on this address: a port, an IP address, or both; "off" disables it [default: 127.0.0.1, any
    /// free port]
    #[arg(long, value_name = "ADDR", value_parser = listener)]
    pub listen_root: Option<Listener>,
    /// Cache directory; "off" keeps data only in memory [default: SAPWOOD_CACHE_DIR, else the directory of `sapwood cache`, else
    /// ~/.cache/sapwood]
    #[arg(long, value_name = "DIR|off", value_parser = folder)]
    pub cache_dir: Option<LocalCache>,
    /// Size limit of the cache, such as 500GB; the least recently used data are removed [default: SAPWOOD_CACHE_MAX, else that of
    /// `sapwood cache`, else 20GB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub cache_max: Option<u64>,
    /// Limit of the data that are read ahead for each open file, such as 8MB: the next baskets of the branches that a client
    /// reads, so that clients without a tree cache are fast; "off" reads only what clients ask for
    #[arg(long, value_name = "SIZE|off", default_value = "32MB", value_parser = prefetch)]
    pub prefetch: u64,
    /// Serve over TLS with this certificate (PEM, with the certificates of intermediate authorities): https:// instead of
    /// http://, and roots:// beside root://. It is read again when the file changes
    #[arg(long = "cert", alias = "certificate", value_name = "FILE", requires = "key")]
    pub certificate: Option<PathBuf>,
    /// Private key of the certificate (PEM, not encrypted)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub key: Option<PathBuf>,
    /// Write a line for each request to stderr: client, protocol, method, path, status, bytes, milliseconds
    #[arg(long)]
    pub access_log: bool,
    /// Serve /metrics (for Prometheus) and /health on this address instead of the one of HTTP: a port, an IP address, or both
    #[arg(long, value_name = "ADDR", value_parser = listen_address)]
    pub listen_metrics: Option<ListenAddress>,
    /// How long an answer of the server about a file is valid; then the server is asked again when a client opens the file
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = units::parse_delay)]
    pub fresh: Duration,
    /// Accept HTTP requests with this Host name; can be repeated. By default, a proxy that listens on a loopback address accepts
    /// only localhost and IP addresses
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allowed_hosts: Vec<String>,
    /// Directory of further trusted CA certificates (PEM) for servers [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub ca_dir: Option<PathBuf>,
}

/// Bytes; 0 for none.
fn prefetch(text: &str) -> Result<u64, String> {
    if text == "off" { Ok(0) } else { units::parse_bytes(text).map_err(|e| e.to_string()) }
}

/// Where a protocol is served, if it is.
#[derive(Clone, Copy)]
pub enum Listener {
    Off,
    At(ListenAddress),
}

impl Listener {
    /// The address to listen on; by default any free port of this machine.
    pub fn address(given: Option<Self>) -> Option<SocketAddr> {
        let local = IpAddr::from([127, 0, 0, 1]);
        match given {
            Some(Self::Off) => None,
            Some(Self::At(at)) => Some(at.address()),
            None => Some(SocketAddr::new(local, 0)),
        }
    }
}

impl ListenAddress {
    /// What is not given is this machine, and any free port.
    pub fn address(self) -> SocketAddr {
        SocketAddr::new(self.ip.unwrap_or(IpAddr::from([127, 0, 0, 1])), self.port)
    }
}

fn listener(text: &str) -> Result<Listener, String> {
    if text == "off" { Ok(Listener::Off) } else { listen_address(text).map(Listener::At) }
}

/// Where to listen, as far as it is given.
#[derive(Clone, Copy)]
pub struct ListenAddress {
    pub ip: Option<IpAddr>,
    pub port: u16,
}

pub fn listen_address(text: &str) -> Result<ListenAddress, String> {
    if let Ok(port) = text.parse() {
        return Ok(ListenAddress { ip: None, port });
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(ListenAddress { ip: Some(address.ip()), port: address.port() });
    }
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    match bare.parse() {
        Ok(ip) => Ok(ListenAddress { ip: Some(ip), port: 0 }),
        Err(_) => Err("write a port, an IP address, or both: 1094 or 127.0.0.1:1094".to_owned()),
    }
}
