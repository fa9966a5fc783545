//! The server's status pages.

use super::plan::Plan;
use crate::shared::Shared;
use hyper::StatusCode;
use hyper::header;

#[derive(Clone, Copy)]
pub(super) enum Page {
    Metrics,
    Health,
}

impl Page {
    /// The page with this path, exactly as it was sent.
    pub(super) fn of(path: &str) -> Option<Self> {
        match path {
            "/metrics" => Some(Self::Metrics),
            "/health" => Some(Self::Health),
            _ => None,
        }
    }

    pub(super) fn plan(self, shared: &Shared) -> Plan {
        let mut plan = match self {
            Self::Metrics => {
                let mut text = shared.reports.counters.page();
                if let Some(status) = &shared.status {
                    status.metrics(&mut text);
                }
                let mut plan = Plan::text(StatusCode::OK, &text);
                plan.set(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
                plan
            }
            Self::Health => match shared.status.as_ref().map_or(Ok(()), |status| status.health()) {
                Ok(()) => Plan::text(StatusCode::OK, "ok\n"),
                Err(why) => Plan::text(StatusCode::SERVICE_UNAVAILABLE, &format!("{why}\n")),
            },
        };
        plan.set(header::CACHE_CONTROL, "no-store");
        plan
    }
}
