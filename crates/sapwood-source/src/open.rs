use crate::http::{self, Hosts};
use crate::local::open_local;
use crate::s3::S3Options;
use crate::source::{BoxFuture, Opening};
use crate::url::Location;
use crate::xrd;
use sapwood_span::Result;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// Says whether a redirect to a URL, given without credentials, is followed.
pub type RedirectFilter = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// How files are opened, and the timeouts and retries of their sources.
#[derive(Clone)]
pub struct SourceOptions {
    /// Bytes to read from the beginning of the file.
    pub head: u64,
    /// Bytes to read from its end.
    pub tail: u64,
    /// Whether the end is left out where it would cost another round trip (over XRootD): [`crate::Opening::tail`] is
    /// empty then, and says where it would begin. It can be read along with what the beginning points to.
    pub tail_later: bool,
    /// A transfer on which no byte moves for this long is dead. A slow one that moves is not. After half of it, what
    /// moved before or was requested in several ranges is requested once more.
    pub progress_timeout: Duration,
    /// How long connecting to a server, its TLS handshake included, may take.
    pub connect_timeout: Duration,
    /// Connections to one host at most, for all files together.
    pub max_connections: usize,
    /// Whether connections to a server far away are opened ahead, in the background, once it has
    /// answered: the first parallel requests then need no handshakes.
    pub warm: bool,
    /// A server with at least this round-trip time is far away: the first large range is then divided over several
    /// connections, and none of the first responses is longer than a fresh connection's window.
    pub far: Duration,
    /// How often a request is sent again when nothing was received.
    pub retries: u32,
    /// The first pause before sending again; it doubles each time. `Retry-After` is obeyed within the progress timeout;
    /// a server that asks for more is an error at once.
    pub backoff: Duration,
    /// Token for `Authorization: Bearer`. Without one, WLCG bearer token discovery is tried, for `https` only
    /// (`BEARER_TOKEN`, `BEARER_TOKEN_FILE`, `bt_u<uid>` in `XDG_RUNTIME_DIR` and `/tmp`). Sent to the named host
    /// alone, never along a redirect. XRootD servers that ask for it (`ztn`) get it over TLS only, and only hosts of
    /// the named one's domain do. An empty one: none is sent, and none is looked for.
    pub token: Option<String>,
    /// Whether redirects are followed from `https` to `http`, and from elsewhere to this machine or its link.
    pub insecure_redirects: bool,
    /// Directory of further trusted certificates (PEM) for `https` and `roots`, besides the system's
    /// (`SSL_CERT_FILE`, `SSL_CERT_DIR`) and those in `X509_CERT_DIR`.
    pub ca_dir: Option<PathBuf>,
    /// A server that serves no byte ranges is read as a whole if the file is no larger than this.
    pub whole_file: u64,
    /// Whether the file is compared with its state at opening once both of its ends have arrived, where they arrive one
    /// after the other and that costs nothing: the bytes may then be kept for later sessions.
    pub compared: bool,
    /// Whether each response over HTTP is compared by the first 80 bytes of the file, where a server serves several
    /// ranges at once, unless [`crate::Source::fetch_last`] or [`crate::Source::fetch_soon_compared`] requests all
    /// bytes that distinguish versions: for callers that read in small pieces, pass each of them on at once, and make
    /// the other comparisons themselves.
    pub compare_briefly: bool,
    /// How `s3://` URLs are read.
    pub s3: S3Options,
    /// Whether a redirect to this URL (without credentials) is followed; none: all that are safe.
    pub redirects: Option<RedirectFilter>,
    /// What was learnt about hosts, and the connections to them, shared by the files opened with it. By default that of
    /// the whole process.
    pub hosts: Hosts,
}

impl Default for SourceOptions {
    fn default() -> Self {
        Self {
            head: 1024,
            tail: 128 << 10,
            tail_later: false,
            progress_timeout: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(30),
            max_connections: 16,
            warm: true,
            far: Duration::from_millis(5),
            retries: 4,
            backoff: Duration::from_millis(200),
            token: None,
            insecure_redirects: false,
            ca_dir: None,
            whole_file: 64 << 20,
            compared: false,
            compare_briefly: false,
            s3: S3Options::default(),
            redirects: None,
            hosts: Hosts::shared(),
        }
    }
}

/// Opens a path or URL and reads both of its ends, in as few round trips as possible.
///
/// Remote files live on the runtime behind `handle`: await the future only there, and the fetches of the returned
/// source likewise. Local files need no runtime: [`open_local`].
///
/// # Errors
/// Unknown schemes, files that are not there or may not be read, servers that fail.
pub fn open(url: &str, options: &SourceOptions, handle: &Handle) -> BoxFuture<'static, Result<Opening>> {
    let (location, options, handle) = (Location::parse(url), options.clone(), handle.clone());
    Box::pin(async move {
        match location? {
            Location::Local(path) => open_local(path, options.head, options.tail),
            Location::Http(url) => http::open(url, options, handle).await,
            Location::Root(url) => xrd::open(url, options, handle).await,
            Location::S3(url) => http::open_object(&url, options, handle).await,
        }
    })
}
