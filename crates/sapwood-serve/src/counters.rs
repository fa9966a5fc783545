//! A server's counters, and its status pages.

use crate::client_request::Protocol;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a program that serves adds to the server's status pages.
pub trait Status: Send + Sync {
    /// Appends further metrics, in Prometheus's text format, each after its `# HELP` and `# TYPE`.
    fn metrics(&self, out: &mut String);

    /// Whether it can do its work.
    ///
    /// # Errors
    /// Why not, for the health page.
    fn health(&self) -> Result<(), String>;
}

/// The result of a request.
#[derive(Clone, Copy)]
pub(crate) enum Outcome {
    Ok,
    /// The client's fault: nothing found, not allowed, malformed.
    Refused,
    /// The server's fault, or its origin's.
    Failed,
}

impl Outcome {
    const ALL: [(Self, &'static str); 3] = [(Self::Ok, "ok"), (Self::Refused, "refused"), (Self::Failed, "failed")];

    pub(crate) fn of(protocol: Protocol, status: u16) -> Self {
        use sapwood_xrd::code::error;
        const FAILED: [u32; 6] = [
            error::FS_ERROR,
            error::IO_ERROR,
            error::SERVER_ERROR,
            error::CANCELLED,
            error::OVERLOADED,
            error::TIMED_OUT,
        ];
        match (protocol, status) {
            (Protocol::Http, 0..400) | (Protocol::Root, 0) => Self::Ok,
            (Protocol::Http, 400..500) => Self::Refused,
            (Protocol::Root, number) if !FAILED.contains(&number.into()) => Self::Refused,
            _ => Self::Failed,
        }
    }
}

/// Counters of one protocol.
#[derive(Default)]
pub(crate) struct Figures {
    connections: AtomicU64,
    accepted: AtomicU64,
    refused: AtomicU64,
    requests: [AtomicU64; 3],
    sent: AtomicU64,
}

impl Figures {
    /// A connection, counted as open until this is dropped.
    pub(crate) fn connected(&self) -> Connected<'_> {
        self.accepted.fetch_add(1, Relaxed);
        self.connections.fetch_add(1, Relaxed);
        Connected(self)
    }

    /// There was no room for a connection.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    pub(crate) fn answered(&self, outcome: Outcome) {
        self.requests[outcome as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Relaxed);
    }
}

/// One of the counters.
type Figure = fn(&Figures) -> &AtomicU64;

/// An open connection.
pub(crate) struct Connected<'a>(&'a Figures);

impl Drop for Connected<'_> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}

/// Counters of both protocols.
#[derive(Default)]
pub(crate) struct Counters {
    http: Figures,
    root: Figures,
}

impl Counters {
    pub(crate) fn of(&self, protocol: Protocol) -> &Figures {
        match protocol {
            Protocol::Http => &self.http,
            Protocol::Root => &self.root,
        }
    }

    /// All of them in Prometheus's text format.
    pub(crate) fn page(&self) -> String {
        let mut out = String::new();
        let both = [(Protocol::Http, &self.http), (Protocol::Root, &self.root)];
        let simple: [(&str, &str, &str, Figure); 4] = [
            ("connections", "gauge", "Open connections.", |f| &f.connections),
            ("connections_total", "counter", "Accepted connections.", |f| &f.accepted),
            ("connections_refused_total", "counter", "Connections refused because there were too many.", |f| {
                &f.refused
            }),
            ("sent_bytes_total", "counter", "Bytes of files and pages sent to clients.", |f| &f.sent),
        ];
        // writing to a string never fails
        for (name, kind, help, figure) in simple {
            let _ = writeln!(out, "# HELP sapwood_server_{name} {help}\n# TYPE sapwood_server_{name} {kind}");
            for (protocol, figures) in both {
                let value = figure(figures).load(Relaxed);
                let _ = writeln!(out, "sapwood_server_{name}{{protocol=\"{}\"}} {value}", protocol.name());
            }
        }
        out.push_str("# HELP sapwood_server_requests_total Requests answered.\n");
        out.push_str("# TYPE sapwood_server_requests_total counter\n");
        for (protocol, figures) in both {
            for (outcome, word) in Outcome::ALL {
                let value = figures.requests[outcome as usize].load(Relaxed);
                let protocol = protocol.name();
                let labels = format!("protocol=\"{protocol}\",outcome=\"{word}\"");
                let _ = writeln!(out, "sapwood_server_requests_total{{{labels}}} {value}");
            }
        }
        out
    }
}
