//! `sapwood browse`, `sapwood serve` and `sapwood proxy`.

use super::local_cache::{folder, size};
use super::name;
use crate::units;
use clap::Args;
use sapwood::local_cache::LocalCache;
use sapwood::proxy::AllowRule;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// `sapwood browse`
#[derive(Args)]
#[command(after_help = "\
The first line of output is the address of the page. It contains a secret: do not pass it on. Only this machine can open it. Press
Ctrl-C to stop.

Examples:
  sapwood browse data.root
  sapwood browse ~/data https://example.org/events.root
  # on a remote machine: forward a port, then open the address here
  ssh -L 8099:127.0.0.1:8099 host sapwood browse --no-open --port 8099 data.root")]
pub(crate) struct BrowseArgs {
    /// Files, directories and URLs [default: choose one in the page]
    #[arg(value_name = "TARGET", value_parser = name())]
    pub targets: Vec<String>,
    /// Do not open a web browser
    #[arg(long)]
    pub no_open: bool,
    /// Port on this machine; 0 chooses a free port
    #[arg(long, value_name = "PORT", default_value_t = 0, value_parser = port, allow_negative_numbers = true)]
    pub port: u16,
}

/// `sapwood serve`
#[derive(Args)]
#[command(after_help = "\
The first line of output shows the addresses. Append a path to one of them. Press Ctrl-C to stop.

Examples:
  # simulate a server 50 ms away with a bandwidth of 100 Mbit/s
  sapwood serve data --delay 50ms --bandwidth 100Mbit
  # serve the same directory to xrdcp and ROOT, too, on the usual port of XRootD
  sapwood serve data --listen-root 1094")]
pub(crate) struct ServeArgs {
    /// Directory to serve
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Serve HTTP on this address: a port, an IP address, or both (127.0.0.1:8080); 0 chooses a free port [default: 127.0.0.1, any
    /// free port]
    #[arg(long, value_name = "ADDR", value_parser = listen_address, conflicts_with_all = ["port", "bind"])]
    listen_http: Option<ListenAddress>,
    /// Serve the XRootD protocol on this address, too: a port, an IP address, or both (127.0.0.1:1094); 0 chooses a free port
    #[arg(long, value_name = "ADDR", value_parser = listen_address, conflicts_with = "root")]
    listen_root: Option<ListenAddress>,
    /// An older name of --listen-http PORT
    #[arg(long, hide = true, default_value_t = 0)]
    port: u16,
    /// An older name of --listen-http IP
    #[arg(long, hide = true, default_value = "127.0.0.1")]
    bind: IpAddr,
    /// An older name of --listen-root
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "0", value_parser = listen_address)]
    root: Option<ListenAddress>,
    /// Accept HTTP requests with this Host name; can be repeated. By default only localhost and IP addresses are accepted,
    /// so that web pages cannot read the files through a browser
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allowed_hosts: Vec<String>,
    /// Serve over TLS with this certificate (PEM, with the certificates of intermediate authorities): https:// instead of
    /// http://, and roots:// in addition to root://. It is read again when the file changes
    #[arg(long = "cert", alias = "certificate", value_name = "FILE", requires = "key")]
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

impl ServeArgs {
    /// The address to serve HTTP on.
    pub(crate) fn http_address(&self) -> SocketAddr {
        self.listen_http.map_or(SocketAddr::new(self.bind, self.port), ListenAddress::address)
    }

    /// The address to serve the XRootD protocol on, if it is served.
    pub(crate) fn root_address(&self) -> Option<SocketAddr> {
        let older = self.root.map(|at| SocketAddr::new(at.ip.unwrap_or(self.bind), at.port));
        self.listen_root.map(ListenAddress::address).or(older)
    }
}

/// `sapwood proxy`
#[derive(Args)]
#[command(after_help = "\
The first line of output shows the addresses. Append the path of a file on the origin to one of them: clients of HTTP and
XRootD read it as if it were on the proxy. What was read is kept in the cache directory, for all clients. Credentials of clients
are passed on to the origin; the proxy uses none of its own, unless --share-credentials is given. Press Ctrl-C to stop.

Examples:
  # a cache for one server, for all computers of a site
  sapwood proxy --origin root://eos.example.org//store --listen-root 0.0.0.0:1094 --listen-http 0.0.0.0:8080 --cache-max 2TB
  # a bucket
  sapwood proxy --origin s3://bucket/data --share-credentials --listen-http 8080
  # clients specify the server: root://proxy//root://se1.example.org//store/a.root
  sapwood proxy --allow 'root://*.example.org/' --allow 'https://*.example.org/'")]
