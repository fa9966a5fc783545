//! One request from its start to the end of its answer: counted, and reported to the access log.

use crate::client_request::Protocol;
use crate::counters::{Counters, Outcome};
use crate::log::shown;
use sapwood_span::printable;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The status of an HTTP request whose client leaves before it is answered: nginx's.
const LEFT: u16 = 499;

/// Called for each request when its answer has ended.
pub type AccessListener = Arc<dyn Fn(&Access) + Send + Sync>;

/// A request and its result. Displayed, it is a line of an access log, without a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// The client's address.
    pub client: IpAddr,
    /// The protocol of the request.
    pub protocol: Protocol,
    /// `GET`, `HEAD` or any other method sent; over XRootD `open`, `read`, `readv`, `pgread`, `stat`, `dirlist`,
    /// `checksum`.
    pub method: String,
    /// The path without its query and without the credentials of URLs in it.
    pub path: String,
    /// HTTP status of the answer; over XRootD the number of the error, or 0.
    pub status: u16,
    /// Bytes of files and pages that were sent: fewer than in the answer where the client left or the file changed.
    pub bytes: u64,
    /// From the request's arrival to the end of its answer.
    pub duration: Duration,
}

impl fmt::Display for Access {
    /// Address, protocol, method, path, status, bytes, milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, protocol, method, path, status, bytes, duration } = self;
        let clean = |text: &str| printable(text).replace('"', "\\x22");
        let milliseconds = duration.as_secs_f64() * 1e3;
        let (method, path) = (clean(method), clean(path));
        write!(f, "{client} {} {method} \"{path}\" {status} {bytes} {milliseconds:.1}", protocol.name())
    }
}

/// Where requests are counted and reported.
pub(crate) struct Reports {
    pub counters: Counters,
    pub access: Option<AccessListener>,
}

/// A request in progress. Its end is reported when this is dropped.
pub(crate) struct Exchange {
    reports: Arc<Reports>,
    access: Access,
    began: Instant,
}

impl Exchange {
    pub(crate) fn begin(reports: &Arc<Reports>, client: IpAddr, protocol: Protocol, method: &str, path: &str) -> Self {
        let access = Access {
            client,
            protocol,
            method: method.to_owned(),
            path: shown(path),
            status: if protocol == Protocol::Http { LEFT } else { 0 },
            bytes: 0,
            duration: Duration::ZERO,
        };
        Self { reports: Arc::clone(reports), access, began: Instant::now() }
    }

    pub(crate) fn status(&mut self, status: u16) {
        self.access.status = status;
    }

    /// Further bytes were sent.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.access.bytes += bytes;
        self.reports.counters.of(self.access.protocol).sent(bytes);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let outcome = Outcome::of(self.access.protocol, self.access.status);
        self.reports.counters.of(self.access.protocol).answered(outcome);
        if let Some(listener) = &self.reports.access {
            self.access.duration = self.began.elapsed();
            listener(&self.access);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_write_lines_of_its_own() {
        let access = Access {
            client: IpAddr::from([10, 0, 0, 1]),
            protocol: Protocol::Root,
            method: "open".into(),
            path: "/a\" 200\n10.0.0.2 http GET".into(),
            status: 3011,
            bytes: 0,
            duration: Duration::from_micros(1234),
        };
        assert_eq!(access.to_string(), "10.0.0.1 root open \"/a\\x22 200\\n10.0.0.2 http GET\" 3011 0 1.2");
    }
}