pub(crate) struct ProxyArgs {
    /// URL of the server, or of a directory on it, whose files are served; can be repeated for servers with the same files, which
    /// are tried in this order
    #[arg(long = "origin", value_name = "URL")]
    pub origins: Vec<String>,
    /// Allow clients to specify any matching server, as in root://proxy//root://host//path or http://proxy/https://host/path; can be
    /// repeated. In the host name, *. matches any number of leading labels, and any other * any characters within one label
    #[arg(long, value_name = "PATTERN")]
    pub allow: Vec<AllowRule>,
    /// Read s3:// origins with the credentials of this machine (AWS_*) for clients that send none: everyone who can connect can
    /// then read what these credentials allow. By default, such clients can only read public data
    #[arg(long)]
    pub share_credentials: bool,
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
    /// Read ahead the next baskets of the branches that a client reads, up to this size for each open file: this
    /// speeds up clients without a tree cache. "off" reads only what clients request
    #[arg(long, value_name = "SIZE|off", default_value = "32MB", value_parser = prefetch)]
    pub prefetch: u64,
    /// Serve over TLS with this certificate (PEM, with the certificates of intermediate authorities): https:// instead of
    /// http://, and roots:// in addition to root://. It is read again when the file changes
    #[arg(long = "cert", alias = "certificate", value_name = "FILE", requires = "key")]
    pub certificate: Option<PathBuf>,
    /// Private key of the certificate (PEM, not encrypted)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub key: Option<PathBuf>,
    /// Log requests to stderr, one line each: client, protocol, method, path, status, bytes, milliseconds
    #[arg(long)]
    pub access_log: bool,
    /// Serve /metrics (for Prometheus) and /health on this address instead of the HTTP address: a port, an IP address, or both
    #[arg(long, value_name = "ADDR", value_parser = listen_address)]
    pub listen_metrics: Option<ListenAddress>,
    /// When a client opens a file, check with the server whether it has changed only if the last response is older than this
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = units::parse_delay)]
    pub fresh: Duration,
    /// Accept HTTP requests with this Host name; can be repeated. By default, a proxy that listens on a loopback address accepts
    /// only localhost and IP addresses
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allowed_hosts: Vec<String>,
    /// Directory of additional trusted CA certificates (PEM) for servers [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub ca_dir: Option<PathBuf>,
}

/// A port.
fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("must be a whole number from 0 to {}", u16::MAX))
}

/// Bytes; 0 for none.
fn prefetch(text: &str) -> Result<u64, String> {
    if text == "off" { Ok(0) } else { units::parse_bytes(text).map_err(|e| e.to_string()) }
}

/// Where a protocol is served, if it is.
#[derive(Clone, Copy)]
pub(crate) enum Listener {
    Off,
    At(ListenAddress),
}

impl Listener {
    /// The address to listen on; by default any free port of this machine.
    pub(crate) fn address(given: Option<Self>) -> Option<SocketAddr> {
        let local = IpAddr::from([127, 0, 0, 1]);
        match given {
            Some(Self::Off) => None,
            Some(Self::At(at)) => Some(at.address()),
            None => Some(SocketAddr::new(local, 0)),
        }
    }
}

impl ListenAddress {
    /// The default is this machine, and any free port.
    pub(crate) fn address(self) -> SocketAddr {
        SocketAddr::new(self.ip.unwrap_or(IpAddr::from([127, 0, 0, 1])), self.port)
    }
}

fn listener(text: &str) -> Result<Listener, String> {
    if text == "off" { Ok(Listener::Off) } else { listen_address(text).map(Listener::At) }
}

/// An IP address, a port, or both.
#[derive(Clone, Copy)]
pub(crate) struct ListenAddress {
    pub ip: Option<IpAddr>,
    pub port: u16,
}

pub(super) fn listen_address(text: &str) -> Result<ListenAddress, String> {
    if let Ok(port) = text.parse() {
        return Ok(ListenAddress { ip: None, port });
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(ListenAddress { ip: Some(address.ip()), port: address.port() });
    }
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    match bare.parse() {
        Ok(ip) => Ok(ListenAddress { ip: Some(ip), port: 0 }),
        Err(_) => Err("pass a port, an IP address, or both: 1094 or 127.0.0.1:1094".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;

    /// The options that --help of a command lists.
    fn visible<A: Args>() -> Vec<String> {
        let verb = A::augment_args(Command::new("verb"));
        verb.get_arguments().filter(|a| !a.is_hide_set()).filter_map(|a| a.get_long().map(str::to_owned)).collect()
    }

    #[test]
    fn serve_and_proxy_name_the_same_things_alike() {
        let (serve, proxy) = (visible::<ServeArgs>(), visible::<ProxyArgs>());
        let of_the_network: [&str; 2] = ["delay", "bandwidth"];
        let only: Vec<_> = serve.iter().filter(|o| !proxy.contains(o)).map(String::as_str).collect();
        assert_eq!(only, of_the_network);
        assert!(serve.contains(&"listen-root".to_owned()) && serve.contains(&"cert".to_owned()), "{serve:?}");
    }

    #[test]
    fn older_names_of_the_addresses_mean_the_same() {
        let parsed = |words: &[&str]| {
            let verb = ServeArgs::augment_args(Command::new("serve"));
            let matches = verb.try_get_matches_from([&["serve", "."], words].concat()).expect("the options are valid");
            let args = <ServeArgs as clap::FromArgMatches>::from_arg_matches(&matches).expect("the options are valid");
            (args.http_address(), args.root_address())
        };
        assert_eq!(parsed(&[]), (SocketAddr::from(([127, 0, 0, 1], 0)), None));
        assert_eq!(
            parsed(&["--port", "8080", "--bind", "0.0.0.0", "--root", "1094"]),
            parsed(&["--listen-http", "0.0.0.0:8080", "--listen-root", "0.0.0.0:1094"])
        );
        assert_eq!(parsed(&["--port", "8080", "--root"]), parsed(&["--listen-http", "8080", "--listen-root", "0"]));
    }
}
